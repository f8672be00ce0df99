"""The same file under another name, or on another day, where that makes another document of the same rows.

An invoice number that is the file's name, or holds the day, makes the ledger's key of the document. Dropped again as a
copy, the same rows would be created a second time.
"""

import json
from dataclasses import replace

from sqlalchemy import Connection, select

from logistics_batch.ledger.connection import dump
from logistics_batch.ledger.documents.decide import CANCELLED, SAME_BYTES, Decision
from logistics_batch.ledger.schema import document, file
from logistics_batch.model.document import Document
from logistics_batch.model.document_state import NOT_TAKEN
from logistics_batch.model.issue import Issue


def ask_whether_twice(connection: Connection, item: Document, decision: Decision, *, sha256: str) -> Decision:
    """A new document waits for a person if its very rows were sent before, or wait, under a key of another run.

    sha256: of the file that it comes from. Any other decision stays.
    """
    if decision.action != "plan" or not _is_named_by_run(item):
        return decision
    query = (
        select(document.c.key, document.c.rows, file.c.name)
        .join(file, document.c.file_id == file.c.id)
        .where(file.c.sha256 == sha256, document.c.operation == str(item.operation), document.c.key != item.key)
        .where(
            document.c.rows == dump(item.rows), document.c.state.not_in(NOT_TAKEN), document.c.code.not_in(CANCELLED)
        )
        .order_by(document.c.id.desc())
    )
    earlier = connection.execute(query.limit(1)).first()
    if earlier is None:
        return decision
    row = json.loads(earlier.rows)[0]
    why = Issue.of(SAME_BYTES, file=earlier.name, row=row, other=earlier.key)
    return replace(decision, action="hold", why=why)


def _is_named_by_run(item: Document) -> bool:
    """Whether the key holds what the run gave to the document, and not the sheet."""
    if not item.lent:
        return False
    body = json.loads(item.body)
    return any(str(body[name]) in item.key for name in item.lent if body.get(name))
