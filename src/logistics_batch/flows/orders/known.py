"""What the ledger knows of orders after they were sent, for whoever asks; the service is not asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from logistics_batch.flows.orders.followed import lines_of
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import SentOrder
from logistics_batch.model.order_line import OrderLine
from logistics_batch.model.order_state import END_STATUSES, Hint, has_ended


@dataclass(frozen=True, slots=True)
class KnownOrder:
    """One order: a line for each item, and every event about it that was stored, in the order in which they came."""

    lines: tuple[OrderLine, ...]
    events: tuple[Hint, ...]


def known_orders(parts: Parts, number: str) -> list[KnownOrder]:
    """The accepted orders with this reference or AWB number; a reference may have been used again."""
    orders = parts.ledger.orders.sent(numbers=[number])
    lines = lines_of(parts, orders, now=parts.clock.now(), end_statuses=END_STATUSES)
    return [KnownOrder(tuple(each), tuple(_events(parts, order))) for order, each in zip(orders, lines, strict=True)]


def open_orders(parts: Parts, *, sent_within_days: int) -> list[SentOrder]:
    """The orders of the last days that are not at their end, those first that were asked for longest ago."""
    since = parts.clock.now() - timedelta(days=sent_within_days)
    orders = parts.ledger.orders.sent(since=since.date().isoformat())
    return sorted(_open(orders), key=lambda order: order.state.asked_at or order.sent_at)


def _open(orders: Sequence[SentOrder]) -> list[SentOrder]:
    return [order for order in orders if not has_ended(order.state.status, END_STATUSES)]


def _events(parts: Parts, order: SentOrder) -> list[Hint]:
    numbers = [number for number in (order.awb_number, *order.child_awb_numbers) if number]
    return parts.ledger.orders.events_of([name for number in numbers for name in (number, number.removeprefix("SH-"))])
