"""Documents as the ledger tells them, without a ledger."""

from dataclasses import fields
from typing import Any

from logistics_batch.ledger import StoredDocument
from logistics_batch.model.issue import NOTHING_SAID, Issue

_EMPTY: dict[str, Any] = {"str": "", "int": 0, "bool": False, "Issue": NOTHING_SAID}


def stored_document(**known: object) -> StoredDocument:
    """An order of which only what is given is known."""
    if "rule" in known:
        known["why"] = Issue(str(known.pop("rule")))
    blank = {
        each.name: _EMPTY.get(str(getattr(each.type, "__name__", each.type)), ()) for each in fields(StoredDocument)
    }
    return StoredDocument(**blank | {"operation": "order.create"} | known)  # type: ignore[arg-type]
