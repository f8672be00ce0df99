"""Doubts and decisions: what was sent without a trustworthy answer is found out, or a person decides.

An order in doubt is looked for by its reference. It is sent again, with the stored bytes, only when the service
certainly does not have it; reference numbers are unique while not cancelled (API §8.4), so a second create of a live
one is refused. An ASN in doubt is searched for and not sent again by itself, because nothing makes ASNs unique, unless
the settings ask for that (`resend = "after_absent"`: at least once, possibly twice). A change of an order in doubt is
looked for in the order itself; it is never sent again by itself.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from logistics_batch.api.answers import Meaning, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.flows.asn_markers import (
    ASKS_UNTIL_STOP,
    DUPLICATE,
    confirm_marked,
    doubled_note,
    duplicate_words,
    find_marked,
    raise_alarm,
)
from logistics_batch.flows.baseline import Control, new_since, saw_all, search_invoice, search_known
from logistics_batch.flows.dispatch import INTENT_MAY_AGE_SECONDS
from logistics_batch.flows.late_awb import fill_in_awb_numbers
from logistics_batch.flows.order_search import OrderSearch
from logistics_batch.flows.outcomes import outcome_of
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.probe import Presence, Probe
from logistics_batch.flows.probe_change import look_for_change
from logistics_batch.flows.purge import purge_old
from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.model.document import Operation

ATTEMPTS_AT_MOST = 3
RESEND_WITHIN = timedelta(hours=24)
ASN_SEARCH_AT = (1, 3, 6)  # times settle_after, since the doubt
_POLL_SECONDS = 1.0
_CHECK_CANCELLED = "If this order was cancelled by hand after its answer was lost, check it at the service."
_NO_EFFECT = (Meaning.NOT_SENT, Meaning.UNAUTHORIZED, Meaning.SLOW_DOWN, Meaning.MISADDRESSED)


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What settling came to, as document numbers; `unreachable` are those open because nobody could be asked.

    doubled: those of the settled ones that the service has more than once. notes: what a report should mention.
    """

    settled: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    open: tuple[int, ...] = ()
    unreachable: tuple[int, ...] = ()
    doubled: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def due_at(parts: Parts, document: StoredDocument) -> datetime:
    """When this doubt may be looked into next: D after the last byte that can have left; later for later searches."""
    since = datetime.fromisoformat(document.doubt_since)
    times = 1
    if document.operation == "asn.create":
        times = ASN_SEARCH_AT[min(document.checks, len(ASN_SEARCH_AT) - 1)]
    return since + timedelta(seconds=parts.policy.settle_after_seconds * times)


def settle_due(parts: Parts, *, run: str, give_up: bool, only_run: str | None = None) -> SettleReport:
    """Look into every doubt that is due now; call while holding the sending lock.

    run: under which re-sends are recorded. give_up: hold what cannot be found out by asking, instead of leaving it.
    """
    now = parts.clock.now()
    doubts = parts.ledger.in_doubt(run=only_run)
    due = [document for document in doubts if due_at(parts, document) <= now]
    outcomes: dict[str, list[int]] = {"settled": [], "held": [], "open": [], "unreachable": [], "doubled": []}
    outcomes["open"] += [document.id for document in doubts if document not in due]
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
        open=tuple(outcomes["open"] + outcomes["unreachable"]),
        unreachable=tuple(outcomes["unreachable"]),
        doubled=tuple(outcomes["doubled"]),
        notes=(doubled_note(len(outcomes["doubled"])),) if outcomes["doubled"] else (),
    )


def _settle_order(parts: Parts, document: StoredDocument, search: OrderSearch, *, run: str, give_up: bool) -> str:
    probe = search.look_for(document)
    match probe.presence:
        case Presence.PRESENT:
            return _accept(parts, document, probe.text, awb_number=probe.awb_number, order_id=probe.order_id, run=run)
        case Presence.FOREIGN:
            return _hold(
                parts,
                document,
                "reference_taken",
                "The service has another order under this reference.",
                "Compare both orders; give this one another reference, or decide “drop”.",
                evidence=probe.text,
            )
        case Presence.CANCELLED:
            return _hold(
                parts,
                document,
                "found_cancelled",
                f"The order reached the service (AWB {probe.awb_number or 'not known'}) and was cancelled there.",
                "If it is still wanted, decide “send-again” with --reissue, else “drop”.",
                evidence=probe.text,
            )
        case Presence.UNREACHABLE:
            now = parts.clock.now().isoformat()
            parts.ledger.note_check(document.id, at=now, text=probe.text, counts=False)
            return "unreachable"
        case Presence.ABSENT if _may_send_again(parts, document):
            return _send_again(parts, document, run=run, absent=search)
        case Presence.UNKNOWN if _is_unique(parts) and _may_send_again(parts, document):
            return _send_again(parts, document, run=run, note=_CHECK_CANCELLED)
        case Presence.ABSENT:
            return _hold(
                parts,
                document,
                "not_found",
                f"Sent {document.attempts} times without a trustworthy answer; the service does not have it.",
                "Decide “send-again” or “drop”.",
                evidence=probe.text,
            )
    parts.ledger.note_check(document.id, at=parts.clock.now().isoformat(), text=probe.text)
    if not give_up:
        return "open"
    return _hold(
        parts,
        document,
        "unknown",
        "Sent without a trustworthy answer, and asking the service gave no certainty.",
        "Look the reference up at the service: decide “accept” if it is there, “send-again” if it is not.",
        evidence=probe.text,
    )


