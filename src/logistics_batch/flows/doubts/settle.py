"""Settling: what was sent without a trustworthy answer is found out, or a person decides.

What was found × what is known → what becomes of the document:

  an order    there, with our content                     accepted
              there, with other content; or cancelled      held
              certainly not there, and a correction waits   the correction takes its place
                … and it was refused after the doubt        refused
                … and it may go out again                   sent again, with the stored bytes
                … else                                      held
              cannot be said, but a second one is refused   sent again
                … after a week, or nobody can ever say      held, else asked again
  an ASN      shows its marker, or is one new record        accepted
              more new ones, or other ASNs look like it     held
              not in three searches                         held, or sent again where the settings ask for that
  a change    the order shows it                            accepted
              it does not, or the number is another's       held

An order is sent again only when the service certainly does not have it; reference numbers are unique while not
cancelled (API §8.4), so a second create of a live one is refused. Nothing makes ASNs unique, so that one sent again may
be there twice (`resend = "after_absent"`). A change is never sent again by itself: nothing proves that it never came.

What asking does not settle is asked about again, for a week and with growing pauses, also while it is held for a
person; an order is held at once where the service does not show orders by their reference.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from logistics_batch.api.answers import ReplyVerdict, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.flows.asns.search import (
    ASKS_UNTIL_STOP,
    EmptySearches,
    Found,
    confirm_marked,
    find_marked,
    indistinct,
    like_new,
    new_since,
    no_before,
    saw_all,
    search_invoice,
    tell_doubled,
)
from logistics_batch.flows.files.purge import purge_old
from logistics_batch.flows.orders.awb_ownership import believe, find_missing_numbers, look_under
from logistics_batch.flows.orders.changes import look_for_change
from logistics_batch.flows.orders.search import OrderSearch, Presence, Probe
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.dispatch import INTENT_MAY_AGE_SECONDS
from logistics_batch.flows.push.outcomes import (
    cancelled_in_doubt,
    is_own_number,
    outcome_of,
    without_others_numbers,
)
from logistics_batch.flows.push.proof import borne_out, facts_of, may_repeat, sent_before
from logistics_batch.flows.push.run_record import recover_orphans, stopping_early, told_of_move, told_of_never_sent
from logistics_batch.ledger import Outcome, StoredDocument, sounds_taken
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import WaitsFor
from logistics_batch.model.document import DocumentState, Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.run_reports import SettleReport

ASN_SEARCHES = 3  # before an ASN is held or sent again
_ATTEMPTS_AT_MOST = 3
_RESEND_WITHIN = timedelta(hours=24)
_ASKED_FOR = timedelta(days=7)  # so long what has no trustworthy answer is asked about again
_POLL_SECONDS = 1.0
_CLOCKS_DIFFER = timedelta(minutes=1)
_NO_EFFECT = (
    ReplyVerdict.NOT_SENT,
    ReplyVerdict.UNAUTHORIZED,
    ReplyVerdict.SLOW_DOWN,
    ReplyVerdict.MISADDRESSED,
    ReplyVerdict.DECLINED,
)


class DoubtEnd(StrEnum):
    """How looking into one doubt ended."""

    SETTLED = "settled"
    DOUBLED = "doubled"  # settled, and the service has it more than once
    HELD = "held"
    OPEN = "open"
    UNREACHABLE = "unreachable"  # open, for the service could not be asked


@dataclass(frozen=True, slots=True)
class _Finding:
    """What was found out about a doubt, in words for the evidence; outcome: what becomes of it, None if it stays open.

    end: how it ends when that is written down; UNREACHABLE is no search that counts.
    """

    text: str
    outcome: Outcome | None = None
    end: DoubtEnd = DoubtEnd.OPEN


_UNASKED = _Finding("the service could not be asked", end=DoubtEnd.UNREACHABLE)


def _accepted(document: StoredDocument, text: str, **told: object) -> _Finding:
    outcome = Outcome(document.id, "accepted", "accepted", why=Issue("settled"), accepted_run=document.run)
    return _Finding(text, replace(outcome, **told), DoubtEnd.SETTLED)  # type: ignore[arg-type]


def _held(document: StoredDocument, why: Issue, text: str) -> _Finding:
    return _Finding(text, Outcome(document.id, "held", "held", why=why), DoubtEnd.HELD)


def _refused(message: str) -> Issue:
    return Issue.of("refused", message=message) if message else Issue("refused.silent")


def settle(parts: Parts, *, run: str | None, wait: bool, queues: bool = False, job_run: str = "") -> SettleReport:
    """Settle what is due; with `wait`, wait for what will be due, until nothing is in doubt.

    run: only what that run left, or a job's latest run. queues: wait for the ledger. job_run: that of the job that
    settles, "" by hand.

    Raises:
        UsageError: there is no such run.
        LedgerBusy: a sending run holds the ledger, and this does not queue, or was asked to end.
        RunStopped: the ledger failed on the way.
    """
    earlier = SettleReport()
    silent = 0
    run = parts.run_called(run).id if run else None
    with parts.ledger.sending("settle", wait=queues, stop=parts.stop.is_set), stopping_early():
        taken_over = recover_orphans(parts)
        purge_old(parts)
        unsent = told_of_never_sent(parts.ledger.documents.never_sent())
        confirmed = confirm_marked(parts) if parts.policy.marks_asns else []
        notes = (*told_of_move(parts), *taken_over, *confirmed, *_waiting_elsewhere(parts), *unsent)
        while True:
            report = settle_due(parts, run=run or job_run or "settle", give_up=wait, only_run=run)
            report = replace(report, settled=earlier.settled + report.settled, held=earlier.held + report.held)
            earlier = replace(report, notes=earlier.notes + report.notes)
            silent = silent + 1 if report.unreachable else 0
            if not wait or not report.open or parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
                find_missing_numbers(parts)
                still = set(parts.ledger.attempts.unsettled(run=run)) - set(earlier.held)
                return replace(earlier, still_held=tuple(sorted(still)), notes=notes + earlier.notes)
            parts.clock.sleep(_POLL_SECONDS * (1 + silent))


def _waiting_elsewhere(parts: Parts) -> list[Issue]:
    """Documents of other addresses of a service: even if all are names of one, each doubt is settled under its own."""
    return [
        Issue.of("ledger.open_elsewhere", count=waiting, account=account, own=parts.ledger.account)
        for account, (_, waiting) in parts.ledger.addresses.others().items()
        if waiting
    ]


def settle_due(parts: Parts, *, run: str, give_up: bool, only_run: str | None = None) -> SettleReport:
    """Look into everything that is due now, in doubt or held; call while holding the sending lock.

    run: under which re-sends are recorded. give_up: hold what cannot be found out by asking, instead of leaving it.
    """
    attempts, now = parts.ledger.attempts, parts.clock.now()
    doubts = [_dated(parts, document, now) for document in attempts.in_doubt(run=only_run)]
    held = attempts.asked_again(since=(now - _ASKED_FOR).isoformat())
    waiting = [document for document in held if only_run in (None, document.run)]
    due = [document for document in (*doubts, *waiting) if due_at(parts, document) <= now]
    if not due:
        parts.ledger.planning.decide_anew(now=parts.now)
        return SettleReport(open=tuple(document.id for document in doubts))
    asked_at = attempts.asked_at([document.id for document in due])
    due.sort(key=lambda document: asked_at.get(document.id, ""))  # one that cannot be asked about keeps no others back
    orders = tuple(document for document in due if document.operation == Operation.ORDER_CREATE)
    search = OrderSearch(parts.client, parts.ledger, orders)
    ends: dict[DoubtEnd, list[int]] = {end: [] for end in DoubtEnd}
    parts.progress.start("Settling", len(due))
    silent = 0  # documents in a row about which nobody could be asked
    for document in due:
        if parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
            ends[DoubtEnd.UNREACHABLE if silent else DoubtEnd.OPEN].append(document.id)
            continue
        if document.operation == Operation.ORDER_CREATE:
            found = _look_into_order(parts, document, search, run=run, give_up=give_up)
        elif document.operation == Operation.ASN_CREATE:
            found = _look_into_asn(parts, document, run=run)
        else:
            found = _look_into_change(parts, document)
        end = _write(parts, document, found) if isinstance(found, _Finding) else found
        ends[end].append(document.id)
        silent = silent + 1 if end is DoubtEnd.UNREACHABLE else 0
        parts.progress.advance(note=end)
    parts.progress.done()
    parts.ledger.planning.decide_anew(now=parts.now)
    doubled = ends[DoubtEnd.DOUBLED]
    return SettleReport(
        settled=(*ends[DoubtEnd.SETTLED], *doubled),
        held=tuple(ends[DoubtEnd.HELD]),
        open=tuple(document.id for document in attempts.in_doubt(run=only_run)),
        unreachable=tuple(ends[DoubtEnd.UNREACHABLE]),
        notes=(Issue.of("asns.doubled", count=len(doubled)),) if doubled else (),
    )


def due_at(parts: Parts, document: StoredDocument) -> datetime:
    """When this may be asked about next: D after the last byte that can have left, then after 3, 6, 10 … times D.

    So, too, after each attempt after the third that may have arrived.
    """
    asked = document.checks
    if document.attempts > _ATTEMPTS_AT_MOST:
        arrived = sum(each.may_have_arrived for each in parts.ledger.attempts.of(document.id))
        asked += max(0, arrived - _ATTEMPTS_AT_MOST)
    pause = timedelta(seconds=parts.policy.settle_after_seconds)
    return datetime.fromisoformat(document.doubt_since) + pause * ((asked + 1) * (asked + 2) // 2)


def _dated(parts: Parts, document: StoredDocument, now: datetime) -> StoredDocument:
    """The doubt; one that was written down while the clock ran ahead counts from now, instead of waiting for ever."""
    if datetime.fromisoformat(document.doubt_since) <= now + _CLOCKS_DIFFER:
        return document
    since, text = now.isoformat(), f"the clock had run ahead, to {document.doubt_since}"
    parts.ledger.attempts.note_check(document.id, at=since, text=text, counts=False, doubt_since=since)
    return replace(document, doubt_since=since)


def _write(parts: Parts, document: StoredDocument, finding: _Finding) -> DoubtEnd:
    """Write down what was found out; if somebody else settled the document meanwhile, that stands."""
    outcome, asked = finding.outcome, finding.end is not DoubtEnd.UNREACHABLE
    is_held = document.state == DocumentState.HELD
    asked_again = outcome is not None and reason_of(outcome.why.code).waits_for == WaitsFor.SHOWING
    if outcome is None or (asked_again and is_held):
        same = outcome is not None and outcome.why.code == document.why.code
        why = outcome.why if outcome is not None and same else document.why
        told = _told_next(parts, document, why) if is_held and asked else None
        parts.ledger.attempts.note_check(document.id, at=parts.now, text=finding.text, counts=asked, held=told)
        return DoubtEnd.OPEN if asked else DoubtEnd.UNREACHABLE
    if asked_again:
        outcome = replace(outcome, why=_told_next(parts, document, outcome.why))
    written = parts.ledger.attempts.settle(outcome, expected=document.state, now=parts.now, evidence_text=finding.text)
    return finding.end if written else DoubtEnd.OPEN


def _told_next(parts: Parts, document: StoredDocument, why: Issue) -> Issue:
    """Why it is held, with when it is asked about again after this time, if it is."""
    due = max(due_at(parts, replace(document, checks=document.checks + 1)), parts.clock.now())
    until = datetime.fromisoformat(document.doubt_since) + _ASKED_FOR
    told = [(".asked_next", {"at": due.isoformat(), "until": until.isoformat()})] if due < until else []
    return Issue.of(why.code, **why.given | {"next": told})


def _look_into_order(
    parts: Parts, document: StoredDocument, search: OrderSearch, *, run: str, give_up: bool
) -> _Finding | DoubtEnd:
    probe = search.look_for(document)
    believe(parts, document, probe)
    match probe.presence:
        case Presence.PRESENT:
            told = {"awb_number": probe.awb_number, "order_id": probe.order_id, "seen": probe.named}
            return _accepted(document, probe.text, accepted_run=run, **told)
        case Presence.FOREIGN:
            return _held(document, Issue("reference_taken.other_content"), probe.text)
        case Presence.CANCELLED:
            return _Finding(probe.text, cancelled_in_doubt(document, probe.awb_number), DoubtEnd.HELD)
        case Presence.UNREACHABLE:
            return _Finding(probe.text, end=DoubtEnd.UNREACHABLE)
        case Presence.ABSENT if _made_way(parts, document, probe.text):
            return DoubtEnd.SETTLED
        case Presence.ABSENT if document.why.code == "refused_after_doubt" and not sounds_taken(
            message := document.why.given["message"]
        ):
            outcome = Outcome(document.id, "refused", "refused", why=_refused(message))
            return _Finding(probe.text, outcome, DoubtEnd.SETTLED)
        case Presence.ABSENT if _may_send_again(parts, document, patiently=not give_up):
            return send_again(parts, document, run=run, search=search)
        case Presence.ABSENT:
            return _held(document, Issue.of("not_found.order", attempts=document.attempts), probe.text)
    facts = facts_of(parts)
    is_unique = facts is not None and facts.unique  # test orders showed that a second create makes no second order
    may_repeat_blindly = is_unique and not probe.never_blindly and _may_send_again(parts, document)
    if may_repeat_blindly and not parts.ledger.planning.is_waited_for(document):  # else a newer one is wanted by now
        return send_again(parts, document, run=run, unseen=True)
    week_is_over = datetime.fromisoformat(document.doubt_since) + _ASKED_FOR < parts.clock.now()
    if give_up or probe.in_vain or week_is_over:
        return _held(document, Issue("unknown"), probe.text)
    return _Finding(probe.text)


def _made_way(parts: Parts, document: StoredDocument, text: str) -> bool:
    """Whether a newer version waits for this one, which certainly is not there: then this one is not sent again.

    Not while a sender that was lost may still send this one.
    """
    if not reason_of(document.why.code).resend:
        return False
    if not parts.ledger.planning.decide_anew(now=parts.now, absent=document.id):
        return False
    parts.ledger.attempts.note_check(document.id, at=parts.now, text=text)
    return True


def _look_into_asn(parts: Parts, document: StoredDocument, *, run: str) -> _Finding | DoubtEnd:
    if document.marker:
        marked = find_marked(parts.client, document)
        text = f"{marked.shown} with the marker {document.marker} under its invoice number"
        if marked.unreachable:
            return _UNASKED
        if marked.new and marked.shown == 1:
            return _accepted(document, text)
        if marked.new:
            why = tell_doubled(parts, document, marked.shown)
            return replace(_accepted(document, text, why=why), end=DoubtEnd.DOUBLED)
    known = parts.ledger.documents.last_accepted(Operation.ASN_CREATE)
    empty = EmptySearches(parts.client)
    found = empty.read(search_invoice(parts.client, document.reference), known)
    if found.failed is not None:
        return _UNASKED
    saw = saw_all(document, empty, known)
    if (finding := _found_by_content(parts, document, found, saw_before=saw)) is not None:
        return finding
    if parts.policy.asn_resend != "after_absent" or not _may_send_again(parts, document):
        why = Issue.of("not_found", at=document.doubt_since, searches=document.checks + 1, until=parts.now)
        return _held(document, why, "not found in the last search")
    if alike := like_new(document, found):
        return _indistinct(document, alike)
    if known is None:
        return _held(document, Issue("search_not_believed.nothing_known"), "no ASN is known to be there")
    control = search_invoice(parts.client, known.reference)  # its content is not compared: it may have been changed
    if control.unreachable:
        return _UNASKED
    if not control.records:
        return _held(document, Issue("search_not_believed"), "a search does not show an ASN that was accepted")
    if _made_way(parts, document, "not found in the last search"):
        return DoubtEnd.SETTLED
    return send_again(parts, document, run=run)


def _found_by_content(parts: Parts, document: StoredDocument, found: Found, *, saw_before: bool) -> _Finding | None:
    """What the records under its invoice number say; None where the last search showed all of them, and none is it.

    saw_before: what stood there before the first send is known.
    """
    fresh = new_since(document, found)
    whole = found.whole and saw_before
    if fresh and indistinct(parts.ledger, document, found):
        return _indistinct(document, len(fresh))
    if len(fresh) == 1 and whole:
        return _accepted(document, "one new ASN with this content was found")
    if len(fresh) > 1 and whole:
        return _held(document, Issue.of("possible_duplicate", count=len(fresh)), f"{len(fresh)} new records")
    if document.checks + 1 < ASN_SEARCHES:
        return _Finding("not found")
    if found.said_no:
        return _held(document, Issue("search_not_believed.nothing_known"), "no ASN is known to be there")
    if not whole:
        code = "not_all_shown.before" if found.whole and no_before(document) else "not_all_shown"
        return _held(document, Issue(code), f"{len(fresh)} new records in the part that was shown")
    return None


def _indistinct(document: StoredDocument, count: int) -> _Finding:
    return _held(document, Issue("not_distinct"), f"{count} new records that this ASN fits, and others as well")


def _look_into_change(parts: Parts, document: StoredDocument) -> _Finding:
    """A change is accepted where the order shows it; else a person decides, for nothing proves that it never came."""
    look = look_for_change(parts.client, parts.ledger, document)
    if look.unreachable:
        return _Finding(look.text, end=DoubtEnd.UNREACHABLE)
    if look.shown:
        return _accepted(document, look.text)
    sent = document.doubt_since
    if not look.anothers:
        return _held(document, Issue.of("not_shown", at=sent, seen=look.text), look.text)
    parts.ledger.awb_numbers.give_back(document.order_id, reference=look.anothers, at=parts.now)
    why = Issue.of("another_order.sent", at=sent, number=document.order_id, seen=look.text)
    return _held(document, why, look.text)


def _may_send_again(parts: Parts, document: StoredDocument, *, patiently: bool = False) -> bool:
    """Whether a document in doubt may go out once more: not too often, not too late, and its sender is gone.

    patiently: the service certainly does not have it and makes no second one of it, so that it may go out for a week.
    """
    if document.state != DocumentState.IN_DOUBT or not reason_of(document.why.code).resend:
        return False
    attempts = parts.ledger.attempts.of(document.id)
    since = parts.clock.now() - datetime.fromisoformat(attempts[0].intent_at)
    if patiently:
        return since < _ASKED_FOR
    return since < _RESEND_WITHIN and sum(each.may_have_arrived for each in attempts) < _ATTEMPTS_AT_MOST


def send_again(
    parts: Parts, document: StoredDocument, *, run: str, unseen: bool = False, search: OrderSearch | None = None
) -> DoubtEnd:
    """Attempt n+1 with the stored bytes: the service does not have the document, or makes no second one of it.

    unseen: nobody can say whether it is there, so that it may have been cancelled. search: has just shown that it is
    not there, so that a refusal in the words for a taken reference must be borne out by looking once more.
    """
    if not parts.client.pacer.wait_turn(stop=parts.stop):
        return DoubtEnd.OPEN
    since, attempts = parts.clock.monotonic(), parts.ledger.attempts
    if not attempts.step(outcomes=[], claim=[document], run=run, now=parts.now, expected="in_doubt"):
        return DoubtEnd.OPEN
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
        said = _refusal_borne_out(said, probe, run=run)
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
    attempts.step(outcomes=[outcome], claim=[], run=run, now=parts.now)
    if answer.meaning in _NO_EFFECT and outcome.state == "in_doubt":
        text = f"sent again without an effect: {answer.meaning}"
        attempts.note_check(document.id, at=parts.now, text=text, counts=False)
        return DoubtEnd.UNREACHABLE
    ends = {"held": DoubtEnd.HELD, "in_doubt": DoubtEnd.OPEN}
    return ends.get(outcome.state, DoubtEnd.SETTLED)


def _refusal_borne_out(said: Outcome, probe: Probe, *, run: str) -> Outcome:
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
        return replace(said, state="refused", why=_refused(said.message))
    why = Issue.of("refused_after_doubt.not_shown", message=said.message, next=[])
    return replace(said, state="held", why=why, accepted_run="")
