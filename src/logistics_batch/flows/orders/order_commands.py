"""Calls about an order that a person makes: look at it, cancel it; each with what its answer proves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from logistics_batch.api.answers import Answer, OrderAbsent, OrderDetails, ReadFailed, ReplyVerdict, judge, read_order
from logistics_batch.api.content_match import same_order, shows_change
from logistics_batch.errors import KeyRefused, RunStopped, ServiceMisaddressed
from logistics_batch.flows.orders.awb_ownership import AwbOwner, awb_owner, look_at, look_under
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import cancelled_in_doubt
from logistics_batch.ledger import NewNotice, StoredDocument
from logistics_batch.model.report import ExitCode


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a call by hand came to: a sentence for the person, and the exit code."""

    text: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class OrderLook:
    """What the service tells of one order; `details` is None if it does not have it, and `message` says so."""

    details: dict[str, Any] | None
    message: str = ""


def get_order(parts: Parts, order_id: str) -> OrderLook:
    """Fetch one order by its AWB number or id (API §4.5).

    Raises KeyRefused, ServiceMisaddressed, or RunStopped if the service could not be asked.
    """
    found = read_order(parts.client.call("order.fetch", order_id=order_id))
    if isinstance(found, ReadFailed):
        raise_for_every_call(found.meaning, found.message)
        raise RunStopped(f"The service could not be asked: {found.message}", remedy="Nothing was changed; try again.")
    return OrderLook(None, found.message) if isinstance(found, OrderAbsent) else OrderLook(found.order.raw)


def cancel_order(parts: Parts, order_id: str) -> Conclusion:
    """Cancel one order (API §4.10); what was asked, and what came of it, stands in the ledger if the order is ours.

    After any answer but a yes the order is looked at: a second cancelling of a cancelled order is refused, too. What
    stays unknown is a notice until it is known.

    order_id: AWB number or id, or the reference of an order of ours, whose AWB number the ledger knows.

    Raises KeyRefused, ServiceMisaddressed: the order was not cancelled.
    """
    ours = _named(parts, order_id)
    if ours is not None:
        order_id = ours.awb_number
    if unsure := _unsure(parts, ours) if ours is not None else _meaning_another(parts, order_id):
        return unsure
    if not _note(parts, order_id, "cancelling was asked for by hand"):
        parts.ledger.awb_numbers.note_asked(order_id, at=parts.clock.now().isoformat())
    answer = judge(parts.client.call("order.cancel", order_id=order_id), operation="order.cancel")
    nothing_done = undone(answer)
    if nothing_done is not None:
        return nothing_done
    order = look_under(parts.client, order_id).order
    shown = order is not None and bool(shows_change("order.cancel", "", order))
    if answer.meaning is ReplyVerdict.ACCEPTED or shown:
        return _cancelled(parts, order_id, order, answer)
    _note(parts, order_id, _evidence(answer))
    if answer.meaning not in (ReplyVerdict.REFUSED, ReplyVerdict.DECLINED):
        _tell_unknown(parts, order_id)
        return open_end(answer, question=f"Whether {order_id} is cancelled is not known: see `order get {order_id}`.")
    if order is None:
        text = f"The order {order_id} was not cancelled, or had been before: {answer.message}"
    else:
        _known_now(parts, order_id, "It is not cancelled.")
        text = f"The order {order_id} was not cancelled: {answer.message}"
    return Conclusion(text, ExitCode.ROWS_NOT_DONE)


def _cancelled(parts: Parts, order_id: str, order: OrderDetails | None, answer: Answer) -> Conclusion:
    ours = _of_its_reference(parts, order) if order is not None else []
    if order is not None:
        _name_accepted(parts, ours, order)
    called = order.awb_number or order_id if order is not None else order_id
    known = _note(parts, called, _evidence(answer), cancelled=True)
    held = order is not None and _hold_doubts(parts, ours, order)
    _known_now(parts, order_id, "It is cancelled.")
    said = answer.message if answer.meaning is ReplyVerdict.ACCEPTED else "the service shows it so."
    told = "The ledger knows it." if known or held else "The ledger does not know this order."
    more = " It was in doubt and is held now: see `held list`." if held else ""
    return Conclusion(f"The order {order_id} is cancelled: {said} {told}{more}", ExitCode.DONE)


