"""What a person should know of a run: one notice a run and cause, with counts and the command to type next.

Nothing here comes from rows: only names of jobs, what their patterns say of files, rules, numbers, and our own
messages.
"""

from collections import Counter
from datetime import date, datetime, timedelta
from hashlib import sha256

import polars as pl

from logistics_batch.errors import LogisticsBatchError, ProgramFailed
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import RAN_THROUGH, NewNotice, StoredNotice
from logistics_batch.model.job import JobSpec, PushJob
from logistics_batch.model.report import ExitCode, Fate, RunReport
from logistics_batch.operate.expectations import Coming
from logistics_batch.operate.file_names import shown_name, without_names
from logistics_batch.operate.run_job import Outcome
from logistics_batch.operate.waiting_notices import end_what_is_settled, end_without_run, held_key, is_news
from logistics_batch.paper.row_answers import answered

_CAUSES_SHOWN = 5
_AGAIN_AFTER = timedelta(hours=20)  # a failure that lasts rings once a night
_DAYS_A_NOTICE = 10
_LOST_FOR_GOOD = timedelta(days=14)
_TO_EXPLAIN = (Fate.INVALID, Fate.BLOCKED, Fate.REFUSED, Fate.HELD, Fate.IN_DOUBT)


def note_outcome(parts: Parts, job: JobSpec, outcome: Outcome, *, day: date) -> None:
    """Write down what is wrong with a run that came to an end, and what is over with it."""
    code, stopping = outcome.exit_code, parts.stop.is_set()
    if code == ExitCode.STOPPED_EARLY and stopping:
        return  # somebody ended the program; its next start goes on with it
    line = _without_names(parts, job, outcome, outcome.line)
    stopped = bool(outcome.cause) or code not in RAN_THROUGH  # what is held outranks a stop in the exit code
    if stopped and not stopping:
        _note(parts, job, "on_failure", day, cause=_shape(outcome.cause), text=_failure_text(job, day, line))
    if code == ExitCode.DOUBT:
        _note_held(parts, job, outcome, day=day, line=line)
    elif code == ExitCode.ROWS_NOT_DONE:
        text = _rows_text(job, outcome, line, _causes(parts, job, outcome))
        _note(parts, job, "on_invalid_rows", day, cause=str(day), text=text)
    elif code == ExitCode.DONE and "on_success" in job.notify:
        _note(parts, job, "on_success", day, cause=outcome.line, text=f"{line}.")
        parts.ledger.notices.over(_key(job, "on_success", outcome.line), "", now=_now(parts))
    if not stopped:
        _end_what_is_over(parts, job, code)


def _note_held(parts: Parts, job: JobSpec, outcome: Outcome, *, day: date, line: str) -> None:
    """What waits for a person after a run, unless all of it waited before, or `expect` tells of it."""
    text = _held_text(job, outcome, line, _causes(parts, job, outcome))
    if not isinstance(outcome.report, RunReport):
        _note(parts, job, "on_held", day, cause=str(day), text=text)
    elif is_news(parts, job.name, outcome.report.run) and not _is_watched_for(parts, job, outcome.report):
        _note(parts, job, "on_held", day, text=text, key=held_key(job.name, outcome.report.run))


def _without_names(parts: Parts, job: JobSpec, outcome: Outcome, text: str) -> str:
    names = outcome.report.names if isinstance(outcome.report, RunReport) else ()
    return without_names(parts, job, text, names)


def _is_watched_for(parts: Parts, job: JobSpec, report: RunReport) -> bool:
    """Whether all that a person has to look at is an empty file, and people are told of that as of the day's file."""
    rules = {file.rule for file in parts.ledger.files.of_run(run=report.run) if file.rule}
    if rules != {"file|empty"} or report.counts[Fate.HELD] or report.counts[Fate.IN_DOUBT]:
        return False
    return any(each.kind == Coming.EMPTY and each.wanted for each in parts.ledger.notices.open(job=job.name))


def note_error(parts: Parts, job: JobSpec, error: LogisticsBatchError, *, day: date) -> None:
    """Write down that a run could not be made, or broke off."""
    if error.exit_code in (ExitCode.STOPPED_EARLY, ExitCode.BUSY) and parts.stop.is_set():
        return
    last = next(iter(parts.ledger.runs.latest(job=job.name, limit=1)), None)
    names = [file.name for file in parts.ledger.files.of_run(run=last.id)] if last else []
    words = without_names(parts, job, f"{error.message} {error.remedy}".strip(), names)
    text = _failure_text(job, day, words)
    cause = _shape(f"{type(error).__name__} {error.message}")
    _note(parts, job, "on_failure", day, cause=cause, text=text, wanted=isinstance(error, ProgramFailed))


def note_lost_days(parts: Parts, job: str, days: list[date], *, why: str, wanted: bool) -> None:
    """Write down that for some business dates nothing ran, and nothing will by itself."""
    for start in range(0, len(days), _DAYS_A_NOTICE):
        some = [day.isoformat() for day in days[start : start + _DAYS_A_NOTICE]]
        commands = "\n".join(f"  logistics-batch run {job} --business-date {day}" for day in some)
        parts.ledger.notices.note(
            NewNotice(
                key=f"{job}|lost|{','.join(some)}",
                kind="on_failure",
                job=job,
                business_date=some[0],
                title=f"{job}: did not run for {', '.join(some)}",
                text=f"{why}\nWhat to do, if it is still wanted:\n{commands}",
                wanted=wanted,
            ),
            now=_now(parts),
        )


