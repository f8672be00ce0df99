"""What people should know: of a run, of what waits after it, and of each day; told once, until it is over.

Nothing here comes from rows: only names of jobs, what their patterns say of files, rules, numbers, and our own
messages. A notice of a run lasts as long as anything of that run waits, whatever other runs and jobs do meanwhile. A
later run in which only the same waits is no news; one with something new is told of its own.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import sha256

import polars as pl

from logistics_batch.errors import LedgerRefused, LogisticsBatchError, ProgramFailed
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import RAN_THROUGH, LeftFile, NewNotice, StoredNotice, StoredRun
from logistics_batch.model.jobs.calendar import EVERY_DAY, Calendar
from logistics_batch.model.jobs.job import JobSpec, PushJob
from logistics_batch.model.report import ExitCode, Fate, RunReport
from logistics_batch.operate.file_watch import Coming, shown_name, watch_files, without_names
from logistics_batch.operate.log import Log
from logistics_batch.operate.metrics import document_fates
from logistics_batch.operate.run_job import JobOutcome
from logistics_batch.paper.answers.row_answers import answered

_LEFT_FOR = timedelta(hours=1)  # an upload may take its time
_TOLD_ONE_BY_ONE = 20


def held_key(job: str, run: str) -> str:
    """The key of the notice of what waits of a run."""
    return f"{job}|on_held|run {run}"


def _run_of(notice: StoredNotice) -> str:
    """The run that a notice is about; "" if it is about none."""
    return notice.key.partition("|on_held|run ")[2]


def is_news(parts: Parts, job: str, run: str) -> bool:
    """Whether something of a run waits for a person that was not told of with an earlier one."""
    told = {_run_of(each) for each in parts.ledger.notices.open(job=job)} - {"", run}
    return bool(_waiting(parts, job, {run}) - _waiting(parts, job, told))


def _waiting(parts: Parts, job: str, runs: Collection[str]) -> set[str]:
    """What of some runs of a job waits for a person."""
    held = {f"file {each.id}" for each in parts.ledger.files.held(job=job) if each.run in runs}
    return held | {f"document {number}" for run in runs for number in parts.ledger.documents.open_documents_of(run)}


def end_what_is_settled(parts: Parts) -> None:
    """Whatever of a run waited for a person waits no more: that is over, too."""
    for each in parts.ledger.notices.open():
        run = _run_of(each)
        if run and not _waiting(parts, each.job, {run}):
            parts.ledger.notices.over(each.key, "Nothing of it is in doubt or held any more.", now=_now(parts))


def end_without_run(parts: Parts, job: JobSpec) -> None:
    """What a job told without naming a run is over once it came to its end with nothing in doubt or held."""
    for each in parts.ledger.notices.open(job=job.name):
        if each.kind == "on_held" and not _run_of(each) and "|left|" not in each.key:
            parts.ledger.notices.over(each.key, "Nothing of it is in doubt or held any more.", now=_now(parts))


def watch_left_files(parts: Parts, job: PushJob) -> None:
    """Tell of files that lie there for a while and are not taken, and that they are gone."""
    left, now = parts.ledger.files.left(job=job.name), parts.clock.now()
    told = [each for each in parts.ledger.notices.open(job=job.name) if "|left|" in each.key]
    lying = {_left_key(each): each for each in left}
    for notice in told:
        if notice.key not in lying:
            parts.ledger.notices.over(notice.key, "It was taken, or is gone from there.", now=_now(parts))
    long = {key: each for key, each in lying.items() if now - datetime.fromisoformat(each.since) >= _LEFT_FOR}
    open_keys = {each.key for each in told}
    for key in list(long)[:_TOLD_ONE_BY_ONE]:
        if key not in open_keys:
            parts.ledger.notices.note(_of_left(parts, job, long[key], key, others=len(left) - 1), now=_now(parts))


def _left_key(left: LeftFile) -> str:
    return f"{left.job}|left|{sha256(left.name.encode()).hexdigest()[:16]}"


def _of_left(parts: Parts, job: PushJob, left: LeftFile, key: str, *, others: int) -> NewNotice:
    name = shown_name(parts, job, left.name)
    why = without_names(parts, job, left.why.reason, [left.name]).rstrip(".")
    more = f" {others:,} more are left." if others else ""
    return NewNotice(
        key=key,
        kind="on_held",
        job=job.name,
        title=f"{job.name}: something lies there and is not taken",
        text=(
            f"{name} lies there since {left.since[:16]} or longer: {why}.{more}\nWhat to do: put that right where it "
            f"lies, or remove it. `logistics-batch runs show {job.name}` names what the latest run left."
        ),
        wanted="on_held" in job.notify,
    )


_CAUSES_SHOWN = 5
_AGAIN_AFTER = timedelta(hours=20)  # a failure that lasts rings once a night
_DAYS_A_NOTICE = 10
_LOST_FOR_GOOD = timedelta(days=14)
_TO_EXPLAIN = (Fate.INVALID, Fate.BLOCKED, Fate.REFUSED, Fate.HELD, Fate.IN_DOUBT)


def note_outcome(parts: Parts, job: JobSpec, outcome: JobOutcome, *, day: date, until: datetime | None = None) -> None:
    """Write down what is wrong with a run that came to an end, and what is over with it.

    until: how long it goes on by itself, None if it does not.
    """
    code, stopping = outcome.exit_code, parts.stop.is_set()
    if code == ExitCode.STOPPED_EARLY and stopping:
        return  # somebody ended the program; its next start goes on with it
    line = _without_names(parts, job, outcome, outcome.line)
    stopped = bool(outcome.cause) or code not in RAN_THROUGH  # what is held outranks a stop in the exit code
    if stopped and not stopping:
        _note(parts, job, "on_failure", day, cause=_shape(outcome.cause), text=_failure_text(job, day, line, until))
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


def _note_held(parts: Parts, job: JobSpec, outcome: JobOutcome, *, day: date, line: str) -> None:
    """What waits for a person after a run, unless all of it waited before, or `expect` tells of it."""
    text = _held_text(job, outcome, line, _causes(parts, job, outcome))
    if not isinstance(outcome.report, RunReport):
        _note(parts, job, "on_held", day, cause=str(day), text=text)
    elif is_news(parts, job.name, outcome.report.run) and not _is_watched_for(parts, job, outcome.report):
        _note(parts, job, "on_held", day, text=text, key=held_key(job.name, outcome.report.run))


def _without_names(parts: Parts, job: JobSpec, outcome: JobOutcome, text: str) -> str:
    names = outcome.report.names if isinstance(outcome.report, RunReport) else ()
    return without_names(parts, job, text, names)


def _is_watched_for(parts: Parts, job: JobSpec, report: RunReport) -> bool:
    """Whether all that a person has to look at is an empty file, and people are told of that as of the day's file."""
    rules = {file.rule for file in parts.ledger.files.of_run(run=report.run) if file.rule}
    if rules != {"file|empty"} or report.counts[Fate.HELD] or report.counts[Fate.IN_DOUBT]:
        return False
    return any(each.kind == Coming.EMPTY and each.wanted for each in parts.ledger.notices.open(job=job.name))


