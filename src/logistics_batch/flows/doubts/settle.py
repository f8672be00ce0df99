"""Doubts and decisions: what was sent without a trustworthy answer is found out, or a person decides.

An order in doubt is looked for by its reference. It is sent again, with the stored bytes, only when the service
certainly does not have it; reference numbers are unique while not cancelled (API §8.4), so a second create of a live
one is refused. An ASN in doubt is searched for and not sent again by itself, because nothing makes ASNs unique, unless
the settings ask for that (`resend = "after_absent"`: at least once, possibly twice). A change of an order in doubt is
looked for in the order itself; it is never sent again by itself.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from logistics_batch.flows.asns.baseline import (
    Control,
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
from logistics_batch.flows.doubts.order_search import OrderSearch
from logistics_batch.flows.doubts.probe import NOTHING_SEEN, Presence, Probe
from logistics_batch.flows.doubts.probe_change import look_for_change
from logistics_batch.flows.doubts.send_again import is_unique, may_send_again, send_again
from logistics_batch.flows.files.purge import purge_old
from logistics_batch.flows.moved_ledger import told_once
from logistics_batch.flows.orders.cancelled_by_id import note_cancelled_by_id
from logistics_batch.flows.orders.late_awb import fill_in_awb_numbers
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.earlier_runs import recover_orphans, told_of_never_sent
from logistics_batch.flows.push.outcomes import cancelled_in_doubt
from logistics_batch.flows.push.run_record import stopping_early
from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.run_reports import SettleReport

ASN_SEARCH_AT = (1, 3, 6)  # times settle_after, since the doubt
_POLL_SECONDS = 1.0
_CLOCKS_DIFFER = timedelta(minutes=1)


def due_at(parts: Parts, document: StoredDocument) -> datetime:
    """When this doubt may be looked into next: D after the last byte that can have left; later for later searches."""
    since = datetime.fromisoformat(document.doubt_since)
    times = 1
    if document.operation == "asn.create":
        times = ASN_SEARCH_AT[min(document.checks, len(ASN_SEARCH_AT) - 1)]
    return since + timedelta(seconds=parts.policy.settle_after_seconds * times)


def _dated(parts: Parts, document: StoredDocument, now: datetime) -> StoredDocument:
    """The doubt; one that was written down while the clock ran ahead counts from now, instead of waiting for ever."""
    if datetime.fromisoformat(document.doubt_since) <= now + _CLOCKS_DIFFER:
        return document
    since = now.isoformat()
    parts.ledger.attempts.date_doubt(document.id, at=since, text=f"the clock had run ahead, to {document.doubt_since}")
    return replace(document, doubt_since=since)


def settle_due(parts: Parts, *, run: str, give_up: bool, only_run: str | None = None) -> SettleReport:
    """Look into every doubt that is due now; call while holding the sending lock.

    run: under which re-sends are recorded. give_up: hold what cannot be found out by asking, instead of leaving it.
    """
    now = parts.clock.now()
    doubts = [_dated(parts, document, now) for document in parts.ledger.attempts.in_doubt(run=only_run)]
    due = [document for document in doubts if due_at(parts, document) <= now]
    outcomes: dict[str, list[int]] = {"settled": [], "held": [], "open": [], "unreachable": [], "doubled": []}
    orders = tuple(document for document in due if document.operation == Operation.ORDER_CREATE)
    search = OrderSearch(parts.client, parts.ledger, orders)
    parts.progress.start("Settling", len(due))
    silent = 0  # documents in a row about which nobody could be asked
    for document in due:
        if parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
            outcomes["unreachable" if silent else "open"].append(document.id)
            continue
        if document.operation == Operation.ORDER_CREATE:
            state = _settle_order(parts, document, search, run=run, give_up=give_up)
        elif document.operation == Operation.ASN_CREATE:
            state = _settle_asn(parts, document, run=run)
        else:
            state = _settle_change(parts, document)
        outcomes[state].append(document.id)
        silent = silent + 1 if state == "unreachable" else 0
        parts.progress.advance(note=state)
    parts.progress.done()
    return SettleReport(
        settled=tuple(outcomes["settled"] + outcomes["doubled"]),
        held=tuple(outcomes["held"]),
        open=tuple(document.id for document in parts.ledger.attempts.in_doubt(run=only_run)),
        unreachable=tuple(outcomes["unreachable"]),
        doubled=tuple(outcomes["doubled"]),
        notes=(doubled_note(len(outcomes["doubled"])),) if outcomes["doubled"] else (),
    )


def _settle_order(parts: Parts, document: StoredDocument, search: OrderSearch, *, run: str, give_up: bool) -> str:
    probe = search.look_for(document)
    if probe.named and probe.awb_number:
        now = parts.clock.now().isoformat()
        parts.ledger.attempts.give_back_number(probe.awb_number, reference=document.reference, at=now)
    match probe.presence:
        case Presence.PRESENT:
            return _accept(parts, document, probe.text, probe=probe, run=run)
        case Presence.FOREIGN:
            return _hold(
                parts,
                document,
                Issue("reference_taken.other_content"),
                evidence=probe.text,
            )
        case Presence.CANCELLED:
            outcome = cancelled_in_doubt(document, probe.awb_number)
            return "held" if _write(parts, outcome, probe.text) else "open"
        case Presence.UNREACHABLE:
            now = parts.clock.now().isoformat()
            parts.ledger.attempts.note_check(document.id, at=now, text=probe.text, counts=False)
            return "unreachable"
        case Presence.ABSENT if may_send_again(parts, document):
            return send_again(parts, document, run=run, search=search)
        case Presence.UNKNOWN if is_unique(parts) and not probe.never_blindly and may_send_again(parts, document):
            return send_again(parts, document, run=run, unseen=True)
        case Presence.ABSENT:
            return _hold(
                parts,
                document,
                Issue.of("not_found.order", attempts=document.attempts),
                evidence=probe.text,
            )
    parts.ledger.attempts.note_check(document.id, at=parts.clock.now().isoformat(), text=probe.text)
    if not give_up:
        return "open"
    return _hold(
        parts,
        document,
        Issue("unknown"),
        evidence=probe.text,
    )


def _settle_asn(parts: Parts, document: StoredDocument, *, run: str) -> str:
    marked = _settle_marked(parts, document) if document.marker else None
    if marked is not None:
        return marked
    found = search_invoice(parts.client, document)
    if found.failed is not None:
        return _unreachable(parts, document)
    fresh = new_since(document, found)
    whole = found.whole and saw_all(document)
    if fresh and indistinct(parts.ledger, document, found):
        return _hold_indistinct(parts, document, len(fresh))
    if len(fresh) == 1 and whole:
        return _accept(parts, document, "one new ASN with this content was found", run="")
    if len(fresh) > 1 and whole:
        return _hold(
            parts,
            document,
            Issue.of("possible_duplicate", count=len(fresh)),
            evidence=f"{len(fresh)} new records",
        )
    if document.checks + 1 < len(ASN_SEARCH_AT):
        parts.ledger.attempts.note_check(document.id, at=parts.clock.now().isoformat(), text="not found")
        return "open"
    if not whole:
        return _hold(
            parts,
            document,
            Issue("not_all_shown"),
            evidence=f"{len(fresh)} new records in the part that was shown",
        )
    if parts.policy.asn_resend == "after_absent" and may_send_again(parts, document):
        if alike := like_new(document, found):
            return _hold_indistinct(parts, document, alike)
        return _send_absent(parts, document, run=run)
    sent, searched = document.doubt_since[11:19], parts.clock.now().isoformat()[11:16]
    return _hold(
        parts,
        document,
        Issue.of("not_found", at=sent, searches=document.checks + 1, until=searched),
        evidence="not found in the last search",
    )


def _hold_indistinct(parts: Parts, document: StoredDocument, count: int) -> str:
    return _hold(
        parts,
        document,
        Issue("not_distinct"),
        evidence=f"{count} new records that this ASN fits, and others as well",
    )


def _unreachable(parts: Parts, document: StoredDocument) -> str:
    now = parts.clock.now().isoformat()
    parts.ledger.attempts.note_check(document.id, at=now, text="the service could not be asked", counts=False)
    return "unreachable"


def _settle_marked(parts: Parts, document: StoredDocument) -> str | None:
    """Settle an ASN that shows its marker; None if no new one does, which proves nothing."""
    marked = find_marked(parts, document)
    if marked.unreachable:
        return _unreachable(parts, document)
    if not marked.new:
        return None
    evidence = f"{marked.shown} with the marker {document.marker} under its invoice number"
    if marked.shown == 1:
        return _accept(parts, document, evidence, run="")
    raise_alarm(parts, document, marked)
    outcome = Outcome(document.id, "accepted", "accepted", why=doubled(marked), accepted_run=document.run)
    return "doubled" if _write(parts, outcome, evidence) else "open"


def _send_absent(parts: Parts, document: StoredDocument, *, run: str) -> str:
    """Send an ASN again that was not found, if searches show what is there; else a person decides."""
    control = search_known(parts.client, parts.ledger)
    if control is Control.UNREACHABLE:
        return _unreachable(parts, document)
    if control is Control.FOUND:
        return send_again(parts, document, run=run)
    code = "search_not_believed.nothing_known" if control is Control.NOTHING_KNOWN else "search_not_believed"
    return _hold(
        parts,
        document,
        Issue(code),
        evidence=f"the search for a known ASN: {control}",
    )


def _settle_change(parts: Parts, document: StoredDocument) -> str:
    """A change is accepted where the order shows it; else a person decides, for nothing proves that it never came."""
    look = look_for_change(parts.client, parts.ledger, document)
    if look.unreachable:
        parts.ledger.attempts.note_check(document.id, at=parts.clock.now().isoformat(), text=look.text, counts=False)
        return "unreachable"
    if look.shown:
        return _accept(parts, document, look.text, run="")
    if look.anothers:
        now = parts.clock.now().isoformat()
        parts.ledger.attempts.give_back_number(document.order_id, reference=look.anothers, at=now)
        return _hold(
            parts,
            document,
            Issue.of("another_order.sent", at=document.doubt_since[11:19], number=document.order_id, seen=look.text),
            evidence=look.text,
        )
    return _hold(
        parts,
        document,
        Issue.of("not_shown", at=document.doubt_since[11:19], seen=look.text),
        evidence=look.text,
    )


def _accept(parts: Parts, document: StoredDocument, evidence: str, *, run: str, probe: Probe = NOTHING_SEEN) -> str:
    outcome = Outcome(
        document.id,
        "accepted",
        "accepted",
        why=Issue("settled"),
        awb_number=probe.awb_number,
        order_id=probe.order_id,
        seen=probe.named,
        accepted_run=run or document.run,
    )
    return "settled" if _write(parts, outcome, evidence) else "open"


def _hold(parts: Parts, document: StoredDocument, why: Issue, *, evidence: str) -> str:
    outcome = Outcome(document.id, "held", "held", why=why)
    return "held" if _write(parts, outcome, evidence) else "open"


def _write(parts: Parts, outcome: Outcome, evidence: str) -> bool:
    """Write down what was found out; False if somebody else settled the document meanwhile: then that stands."""
    now = parts.clock.now().isoformat()
    return parts.ledger.attempts.settle_document(outcome, expected="in_doubt", now=now, evidence_text=evidence)


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
                fill_in_awb_numbers(parts)
                note_cancelled_by_id(parts)
                return replace(earlier, notes=notes + earlier.notes)
            parts.clock.sleep(_POLL_SECONDS * (1 + silent))


def _waiting_elsewhere(parts: Parts) -> list[Issue]:
    """Documents of other addresses of a service: even if all are names of one, each doubt is settled under its own."""
    return [
        Issue.of("ledger.open_elsewhere", count=waiting, account=account, own=parts.ledger.account)
        for account, (_, waiting) in parts.ledger.itself.other_accounts().items()
        if waiting
    ]