def _may_send_again(parts: Parts, document: StoredDocument) -> bool:
    first = datetime.fromisoformat(parts.ledger.first_sent_at(document.id))
    doubtful = parts.ledger.doubtful_attempts(document.id)
    young = parts.clock.now() - first < RESEND_WITHIN
    return doubtful < ATTEMPTS_AT_MOST and young and document.rule != "sender_lost"


def _is_unique(parts: Parts) -> bool:
    """Whether test orders showed that a second create of a live reference makes no second order."""
    facts = parts.ledger.facts()
    return facts is not None and facts.unique


def _send_again(
    parts: Parts, document: StoredDocument, *, run: str, note: str = "", absent: OrderSearch | None = None
) -> str:
    """Attempt n+1 with the stored bytes: the service does not have the order, or makes no second one of it.

    note: what a person should know if it is accepted. absent: the search that found that the service does not have it.
    """
    if not parts.client.pacer.wait_turn(stop=parts.stop):
        return "open"
    since, now = parts.clock.monotonic(), parts.clock.now().isoformat()
    intents = parts.ledger.step(outcomes=[], claim=[document], run=run, now=now, expected="in_doubt")
    if not intents:
        return "open"
    crash_point("resend.before")
    reply = Reply(document.operation)  # of an intent that grew too old: nothing was sent
    if parts.clock.monotonic() - since < INTENT_MAY_AGE_SECONDS:
        reply = parts.client.call(document.operation, body=document.body, turn_taken=True)
    crash_point("resend.after")
    answer = judge(reply, operation=document.operation)
    tainted = replace(document, tainted=True)
    outcome = outcome_of(tainted, reply, answer, run=run, facts=parts.ledger.facts())
    if outcome.state == "accepted" and answer.meaning is Meaning.REFUSED and absent is not None:
        outcome = _looked_at_again(outcome, absent.look_for(document))
    if outcome.state == "accepted" and note:
        outcome = replace(outcome, rule="settled", reason=f"{outcome.reason or 'Accepted; sent again.'} {note}")
    if outcome.state == "planned":  # this attempt certainly had no effect: the earlier doubt stands as it was
        outcome = replace(
            outcome, state="in_doubt", rule=document.rule, reason=document.reason, doubt_since=document.doubt_since
        )
    parts.ledger.step(outcomes=[outcome], claim=[], run=run, now=parts.clock.now().isoformat())
    if answer.meaning in _NO_EFFECT:
        return "unreachable"
    return {"accepted": "settled", "held": "held", "in_doubt": "open"}[outcome.state]


