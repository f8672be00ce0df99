"""The jobs with their times, what ran, and what came of it."""

from typing import Final

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.flows.push.run import past_run
from logistics_batch.operate.agenda import timetable
from logistics_batch.operate.run_job import run_account
from logistics_batch.web.workbench.asked import NotThere, PageData, PageRequest

_LATEST: Final = 50


def timetable_page(asked: PageRequest) -> PageData:
    """The jobs, with their next and last runs."""
    lines, wrong = jobs_of(asked)
    return PageData("jobs.html", {"jobs": lines, "jobs_wrong": wrong})


def jobs_of(asked: PageRequest) -> tuple[list[dict[str, object]], str]:
    """A line for each job; or none and why, where a job's file is wrong just now."""
    parts = asked.parts
    try:
        jobs, calendars = asked.on.jobs()
    except (UsageError, SettingsError) as error:
        return [], f"{error.message} {error.remedy}".strip()
    zone = parts.policy.timezone
    return timetable(jobs, calendars, parts.ledger, now=parts.clock.now(), service_zone=zone), ""


def runs(asked: PageRequest) -> PageData:
    """What ran, the newest first, also of one job."""
    job = asked.query.get("job", "")
    found = asked.parts.ledger.runs.latest(limit=_LATEST, job=job or None)
    shown = [
        {
            name: getattr(each, name)
            for name in ("id", "job", "kind", "business_date", "state", "started_at", "finished_at")
        }
        | {"exit_code": each.exit_code, "stopped": each.stopped, "counts": {n: c for n, c in each.summary.items() if c}}
        for each in found
    ]
    return PageData("runs.html", {"runs": shown, "job": job, "most": _LATEST})


def run(asked: PageRequest) -> PageData:
    """One run: what became of its files, what it noted, and what to do next."""
    try:
        past = past_run(asked.parts, asked.path["name"])
    except UsageError as error:
        raise NotThere(error.message) from error
    account = run_account(asked.parts, past)
    files = asked.parts.ledger.files.of_run(run=past.stored.id)
    reports = list(past.report.files)
    data = {name: value for name, value in account.items() if name != "reports"} | {  # a path of this machine
        "id": past.stored.id,
        "job": past.stored.job,
        "state": past.stored.state,
        "exit_code": past.stored.exit_code,
        "stopped": past.stored.stopped,
        "notes": [each.reason for each in past.report.notes],
        "files": [
            {
                "id": file.id,
                "name": file.name,
                "held": report.reason,
                "rows_read": report.rows_read,
                "counts": {fate.value: n for fate, n in report.counts.items() if n},
            }
            for file, report in zip(files, reports, strict=False)  # one may come between the two questions
        ],
    }
    return PageData("run.html", data)
