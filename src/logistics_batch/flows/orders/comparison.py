"""What was sent of an order beside what the service shows of it: quantities, amount to collect, and why they differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NOT_FROM_HERE, SentOrder, StoredDocument
from logistics_batch.model.order_state import (
    CANCELLED,
    DELIVERED,
    END_STATUSES,
    KNOWN_STATUSES,
    Hint,
    OrderState,
    ShownItem,
    has_ended,
    status_word,
)
from logistics_batch.model.run_reports import OrderLine

_SHOWN = 40  # characters of what the service shows
_MOST_DIGITS = 40  # before or behind the point; an exponent may name millions
_AT_ONCE = 500  # orders in one question to the ledger
_CHANGES = ("order.update", "order.add_items", "order.delete_items", "order.cancel")
# Before these an item can hardly have been picked; of a status that nobody knows nothing is said.
_PICKED = frozenset(
    ("picked", "movingtohub", "athub", "outfordelivery", "attempted", "athubrto", "movingtoorigin", "returned")
)


@dataclass(frozen=True, slots=True)
class Followed:
    """An order with what is known of it, and the accepted changes since it was created, oldest first."""

    document: StoredDocument
    state: OrderState
    changes: tuple[StoredDocument, ...] = ()

    @property
    def cancelled_here(self) -> bool:
        """Whether it was cancelled by us."""
        known = self.document.rule == CANCELLED and self.document.why != NOT_FROM_HERE
        return known or any(change.operation == "order.cancel" for change in self.changes)

    @property
    def sent(self) -> dict[str, Any] | None:
        """The payload as it was sent, with the header of later updates; None if its bytes are no longer kept."""
        if self.document.purged:
            return None
        body = self.document.payload
        for change in self.changes:
            body |= {name: told for name, told in change.payload.items() if name not in ("item_details", "item_list")}
        return body

    @property
    def items_changed(self) -> bool:
        """Whether a change brought other items."""
        adds = ("order.add_items", "order.delete_items")
        return any(change.operation in adds or "item_details" in change.payload for change in self.changes)


@dataclass
class _Item:
    """One item by its name: how much was sent, in which row it stands first, and what the service shows."""

    name: str
    sent: Decimal | None = None
    row: int = 0
    shown: list[ShownItem] = field(default_factory=list)

    def told(self, name: str) -> Decimal | None:
        """The sum of what the service tells of all lines of this item; None if it does not tell it of each."""
        numbers = [_quantity(getattr(each, name)) for each in self.shown]
        told = [number for number in numbers if number is not None]
        return sum(told, Decimal(0)) if told and len(told) == len(numbers) else None


def order_lines(followed: Followed, *, now: datetime, end_statuses: Sequence[str]) -> list[OrderLine]:
    """One line an item, at least one; the order's own differences and notes stand on the first."""
    document, state, sent = followed.document, followed.state, followed.sent
    head = OrderLine(
        reference_number=document.reference,
        awb_number=document.awb_number,
        status=state.status,
        status_time=state.status_at,
        source=state.source,
        asked_at=state.asked_at,
        sent_at=document.accepted_at,
        days_since_sent=(now - datetime.fromisoformat(document.accepted_at)).days,
        at_end=has_ended(state.status, end_statuses),
        file=document.file_name,
        sheet=document.sheet,
        row=document.rows[0] if document.rows else 0,
    )
    cod_sent = cash_of(sent) if sent is not None else None
    cod_shown = _number(state.shown.cash_on_delivery)
    items_changed = followed.items_changed
    items = _items(document, sent or {}, state)
    lines = [
        replace(
            head,
            item=item.name,
            row=item.row or head.row,
            qty_sent=item.sent,
            qty_ordered=item.told("quantity"),
            qty_picked=item.told("picked"),
            qty_delivered=item.told("delivered"),
            difference="; ".join(_item_differences(item, state, comparable=sent is not None and not items_changed)),
        )
        for item in items
    ] or [head]
    first = replace(
        lines[0],
        cod_sent=cod_sent,
        cod_shown=cod_shown,
        difference="; ".join(filter(None, [*_order_differences(followed, cod_sent, cod_shown), lines[0].difference])),
        note="; ".join([*_notes(followed, items_changed=items_changed), *_not_compared(state, items, cod_sent)]),
    )
    return [first, *lines[1:]]


