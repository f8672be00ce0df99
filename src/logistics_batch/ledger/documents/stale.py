"""Which written results no longer show what is known: marked in the transaction that changes a document."""

import json
from typing import Final

from sqlalchemy import Connection, select

from logistics_batch.ledger.bulk import among, execute_plain
from logistics_batch.ledger.schema import file, row

UNWRITTEN: Final = 2  # stays until they are written, whatever changes meanwhile
_MARK_PLAIN: Final = (
    "UPDATE file SET stale = 1 WHERE stale = 0 "
    "AND id IN (SELECT file_id FROM row WHERE document_id IN (SELECT value FROM json_each(?)))"
)


def mark_stale(connection: Connection, *document_ids: int) -> None:
    """Every file with a row of these documents has to be answered again."""
    if connection.dialect.name == "sqlite":  # with each commit of answers
        execute_plain(connection, _MARK_PLAIN, (json.dumps(document_ids),))
        return
    asking = select(row.c.file_id).where(among(connection, row.c.document_id, document_ids))
    connection.execute(file.update().where(file.c.id.in_(asking), file.c.stale == 0).values(stale=1))
