"""Documents as the ledger tells them, without a ledger."""

from dataclasses import fields
from typing import Any

from logistics_batch.ledger import StoredDocument

_EMPTY: dict[str, Any] = {"str": "", "int": 0, "bool": False}


def stored_document(**known: object) -> StoredDocument:
    """An order of which only what is given is known."""
    blank = {each.name: _EMPTY.get(str(each.type), ()) for each in fields(StoredDocument)}
    return StoredDocument(**blank | {"operation": "order.create"} | known)  # type: ignore[arg-type]
