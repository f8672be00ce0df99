"""What people should know: of a run, of what waits after it, and of each day; told once, until it is over.

Nothing here comes from rows: only names of jobs, what their patterns say of files, rules, numbers, and our own
messages. A notice of a run lasts as long as anything of that run waits, whatever other runs and jobs do meanwhile. A
later run in which only the same waits is no news; one with something new is told of its own.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import sha256

import polars as pl

from logistics_batch.errors import LedgerRefused, LogisticsBatchError, ProgramFailed
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import RAN_THROUGH, ClaimLost, NewNotice, StoredFile, StoredNotice, StoredRun
from logistics_batch.messages import clock_time, moment, without_values
from logistics_batch.model.answers import result_stem
from logistics_batch.model.counting import counted, summed_up
from logistics_batch.model.jobs.calendar import EVERY_DAY, Calendar
from logistics_batch.model.jobs.job import JobSpec, PushJob
from logistics_batch.model.report import ExitCode, Fate, FileReport, RunReport
from logistics_batch.model.run_reports import SettleReport
from logistics_batch.operate.file_watch import Coming, shown_name, watch_files, without_names
from logistics_batch.operate.log import Log
from logistics_batch.operate.metrics import document_fates
from logistics_batch.operate.run_job import OF_REPORTS, JobOutcome

_LEFT_FOR = timedelta(hours=1)  # an upload may take its time
_TOLD_ONE_BY_ONE = 20
_CAUSES_SHOWN = 5
_AGAIN_AFTER = timedelta(hours=20)  # a failure that lasts rings once a night
_DAYS_A_NOTICE = 10
_LOST_FOR_GOOD = timedelta(days=14)
_TO_EXPLAIN = (Fate.INVALID, Fate.BLOCKED, Fate.REFUSED, Fate.HELD, Fate.IN_DOUBT)
_SETTLED = "Nothing of it is in doubt or held any more, and no row is to be corrected."
_CORRECTED = "No row of it is to be corrected any more."
_TITLES = {
    "on_failure": "{job} failed for {day}",
    "on_held": "{job}: something waits for a person ({day})",
    "on_invalid_rows": "{job}: not everything could be done ({day})",
    "on_success": "{job} ran for {day}",
}


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
        is_stop = was_cut_short(self.end) and self.exit_code in RAN_THROUGH
        return int(ExitCode.STOPPED_EARLY) if is_stop else self.exit_code

    @property
    def line(self) -> str:
        """How it ended, in numbers or in the words of an error."""
        return self.end.line if isinstance(self.end, JobOutcome) else f"{self.end.message} {self.end.remedy}".rstrip()

    @property
    def push(self) -> RunReport | None:
        """The report of a push."""
        return self.end.report if isinstance(self.end, JobOutcome) and isinstance(self.end.report, RunReport) else None


def was_cut_short(end: JobOutcome | LogisticsBatchError | None) -> bool:
    """Whether a run ended before its end, also where what is in doubt outranks that in its exit code."""
    if isinstance(end, JobOutcome) and end.cause:
        return True
    return end is None or isinstance(end, LedgerRefused) or end.exit_code in (ExitCode.STOPPED_EARLY, ExitCode.BUSY)


def observe(parts: Parts, ran: Ran, log: Log) -> None:
    """Write down what a person should know of a run, and log it."""
    numbers: dict[str, object] = {}
    if report := ran.push:
        rows = {fate.value: count for fate, count in report.counts.items() if count}
        numbers = {"run": report.run, "files": len(report.files), "left": report.left, "rows": rows}
    log.say(
        "run_ended",
        f"exit {ran.exit_code}: {ran.line}",
        job=ran.job.name,
        level="info" if ran.exit_code == 0 else "warning",
        exit_code=ran.exit_code,
        business_date=ran.day.isoformat(),
        **numbers,
    )
    try:
        if isinstance(ran.job, PushJob):  # first: what is told of a day's file is not told a second time
            watch_files(parts, ran.job, ran.calendar, now=parts.clock.now())
            watch_left_files(parts, ran.job)
        note_end(parts, ran)
    except LogisticsBatchError as error:
        words = f"what should be known of it was not kept: {error.message}"
        log.say("notice_lost", words, job=ran.job.name, level="error")


def note_end(parts: Parts, ran: Ran) -> None:
    """Write down what is wrong with a run that is over, and what is over with it."""
    job, end, code, stopping = ran.job, ran.end, ran.exit_code, parts.stop.is_set()
    if stopping and code in (ExitCode.STOPPED_EARLY, ExitCode.BUSY):
        return  # somebody ended the program; its next start goes on with it
    if isinstance(end, ClaimLost):
        return  # another program goes on with it
    if isinstance(end, LogisticsBatchError):
        last = next(iter(parts.ledger.runs.latest(job=job.name, limit=1)), None)
        names = [file.name for file in parts.ledger.files.of_run(run=last.id)] if last else []
        text = _failure_text(parts, ran, without_names(parts, job, ran.line, names))
        cause = _shape(f"{type(end).__name__} {end.message}")
        _note(parts, ran, "on_failure", cause=cause, text=text, wanted=isinstance(end, ProgramFailed))
        return
    report = ran.push
    line = without_names(parts, job, end.line, report.names if report else ())
    stopped = bool(end.cause) or code not in RAN_THROUGH  # what is held outranks a stop in the exit code
    if stopped and not stopping:
        _note(parts, ran, "on_failure", cause=_shape(end.cause), text=_failure_text(parts, ran, line))
    waited_before = isinstance(end.report, SettleReport) and not (end.report.open or end.report.held)
    if code == ExitCode.DOUBT and not waited_before:
        _note_held(parts, ran, line)
    elif code == ExitCode.ROWS_NOT_DONE:
        shown = f"`logistics-batch runs show {report.run if report else job.name}` shows the first."
        _, do = OF_REPORTS.get((job.kind, code), ("", f"The answers say it row by row; {shown}"))
        text = "\n".join([f"{line}.", *_causes(parts, ran), f"What to do: {do}"])
        _note(parts, ran, "on_invalid_rows", cause=str(ran.day), text=text)
    elif code == ExitCode.DONE and "on_success" in job.notify:
        key = _note(parts, ran, "on_success", cause=end.line, text=f"{line}.")
        _over(parts, key, "")
    if not stopped:
        _end_what_is_over(parts, job, code)


def _note_held(parts: Parts, ran: Ran, line: str) -> None:
    """What waits for a person after a run, unless all of it waited before, or `expect` tells of it."""
    job, report = ran.job, ran.push
    commands = ["`logistics-batch held list` for what is held"]
    if report is None or report.counts[Fate.IN_DOUBT]:
        commands.insert(0, "`logistics-batch settle` for what is in doubt")
    if report:
        commands.append(f"`logistics-batch runs show {report.run}` for why")
        if isinstance(job, PushJob) and job.source.quarantine and report.held_files:
            commands.append(f"files held as a whole lie in {job.source.quarantine}, each with a note")
    _, do = OF_REPORTS.get((job.kind, ran.exit_code), ("", f"{', '.join(commands)}."))
    text = "\n".join([f"{line}.", *_causes(parts, ran), f"What to do: {do}"])
    if report is None:
        _note(parts, ran, "on_held", cause=str(ran.day), text=text)
    elif _is_news(parts, job.name, report.run) and not _is_watched_for(parts, job, report):
        _note(parts, ran, "on_held", text=text, key=f"{job.name}|on_held|run {report.run}")


def _run_of(notice: StoredNotice) -> str:
    """The run of which something waits, of which a notice tells; "" if it is about none."""
    return notice.key.partition("|on_held|run ")[2]


def _is_news(parts: Parts, job: str, run: str) -> bool:
    """Whether something of a run waits for a person that was not told of with an earlier one."""
    told = {_run_of(each) for each in parts.ledger.notices.open(job=job)} - {"", run}
    return bool(_waiting(parts, job, {run}) - _waiting(parts, job, told))


def _waiting(parts: Parts, job: str, runs: Collection[str]) -> set[str]:
    """What of some runs of a job waits for a person."""
    held = {f"file {each.id}" for each in parts.ledger.files.held(job=job) if each.run in runs}
    return held | {f"document {number}" for run in runs for number in parts.ledger.documents.open_documents_of(run)}


def _is_watched_for(parts: Parts, job: JobSpec, report: RunReport) -> bool:
    """Whether all that a person has to look at is an empty file, and people are told of that as of the day's file."""
    rules = {file.rule for file in parts.ledger.files.of_run(run=report.run) if file.rule}
    if rules != {"file|empty"} or report.counts[Fate.HELD] or report.counts[Fate.IN_DOUBT]:
        return False
    return any(each.kind == Coming.EMPTY and each.wanted for each in parts.ledger.notices.open(job=job.name))