def end_lost_days(parts: Parts) -> None:
    """Days for which nothing had run are over once each of them was run, or after two weeks in which nobody did."""
    for each in parts.ledger.notices.open():
        days = each.key.partition("|lost|")[2]
        if not days:
            continue
        if all(parts.ledger.slots.rounds_of(each.job, day) for day in days.split(",")):
            parts.ledger.notices.over(each.key, f"{each.job} was run for each of these days.", now=_now(parts))
        elif datetime.fromisoformat(each.since) < parts.clock.now() - _LOST_FOR_GOOD:
            parts.ledger.notices.over(each.key, "Nobody ran it in the two weeks since.", now=_now(parts))


def _note(
    parts: Parts,
    job: JobSpec,
    kind: str,
    day: date,
    *,
    text: str,
    cause: str = "",
    key: str = "",
    wanted: bool = False,
) -> None:
    """Write a notice; people are told if the job's `notify` has its kind, or it is `wanted` in any case."""
    titles = {
        "on_failure": f"{job.name} failed for {day}",
        "on_held": f"{job.name}: something waits for a person ({day})",
        "on_invalid_rows": f"{job.name}: not everything could be done ({day})",
        "on_success": f"{job.name} ran for {day}",
    }
    parts.ledger.notices.note(
        NewNotice(
            key=key or _key(job, kind, cause),
            kind=kind,
            job=job.name,
            business_date=day.isoformat(),
            title=titles[kind],
            text=text,
            wanted=wanted or kind in job.notify,
        ),
        now=_now(parts),
        again_if_told_before=(parts.clock.now() - _AGAIN_AFTER).isoformat() if kind == "on_failure" else "",
    )


def _key(job: JobSpec, kind: str, cause: str) -> str:
    return f"{job.name}|{kind}|{sha256(cause.encode()).hexdigest()[:16]}"


def _shape(cause: str) -> str:
    """A cause without its numbers: the same trouble of another night, file or process is the same."""
    return "".join(sign for sign in cause if not sign.isdigit())[:200]


def _now(parts: Parts) -> str:
    return parts.clock.now().isoformat()


def _failure_text(job: JobSpec, day: date, cause: str) -> str:
    return f"{cause}\nWhat to do: mend that, then `logistics-batch run {job.name} --business-date {day}`"


def _held_text(job: JobSpec, outcome: Outcome, line: str, causes: list[str]) -> str:
    report, commands = outcome.report, []
    if not isinstance(report, RunReport) or report.counts[Fate.IN_DOUBT]:
        commands.append("`logistics-batch settle` for what is in doubt")
    commands.append("`logistics-batch held list` for what is held")
    if isinstance(report, RunReport):
        commands.append(f"`logistics-batch runs show {report.run}` for why")
        if isinstance(job, PushJob) and job.source.quarantine and report.held_files:
            commands.append(f"files held as a whole lie in {job.source.quarantine}, each with a note")
    return "\n".join([f"{line}.", *causes, f"What to do: {', '.join(commands)}."])


def _rows_text(job: JobSpec, outcome: Outcome, line: str, causes: list[str]) -> str:
    run = outcome.report.run if isinstance(outcome.report, RunReport) else job.name
    command = f"the answers say it row by row; `logistics-batch runs show {run}` shows the first."
    return "\n".join([f"{line}.", *causes, f"What to do: {command}"])


def _causes(parts: Parts, job: JobSpec, outcome: Outcome) -> list[str]:
    """The commonest rules behind rows that were not done, with how many rows; never their contents."""
    report = outcome.report
    if not isinstance(report, RunReport):
        return []
    failed = {file.name for file in parts.ledger.files.of_run(run=report.run) if file.rule == "file|program_error"}
    counted: Counter[str] = Counter()
    for file in report.files:
        if file.reason:
            why = ": the program itself failed on it, the log says where" if file.file in failed else ""
            counted[f"{shown_name(parts, job, file.file)} is held as a whole{why}"] += file.rows_read
            continue
        explained = answered(file).filter(pl.col("fate").is_in(_TO_EXPLAIN))
        for fate, rule, count in explained.group_by("fate", "rule").len().iter_rows():
            counted[f"{fate}: {rule or 'see the answers'}"] += count
    return [f"  {number} rows {cause}" for cause, number in counted.most_common(_CAUSES_SHOWN)]


def _end_what_is_over(parts: Parts, job: JobSpec, code: int) -> None:
    """After a run that came to its end: failures are over; what was held, when nothing of the job is any more."""
    for each in parts.ledger.notices.open():
        if each.job == job.name and _is_over(each, code):
            parts.ledger.notices.over(each.key, f"{job.name} ran again and came to its end.", now=_now(parts))
    if code != ExitCode.DOUBT:
        end_without_run(parts, job)
    end_what_is_settled(parts)


def _is_over(notice: StoredNotice, code: int) -> bool:
    if notice.kind == "on_invalid_rows":
        return code == ExitCode.DONE
    return "|on_failure|" in notice.key  # not a lost day, and not a file of a job that cannot be used
