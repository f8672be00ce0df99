"""The file that has to come: missing, late, empty or a duplicate are four different things, and so is what to do.

A day's file counts from `since` on until that of the next working day counts. Until `by` nothing is missing; what lies
at the source by then and was not read yet has come, too, unless it is the same as before. A file that came late for a
day does not stand for the next one as well, whenever it is read: what counts is when it was first seen to lie there,
and a run for an earlier day reads the file of that day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from logistics_batch.ledger import FileArrival
from logistics_batch.model.calendar import Calendar
from logistics_batch.model.job_watch import Expect

_LOOKS_BACK_DAYS = 8
_COMES_TO_REST = timedelta(hours=1)  # so long after `by` a file that lies there may still be on its way


class Coming(StrEnum):
    """How it stands with a day's file; those with "on_" are told as jobs name them in `notify`."""

    NOT_YET = "not yet"
    CAME = "came"
    LIES_THERE = "lies there"
    MISSING = "on_missing_file"
    LATE = "on_late_file"
    EMPTY = "on_empty_file"
    DUPLICATE = "on_duplicate_file"


ALERTS = (Coming.MISSING, Coming.LATE, Coming.EMPTY, Coming.DUPLICATE)


@dataclass(frozen=True, slots=True)
class Lying:
    """A file that lies at the source and was not read yet.

    identity: what tells it from others there. why: what it waits for, if anything.
    """

    name: str
    identity: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of a job for one day."""

    expect: Expect
    day: date
    zone: ZoneInfo
    calendar: Calendar

    @property
    def opens(self) -> datetime:
        """From when on a file counts."""
        return self.expect.opens(self.day, self.zone)

    @property
    def deadline(self) -> datetime:
        """Until when it has to be there."""
        return self.expect.deadline(self.day, self.zone)

    @property
    def closes(self) -> datetime:
        """From when on a file counts for the next day."""
        return self.expect.closes(self.day, self.zone, self.calendar)

    def needs_a_look(self, now: datetime) -> bool:
        """Whether it matters what lies at the source."""
        return self.deadline <= now < self.closes


@dataclass(frozen=True, slots=True)
class Judgement:
    """How it stands with a day's file, and a sentence about it."""

    coming: Coming
    text: str = ""


def expected_days(expect: Expect, zone: ZoneInfo, calendar: Calendar, *, now: datetime) -> list[Expected]:
    """The days whose file is expected, or was until lately; oldest first."""
    today = now.astimezone(zone).date()
    days = [today + timedelta(days=n) for n in range(-_LOOKS_BACK_DAYS, 2)]
    each = [Expected(expect, day, zone, calendar) for day in days if calendar.is_working(day)]
    return [one for one in each if one.opens <= now]


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known about a job's files.

    arrivals: what was read since long enough, oldest first. lying: what lies at the source and is not the same as
    before. missed: whether somebody looked after the deadline and found nothing; without that nothing is called late.
    """

    arrivals: Sequence[FileArrival] = ()
    lying: Sequence[Lying] = ()
    missed: bool = False


def judge(expected: Expected, seen: Seen, *, now: datetime) -> Judgement:
    """How it stands with the file of a day."""
    arrivals, lying = seen.arrivals, seen.lying
    mine = [file for file in arrivals if _is_for(file, expected)]
    new = [file for file in mine if file.first_at >= expected.opens]
    if good := [file for file in new if not is_empty(file)]:
        return _came(expected, good[0], late=seen.missed)
    if lying:
        return _lies_there(expected, lying, now)
    if new:
        return Judgement(Coming.EMPTY, f"{new[-1].name} came at {_clock(new[-1].at, expected)} and holds no rows.")
    if mine:
        again = mine[-1]
        first = again.first_at.astimezone(expected.zone)
        text = f"{again.name} came, and its content is that of {first:%Y-%m-%d %H:%M} to the byte."
        return Judgement(Coming.DUPLICATE, text)
    if now < expected.deadline:
        return Judgement(Coming.NOT_YET)
    return Judgement(Coming.MISSING, f"No file came until {_clock(expected.deadline, expected)}.")


def _is_for(file: FileArrival, expected: Expected) -> bool:
    """Whether a file counts for a day: by when it came, unless it was read in a run for an earlier day."""
    same_day = expected.expect.since <= expected.expect.by  # else a run of the evening before is no earlier day's
    if same_day and file.business_date and file.business_date < f"{file.at.astimezone(expected.zone):%Y-%m-%d}":
        return file.business_date == expected.day.isoformat()
    return expected.opens <= file.at < expected.closes


def is_empty(file: FileArrival) -> bool:
    """Whether a file holds no rows; one that cannot be read is not empty but held."""
    return file.rule == "file|empty" or (not file.rule and file.rows_read == 0)


def _came(expected: Expected, file: FileArrival, *, late: bool) -> Judgement:
    text = f"{file.name} came at {_clock(file.at, expected)}"
    if not late:
        return Judgement(Coming.CAME, f"{text}.")
    by = f"{_length(file.at - expected.deadline)} after {_clock(expected.deadline, expected)}"
    return Judgement(Coming.LATE, f"{text}, {by}.")


def _lies_there(expected: Expected, lying: Sequence[Lying], now: datetime) -> Judgement:
    stuck = [file for file in lying if file.why]
    named = ", ".join(file.name for file in lying[:3])
    if now >= expected.deadline + _COMES_TO_REST and len(stuck) == len(lying):
        return Judgement(Coming.LATE, f"{named} lies there and is not complete: {stuck[0].why}.")
    return Judgement(Coming.LIES_THERE, f"{named} lies there, to be read by the next run.")


def _clock(moment: datetime, expected: Expected) -> str:
    return f"{moment.astimezone(expected.zone):%Y-%m-%d %H:%M%z}"


def _length(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"