def note_error(
    parts: Parts, job: JobSpec, error: LogisticsBatchError, *, day: date, until: datetime | None = None
) -> None:
    """Write down that a run could not be made, or broke off; until: how long it is tried by itself."""
    if error.exit_code in (ExitCode.STOPPED_EARLY, ExitCode.BUSY) and parts.stop.is_set():
        return
    last = next(iter(parts.ledger.runs.latest(job=job.name, limit=1)), None)
    names = [file.name for file in parts.ledger.files.of_run(run=last.id)] if last else []
    words = without_names(parts, job, f"{error.message} {error.remedy}".strip(), names)
    text = _failure_text(job, day, words, until)
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


def _failure_text(job: JobSpec, day: date, cause: str, until: datetime | None) -> str:
    by_hand = f"`logistics-batch run {job.name} --business-date {day}`"
    step = f"it goes on by itself until {until:%H:%M}; at once with {by_hand}" if until else f"then {by_hand}"
    return f"{cause}\nWhat to do: mend that, {step}"


def _held_text(job: JobSpec, outcome: JobOutcome, line: str, causes: list[str]) -> str:
    report, commands = outcome.report, []
    if not isinstance(report, RunReport) or report.counts[Fate.IN_DOUBT]:
        commands.append("`logistics-batch settle` for what is in doubt")
    commands.append("`logistics-batch held list` for what is held")
    if isinstance(report, RunReport):
        commands.append(f"`logistics-batch runs show {report.run}` for why")
        if isinstance(job, PushJob) and job.source.quarantine and report.held_files:
            commands.append(f"files held as a whole lie in {job.source.quarantine}, each with a note")
    return "\n".join([f"{line}.", *causes, f"What to do: {', '.join(commands)}."])


def _rows_text(job: JobSpec, outcome: JobOutcome, line: str, causes: list[str]) -> str:
    run = outcome.report.run if isinstance(outcome.report, RunReport) else job.name
    command = f"the answers say it row by row; `logistics-batch runs show {run}` shows the first."
    return "\n".join([f"{line}.", *causes, f"What to do: {command}"])


def _causes(parts: Parts, job: JobSpec, outcome: JobOutcome) -> list[str]:
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


KIND = "digest"
_RUNS_AT_MOST = 2000