def _of_its_reference(parts: Parts, order: OrderDetails) -> list[StoredDocument]:
    """The creates of ours that an order may be: with its reference and, as far as that is still known, its content."""
    if not order.reference_number:
        return []
    found = parts.ledger.documents.select(operations=["order.create"], references=[order.reference_number])
    return [one for one in found if one.purged or same_order(one.body, order)]


def _name_accepted(parts: Parts, ours: Sequence[StoredDocument], order: OrderDetails) -> None:
    """An order that was accepted without its AWB number is this one."""
    for document in ours:
        nameless = document.state == "accepted" and not document.awb_number and document.rule != "cancelled"
        if order.awb_number and nameless and not document.purged:
            now = parts.clock.now().isoformat()
            parts.ledger.awb_numbers.fill_in(document.id, order.awb_number, order_id=order.order_id, now=now, seen=True)


def _hold_doubts(parts: Parts, ours: Sequence[StoredDocument], order: OrderDetails) -> bool:
    """An order that is in doubt and was cancelled here must not be created a second time by settling it.

    The number of another order of ours, or of an earlier attempt of this one, says nothing about it.
    """
    doubts = [document for document in ours if document.state == "in_doubt"]
    number = order.awb_number or order.order_id
    known = parts.ledger.documents.select(operations=["order.create"], references=[number]) if doubts and number else []
    owners = {one.id for one in known if one.awb_number == number}
    held = False
    for document in doubts:
        if owners - {document.id} or number in parts.ledger.awb_numbers.cancelled_before(document.id):
            continue
        outcome = cancelled_in_doubt(document, number)
        evidence = f"order {number} shows this reference and was cancelled by hand"
        now = parts.clock.now().isoformat()
        held |= parts.ledger.attempts.settle_document(outcome, expected="in_doubt", now=now, evidence_text=evidence)
    return held


def _tell_unknown(parts: Parts, order_id: str) -> None:
    parts.ledger.notices.note(
        NewNotice(
            key=_cancelling(order_id),
            kind="on_held",
            job="",
            title=f"Whether order {order_id} is cancelled is not known",
            text=f"Its cancelling by hand was not answered. Run `logistics-batch order cancel {order_id}` once more.",
        ),
        now=parts.clock.now().isoformat(),
    )


def _known_now(parts: Parts, order_id: str, text: str) -> None:
    parts.ledger.notices.over(_cancelling(order_id), text, now=parts.clock.now().isoformat())


def _cancelling(order_id: str) -> str:
    return f"order|cancel|{order_id}"


def _named(parts: Parts, number: str) -> StoredDocument | None:
    """The order of ours that is accepted under this reference and has an AWB number."""
    created = parts.ledger.documents.select(operations=["order.create"], states=["accepted"], references=[number])
    return next((each for each in reversed(created) if each.reference == number and each.awb_number), None)


def _meaning_another(parts: Parts, number: str) -> Conclusion | None:
    """Why nothing must be cancelled by a number as it was typed: the service could take it for another order.

    A bare number is read as AWB number or as the service's own id (API §4.10), never as a reference.
    """
    known = parts.ledger.documents.select(operations=["order.create"], references=[number])
    if any(each.awb_number == number for each in known):
        return None
    if known:
        return Conclusion(
            f"Nothing was cancelled: {number} is the reference of an order of ours whose AWB number is not known, and "
            "the service would take it for the number of another order. If it is in doubt, run `settle --wait`; "
            "else look up its AWB number, and cancel it by that.",
            ExitCode.DOUBT,
        )
    look = look_under(parts.client, number)
    if look.failed is not None:
        return _not_looked_at(number, look.failed[1])
    own = (look.order.awb_number or look.order.order_id) if look.order is not None else number
    if look.order is None or own == number:
        return None
    return Conclusion(
        f"Nothing was cancelled: under {number} the service shows the order {look.order.reference_number}, whose AWB "
        f"number is {own}. If you mean that one: `order cancel {own}`.",
        ExitCode.DOUBT,
    )


