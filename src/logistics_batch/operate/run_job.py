"""One run of one job: its parts are called as its kind says, and its outcome and what came of it are told."""

import logging
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from logistics_batch.errors import (
    KeyRefused,
    LedgerBusy,
    LogisticsBatchError,
    MachineFailed,
    ProgramFailed,
    RunStopped,
    ServiceMisaddressed,
    StoreUnreachable,
    UsageError,
    as_told,
    where_it_failed,
)
from logistics_batch.flows.doubts.settle import settle
from logistics_batch.flows.files.deliver import Delivered, deliver_stale_beside
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.push import run_push_job
from logistics_batch.flows.push.run import PastRun
from logistics_batch.flows.push.run_record import RunRecord, written_run
from logistics_batch.ledger import StoredNotice, StoredRun
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.job import JobSpec, LabelsJob, OrderStatusJob, PushJob, ReconcileJob, SettleJob
from logistics_batch.model.report import ExitCode, Fate, RunReport
from logistics_batch.model.run_reports import (
    LabelReport,
    OrderStatusReport,
    ReconcileReport,
    SettleReport,
    asked_in_words,
)

_LETTERS = {"reconcile": "R", "labels": "L", "order_status": "O", "settle": "S"}
_log = logging.getLogger(__name__)

JobReport = RunReport | SettleReport | LabelReport | ReconcileReport | OrderStatusReport


@dataclass(frozen=True, slots=True)
class JobOutcome:
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
                told = self.report
                return {"settled": told.settled, "held": told.held, "still_held": told.still_held, "open": told.open}
            case ReconcileReport():
                return self.report.document
            case LabelReport():
                owed = [{"reason": each.reason, "fix": each.fix} for each in self.report.owed]
                return asdict(self.report) | {"files": [str(path) for path in self.report.files], "owed": owed}
            case OrderStatusReport():
                return asdict(self.report) | {"files": [str(path) for path in self.report.files]}


@dataclass(frozen=True, slots=True)
class Order:
    """How a job is to run. dry_run: nothing is sent or written. queues: wait while another run holds the ledger."""

    business_date: date
    dry_run: bool = False
    queues: bool = False


def run_job(parts: Parts, job: JobSpec, order: Order) -> JobOutcome:
    """Run a job once.

    Raises UsageError (nothing was sent), StoreError, LedgerBusy, MachineFailed, ProgramFailed where the program itself
    has a mistake; the ledger and the log know of both by then; and what else its flow raises.
    """
    before = parts.ledger.runs.latest(job=job.name, limit=1)
    try:
        return _run_once(parts, job, order)
    except BaseException as error:
        failed = as_told(error)
        if failed is error:
            raise
        what = "the program itself" if isinstance(failed, ProgramFailed) else "this machine"
        _log.error("%s: %s failed: %s", job.name, what, where_it_failed(error))
        if (
            not order.dry_run and parts.ledger.runs.latest(job=job.name, limit=1) == before
        ):  # its flow wrote nothing yet
            with suppress(ProgramFailed, MachineFailed), _recorded(parts, job, order):
                raise failed from error
        raise failed from error


def waits(end: JobOutcome | LogisticsBatchError) -> bool:
    """Whether waiting may mend what a run stopped at: a service or server that is away, a ledger that was lost or used.

    Not a key that is refused or a wrong address, nor a mistake of the program.
    """
    if isinstance(end, JobOutcome):
        return isinstance(end.report, RunReport) and end.report.waits
    lasting = isinstance(end, KeyRefused | ServiceMisaddressed)
    return isinstance(end, StoreUnreachable | RunStopped | LedgerBusy) and not lasting


def _recorded(parts: Parts, job: JobSpec, order: Order) -> AbstractContextManager[RunRecord]:
    letter = _LETTERS.get(job.kind, "")
    return written_run(parts, letter=letter, kind=job.kind, job=job.name, business_date=order.business_date)


def _run_once(parts: Parts, job: JobSpec, order: Order) -> JobOutcome:
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
            return outcome_of(report)
        case ReconcileJob():
            from logistics_batch.flows.reconcile.reconcile import plan_of_job, run_reconcile

            return outcome_of(run_reconcile(parts, plan_of_job(job, order.business_date)))
        case LabelsJob():
            return outcome_of(_make_labels(parts, job, order))
        case OrderStatusJob():
            from logistics_batch.flows.orders.status import run_order_status

            return outcome_of(run_order_status(parts, job, business_date=order.business_date))
        case SettleJob():  # with a line in the ledger's history however it ends
            with _recorded(parts, job, order) as run:
                outcome = settle_now(parts, run=None, wait=False, queues=order.queues, job_run=run.id)
                run.ended(outcome.exit_code, {name: len(ids) for name, ids in outcome.document().items()})
                return outcome


