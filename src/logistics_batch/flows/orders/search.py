"""Looking for orders at the service: where stored events point, by reference, and among those cancelled from here.

An event is a hint (API §6): it names our reference and an AWB number, and nothing vouches for it. The order is fetched
by that number, and only what the service shows counts. No event ever says that an order is not there.

Fetching an order by its reference is not documented (API §4.5 wants the id returned on create). A “no” counts only
after two controls: an order that certainly exists must be found by reference and by AWB as the same order, and a
reference that was never used must give another, stable answer.
"""

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from logistics_batch.api.answers import OrderAbsent, OrderDetails, ReadFailed, read_order
from logistics_batch.api.client import Client
from logistics_batch.api.content_match import same_order
from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.receive_event import order_named_by
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.order_state import CANCELLED, status_word
from logistics_batch.model.spelling import folded

_HINTS_AT_MOST = 3  # AWB numbers that are fetched for one order, the newest first


class Presence(StrEnum):
    """What a probe proves about one order."""

    PRESENT = "present"  # there, with our content
    FOREIGN = "foreign"  # the reference is there with other content
    CANCELLED = "cancelled"  # ours, and cancelled
    ABSENT = "absent"  # certainly not there
    UNKNOWN = "unknown"  # no conclusion
    UNREACHABLE = "unreachable"  # the service could not be asked


@dataclass(frozen=True, slots=True)
class Probe:
    """The conclusion, its words for the evidence, and what the service told about a present order.

    never_blindly: why no uniqueness allows a second send: an order was cancelled from here that may be this one, or the
    service does not know our orders. named: the order shows our reference. in_vain: the service does not show orders by
    their reference, so that asking again by it will not help either.
    """

    presence: Presence
    text: str
    awb_number: str = ""
    order_id: str = ""
    never_blindly: bool = False
    named: bool = False
    in_vain: bool = False


@dataclass(frozen=True, slots=True)
class Calibration:
    """Whether “not found” can be believed now; `absent` is how the service says it, `text` why not.

    strange: it does not have the order that it accepted last, by its own AWB number: the key may be another account's.
    by_number_only: it shows that order by its AWB number, and not by its reference.
    """

    valid: bool
    absent: str = ""
    text: str = ""
    strange: bool = False
    by_number_only: bool = False


def creates(ledger: Ledger, names: Iterable[str], *, states: Sequence[str] | None = None) -> list[StoredDocument]:
    """The orders from here with these references or AWB numbers, oldest first."""
    wanted = [name for name in names if name]
    return ledger.documents.select(operations=[Operation.ORDER_CREATE], states=states, references=wanted)


def fetch_order(client: Client, order_id: str) -> OrderDetails | OrderAbsent | ReadFailed | None:
    """Fetch one order; None where its id cannot stand in a path."""
    try:
        return read_order(client.call("order.fetch", order_id=order_id))
    except UsageError:
        return None


def calibrate(client: Client, ledger: Ledger) -> Calibration:
    """Make both controls; read-only."""
    known = ledger.documents.last_accepted(Operation.ORDER_CREATE)
    if known is None:
        return Calibration(False, text="no accepted order is known yet to compare with")
    by_reference = fetch_order(client, known.reference)
    by_awb = fetch_order(client, known.awb_number)
    if isinstance(by_awb, OrderAbsent):
        text = "a known order is not found by its AWB number: is this its account?"
        return Calibration(False, text=text, strange=True)
    if not (isinstance(by_reference, OrderDetails) and isinstance(by_awb, OrderDetails)):
        by_number_only = isinstance(by_reference, OrderAbsent) and isinstance(by_awb, OrderDetails)
        return Calibration(False, text="a known order is not found by its reference", by_number_only=by_number_only)
    if by_reference.awb_number != by_awb.awb_number:
        return Calibration(False, text="reference and AWB of a known order lead to different orders")
    forms = set()
    for unused in (f"LB-{secrets.token_hex(8)}" for _ in range(2)):
        seen = fetch_order(client, unused)
        forms.add(_form(seen, unused) if isinstance(seen, OrderAbsent) else "")
    if len(forms) > 1 or "" in forms:
        return Calibration(False, text="unused references do not give one stable answer")
    return Calibration(True, absent=forms.pop(), text="known order found, unused references answered alike")


