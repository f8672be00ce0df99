"""A night shift on a clock of its own: the real watch, ledger, jobs, files, service and alerts; only time is played.

Time moves in steps. At each step everything that the scheduler would do is done: due jobs run, expected files are
looked for, lost days are said, people are told.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.event_receiver import Receiver
from support.hurry import hurry
from support.workspace import Workspace

from logistics_batch.cli.commands.night import _loaded
from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.job import JobSpec
from logistics_batch.operate.agenda import Agenda
from logistics_batch.operate.alerts import Teller, addresses
from logistics_batch.operate.heartbeat import sign_of
from logistics_batch.operate.log import Log
from logistics_batch.operate.run_job import JobOutcome, Order, run_job
from logistics_batch.operate.run_notices import Ran, observe
from logistics_batch.operate.watch import NightWatch, Station
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Wired

KOLKATA = ZoneInfo("Asia/Kolkata")


@dataclass
class PlayedClock:
    """A clock that stands still until it is set; waiting takes no time, but is counted for deadlines."""

    at: datetime
    waited: float = 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.waited

    def sleep(self, seconds: float) -> None:
        self.waited += seconds
        threading.Event().wait(min(seconds, 0.01))


@dataclass
class Shift:
    """The watch over a workspace, and what people were told."""

    workspace: Workspace
    clock: PlayedClock
    people: Receiver | None = None
    told: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._around, self._patch = ExitStack(), pytest.MonkeyPatch()
        hurry(self._patch.setattr)
        self.wired = Wired(self.workspace.root)
        self.open()

    def open(self) -> None:
        """The scheduler starts."""
        self._around.close()
        self._around = ExitStack()
        self.parts: Parts = self._around.enter_context(self._parts())
        log = Log(self.lines.append, self.clock.now)
        to = addresses([f"json://{self.people.url.removeprefix('http://')}"] if self.people else [])
        station = Station(
            parts=self.parts,
            log=log,
            run_job=self._run,
            teller=lambda: Teller(self.parts.ledger, to, "night-shift"),
            heartbeat=sign_of(self.workspace.root),
            digest=lambda: time(7, 0),
        )
        self.watch = NightWatch(station, Agenda(self.parts.ledger))
        self.watch.start(_loaded(self.wired, self.wired.settings()))

    def close(self) -> None:
        self._around.close()
        self._patch.undo()

    @contextmanager
    def _parts(self) -> Iterator[Parts]:
        with self.wired.parts(Need(stop=self.stop)) as parts:
            yield replace(parts, clock=self.clock)

    def _run(self, job: JobSpec, day: date, _slot: str = "") -> JobOutcome:
        with self._parts() as parts:
            return run_job(parts, job, Order(day, queues=True))

    def look(self) -> None:
        """One look of the scheduler, with everything that it does."""
        for plan in self.watch.planned():
            while due := self.watch.take(plan, self.clock.now()):
                self.watch.run(plan, due)
        self.watch.watch_files()
        self.watch.sweep()
        self.watch.tell()
        self._hear()

    def until(self, moment: str, *, step: timedelta | None = None) -> list[str]:
        """Let time pass, looking at each step; gives the titles of what people were told meanwhile.

        Without a step: every quarter of an hour in the evening, when things happen, and every two hours else.
        """
        end = datetime.fromisoformat(moment).replace(tzinfo=KOLKATA)
        before = len(self.told)
        while self.clock.at < end:
            evening = time(20, 30) <= self.clock.at.time() < time(23, 0)
            next_at = self.clock.at + (step or (timedelta(minutes=15) if evening else timedelta(hours=2)))
            if not evening and not step:
                next_at = min(next_at, next_at.replace(hour=20, minute=30) if next_at.hour >= 20 else next_at)
            self.clock.at = min(next_at, end)
            self.look()
        return [title for title, _ in self.told[before:]]

    def by_hand(self, name: str) -> int:
        """Somebody types `run NAME`; people are told of its end as of any other's. Gives its exit code."""
        job, _, calendar = self.watch.jobs[name]
        end: JobOutcome | LogisticsBatchError
        try:
            end = self._run(job, self.clock.at.date())
        except LogisticsBatchError as error:
            end = error
        ended = Ran(job, self.clock.at.date(), end, calendar)
        now = self.clock.at.isoformat()
        self.parts.ledger.slots.note_round(name, ended.day.isoformat(), exit_code=ended.exit_code, now=now)
        observe(self.parts, ended, self.watch.at.log)
        return ended.exit_code

    def sleep_until(self, moment: str) -> None:
        """Nobody is there: the machine is off."""
        self.clock.at = datetime.fromisoformat(moment).replace(tzinfo=KOLKATA)
        self.open()

    def _hear(self) -> None:
        while self.people and not self.people.events.empty():
            body = self.people.next()[1]
            self.told.append((body["title"], body["message"]))


def ran(shift: Shift) -> list[str]:
    """Every start, as the log has it, without the time of the line."""
    return [line.split(" ", 1)[1] for line in shift.lines if " starts for " in line]


def in_folder(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir()) if path.is_dir() else []
