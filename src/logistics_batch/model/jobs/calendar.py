"""Calendars: on which days work is done, from `calendars/NAME.yaml`."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from logistics_batch.model.jobs.job_fields import JobPart, complaint

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEARCH_DAYS = 400


def _weekend(value: object) -> frozenset[int]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list):
        raise complaint("The weekend is a list of days.", "Write it as [sat, sun], or [] if there is none.")
    days = [str(day).lower()[:3] for day in given]
    if wrong := [str(day) for day, short in zip(given, days, strict=True) if short not in WEEKDAYS]:
        raise complaint(f'"{wrong[0]}" is no day of the week.', f"Write {', '.join(WEEKDAYS)}.")
    if len(set(days)) == len(WEEKDAYS):
        raise complaint("A week without a working day.", "Leave at least one day out of the weekend.")
    return frozenset(WEEKDAYS.index(day) for day in days)


def _dates(value: object) -> object:
    """Dates with notes; a plain list of dates has none."""
    given = dict.fromkeys(value, "") if isinstance(value, list) else value
    return {_date(day): note or "" for day, note in given.items()} if isinstance(given, dict) else given


def _date(text: Any) -> date:
    try:
        return date.fromisoformat(str(text))
    except ValueError as error:
        raise complaint(f'"{text}" is no date.', "Write it as 2026-11-08.") from error


def _apart(value: "CalendarFile") -> "CalendarFile":
    if both := sorted(value.holidays.keys() & value.working.keys()):
        raise complaint(f"{both[0]} is a holiday and a working day.", "Remove one of the two.")
    return value


class CalendarFile(JobPart):
    """What a calendar file says: the weekend, holidays with notes, and days that are worked nevertheless."""

    weekend: Annotated[frozenset[int], BeforeValidator(_weekend)] = frozenset((5, 6))
    holidays: Annotated[dict[date, str], BeforeValidator(_dates)] = Field(default_factory=dict)
    working: Annotated[dict[date, str], BeforeValidator(_dates)] = Field(default_factory=dict)


CheckedCalendar = Annotated[CalendarFile, AfterValidator(_apart)]


@dataclass(frozen=True, slots=True)
class Calendar:
    """Working days; without a name every day is one. Weekdays count from Monday = 0."""

    name: str = ""
    weekend: frozenset[int] = frozenset()
    holidays: dict[date, str] = field(default_factory=dict)
    working: dict[date, str] = field(default_factory=dict)

    def is_working(self, day: date) -> bool:
        """Whether work is done on a day."""
        return day in self.working or (day.weekday() not in self.weekend and day not in self.holidays)

    def next_working(self, day: date) -> date | None:
        """The first working day after `day`; None if there is none for more than a year."""
        later = (day + timedelta(days=n) for n in range(1, _SEARCH_DAYS))
        return next((each for each in later if self.is_working(each)), None)

    def last_year(self) -> int | None:
        """The last year of which a holiday is listed."""
        return max((day.year for day in self.holidays), default=None)


EVERY_DAY = Calendar()
