"""The jobs with their times, running and pausing them; what ran, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from typing import Final

from logistics_batch.errors import UsageError
from logistics_batch.flows.push.run import past_run
from logistics_batch.ledger import StoredRun
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec, PushJob
from logistics_batch.model.report import Fate, FileReport, RunReport
from logistics_batch.operate.agenda import pause as pause_job
from logistics_batch.operate.agenda import pauses_of, planned_days, planned_times, timetable
from logistics_batch.operate.agenda import resume as resume_job
from logistics_batch.operate.file_watch import days_of_files
from logistics_batch.operate.run_job import JobOutcome, Order, run_account
from logistics_batch.web.workbench.asked import Moved, NotThere, PageData, PageRequest
from logistics_batch.web.workbench.people import DECIDE
from logistics_batch.web.workbench.rendering import in_address
from logistics_batch.web.workbench.work import Begun

_LATEST: Final = 50
_RUNS, _PAUSES, _LONGEST_REASON = 10, 10, 2000
_DAYS, _TRIED_SHOWN = 7, 20
_OWN_NOTES: Final = ("file.", "printing.", "sending.paused", "sending.released", "sending.slowed")


def timetable_page(asked: PageRequest) -> PageData:
    """The jobs, with their next and last runs, and the week to come."""
    jobs, calendars, wrong = asked.on.jobs()
    zone, now = asked.parts.policy.timezone, asked.parts.clock.now()
    week = planned_days(jobs, calendars, now=now, days=_DAYS, service_zone=zone)
    return PageData("jobs.html", {"jobs": _lines(asked, jobs, calendars), "jobs_wrong": wrong, "week": week})


def jobs_and_times(
    asked: PageRequest, *, within: timedelta
) -> tuple[list[dict[str, object]], list[dict[str, str]], str]:
    """A line for each job, the planned times around now for which no run began, and what is wrong with other jobs.

    within: how far the times lie from now.
    """
    jobs, calendars, wrong = asked.on.jobs()
    zone, now, ledger = asked.parts.policy.timezone, asked.parts.clock.now(), asked.parts.ledger
    times = planned_times(jobs, calendars, ledger, now=now, within=within, service_zone=zone)
    return _lines(asked, jobs, calendars), times, wrong


def _lines(asked: PageRequest, jobs: Sequence[JobSpec], calendars: Mapping[str, Calendar]) -> list[dict[str, object]]:
    """A line for each job."""
    zone, now = asked.parts.policy.timezone, asked.parts.clock.now()
    return timetable(jobs, calendars, asked.parts.ledger, now=now, service_zone=zone)


def job(asked: PageRequest) -> PageData:
    """One job: when it runs, whether it is paused and was, what was begun here, and its last runs."""
    mark = asked.mark
    name = asked.path["name"]
    jobs, calendars, wrong = asked.on.jobs()
    spec = next((each for each in jobs if each.name == name), None)
    if spec is None:
        raise NotThere(wrong or f"There is no job “{name}”.")
    ledger = asked.parts.ledger
    words = ("since", "title", "text", "over_at", "over_text")
    begun = next((each for each in asked.on.work.all() if each.key == _key(name)), None)
    (line,) = _lines(asked, [spec], calendars)
    data = line | {
        "may": asked.who.role in DECIDE,
        "pauses": [{word: getattr(each, word) for word in words} for each in pauses_of(ledger, name)[:_PAUSES]],
        "begun": asdict(begun) if begun else None,
        "today": asked.parts.clock.now().date().isoformat(),
        "expected": _expected(asked, spec),
        "runs": _shown(ledger.runs.latest(limit=_RUNS, job=name)),
        "mark": mark,
    }
    return PageData("job.html", data)


def _expected(asked: PageRequest, spec: JobSpec) -> list[dict[str, str]]:
    """How it stands with the file of each of the last days, today's first; none where no file has to come."""
    if not isinstance(spec, PushJob) or spec.expect is None:
        return []
    days = days_of_files(asked.parts, spec, asked.on.calendar(spec.expect.calendar), now=asked.parts.clock.now())
    return [
        {
            "day": each.day.isoformat(),
            "by": each.clock(each.deadline),
            "coming": found.coming.removeprefix("on_"),
            "text": found.text,
        }
        for each, found in days
    ]


