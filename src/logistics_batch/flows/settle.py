"""Doubts and decisions: what was sent without a trustworthy answer is found out, or a person decides.

An order in doubt is looked for by its reference. It is sent again, with the stored bytes, only when the service
certainly does not have it; reference numbers are unique while not cancelled (API §8.4), so a second create of a live
one is refused. An ASN in doubt is searched for and never sent again by itself: nothing makes ASNs unique.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from logistics_batch.api.answers import Meaning, judge
from logistics_batch.crash_points import crash_point
from logistics_batch.errors import UsageError
from logistics_batch.flows.baseline import new_since, search_invoice
from logistics_batch.flows.outcomes import outcome_of, trace_text
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.probe import Calibration, Presence, calibrate, probe_order
from logistics_batch.ledger import Outcome, StoredDocument

ATTEMPTS_AT_MOST = 3
RESEND_WITHIN = timedelta(hours=24)
ASN_SEARCH_AT = (1, 3, 6)  # times settle_after, since the doubt
_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What settling came to; the documents it changed are the ones whose reports must be written again."""

    settled: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    open: tuple[int, ...] = ()

    @property
    def changed(self) -> tuple[int, ...]:
        """Every document that is no longer in doubt."""
        return self.settled + self.held


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
    outcomes: dict[str, list[int]] = {"settled": [], "held": [], "open": []}
    outcomes["open"] += [document.id for document in doubts if document not in due]
    orders = [document for document in due if document.operation == "order.create"]
    calibration = calibrate(parts.client, parts.ledger) if orders else Calibration(False)
    parts.progress.start("Settling", len(due))
    for document in due:
        if parts.stop.is_set():
            outcomes["open"].append(document.id)
            continue
        if document.operation == "order.create":
            state = _settle_order(parts, document, calibration, run=run, give_up=give_up)
        else:
            state = _settle_asn(parts, document)
        outcomes[state].append(document.id)
        parts.progress.advance(note=state)
    parts.progress.done()
    return SettleReport(*(tuple(outcomes[name]) for name in ("settled", "held", "open")))


def _settle_order(parts: Parts, document: StoredDocument, calibration: Calibration, *, run: str, give_up: bool) -> str:
    probe = probe_order(parts.client, document, calibration)
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
        case Presence.ABSENT if _may_send_again(parts, document):
            return _send_again(parts, document, run=run)
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
    return document.attempts < ATTEMPTS_AT_MOST and parts.clock.now() - first < RESEND_WITHIN


def _send_again(parts: Parts, document: StoredDocument, *, run: str) -> str:
    """Attempt n+1 with the stored bytes: the service certainly does not have the order."""
    if not parts.client.pacer.wait_turn(stop=parts.stop):
        return "open"
    now = parts.clock.now().isoformat()
    intents = parts.ledger.step(outcomes=[], claim=[document], run=run, now=now, expected="in_doubt")
    if not intents:
        return "open"
    crash_point("resend.before")
    reply = parts.client.call(document.operation, body=document.body, turn_taken=True)
    crash_point("resend.after")
    answer = judge(reply, operation=document.operation)
    if answer.meaning is Meaning.ACCEPTED:
        outcome = outcome_of(document.id, reply, answer, run=run, first=False)
    elif answer.meaning is Meaning.REFUSED:
        # Not a refusal: an earlier attempt may have been taken after all, and this be the second of the two.
        outcome = Outcome(
            document.id,
            "held",
            str(answer.meaning),
            message=answer.message,
            trace=trace_text(reply),
            status=reply.status,
            rule="refused_after_doubt",
            reason=f"Sent again after a doubt, and the service said: {answer.message}",
            fix="Look the reference up at the service: decide “accept” if it is there, else “drop” or “send-again”.",
        )
    else:
        outcome = Outcome(
            document.id,
            "in_doubt",
            str(answer.meaning),
            message=answer.message,
            trace=trace_text(reply),
            status=reply.status,
            failure=reply.failure,
            rule="in_doubt",
            reason="Sent again after a doubt, again without a trustworthy answer.",
            fix="Nothing now: it is checked again later.",
        )
    parts.ledger.step(outcomes=[outcome], claim=[], run=run, now=parts.clock.now().isoformat())
    return {"accepted": "settled", "held": "held", "in_doubt": "open"}[outcome.state]


