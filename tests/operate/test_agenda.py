"""What is due: caught up once, by business date, with calendars, after others, and never twice."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from logistics_batch.jobs import parse_job
from logistics_batch.ledger import Ledger, open_ledger
from logistics_batch.model.jobs.calendar import EVERY_DAY, Calendar
from logistics_batch.operate.agenda import Agenda, PlannedJob, planned_job, planned_times

KOLKATA = ZoneInfo("Asia/Kolkata")
NIGHTLY = 'schedule: {{cron: "15 21 * * *", missed: {missed}, grace: {grace}}}'
DIWALI = Calendar("in-holidays", frozenset({6}), {date(2026, 11, 9): "Diwali"}, {date(2026, 11, 15): "stock taking"})


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=KOLKATA)


def job(more: str, *, name: str = "nightly", calendar: Calendar = EVERY_DAY) -> PlannedJob:
    spec = parse_job(f"kind: settle\n{more}\n", name=name, path=f"jobs/{name}.yaml")
    planned = planned_job(spec, service_zone="Asia/Kolkata", calendar=calendar)
    assert planned is not None
    return planned


def nightly(missed: str = "last", grace: str = "6h") -> PlannedJob:
    return job(NIGHTLY.format(missed=missed, grace=grace))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", account="https://api.example.com")
    yield opened
    opened.close()


class Room:
    """A scheduler that is there from time to time: at each look it runs all that is due, with a given exit code."""

    def __init__(self, ledger: Ledger, *jobs: PlannedJob, seen: str = "2026-11-01T12:00") -> None:
        self.ledger, self.jobs, self.agenda = ledger, jobs, Agenda(ledger)
        self.codes: dict[str, int] = {}
        self.look(seen)

    def restart(self) -> None:
        self.agenda = Agenda(self.ledger)

    def look(self, now: str) -> list[str]:
        moment, ran = at(now), []
        for each in self.jobs:
            while due := self.agenda.take(each, moment):
                code = self.codes.get(each.name, 0)
                self.ledger.slots.end(each.name, due.name, exit_code=code, now=moment.isoformat())
                ran.append(due.name if len(self.jobs) == 1 else f"{each.name} {due.name}")
        return ran

    def lost(self, now: str) -> list[str]:
        return [str(day) for each in self.jobs for day in self.agenda.lost_days(each, at(now))]


def test_a_night_that_nobody_was_up_for_is_caught_up_once(ledger: Ledger) -> None:
    room = Room(ledger, nightly())
    assert room.look("2026-11-04T02:00") == ["2026-11-03T21:15"]
    room.restart()
    assert room.look("2026-11-04T02:01") == []
    assert room.lost("2026-11-04T02:01") == ["2026-11-01", "2026-11-02"]
    assert room.lost("2026-11-04T02:02") == []


@pytest.mark.parametrize(
    ("missed", "grace", "ran"),
    [
        ("last", "3d", ["2026-11-03T21:15"]),
        ("last", "2h", []),
        ("none", "3d", []),
        ("all", "3d", ["2026-11-01T21:15", "2026-11-02T21:15", "2026-11-03T21:15"]),
        ("all", "30h", ["2026-11-02T21:15", "2026-11-03T21:15"]),
    ],
)
def test_what_becomes_of_missed_nights_is_as_the_job_says(
    ledger: Ledger, missed: str, grace: str, ran: list[str]
) -> None:
    room = Room(ledger, nightly(missed, grace))
    assert room.look("2026-11-04T02:00") == ran
    missing = {"2026-11-01", "2026-11-02", "2026-11-03"} - {name[:10] for name in ran}
    assert set(room.lost("2026-11-04T02:00")) == missing, "each night without a run is told"
    assert room.look("2026-11-04T02:00") == []


def test_a_new_job_has_missed_nothing_and_neither_has_a_new_time(ledger: Ledger) -> None:
    room = Room(ledger, nightly(), seen="2026-11-03T23:00")
    assert room.look("2026-11-03T23:00") == []
    room.jobs = (job('schedule: {cron: "30 20 * * *"}'),)
    assert room.look("2026-11-03T23:01") == []
    assert room.look("2026-11-04T20:30") == ["2026-11-04T20:30"]


def test_a_job_of_an_earlier_version_is_known_since_it_ran(ledger: Ledger) -> None:
    ran = at("2026-11-03T20:00").isoformat()
    ledger.runs.start("R1", job="nightly", kind="settle", business_date="2026-11-03", now=ran)
    assert Room(ledger, nightly(), seen="2026-11-03T20:30").look("2026-11-03T23:00") == ["2026-11-03T21:15"]


def test_a_clock_that_was_ahead_takes_no_night_away(ledger: Ledger) -> None:
    room = Room(ledger, nightly(grace="3d"))
    assert room.look("2026-11-01T21:15") == ["2026-11-01T21:15"]
    assert room.look("2026-11-04T22:00") == ["2026-11-04T21:15"]  # three days too early
    assert room.lost("2026-11-04T22:00") == ["2026-11-02", "2026-11-03"]
    room.restart()  # and the clock was set right
    assert room.look("2026-11-02T21:15") == ["2026-11-02T21:15"]
    assert room.look("2026-11-03T21:15") == ["2026-11-03T21:15"]
    assert room.look("2026-11-04T21:15") == []
    assert room.look("2026-11-05T21:15") == ["2026-11-05T21:15"]


def test_a_schedule_seen_by_a_clock_that_was_ahead_still_runs_on_time(ledger: Ledger) -> None:
    room = Room(ledger, nightly(), seen="2027-11-01T12:00")
    assert room.look("2026-11-03T21:15") == ["2026-11-03T21:15"]


def test_holidays_and_weekends_of_its_calendar_have_no_slot(ledger: Ledger) -> None:
    planned = job('schedule: {cron: "15 21 * * *", calendar: in-holidays, missed: all, grace: 20d}', calendar=DIWALI)
    room = Room(ledger, planned, seen="2026-11-06T12:00")
    assert room.look("2026-11-16T12:00") == [
        f"2026-11-{day:02}T21:15" for day in (6, 7, 10, 11, 12, 13, 14, 15)
    ]  # not Sunday the 8th and Diwali; Sunday the 15th is worked


def test_an_interval_follows_real_time_through_both_changes(ledger: Ledger) -> None:
    planned = job("schedule: {every: 30m, timezone: Europe/Berlin}")
    berlin = ZoneInfo("Europe/Berlin")
    back = [
        slot.name
        for slot, _ in zip(planned.slots(datetime(2026, 10, 25, 1, 45, tzinfo=berlin)), range(5), strict=False)
    ]
    assert back == [f"2026-10-25T{t}" for t in ("02:00", "02:30", "02:00~", "02:30~", "03:00")]
    forward = [
        slot.name for slot, _ in zip(planned.slots(datetime(2026, 3, 29, 1, 15, tzinfo=berlin)), range(2), strict=False)
    ]
    assert forward == ["2026-03-29T01:30", "2026-03-29T03:00"]


class TestAfterOthers:
    """`after`: a round for each round of the others; what failed is no round."""

    ORDERS = 'schedule: {cron: "15 21 * * *"}'

    def room(self, ledger: Ledger, then: str = "after: [orders, asns]", orders: str = ORDERS) -> Room:
        asns = 'schedule: {cron: "30 21 * * *"}'
        return Room(
            ledger,
            job(orders, name="orders"),
            job(asns, name="asns"),
            job(then, name="labels"),
            seen="2026-11-03T12:00",
        )

    def test_it_runs_once_when_all_of_them_have_ended(self, ledger: Ledger) -> None:
        room = self.room(ledger)
        assert room.look("2026-11-03T21:15") == ["orders 2026-11-03T21:15"]
        assert room.look("2026-11-03T21:30") == ["asns 2026-11-03T21:30", "labels 2026-11-03 round 1"]
        room.restart()
        assert room.look("2026-11-03T21:31") == []

    @pytest.mark.parametrize("code", [2, 5, 75])
    def test_it_does_not_run_after_one_that_failed_until_that_ran_again(self, ledger: Ledger, code: int) -> None:
        room = self.room(ledger)
        room.codes["asns"] = code
        assert "labels" not in " ".join(room.look("2026-11-03T21:30"))
        assert room.look("2026-11-03T23:00") == []
        ledger.slots.note_round("asns", "2026-11-03", exit_code=0, now=at("2026-11-03T23:10").isoformat())
        assert room.look("2026-11-03T23:10") == ["labels 2026-11-03 round 1"]

    @pytest.mark.parametrize("code", [3, 4])
    def test_rows_that_wait_for_people_do_not_keep_it(self, ledger: Ledger, code: int) -> None:
        room = self.room(ledger)
        room.codes["asns"] = code
        assert room.look("2026-11-03T21:30")[-1] == "labels 2026-11-03 round 1"

    def test_it_runs_after_each_round_of_a_job_of_many(self, ledger: Ledger) -> None:
        room = self.room(ledger, then="after: [orders]", orders="schedule: {every: 1h}")
        assert room.look("2026-11-03T13:00") == ["orders 2026-11-03T13:00", "labels 2026-11-03 round 1"]
        assert room.look("2026-11-03T14:00") == ["orders 2026-11-03T14:00", "labels 2026-11-03 round 2"]

    def test_rounds_of_two_days_that_end_between_two_looks_are_both_followed(self, ledger: Ledger) -> None:
        room = self.room(ledger, then="after: [orders]")
        for day, moment in (("2026-11-01", "2026-11-03T15:00:10"), ("2026-11-02", "2026-11-03T15:00:20")):
            ledger.slots.note_round("orders", day, exit_code=0, now=at(moment).isoformat())
        assert room.lost("2026-11-03T15:01") == []
        assert room.look("2026-11-03T15:01") == ["labels 2026-11-01 round 1", "labels 2026-11-02 round 1"]
        assert (room.look("2026-11-03T15:02"), room.lost("2026-11-03T15:02")) == ([], [])

    def test_with_a_schedule_it_waits_for_the_others(self, ledger: Ledger) -> None:
        then = 'after: [orders]\nschedule: {cron: "0 21 * * *", missed: none, grace: 2h}'
        room = self.room(ledger, then=then)
        assert room.look("2026-11-03T21:00") == []
        assert room.look("2026-11-03T21:15") == ["orders 2026-11-03T21:15", "labels 2026-11-03T21:00"]
        assert room.look("2026-11-03T21:30") == ["asns 2026-11-03T21:30"]
        room.codes["orders"] = 5
        assert room.look("2026-11-04T21:15") == ["orders 2026-11-04T21:15"]
        assert room.lost("2026-11-04T22:59") == []
        assert room.lost("2026-11-04T23:01") == ["2026-11-04"], "its grace is over, and a person is told"
        ledger.slots.note_round("orders", "2026-11-04", exit_code=0, now=at("2026-11-04T23:10").isoformat())
        assert room.look("2026-11-04T23:10") == ["asns 2026-11-04T21:30"]

    def test_the_rounds_before_it_was_there_are_not_made_up_for(self, ledger: Ledger) -> None:
        Room(ledger, job(self.ORDERS, name="orders"), seen="2026-11-03T12:00").look("2026-11-03T21:15")
        room = self.room(ledger, then="after: [orders]")
        room.agenda = Agenda(ledger)
        late = job("after: [orders]", name="late")
        room.jobs = (late,)
        assert room.look("2026-11-03T22:00") == []


def test_an_interrupted_run_goes_on_under_its_slot(ledger: Ledger) -> None:
    room = Room(ledger, nightly(grace="1h"))
    due = room.agenda.take(nightly(grace="1h"), at("2026-11-01T21:15"))
    assert due is not None
    with ledger._connection.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.exec_driver_sql('UPDATE slot SET owner = replace(owner, \'"start":"\', \'"start":"1\')')
    room.restart()
    resumed = room.agenda.take(nightly(grace="1h"), at("2026-11-02T12:00"))
    assert resumed is not None
    assert (resumed.name, resumed.goes_on) == (due.name, True)
    assert room.agenda.take(nightly(grace="1h"), at("2026-11-02T12:00")) is None


def test_a_run_that_waits_to_be_tried_again_is_dropped_where_another_scheduler_went_on_with_it(ledger: Ledger) -> None:
    room, job_ = Room(ledger, nightly()), nightly()
    due = room.agenda.take(job_, at("2026-11-01T21:15"))
    assert due is not None
    assert room.agenda.try_again(job_, due, at("2026-11-01T21:16")) is not None
    assert room.agenda.take(job_, at("2026-11-01T21:16")) is None
    again = room.agenda.take(job_, at("2026-11-01T21:20"))
    assert again is not None
    assert (again.name, again.goes_on) == (due.name, True)
    assert room.agenda.try_again(job_, again, at("2026-11-01T21:21")) is not None
    with ledger._connection.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.exec_driver_sql('UPDATE slot SET owner = \'{"host":"elsewhere","pid":1,"start":"1"}\'')
    assert room.agenda.take(job_, at("2026-11-01T21:24")) is None
    assert not room.agenda.waits
    assert room.agenda.try_again(job_, again, at("2026-11-01T21:25")) is None


def test_many_slots_of_a_long_outage_are_dealt_with_at_once(ledger: Ledger) -> None:
    room = Room(ledger, job("schedule: {every: 1m}"))
    assert room.look("2026-11-20T12:00") == ["2026-11-20T12:00"]
    assert room.lost("2026-11-20T12:00") == [f"2026-11-{day:02}" for day in range(1, 20)]


def test_what_is_planned_around_now_is_told_and_what_nothing_ran_for(ledger: Ledger) -> None:
    text = 'kind: settle\nschedule: {cron: "0 */6 * * *", missed: none}\n'
    spec = parse_job(text, name="often", path="jobs/often.yaml")

    def around(now: str) -> list[str]:
        found = planned_times([spec], {}, ledger, now=at(now), within=timedelta(hours=12), service_zone="Asia/Kolkata")
        return [f"{each['at'][8:16]} {each['state']}" for each in found]

    to_come = ["03T18:00 planned", "04T00:00 planned"]
    assert around("2026-11-03T12:30") == to_come  # a job that never ran is not late
    room = Room(ledger, job('schedule: {cron: "0 */6 * * *", missed: none}', name="often"), seen="2026-11-03T05:00")
    assert room.look("2026-11-03T06:00") == ["2026-11-03T06:00"]
    assert around("2026-11-03T12:00") == ["03T12:00 planned", *to_come]
    assert around("2026-11-03T12:30") == ["03T12:00 late", *to_come]
    assert room.look("2026-11-03T18:00") == ["2026-11-03T18:00"]
    assert around("2026-11-03T18:30") == ["04T00:00 planned", "04T06:00 planned"]  # a later one stands for it
