"""Asking the service whether an order is there, and whether its “no” means anything.

Fetching an order by its reference number is not documented (API §4.5 wants the id returned on create). A “no” counts
only after two controls: an order that certainly exists must be found by reference and by AWB as the same order, and a
reference that was never used must give another, stable answer.
"""

import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from logistics_batch.api.answers import OrderAbsent, OrderFound, ReadFailed, read_order, same_order
from logistics_batch.api.client import Client
from logistics_batch.errors import UsageError
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.model.document import Operation


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
    service does not know our orders. named: the order shows our reference.
    """

    presence: Presence
    text: str
    awb_number: str = ""
    order_id: str = ""
    never_blindly: bool = False
    named: bool = False


NOTHING_SEEN = Probe(Presence.UNKNOWN, "")

Sight = OrderFound | OrderAbsent | ReadFailed | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Whether “not found” can be believed now; `absent` is how the service says it.

    strange: it does not have the order that it accepted last, by its own AWB number: the key may be another account's.
    """

    valid: bool
    absent: str = ""
    text: str = ""
    strange: bool = False


def calibrate(client: Client, ledger: Ledger) -> Calibration:
    """Make both controls; read-only."""
    known = ledger.documents.last_accepted(Operation.ORDER_CREATE)
    if known is None:
        return Calibration(False, text="no accepted order is known yet to compare with")
    by_reference = fetch_order(client, known.reference)
    by_awb = fetch_order(client, known.awb_number)
    if isinstance(by_awb, OrderAbsent):
        return Calibration(
            False, text="a known order is not found by its AWB number: is this its account?", strange=True
        )
    if not (isinstance(by_reference, OrderFound) and isinstance(by_awb, OrderFound)):
        return Calibration(False, text="a known order is not found by its reference")
    if by_reference.order.awb_number != by_awb.order.awb_number:
        return Calibration(False, text="reference and AWB of a known order lead to different orders")
    nowhere = [f"LB-{secrets.token_hex(8)}" for _ in range(2)]
    answers = [_absent_form(client, reference) for reference in nowhere]
    if answers[0] is None or answers[0] != answers[1]:
        return Calibration(False, text="unused references do not give one stable answer")
    return Calibration(True, absent=answers[0], text="known order found, unused references answered alike")


def _absent_form(client: Client, reference: str) -> str | None:
    """How the service says that this reference is not there, with the reference itself taken out."""
    seen = fetch_order(client, reference)
    return _form(seen, reference) if isinstance(seen, OrderAbsent) else None


def _form(seen: OrderAbsent, reference: str) -> str:
    """The answer without the reference, where it stands as a word of its own."""
    return re.sub(rf"(?<!\w){re.escape(reference)}(?!\w)", "*", seen.signature)


def fetch_order(client: Client, order_id: str) -> Sight:
    """Fetch one order; None where its id cannot stand in a path."""
    try:
        return read_order(client.call("order.fetch", order_id=order_id))
    except UsageError:
        return None


def probe_order(client: Client, document: StoredDocument, calibration: Calibration) -> Probe:
    """Look for one order by its reference."""
    seen = fetch_order(client, document.reference)
    if seen is None:
        return Probe(Presence.UNKNOWN, "the service cannot be asked for such a reference")
    if isinstance(seen, OrderFound):
        return judge_found(document, seen)
    if isinstance(seen, ReadFailed):
        return Probe(Presence.UNREACHABLE, f"the service could not be asked: {seen.message}")
    if not calibration.valid:
        text = f"not found by reference, which proves nothing: {calibration.text}"
        return Probe(Presence.UNKNOWN, text, never_blindly=calibration.strange)
    if _form(seen, document.reference) == calibration.absent:
        return Probe(Presence.ABSENT, f"not found by reference; {calibration.text}")
    return Probe(Presence.UNKNOWN, "an answer that is neither “found” nor the known “not found”")


def probe_awb(client: Client, document: StoredDocument, awb_number: str) -> Probe:
    """Fetch the order that is said to be this document; only one with its reference and this AWB number can be it."""
    seen = fetch_order(client, awb_number)
    if isinstance(seen, ReadFailed):
        return Probe(Presence.UNREACHABLE, f"the service could not be asked: {seen.message}")
    if not isinstance(seen, OrderFound):
        return Probe(Presence.UNKNOWN, "the service does not show an order with this AWB number")
    if (seen.order.reference_number, seen.order.awb_number) != (document.reference, awb_number):
        return Probe(Presence.UNKNOWN, "the order with this AWB number does not show our reference")
    return judge_found(document, seen)


def judge_found(document: StoredDocument, seen: OrderFound) -> Probe:
    """What an order that the service shows says about a document of ours."""
    order = seen.order
    if order.reference_number and order.reference_number != document.reference:
        return Probe(Presence.UNKNOWN, "another order came back than was asked for")
    if not document.purged and not same_order(document.body, order):
        return Probe(Presence.FOREIGN, "the reference belongs to an order with other content", order.awb_number)
    presence, text = Presence.PRESENT, "the order is there with the same content"
    if order.status.casefold().replace("canceled", "cancelled") == "cancelled":
        presence, text = Presence.CANCELLED, "the order is there and cancelled"
    return Probe(presence, text, order.awb_number, order.order_id, named=bool(order.reference_number))
