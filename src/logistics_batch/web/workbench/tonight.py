"""What needs a person now, how the last nights went, and finding anything by any name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from logistics_batch.ledger import StoredRun
from logistics_batch.model.report import Fate
from logistics_batch.web.workbench.asked import PageData, PageRequest
from logistics_batch.web.workbench.decisions import held_for
from logistics_batch.web.workbench.documents import line_of
from logistics_batch.web.workbench.jobs import jobs_and_times
from logistics_batch.web.workbench.reconciliation import exceptions_with

_NIGHTS, _BESIDE_NOW = 30, timedelta(hours=12)
_RUNS_LOOKED_AT = 400
_MOST = 50


def tonight(asked: PageRequest) -> PageData:
    """What needs a person now, oldest first; the jobs of the night; how many rows of the last nights came to what."""
    parts, mark = asked.parts, asked.mark
    held = held_for(asked)
    runs = parts.ledger.runs.latest(limit=_RUNS_LOOKED_AT)
    kinds = Counter(
        "files to approve"
        if str(each.id).startswith("preview-")
        else "files held as a whole"
        if each.file
        else "addresses"
        if each.is_address
        else "documents held"
        for each in held
    )
    doubts = parts.ledger.attempts.in_doubt()
    notices = [
        {"since": each.since, "job": each.job, "kind": each.kind, "title": each.title, "text": each.text}
        for each in parts.ledger.notices.open()
    ]
    lines, times, wrong = jobs_and_times(asked, within=_BESIDE_NOW)
    data = {
        "now": asked.now,
        "held": dict(kinds),
        "in_doubt": len(doubts),
        "oldest_doubt": min((each.doubt_since for each in doubts), default=""),
        "notices": notices,
        "jobs": lines,
        "jobs_wrong": wrong,
        "going": [
            {"id": each.id, "job": each.job, "started_at": each.started_at}
            | {"documents": parts.ledger.documents.states_of(each.id)}
            for each in runs
            if each.state == "running"
        ],
        "time_line": _time_line(asked, runs, times),
        "nights": _nights(runs),
        "mark": mark,
    }
    return PageData("tonight.html", data)


def _time_line(asked: PageRequest, runs: Sequence[StoredRun], times: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The jobs of twelve hours before and after now: what ran, runs, is late and is planned; the earliest job first.

    start and length: of each mark, as shares of the whole.
    """
    parts, now = asked.parts, asked.parts.clock.now()
    first = now - _BESIDE_NOW

    def share(moment: datetime) -> float:
        return round((moment - first) / (2 * _BESIDE_NOW), 9)

    by_job: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        if (began := datetime.fromisoformat(run.started_at)) < first:
            continue
        ended = datetime.fromisoformat(run.finished_at) if run.finished_at else now
        mark = {"state": _state_of(run), "at": run.started_at, "until": run.finished_at, "run": run.id}
        length = round((ended - began) / (2 * _BESIDE_NOW), 9)
        by_job.setdefault(run.job, []).append(mark | {"start": share(began), "length": length})
    for each in times:
        mark = {"state": each["state"], "at": each["at"], "until": "", "run": ""}
        start = share(datetime.fromisoformat(each["at"]))
        by_job.setdefault(each["job"], []).append(mark | {"start": start, "length": 0.0})
    for marks in by_job.values():
        marks.sort(key=lambda mark: mark["start"])
    in_order = sorted(by_job.items(), key=lambda each: each[1][0]["start"])
    zone = ZoneInfo(parts.policy.timezone)
    whole = now.astimezone(zone).replace(minute=0, second=0, microsecond=0)
    hours = [whole + timedelta(hours=hour) for hour in range(-11, 13) if (whole + timedelta(hours=hour)).hour % 3 == 0]
    return {
        "jobs": [{"job": job, "marks": marks} for job, marks in in_order],
        "hours": [{"text": f"{each:%H:%M}", "start": share(each)} for each in hours],
    }


def _state_of(run: StoredRun) -> str:
    if run.state == "running":
        return "running"
    return {0: "done", 3: "with rows to correct", 4: "with rows in doubt"}.get(run.exit_code or 0, "stopped")


def _nights(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """The last business dates with how many rows had which fate, the oldest first."""
    by_day: dict[str, Counter[str]] = {}
    for run in runs:
        if run.kind == "push":
            counts = {fate.value: int(run.summary.get(fate.value, 0)) for fate in Fate}
            by_day.setdefault(run.business_date, Counter()).update(counts)
    days = sorted(by_day)[-_NIGHTS:]
    return [{"day": day, "fates": {fate: n for fate, n in by_day[day].items() if n}} for day in days]


def find(asked: PageRequest) -> PageData:
    """Orders, ASNs, files and runs with a name beginning so, and exceptions whose supplier, site or SKU holds it."""
    wanted = asked.query.get("q", "").strip()[:200]
    parts = asked.parts
    documents = parts.ledger.documents.named(wanted, limit=_MOST) if wanted else []
    files = parts.ledger.files.latest(beginning=wanted, limit=_MOST) if wanted else []
    run = parts.ledger.runs.get(wanted) if wanted else None
    data = {
        "q": wanted,
        "most": _MOST,
        "documents": [line_of(each, asked.who) for each in documents],
        "files": [
            {"id": each.id, "name": each.name, "run": each.run, "received_at": each.received_at} for each in files
        ],
        "runs": [{"id": run.id, "job": run.job, "started_at": run.started_at}] if run else [],
        "reconciliations": exceptions_with(asked, wanted),
    }
    return PageData("find.html", data)
