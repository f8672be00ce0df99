"""One run of one job, whatever its kind."""

import logging
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from logistics_batch.errors import LedgerBusy, ProgramFailed, UsageError, is_of_program, where_it_failed
from logistics_batch.flows.doubts.settle import settle
from logistics_batch.flows.files.deliver import deliver_stale
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.push import run_push_job
from logistics_batch.flows.push.run_record import RunRecord, written_run
from logistics_batch.model.counting import counted
from logistics_batch.model.job import JobSpec, LabelsJob, OrderStatusJob, PushJob, ReconcileJob, SettleJob
from logistics_batch.model.report import ExitCode, RunReport
from logistics_batch.model.run_reports import (
    LabelReport,
    OrderStatusReport,
    ReconcileReport,
    SettleReport,
    asked_in_words,
)

_BUSY_POLL_SECONDS = 2.0
_LETTERS = {"reconcile": "R", "labels": "L", "order_status": "O", "settle": "S"}
_log = logging.getLogger(__name__)

JobReport = RunReport | SettleReport | LabelReport | ReconcileReport | OrderStatusReport


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit code, a line with numbers only (for a log), and the whole report.

    cause: what it stopped at or could not do, which tells one failure from another; "" if nothing.
    """

    exit_code: int
    line: str
    report: JobReport
    cause: str = ""

    def document(self) -> dict[str, Any]:
        """The report of a run that is no push, as --json prints it; that of a push is printed in pieces."""
        match self.report:
            case RunReport():
                return {}
            case SettleReport():
                return {"settled": self.report.settled, "held": self.report.held, "open": self.report.open}
            case ReconcileReport():
                return self.report.document
            case LabelReport():
                return asdict(self.report) | {"files": [str(path) for path in self.report.files]}
            case OrderStatusReport():
                return asdict(self.report) | {"files": [str(path) for path in self.report.files]}


@dataclass(frozen=True, slots=True)
class Order:
    """How a job is to run. dry_run: nothing is sent or written. queues: wait while another run holds the ledger."""

    business_date: date
    dry_run: bool = False
    queues: bool = False


def run_job(parts: Parts, job: JobSpec, order: Order) -> Outcome:
    """Run a job once.

    Raises UsageError (nothing was sent), StoreError, LedgerBusy, ProgramFailed where the program itself has a mistake,
    which the ledger and the log know by then, and what else its flow raises.
    """
    before = parts.ledger.runs.latest(job=job.name, limit=1)
    try:
        return _run_once(parts, job, order)
    except BaseException as error:
        if not is_of_program(error):
            raise
        _log.error("%s: the program itself failed: %s", job.name, where_it_failed(error))
        failed = ProgramFailed(error)
        if (
            not order.dry_run and parts.ledger.runs.latest(job=job.name, limit=1) == before
        ):  # its flow wrote nothing yet
            with suppress(ProgramFailed), _recorded(parts, job, order):
                raise failed from error
        raise failed from error


def _recorded(parts: Parts, job: JobSpec, order: Order) -> AbstractContextManager[RunRecord]:
    letter = _LETTERS.get(job.kind, "")
    return written_run(parts, letter=letter, kind=job.kind, job=job.name, business_date=order.business_date)


def _run_once(parts: Parts, job: JobSpec, order: Order) -> Outcome:
    # Each kind of job imports its own flow: a push waits for no PDF library.
    if order.dry_run and not isinstance(job, PushJob):
        raise UsageError(f'A job of kind "{job.kind}" sends nothing, so it has no dry run.', remedy="Leave it out.")
    match job:
        case PushJob():
            report = run_push_job(
                parts,
                job,
                business_date=order.business_date,
                dry_run=order.dry_run,
                wait_for_ledger=order.queues,
            )
            return push_outcome(report)
        case ReconcileJob():
            from logistics_batch.flows.reconcile.reconcile import plan_of_job, run_reconcile

            return reconcile_outcome(run_reconcile(parts, plan_of_job(job, order.business_date)))
        case LabelsJob():
            return labels_outcome(_make_labels(parts, job, order))
        case OrderStatusJob():
            from logistics_batch.flows.orders.status import run_order_status

            return order_status_outcome(run_order_status(parts, job, business_date=order.business_date))
        case SettleJob():
            return _settle_job(parts, job, order)


def _make_labels(parts: Parts, job: LabelsJob, order: Order) -> LabelReport:
    from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
    from logistics_batch.flows.labels.orders import Choice

    plan = LabelsPlan(
        orders=Choice(run=job.from_run or "", day=order.business_date if job.orders == "business_date" else None),
        per_group=job.per_group,
        layout=job.layout,
        sort=job.sort,
        reverse=job.reverse,
        max_pages=job.max_pages,
        results=job.results_place,
        business_date=order.business_date,
        job=job.name,
    )
    return make_labels(parts, plan)


def _settle_job(parts: Parts, job: SettleJob, order: Order) -> Outcome:
    """Settle, with a line in the ledger's history however it ends."""
    with _recorded(parts, job, order) as run:
        outcome = settle_now(parts, run=None, wait=False, queues=order.queues)
        run.ended(outcome.exit_code, {name: len(ids) for name, ids in outcome.document().items()})
        return outcome


