"""Calls that a person makes: look at an order, cancel it, subscribe to events; each with what its answer proves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import ValidationError

from logistics_batch.api.answers import (
    Answer,
    OrderAbsent,
    OrderDetails,
    ReadFailed,
    ReplyVerdict,
    judge,
    raise_for_every_call,
    read_order,
)
from logistics_batch.api.content_match import same_order, same_parties, shows_change
from logistics_batch.errors import RunStopped, UsageError
from logistics_batch.flows.asns.search import search_invoice
from logistics_batch.flows.orders.awb_ownership import AwbOwner, awb_owner, look_at, look_under
from logistics_batch.flows.orders.search import creates
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import cancelled_in_doubt
from logistics_batch.ledger import NewNotice, StoredDocument
from logistics_batch.model.payloads import WebhookSubscription, WebhookUpdate, body_text
from logistics_batch.model.report import ExitCode


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a call by hand came to: a sentence for the person, and the exit code."""

    text: str
    exit_code: int


def get_order(parts: Parts, order_id: str) -> tuple[dict[str, Any] | None, str]:
    """Fetch one order by its AWB number or id (API §4.5): all that is told of it, or None and what is said then.

    Raises KeyRefused, ServiceMisaddressed, or RunStopped if the service could not be asked.
    """
    found = read_order(parts.client.call("order.fetch", order_id=order_id))
    if isinstance(found, ReadFailed):
        _raise_not_asked(Answer(found.meaning, found.message))
    return (None, found.message) if isinstance(found, OrderAbsent) else (found.raw, "")


@dataclass(frozen=True, slots=True)
class ShownNow:
    """What the service shows of a document now: its records, none if it says that it has none; `message` says more.

    is_same: whether an order says what was sent; None where nothing is compared.
    """

    records: tuple[Mapping[str, Any], ...]
    message: str = ""
    is_same: bool | None = None


def shown_now(parts: Parts, document: StoredDocument, *, within_seconds: float, only_own: bool = False) -> ShownNow:
    """Ask the service for what a document created, if its turn comes within so many seconds (API §4.1, §4.5).

    only_own: not what others have there under its number, for who must not see that.

    Raises KeyRefused, ServiceMisaddressed, or RunStopped if the service could not be asked.
    """
    wait = parts.client.pacer.try_turn(ahead_seconds=within_seconds)
    if wait > within_seconds:
        raise RunStopped(
            f"The service cannot be asked now: the next call may leave in {math.ceil(wait)} s.",
            remedy="It asked for a pause, or a run uses its rate. Ask again then.",
        )
    if document.operation == "asn.create":
        found = search_invoice(parts.client, document.reference, turn_taken=True)
        if found.failed is not None and not found.said_no:
            _raise_not_asked(found.failed[1])
        more = "" if found.whole else "It has more than it showed."
        records = found.records
        if only_own:
            records = tuple(each for each in records if document.body and same_parties(document.body, each))
        return ShownNow(records, found.failed[1].message if found.failed else more)
    look = look_under(parts.client, document.awb_number or document.reference, turn_taken=True)
    if look.failed is not None:
        _raise_not_asked(look.failed[1])
    if look.order is None:
        return ShownNow((), look.said)
    is_same = same_order(document.body, look.order) if document.body else None
    if only_own and not (document.state == "accepted" or is_same):
        return ShownNow((), "Under this number it has an order that was not sent with this document.")
    return ShownNow((look.order.raw,), is_same=is_same)


def _raise_not_asked(answer: Answer) -> NoReturn:
    raise_for_every_call(answer.meaning, answer.message)
    raise RunStopped(f"The service could not be asked: {answer.message}", remedy=_again(answer))


