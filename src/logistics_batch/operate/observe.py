"""What is written down and told of a run once it is over; whatever goes wrong here, the run stays what it was."""

from dataclasses import dataclass
from datetime import date

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import RAN_THROUGH
from logistics_batch.model.calendar import EVERY_DAY, Calendar
from logistics_batch.model.job import JobSpec, PushJob
from logistics_batch.model.report import ExitCode, RunReport
from logistics_batch.operate.file_watch import watch_files
from logistics_batch.operate.log import Log
from logistics_batch.operate.run_job import Outcome
from logistics_batch.operate.run_notices import note_error, note_outcome
from logistics_batch.operate.waiting_notices import watch_left_files


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that is over: its job, the day it was for, and how it ended. calendar: that of `expect`."""

    job: JobSpec
    day: date
    end: Outcome | LogisticsBatchError
    calendar: Calendar = EVERY_DAY

    @property
    def exit_code(self) -> int:
        """The exit code."""
        return self.end.exit_code

    @property
    def round_code(self) -> int:
        """As what it counts for the jobs that wait for it: a stop is no round, though what is in doubt outranks it."""
        return (
            int(ExitCode.STOPPED_EARLY) if was_cut_short(self.end) and self.exit_code in RAN_THROUGH else self.exit_code
        )

    @property
    def line(self) -> str:
        """How it ended, in numbers or in the words of an error."""
        if isinstance(self.end, Outcome):
            return self.end.line
        return f"{self.end.message} {self.end.remedy}".rstrip()


def observe(parts: Parts, ran: Ran, log: Log) -> None:
    """Write down what a person should know of a run, and log it."""
    log.say(
        "run_ended",
        f"exit {ran.exit_code}: {ran.line}",
        job=ran.job.name,
        level="info" if ran.exit_code == 0 else "warning",
        exit_code=ran.exit_code,
        business_date=ran.day.isoformat(),
        **_numbers(ran.end),
    )
    try:
        if isinstance(ran.job, PushJob):  # first: what is told of a day's file is not told a second time
            watch_files(parts, ran.job, ran.calendar, now=parts.clock.now())
            watch_left_files(parts, ran.job)
        if isinstance(ran.end, Outcome):
            note_outcome(parts, ran.job, ran.end, day=ran.day)
        else:
            note_error(parts, ran.job, ran.end, day=ran.day)
    except LogisticsBatchError as error:
        words = f"what should be known of it was not kept: {error.message}"
        log.say("notice_lost", words, job=ran.job.name, level="error")


def was_cut_short(end: Outcome | LogisticsBatchError | None) -> bool:
    """Whether a run ended before its end, also where what is in doubt outranks that in its exit code."""
    if isinstance(end, Outcome) and end.cause:
        return True
    return end is None or end.exit_code in (ExitCode.STOPPED_EARLY, ExitCode.BUSY)


def _numbers(end: Outcome | LogisticsBatchError) -> dict[str, object]:
    if isinstance(end, Outcome) and isinstance(end.report, RunReport):
        report = end.report
        rows = {fate.value: count for fate, count in report.counts.items() if count}
        return {"run": report.run, "files": len(report.files), "left": report.left, "rows": rows}
    return {}