def _form(seen: OrderAbsent, reference: str) -> str:
    """How the service says that a reference is not there, without the reference."""
    return re.sub(rf"(?<!\w){re.escape(reference)}(?!\w)", "*", seen.signature)


def probe_order(client: Client, document: StoredDocument, calibration: Calibration) -> Probe:
    """Look for one order by its reference."""
    seen = fetch_order(client, document.reference)
    if seen is None:
        return Probe(Presence.UNKNOWN, "the service cannot be asked for such a reference", in_vain=True)
    if isinstance(seen, OrderDetails):
        return judge_found(document, seen)
    if isinstance(seen, ReadFailed):
        return Probe(Presence.UNREACHABLE, f"the service could not be asked: {seen.message}")
    if not calibration.valid:
        text = f"not found by reference, which proves nothing: {calibration.text}"
        strange, in_vain = calibration.strange, calibration.by_number_only
        return Probe(Presence.UNKNOWN, text, never_blindly=strange, in_vain=in_vain)
    if _form(seen, document.reference) == calibration.absent:
        return Probe(Presence.ABSENT, f"not found by reference; {calibration.text}")
    return Probe(Presence.UNKNOWN, "an answer that is neither “found” nor the known “not found”")


def probe_awb(client: Client, document: StoredDocument, awb_number: str) -> Probe:
    """Fetch the order that is said to be this document; only one with its reference and this AWB number can be it."""
    seen = fetch_order(client, awb_number)
    if isinstance(seen, ReadFailed):
        return Probe(Presence.UNREACHABLE, f"the service could not be asked: {seen.message}")
    if not isinstance(seen, OrderDetails):
        return Probe(Presence.UNKNOWN, "the service does not show an order with this AWB number")
    if (seen.reference_number, seen.awb_number) != (document.reference, awb_number):
        return Probe(Presence.UNKNOWN, "the order with this AWB number does not show our reference")
    return judge_found(document, seen)


def _number_of_answer(document: StoredDocument) -> str:
    """The AWB number in the answer to an order that was accepted and could not be looked at; "" for any other."""
    told = document.why.given.get("why", ())
    return next((str(values["awb_number"]) for code, values in told if code == ".not_looked_at"), "")


def judge_found(document: StoredDocument, seen: OrderDetails) -> Probe:
    """What an order that the service shows says about a document of ours."""
    order = seen
    if order.reference_number and folded(order.reference_number) != folded(document.reference):
        return Probe(Presence.UNKNOWN, "another order came back than was asked for")
    if not document.purged and not same_order(document.body, order):
        return Probe(Presence.FOREIGN, "the reference belongs to an order with other content", order.awb_number)
    presence, text = Presence.PRESENT, "the order is there with the same content"
    if status_word(order.status) == CANCELLED:
        presence, text = Presence.CANCELLED, "the order is there and cancelled"
    is_named = order.reference_number == document.reference
    return Probe(presence, text, order.awb_number, order.order_id, named=is_named)


