"""Jobs by the clock: each at its slots, one run of a job at a time, no slot twice; the only door to APScheduler.

APScheduler keeps the time and the threads. When a job is due is our own reading of cron (`model.cron`), because
APScheduler's takes 0 for Monday and its misfire grace drops late runs in silence. Which slot a run is for is decided
when it starts: the latest one that is due, if nobody has taken it yet. So a slot that passes while the job still runs,
or while nothing ran at all, is caught up once.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.events import EVENT_JOB_ERROR, JobExecutionEvent
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.model.cron import Cron, Slot
from logistics_batch.model.job import JobSpec, Missed

_LATE_SECONDS = 60.0  # a run that starts this late is still on time
_LOOK_AGAIN_SECONDS = 30.0  # the clock of the machine may have been set, or the machine may have slept
_LONGEST_MISFIRE_SECONDS = 10 * 366 * 86400  # whether a run is too late is decided here, not by APScheduler


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job with a schedule; a slot older than `late_seconds` is left out."""

    name: str
    cron: Cron
    zone: ZoneInfo
    catches_up: bool
    late_seconds: float

    def next_slot(self, now: datetime) -> Slot:
        """The next time at which the job is due."""
        return self.cron.next_slot(now, self.zone)

    def due_slot(self, now: datetime) -> Slot | None:
        """The latest slot that a run starting now would be for; None if that is too long ago."""
        return self.cron.last_slot(since=now - timedelta(seconds=self.late_seconds), until=now, zone=self.zone)


def planned_jobs(jobs: Sequence[JobSpec], *, service_zone: str) -> list[PlannedJob]:
    """Those jobs that have a schedule; a schedule without a time zone is in the service's."""
    return [
        PlannedJob(
            name=job.name,
            cron=job.schedule.cron,
            zone=job.schedule.zone(service_zone),
            catches_up=job.schedule.missed is Missed.LAST,
            late_seconds=max(job.schedule.grace_seconds if job.schedule.missed is Missed.LAST else 0.0, _LATE_SECONDS),
        )
        for job in jobs
        if job.schedule is not None
    ]


@dataclass(frozen=True, slots=True)
class Duty:
    """What a scheduler needs of the rest.

    run: one run of a job for a business date; gives a line for the log and raises nothing for what can go wrong in it.
    claim: takes a slot of a job, False if it was taken before. has_run: whether a job ever ran.
    say: a line for the log.
    """

    run: Callable[[str, date], str]
    claim: Callable[[str, str], bool]
    has_run: Callable[[str], bool]
    say: Callable[[str], None]


class Scheduler:
    """Runs jobs at their slots until it is told to stop."""

    def __init__(self, jobs: Sequence[PlannedJob], duty: Duty) -> None:
        self._jobs = list(jobs)
        self._duty = duty
        self._stop = threading.Event()
        self._running: set[str] = set()
        self._changed = threading.Condition()

    def serve(self, stop: threading.Event, *, patience_seconds: float) -> list[str]:
        """Run jobs until `stop` is set; then start none, and wait for those that run, at most so long.

        Returns the names of the jobs that still run.
        """
        pool = ThreadPoolExecutor(max_workers=max(1, len(self._jobs)))
        scheduler = BackgroundScheduler(executors={"default": pool}, timezone=UTC)
        scheduler.add_listener(self._report_failure, EVENT_JOB_ERROR)
        for job in self._jobs:
            self._add(scheduler, job)
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # it logs tracebacks; see _report_failure
        scheduler.start()
        try:
            while not stop.wait(_LOOK_AGAIN_SECONDS):
                scheduler.wakeup()
        finally:
            self._stop.set()
            scheduler.shutdown(wait=False)
        return self._wait_for_running(patience_seconds)

    def _add(self, scheduler: BackgroundScheduler, job: PlannedJob) -> None:
        now = datetime.now(UTC)
        looks_back = job.catches_up and self._duty.has_run(job.name)  # a job that never ran has missed nothing
        scheduler.add_job(
            self._run_due,
            _Slots(job),
            args=[job],
            id=job.name,
            next_run_time=now if looks_back else job.next_slot(now).at,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=_LONGEST_MISFIRE_SECONDS,
        )

    def _report_failure(self, event: JobExecutionEvent) -> None:
        # An error of the program; its text may hold data of a row, so only its kind is logged.
        self._duty.say(f"{event.job_id}: the program itself failed ({type(event.exception).__name__})")

    def _run_due(self, job: PlannedJob) -> None:
        """Run the job for its due slot, and again for one that came due meanwhile."""
        with self._changed:
            if job.name in self._running:
                return  # the thread that runs it looks for this slot before it ends
            self._running.add(job.name)
        with ExitStack() as on_failure:
            on_failure.callback(self._let_go, job)
            while slot := self._take_slot(job):
                self._duty.say(f"{job.name}: starts for {slot.name}")
                self._duty.say(f"{job.name}: {self._duty.run(job.name, slot.business_date)}")
            on_failure.pop_all()

    def _take_slot(self, job: PlannedJob) -> Slot | None:
        """The slot to run for; None if there is none, and then the job no longer counts as running."""
        with self._changed:
            slot = None if self._stop.is_set() else job.due_slot(datetime.now(UTC))
            if slot is not None and self._is_mine(job, slot):
                return slot
            self._let_go(job)
            return None

    def _let_go(self, job: PlannedJob) -> None:
        with self._changed:
            self._running.discard(job.name)
            self._changed.notify_all()

    def _is_mine(self, job: PlannedJob, slot: Slot) -> bool:
        try:
            return self._duty.claim(job.name, slot.name)
        except LogisticsBatchError as error:
            self._duty.say(f"{job.name}: not run for {slot.name}: {error.message} {error.remedy}".rstrip())
            return False

    def _wait_for_running(self, patience_seconds: float) -> list[str]:
        ends_at = time.monotonic() + patience_seconds
        with self._changed:
            while self._running and (left := ends_at - time.monotonic()) > 0:
                self._changed.wait(left)
            return sorted(self._running)


class _Slots(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """A job's slots as APScheduler wants to be told of them."""

    def __init__(self, job: PlannedJob) -> None:
        self._job = job

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """The first slot after the previous time at which the job was looked at."""
        return self._job.next_slot(previous_fire_time or now).at
