"""When jobs are due: cron as people know it, also on the two odd days of the year."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logistics_batch.model.jobs.timing import Cron

KOLKATA = ZoneInfo("Asia/Kolkata")
BERLIN = ZoneInfo("Europe/Berlin")
ODD_ZONES = (
    "Asia/Kolkata",
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Africa/Casablanca",
    "Asia/Tehran",
    "Australia/Lord_Howe",  # moves by half an hour
    "Pacific/Apia",  # left out a whole day in 2011
    "Pacific/Chatham",
    "UTC",
)


def upcoming(text: str, after: str, zone: ZoneInfo, count: int) -> list[str]:
    start = datetime.fromisoformat(after).replace(tzinfo=zone)
    return [f"{slot.at:%a %Y-%m-%d %H:%M%z}" for slot in islice(Cron.parse(text).slots(start, zone), count)]


def test_a_night_job_runs_on_working_days_in_its_own_zone() -> None:
    assert upcoming("15 21 * * mon-sat", "2026-11-06T21:15", KOLKATA, 3) == [
        "Sat 2026-11-07 21:15+0530",
        "Mon 2026-11-09 21:15+0530",
        "Tue 2026-11-10 21:15+0530",
    ]


@pytest.mark.parametrize("sunday", ["0", "7", "sun", "SUN", "*/7"])
def test_zero_and_seven_are_both_sunday(sunday: str) -> None:
    assert upcoming(f"0 6 * * {sunday}", "2026-11-02T00:00", KOLKATA, 2) == [
        "Sun 2026-11-08 06:00+0530",
        "Sun 2026-11-15 06:00+0530",
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("*/20 9-10 * * *", ["09:00", "09:20", "09:40", "10:00", "10:20", "10:40"]),
        ("5,50 8 * * *", ["08:05", "08:50"]),
        ("10/25 7 * * *", ["07:10", "07:35"]),
        ("0 0-23/12 * * *", ["00:00", "12:00"]),
        ("@hourly", ["00:00", "01:00"]),
    ],
)
def test_ranges_steps_and_lists(text: str, first: list[str]) -> None:
    found = upcoming(text, "2026-11-02T23:59", KOLKATA, len(first))
    assert [each[15:20] for each in found] == first


def test_a_day_of_the_month_and_a_day_of_the_week_are_alternatives() -> None:
    assert upcoming("0 4 1 * fri", "2026-10-28T00:00", KOLKATA, 3) == [
        "Fri 2026-10-30 04:00+0530",
        "Sun 2026-11-01 04:00+0530",
        "Fri 2026-11-06 04:00+0530",
    ]


def test_a_leap_day_is_waited_for() -> None:
    assert upcoming("0 0 29 feb *", "2026-01-01T00:00", KOLKATA, 1) == ["Tue 2028-02-29 00:00+0530"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("15 21 * *", "has 4 fields"),
        ("60 * * * *", '"60" is no minute'),
        ("0 0 0 * *", '"0" is no day of the month'),
        ("0 0 * * 8", "0 to 7 or sun to sat"),
        ("0 0 * 13 *", "1 to 12 or jan to dec"),
        ("9-5 * * * *", "from low to high"),
        ("*/0 * * * *", "step of 1 or more"),
        ("0 0 * * mon-", '"mon-" is no day of the week'),
        ("0 0 30 feb *", "never due"),
        ("٣ * * * *", "is no minute"),
    ],
)
def test_an_expression_that_cannot_be_meant_is_refused_with_a_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Cron.parse(text)


def test_when_the_clock_goes_forward_a_fixed_time_runs_as_the_gap_ends() -> None:
    assert upcoming("30 2 * * *", "2026-03-28T12:00", BERLIN, 2) == [
        "Sun 2026-03-29 03:00+0200",
        "Mon 2026-03-30 02:30+0200",
    ]
    slot = next(Cron.parse("30 2 * * *").slots(datetime(2026, 3, 28, 12, tzinfo=BERLIN), BERLIN))
    assert slot.name == "2026-03-29T02:30"


def test_two_times_in_one_gap_are_one_run() -> None:
    assert upcoming("0,30 2 * * *", "2026-03-28T12:00", BERLIN, 2) == [
        "Sun 2026-03-29 03:00+0200",
        "Mon 2026-03-30 02:00+0200",
    ]


def test_when_the_clock_goes_back_a_fixed_time_runs_once() -> None:
    assert upcoming("30 2 * * *", "2026-10-24T12:00", BERLIN, 2) == [
        "Sun 2026-10-25 02:30+0200",
        "Mon 2026-10-26 02:30+0100",
    ]


def test_a_job_of_every_half_hour_follows_real_time_through_both_changes() -> None:
    back = upcoming("*/30 * * * *", "2026-10-25T01:45", BERLIN, 5)
    assert [each[15:] for each in back] == ["02:00+0200", "02:30+0200", "02:00+0100", "02:30+0100", "03:00+0100"]
    forward = upcoming("*/30 * * * *", "2026-03-29T01:15", BERLIN, 3)
    assert [each[15:] for each in forward] == ["01:30+0100", "03:00+0200", "03:30+0200"]


def test_the_two_passes_of_a_repeated_hour_have_different_names() -> None:
    start = datetime(2026, 10, 25, 1, 59, tzinfo=BERLIN)
    names = [slot.name for slot in islice(Cron.parse("0 * * * *").slots(start, BERLIN), 2)]
    assert names == ["2026-10-25T02:00", "2026-10-25T02:00~"]


@pytest.mark.parametrize("zone_name", ODD_ZONES)
@pytest.mark.parametrize("text", ["30 0 * * *", "30 2 * * *", "15 21 * * *"])
def test_a_daily_job_runs_once_for_every_day_of_a_year(zone_name: str, text: str) -> None:
    zone = ZoneInfo(zone_name)
    slots = list(islice(Cron.parse(text).slots(datetime(2026, 1, 1, tzinfo=zone) - timedelta(seconds=1), zone), 365))
    assert len({slot.name for slot in slots}) == 365
    assert [slot.business_date.toordinal() for slot in slots] == list(
        range(slots[0].business_date.toordinal(), slots[0].business_date.toordinal() + 365)
    )


@given(
    minutes=st.integers(min_value=0, max_value=3 * 366 * 1440),
    zone_name=st.sampled_from(ODD_ZONES),
    text=st.sampled_from(["*/10 * * * *", "30 2 * * *", "0 0 1 * mon", "59 23 31 * *"]),
)
def test_slots_are_later_than_asked_and_strictly_in_order(minutes: int, zone_name: str, text: str) -> None:
    after = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    instants = [slot.at.astimezone(UTC) for slot in islice(Cron.parse(text).slots(after, ZoneInfo(zone_name)), 20)]
    assert after < instants[0]
    assert all(earlier < later for earlier, later in pairwise(instants))