def _note(parts: Parts, ran: Ran, kind: str, *, text: str, cause: str = "", key: str = "", wanted: bool = False) -> str:
    """Write a notice and give its key; people are told if the job's `notify` has its kind, or it is `wanted` anyway."""
    job, day = ran.job, ran.day
    key = key or f"{job.name}|{kind}|{sha256(cause.encode()).hexdigest()[:16]}"
    parts.ledger.notices.note(
        NewNotice(
            key=key,
            kind=kind,
            job=job.name,
            business_date=day.isoformat(),
            title=_title(ran, kind),
            text=text,
            wanted=wanted or kind in job.notify,
        ),
        now=parts.clock.now().isoformat(),
        again_if_told_before=(parts.clock.now() - _AGAIN_AFTER).isoformat() if kind == "on_failure" else "",
    )
    return key


def _title(ran: Ran, kind: str) -> str:
    of_report = OF_REPORTS.get((ran.job.kind, ran.exit_code)) if kind in ("on_invalid_rows", "on_held") else None
    title = f"{{job}}: {of_report[0]} ({{day}})" if of_report else _TITLES[kind]
    return title.format(job=ran.job.name, day=ran.day)


def _over(parts: Parts, key: str, text: str) -> None:
    parts.ledger.notices.over(key, text, now=parts.clock.now().isoformat())


