"""Jobs by the clock: one run of a job at a time, no planned time twice; the only door to APScheduler.

APScheduler keeps the time and the threads. When a job is due is our own reading of cron (`model.jobs.timing`), because
APScheduler's takes 0 for Monday and its misfire grace drops late runs in silence; which planned time a run is for is
decided when it starts (`operate.agenda`). APScheduler waits by the wall clock: where that was set, all jobs are looked
at anew.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.operate.agenda import Due, PlannedJob
from logistics_batch.operate.watch import NightWatch

_LOOK_SECONDS = 1.0  # how often the clock is compared with one that nobody sets
_SET_BY_SECONDS = 20.0  # a difference that is no drift
_FAR_AWAY = timedelta(days=400)  # a job without a next time is looked at again then
_LONGEST_MISFIRE_SECONDS = 10 * 366 * 86400  # whether a run is too late is decided by the agenda
_SENDERS, _OTHERS = 4, 8  # runs abreast; one sends at a time, and others fetch their files meanwhile


@dataclass(frozen=True, slots=True)
class Chore:
    """Something done again and again beside the jobs; never twice at the same moment."""

    name: str
    every_seconds: float
    do: Callable[[], None]


@dataclass
class _Line:
    """Jobs that wait for one of some threads, and since when."""

    threads: futures.Executor
    waiting: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Scheduler:
    """Runs jobs at their times until it is told to stop."""

    duty: NightWatch
    stop: threading.Event
    chores: Sequence[Chore] = ()
    _jobs: dict[str, PlannedJob] = field(default_factory=dict)
    _running: dict[str, datetime] = field(default_factory=dict)
    _poked: set[str] = field(default_factory=set)  # what was wanted while it ran
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _timer: BackgroundScheduler = field(default_factory=lambda: BackgroundScheduler(timezone=UTC))
    _senders: _Line = field(default_factory=lambda: _Line(futures.ThreadPoolExecutor(_SENDERS)))
    _others: _Line = field(default_factory=lambda: _Line(futures.ThreadPoolExecutor(_OTHERS)))

    def serve(self, jobs: Sequence[PlannedJob], *, patience_seconds: float) -> list[str]:
        """Run jobs until asked to stop; then start none, and wait for those that run, at most so long.

        Returns the names of what still runs.
        """
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # it logs tracebacks; see `NightWatch.failed`
        self.plan(jobs)
        for chore in self.chores:
            self._add(self._do_chore, _Again(chore.every_seconds), chore.name, chore)
        self._timer.start()
        try:
            self._watch_the_clock()
        finally:
            self._timer.shutdown(wait=False)
            with self._changed:
                for line in (self._senders, self._others):
                    line.threads.shutdown(wait=False, cancel_futures=True)
        return self._wait_for_running(patience_seconds)

    def plan(self, jobs: Sequence[PlannedJob]) -> None:
        """Take over a new list of jobs; a run that is on goes on."""
        wanted = {job.name: job for job in jobs}
        with self._changed:
            gone = [name for name, job in self._jobs.items() if wanted.get(name) != job]
            new = [job for name, job in wanted.items() if self._jobs.get(name) != job]
            self._jobs = wanted
        for name in gone:
            with suppress(JobLookupError):
                self._timer.remove_job(_job_id(name))
        for job in new:
            self._add(self._want, _Times(job), _job_id(job.name), job.name)

    def look(self) -> None:
        """Want every job for which something is due, whatever the timer thinks."""
        busy = self.waiting()
        with self._changed:
            jobs = [job for job in self._jobs.values() if job.name not in busy]
        try:
            due = self.duty.due(jobs, datetime.now(UTC))
        except LogisticsBatchError as error:
            for job in jobs:
                self.duty.not_taken(job, error)
            return
        for job in due:
            self._want(job.name)

    def waiting(self) -> Collection[str]:
        """The jobs that wait for their turn, or have it; whether anything is due is seen then."""
        with self._changed:
            return self._senders.waiting.keys() | self._others.waiting.keys() | self._running.keys()

    def running(self) -> Mapping[str, datetime]:
        """What runs now, and since when."""
        with self._changed:
            return dict(self._running)

    def _add(self, do: Callable[..., None], trigger: BaseTrigger, name: str, argument: object) -> None:
        self._timer.add_job(
            do,
            trigger,
            args=[argument],
            id=name,
            next_run_time=datetime.now(UTC),
            coalesce=True,
            max_instances=1,
            misfire_grace_time=_LONGEST_MISFIRE_SECONDS,
        )

    def _watch_the_clock(self) -> None:
        ahead = time.time() - time.monotonic()
        while not self.stop.wait(_LOOK_SECONDS):
            now_ahead = time.time() - time.monotonic()
            if abs(now_ahead - ahead) > _SET_BY_SECONDS:
                self.duty.clock_was_set(now_ahead - ahead)
                for job in self._timer.get_jobs():
                    with suppress(JobLookupError):  # it was over meanwhile
                        job.modify(next_run_time=datetime.now(UTC))
            ahead = now_ahead

    def _do_chore(self, chore: Chore) -> None:
        with self._changed:
            if self.stop.is_set():
                return
            self._running[name := f"chore {chore.name}"] = datetime.now(UTC)
        with self._letting_go(name):
            chore.do()

    def _want(self, name: str) -> None:
        """Let a job wait for its turn: a planned time is claimed by who can run it.

        Hundreds of jobs may be due at once, and other programs take what this one does not come to.
        """
        with self._changed:
            job = self._jobs.get(name)
            if name in self._running:
                self._poked.add(name)
            elif job and name not in self.waiting() and not self.stop.is_set():
                line = self._senders if job.sends else self._others
                line.waiting[name] = datetime.now(UTC)
                line.threads.submit(self._run_next, line)

    def _run_next(self, line: _Line) -> None:
        """Run that job which had no run for the longest, once for what is due; for what else is due it waits again."""
        began: Mapping[str, str] = {}
        if len(line.waiting) > 1:
            with suppress(LogisticsBatchError):  # then the one that waits longest
                began = self.duty.last_begun(datetime.now(UTC))
        with self._changed:
            name = min(line.waiting, key=lambda each: began.get(each, ""))
            since = line.waiting.pop(name)
            self._running[name] = datetime.now(UTC)
            self._poked.discard(name)
        with self._letting_go(name):
            if taken := self._take(name, since):
                self.duty.run(*taken)
        for job in list(self._jobs.values()):
            if name in job.after or (name == job.name and (taken or name in self._poked)):
                self._want(job.name)

    def _take(self, name: str, since: datetime) -> tuple[PlannedJob, Due] | None:
        """What to run now; None if there is nothing."""
        job = None if self.stop.is_set() else self._jobs.get(name)
        if job is None:
            return None
        now = datetime.now(UTC)
        try:
            due = self.duty.take(job, now, waited=now - since)
        except LogisticsBatchError as error:
            self.duty.not_taken(job, error)
            return None
        return (job, due) if due else None

    @contextmanager
    def _letting_go(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.duty.failed(name, error)
            raise
        finally:
            with self._changed:
                del self._running[name]
                self._changed.notify_all()

    def _wait_for_running(self, patience_seconds: float) -> list[str]:
        ends_at = time.monotonic() + patience_seconds
        with self._changed:
            while self._running and (left := ends_at - time.monotonic()) > 0:
                self._changed.wait(left)
            return sorted(self._running)


def _job_id(name: str) -> str:
    return f"job {name}"


class _Times(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """A job's planned times as APScheduler wants to be told of them: the next one, whatever it did before."""

    def __init__(self, job: PlannedJob) -> None:
        self._job = job

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:  # noqa: ARG002
        found = self._job.next_slot(now)
        return found.at if found else now + _FAR_AWAY


class _Again(BaseTrigger):  # type: ignore[misc]
    """So many seconds after it fired; after a clock that went ahead it fires once, not once for every interval."""

    def __init__(self, seconds: float) -> None:
        self._wait = timedelta(seconds=seconds)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:  # noqa: ARG002
        return now + self._wait