def cancel_order(parts: Parts, order_id: str) -> Conclusion:
    """Cancel one order (API §4.10); what was asked, and what came of it, stands in the ledger if the order is ours.

    After any answer but a yes the order is looked at: a second cancelling of a cancelled order is refused, too. What
    stays unknown is a notice until it is known.

    order_id: AWB number or id, or the reference of an order of ours, whose AWB number the ledger knows.

    Raises KeyRefused, ServiceMisaddressed: the order was not cancelled.
    """
    named = [each for each in creates(parts.ledger, [order_id], states=["accepted"]) if each.reference == order_id]
    ours = next((each for each in reversed(named) if each.awb_number), None)
    order_id = ours.awb_number if ours is not None else order_id
    if unsure := _not_surely_its_own(parts, ours) if ours is not None else _means_another(parts, order_id):
        return unsure
    if not _note(parts, order_id, "cancelling was asked for by hand"):
        parts.ledger.awb_numbers.note_asked(order_id, at=parts.now)
    answer = judge(parts.client.call("order.cancel", order_id=order_id), operation="order.cancel")
    if nothing_done := _undone(answer):
        return nothing_done
    order = look_under(parts.client, order_id).order
    shown = order is not None and bool(shows_change("order.cancel", "", order))
    if answer.meaning is ReplyVerdict.ACCEPTED or shown:
        return _cancelled(parts, order_id, order, answer)
    _note(parts, order_id, _evidence(answer))
    if answer.meaning not in (ReplyVerdict.REFUSED, ReplyVerdict.DECLINED):
        again = f"Run `logistics-batch order cancel {order_id}` once more."
        notice = NewNotice(
            key=_notice(order_id),
            kind="on_held",
            job="",
            title=f"Whether order {order_id} is cancelled is not known",
            text=f"Its cancelling by hand was not answered. {again}",
        )
        parts.ledger.notices.note(notice, now=parts.now)
        text = f"Whether {order_id} is cancelled is not known: see `order get {order_id}`. {answer.message}"
        return Conclusion(text.rstrip(), ExitCode.DOUBT)
    if order is not None:
        parts.ledger.notices.over(_notice(order_id), "It is not cancelled.", now=parts.now)
    before = "" if order is not None else ", or had been before"
    return Conclusion(f"The order {order_id} was not cancelled{before}: {answer.message}", ExitCode.ROWS_NOT_DONE)


def _cancelled(parts: Parts, order_id: str, order: OrderDetails | None, answer: Answer) -> Conclusion:
    """Write down that an order is cancelled: of ours, also one in doubt, or one whose AWB number was not known."""
    called, held = order_id, False
    if order is not None:
        called = order.awb_number or order_id
        ours = [
            each
            for each in creates(parts.ledger, [order.reference_number])
            if each.purged or same_order(each.body, order)
        ]
        for each in ours:
            nameless = each.state == "accepted" and not each.awb_number and each.rule != "cancelled"
            if order.awb_number and nameless and not each.purged:
                parts.ledger.awb_numbers.fill_in(
                    each.id, order.awb_number, order_id=order.order_id, now=parts.now, seen=True
                )
        held = _hold_doubts(parts, [each for each in ours if each.state == "in_doubt"], order)
    known = _note(parts, called, _evidence(answer), cancelled=True)
    parts.ledger.notices.over(_notice(order_id), "It is cancelled.", now=parts.now)
    said = (answer.message if answer.meaning is ReplyVerdict.ACCEPTED else "") or "the service shows it so"
    told = "The ledger knows it." if known or held else "The ledger does not know this order."
    more = " It was in doubt and is held now: see `held list`." if held else ""
    return Conclusion(f"The order {order_id} is cancelled: {_whole(said)} {told}{more}", ExitCode.DONE)


def _hold_doubts(parts: Parts, doubts: Sequence[StoredDocument], order: OrderDetails) -> bool:
    """An order that is in doubt and was cancelled here must not be created a second time by settling it.

    The number of another order of ours, or of an earlier attempt of this one, says nothing about it.
    """
    number = order.awb_number or order.order_id
    owners = {one.id for one in creates(parts.ledger, [number]) if one.awb_number == number} if doubts else set()
    held = False
    for document in doubts:
        if owners - {document.id} or number in parts.ledger.awb_numbers.cancelled_before(document.id):
            continue
        evidence = f"order {number} shows this reference and was cancelled by hand"
        held |= parts.ledger.attempts.settle(
            cancelled_in_doubt(document, number), expected="in_doubt", now=parts.now, evidence_text=evidence
        )
    return held


def _notice(order_id: str) -> str:
    return f"order|cancel|{order_id}"


def _evidence(answer: Answer) -> str:
    return f"cancelling by hand: {answer.meaning.value.replace('_', ' ')}: {answer.message}"


def _note(parts: Parts, order_id: str, text: str, *, cancelled: bool = False) -> bool:
    """Write down what was done to an order by hand; False if the ledger does not know it."""
    return parts.ledger.awb_numbers.record_by_hand(
        reference_or_awb=order_id, at=parts.now, text=text, cancelled=cancelled
    )