class OrderSearch:
    """One round of looking for orders; the controls are made only when something is asked by reference."""

    def __init__(self, client: Client, ledger: Ledger, orders: Sequence[StoredDocument]) -> None:
        self._client = client
        self._ledger = ledger
        self._orders = orders
        self._cancelled: dict[str, OrderDetails | OrderAbsent | ReadFailed | None] = {}

    def look_for(self, document: StoredDocument) -> Probe:
        """What can be found out about one order now."""
        hinted = self._follow_hints(document)
        if hinted is not None and hinted.presence in (Presence.PRESENT, Presence.UNREACHABLE):
            return hinted
        probe = self._unless_earlier(document, probe_order(self._client, document, self._calibration))
        # A cancelled order counts where nothing else was found: without this it might be created a second time.
        if probe.presence in (Presence.ABSENT, Presence.UNKNOWN):
            return hinted or self._among_cancelled(document) or probe
        return probe

    def has_hint(self, document: StoredDocument) -> bool:
        """Whether events point to where the order is to be found."""
        return bool(self._hinted(document))

    def judge(self, document: StoredDocument, seen: OrderDetails) -> Probe:
        """What an order says about a document that was fetched by its reference."""
        return self._unless_earlier(document, judge_found(document, seen))

    def _unless_earlier(self, document: StoredDocument, probe: Probe) -> Probe:
        """The probe; an earlier order of ours under the reference says nothing about this one."""
        if probe.awb_number and self._earlier([probe.awb_number], document, named=probe.named):
            return Probe(Presence.UNKNOWN, f"what is shown is an earlier order of ours (AWB {probe.awb_number})")
        return probe

    def _earlier(self, awb_numbers: Sequence[str], document: StoredDocument, *, named: bool = False) -> set[str]:
        """Which of these AWB numbers belong to other orders of ours, or to earlier, cancelled attempts of this one.

        named: the service shows our reference with them, so that they can only be those of earlier orders under it.
        """
        others = [found for found in creates(self._ledger, awb_numbers) if found.id != document.id]
        taken = {found.awb_number for found in others if not named or found.reference == document.reference}
        return (taken | self._ledger.awb_numbers.cancelled_before(document.id)) & set(awb_numbers)

    @cached_property
    def _calibration(self) -> Calibration:
        return calibrate(self._client, self._ledger)

    def _follow_hints(self, document: StoredDocument) -> Probe | None:
        """The order that events point to: if it is there, else cancelled, else None."""
        cancelled = None
        for awb_number in self._hinted(document):
            probe = probe_awb(self._client, document, awb_number)
            probe = replace(probe, text=f"an event led to it: {probe.text}")
            if probe.presence in (Presence.PRESENT, Presence.UNREACHABLE):
                return probe
            if probe.presence is Presence.CANCELLED:
                cancelled = probe
        return cancelled

    def _hinted(self, document: StoredDocument) -> list[str]:
        """The AWB numbers to fetch, the newest first; those of orders that are known belong to earlier versions."""
        answered = [number] if (number := _number_of_answer(document)) else []
        numbers = [*answered, *list(self._hints.get(document.reference, ()))[-_HINTS_AT_MOST:]]
        taken = self._earlier(numbers, document) if numbers else set()
        return [number for number in reversed(numbers) if number not in taken]

    @cached_property
    def _hints(self) -> dict[str, dict[str, None]]:
        """By reference the AWB numbers in events that came since the order was planned, in their order."""
        since: dict[str, datetime] = {}
        for document in self._orders:
            planned = datetime.fromisoformat(document.planned_at)
            since[document.reference] = min(planned, since.get(document.reference, planned))
        found: dict[str, dict[str, None]] = {}
        events = self._ledger.events.of_orders(received_from=min(since.values()).isoformat()) if since else ()
        for came_at, waybill, raw in events:
            reference = order_named_by(raw)
            if reference in since and came_at >= since[reference]:
                found.setdefault(reference, {})[waybill] = None
        return found

    def _among_cancelled(self, document: StoredDocument) -> Probe | None:
        """The order among those that were cancelled from here by numbers that the ledger does not know.

        None if it is surely none of them, or only an earlier attempt of it. Each is looked up once.
        """
        unclear = ""
        before = self._ledger.awb_numbers.cancelled_before(document.id) if self._cancelled_numbers else set()
        for number in self._cancelled_numbers:
            if number in before:
                continue
            if number not in self._cancelled:
                self._cancelled[number] = fetch_order(self._client, number)
            seen = self._cancelled[number]
            if isinstance(seen, ReadFailed):
                return Probe(Presence.UNREACHABLE, f"order {number}, cancelled from here, cannot be asked for now")
            if not isinstance(seen, OrderDetails):
                unclear = unclear or number
            elif seen.reference_number == document.reference and seen.awb_number not in before:
                return judge_found(document, seen)
        if not unclear:
            return None
        text = f"order {unclear} was cancelled from here, and the service does not show whether it is this one"
        return Probe(Presence.UNKNOWN, text, never_blindly=True)

    @cached_property
    def _cancelled_numbers(self) -> list[str]:
        """By what orders were cancelled from here since the first of these was planned, without those known here."""
        since = min(document.planned_at for document in self._orders)
        by_hand = self._ledger.awb_numbers.asked_since(since)
        cancels = self._ledger.documents.select(operations=[Operation.ORDER_CANCEL], planned_from=since[:10])
        by_file = [one.order_id for one in cancels if one.attempts]
        asked = dict.fromkeys((*by_hand, *by_file))
        ours = {name for one in creates(self._ledger, asked) for name in (one.awb_number, one.order_id)}
        return [number for number in asked if number and number not in ours]
