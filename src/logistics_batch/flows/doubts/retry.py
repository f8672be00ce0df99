"""Sending again, on a person's word, what of an earlier run may be sent again: refused and pending documents.

What is in doubt is never sent again here, and what is held waits for its own decision. A document is sent again only if
nothing came after it under its key: an older version must not overwrite a newer one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.flows.asns.markers import confirm_marked
from logistics_batch.flows.doubts.settle import settle_due
from logistics_batch.flows.files.deliver import deliver, deliver_stale
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.dispatch import send_in_turn
from logistics_batch.flows.push.health import DispatchResult
from logistics_batch.flows.push.run import past_run, unwritten
from logistics_batch.flows.push.run_record import recorded_run, recover_orphans
from logistics_batch.ledger import OTHER_SPELLING, PLANNED, Decided, Outcome, StoredDocument, StoredRun, kind_of
from logistics_batch.messages import rule_of
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.model.document import Operation
from logistics_batch.model.document_state import UNANSWERED, DocumentState
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import FileReport, RunReport, exit_code

REFUSED, PENDING = "refused", "pending"
_UNDER_WAY = (*UNANSWERED, DocumentState.PLANNED)
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
            chosen, left = _chosen(parts, stored, only)
            planned = [(each.id, each.key, each.operation, each.send_approved) for each in chosen]
            result = send_in_turn(parts, pl.DataFrame(planned, schema=PLANNED, orient="row"), run=run.id)
            confirm_marked(parts)
            undelivered, notes = _answer(parts, stored)
            reports = tuple(
                parts.ledger.documents.file_report(file.id) for file in parts.ledger.files.of_run(run=stored.id)
            )
            report = replace(_report(stored, reports, result, undelivered), notes=(*taken_over, *notes))
            run.ended(report.exit_code, {str(fate): count for fate, count in report.counts.items()})
            run.stopped = report.stopped
    return RetryReport(run.id, len(chosen), tuple(left), report)


def _chosen(parts: Parts, stored: StoredRun, only: str) -> tuple[list[StoredDocument], list[NotRetried]]:
    chosen: list[StoredDocument] = []
    left: list[NotRetried] = []
    for document in parts.ledger.documents.select(run=stored.id):
        reason = _why_not(parts, document, only)
        if reason:
            left.append(NotRetried(document, reason))
        elif document.state == "planned" and only != REFUSED:
            chosen.append(document)
        elif document.state == "refused" and only != PENDING:
            chosen.append(_put_back(parts, document))
    return chosen, left


def _why_not(parts: Parts, document: StoredDocument, only: str) -> str:
    """Why a document that is not done is not sent again; "" if it may be, or is done, or was not asked for."""
    if document.state == "in_doubt":
        return "it may have arrived; run “settle”"
    if document.state == "held":
        return "it waits for a person; see “held list”"
    if document.state != "refused" or only == PENDING:
        return ""
    if document.purged:
        return "its content was purged; drop the file again"
    kind = kind_of(document.operation)
    others = [found for found in parts.ledger.documents.generations(document.key, kind=kind) if found.id != document.id]
    if any(found.state in _UNDER_WAY for found in others):
        return "another version of it is on its way or in doubt"
    if any(found.generation > document.generation and found.state not in _OVER for found in others):
        return "a later version of it came since"
    alive = any(found.state == "accepted" and found.rule != "cancelled" for found in others)
    if alive and Operation(document.operation).creates:
        return "the service accepted another version of it"
    return "" if _meant_beside(parts, document) else parts.ledger.planning.spelt_otherwise(document)


def _meant_beside(parts: Parts, document: StoredDocument) -> bool:
    """Whether a person has said before that it goes out beside what there is under other spellings of its key."""
    if not Operation(document.operation).creates:
        return True
    made = parts.ledger.documents.decisions(document.id)
    return any(each.what == HeldDecision.SEND_AGAIN and rule_of(each.code) == OTHER_SPELLING for each in made)


def _put_back(parts: Parts, document: StoredDocument) -> StoredDocument:
    """A refused document is planned again, with its bytes as they are."""
    back = Outcome(document.id, "planned", "retried", why=Issue("retry"))
    now = parts.clock.now().isoformat()
    parts.ledger.attempts.settle_documents([back], expected="refused", now=now, decided=Decided(HeldDecision.RETRY))
    return parts.ledger.documents.get(document.id) or document


def _answer(parts: Parts, stored: StoredRun) -> tuple[list[str], list[Issue]]:
    """Write the results of the run and of other files with the same documents: what could not be written, and notes."""
    own = [deliver(parts, file) for file in parts.ledger.files.of_run(run=stored.id)]
    others = deliver_stale(parts, leave_out_run=stored.id)
    undelivered, of_others = ([problem for each in some for problem in each.failed] for some in (own, others))
    return undelivered, [*unwritten(of_others), *(note for each in (*own, *others) for note in each.notes)]


def _report(
    stored: StoredRun, reports: Sequence[FileReport], result: DispatchResult, undelivered: Sequence[str]
) -> RunReport:
    stopped = " ".join(part for part in (result.stopped, result.remedy, *undelivered) if part)
    report = RunReport(stored.id, stored.job, tuple(reports), stopped=stopped)
    code = exit_code(report.counts, file_held=any(found.reason for found in reports), stopped=bool(stopped))
    return RunReport(stored.id, stored.job, tuple(reports), stopped=stopped, exit_code=code)