def _looked_at_again(taken: Outcome, probe: Probe) -> Outcome:
    """“This reference is taken”, from a service that did not have the order a moment ago: it must show it now."""
    if probe.presence is Presence.PRESENT:
        return replace(taken, reason="", rule="settled", awb_number=probe.awb_number, order_id=probe.order_id)
    if probe.presence is Presence.UNREACHABLE:
        return replace(taken, state="planned")
    return replace(
        taken,
        state="held",
        rule="refused_after_doubt",
        reason=f"Sent twice; the service says that it has the reference, but does not show the order: {taken.message}",
        fix="Look the reference up at the service: decide “accept” if it is there, else “drop” or “send-again”.",
        accepted_run="",
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
    if len(fresh) == 1 and whole:
        return _accept(parts, document, "one new ASN with this content was found", run="")
    if len(fresh) > 1 and whole:
        return _hold(
            parts,
            document,
            "possible_duplicate",
            f"The service has {len(fresh)} new ASNs with this invoice number and content.",
            "Check at the service which are wanted, then decide “accept”.",
            evidence=f"{len(fresh)} new records",
        )
    if document.checks + 1 < len(ASN_SEARCH_AT):
        parts.ledger.note_check(document.id, at=parts.clock.now().isoformat(), text="not found")
        return "open"
    if not whole:
        return _hold(
            parts,
            document,
            "not_all_shown",
            "Sent without an answer; the service showed only a part of what it has under this invoice number.",
            "Look all of it up at the service: decide “accept” if it is there, “send-again” if it is not, or “drop”.",
            evidence=f"{len(fresh)} new records in the part that was shown",
        )
    if parts.policy.asn_resend == "after_absent" and _may_send_again(parts, document):
        return _send_absent(parts, document, run=run)
    sent, searched = document.doubt_since[11:19], parts.clock.now().isoformat()[11:16]
    return _hold(
        parts,
        document,
        "not_found",
        f"Sent {sent}, no answer; not found in {document.checks + 1} searches until {searched}.",
        "Decide “send-again” if the service does not have it, “accept” if it has, or “drop”.",
        evidence="not found in the last search",
    )


def _unreachable(parts: Parts, document: StoredDocument) -> str:
    now = parts.clock.now().isoformat()
    parts.ledger.note_check(document.id, at=now, text="the service could not be asked", counts=False)
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
    reason, fix = duplicate_words(marked)
    raise_alarm(parts, document, marked)
    outcome = Outcome(document.id, "accepted", "accepted", rule=DUPLICATE, reason=reason, fix=fix)
    return "doubled" if _write(parts, replace(outcome, accepted_run=document.run), evidence) else "open"


def _send_absent(parts: Parts, document: StoredDocument, *, run: str) -> str:
    """Send an ASN again that was not found, if searches show what is there; else a person decides."""
    control = search_known(parts.client, parts.ledger)
    if control is Control.UNREACHABLE:
        return _unreachable(parts, document)
    if control is Control.FOUND:
        return _send_again(parts, document, run=run)
    if control is Control.NOTHING_KNOWN:
        reason = "Sent without an answer and not found; but no ASN is known yet that the service certainly shows."
    else:
        reason = "Sent without an answer and not found; but another ASN, which it has accepted, is not found either."
    return _hold(
        parts,
        document,
        "search_not_believed",
        reason,
        "Look it up at the service: decide “accept” if it is there, “send-again” if it is not, or “drop”.",
        evidence=f"the search for a known ASN: {control}",
    )


def _settle_change(parts: Parts, document: StoredDocument) -> str:
    """A change is accepted where the order shows it; else a person decides, for nothing proves that it never came."""
    look = look_for_change(parts.client, document)
    if look.unreachable:
        parts.ledger.note_check(document.id, at=parts.clock.now().isoformat(), text=look.text, counts=False)
        return "unreachable"
    if look.shown:
        return _accept(parts, document, look.text, run="")
    return _hold(
        parts,
        document,
        "not_shown",
        f"Sent {document.doubt_since[11:19]}, no trustworthy answer; {look.text}.",
        "Look at the order or ASN at the service: decide “accept” if the change is there, else “send-again” or “drop”.",
        evidence=look.text,
    )


def _accept(
    parts: Parts, document: StoredDocument, evidence: str, *, run: str, awb_number: str = "", order_id: str = ""
) -> str:
    outcome = Outcome(
        document.id,
        "accepted",
        "accepted",
        rule="settled",
        reason="Accepted; found at the service after an answer was lost.",
        awb_number=awb_number,
        order_id=order_id,
        accepted_run=run or document.run,
    )
    return "settled" if _write(parts, outcome, evidence) else "open"


def _hold(parts: Parts, document: StoredDocument, rule: str, reason: str, fix: str, *, evidence: str) -> str:
    outcome = Outcome(document.id, "held", "held", rule=rule, reason=reason, fix=fix)
    return "held" if _write(parts, outcome, evidence) else "open"


def _write(parts: Parts, outcome: Outcome, evidence: str) -> bool:
    """Write down what was found out; False if somebody else settled the document meanwhile: then that stands."""
    now = parts.clock.now().isoformat()
    return parts.ledger.settle_document(outcome, expected="in_doubt", now=now, evidence_text=evidence)


def settle(parts: Parts, *, run: str | None, wait: bool) -> SettleReport:
    """Settle what is due; with `wait`, wait for what will be due, until nothing is in doubt.

    Raises:
        LedgerBusy: a sending run holds the ledger.
    """
    earlier = SettleReport()
    silent = 0
    with parts.ledger.sending("settle"):
        parts.ledger.take_over(parts.clock.now().isoformat())
        purge_old(parts)
        fill_in_awb_numbers(parts)
        notes = tuple(confirm_marked(parts))
        while True:
            report = settle_due(parts, run=run or "settle", give_up=wait, only_run=run)
            report = replace(report, settled=earlier.settled + report.settled, held=earlier.held + report.held)
            earlier = replace(report, notes=earlier.notes + report.notes)
            silent = silent + 1 if report.unreachable else 0
            if not wait or not report.open or parts.stop.is_set() or silent >= ASKS_UNTIL_STOP:
                return replace(earlier, notes=notes + earlier.notes)
            parts.clock.sleep(_POLL_SECONDS * (1 + silent))