def _shape(cause: str) -> str:
    """A cause without its numbers: the same trouble of another night, file or process is the same."""
    return "".join(sign for sign in cause if not sign.isdigit())[:200]


def _failure_text(parts: Parts, ran: Ran, cause: str) -> str:
    now, step = parts.clock.now(), f"`logistics-batch run {ran.job.name} --business-date {ran.day}`"
    if ran.until and now < ran.until and was_cut_short(ran.end):
        until = clock_time(ran.until.astimezone(now.tzinfo))
        step = f"it goes on by itself until {until}; at once with {step}"
    else:
        step = f"then {step}"
    return f"{cause}\nWhat to do: mend that, {step}"


def _causes(parts: Parts, ran: Ran) -> list[str]:
    """The commonest causes of rows that were not done, with how many rows; never their contents."""
    report = ran.push
    if report is None:
        return []
    causes: Counter[str] = Counter()
    whole = []
    for file in report.files:
        if file.held.code == "file|program_error":
            why = ": the program itself failed on it, the log says where"
        elif file.reason:
            why = f": {without_values(file.held.code, name='it')}"
        else:
            causes.update(_reasons(file))
            continue
        rows = f" ({counted(file.rows_read, 'row')})" if file.rows_read else ""
        whole.append(f"  {shown_name(parts, ran.job, file.file)} is held as a whole{rows}{why}")
    return [*whole, *(f"  {counted(number, 'row')} {cause}" for cause, number in causes.most_common())][:_CAUSES_SHOWN]


def _reasons(file: FileReport) -> Counter[str]:
    """Why rows of a file were not done, in words without values; of several in a row the first."""
    first = {(issue.sheet or file.sheet, issue.row): issue.code for issue in reversed(file.issues)}
    found: Counter[str] = Counter()
    rows = file.rows.filter(pl.col("fate").is_in([each.value for each in _TO_EXPLAIN]))
    for sheet, row, fate, code in rows.select("sheet", "row", "fate", "code").iter_rows():
        why = without_values(first.get((sheet, row), code)) or "see the answers"
        found[f"{fate.replace('_', ' ')}: {why}"] += 1
    return found


def _end_what_is_over(parts: Parts, job: JobSpec, code: int) -> None:
    """After a run that came to its end: failures are over; what was held, when nothing of the job is any more.

    Not a lost day, and not a file of a job that cannot be used. What the job told without naming a run is over once it
    came to its end with nothing in doubt or held.
    """
    for each in parts.ledger.notices.open(job=job.name):
        if each.kind == "on_invalid_rows" and isinstance(job, PushJob):
            if not _is_to_correct(parts, each, parts.ledger.files.of_day(job.name, each.business_date)):
                _over(parts, each.key, _CORRECTED)
        elif "|on_failure|" in each.key or (each.kind == "on_invalid_rows" and code == ExitCode.DONE):
            _over(parts, each.key, f"{job.name} ran again and came to its end.")
        elif each.kind == "on_held" and code != ExitCode.DOUBT and not _run_of(each) and "|left|" not in each.key:
            _over(parts, each.key, _SETTLED)
    end_what_is_settled(parts)


def end_what_is_settled(parts: Parts) -> None:
    """Whatever of a run waited for a person waits no more, and its rows are corrected: that is over, too."""
    for each in parts.ledger.notices.open():
        run = _run_of(each)
        if not run or _waiting(parts, each.job, {run}):
            continue
        if not _is_to_correct(parts, each, parts.ledger.files.of_run(run=run)):
            _over(parts, each.key, _SETTLED)


