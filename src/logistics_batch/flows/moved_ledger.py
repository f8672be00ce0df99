"""A ledger that is found in another place than before may be a copy, and its original may still send."""

from logistics_batch.flows.parts import Parts
from logistics_batch.model.issue import Issue

ONE_OF_THEM = (
    "If it was copied, let only one of the two send: neither knows what the other sent. If it was moved, nothing is to "
    "be done."
)


def where_before(parts: Parts) -> str:
    """In words where a ledger that may be a copy was used last; "" if it is where it was."""
    before = parts.ledger.moved_from()
    return f"The ledger was used last as {before.path} on {before.host}." if before else ""


def told_once(parts: Parts) -> list[Issue]:
    """The same as a note for a run, and from now on the ledger is here; call while holding the sending lock."""
    before = parts.ledger.moved_from()
    parts.ledger.settle_in()
    return [Issue.of("ledger.moved", path=before.path, host=before.host)] if before else []