def _settle_asn(parts: Parts, document: StoredDocument) -> str:
    found = search_invoice(parts.client, document)
    if found.failed is not None:
        parts.ledger.note_check(document.id, at=parts.clock.now().isoformat(), text="the service could not be asked")
        return "open"
    fresh = new_since(document, found)
    if len(fresh) == 1:
        return _accept(parts, document, "one new ASN with this content was found", run="")
    if len(fresh) > 1:
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
    sent, searched = document.doubt_since[11:19], parts.clock.now().isoformat()[11:16]
    return _hold(
        parts,
        document,
        "not_found",
        f"Sent {sent}, no answer; not found in {document.checks + 1} searches until {searched}.",
        "Decide “send-again” if the service does not have it, “accept” if it has, or “drop”.",
        evidence="not found in the last search",
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
    _settle(parts, outcome, "in_doubt", evidence)
    return "settled"


def _hold(parts: Parts, document: StoredDocument, rule: str, reason: str, fix: str, *, evidence: str) -> str:
    _settle(parts, Outcome(document.id, "held", "held", rule=rule, reason=reason, fix=fix), "in_doubt", evidence)
    return "held"


def _settle(parts: Parts, outcome: Outcome, expected: str, evidence: str, who: str = "") -> None:
    now = parts.clock.now().isoformat()
    if not parts.ledger.settle_document(outcome, expected=expected, now=now, evidence_text=evidence, who=who):
        raise UsageError(
            f"Document {outcome.document_id} is no longer {expected.replace('_', ' ')}.",
            remedy="Look at “held list” again.",
        )


def settle(parts: Parts, *, run: str | None, wait: bool) -> SettleReport:
    """Settle what is due; with `wait`, wait for what will be due, until nothing is in doubt.

    Raises:
        LedgerBusy: a sending run holds the ledger.
    """
    total = SettleReport()
    with parts.ledger.sending("settle"):
        parts.ledger.take_over(parts.clock.now().isoformat())
        while True:
            report = settle_due(parts, run=run or "settle", give_up=wait, only_run=run)
            total = SettleReport(total.settled + report.settled, total.held + report.held, report.open)
            if not wait or not report.open or parts.stop.is_set():
                return total
            parts.clock.sleep(_POLL_SECONDS)


def held_documents(parts: Parts) -> list[StoredDocument]:
    """What waits for a person, oldest first."""
    return parts.ledger.documents(states=["held"])


DECISIONS = ("approve", "send-again", "accept", "drop")


def decide(parts: Parts, document_id: int, *, decision: str, reason: str, reissue: bool = False) -> StoredDocument:
    """A person's word about one held document, written down with the reason; returns the document as it is now.

    send-again: it goes out with the next run. accept: the service has it. drop: it is not wanted any more.

    Raises:
        UsageError: no such held document, or the decision does not fit it.
    """
    document = parts.ledger.document(document_id)
    if document is None or document.state != "held":
        raise UsageError(f"Nothing with the number {document_id} is held.", remedy="See “held list”.")
    outcome = _decided(parts, document, decision, reason, reissue=reissue)
    _settle(parts, outcome, "held", f"{decision}: {reason}", who="operator")
    return parts.ledger.document(document_id) or document


_NEEDS_REISSUE = ("cancelled", "found_cancelled", "changed_after_acceptance")


def _decided(parts: Parts, document: StoredDocument, decision: str, reason: str, *, reissue: bool) -> Outcome:
    when = parts.clock.now().isoformat(" ", "minutes")[:16]
    words = f"Decided by a person on {when}: {reason}"
    if decision == "drop":
        return Outcome(document.id, "abandoned", "decided", rule="dropped", reason=words)
    if decision == "accept":
        return Outcome(document.id, "accepted", "decided", rule="decided", reason=words, accepted_run=document.run)
    if decision == "send-again":
        if document.rule in _NEEDS_REISSUE and not reissue:
            raise UsageError(
                "The service has or had an order under this reference; a second one goes out only with --reissue.",
                remedy="Cancel the earlier order first, then repeat with --reissue.",
            )
        if document.rule == "changed_after_acceptance":
            _require_cancelled(parts, document)
        return Outcome(document.id, "planned", "decided", rule="decided", reason=words)
    raise UsageError(f"“{decision}” does not fit what is held here.", remedy="Decide send-again, accept or drop.")


def _require_cancelled(parts: Parts, document: StoredDocument) -> None:
    earlier: Sequence[StoredDocument] = [
        found for found in parts.ledger.generations(document.key, kind="order") if found.state == "accepted"
    ]
    if document.operation != "order.create" or not earlier:
        raise UsageError(
            "An accepted ASN is not sent a second time.", remedy="Change it at the service, or drop this version."
        )
    probe = probe_order(parts.client, earlier[-1], Calibration(False))
    if probe.presence is not Presence.CANCELLED and earlier[-1].rule != "cancelled":
        raise UsageError(
            "The accepted order is not known to be cancelled, so its reference cannot be used again (API §8.4).",
            remedy=f"Cancel it first: logistics-batch order cancel {earlier[-1].awb_number or earlier[-1].reference}",
        )
