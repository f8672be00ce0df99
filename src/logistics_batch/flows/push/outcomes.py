"""From what a reply proves to what is written down: pure."""

import json
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from logistics_batch.api.answers import Answer, ReplyVerdict
from logistics_batch.api.client import Reply
from logistics_batch.api.content_match import other_goods
from logistics_batch.ledger import FOUND_CANCELLED, Outcome, ServiceFacts, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import NOTHING_SAID, Issue

_KEPT_REPLY_CHARACTERS = 4000
_TAKEN = {"accepted": Issue("settled.has_reference"), "held": Issue("reference_taken")}
_AWB_PREFIX = "SH-"  # API §1; without it the number may be an order id, which no answer repeats
REDIRECTS = range(300, 400)

_STATES = {
    ReplyVerdict.ACCEPTED: "accepted",
    ReplyVerdict.REFUSED: "refused",
    ReplyVerdict.DECLINED: "planned",  # tried once more at the end of the run
    ReplyVerdict.NOT_SENT: "planned",
    ReplyVerdict.UNAUTHORIZED: "planned",
    ReplyVerdict.SLOW_DOWN: "planned",
    ReplyVerdict.MISADDRESSED: "planned",
    ReplyVerdict.UNKNOWN: "in_doubt",
}


def outcome_of(
    document: StoredDocument, reply: Reply, answer: Answer, *, run: str, facts: ServiceFacts | None = None
) -> Outcome:
    """What to write down about one attempt.

    A refusal counts only if no earlier attempt can have arrived unseen: the service may refuse the second of two. A
    redirect says that the address is wrong, but not that nothing was done behind it. facts: what test orders showed; a
    refusal in the words for a reference that is taken proves that an earlier attempt arrived, or that there was none.
    """
    state = _STATES[answer.meaning]
    if answer.meaning is ReplyVerdict.MISADDRESSED and reply.status in REDIRECTS:
        state = "in_doubt"
    is_order = document.operation == Operation.ORDER_CREATE
    known = facts if is_order else None
    taken = state == "refused" and known is not None and known.says_taken(answer.message, document.reference)
    if state == "refused" and document.may_exist:
        state = "accepted" if taken else "held"
    elif taken:
        state = "held"
    creates = Operation(document.operation).creates
    why = _TAKEN[state] if taken else _why(state, reply, answer, creates=creates)
    asked = "", document.awb_number, document.order_id
    is_another = answer.awb_number not in asked and document.order_id.startswith(_AWB_PREFIX)
    if state == "accepted" and not creates and is_another:
        state, why = "held", Issue.of("another_order", awb_number=answer.awb_number)
    trace = reply.trace
    steps = {
        "connect": trace.connect_started,
        "send": trace.send_started,
        "body": trace.body_sent,
        "reply": trace.reply_started,
    }
    outcome = Outcome(
        document_id=document.id,
        state=state,
        meaning=str(answer.meaning),
        message=answer.message,
        trace=json.dumps(steps | {"seconds": round(reply.elapsed_seconds, 3)}),
        status=reply.status,
        failure=reply.failure,
        reply=reply.body[:_KEPT_REPLY_CHARACTERS]
        .decode(errors="replace")
        .replace("\0", "\ufffd"),  # no text of PostgreSQL
        why=why,
        awb_number=answer.awb_number,
        order_id=answer.order_id,
        delivery_hub=answer.delivery_hub,
        items=dict(answer.items),
        child_awb_numbers=tuple(answer.child_awb_numbers),
        accepted_run=run if state == "accepted" else "",
    )
    if state == "accepted" and not document.order_id and answer.invoice_number not in ("", document.reference):
        return not_believed(outcome, ".other_invoice", number=answer.invoice_number)
    if state == "accepted" and is_order and other_goods(document.body, answer.items.values()):
        return not_believed(outcome, ".other_goods")
    return outcome


def unless_sent_before(outcome: Outcome, document: StoredDocument, *, facts: ServiceFacts | None) -> Outcome:
    """The outcome where the ledger lost its latest history: an order may have been sent from here unknown to it.

    Then a refusal that may mean “you have it already” is a doubt, and the order is looked for.
    """
    if document.operation != Operation.ORDER_CREATE:
        return outcome
    other_words = facts is not None and bool(facts.duplicate_form)  # the service has words of its own for a duplicate
    if outcome.rule == "reference_taken" or (outcome.state == "refused" and not other_words):
        return not_believed(outcome, ".words_after_restore", message=outcome.message)
    return outcome


