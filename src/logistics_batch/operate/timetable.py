"""When jobs run next, and how they ended last."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from logistics_batch.ledger import Ledger
from logistics_batch.model.calendar import EVERY_DAY, Calendar
from logistics_batch.model.job import JobSpec
from logistics_batch.operate.agenda import planned_job


def timetable(
    jobs: Sequence[JobSpec], calendars: Mapping[str, Calendar], ledger: Ledger, *, now: datetime, service_zone: str
) -> list[dict[str, object]]:
    """A line for each job: its next planned time in its own zone, and its last run.

    calendars: those of schedules, by the job's name.
    """
    lines: list[dict[str, object]] = []
    for job in jobs:
        plan = planned_job(job, service_zone=service_zone, calendar=calendars.get(job.name, EVERY_DAY))
        slot = plan.next_slot(now) if plan else None
        last = next(iter(ledger.runs.latest(job=job.name, limit=1)), None)
        lines.append(
            {
                "job": job.name,
                "kind": job.kind,
                "cron": job.schedule.cron.text if job.schedule and job.schedule.cron else None,
                "schedule": plan.text if plan else None,
                "timezone": plan.zone.key if plan and plan.timing else None,
                "next_run": slot.at.isoformat(timespec="minutes") if slot else None,
                "last_run": last.started_at if last else None,
                "last_run_id": last.id if last else None,
                "last_exit_code": last.exit_code if last else None,
            }
        )
    return lines
