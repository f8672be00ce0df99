"""When jobs run next, and how they ended last."""

from collections.abc import Sequence
from datetime import datetime

from logistics_batch.ledger import Ledger
from logistics_batch.model.job import JobSpec
from logistics_batch.operate.schedule import planned_jobs


def timetable(jobs: Sequence[JobSpec], ledger: Ledger, *, now: datetime, service_zone: str) -> list[dict[str, object]]:
    """A line for each job: its next slot in its own zone, and its last run."""
    planned = {each.name: each for each in planned_jobs(jobs, service_zone=service_zone)}
    lines: list[dict[str, object]] = []
    for job in jobs:
        plan = planned.get(job.name)
        last = next(iter(ledger.runs(job=job.name, limit=1)), None)
        lines.append(
            {
                "job": job.name,
                "kind": job.kind,
                "cron": plan.cron.text if plan else None,
                "timezone": plan.zone.key if plan else None,
                "next_run": plan.next_slot(now).at.isoformat(timespec="minutes") if plan else None,
                "last_run": last.started_at if last else None,
                "last_run_id": last.id if last else None,
                "last_exit_code": last.exit_code if last else None,
            }
        )
    return lines
