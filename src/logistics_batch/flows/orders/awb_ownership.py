"""Whose an AWB number is: the look before an order is changed, numbers that answers lacked, and cancellations by id.

The answer to a create names no reference (API §4.6). If something on the way exchanged two answers, two orders have
each other's AWB number, and cancelling the one would cancel the other. So an order is looked at (API §4.5) before the
first change or cancellation that goes to its number, once: that it showed its reference is kept in the ledger. See
decision 11.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from logistics_batch.api.answers import Answer, OrderDetails, ReadFailed, ReplyVerdict, read_order
from logistics_batch.api.client import Client, Reply
from logistics_batch.api.content_match import same_order, shows_change
from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.search import OrderSearch, Presence, Probe, creates
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, NamedOrder, Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

_ANOTHERS_NUMBER = "anothers_number"
_LOOKED_FOR = timedelta(days=7)
_LISTED_AT_MOST = 1000  # orders without their AWB number in one round, the newest
_ASKED_AT_MOST = 50  # in one round: orders by reference (what events point to is no fruitless question), cancellations
_FRUITLESS_UNTIL_STOP = 3  # in a row: the service does not show orders under such numbers


class AwbOwner(StrEnum):
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


def look_under(client: Client, number: str, *, turn_taken: bool = False, finishes: bool = False) -> Look:
    """Fetch the order that is called this: by AWB number, id or reference, as the service understands it.

    turn_taken, finishes: see `Client.call`.
    """
    try:
        reply = client.call("order.fetch", order_id=number, turn_taken=turn_taken, finishes=finishes)
    except UsageError:
        return Look(said="it cannot be asked for such a number")
    seen = read_order(reply)
    if isinstance(seen, ReadFailed):
        if seen.meaning in (ReplyVerdict.UNAUTHORIZED, ReplyVerdict.SLOW_DOWN):
            return Look(failed=(reply, Answer(seen.meaning, seen.message)))
        if reply.status is None or reply.status >= 500:  # else it has answered, and would once more
            return Look(failed=(reply, Answer(ReplyVerdict.NOT_SENT, seen.message)))
        return Look(said=seen.message)
    if not isinstance(seen, OrderDetails):
        return Look(said=seen.message or "it has no such order")
    return Look(seen) if seen.is_called(number) else Look(said="another order came back than was asked for")


def awb_owner(ledger: Ledger, named: NamedOrder, order: OrderDetails | None) -> AwbOwner:
    """Whose the AWB number of an order of ours is, if the service shows this order by number or reference.

    A reference that no order of ours has may be ours in the service's spelling: then the content decides.
    """
    if order is None:
        return AwbOwner.NOT_SHOWN
    if order.awb_number and order.awb_number != named.awb_number:
        earlier = ledger.awb_numbers.named([order.awb_number]).get(order.awb_number)
        return AwbOwner.NOT_SHOWN if earlier and earlier.reference == named.reference else AwbOwner.ANOTHERS
    if order.reference_number == named.reference:
        return AwbOwner.OURS
    if any(other.reference == order.reference_number for other in creates(ledger, [order.reference_number])):
        return AwbOwner.ANOTHERS
    created = ledger.documents.get(named.document_id)
    if created is not None and same_order(created.body, order):
        return AwbOwner.OURS
    return AwbOwner.ANOTHERS if order.reference_number else AwbOwner.NOT_SHOWN


def believe(parts: Parts, document: StoredDocument, probe: Probe) -> None:
    """What a probe shows takes the AWB number from any other order that was answered with it."""
    if probe.named and probe.awb_number:
        parts.ledger.awb_numbers.give_back(probe.awb_number, reference=document.reference, at=parts.now)


class OrderLooks:
    """The looks of one run: at most one for an order, however many changes of it go out."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._named: dict[str, NamedOrder] = {}
        self._under_way: set[int] = set()
        self._unlooked = 0  # orders that are changed though the service does not show them

    def prepare(self, documents: Sequence[StoredDocument]) -> None:
        """Find the orders that these documents change."""
        changes = (document for document in documents if Operation(document.operation).changes_order)
        numbers = {document.order_id for document in changes} - set(self._named)
        if numbers:
            self._named |= self._parts.ledger.awb_numbers.named(numbers)

    @property
    def notes(self) -> tuple[Issue, ...]:
        """What the operator should know about it."""
        return (Issue.of("sending.unlooked", count=self._unlooked),) if self._unlooked else ()

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
        is_change = Operation(document.operation).changes_order
        if not is_change or document.reference == document.order_id or self._order(document) is not None:
            return None
        return _held(document, _ANOTHERS_NUMBER, number=document.order_id, reference=document.reference)

    def end(self, document: StoredDocument, look: Look) -> Outcome | None:
        """What a look showed: what to write down about a change that must not go out; None if it may."""
        order = self._order(document)
        if order is None:  # what was seen of another one took its number meanwhile
            return self.without_number(document)
        self._under_way.discard(order.document_id)
        if look.failed is not None:
            return None
        owner = awb_owner(self._parts.ledger, order, look.order)
        if owner is AwbOwner.ANOTHERS and look.order is not None:
            return self._anothers(document, order, look.order)
        if owner is AwbOwner.OURS:
            self._parts.ledger.awb_numbers.note_seen(order, at=self._parts.now)
        elif document.send_approved or self._parts.policy.change_unseen == "send":
            self._unlooked += 1
        else:
            code = "order_not_shown.said" if look.said else "order_not_shown"
            return _held(document, code, number=document.order_id, reference=document.reference, said=look.said)
        self._named[document.order_id] = replace(order, seen=True)
        return None

    def _order(self, document: StoredDocument) -> NamedOrder | None:
        """The order of ours that is changed; None for orders of others, and where the number is another order's."""
        order = self._named.get(document.order_id) if Operation(document.operation).changes_order else None
        return order if order is not None and document.reference in (order.reference, document.order_id) else None

    def _anothers(self, document: StoredDocument, order: NamedOrder, shown: OrderDetails) -> Outcome:
        number = shown.awb_number or order.awb_number
        self._parts.ledger.awb_numbers.give_back(number, reference=shown.reference_number, at=self._parts.now)
        self._named = self._parts.ledger.awb_numbers.named(self._named)
        code = f"{_ANOTHERS_NUMBER}.shown" if number == order.awb_number else f"{_ANOTHERS_NUMBER}.another"
        return _held(document, code, number=order.awb_number, reference=order.reference, shown=shown.reference_number)


