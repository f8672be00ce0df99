"""Jobs by the clock: on time, one at a time, never twice, caught up once, and a clean stop."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import time_machine

from logistics_batch.errors import LedgerRefused
from logistics_batch.jobs import parse_job
from logistics_batch.ledger import Ledger, open_ledger
from logistics_batch.operate.schedule import Duty, PlannedJob, Scheduler, planned_jobs

KOLKATA = ZoneInfo("Asia/Kolkata")
LIMIT_SECONDS = 20.0


def job(cron: str = "15 21 * * *", *, missed: str = "last", grace: str = "6h", zone: str = "") -> PlannedJob:
    timezone = f", timezone: {zone}" if zone else ""
    text = f'kind: settle\nschedule: {{cron: "{cron}", missed: {missed}, grace: {grace}{timezone}}}\n'
    return planned_jobs([parse_job(text, name="nightly", path="jobs/nightly.yaml")], service_zone="Asia/Kolkata")[0]


@dataclass
class Night:
    """A scheduler under test with a real ledger for its slots."""

    ledger: Ledger
    work: Callable[[], None] = lambda: None
    ran_before: bool = False
    runs: list[date] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    ran: threading.Event = field(default_factory=threading.Event)
    left: list[str] = field(default_factory=list)

    def run(self, _name: str, day: date) -> str:
        self.runs.append(day)
        self.work()
        self.ran.set()
        return "exit 0"

    def claim(self, name: str, slot: str) -> bool:
        return self.ledger.claim_slot(name, slot, now=datetime.now(UTC).isoformat())

    def start(self, planned: PlannedJob, *, patience_seconds: float = LIMIT_SECONDS) -> threading.Thread:
        duty = Duty(run=self.run, claim=self.claim, has_run=lambda _name: self.ran_before, say=self.lines.append)
        scheduler = Scheduler([planned], duty)

        def serve() -> None:
            self.left = scheduler.serve(self.stop, patience_seconds=patience_seconds)

        thread = threading.Thread(target=serve)
        thread.start()
        return thread

    def end(self, thread: threading.Thread) -> None:
        self.stop.set()
        thread.join(LIMIT_SECONDS)
        assert not thread.is_alive()


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    ledger = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", account="https://api.example.com")
    yield Night(ledger)
    ledger.close()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=KOLKATA)


def test_a_job_runs_when_its_slot_comes(night: Night) -> None:
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(job())
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.runs == [date(2026, 11, 3)]
    assert night.lines == ["nightly: starts for 2026-11-03T21:15", "nightly: exit 0"]


def test_a_slot_that_another_scheduler_took_is_left_to_it(night: Night) -> None:
    asked = threading.Event()
    claim = night.claim

    def claimed_elsewhere(name: str, slot: str) -> bool:
        assert claim(name, slot)
        answer = claim(name, slot)
        asked.set()
        return answer

    night.claim = claimed_elsewhere  # type: ignore[method-assign]
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(job())
        assert asked.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.runs == []


def test_a_night_that_nobody_was_up_for_is_caught_up_once(night: Night) -> None:
    night.ran_before = True
    with time_machine.travel(at("2026-11-04T02:00:00"), tick=True):
        thread = night.start(job())
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
        again = Night(night.ledger, ran_before=True)
        again.end(again.start(job()))
    assert night.runs == [date(2026, 11, 3)]
    assert again.runs == []


@pytest.mark.parametrize(
    ("planned", "ran_before"),
    [
        (job(grace="2h"), True),  # longer ago than the grace
        (job(missed="none"), True),
        (job(), False),  # a new job has missed nothing
    ],
)
def test_a_missed_night_is_left_out_where_the_job_says_so(night: Night, planned: PlannedJob, ran_before: bool) -> None:
    night.ran_before = ran_before
    with time_machine.travel(at("2026-11-04T02:00:00"), tick=True):
        night.end(night.start(planned))
    assert night.runs == []


def test_a_slot_that_passes_while_the_job_still_runs_is_caught_up_after_it(night: Night) -> None:
    with time_machine.travel(at("2026-11-03T21:14:59.8"), tick=True) as clock:
        first = iter([True])

        def takes_three_slots() -> None:
            if next(first, False):
                clock.move_to(at("2026-11-03T21:17:30"))
            else:
                night.stop.set()

        night.work = takes_three_slots
        thread = night.start(job("* * * * *"))
        assert night.stop.wait(LIMIT_SECONDS)
        night.end(thread)
    assert [line for line in night.lines if "starts" in line] == [
        "nightly: starts for 2026-11-03T21:15",
        "nightly: starts for 2026-11-03T21:17",
    ]


def test_a_clock_that_is_set_back_runs_no_slot_again(night: Night) -> None:
    night.ran_before = True
    with time_machine.travel(at("2026-11-03T21:15:30"), tick=True) as clock:
        thread = night.start(job())
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
        clock.move_to(at("2026-11-03T21:14:59.9"))
        again = Night(night.ledger)
        asked = threading.Event()
        claim = again.claim

        def claim_and_tell(name: str, slot: str) -> bool:
            answer = claim(name, slot)
            asked.set()
            return answer

        again.claim = claim_and_tell  # type: ignore[method-assign]
        thread = again.start(job())
        assert asked.wait(LIMIT_SECONDS)
        again.end(thread)
    assert night.runs == [date(2026, 11, 3)]
    assert again.runs == []


def test_a_stop_waits_for_the_run_that_is_on_and_starts_no_other(night: Night) -> None:
    night.work = lambda: night.stop.wait(LIMIT_SECONDS) and None
    with time_machine.travel(at("2026-11-03T21:14:59.8"), tick=True):
        thread = night.start(job("* * * * *"))
        while not night.runs:
            threading.Event().wait(0.01)
        night.end(thread)
    assert night.left == []
    assert len(night.runs) == 1
    assert night.lines[-1] == "nightly: exit 0"


def test_a_stop_does_not_wait_for_ever(night: Night) -> None:
    release = threading.Event()
    night.work = lambda: release.wait(LIMIT_SECONDS) and None
    with time_machine.travel(at("2026-11-03T21:14:59.8"), tick=True):
        thread = night.start(job(), patience_seconds=0.05)
        while not night.runs:
            threading.Event().wait(0.01)
        night.end(thread)
    assert night.left == ["nightly"]
    release.set()


def test_a_ledger_that_cannot_be_written_runs_nothing_and_says_so(night: Night) -> None:
    def refuse(_name: str, _slot: str) -> bool:
        night.ran.set()
        raise LedgerRefused("The ledger cannot be written: disk full.", remedy="Free some space.")

    night.claim = refuse  # type: ignore[method-assign]
    with time_machine.travel(at("2026-11-03T21:14:59.8"), tick=True):
        thread = night.start(job())
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.runs == []
    assert night.lines == [
        "nightly: not run for 2026-11-03T21:15: The ledger cannot be written: disk full. Free some space."
    ]


def test_a_schedule_is_read_in_its_own_zone_or_in_that_of_the_service() -> None:
    now = at("2026-11-03T12:00")
    assert job().next_slot(now).at.isoformat() == "2026-11-03T21:15:00+05:30"
    assert job(zone="Europe/Berlin").next_slot(now).at.isoformat() == "2026-11-03T21:15:00+01:00"


def test_a_job_without_a_schedule_is_not_planned() -> None:
    spec = parse_job("kind: settle\n", name="settle", path="jobs/settle.yaml")
    assert planned_jobs([spec], service_zone="Asia/Kolkata") == []
