"""Sending again what is in doubt: with the stored bytes, and only where no second one can come of it."""

from dataclasses import replace
from datetime import datetime, timedelta

from logistics_batch.api.answers import ReplyVerdict, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.flows.orders.awb_ownership import believe, look_under
from logistics_batch.flows.orders.search import OrderSearch, Presence, Probe
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.dispatch import INTENT_MAY_AGE_SECONDS
from logistics_batch.flows.push.outcomes import is_own_number, outcome_of, without_others_numbers
from logistics_batch.flows.push.proof import borne_out, facts_of, may_repeat, sent_before
from logistics_batch.ledger import Outcome, StoredDocument, sounds_taken
from logistics_batch.messages.documents import reason_of
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

ATTEMPTS_AT_MOST = 3
RESEND_WITHIN = timedelta(hours=24)
ASKED_FOR = timedelta(days=7)
"""So long what has no trustworthy answer is asked about again."""
_NO_EFFECT = (
    ReplyVerdict.NOT_SENT,
    ReplyVerdict.UNAUTHORIZED,
    ReplyVerdict.SLOW_DOWN,
    ReplyVerdict.MISADDRESSED,
    ReplyVerdict.DECLINED,
)


def may_send_again(parts: Parts, document: StoredDocument, *, patiently: bool = False) -> bool:
    """Whether a document in doubt may go out once more: not too often, not too late, and its sender is gone.

    patiently: the service certainly does not have it and makes no second one of it, so that it may go out for a week.
    """
    if document.state != "in_doubt" or not reason_of(document.why.code).resend:
        return False
    since = parts.clock.now() - datetime.fromisoformat(parts.ledger.attempts.first_sent_at(document.id))
    if patiently:
        return since < ASKED_FOR
    return since < RESEND_WITHIN and parts.ledger.attempts.doubtful_attempts(document.id) < ATTEMPTS_AT_MOST


def is_unique(parts: Parts) -> bool:
    """Whether test orders showed that a second create of a live reference makes no second order."""
    facts = facts_of(parts)
    return facts is not None and facts.unique


def send_again(
    parts: Parts, document: StoredDocument, *, run: str, unseen: bool = False, search: OrderSearch | None = None
) -> str:
    """Attempt n+1 with the stored bytes: the service does not have the document, or makes no second one of it.

    unseen: nobody can say whether it is there, so that it may have been cancelled. search: has just shown that it is
    not there, so that a refusal in the words for a taken reference must be borne out by looking once more. Returns
    "settled", "held", "open", or "unreachable".
    """
    if not parts.client.pacer.wait_turn(stop=parts.stop):
        return "open"
    since, now = parts.clock.monotonic(), parts.clock.now().isoformat()
    intents = parts.ledger.attempts.step(outcomes=[], claim=[document], run=run, now=now, expected="in_doubt")
    if not intents:
        return "open"
    crash_point("resend.before")
    reply = Reply(document.operation)  # of an intent that grew too old: nothing was sent
    if parts.clock.monotonic() - since < INTENT_MAY_AGE_SECONDS:
        reply = parts.client.call(document.operation, body=document.body, turn_taken=True)
    crash_point("resend.after")
    answer = judge(reply, operation=document.operation)
    said = outcome_of(replace(document, may_exist=True), reply, answer, run=run, facts=facts_of(parts))
    if search is not None and answer.meaning in (ReplyVerdict.REFUSED, ReplyVerdict.DECLINED):
        probe = search.look_for(document)
        believe(parts, document, probe)
        said = _borne_out(said, probe, run=run)
    is_order = document.operation == Operation.ORDER_CREATE
    if is_order and said.state == "accepted" and answer.meaning is ReplyVerdict.ACCEPTED and may_repeat(parts):
        look = look_under(parts.client, answer.awb_number or document.reference)
        said = borne_out(document, said, look, sent_before=bool(sent_before(parts, [document])))
    is_own = is_own_number(document, said)
    said = replace(said, seen=said.seen or is_own)
    asked = set() if is_own else {document.id}
    (outcome,) = without_others_numbers([said], orders=asked, owners=parts.ledger.awb_numbers.owners)
    if outcome.state == "accepted" and unseen:
        code = "settled.has_reference_again" if outcome.why.code else "settled.sent_again"
        outcome = replace(outcome, why=Issue(code))
    if outcome.state == "planned":  # this attempt certainly had no effect: the earlier doubt stands as it was
        outcome = replace(outcome, state="in_doubt", why=document.why, doubt_since=document.doubt_since)
    parts.ledger.attempts.step(outcomes=[outcome], claim=[], run=run, now=parts.clock.now().isoformat())
    if answer.meaning in _NO_EFFECT and outcome.state == "in_doubt":
        at, text = parts.clock.now().isoformat(), f"sent again without an effect: {answer.meaning}"
        parts.ledger.attempts.note_check(document.id, at=at, text=text, counts=False)
        return "unreachable"
    return {"accepted": "settled", "refused": "settled", "held": "held", "in_doubt": "open"}[outcome.state]


def _borne_out(said: Outcome, probe: Probe, *, run: str) -> Outcome:
    """What a refusal of an order means that was not there just before: accepted if it is found now, with its number.

    If it certainly is not there either, no earlier attempt arrived and the refusal counts; but not one in the words for
    a taken reference: there the service contradicts itself, so that it is held, and asked again.
    """
    if probe.presence is Presence.PRESENT:
        why = said.why if said.state == "accepted" else Issue("settled")
        found = replace(said, awb_number=probe.awb_number, order_id=probe.order_id, seen=probe.named)
        return replace(found, state="accepted", why=why, accepted_run=run)
    if said.state != "accepted" and probe.presence is not Presence.ABSENT:
        return said
    if said.state != "accepted" and not sounds_taken(said.message):
        why = Issue.of("refused", message=said.message) if said.message else Issue("refused.silent")
        return replace(said, state="refused", why=why)
    why = Issue.of("refused_after_doubt.not_shown", message=said.message, next=[])
    return replace(said, state="held", why=why, accepted_run="")
