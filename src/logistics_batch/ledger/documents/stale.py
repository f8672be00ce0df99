"""Which written results no longer show what is known: marked in the transaction that changes a document."""

import json
from typing import Final

from sqlalchemy import Connection, bindparam, select

from logistics_batch.ledger.bulk import execute_plain
from logistics_batch.ledger.schema import file, row

UNWRITTEN: Final = 2  # stays until they are written, whatever changes meanwhile
_CHUNK = 400  # numbers in one IN (…)
_ASKING = select(row.c.file_id).where(row.c.document_id.in_(bindparam("documents", expanding=True)))
_STALE = file.update().where(file.c.id.in_(_ASKING), file.c.stale == 0).values(stale=1)
_STALE_PLAIN = (
    "UPDATE file SET stale = 1 WHERE stale = 0 AND id IN "
    "(SELECT file_id FROM row WHERE document_id IN (SELECT value FROM json_each(?)))"
)


def mark_stale(connection: Connection, *document_ids: int) -> None:
    """Every file with a row of these documents has to be answered again."""
    for start in range(0, len(document_ids), _CHUNK):
        some = list(document_ids[start : start + _CHUNK])
        if connection.dialect.name == "sqlite":
            execute_plain(connection, _STALE_PLAIN, (json.dumps(some),))
        else:
            connection.execute(_STALE, {"documents": some})
