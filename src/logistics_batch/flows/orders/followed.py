"""Orders that were sent, with what the ledger holds of them: the payload, accepted changes since, and their state."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from logistics_batch.flows.orders.comparison import Followed, order_lines
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import SentOrder, StoredDocument
from logistics_batch.model.order_line import OrderLine

_AT_ONCE = 500  # orders in one question to the ledger
_CHANGES = ("order.update", "order.add_items", "order.delete_items", "order.cancel")


def lines_of(
    parts: Parts, orders: Sequence[SentOrder], *, now: datetime, end_statuses: Sequence[str]
) -> Iterator[list[OrderLine]]:
    """The lines of each order, in the order given; only some payloads are in memory at a time."""
    for start in range(0, len(orders), _AT_ONCE):
        some = orders[start : start + _AT_ONCE]
        changes = _changes(parts, some)
        documents = {
            found.id: found for found in parts.ledger.orders.documents_of([order.document_id for order in some])
        }
        for order in some:
            later = tuple(changes.get(order.document_id, ()))
            followed = Followed(documents[order.document_id], order.state, later)
            yield order_lines(followed, now=now, end_statuses=end_statuses)


def _changes(parts: Parts, orders: Sequence[SentOrder]) -> dict[int, list[StoredDocument]]:
    """The accepted changes of each order since it was sent, oldest first."""
    owners = {name: order for order in orders for name in (order.reference, order.awb_number) if name}
    found: dict[int, list[StoredDocument]] = {}
    for change in parts.ledger.documents.select(operations=_CHANGES, states=["accepted"], references=list(owners)):
        owner = owners.get(change.awb_number) or owners.get(change.reference)
        if owner is not None and change.accepted_at >= owner.sent_at:
            found.setdefault(owner.document_id, []).append(change)
    return found
