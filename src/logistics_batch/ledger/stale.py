"""Which written results no longer show what is known: marked in the transaction that changes a document."""

from sqlalchemy import Connection, bindparam, select

from logistics_batch.ledger.schema import file, row

_CHUNK = 400  # numbers in one IN (…)
_ASKING = select(row.c.file_id).where(row.c.document_id.in_(bindparam("documents", expanding=True)))
_STALE = file.update().where(file.c.id.in_(_ASKING), file.c.stale == 0).values(stale=1)


def mark_stale(connection: Connection, *document_ids: int) -> None:
    """Every file with a row of these documents has to be answered again."""
    for start in range(0, len(document_ids), _CHUNK):
        connection.execute(_STALE, {"documents": list(document_ids[start : start + _CHUNK])})