def _not_looked_at(number: str, answer: Answer) -> Conclusion:
    raise_for_every_call(answer.meaning, answer.message)
    return Conclusion(
        f"Nothing was cancelled: {number} could not be looked at first: {answer.message} Try again later.",
        ExitCode.STOPPED_EARLY,
    )


def _unsure(parts: Parts, document: StoredDocument) -> Conclusion | None:
    """Why nothing must be done by the AWB number of an order: the service does not show that it is the order's own."""
    number = document.awb_number
    named = parts.ledger.awb_numbers.named([number]).get(number)
    if named is None or named.seen:
        return None
    look = look_at(parts.client, named)
    if look.failed is not None:
        return _not_looked_at(number, look.failed[1])
    owner = awb_owner(parts.ledger, named, look.order)
    now = parts.clock.now().isoformat()
    if owner is AwbOwner.OURS:
        parts.ledger.awb_numbers.note_seen(named, at=now)
        return None
    if owner is AwbOwner.NOT_SHOWN or look.order is None:
        return Conclusion(
            f"Nothing was cancelled: the service does not show that {number} is the order {document.reference}. "
            f"If you know that it is: `order cancel {number}`.",
            ExitCode.DOUBT,
        )
    shown = look.order.awb_number or number
    again = parts.ledger.awb_numbers.give_back(shown, reference=look.order.reference_number, at=now)
    whose = f"the order {look.order.reference_number}" if shown == number else "another order"
    return Conclusion(
        f"Nothing was cancelled: {document.reference} was answered with AWB number {number}, which is that of {whose}. "
        f"{' and '.join(again)} {'is' if len(again) == 1 else 'are'} in doubt again: run `settle --wait`.",
        ExitCode.DOUBT,
    )


def open_end(answer: Answer, *, question: str) -> Conclusion:
    """A call whose effect is not known, unless its answer proves that it had none."""
    return undone(answer) or Conclusion(f"{question} {answer.message}".rstrip(), ExitCode.DOUBT)


def undone(answer: Answer) -> Conclusion | None:
    """Where the answer proves that nothing was done; raises as `raise_for_every_call`."""
    raise_for_every_call(answer.meaning, answer.message)
    if answer.meaning in (ReplyVerdict.NOT_SENT, ReplyVerdict.SLOW_DOWN):
        return Conclusion(f"Nothing was done: {answer.message} Try again later.", ExitCode.STOPPED_EARLY)
    return None


def raise_for_every_call(meaning: ReplyVerdict, message: str) -> None:
    """Raise KeyRefused or ServiceMisaddressed where an answer means that no other call would fare better."""
    if meaning is ReplyVerdict.UNAUTHORIZED:
        raise KeyRefused(
            f"The service does not take the API key: {message}",
            remedy="Check service.api_key_file; a key that was mailed may have to be decoded from base64 first.",
        )
    if meaning is ReplyVerdict.MISADDRESSED:
        raise ServiceMisaddressed(
            f"What answers is not the service: {message}", remedy="Check service.base_url and service.paths."
        )


def _evidence(answer: Answer) -> str:
    return f"cancelling by hand: {answer.meaning.value.replace('_', ' ')}: {answer.message}"


def _note(parts: Parts, order_id: str, text: str, *, cancelled: bool = False) -> bool:
    now = parts.clock.now().isoformat()
    return parts.ledger.awb_numbers.record_by_hand(reference_or_awb=order_id, at=now, text=text, cancelled=cancelled)
