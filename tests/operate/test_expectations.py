"""The file that has to come: four different alerts, one recovery, and none that is not deserved."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from logistics_batch.ledger import FileArrival
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import Expect
from logistics_batch.operate.file_watch import Coming, Expected, Lying, Seen, expected_days, judge

KOLKATA = ZoneInfo("Asia/Kolkata")
WORKDAYS = Calendar("in", frozenset({6}))
TUESDAY = date(2026, 11, 3)
WAITS = "its done-file orders.csv.done is not there yet"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=KOLKATA)


def tuesday(by: str = "21:00", since: str = "00:00") -> Expected:
    return Expected(Expect(by=by, since=since), TUESDAY, KOLKATA, WORKDAYS)  # type: ignore[arg-type]


def file(came: str, *, first: str = "", rows: int = 3, rule: str = "") -> FileArrival:
    return FileArrival("orders.csv", "/in/orders.csv", 9, "0" * 64, rows, rule, at(came), at(first or came))


def read_for(came: str, day: str) -> FileArrival:
    """A file of a run for a business date."""
    return replace(file(came), business_date=f"2026-11-{day}")


def test_a_late_file_does_not_stand_for_the_next_day_as_well() -> None:
    """By hand for Tuesday on Wednesday morning: it is Tuesday's, and Wednesday's has still to come."""
    wednesday = Expected(Expect(by="21:00"), date(2026, 11, 4), KOLKATA, WORKDAYS)  # type: ignore[arg-type]
    seen = Seen([read_for("04T09:00", "03")], missed=True)
    assert judge(tuesday(), seen, now=at("04T09:00")).coming is Coming.LATE
    assert judge(wednesday, seen, now=at("04T21:00")).coming is Coming.MISSING
    own = Seen([read_for("04T21:15", "04")])
    assert judge(wednesday, own, now=at("04T21:20")).coming is Coming.CAME


def test_a_run_of_the_evening_before_reads_the_next_days_file_where_the_job_says_so() -> None:
    night = tuesday(by="02:00", since="18:00")
    assert judge(night, Seen([read_for("03T00:01", "02")]), now=at("03T02:00")).coming is Coming.CAME


@pytest.mark.parametrize(
    ("now", "seen", "coming"),
    [
        ("03T20:59", Seen(), Coming.NOT_YET),
        ("03T21:00", Seen(), Coming.MISSING),
        ("04T23:00", Seen(), Coming.MISSING),
        ("03T21:00", Seen([file("03T19:00")]), Coming.CAME),
        ("03T21:20", Seen([file("03T21:15")]), Coming.CAME),  # read at a quarter past; nobody saw that it was not there
        ("03T21:20", Seen([file("03T21:15")], missed=True), Coming.LATE),
        ("03T21:00", Seen([file("02T21:15")]), Coming.MISSING),  # Monday's
        ("03T21:00", Seen([file("03T19:00", rows=0)]), Coming.EMPTY),
        ("03T19:01", Seen([file("03T19:00", rows=0, rule="file|empty")]), Coming.EMPTY),  # at once: it can be mended
        ("03T21:00", Seen([file("03T19:00", rows=0, rule="file|unreadable")]), Coming.CAME),  # it is held, not empty
        ("03T21:00", Seen([file("03T19:00", first="02T19:00")]), Coming.DUPLICATE),
        ("03T21:00", Seen([file("03T19:00", rows=0), file("03T20:00")]), Coming.CAME),
        ("03T21:00", Seen(lying=[Lying("orders.csv")]), Coming.LIES_THERE),
        ("03T21:59", Seen(lying=[Lying("orders.csv", why=WAITS)]), Coming.LIES_THERE),
        ("03T22:00", Seen(lying=[Lying("orders.csv", why=WAITS)]), Coming.LATE),
        ("03T22:00", Seen(lying=[Lying("orders.csv", why=WAITS), Lying("b.csv")]), Coming.LIES_THERE),
        ("03T21:00", Seen([file("03T19:00", first="02T19:00")], [Lying("new.csv")]), Coming.LIES_THERE),
    ],
)
def test_how_it_stands_with_a_days_file(now: str, seen: Seen, coming: Coming) -> None:
    assert judge(tuesday(), seen, now=at(now)).coming is coming


def test_a_file_of_the_evening_before_counts_where_the_job_says_so() -> None:
    night = tuesday(by="02:00", since="18:00")
    assert judge(night, Seen([file("02T23:30")]), now=at("03T02:00")).coming is Coming.CAME
    assert judge(night, Seen([file("02T17:30")]), now=at("03T02:00")).coming is Coming.MISSING


def test_what_comes_on_a_free_day_is_late_for_the_day_before_and_not_early_for_the_next() -> None:
    saturday = Expected(Expect(by="21:00"), date(2026, 11, 7), KOLKATA, WORKDAYS)
    monday = Expected(Expect(by="21:00"), date(2026, 11, 9), KOLKATA, WORKDAYS)
    on_sunday = Seen([file("08T10:00")], missed=True)
    assert judge(saturday, on_sunday, now=at("08T10:00")).coming is Coming.LATE
    assert judge(monday, on_sunday, now=at("09T21:00")).coming is Coming.MISSING


def test_it_is_said_how_late() -> None:
    said = judge(tuesday(), Seen([file("03T22:47")], missed=True), now=at("03T23:00")).text
    assert said == "orders.csv came at 2026-11-03 22:47+05:30, 1 h 47 min after 2026-11-03 21:00+05:30."


def test_only_working_days_are_expected() -> None:
    days = expected_days(Expect(by="21:00"), KOLKATA, WORKDAYS, now=at("09T12:00"))
    assert date(2026, 11, 8) not in {each.day for each in days}
    assert days[-1].day == date(2026, 11, 9)
    assert all(each.opens <= at("09T12:00") for each in days)
    assert days[-1].closes - days[-1].opens == timedelta(days=1)
