"""Settling: what was sent without a trustworthy answer is found out, or a person decides.

An order in doubt is looked for by its reference. It is sent again, with the stored bytes, only when the service
certainly does not have it; reference numbers are unique while not cancelled (API §8.4), so a second create of a live
one is refused. An ASN in doubt is searched for and not sent again by itself, because nothing makes ASNs unique, unless
the settings ask for that (`resend = "after_absent"`: at least once, possibly twice). A change in doubt is looked for in
the order itself; it is never sent again by itself, for nothing proves that it never came.

What asking does not settle is asked about again, for a week and with growing pauses, also while it is held for a
person; an order is held at once where the service does not show orders by their reference. A version that certainly is
not there makes way for its correction.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from logistics_batch.flows.asns.baseline import (
    Control,
    EmptySearches,
    Found,
    indistinct,
    like_new,
    new_since,
    saw_all,
    search_invoice,
    search_known,
)
from logistics_batch.flows.asns.markers import (
    ASKS_UNTIL_STOP,
    confirm_marked,
    doubled,
    doubled_note,
    find_marked,
    raise_alarm,
)
from logistics_batch.flows.doubts.resend import ASKED_FOR, ATTEMPTS_AT_MOST, is_unique, may_send_again, send_again
from logistics_batch.flows.files.purge import purge_old
from logistics_batch.flows.moved_ledger import told_once
from logistics_batch.flows.orders.awb_ownership import believe, find_missing_numbers
from logistics_batch.flows.orders.changes import look_for_change
from logistics_batch.flows.orders.search import OrderSearch, Presence
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import cancelled_in_doubt
from logistics_batch.flows.push.run_record import recover_orphans, stopping_early, told_of_never_sent
from logistics_batch.ledger import Outcome, StoredDocument, sounds_taken
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import WaitsFor
from logistics_batch.model.document import Operation
from logistics_batch.model.document_state import DocumentState
from logistics_batch.model.issue import Issue
from logistics_batch.model.run_reports import SettleReport

ASN_SEARCHES = 3  # before an ASN is held or sent again
_POLL_SECONDS = 1.0
_CLOCKS_DIFFER = timedelta(minutes=1)


class DoubtEnd(StrEnum):
    """How looking into one doubt ended."""

    SETTLED = "settled"
    DOUBLED = "doubled"  # settled, and the service has it more than once
    HELD = "held"
    OPEN = "open"
    UNREACHABLE = "unreachable"  # open, for the service could not be asked


@dataclass(frozen=True, slots=True)
class DoubtFinding:
    """What was found out about a doubt, in words for the evidence; outcome: what becomes of it, None if it stays open.

    end: how it ends when that is written down; UNREACHABLE is no search that counts.
    """

    text: str
    outcome: Outcome | None = None
    end: DoubtEnd = DoubtEnd.OPEN


_UNASKED = DoubtFinding("the service could not be asked", end=DoubtEnd.UNREACHABLE)


def due_at(parts: Parts, document: StoredDocument) -> datetime:
    """When this may be asked about next: D after the last byte that can have left, then after 3, 6, 10 … times D.

    So, too, after each attempt after the third that may have arrived.
    """
    asked = document.checks
    if document.attempts > ATTEMPTS_AT_MOST:
        asked += max(0, parts.ledger.attempts.doubtful_attempts(document.id) - ATTEMPTS_AT_MOST)
    pause = timedelta(seconds=parts.policy.settle_after_seconds)
    return datetime.fromisoformat(document.doubt_since) + pause * ((asked + 1) * (asked + 2) // 2)


def _told_next(parts: Parts, document: StoredDocument, why: Issue) -> Issue:
    """Why it is held, with when it is asked about again after this time, if it is."""
    due, since = due_at(parts, replace(document, checks=document.checks + 1)), document.doubt_since
    ends = due - datetime.fromisoformat(since) >= ASKED_FOR
    return Issue.of(
        why.code, **why.given | {"next": [] if ends else [(".asked_next", {"at": due.isoformat(" ")[:16]})]}
    )


def _dated(parts: Parts, document: StoredDocument, now: datetime) -> StoredDocument:
    """The doubt; one that was written down while the clock ran ahead counts from now, instead of waiting for ever."""
    if datetime.fromisoformat(document.doubt_since) <= now + _CLOCKS_DIFFER:
        return document
    since = now.isoformat()
    parts.ledger.attempts.date_doubt(document.id, at=since, text=f"the clock had run ahead, to {document.doubt_since}")
    return replace(document, doubt_since=since)


def settle_due(parts: Parts, *, run: str, give_up: bool, only_run: str | None = None) -> SettleReport:
    """Look into everything that is due now, in doubt or held; call while holding the sending lock.

    run: under which re-sends are recorded. give_up: hold what cannot be found out by asking, instead of leaving it.
    """
    now = parts.clock.now()
    doubts = [_dated(parts, document, now) for document in parts.ledger.attempts.in_doubt(run=only_run)]
    held = parts.ledger.attempts.asked_again(since=(now - ASKED_FOR).isoformat())
    waiting = [document for document in held if only_run in (None, document.run)]
    due = [document for document in (*doubts, *waiting) if due_at(parts, document) <= now]
    asked_at = parts.ledger.attempts.asked_at([document.id for document in due])
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
            end = _settle_order(parts, document, search, run=run, give_up=give_up)
        elif document.operation == Operation.ASN_CREATE:
            end = _settle_asn(parts, document, run=run)
        else:
            end = _write(parts, document, _found_of_change(parts, document))
        ends[end].append(document.id)
        silent = silent + 1 if end is DoubtEnd.UNREACHABLE else 0
        parts.progress.advance(note=end)
    parts.progress.done()
    parts.ledger.planning.decide_anew(now=parts.clock.now().isoformat())
    return SettleReport(
        settled=(*ends[DoubtEnd.SETTLED], *ends[DoubtEnd.DOUBLED]),
        held=tuple(ends[DoubtEnd.HELD]),
        open=tuple(document.id for document in parts.ledger.attempts.in_doubt(run=only_run)),
        unreachable=tuple(ends[DoubtEnd.UNREACHABLE]),
        doubled=tuple(ends[DoubtEnd.DOUBLED]),
        notes=(doubled_note(len(ends[DoubtEnd.DOUBLED])),) if ends[DoubtEnd.DOUBLED] else (),
    )


def _write(parts: Parts, document: StoredDocument, finding: DoubtFinding) -> DoubtEnd:
    """Write down what was found out; if somebody else settled the document meanwhile, that stands."""
    now, outcome = parts.clock.now().isoformat(), finding.outcome
    asked = finding.end is not DoubtEnd.UNREACHABLE
    is_open = outcome is None or reason_of(outcome.why.code).waits_for == WaitsFor.SHOWING
    if is_open and document.state == DocumentState.HELD:
        same = outcome is not None and outcome.why.code == document.why.code
        told = _told_next(parts, document, outcome.why if outcome is not None and same else document.why)
        parts.ledger.attempts.note_check(
            document.id, at=now, text=finding.text, counts=asked, held=told if asked else None
        )
        return DoubtEnd.OPEN if asked else DoubtEnd.UNREACHABLE
    if outcome is None:
        parts.ledger.attempts.note_check(document.id, at=now, text=finding.text, counts=asked)
        return finding.end
    if is_open:
        outcome = replace(outcome, why=_told_next(parts, document, outcome.why))
    written = parts.ledger.attempts.settle_document(
        outcome, expected=document.state, now=now, evidence_text=finding.text
    )
    return finding.end if written else DoubtEnd.OPEN


def _accepted(document: StoredDocument, text: str, **told: object) -> DoubtFinding:
    outcome = Outcome(document.id, "accepted", "accepted", why=Issue("settled"), accepted_run=document.run)
    return DoubtFinding(text, replace(outcome, **told), DoubtEnd.SETTLED)  # type: ignore[arg-type]


def _held(document: StoredDocument, why: Issue, text: str) -> DoubtFinding:
    return DoubtFinding(text, Outcome(document.id, "held", "held", why=why), DoubtEnd.HELD)


def _settle_order(parts: Parts, document: StoredDocument, search: OrderSearch, *, run: str, give_up: bool) -> DoubtEnd:
    probe = search.look_for(document)
    believe(parts, document, probe)
    match probe.presence:
        case Presence.PRESENT:
            told = {"awb_number": probe.awb_number, "order_id": probe.order_id, "seen": probe.named}
            finding = _accepted(document, probe.text, accepted_run=run, **told)
        case Presence.FOREIGN:
            finding = _held(document, Issue("reference_taken.other_content"), probe.text)
        case Presence.CANCELLED:
            finding = DoubtFinding(probe.text, cancelled_in_doubt(document, probe.awb_number), DoubtEnd.HELD)
        case Presence.UNREACHABLE:
            finding = DoubtFinding(probe.text, end=DoubtEnd.UNREACHABLE)
        case Presence.ABSENT if _made_way(parts, document, probe.text):
            return DoubtEnd.SETTLED
        case Presence.ABSENT if document.why.code == "refused_after_doubt" and not sounds_taken(
            message := document.why.given["message"]
        ):
            why = Issue.of("refused", message=message) if message else Issue("refused.silent")
            finding = DoubtFinding(probe.text, Outcome(document.id, "refused", "refused", why=why), DoubtEnd.SETTLED)
        case Presence.ABSENT if may_send_again(parts, document, patiently=not give_up):
            return DoubtEnd(send_again(parts, document, run=run, search=search))
        case Presence.UNKNOWN if is_unique(parts) and not probe.never_blindly and may_send_again(parts, document):
            return DoubtEnd(send_again(parts, document, run=run, unseen=True))
        case Presence.ABSENT:
            finding = _held(document, Issue.of("not_found.order", attempts=document.attempts), probe.text)
        case _:
            week_is_over = datetime.fromisoformat(document.doubt_since) + ASKED_FOR < parts.clock.now()
            over = give_up or probe.in_vain or week_is_over
            finding = _held(document, Issue("unknown"), probe.text) if over else DoubtFinding(probe.text)
    return _write(parts, document, finding)


def _made_way(parts: Parts, document: StoredDocument, text: str) -> bool:
    """Whether a newer version waits for this one, which certainly is not there: then this one is not sent again.

    Not while a sender that was lost may still send this one.
    """
    if not reason_of(document.why.code).resend:
        return False
    now = parts.clock.now().isoformat()
    if not parts.ledger.planning.decide_anew(now=now, absent=document.id):
        return False
    parts.ledger.attempts.note_check(document.id, at=now, text=text)
    return True


def _settle_asn(parts: Parts, document: StoredDocument, *, run: str) -> DoubtEnd:
    finding = _found_by_marker(parts, document) if document.marker else None
    if finding is not None:
        return _write(parts, document, finding)
    known = parts.ledger.documents.last_accepted(Operation.ASN_CREATE)
    found = EmptySearches(parts.client).read(search_invoice(parts.client, document), known)
    finding = _found_by_content(parts, document, found) if found.failed is None else _UNASKED
    if finding is not None:
        return _write(parts, document, finding)
    if parts.policy.asn_resend == "after_absent" and may_send_again(parts, document):
        if alike := like_new(document, found):
            return _write(parts, document, _indistinct(document, alike))
        return _send_absent(parts, document, run=run)
    sent, searched = document.doubt_since[11:19], parts.clock.now().isoformat()[11:16]
    why = Issue.of("not_found", at=sent, searches=document.checks + 1, until=searched)
    return _write(parts, document, _held(document, why, "not found in the last search"))


def _found_by_marker(parts: Parts, document: StoredDocument) -> DoubtFinding | None:
    """An ASN that shows its marker; None if no new one does, which proves nothing."""
    marked = find_marked(parts, document)
    if marked.unreachable:
        return _UNASKED
    if not marked.new:
        return None
    text = f"{marked.shown} with the marker {document.marker} under its invoice number"
    if marked.shown == 1:
        return _accepted(document, text)
    raise_alarm(parts, document, marked)
    return replace(_accepted(document, text, why=doubled(marked)), end=DoubtEnd.DOUBLED)


def _found_by_content(parts: Parts, document: StoredDocument, found: Found) -> DoubtFinding | None:
    """What the records under its invoice number say; None where the last search showed all of them, and none is it."""
    fresh = new_since(document, found)
    whole = found.whole and saw_all(document)
    if fresh and indistinct(parts.ledger, document, found):
        return _indistinct(document, len(fresh))
    if len(fresh) == 1 and whole:
        return _accepted(document, "one new ASN with this content was found")
    if len(fresh) > 1 and whole:
        return _held(document, Issue.of("possible_duplicate", count=len(fresh)), f"{len(fresh)} new records")
    if document.checks + 1 < ASN_SEARCHES:
        return DoubtFinding("not found")
    if not whole:
        return _held(document, Issue("not_all_shown"), f"{len(fresh)} new records in the part that was shown")
    return None


def _indistinct(document: StoredDocument, count: int) -> DoubtFinding:
    return _held(document, Issue("not_distinct"), f"{count} new records that this ASN fits, and others as well")


def _send_absent(parts: Parts, document: StoredDocument, *, run: str) -> DoubtEnd:
    """Send an ASN again that was not found, if searches show what is there; else a person decides."""
    control = search_known(parts.client, parts.ledger)
    if control is Control.FOUND and _made_way(parts, document, "not found in the last search"):
        return DoubtEnd.SETTLED
    if control is Control.FOUND:
        return DoubtEnd(send_again(parts, document, run=run))
    if control is Control.UNREACHABLE:
        return _write(parts, document, _UNASKED)
    code = "search_not_believed.nothing_known" if control is Control.NOTHING_KNOWN else "search_not_believed"
    return _write(parts, document, _held(document, Issue(code), f"the search for a known ASN: {control}"))


def _found_of_change(parts: Parts, document: StoredDocument) -> DoubtFinding:
    """A change is accepted where the order shows it; else a person decides, for nothing proves that it never came."""
    look = look_for_change(parts.client, parts.ledger, document)
    if look.unreachable:
        return DoubtFinding(look.text, end=DoubtEnd.UNREACHABLE)
    if look.shown:
        return _accepted(document, look.text)
    sent = document.doubt_since[11:19]
    if look.anothers:
        now = parts.clock.now().isoformat()
        parts.ledger.awb_numbers.give_back(document.order_id, reference=look.anothers, at=now)
        why = Issue.of("another_order.sent", at=sent, number=document.order_id, seen=look.text)
        return _held(document, why, look.text)
    return _held(document, Issue.of("not_shown", at=sent, seen=look.text), look.text)


def settle(parts: Parts, *, run: str | None, wait: bool) -> SettleReport:
    """Settle what is due; with `wait`, wait for what will be due, until nothing is in doubt.

    Raises:
        LedgerBusy: a sending run holds the ledger.
        RunStopped: the ledger failed on the way.
    """
    earlier = SettleReport()
    silent = 0
    with parts.ledger.sending("settle"), stopping_early():
        taken_over = recover_orphans(parts)
        purge_old(parts)
        unsent = told_of_never_sent(parts.ledger.documents.never_sent())
        notes = (*told_once(parts), *taken_over, *confirm_marked(parts), *_waiting_elsewhere(parts), *unsent)
        while True:
            report = settle_due(parts, run=run or "settle", give_up=wait, only_run=run)
            report = replace(report, settled=earlier.settled + report.settled, held=earlier.held + report.held)
            earlier = replace(report, notes=earlier.notes + report.notes)
            silent = silent + 1 if report.unreachable else 0
            if not wait or not report.open or parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
                find_missing_numbers(parts)
                return replace(earlier, notes=notes + earlier.notes)
            parts.clock.sleep(_POLL_SECONDS * (1 + silent))


def _waiting_elsewhere(parts: Parts) -> list[Issue]:
    """Documents of other addresses of a service: even if all are names of one, each doubt is settled under its own."""
    return [
        Issue.of("ledger.open_elsewhere", count=waiting, account=account, own=parts.ledger.account)
        for account, (_, waiting) in parts.ledger.addresses.others().items()
        if waiting
    ]
