"""Jobs by the clock, in threads: on time, one run at a time, a clock that is set, a clean stop."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import time_machine
from support.until import until

from logistics_batch.errors import LedgerRefused, LogisticsBatchError
from logistics_batch.jobs import parse_job
from logistics_batch.ledger import Ledger, open_ledger
from logistics_batch.operate import schedule
from logistics_batch.operate.agenda import Agenda, Due, PlannedJob, planned_job
from logistics_batch.operate.schedule import Chore, Scheduler

KOLKATA = ZoneInfo("Asia/Kolkata")
LIMIT_SECONDS = 20.0


def job(cron: str = "15 21 * * *", *, name: str = "nightly", more: str = "") -> PlannedJob:
    text = f'kind: settle\nschedule: {{cron: "{cron}"{more}}}\n'
    planned = planned_job(parse_job(text, name=name, path=f"jobs/{name}.yaml"), service_zone="Asia/Kolkata")
    assert planned is not None
    return planned


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=KOLKATA)


@dataclass
class Night:
    """A scheduler under test, with a real ledger for its slots."""

    ledger: Ledger
    work: Callable[[], None] = lambda: None
    runs: list[date] = field(default_factory=list)
    went: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    ran: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)
    left: list[str] = field(default_factory=list)
    refusal: LogisticsBatchError | None = None
    chores: list[Chore] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.agenda = Agenda(self.ledger)

    def take(self, job: PlannedJob, now: datetime, *, waited: timedelta) -> Due | None:
        try:
            if self.refusal:
                raise self.refusal
            return self.agenda.take(job, now, waited=waited)
        finally:
            self.asked.set()

    def last_begun(self, now: datetime) -> Mapping[str, str]:
        return self.agenda.last_begun(now)

    def due(self, jobs: Iterable[PlannedJob], now: datetime) -> list[PlannedJob]:
        return self.agenda.due(jobs, now)

    def run(self, job: PlannedJob, due: Due) -> None:
        self.said.append(f"starts for {due.name}")
        self.runs.append(due.business_date)
        self.went.append(job.name)
        self.work()
        self.ledger.slots.end(job.name, due.name, exit_code=0, now=datetime.now(UTC).isoformat())
        self.said.append("ended")
        self.ran.set()

    def not_taken(self, job: PlannedJob, error: LogisticsBatchError) -> None:
        self.said.append(f"{job.name}: {error.message}")

    def clock_was_set(self, seconds: float) -> None:
        self.said.append("forward" if seconds > 0 else "back")

    def failed(self, name: str, error: Exception) -> None:
        self.said.append(f"{name}: {type(error).__name__}")
        self.ran.set()

    def start(self, *planned: PlannedJob, patience_seconds: float = LIMIT_SECONDS) -> threading.Thread:
        self.scheduler = Scheduler(self, self.stop, self.chores)
        for each in planned:  # known a little before, however long the machine takes to start the threads
            seen = datetime.now(UTC) - timedelta(seconds=20)
            self.ledger.slots.schedule_seen(each.name, f"{each.text} {each.zone.key}", now=seen.isoformat())

        def serve() -> None:
            self.left = self.scheduler.serve(planned, patience_seconds=patience_seconds)

        thread = threading.Thread(target=serve)
        thread.start()
        return thread

    def end(self, thread: threading.Thread, *, at_once: bool = True) -> None:
        if at_once:
            self.stop.set()
        thread.join(LIMIT_SECONDS)
        assert not thread.is_alive()


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    ledger = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", account="https://api.example.com")
    yield Night(ledger)
    ledger.close()


def test_a_job_runs_when_its_slot_comes(night: Night) -> None:
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(job())
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.runs == [date(2026, 11, 3)]
    assert night.said == ["starts for 2026-11-03T21:15", "ended"]


def test_two_schedulers_run_a_slot_once(night: Night) -> None:
    other = Night(night.ledger, ran=night.ran)
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        threads = [night.start(job()), other.start(job())]
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(threads[0])
        other.end(threads[1])
    assert night.runs + other.runs == [date(2026, 11, 3)]


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
    assert [line for line in night.said if "starts" in line] == [
        "starts for 2026-11-03T21:15",
        "starts for 2026-11-03T21:17",
    ]


def test_a_clock_that_is_set_back_runs_no_slot_again_and_the_next_one_on_time(night: Night) -> None:
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True) as clock:
        thread = night.start(job(), job("0 20 * * *", name="early"))
        assert night.ran.wait(LIMIT_SECONDS)
        night.ran.clear()
        clock.move_to(at("2026-11-03T19:59:58"))
        assert night.ran.wait(LIMIT_SECONDS), "the timer waits for the time before the clock was set"
        night.end(thread)
    assert [line for line in night.said if line != "ended"] == [
        "starts for 2026-11-03T21:15",
        "back",
        "starts for 2026-11-03T20:00",
    ]


def test_a_clock_that_goes_ahead_by_a_year_catches_up_without_going_through_all_of_it(night: Night) -> None:
    with time_machine.travel(at("2026-11-03T21:10:25"), tick=True) as clock:
        thread = night.start(job("* * * * *"))
        assert night.asked.wait(LIMIT_SECONDS)
        clock.move_to(at("2027-11-03T21:10:30"))
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.runs[0] == date(2027, 11, 3)


def test_a_stop_waits_for_the_run_that_is_on_and_starts_no_other(night: Night) -> None:
    night.work = lambda: night.stop.wait(LIMIT_SECONDS) and None
    with time_machine.travel(at("2026-11-03T21:14:59.8"), tick=True):
        thread = night.start(job("* * * * *"))
        while not night.runs:
            threading.Event().wait(0.01)
        night.end(thread)
    assert night.left == []
    assert len(night.runs) == 1
    assert night.said[-1] == "ended"


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


def test_a_ledger_that_cannot_be_written_starts_nothing_until_it_can(night: Night) -> None:
    night.refusal = LedgerRefused("The ledger cannot be written: disk full.")
    with time_machine.travel(at("2026-11-03T21:14:59.8"), tick=True):
        thread = night.start(job())
        while not night.said:
            threading.Event().wait(0.01)
        assert night.runs == []
        night.refusal = None
        night.scheduler.look()
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.said[0] == "nightly: The ledger cannot be written: disk full."
    assert night.runs == [date(2026, 11, 3)]


def test_a_job_runs_as_soon_as_the_one_before_it_has_ended(night: Night) -> None:
    after = planned_job(
        parse_job("kind: settle\nafter: [nightly]\n", name="then", path="jobs/then.yaml"), service_zone="Asia/Kolkata"
    )
    assert after is not None
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(job(), after)
        while len(night.runs) < 2:
            threading.Event().wait(0.01)
        night.end(thread)
    assert [line for line in night.said if "starts" in line] == [
        "starts for 2026-11-03T21:15",
        "starts for 2026-11-03 round 1",
    ]


def test_a_new_list_of_jobs_is_taken_over_while_it_runs(night: Night) -> None:
    with time_machine.travel(at("2026-11-03T20:59:58"), tick=True) as clock:
        thread = night.start(job("0 22 * * *"))
        assert night.asked.wait(LIMIT_SECONDS)
        night.scheduler.plan([job("0 21 * * *"), job("30 21 * * *", name="new")])
        assert night.ran.wait(LIMIT_SECONDS)
        night.ran.clear()
        clock.move_to(at("2026-11-03T21:29:58"))
        assert night.ran.wait(LIMIT_SECONDS)
        night.scheduler.plan([])
        while night.scheduler.running():
            threading.Event().wait(0.01)
        night.asked.clear()
        clock.move_to(at("2026-11-03T22:00:01"))
        assert not night.asked.wait(2)
        night.end(thread)
    assert [line for line in night.said if "starts" in line] == [
        "starts for 2026-11-03T21:00",
        "starts for 2026-11-03T21:30",
    ]


def test_an_error_of_the_program_ends_neither_the_scheduler_nor_tells_its_text(night: Night) -> None:
    def breaks() -> None:
        raise ZeroDivisionError("98765 43210, 12 Market Road")

    night.work = breaks
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(job())
        assert night.ran.wait(LIMIT_SECONDS)
        night.end(thread)
    assert night.said == ["starts for 2026-11-03T21:15", "nightly: ZeroDivisionError"]


def test_a_chore_is_done_again_and_again(night: Night) -> None:
    counted = threading.Semaphore(0)
    night.chores = [Chore("count", 0.05, counted.release)]
    thread = night.start()
    for _ in range(3):
        assert counted.acquire(timeout=LIMIT_SECONDS)
    night.end(thread)


def test_chores_are_done_however_many_jobs_wait(night: Night) -> None:
    over, counted, begun = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def waits() -> None:
        begun.release()
        over.wait(LIMIT_SECONDS)

    night.work, night.chores = waits, [Chore("count", 0.05, counted.release)]
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(*(job(name=f"job-{number}") for number in range(20)))
        assert begun.acquire(timeout=LIMIT_SECONDS)
        while counted.acquire(blocking=False):
            pass
        for _ in range(3):
            assert counted.acquire(timeout=LIMIT_SECONDS / 4)
        over.set()
        night.end(thread)


def test_what_waits_for_its_turn_is_left_to_other_programs(night: Night) -> None:
    over = threading.Event()
    night.work = lambda: over.wait(LIMIT_SECONDS) and None
    jobs, other = [job(name=f"job-{number}") for number in range(schedule._SENDERS + 3)], Night(night.ledger)
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True):
        thread = night.start(*jobs)
        until(lambda: len(night.went) == schedule._SENDERS and len(night.scheduler.waiting()) == len(jobs))
        other_thread = other.start(*jobs)
        until(lambda: len(other.went) == 3)
        over.set()
        other.end(other_thread)
        night.end(thread)
    assert sorted([*night.went, *other.went]) == [each.name for each in jobs]


def test_jobs_that_make_up_for_many_times_take_turns(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_SENDERS", 1)

    def work() -> None:
        if len(night.went) == 1:
            until(lambda: len(night.scheduler.waiting()) == 3)
        elif len(night.went) == 9:
            night.stop.set()

    night.work = work
    jobs = [job("10-12 21 * * *", name=name, more=", missed: all") for name in ("one", "two", "three")]
    with time_machine.travel(at("2026-11-03T20:00:00"), tick=True) as clock:
        for each in jobs:
            night.agenda.due([each], datetime.now(UTC))  # known since then
        clock.move_to(at("2026-11-03T21:30:00"))
        night.end(night.start(*jobs), at_once=False)
    rounds = [sorted(night.went[number : number + 3]) for number in (0, 3, 6)]
    assert rounds == [["one", "three", "two"]] * 3


def test_a_job_that_another_program_just_ran_waits_behind_the_others(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "_SENDERS", 1)
    jobs = [job("10-12 21 * * *", name=name, more=", missed: all") for name in ("one", "two", "three")]

    def another_runs_the_next() -> None:
        until(lambda: len(night.scheduler.waiting()) == 3)
        if len(night.went) == 1:
            following = next(each for each in jobs if each.name == next(iter(night.scheduler._senders.waiting)))
            due = Agenda(night.ledger).take(following, datetime.now(UTC))
            assert due is not None
            night.ledger.slots.end(following.name, due.name, exit_code=0, now=datetime.now(UTC).isoformat())
            night.went.append(following.name)
        else:
            night.stop.set()

    night.work = another_runs_the_next
    with time_machine.travel(at("2026-11-03T20:00:00"), tick=True) as clock:
        for each in jobs:
            night.agenda.due([each], datetime.now(UTC))  # known since then
        clock.move_to(at("2026-11-03T21:30:00"))
        night.end(night.start(*jobs), at_once=False)
    assert sorted(night.went) == ["one", "three", "two"]


def test_a_job_that_waited_for_its_turn_is_not_late(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_SENDERS", 1)
    first = iter([True])

    def takes_long() -> None:
        if next(first, False):
            until(lambda: len(night.scheduler.waiting()) == 2)
            clock.move_to(at("2026-11-03T21:45"))

    night.work = takes_long
    with time_machine.travel(at("2026-11-03T21:14:59.5"), tick=True) as clock:
        thread = night.start(*(job(name=name, more=", missed: none") for name in ("one", "two")))
        until(lambda: len(night.went) == 2)
        night.end(thread)
    assert sorted(night.went) == ["one", "two"]
