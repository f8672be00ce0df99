"""Which written results no longer show what is known: marked in the transaction that changes a document."""

from sqlalchemy import Connection, select

from logistics_batch.ledger.schema import file, row


def mark_stale(connection: Connection, document_id: int) -> None:
    """Every file with a row of this document has to be answered again."""
    asking = select(row.c.file_id).where(row.c.document_id == document_id)
    connection.execute(file.update().where(file.c.id.in_(asking), file.c.stale == 0).values(stale=1))
