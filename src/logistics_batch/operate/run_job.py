"""One run of one job, whatever its kind."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from logistics_batch.errors import LedgerBusy, LogisticsBatchError, UsageError
from logistics_batch.flows.deliver import deliver_stale
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push import run_push_job
from logistics_batch.flows.run_record import new_run_id
from logistics_batch.flows.settle import settle
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

    Raises UsageError (nothing was sent), StoreError, LedgerBusy, and what else its flow raises.
    """
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
            from logistics_batch.flows.reconcile import plan_of_job, run_reconcile

            return reconcile_outcome(run_reconcile(parts, plan_of_job(job, order.business_date)))
        case LabelsJob():
            return labels_outcome(_make_labels(parts, job, order))
        case OrderStatusJob():
            from logistics_batch.flows.order_status import run_order_status

            return order_status_outcome(run_order_status(parts, job, business_date=order.business_date))
        case SettleJob():
            return _settle_job(parts, job, order)


def _make_labels(parts: Parts, job: LabelsJob, order: Order) -> LabelReport:
    from logistics_batch.flows.label_orders import Choice
    from logistics_batch.flows.labels import LabelsPlan, make_labels

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
    now = parts.clock.now()
    run = new_run_id(parts, letter="S")
    day = order.business_date.isoformat()
    parts.ledger.start_run(run, job=job.name, kind=job.kind, business_date=day, now=now.isoformat())
    code, stopped, summary = int(ExitCode.STOPPED_EARLY), "", {}
    try:
        outcome = settle_now(parts, run=None, wait=False, queues=order.queues)
        code, summary = outcome.exit_code, {name: len(ids) for name, ids in outcome.document().items()}
        return outcome
    except LogisticsBatchError as error:
        code, stopped = error.exit_code, error.message
        raise
    finally:
        ended = parts.clock.now().isoformat()
        parts.ledger.finish_run(run, exit_code=code, summary=summary, now=ended, stopped=stopped)


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
    notes = [note for delivered in stale for note in delivered.notes]
    code = ExitCode.DOUBT if report.open or report.held else ExitCode.STOPPED_EARLY if undelivered else ExitCode.DONE
    line = f"{len(report.settled)} settled, {len(report.held)} held for a person, {len(report.open)} still in doubt"
    return Outcome(code, ". ".join([line, *report.notes, *notes, *undelivered]), report, " ".join(undelivered))


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
