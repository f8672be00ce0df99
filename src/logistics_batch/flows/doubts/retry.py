"""Sending again, on a person's word, what of an earlier run may be sent again: refused and pending documents.

What is in doubt is never sent again here, and what is held waits for its own decision. A document is sent again only if
nothing came after it under its key: an older version must not overwrite a newer one.
"""

from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.flows.asns.search import confirm_marked
from logistics_batch.flows.doubts.settle import settle_due
from logistics_batch.flows.files.deliver import deliver, deliver_stale
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.dispatch import send_in_turn
from logistics_batch.flows.push.run import past_run, unwritten
from logistics_batch.flows.push.run_record import recorded_run, recover_orphans
from logistics_batch.ledger import OTHER_SPELLING, PLANNED, Decided, Outcome, StoredDocument, kind_of
from logistics_batch.messages import rule_of
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.model.document import UNANSWERED, DocumentState, Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import RunReport, exit_code

REFUSED, PENDING = "refused", "pending"
_OVER = (DocumentState.SUPERSEDED, DocumentState.ABANDONED)  # versions that say nothing about those before them


@dataclass(frozen=True, slots=True)
class NotRetried:
    """A document that was left as it is, and why."""

    document: StoredDocument
    reason: str


@dataclass(frozen=True, slots=True)
class RetryReport:
    """What a retry came to: the earlier run's report as it is now; sent: how many documents went out again."""

    run: str
    sent: int
    left: tuple[NotRetried, ...]
    report: RunReport


def retry_run(parts: Parts, run_id: str, *, only: str = "") -> RetryReport:
    """Send again what may be sent again of a run (its id, or a job's name for its latest), and write its results again.

    only: "refused" or "pending"; "" is both.

    Raises:
        UsageError: there is no such run.
        LedgerBusy: another sending run holds the ledger.
    """
    stored = past_run(parts, run_id).stored
    with parts.ledger.sending(f"retry {stored.id}"):
        taken_over = recover_orphans(parts)
        day = parts.clock.now().date()
        with recorded_run(parts, letter="T", kind="retry", job="retry", business_date=day) as run:
            settle_due(parts, run=run.id, give_up=False)
            chosen, left = _chosen(parts, stored.id, only)
            planned = [(each.id, each.key, each.operation, each.send_approved) for each in chosen]
            result = send_in_turn(parts, pl.DataFrame(planned, schema=PLANNED, orient="row"), run=run.id)
            if parts.policy.marks_asns:
                confirm_marked(parts)
            files = parts.ledger.files.of_run(run=stored.id)
            own = [deliver(parts, file) for file in files]
            others = deliver_stale(parts, leave_out_run=stored.id)  # files with the same documents
            undelivered = [problem for each in own for problem in each.failed]
            notes = [note for each in (*own, *others) for note in each.notes]
            reports = tuple(parts.ledger.documents.file_report(file.id) for file in files)
            report = RunReport(
                stored.id,
                stored.job,
                reports,
                stopped=" ".join(part for part in (result.stopped, result.remedy, *undelivered) if part),
                notes=(*taken_over, *unwritten([problem for each in others for problem in each.failed]), *notes),
            )
            held = any(found.reason for found in reports)
            code = exit_code(report.counts, file_held=held, stopped=bool(report.stopped))
            report = replace(report, exit_code=code)
            run.ended(code, {str(fate): count for fate, count in report.counts.items()})
            run.stopped = report.stopped
    return RetryReport(run.id, len(chosen), tuple(left), report)


def _chosen(parts: Parts, run: str, only: str) -> tuple[list[StoredDocument], list[NotRetried]]:
    """What is sent of a run; what is refused is planned again for that, with its bytes as they are."""
    chosen: list[StoredDocument] = []
    left: list[NotRetried] = []
    documents, attempts = parts.ledger.documents, parts.ledger.attempts
    for document in documents.select(run=run):
        reason = _why_not(parts, document, only)
        if reason:
            left.append(NotRetried(document, reason))
        elif document.state == DocumentState.PLANNED and only != REFUSED:
            chosen.append(document)
        elif document.state == DocumentState.REFUSED and only != PENDING:
            back, decided = Outcome(document.id, "planned", "retried", why=Issue("retry")), Decided(HeldDecision.RETRY)
            attempts.settle(back, expected="refused", now=parts.now, decided=decided)
            chosen.append(documents.get(document.id) or document)
    return chosen, left


def _why_not(parts: Parts, document: StoredDocument, only: str) -> str:
    """Why a document that is not done is not sent again; "" if it may be, or is done, or was not asked for."""
    if document.state == DocumentState.IN_DOUBT:
        return "it may have arrived; run “settle”"
    if document.state == DocumentState.HELD:
        return "it waits for a person; see “held list”"
    if document.state != DocumentState.REFUSED or only == PENDING:
        return ""
    if document.purged:
        return "its content was purged; drop the file again"
    generations = parts.ledger.documents.generations(document.key, kind=kind_of(document.operation))
    others = [found for found in generations if found.id != document.id]
    if any(found.state in (*UNANSWERED, DocumentState.PLANNED) for found in others):
        return "another version of it is on its way or in doubt"
    if any(found.generation > document.generation and found.state not in _OVER for found in others):
        return "a later version of it came since"
    if not Operation(document.operation).creates:
        return ""
    if any(found.state == DocumentState.ACCEPTED and found.rule != "cancelled" for found in others):
        return "the service accepted another version of it"
    said = parts.ledger.documents.decisions(document.id)
    if any(each.what == HeldDecision.SEND_AGAIN and rule_of(each.code) == OTHER_SPELLING for each in said):
        return ""  # a person has said before that it goes out beside what there is under other spellings of its key
    return parts.ledger.planning.spelt_otherwise(document)