def note_digest(parts: Parts, *, now: datetime) -> None:
    """Write down the digest of the last 24 hours, as something to be told once."""
    key = f"|digest|{now.date()}"
    parts.ledger.notices.note(
        NewNotice(key, KIND, "", f"Digest of {now:%Y-%m-%d}", digest_text(parts, now=now), now.date().isoformat()),
        now=now.isoformat(),
    )
    parts.ledger.notices.over(key, "", now=now.isoformat())


def digest_text(parts: Parts, *, now: datetime) -> str:
    """A line for each job that ran, then what is open, then what was noticed."""
    since = now - timedelta(days=1)
    ran = [
        run for run in parts.ledger.runs.latest(limit=_RUNS_AT_MOST) if datetime.fromisoformat(run.started_at) > since
    ]
    lines = ["Ran since yesterday:" if ran else "Nothing ran since yesterday."]
    for job in sorted({run.job for run in ran}):
        lines.append(f"  {job}: {_of_job([run for run in ran if run.job == job])}")
    fates = document_fates(parts.ledger)
    doubts, held = fates[Fate.IN_DOUBT], fates[Fate.HELD]
    if doubts or held:
        lines.append(f"Open: {doubts} in doubt (`logistics-batch settle`), {held} held (`logistics-batch held list`).")
    unsent = sum(each.documents for each in parts.ledger.documents.never_sent())
    if unsent:
        lines.append(f"Unsent: {unsent} documents of runs that stopped early (`logistics-batch doctor` names them).")
    whole, left = (sum(counts.values()) for counts in parts.ledger.files.counts_of_waiting_files())
    if whole or left:
        lines.append(f"Files: {whole} held as a whole (`logistics-batch held list`), {left} left where they lie.")
    noticed = [each for each in parts.ledger.notices.notices_since(since.isoformat()) if each.kind != KIND]
    lasting = {each.key: each for each in parts.ledger.notices.open()} | {
        each.key: each for each in noticed if not each.over_at
    }
    lines += [f"Lasts since {each.since[:16]}: {each.title}" for each in lasting.values()]
    lines += [f"Over: {each.title}" for each in noticed if each.over_at]
    if not lasting and not (doubts or held or unsent or whole or left):
        lines.append("Nothing is open.")
    return "\n".join(lines)


def _of_job(runs: list[StoredRun]) -> str:
    total: Counter[str] = Counter()
    for run in runs:
        total.update({name: count for name, count in run.summary.items() if isinstance(count, int)})
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in total.items() if count)
    ended = Counter(run.exit_code for run in runs)
    codes = ", ".join(f"exit {code}" + (f" ({n})" if n > 1 else "") for code, n in ended.items() if code is not None)
    return "; ".join(part for part in (f"{len(runs)} runs" if len(runs) > 1 else "1 run", codes, counts) if part)


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that is over: its job, the day it was for, and how it ended.

    calendar: that of `expect`. until: how long it may be tried again by itself if it stopped early.
    """

    job: JobSpec
    day: date
    end: JobOutcome | LogisticsBatchError
    calendar: Calendar = EVERY_DAY
    until: datetime | None = None

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
        if isinstance(self.end, JobOutcome):
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
    now = parts.clock.now()
    until = ran.until if ran.until and now < ran.until and was_cut_short(ran.end) else None
    at = until.astimezone(now.tzinfo) if until else None
    try:
        if isinstance(ran.job, PushJob):  # first: what is told of a day's file is not told a second time
            watch_files(parts, ran.job, ran.calendar, now=now)
            watch_left_files(parts, ran.job)
        if isinstance(ran.end, JobOutcome):
            note_outcome(parts, ran.job, ran.end, day=ran.day, until=at)
        else:
            note_error(parts, ran.job, ran.end, day=ran.day, until=at)
    except LogisticsBatchError as error:
        words = f"what should be known of it was not kept: {error.message}"
        log.say("notice_lost", words, job=ran.job.name, level="error")


def was_cut_short(end: JobOutcome | LogisticsBatchError | None) -> bool:
    """Whether a run ended before its end, also where what is in doubt outranks that in its exit code."""
    if isinstance(end, JobOutcome) and end.cause:
        return True
    return end is None or isinstance(end, LedgerRefused) or end.exit_code in (ExitCode.STOPPED_EARLY, ExitCode.BUSY)


def _numbers(end: JobOutcome | LogisticsBatchError) -> dict[str, object]:
    if isinstance(end, JobOutcome) and isinstance(end.report, RunReport):
        report = end.report
        rows = {fate.value: count for fate, count in report.counts.items() if count}
        return {"run": report.run, "files": len(report.files), "left": report.left, "rows": rows}
    return {}