def cash_of(body: Mapping[str, Any]) -> Decimal:
    """Rupees to collect on delivery, 0 when prepaid."""
    cash = _number(str(body.get("cash_on_delivery") or "")) if body.get("is_cod") == "true" else None
    return cash or Decimal(0)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS else None


def _quantity(text: str) -> Decimal | None:
    number = _number(text)
    return None if number is None or number < 0 else number


def _items(document: StoredDocument, sent: Mapping[str, Any], state: OrderState) -> list[_Item]:
    """Every item that was sent or is shown, once by its name, in the order in which they were sent; kits unpacked."""
    found: dict[str, _Item] = {}

    def named(name: str) -> _Item:
        return found.setdefault(" ".join(name.split()).casefold(), _Item(name))

    rows = iter(document.line_rows)
    for holder in (sent, *(sent.get("kit_skus") or ())):
        for item in holder.get("item_details") or ():
            known = named(str(item.get("item_name") or ""))
            known.row = known.row or next(rows, 0)
            known.sent = (known.sent or Decimal(0)) + (_number(str(item.get("item_quantity", 1))) or Decimal(0))
    for shown in state.shown.items:
        named(shown.name).shown.append(shown)
    return list(found.values())


def _item_differences(item: _Item, state: OrderState, *, comparable: bool) -> Iterator[str]:
    """What of an item is other than it was sent, short or too much; of a cancelled order nothing more comes."""
    word = status_word(state.status)
    if word == CANCELLED or not state.shown.items:
        return
    ordered, picked, delivered = (item.told(name) for name in ("quantity", "picked", "delivered"))
    if comparable and item.sent is None:
        yield f"the service shows {item.name}, which was not sent"
    elif comparable and not item.shown:
        yield f"{_plain(item.sent)} × {item.name} was sent, the service does not show it"
    elif comparable and ordered is not None and ordered != item.sent:
        yield f"{_plain(item.sent)} × {item.name} was sent, the service has {_plain(ordered)}"
    wanted = ordered if ordered is not None else item.sent
    if not item.shown or wanted is None:
        return
    if word in DELIVERED and delivered is not None and delivered != wanted:
        yield f"{_plain(delivered)} of {_plain(wanted)} × {item.name} delivered"
    elif word in _PICKED | DELIVERED and picked is not None and picked != wanted:
        yield f"{_plain(picked)} of {_plain(wanted)} × {item.name} picked"


def _plain(number: Decimal | None) -> str:
    """A quantity without needless digits.

    >>> _plain(Decimal("3.0")), _plain(Decimal("100"))
    ('3', '100')
    """
    return "" if number is None else f"{number.normalize():f}"


def _order_differences(followed: Followed, cod_sent: Decimal | None, cod_shown: Decimal | None) -> Iterator[str]:
    if followed.state.is_anothers:
        yield followed.state.problem.reason
    elif followed.state.is_unknown:
        if not followed.cancelled_here:
            yield followed.state.problem.reason
    elif status_word(followed.state.status) == CANCELLED:
        if not followed.cancelled_here:
            yield "the order is cancelled, and not from here"
    elif cod_sent is not None and cod_shown is not None and cod_sent != cod_shown:
        yield f"COD of {cod_sent:.2f} INR was sent, the service shows {cod_shown:.2f} INR"


def _notes(followed: Followed, *, items_changed: bool) -> Iterator[str]:
    state = followed.state
    if followed.document.purged:
        yield "what was sent is no longer kept"
    if items_changed:
        yield "its items were changed after it was sent; they are not compared with what was sent first"
    if state.problem.code and not state.is_anothers and (followed.cancelled_here or not state.is_unknown):
        yield state.problem.reason
    if not state.asked_at:
        yield "the service was not asked for it yet"
    if state.is_hinted:
        yield f"an event says “{state.hint_status}”, which was not verified yet"
    if state.status and status_word(state.status) not in KNOWN_STATUSES:
        yield f"the status “{state.status}” is not known here; it is kept as it is"


