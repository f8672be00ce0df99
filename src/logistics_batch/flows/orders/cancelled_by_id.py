"""Cancellations that went by the service's own id of an order (API §4.10): which of our orders was it?

The ledger knows its orders by AWB number, so such a cancellation is accepted and no order of ours knows of it. The
order is looked at once (API §4.5), and what is seen is written down at the order.
"""

from datetime import timedelta

from logistics_batch.api.answers import OrderDetails, same_order, shows_change
from logistics_batch.flows.orders.looks import look_under
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

_LOOKED_FOR = timedelta(days=7)
_LOOKS_AT_MOST = 50  # in one round
_FRUITLESS_UNTIL_STOP = 3  # in a row: the service does not show orders under such numbers


def note_cancelled_by_id(parts: Parts) -> None:
    """Write down which orders of ours were cancelled by a number that is not their AWB number, as far as it shows."""
    since = (parts.clock.now() - _LOOKED_FOR).isoformat()
    fruitless = 0
    for cancellation in parts.ledger.orders.cancelled_by_unknown_numbers(since=since, at_most=_LOOKS_AT_MOST):
        if parts.stop.is_set() or fruitless == _FRUITLESS_UNTIL_STOP:
            return
        look = look_under(parts.client, cancellation.order_id)
        if look.order is None or not shows_change("order.cancel", "", look.order):
            fruitless += 1
            continue
        fruitless = 0
        _note(parts, cancellation, look.order)
        parts.ledger.orders.note_whose(cancellation.id)


def _note(parts: Parts, cancellation: StoredDocument, order: OrderDetails) -> None:
    names = [name for name in (order.awb_number, order.reference_number) if name]
    now = parts.clock.now().isoformat()
    for created in parts.ledger.documents.select(
        operations=[Operation.ORDER_CREATE], states=["accepted"], references=names
    ):
        is_it = bool(order.awb_number) and created.awb_number == order.awb_number
        if not is_it and created.reference == order.reference_number and not created.awb_number:
            is_it = not created.purged and same_order(created.body, order)
        if is_it:
            parts.ledger.orders.found_cancelled(
                created.id, at=now, why=Issue.of("cancelled.by_file", file=cancellation.file_name)
            )