def _make_labels(parts: Parts, job: LabelsJob, order: Order) -> LabelReport:
    from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
    from logistics_batch.flows.labels.orders import LabelChoice

    plan = LabelsPlan(
        orders=LabelChoice(run=job.from_run or "", day=order.business_date if job.orders == "business_date" else None),
        per_group=job.per_group,
        layout=job.layout,
        sort=job.sort,
        reverse=job.reverse,
        max_pages=job.max_pages,
        results=job.results_place,
        printer=job.printer,
        business_date=order.business_date,
        job=job.name,
    )
    return make_labels(parts, plan)


def settle_now(parts: Parts, *, run: str | None, wait: bool, queues: bool = False, job_run: str = "") -> JobOutcome:
    """Settle doubts and write again the results that show them; see `flows.doubts.settle`.

    Raises LedgerBusy unless it queues.
    """
    report = settle(parts, run=run, wait=wait, queues=queues, job_run=job_run)
    stale: list[Delivered] = []
    with suppress(LedgerBusy):  # whoever holds it writes them
        stale = deliver_stale_beside(parts)
    undelivered = [problem for delivered in stale for problem in delivered.failed]
    notes = [note.reason for note in (*report.notes, *(note for delivered in stale for note in delivered.notes))]
    unknown = report.open or report.held or report.still_held
    code = ExitCode.DOUBT if unknown else ExitCode.STOPPED_EARLY if undelivered else ExitCode.DONE
    line = f"{len(report.settled)} settled, {len(report.held)} held for a person, {len(report.open)} still in doubt"
    line += f", {len(report.still_held)} held since before" if report.still_held else ""
    return JobOutcome(
        code, ". ".join(each.removesuffix(".") for each in (line, *notes, *undelivered)), report, " ".join(undelivered)
    )


def outcome_of(report: RunReport | LabelReport | ReconcileReport | OrderStatusReport) -> JobOutcome:
    """How a run ended, from its report."""
    cause = ""
    match report:
        case RunReport():
            line, cause = _push_line(report), report.stopped
        case ReconcileReport():
            counts = ", ".join(f"{count} {code}" for code, count in report.counts.items() if count) or "no lines"
            line = f"run {report.run}: {counts}{'' if report.complete else '; it may be incomplete'}"
        case LabelReport():
            of = f"{counted(report.labels, 'label')} of {counted(report.orders, 'order')}"
            line = f"bundle {report.bundle_id}: {of}, {len(report.missing)} missing"
            cause = " ".join(each.reason for each in report.unprinted)
            if cause:
                line += f". {cause}".removesuffix(".")
            elif report.printing:
                line += f", printed on {report.printing[0].queue}"
        case OrderStatusReport():
            differing = "1 order differs" if report.differences == 1 else f"{report.differences:,} orders differ"
            failed = [text for text in (*report.failed, report.feed.failed) if text]
            fed = f"{differing} from what was sent; {report.feed.orders} fed"
            line = ". ".join([f"run {report.run}: {asked_in_words(report.asked)}; {fed}", *failed])
            cause = " ".join(filter(None, [report.asked.stopped, *failed]))
    return JobOutcome(report.exit_code, line, report, cause)


def _push_line(report: RunReport) -> str:
    """What a push came to, in numbers."""
    counts = ", ".join(f"{count} {fate.value.replace('_', ' ')}" for fate, count in report.counts.items() if count)
    held = report.held_files
    line = f"run {report.run}: {counted(len(report.files), 'file')}" + (
        f": {counts}{report.in_documents}" if counts else ""
    )
    line += (f"; {held} held as a whole" if held else "") + (f"; {report.left} left" if report.left else "")
    return f"{line}; stopped early: {report.stopped}" if report.stopped else line