def reconcile_outcome(report: ReconcileReport) -> Outcome:
    """How a reconciliation ended."""
    counts = ", ".join(f"{count} {code}" for code, count in report.counts.items() if count) or "no lines"
    doubt = "" if report.complete else "; it may be incomplete"
    return Outcome(report.exit_code, f"run {report.run}: {counts}{doubt}", report)


def labels_outcome(report: LabelReport) -> Outcome:
    """How a label run ended."""
    of = f"{counted(report.labels, 'label')} of {counted(report.orders, 'order')}"
    line = f"bundle {report.bundle_id}: {of}, {len(report.missing)} missing"
    return Outcome(report.exit_code, line, report)


def order_status_outcome(report: OrderStatusReport) -> Outcome:
    """How a run that followed orders ended."""
    differing = "1 order differs" if report.differences == 1 else f"{report.differences:,} orders differ"
    line = f"run {report.run}: {asked_in_words(report.asked)}; {differing} from what was sent; {report.feed.orders} fed"
    failed = [text for text in (*report.failed, report.feed.failed) if text]
    cause = " ".join(filter(None, [report.asked.stopped, *failed]))
    return Outcome(report.exit_code, ". ".join([line, *failed]), report, cause)


def settle_now(parts: Parts, *, run: str | None, wait: bool, queues: bool = False) -> Outcome:
    """Settle doubts and write again the results that show them.

    Raises LedgerBusy unless it queues.
    """
    while True:
        try:
            report = settle(parts, run=run, wait=wait)
            break
        except LedgerBusy:
            if not queues or parts.stop.is_set():
                raise
            parts.clock.sleep(_BUSY_POLL_SECONDS)
    stale = deliver_stale(parts)
    undelivered = [problem for delivered in stale for problem in delivered.failed]
    notes = [note.reason for note in (*report.notes, *(note for delivered in stale for note in delivered.notes))]
    code = ExitCode.DOUBT if report.open or report.held else ExitCode.STOPPED_EARLY if undelivered else ExitCode.DONE
    line = f"{len(report.settled)} settled, {len(report.held)} held for a person, {len(report.open)} still in doubt"
    return Outcome(code, ". ".join([line, *notes, *undelivered]), report, " ".join(undelivered))


def push_outcome(report: RunReport) -> Outcome:
    """How a push ended."""
    return Outcome(report.exit_code, push_line(report), report, report.stopped)


def push_line(report: RunReport) -> str:
    """What a push came to, in numbers.

    >>> push_line(RunReport("20261103-211500-ab12", "orders"))
    'run 20261103-211500-ab12: 0 files'
    """
    counts = ", ".join(f"{count} {fate.value.replace('_', ' ')}" for fate, count in report.counts.items() if count)
    files = "1 file" if len(report.files) == 1 else f"{len(report.files)} files"
    held = report.held_files
    line = f"run {report.run}: {files}" + (f": {counts}" if counts else "")
    line += (f"; {held} held as a whole" if held else "") + (f"; {report.left} left" if report.left else "")
    return f"{line}; stopped early: {report.stopped}" if report.stopped else line