def run_now(asked: PageRequest) -> Moved:
    """Run a job now, as `run` does, or try it: a dry run sends and writes nothing. It goes on behind the page."""
    name = _known(asked)
    text = asked.form.get("business_date", "") or asked.parts.clock.now().date().isoformat()
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise UsageError("The business date is no date.", remedy="Write it as 2026-11-21.") from None

    is_dry = asked.form.get("dry_run", "") == "yes"

    def work() -> tuple[str, str]:
        outcome = asked.on.run(name, Order(day, dry_run=is_dry))
        if is_dry:
            return _tried(outcome), ""
        latest = asked.parts.ledger.runs.latest(limit=1, job=name)
        return f"Exit {outcome.exit_code}: {outcome.line}", f"/runs/{latest[0].id}" if latest else ""

    what = f"dry run of {name} for {day}" if is_dry else f"{name} for {day}"
    begun = asked.on.work.begin(Begun(_key(name), what, asked.who.name, asked.now), work)
    return Moved(f"/jobs/{in_address(name)}", begun.outcome or f"{begun.what} runs now.")


def _tried(outcome: JobOutcome) -> str:
    """What a run would come to, file by file."""
    assert isinstance(outcome.report, RunReport), "other jobs have no dry run"
    files = outcome.report.files
    told = [f"{file.file}: {file.reason or _counted(file)}" for file in files[:_TRIED_SHOWN]]
    more = [f"and {len(files) - _TRIED_SHOWN} files more"] if len(files) > _TRIED_SHOWN else []
    return f"Nothing was sent or written. {'; '.join([*told, *more]) or 'No file is there.'}"


def _counted(file: FileReport) -> str:
    return ", ".join(f"{count:,} {fate.value}" for fate, count in file.counts.items() if count) or "no rows"


def pause(asked: PageRequest) -> Moved:
    """Have the scheduler leave a job alone, with who and why."""
    name, why = _known(asked), _why(asked)
    return Moved(f"/jobs/{in_address(name)}", pause_job(replace(asked.parts, person=asked.who.name), name, why=why))


def resume(asked: PageRequest) -> Moved:
    """Let a paused job run by its schedule again, with who and why."""
    name, why = _known(asked), _why(asked)
    return Moved(f"/jobs/{in_address(name)}", resume_job(replace(asked.parts, person=asked.who.name), name, why=why))


def _known(asked: PageRequest) -> str:
    name = asked.form.get("job", "")
    if name not in {each.name for each in asked.on.jobs().usable}:
        raise UsageError(f"There is no job “{name}”.", remedy="Open the page again.")
    return name


def _why(asked: PageRequest) -> str:
    why = " ".join(asked.form.get("reason", "").split())
    if not why or len(why) > _LONGEST_REASON:
        raise UsageError("The reason is missing, or longer than a page.", remedy="Say why in a sentence; it is kept.")
    return why


def _key(job: str) -> str:
    return f"job {job}"


def runs(asked: PageRequest) -> PageData:
    """What ran, the newest first, also of one job."""
    job = asked.query.get("job", "")
    found = asked.parts.ledger.runs.latest(limit=_LATEST, job=job or None)
    return PageData("runs.html", {"runs": _shown(found), "job": job, "most": _LATEST})


def _shown(found: Sequence[StoredRun]) -> list[dict[str, object]]:
    """Runs in a list."""
    names = ("id", "job", "kind", "business_date", "state", "started_at", "finished_at", "exit_code", "stopped")
    return [
        {name: getattr(each, name) for name in names} | {"counts": {n: c for n, c in each.summary.items() if c}}
        for each in found
    ]


def _is_its_own(note: Issue) -> bool:
    """Whether a run says this of its own files, and not of what other runs left behind."""
    return note.code.startswith(_OWN_NOTES)


def run(asked: PageRequest) -> PageData:
    """One run: how far it is, what became of its files, what it noted, and what to do next."""
    mark = asked.mark
    try:
        past = past_run(asked.parts, asked.path["name"])
    except UsageError as error:
        raise NotThere(error.message) from error
    account = run_account(asked.parts, past)
    data = {name: value for name, value in account.items() if name != "reports"} | {  # a path of this machine
        "id": past.stored.id,
        "job": past.stored.job,
        "state": past.stored.state,
        "exit_code": past.stored.exit_code,
        "stopped": past.stored.stopped,
        "notes": [each.reason for each in past.report.notes if not asked.who.partners or _is_its_own(each)],
        "files": [
            {
                "id": file.id,
                "name": file.name,
                "held": file.reason,
                "rows_read": file.rows_read,
                "counts": {fate.value: tally.counts[fate] for fate in Fate if tally.counts.get(fate)},
            }
            for file, tally in past.files
        ],
    }
    if past.stored.state == "running":
        data |= {"documents": asked.parts.ledger.documents.states_of(past.stored.id), "mark": mark}
    return PageData("run.html", data)
