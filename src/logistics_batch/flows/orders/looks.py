"""Before an order is changed for the first time: is its AWB number really its own? (decision 11)

The answer to a create names no reference (API §4.6). If something on the way exchanged two answers, two orders have
each other's AWB number, and cancelling the one would cancel the other. So an order is looked at (API §4.5) before the
first change or cancellation that goes to its number, once: that it showed its reference is kept in the ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from logistics_batch.api.answers import Answer, Meaning, OrderDetails, OrderFound, ReadFailed, read_order, same_order
from logistics_batch.api.client import Client, Reply
from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, NamedOrder, Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

ANOTHERS_NUMBER = "anothers_number"
"""The rule of a change that is held because the AWB number it would go to is not that of its order."""


class Whose(StrEnum):
    """Whose an AWB number is, by what the service shows."""

    OURS = "ours"  # that of the order that the ledger has under it
    ANOTHERS = "another's"
    NOT_SHOWN = "not shown"  # neither can be said


@dataclass(frozen=True, slots=True)
class Look:
    """What the service shows of an order, None if it does not, and what it said then.

    failed: the reply and its meaning if it could not be asked.
    """

    order: OrderDetails | None = None
    said: str = ""
    failed: tuple[Reply, Answer] | None = None


def look_at(client: Client, order: NamedOrder, *, turn_taken: bool = False) -> Look:
    """Fetch an order by its AWB number; where that finds none, by its reference.

    turn_taken: the caller has its turn for the first call.
    """
    look = look_under(client, order.awb_number, turn_taken=turn_taken)
    if look.order is not None or look.failed is not None:
        return look
    by_reference = look_under(client, order.reference)
    return look if by_reference.order is None and by_reference.failed is None else by_reference


def look_under(client: Client, number: str, *, turn_taken: bool = False) -> Look:
    """Fetch the order that is called this: by AWB number, id or reference, as the service understands it."""
    try:
        reply = client.call("order.fetch", order_id=number, turn_taken=turn_taken)
    except UsageError:
        return Look(said="it cannot be asked for such a number")
    seen = read_order(reply)
    if isinstance(seen, ReadFailed):
        away = reply.status is None or reply.status >= 500  # else it has answered, and would once more
        known = seen.meaning if seen.meaning in (Meaning.UNAUTHORIZED, Meaning.SLOW_DOWN) else Meaning.NOT_SENT
        if away or known is seen.meaning:
            return Look(failed=(reply, Answer(known, seen.message)))
        return Look(said=seen.message)
    if not isinstance(seen, OrderFound):
        return Look(said=seen.message or "it has no such order")
    return Look(seen.order) if seen.order.is_called(number) else Look(said="another order came back than was asked for")


def whose(ledger: Ledger, named: NamedOrder, order: OrderDetails) -> Whose:
    """Whose the AWB number of an order of ours is, if the service shows this order by number or reference.

    A reference that no order of ours has may be ours in the service's spelling: then the content decides.
    """
    if order.awb_number and order.awb_number != named.awb_number:
        earlier = ledger.orders.orders_named([order.awb_number]).get(order.awb_number)
        return Whose.NOT_SHOWN if earlier and earlier.reference == named.reference else Whose.ANOTHERS
    if order.reference_number == named.reference:
        return Whose.OURS
    if order.reference_number:
        others = ledger.documents.select(operations=[Operation.ORDER_CREATE], references=[order.reference_number])
        if any(other.reference == order.reference_number for other in others):
            return Whose.ANOTHERS
    created = ledger.documents.get(named.document_id)
    if created is not None and same_order(created.body, order):
        return Whose.OURS
    return Whose.ANOTHERS if order.reference_number else Whose.NOT_SHOWN


class OrderLooks:
    """The looks of one run: at most one for an order, however many changes of it go out."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._named: dict[str, NamedOrder] = {}
        self._under_way: set[int] = set()
        self._unlooked = 0  # orders that are changed though the service does not show them

    def prepare(self, documents: Sequence[StoredDocument]) -> None:
        """Find the orders that these documents change."""
        numbers = {document.order_id for document in documents if _is_change(document)} - set(self._named)
        if numbers:
            self._named |= self._parts.ledger.orders.orders_named(numbers)

    @property
    def notes(self) -> tuple[Issue, ...]:
        """What the operator should know about it."""
        if not self._unlooked:
            return ()
        return (Issue.of("sending.unlooked", count=self._unlooked),)

    def needed(self, document: StoredDocument) -> bool:
        """Whether the order has to be looked at before this goes out."""
        order = self._order(document)
        return order is not None and not order.seen

    def under_way(self, document: StoredDocument) -> bool:
        """Whether its order is being looked at."""
        order = self._order(document)
        return order is not None and order.document_id in self._under_way

    def begin(self, document: StoredDocument) -> NamedOrder:
        """The order to look at; it is under way until `end`."""
        order = self._named[document.order_id]
        self._under_way.add(order.document_id)
        return order

    def without_number(self, document: StoredDocument) -> Outcome | None:
        """What to write down about a change whose order has another AWB number than when the change was planned."""
        if not _is_change(document) or document.reference == document.order_id or self._order(document) is not None:
            return None
        why = Issue.of(ANOTHERS_NUMBER, number=document.order_id, reference=document.reference)
        return Outcome(document.id, "held", "held", why=why)

    def end(self, document: StoredDocument, look: Look) -> Outcome | None:
        """What a look showed: what to write down about a change that must not go out; None if it may."""
        order = self._order(document)
        if order is None:  # what was seen of another one took its number meanwhile
            return self.without_number(document)
        self._under_way.discard(order.document_id)
        if look.failed is not None:
            return None
        verdict = whose(self._parts.ledger, order, look.order) if look.order is not None else Whose.NOT_SHOWN
        if verdict is Whose.ANOTHERS and look.order is not None:
            return self._anothers(document, order, look.order)
        if verdict is Whose.OURS:
            self._parts.ledger.orders.note_seen(order, at=self._parts.clock.now().isoformat())
        elif document.released or self._parts.policy.change_unseen == "send":
            self._unlooked += 1
        else:
            return _not_shown(document, look)
        self._named[document.order_id] = replace(order, seen=True)
        return None

    def _order(self, document: StoredDocument) -> NamedOrder | None:
        """The order of ours that is changed; None for orders of others, and where the number is another order's."""
        order = self._named.get(document.order_id) if _is_change(document) else None
        return order if order is not None and document.reference in (order.reference, document.order_id) else None

    def _anothers(self, document: StoredDocument, order: NamedOrder, shown: OrderDetails) -> Outcome:
        now = self._parts.clock.now().isoformat()
        number = shown.awb_number or order.awb_number
        self._parts.ledger.attempts.give_back_number(number, reference=shown.reference_number, at=now)
        self._named = self._parts.ledger.orders.orders_named(self._named)
        code = f"{ANOTHERS_NUMBER}.shown" if number == order.awb_number else f"{ANOTHERS_NUMBER}.another"
        why = Issue.of(code, number=order.awb_number, reference=order.reference, shown=shown.reference_number)
        return Outcome(document.id, "held", "held", why=why)


def _is_change(document: StoredDocument) -> bool:
    return Operation(document.operation).changes_order


def _not_shown(document: StoredDocument, look: Look) -> Outcome:
    code = "order_not_shown.said" if look.said else "order_not_shown"
    why = Issue.of(code, number=document.order_id, reference=document.reference, said=look.said)
    return Outcome(document.id, "held", "held", why=why)