_FOLDERS = {"reconcile": "reconciliation", "order_status": "order_status"}
_NEXT = {
    ExitCode.USAGE: "Mend what is wrong, then run it again: `logistics-batch doctor` checks it.",
    ExitCode.ROWS_NOT_DONE: "Correct the rows by the answers, and drop the file again.",
    ExitCode.DOUBT: "`logistics-batch settle` for what is in doubt, `logistics-batch held list` for what is held.",
    ExitCode.STOPPED_EARLY: "Run it again: `logistics-batch run {job} --business-date {day}`",
}
OF_REPORTS: dict[tuple[str, int | None], tuple[str, str]] = {
    ("reconcile", ExitCode.ROWS_NOT_DONE): ("exceptions were found", "Look through the exceptions in the report."),
    ("reconcile", ExitCode.DOUBT): ("the report may be incomplete", "The report says what it lacks, and why."),
    ("labels", ExitCode.ROWS_NOT_DONE): ("labels are missing", "The manifest says which, and why."),
    ("labels", ExitCode.DOUBT): (
        "orders in doubt have no label, or the printer took something else",
        "The manifest and the notes say which; `logistics-batch settle` for orders in doubt.",
    ),
    ("order_status", ExitCode.ROWS_NOT_DONE): (
        "orders differ from what was sent",
        "The report says which, and in what.",
    ),
}
"""What an exit code means for a run that makes a report, and what somebody does about it; by the run's kind."""

_MEND_FILES = "Correct the files that are held as a whole (see why above), and drop them again."
_PUSH_AGAIN = "Push the same files again: `logistics-batch push FILE --mapping NAME`"


def run_account(parts: Parts, past: PastRun) -> dict[str, Any]:
    """Everything that the ledger holds of a run besides its files, as --json prints it.

    seconds: how long it took, None while it goes on. settled: documents of earlier files that were found to be accepted
    in it. reports: where it wrote a report of its own, if anywhere. alerts: what people were told, or could be.
    """
    stored = past.stored
    own = parts.reports / _FOLDERS[stored.kind] / stored.id if stored.kind in _FOLDERS else None
    ends = [datetime.fromisoformat(at) for at in (stored.started_at, stored.finished_at) if at]
    alerts = [
        {name: getattr(each, name) for name in ("since", "kind", "title", "over_at")} | {"told": told(each)}
        for each in _notices(parts, stored)
    ]
    return {
        "kind": stored.kind,
        "business_date": stored.business_date,
        "started_at": stored.started_at,
        "finished_at": stored.finished_at,
        "seconds": round((ends[1] - ends[0]).total_seconds(), 1) if len(ends) == 2 else None,
        "summary": dict(stored.summary),
        "settled": [
            {"reference": each.reference, "awb_number": each.awb_number}
            for each in parts.ledger.documents.settled_in(stored.id)
        ],
        "reports": str(own) if own and own.is_dir() else "",
        "alerts": alerts,
        "next": _next_step(past),
    }


def told(notice: StoredNotice) -> str:
    """Who knows of a notice: "told", "not told yet", "nobody to tell", or "not sent" where the job does not want it."""
    if not notice.wanted:
        return "not sent"
    if notice.owed:
        return "not told yet"
    return "told" if notice.told else "nobody to tell"


def _next_step(past: PastRun) -> str:
    """What somebody does about a run now; "" if there is nothing."""
    stored, counts = past.stored, past.report.counts
    if of_report := OF_REPORTS.get((stored.kind, stored.exit_code)):
        return of_report[1]
    is_settled = past.files and not counts[Fate.IN_DOUBT] and not counts[Fate.HELD]
    step = "" if stored.exit_code is None else _NEXT.get(stored.exit_code, "")
    if stored.exit_code == ExitCode.STOPPED_EARLY and stored.kind == "push" and stored.job == "push":
        step = _PUSH_AGAIN  # there is no job of that name
    if past.report.held_files:
        waits_for_a_person = any(tally.counts.get(Fate.HELD) for _, tally in past.files if not tally.held_files)
        is_more = counts[Fate.IN_DOUBT] or waits_for_a_person
        step = f"{_MEND_FILES} {step}" if is_more else _MEND_FILES
    elif stored.exit_code == ExitCode.DOUBT and is_settled:
        return ""
    return step.format(job=stored.job, day=stored.business_date)


def _notices(parts: Parts, stored: StoredRun) -> list[StoredNotice]:
    """What was noticed of the job from its beginning until a minute after its end, or lasted on through it."""
    until = datetime.fromisoformat(stored.finished_at or parts.clock.now().isoformat()).timestamp() + 60
    found = parts.ledger.notices.notices_since(stored.started_at) + parts.ledger.notices.open(job=stored.job)
    mine = {each.id: each for each in found if each.job == stored.job}
    return [mine[number] for number in sorted(mine) if datetime.fromisoformat(mine[number].since).timestamp() <= until]