def _is_to_correct(parts: Parts, notice: StoredNotice, files: Sequence[StoredFile]) -> bool:
    """Whether a row of some files has to be corrected yet, by what came last under the name of each; for two weeks."""
    if datetime.fromisoformat(notice.since) < parts.clock.now() - _LOST_FOR_GOOD:
        return False
    for stem, mapping in {(result_stem(file.name), file.mapping) for file in files}:
        came = [each for each in parts.ledger.files.named(stem) if result_stem(each.name) == stem]
        last = [each for each in came if each.mapping == mapping][-1]
        if parts.ledger.documents.is_to_correct(last.id):
            return True
    return False


def watch_left_files(parts: Parts, job: PushJob) -> None:
    """Tell of files that lie there for a while and are not taken, and that they are gone."""
    left, now = parts.ledger.files.left(job=job.name), parts.clock.now()
    told = {each.key for each in parts.ledger.notices.open(job=job.name) if "|left|" in each.key}
    lying = {f"{job.name}|left|{sha256(each.name.encode()).hexdigest()[:16]}": each for each in left}
    for key in told - lying.keys():
        _over(parts, key, "It was taken, or is gone from there.")
    long = [key for key, each in lying.items() if now - datetime.fromisoformat(each.since) >= _LEFT_FOR]
    for key in long[:_TOLD_ONE_BY_ONE]:
        if key in told:
            continue
        each = lying[key]
        name, why = shown_name(parts, job, each.name), without_names(parts, job, each.why.reason, [each.name])
        more = f" {len(left) - 1:,} more are left." if len(left) > 1 else ""
        notice = NewNotice(
            key=key,
            kind="on_held",
            job=job.name,
            title=f"{job.name}: something lies there and is not taken",
            text=(
                f"{name} lies there since {moment(each.since)} or longer: {why.rstrip('.')}.{more}\nWhat to do: put "
                f"that right where it lies, or remove it. `logistics-batch runs show {job.name}` names what the latest "
                "run left."
            ),
            wanted="on_held" in job.notify,
        )
        parts.ledger.notices.note(notice, now=now.isoformat())


def note_lost_days(parts: Parts, job: str, days: list[date], *, why: str, wanted: bool) -> None:
    """Write down that for some business dates nothing ran, and nothing will by itself."""
    for start in range(0, len(days), _DAYS_A_NOTICE):
        some = [day.isoformat() for day in days[start : start + _DAYS_A_NOTICE]]
        commands = "\n".join(f"  logistics-batch run {job} --business-date {day}" for day in some)
        notice = NewNotice(
            key=f"{job}|lost|{','.join(some)}",
            kind="on_failure",
            job=job,
            business_date=some[0],
            title=f"{job}: did not run for {', '.join(some)}",
            text=f"{why}\nWhat to do, if it is still wanted:\n{commands}",
            wanted=wanted,
        )
        parts.ledger.notices.note(notice, now=parts.clock.now().isoformat())


def end_lost_days(parts: Parts) -> None:
    """Days for which nothing had run are over once each of them was run, or after two weeks in which nobody did."""
    for each in parts.ledger.notices.open():
        days = each.key.partition("|lost|")[2]
        if not days:
            continue
        if all(parts.ledger.slots.rounds_of(each.job, day) for day in days.split(",")):
            _over(parts, each.key, f"{each.job} was run for each of these days.")
        elif datetime.fromisoformat(each.since) < parts.clock.now() - _LOST_FOR_GOOD:
            _over(parts, each.key, "Nobody ran it in the two weeks since.")


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
        lines.append(
            f"Unsent: {counted(unsent, 'document')} of runs that stopped early (`logistics-batch doctor` names them)."
        )
    whole, left = (sum(counts.values()) for counts in parts.ledger.files.counts_of_waiting_files())
    if whole or left:
        lines.append(f"Files: {whole} held as a whole (`logistics-batch held list`), {left} left where they lie.")
    noticed = [each for each in parts.ledger.notices.notices_since(since.isoformat()) if each.kind != KIND]
    lasting = {each.key: each for each in parts.ledger.notices.open()} | {
        each.key: each for each in noticed if not each.over_at
    }
    lines += [f"Lasts since {moment(each.since)}: {each.title}" for each in lasting.values()]
    lines += [f"Over: {each.title}" for each in noticed if each.over_at]
    if not lasting and not (doubts or held or unsent or whole or left):
        lines.append("Nothing is open.")
    return "\n".join(lines)


def _of_job(runs: list[StoredRun]) -> str:
    total: Counter[str] = Counter()
    for run in runs:
        total.update({name: count for name, count in run.summary.items() if isinstance(count, int)})
    counts = summed_up(total)
    ended = Counter(run.exit_code for run in runs)
    codes = ", ".join(f"exit {code}" + (f" ({n})" if n > 1 else "") for code, n in ended.items() if code is not None)
    return "; ".join(part for part in (f"{len(runs)} runs" if len(runs) > 1 else "1 run", codes, counts) if part)
