"""Finding out with test orders what the service does where its document is silent or only promises.

Each test order is written down before its first byte, and cancelled at the end; one that cannot be cancelled stays
written down until a later round cancels it.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from logistics_batch.api.answers import Answer, OrderAbsent, OrderDetails, ReplyVerdict, judge
from logistics_batch.api.content_match import shows_change
from logistics_batch.api.key_print import key_print
from logistics_batch.errors import RunStopped
from logistics_batch.flows.orders.search import fetch_order
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.proof import facts_of
from logistics_batch.ledger import ServiceFacts, TestOrder, form_of

_AT_ONCE = 4
# Each makes a refusal that has nothing to do with the reference (API §2.3, §4.6).
_SPOILT = (
    {"delivery_address": None},
    {"customer_mobile": None},
    {"item_details": [{"item_quantity": 1}]},
    {"packages_count": "1", "item_details": [{"item_name": "TEST", "package_id": "1"}]},
)
_NEVER_CAME = (
    ReplyVerdict.NOT_SENT,
    ReplyVerdict.UNAUTHORIZED,
    ReplyVerdict.SLOW_DOWN,
    ReplyVerdict.REFUSED,
    ReplyVerdict.DECLINED,
)


@dataclass(frozen=True, slots=True)
class StagingReport:
    """What test orders showed; left: those that may still be there."""

    facts: ServiceFacts
    left: tuple[TestOrder, ...]


def verify_service(parts: Parts, *, pincode: str) -> StagingReport:
    """Make a few test orders, look at how they are answered and found, cancel them, and remember what was seen.

    pincode: one that the service delivers to.

    Raises:
        RunStopped: the service took no test order.
        LedgerBusy: a sending run holds the ledger.
    """
    with parts.ledger.sending("doctor --staging"):
        _cancel_all(parts)
        try:
            facts = _seen(parts, pincode)
        finally:
            _cancel_all(parts)
        parts.ledger.facts.keep(facts)
        return StagingReport(facts, tuple(parts.ledger.facts.test_orders()))


def _seen(parts: Parts, pincode: str) -> ServiceFacts:
    reference, together = (_new_reference(parts) for _ in range(2))
    first = _create(parts, reference, pincode)
    if first.meaning is not ReplyVerdict.ACCEPTED:
        raise RunStopped(
            f"The service took no test order: {first.message or first.meaning.value.replace('_', ' ')}",
            remedy="Look at the message; name a pincode that is delivered to with --pincode.",
        )
    second = _create(parts, reference, pincode)
    with ThreadPoolExecutor(_AT_ONCE) as workers:
        at_once = list(workers.map(lambda _: _create(parts, together, pincode), range(_AT_ONCE)))
    others = {_refused_form(parts, pincode, spoilt) for spoilt in _SPOILT}
    form = form_of(second.message, reference) if second.meaning is ReplyVerdict.REFUSED else ""
    repeated = second.meaning is ReplyVerdict.ACCEPTED and second.awb_number == first.awb_number
    asked = {"reference_number": reference, "awb_number": first.awb_number, "order_id": first.order_id}
    shown = {name: fetch_order(parts.client, number) for name, number in asked.items() if number}
    return ServiceFacts(
        at=parts.clock.now().isoformat(timespec="seconds"),
        unique=_is_unique([first, second]) and _is_unique(at_once),
        duplicate="refused" if second.meaning is ReplyVerdict.REFUSED else "repeated" if repeated else "unclear",
        duplicate_form=form if form not in others else "",
        found_by=tuple(
            name
            for name, seen in shown.items()
            if isinstance(seen, OrderDetails) and seen.reference_number == reference
        ),
        key_print=key_print(parts.client.settings),
    )


def _is_unique(answers: Sequence[Answer]) -> bool:
    """One order came of them: an answer that proves nothing may stand for a second one, and so may one without AWB."""
    accepted = [answer.awb_number for answer in answers if answer.meaning is ReplyVerdict.ACCEPTED]
    clear = all(answer.meaning in (ReplyVerdict.ACCEPTED, *_NEVER_CAME) for answer in answers)
    return clear and len(set(accepted)) == 1 and (len(accepted) == 1 or bool(accepted[0]))


def _new_reference(parts: Parts) -> str:
    """A reference that nobody has, written down before it is used."""
    reference = f"LB-TEST-{secrets.token_hex(6)}"
    parts.ledger.facts.note_test_order(reference, at=parts.clock.now().isoformat(timespec="seconds"))
    return reference


def _refused_form(parts: Parts, pincode: str, spoilt: Mapping[str, object]) -> str:
    """In which words an order is refused that has these wrong values, and nothing else is wrong with."""
    reference = _new_reference(parts)
    answer = _create(parts, reference, pincode, spoilt=spoilt)
    if answer.meaning in _NEVER_CAME:
        parts.ledger.facts.forget_test_order(reference)
    return form_of(answer.message, reference)


def _create(parts: Parts, reference: str, pincode: str, *, spoilt: Mapping[str, object] | None = None) -> Answer:
    """One create with all that is required, so that nothing but the reference can be refused, or what is spoilt."""
    order = {
        "reference_number": reference,
        "customer_name": "Test order of logistics-batch, not to be delivered",
        "customer_mobile": "9999999999",
        "delivery_address": "Test order, not to be delivered",
        "delivery_postal_code": pincode,
        "item_details": [{"item_name": "TEST", "item_quantity": 1}],
    }
    body = json.dumps({name: value for name, value in (order | dict(spoilt or {})).items() if value is not None})
    answer = judge(parts.client.call("order.create", body=body), operation="order.create")
    if answer.meaning is ReplyVerdict.ACCEPTED:
        now = parts.clock.now().isoformat(timespec="seconds")
        parts.ledger.facts.note_test_order(reference, at=now, awb_number=answer.awb_number)
    return answer


def _cancel_all(parts: Parts) -> None:
    """Cancel every test order that is written down; one whose AWB is not known is looked up by its reference.

    One that was written down and never sent is forgotten once the service, which shows orders by their references,
    shows none.
    """
    facts = facts_of(parts)
    shows_references = facts is not None and "reference_number" in facts.found_by
    long_ago = parts.clock.now() - timedelta(seconds=parts.policy.settle_after_seconds)
    for order in parts.ledger.facts.test_orders():
        numbers = order.awb_numbers
        seen = None if numbers else fetch_order(parts.client, order.reference)
        if isinstance(seen, OrderDetails) and seen.reference_number == order.reference and seen.awb_number:
            numbers = (seen.awb_number,)
        old = datetime.fromisoformat(order.at) <= long_ago
        never_there = isinstance(seen, OrderAbsent) and old and shows_references
        cancelled = [_cancel(parts, number) for number in numbers]
        if never_there or (cancelled and all(cancelled)):
            parts.ledger.facts.forget_test_order(order.reference)


def _cancel(parts: Parts, number: str) -> bool:
    """Whether an order is cancelled now; also one that a person cancelled before."""
    answer = judge(parts.client.call("order.cancel", order_id=number), operation="order.cancel")
    if answer.meaning is ReplyVerdict.ACCEPTED:
        return True
    seen = fetch_order(parts.client, number)
    return isinstance(seen, OrderDetails) and bool(shows_change("order.cancel", "", seen))