def _not_compared(state: OrderState, items: Sequence[_Item], cod_sent: Decimal | None) -> Iterator[str]:
    """What the service does not show, or shows as nothing that can be compared."""
    word = status_word(state.status)
    if word in ("", CANCELLED):
        return
    if not state.shown.items and any(item.sent is not None for item in items):
        yield "the service shows no items; quantities are not compared"
    for item in items:
        for shown in item.shown:
            for what, text in (("ordered", shown.quantity), ("picked", shown.picked), ("delivered", shown.delivered)):
                if text and _quantity(text) is None:
                    yield f"the service shows “{text[:_SHOWN]}” {what} of {shown.name}, which is no quantity"
            if word in DELIVERED and not shown.delivered:
                yield f"how much of {item.name} was delivered is not shown"
    cash = state.shown.cash_on_delivery
    if cod_sent and not cash:
        yield "the service does not show the amount to collect"
    if cash and _number(cash) is None:
        yield f"the service shows “{cash[:_SHOWN]}” to collect, which is no amount"


def lines_of(
    parts: Parts, orders: Sequence[SentOrder], *, now: datetime, end_statuses: Sequence[str]
) -> Iterator[list[OrderLine]]:
    """The lines of each order, in the order given; only some payloads are in memory at a time."""
    for start in range(0, len(orders), _AT_ONCE):
        some = orders[start : start + _AT_ONCE]
        documents = parts.ledger.documents.stored([order.document_id for order in some])
        changes = accepted_changes(parts, documents)
        for order, document in zip(some, documents, strict=True):
            followed = Followed(document, order.state, tuple(changes.get(document.id, ())))
            yield order_lines(followed, now=now, end_statuses=end_statuses)


def accepted_changes(parts: Parts, orders: Sequence[StoredDocument]) -> dict[int, list[StoredDocument]]:
    """The accepted changes and cancellations of each order since it was created, oldest first; by its number."""
    owners = {name: order for order in orders for name in (order.reference, order.awb_number) if name}
    found: dict[int, list[StoredDocument]] = {}
    for change in parts.ledger.documents.select(operations=_CHANGES, states=["accepted"], references=list(owners)):
        owner = owners.get(change.awb_number) or owners.get(change.reference)
        if owner is not None and change.accepted_at >= owner.accepted_at:
            found.setdefault(owner.id, []).append(change)
    return found


@dataclass(frozen=True, slots=True)
class KnownOrder:
    """One order: a line for each item, and every event about it that was stored, in the order in which they came."""

    lines: tuple[OrderLine, ...]
    events: tuple[Hint, ...]


def known_orders(parts: Parts, number: str) -> list[KnownOrder]:
    """The accepted orders with this reference or AWB number; a reference may have been used again."""
    orders = parts.ledger.orders.sent(numbers=[number])
    found = []
    for order, lines in zip(
        orders, lines_of(parts, orders, now=parts.clock.now(), end_statuses=END_STATUSES), strict=True
    ):
        numbers = [each for each in (order.awb_number, *order.child_awb_numbers) if each]
        names = [name for each in numbers for name in (each, each.removeprefix("SH-"))]
        found.append(KnownOrder(tuple(lines), tuple(parts.ledger.orders.events_of(names))))
    return found


def open_orders(parts: Parts, *, sent_within_days: int) -> list[SentOrder]:
    """The orders of the last days that are not at their end, those first that were asked for longest ago."""
    since = parts.clock.now() - timedelta(days=sent_within_days)
    orders = parts.ledger.orders.sent(since=since.date().isoformat())
    going_on = [order for order in orders if not has_ended(order.state.status, END_STATUSES)]
    return sorted(going_on, key=lambda order: order.state.asked_at or order.sent_at)