def _held(document: StoredDocument, code: str, **values: str) -> Outcome:
    return Outcome(document.id, "held", "held", why=Issue.of(code, **values))


def find_missing_numbers(parts: Parts) -> None:
    """After sending or settling: AWB numbers that answers lacked, and orders that were cancelled by another number.

    Call while holding the sending lock.
    """
    _fill_in_awb_numbers(parts)
    _note_cancelled_by_id(parts)


def _fill_in_awb_numbers(parts: Parts) -> None:
    """Find AWB numbers that the service did not tell when it accepted an order, where events point or by reference.

    Without it an order has no label and cannot be changed. Only what the service shows with our content counts.
    """
    numbers, since = parts.ledger.awb_numbers, (parts.clock.now() - _LOOKED_FOR).isoformat()
    missing = numbers.missing(since=since, at_most=_LISTED_AT_MOST)
    if not missing:
        return
    search = OrderSearch(parts.client, parts.ledger, missing)
    hinted = [document for document in missing if search.has_hint(document)]
    ids = {document.id for document in hinted}
    others = [document for document in missing if document.id not in ids][:_ASKED_AT_MOST]
    fruitless = 0
    for document in (*hinted, *others):
        if parts.stop.is_set() or fruitless == _FRUITLESS_UNTIL_STOP:
            return
        probe = search.look_for(document)
        if probe.presence in (Presence.PRESENT, Presence.CANCELLED) and probe.awb_number:
            believe(parts, document, probe)
            numbers.fill_in(document.id, probe.awb_number, order_id=probe.order_id, now=parts.now, seen=probe.named)
            if probe.presence is Presence.CANCELLED:
                numbers.found_cancelled(document.id, at=parts.now)
            fruitless = 0
        elif document.id not in ids or probe.presence is Presence.UNREACHABLE:
            fruitless += 1


def _note_cancelled_by_id(parts: Parts) -> None:
    """Write down which orders of ours were cancelled by the service's own id of them (API §4.10), as far as it shows.

    The ledger knows its orders by AWB number, so such a cancellation is accepted and no order of ours knows of it. An
    order is ours by its AWB number, or where we know none by its reference and content.
    """
    numbers, since = parts.ledger.awb_numbers, (parts.clock.now() - _LOOKED_FOR).isoformat()
    fruitless = 0
    for cancellation in numbers.cancelled_by_unknown_numbers(since=since, at_most=_ASKED_AT_MOST):
        if parts.stop.is_set() or fruitless == _FRUITLESS_UNTIL_STOP:
            return
        order = look_under(parts.client, cancellation.order_id).order
        if order is None or not shows_change("order.cancel", "", order):
            fruitless += 1
            continue
        fruitless = 0
        why = Issue.of("cancelled.by_file", file=cancellation.file_name)
        for each in creates(parts.ledger, [order.awb_number, order.reference_number], states=["accepted"]):
            nameless = each.reference == order.reference_number and not each.awb_number and not each.purged
            if each.awb_number == order.awb_number != "" or (nameless and same_order(each.body, order)):
                numbers.found_cancelled(each.id, at=parts.now, why=why)
        numbers.note_whose(cancellation.id)
