"""Which written results no longer show what is known: marked in the transaction that changes a document."""

from typing import Final

from sqlalchemy import Connection, select

from logistics_batch.ledger.bulk import among
from logistics_batch.ledger.schema import file, row

UNWRITTEN: Final = 2  # stays until they are written, whatever changes meanwhile


def mark_stale(connection: Connection, *document_ids: int) -> None:
    """Every file with a row of these documents has to be answered again."""
    asking = select(row.c.file_id).where(among(connection, row.c.document_id, document_ids))
    connection.execute(file.update().where(file.c.id.in_(asking), file.c.stale == 0).values(stale=1))