def _means_another(parts: Parts, number: str) -> Conclusion | None:
    """Why nothing must be cancelled by a number as it was typed: the service could take it for another order.

    A bare number is read as AWB number or as the service's own id (API §4.10), never as a reference.
    """
    known = creates(parts.ledger, [number])
    if any(each.awb_number == number for each in known):
        return None
    if known:
        return _nothing_cancelled(
            f"{number} is the reference of an order of ours whose AWB number is not known, and the service would take "
            "it for the number of another order. If it is in doubt, run `settle --wait`; else look up its AWB number, "
            "and cancel it by that."
        )
    look = look_under(parts.client, number)
    if look.failed is not None:
        return _not_looked_at(number, look.failed[1])
    own = (look.order.awb_number or look.order.order_id) if look.order is not None else number
    if look.order is None or own == number:
        return None
    return _nothing_cancelled(
        f"under {number} the service shows the order {look.order.reference_number}, whose AWB number is {own}. If you "
        f"mean that one: `order cancel {own}`."
    )


def _not_surely_its_own(parts: Parts, document: StoredDocument) -> Conclusion | None:
    """Why nothing must be done by the AWB number of an order: the service does not show that it is the order's own."""
    number, numbers = document.awb_number, parts.ledger.awb_numbers
    named = numbers.named([number]).get(number)
    if named is None or named.seen:
        return None
    look = look_at(parts.client, named)
    if look.failed is not None:
        return _not_looked_at(number, look.failed[1])
    owner = awb_owner(parts.ledger, named, look.order)
    if owner is AwbOwner.OURS:
        numbers.note_seen(named, at=parts.now)
        return None
    if owner is AwbOwner.NOT_SHOWN or look.order is None:
        return _nothing_cancelled(
            f"the service does not show that {number} is the order {document.reference}. If you know that it is: "
            f"`order cancel {number}`."
        )
    shown = look.order.awb_number or number
    again = numbers.give_back(shown, reference=look.order.reference_number, at=parts.now)
    whose = f"the order {look.order.reference_number}" if shown == number else "another order"
    return _nothing_cancelled(
        f"{document.reference} was answered with AWB number {number}, which is that of {whose}. "
        f"{' and '.join(again)} {'is' if len(again) == 1 else 'are'} in doubt again: run `settle --wait`."
    )


def _nothing_cancelled(why: str) -> Conclusion:
    return Conclusion(f"Nothing was cancelled: {why}", ExitCode.DOUBT)


def _not_looked_at(number: str, answer: Answer) -> Conclusion:
    raise_for_every_call(answer.meaning, answer.message)
    text = f"Nothing was cancelled: {number} could not be looked at first: {_whole(answer.message)} {_again(answer)}"
    return Conclusion(text, ExitCode.STOPPED_EARLY)


def configure_webhook(parts: Parts, wanted: Mapping[str, object], *, updates: bool) -> Conclusion:
    """Subscribe to order events, or change a webhook (API §4.11, §4.12); `wanted` has the fields of its payload.

    Raises UsageError if the fields cannot be sent; KeyRefused, ServiceMisaddressed.
    """
    endpoint, model = ("webhook.update", WebhookUpdate) if updates else ("webhook.subscribe", WebhookSubscription)
    try:
        payload = model.model_validate({name: value for name, value in wanted.items() if value is not None})
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, each['loc'])) or 'webhook'}: {each['msg']}" for each in error.errors()]
        raise UsageError("This cannot be sent. " + " ".join(lines)) from None
    answer = judge(parts.client.call(endpoint, body=body_text(payload)), operation=endpoint)
    if answer.meaning is ReplyVerdict.ACCEPTED:
        return Conclusion(f"The service took it: {answer.message or 'no message'}", ExitCode.DONE)
    if answer.meaning in (ReplyVerdict.REFUSED, ReplyVerdict.DECLINED):
        return Conclusion(f"The service refused it: {answer.message}", ExitCode.ROWS_NOT_DONE)
    unknown = "Whether the service took it is not known; the same call may be made again."
    return _undone(answer) or Conclusion(f"{unknown} {answer.message}".rstrip(), ExitCode.DOUBT)


def _undone(answer: Answer) -> Conclusion | None:
    """Where the answer proves that nothing was done; raises as `raise_for_every_call`."""
    raise_for_every_call(answer.meaning, answer.message)
    if answer.meaning in (ReplyVerdict.NOT_SENT, ReplyVerdict.SLOW_DOWN):
        silent = "it was not reached" if answer.meaning is ReplyVerdict.NOT_SENT else "it asks for fewer calls"
        text = f"Nothing was done by the service: {_whole(answer.message or silent)} {_again(answer)}"
        return Conclusion(text, ExitCode.STOPPED_EARLY)
    return None


def _again(answer: Answer) -> str:
    """What to do where nothing came of a call."""
    away = answer.meaning is ReplyVerdict.NOT_SENT
    return "Check the network and service.base_url, then try again." if away else "Try again later."


def _whole(text: str) -> str:
    """The service's words as a sentence, so that another can follow."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
