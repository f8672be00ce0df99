"""A ledger that is found in another place than before may be a copy, and its original may still send."""

from logistics_batch.flows.parts import Parts
from logistics_batch.model.issue import Issue


def told_once(parts: Parts) -> list[Issue]:
    """A note on where the ledger was used last; from now on it is here. Call while holding the sending lock."""
    before = parts.ledger.itself.moved_from()
    parts.ledger.itself.settle_in()
    return [Issue.of("ledger.moved", path=before.path, host=before.host)] if before else []
