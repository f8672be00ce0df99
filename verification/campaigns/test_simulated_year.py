"""A year on a played clock, in zones with and without clock changes: every planned time runs exactly once.

The scheduler is there most of the time. It is restarted, is away for two hours, and its clock goes ahead and back.
What had to run is counted by another hand: every quarter of an hour, from the local clock alone. The sample plays the
weeks around both clock changes of one zone, with three times the troubles; `CAMPAIGN=full` the whole year of all zones.
"""

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from campaigns.scale import FULL, SEED, report

from logistics_batch.jobs import parse_job
from logistics_batch.ledger import Ledger, open_ledger
from logistics_batch.operate.agenda import Agenda, PlannedJob, planned_job

LORD_HOWE = "Australia/Lord_Howe"  # whose clock changes by half an hour, on 5 April and 4 October
ALL = (
    LORD_HOWE,
    *(
        "Europe/Berlin",
        "America/New_York",
        "Europe/London",
        "America/St_Johns",
        "America/Sao_Paulo",
        "Africa/Casablanca",
    ),
    *("Asia/Tehran", "Pacific/Chatham", "America/Santiago", "UTC"),
)
JOBS = {
    "small-hours": 'schedule: {cron: "30 2 * * *", missed: all, grace: 8h}',
    "nightly": 'schedule: {cron: "15 21 * * mon-sat", missed: all, grace: 8h}',
    "interval": "schedule: {every: 12h, missed: all, grace: 8h}",
}
WHOLE = (date(2026, 1, 1), date(2027, 1, 1))
SAMPLE = [(LORD_HOWE, (date(2026, 3, 20), date(2026, 4, 20))), (LORD_HOWE, (date(2026, 9, 20), date(2026, 10, 20)))]
MINUTE, QUARTER, HOUR = timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=1)


def planned(name: str, zone: str) -> PlannedJob:
    spec = parse_job(f"kind: settle\n{JOBS[name]}\n", name=name, path=f"jobs/{name}.yaml")
    found = planned_job(spec, service_zone=zone)
    assert found is not None
    return found


@dataclass(frozen=True)
class Span:
    """From one local midnight to another."""

    zone: ZoneInfo
    days: tuple[date, date]

    @property
    def begin(self) -> datetime:
        return self._midnight(self.days[0])

    @property
    def end(self) -> datetime:
        return self._midnight(self.days[1])

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), tzinfo=self.zone).astimezone(UTC)


def due_by_counting(span: Span) -> dict[str, dict[date, datetime]]:
    """For each daily job and local day: the first moment of real time at which the local clock has reached its time."""
    times = {"small-hours": time(2, 30), "nightly": time(21, 15)}
    found: dict[str, dict[date, datetime]] = {name: {} for name in times}
    moment = span.begin
    while moment < span.end:
        local = moment.astimezone(span.zone)
        for name, due in times.items():
            if local.time() >= due and local.date() not in found[name]:
                found[name][local.date()] = moment
        moment += QUARTER
    found["nightly"] = {day: at for day, at in found["nightly"].items() if day.weekday() != 6}
    return found


@dataclass
class Scheduler:
    """What the threads do, without them: takes and ends what is due; knows when each slot was started."""

    ledger: Ledger
    jobs: list[PlannedJob]
    started: dict[str, list[tuple[date, datetime]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.agenda = Agenda(self.ledger)

    def look(self, clock: datetime) -> None:
        for job in self.jobs:
            while due := self.agenda.take(job, clock):
                self.started.setdefault(f"{job.name} {due.name}", []).append((due.business_date, clock))
                self.ledger.slots.end(job.name, due.name, exit_code=0, now=clock.isoformat())


def live_through(scheduler: Scheduler, span: Span, seed: int) -> dict[str, int]:
    """The span, with its troubles; gives how many of each there were."""
    dice = random.Random(seed)
    end, often = span.end, 1 if FULL else 3
    now = span.begin - MINUTE
    troubles: Counter[str] = Counter()
    scheduler.look(now)
    while now < end:
        coming = [slot.at.astimezone(UTC) for job in scheduler.jobs if (slot := job.next_slot(now))]
        now = min(*coming, now + 11 * HOUR) + timedelta(seconds=dice.uniform(0, 5))
        trouble = dice.random() / often
        if trouble < 0.03:  # nobody is there for two hours, then it is started again
            now += 2 * HOUR
            scheduler.restart()
            troubles["away for two hours"] += 1
        elif trouble < 0.05:
            scheduler.restart()
            troubles["restarted"] += 1
        elif trouble < 0.07:  # the clock is set ahead by three hours, and back again
            scheduler.look(min(now + 3 * HOUR, end - MINUTE))
            scheduler.restart()
            troubles["clock ahead and back"] += 1
        elif trouble < 0.09:  # and behind, and right again
            scheduler.look(now - 3 * HOUR)
            troubles["clock behind and right"] += 1
        if now < end:
            scheduler.look(now)
    return dict(troubles)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Memory instead of a disk, where there is: thousands of commits, whose durability is tested elsewhere."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    yield path
    shutil.rmtree(path)


@pytest.mark.slow
@pytest.mark.parametrize(("zone_name", "days"), [(name, WHOLE) for name in ALL] if FULL else SAMPLE)
def test_every_planned_time_of_a_year_runs_exactly_once(zone_name: str, days: tuple[date, date], folder: Path) -> None:
    span = Span(ZoneInfo(zone_name), days)
    ledger = open_ledger(f"sqlite:///{folder / 'ledger.db'}", account="https://api.example.com")
    scheduler = Scheduler(ledger, [planned(name, zone_name) for name in JOBS])
    troubles = live_through(scheduler, span, SEED)
    ledger.close()

    assert {key for key, starts in scheduler.started.items() if len(starts) > 1} == set()
    expected = due_by_counting(span)
    for name, due in expected.items():
        ran = {day: at for key, [(day, at)] in scheduler.started.items() if key.startswith(f"{name} ")}
        assert ran.keys() == due.keys(), f"{name}: {sorted(ran.keys() ^ due.keys())}"
        early = {day for day in ran if ran[day] < due[day] - 3 * HOUR}
        late = {day for day in ran if ran[day] > due[day] + 5 * HOUR + MINUTE}  # away, and a clock that is ahead
        on_time = sum(due[day] <= ran[day] <= due[day] + MINUTE for day in ran)
        assert early == late == set()
        assert on_time > 0.8 * len(ran), "only where there was trouble it ran at another time"
    hours = (span.end - span.begin) / HOUR
    intervals = [key for key in scheduler.started if key.startswith("interval ")]
    assert len(intervals) in (int(hours / 12), int(hours / 12) + 1)
    assert min(troubles.values()) > (5 if FULL else 2)
    report("a year of planned times", zone=zone_name, slots=len(scheduler.started), troubles=troubles)