def is_own_number(document: StoredDocument, outcome: Outcome) -> bool:
    """Whether the AWB number in the answer is the one that was sent: who labels himself may use one again."""
    return outcome.awb_number != "" and document.payload.get("awb_number") == outcome.awb_number


def without_others_numbers(
    outcomes: Sequence[Outcome], *, orders: Container[int], owners: Callable[[Sequence[str]], dict[str, int]]
) -> list[Outcome]:
    """The same outcomes; in doubt are orders that were answered with the AWB number of another order of ours.

    One AWB number is issued for a reference (API §2.3). Such an answer may come from a cache or a mixed-up proxy: then
    nothing is known of this order, and cancelling or labelling by that number would hit the other one. Of two that came
    with one number, either may be meant.
    orders: the documents that create orders. owners: which order has an AWB number.
    """
    told = {each.document_id: each.awb_number for each in outcomes if each.document_id in orders and each.awb_number}
    known = owners(list(told.values())) if told else {}
    times = Counter(told.values())
    judged = []
    for outcome in outcomes:
        awb_number = told.get(outcome.document_id, "")
        if awb_number and (times[awb_number] > 1 or known.get(awb_number, outcome.document_id) != outcome.document_id):
            judged.append(not_believed(outcome, ".others_number", awb_number=awb_number))
        else:
            judged.append(outcome)
    return judged


def cancelled_in_doubt(document: StoredDocument, awb_number: str) -> Outcome:
    """What to write down about an order in doubt that reached the service and was cancelled: it is not sent again."""
    known = Issue.of(FOUND_CANCELLED, awb_number=awb_number)
    why = known if awb_number else Issue(f"{FOUND_CANCELLED}.numberless")
    return Outcome(document.id, "held", "held", why=why, awb_number=awb_number)


def not_believed(outcome: Outcome, what: str, **values: str) -> Outcome:
    """In doubt, whatever it says. what, values: the code of what speaks against it."""
    return replace(
        outcome,
        state="in_doubt",
        meaning=str(ReplyVerdict.UNKNOWN),
        why=Issue.of("in_doubt", why=[[what, values]]),
        awb_number="",
        order_id="",
        delivery_hub="",
        items={},
        child_awb_numbers=(),
        accepted_run="",
        seen=False,
    )


def _why(state: str, reply: Reply, answer: Answer, *, creates: bool) -> Issue:
    match state:
        case "accepted":
            return NOTHING_SAID
        case "refused":
            return Issue.of("refused", message=answer.message) if answer.message else Issue("refused.silent")
        case "held":
            code = "refused_after_doubt" if creates else "refused_after_doubt.change"
            return Issue.of(code, message=answer.message or str(reply.status), next=[])
        case "in_doubt":
            return Issue.of("in_doubt", why=[_doubt(reply, answer)])
        case _:
            return Issue.of("not_sent", why=[_obstacle(reply, answer)])


def _doubt(reply: Reply, answer: Answer) -> list[object]:
    """Why the outcome of a call is not known: code and values."""
    if reply.failure in ("timeout", "deadline"):
        return [".no_answer", {}]
    if reply.failure:
        return [".broken_off", {}]
    if answer.looks_like_html:
        return [".web_page", {}]
    if answer.message:
        return [".proves_nothing", {"status": reply.status, "message": answer.message}]
    return [".proves_nothing_silent", {"status": reply.status}]


def _obstacle(reply: Reply, answer: Answer) -> list[object]:
    """Why something was certainly not taken: code and values."""
    match answer.meaning:
        case ReplyVerdict.UNAUTHORIZED:
            return [".key_refused", {}]
        case ReplyVerdict.SLOW_DOWN:
            return [".slow_down", {}]
        case ReplyVerdict.MISADDRESSED | ReplyVerdict.DECLINED:
            return [".misaddressed", {"status": reply.status}]
        case _ if reply.status is not None and not answer.message:
            return [".not_asked_silent", {"status": reply.status}]
        case _ if reply.status is not None:
            return [".not_asked", {"status": reply.status, "message": answer.message}]
        case _:
            return [".unreachable", {}]


def stop_reason(reply: Reply, answer: Answer) -> str:
    """Why something was certainly not taken, in one sentence."""
    code, values = _obstacle(reply, answer)
    return Issue.of(str(code), **dict(values)).reason  # type: ignore[call-overload]
