"""When a job is due: cron expressions and intervals in the clock of its own zone; lengths of time as people write them.

The five fields of cron are minute, hour, day of the month, month and day of the week, as cron has always read them: 0
and 7 are Sunday, names are English and of three letters, and a job whose day of the month *and* day of the week are
both restricted is due when either fits.

Where the clock is put forward, a job at a time that does not exist runs as the gap ends. Where it is put back, a job at
a fixed hour runs once, at the first of the two; a job of every hour (`*` or `*/n`) follows real time through both. An
interval follows real time anyway.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)\s*")
_ANCHOR = datetime(2000, 1, 3, tzinfo=UTC)  # a Monday
_LONGEST = timedelta(days=7)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?P<range>\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>\d+))?")
_SEARCH_DAYS = 8 * 366 + 1  # the longest wait for a 29 February; an expression that fits no day by then never does
_SHORTCUTS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """One time at which a job is due.

    wall: the time of the job's zone as the expression names it, without zone. at: the instant it stands for, in the
    job's zone. They differ only where the wall time does not exist.
    """

    wall: datetime
    at: datetime

    @property
    def name(self) -> str:
        """The slot as the ledger keeps it, unique for a job: `2026-11-03T21:15`, with `~` in a repeated hour."""
        return self.wall.strftime("%Y-%m-%dT%H:%M") + ("~" if self.at.fold else "")

    @property
    def business_date(self) -> date:
        """The day that the run is for: that of the slot, however late the run starts."""
        return self.wall.date()


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression; weekdays count from Sunday = 0."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    every_hour: bool

    @classmethod
    def parse(cls, text: str) -> "Cron":
        """Read an expression.

        Raises ValueError with a sentence for the person who wrote it.
        """
        fields = _SHORTCUTS.get(text.strip().lower(), text).split()
        if len(fields) != 5:
            raise ValueError(
                f'"{text}" has {len(fields)} fields. Cron wants five: '
                "minute, hour, day of the month, month, day of the week."
            )
        minute, hour, day, month, weekday = fields
        cron = cls(
            text=text,
            minutes=_values(minute, "minute", 0, 59),
            hours=_values(hour, "hour", 0, 23),
            days=_values(day, "day of the month", 1, 31),
            months=_values(month, "month", 1, 12, _MONTHS),
            weekdays=frozenset(value % 7 for value in _values(weekday, "day of the week", 0, 7, _WEEKDAYS)),
            either_day=not day.startswith("*") and not weekday.startswith("*"),
            every_hour=hour.startswith("*"),
        )
        if cron._next_day(date(2000, 1, 1)) is None:
            raise ValueError(f'"{text}" is never due: there is no such day.')
        return cron

    def slots(self, after: datetime, zone: ZoneInfo) -> Iterator[Slot]:
        """The slots later than `after` (with zone), in order and without end."""
        last = after.astimezone(UTC)  # instants of one zone would be compared by their wall time
        day: date | None = after.astimezone(zone).date() - timedelta(days=1)
        while day is not None and (day := self._next_day(day)) is not None:
            for slot in sorted(self._of_day(day, zone), key=lambda slot: slot.at.astimezone(UTC)):
                if slot.at > last:  # two wall times of one gap are one run
                    yield slot
                    last = slot.at.astimezone(UTC)
            day += timedelta(days=1)

    def _next_day(self, day: date) -> date | None:
        for _ in range(_SEARCH_DAYS):
            if self._fits(day):
                return day
            day += timedelta(days=1)
        return None

    def _fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_date, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_date or by_weekday if self.either_day else by_date and by_weekday

    def _of_day(self, day: date, zone: ZoneInfo) -> Iterator[Slot]:
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                yield from self._instants(datetime.combine(day, time(hour, minute)), zone)

    def _instants(self, wall: datetime, zone: ZoneInfo) -> Iterator[Slot]:
        first, second = wall.replace(tzinfo=zone), wall.replace(tzinfo=zone, fold=1)
        if first.utcoffset() == second.utcoffset():
            yield Slot(wall, first)
        elif not _exists(first):
            if not self.every_hour:
                yield Slot(wall, _gap_end(first))
        else:
            yield Slot(wall, first)
            if self.every_hour:
                yield Slot(wall, second)


def _exists(moment: datetime) -> bool:
    return moment.astimezone(UTC).astimezone(moment.tzinfo).replace(tzinfo=None) == moment.replace(tzinfo=None)


def _gap_end(moment: datetime) -> datetime:
    """The first instant after the gap in which the wall time `moment` (fold 0) lies."""
    zone = moment.tzinfo
    instant = moment.astimezone(UTC)  # by the offset from before the change, so it lies past the gap
    offset = instant.astimezone(zone).utcoffset()
    while (instant - timedelta(minutes=1)).astimezone(zone).utcoffset() == offset:
        instant -= timedelta(minutes=1)
    return instant.astimezone(zone)


def _values(field: str, name: str, low: int, high: int, words: tuple[str, ...] = ()) -> frozenset[int]:
    found: set[int] = set()
    for part in field.lower().split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f'"{part}" is no {name} of a cron expression.')
        found.update(_range(match, name, low, high, words))
    return frozenset(found)


def _range(match: re.Match[str], name: str, low: int, high: int, words: tuple[str, ...]) -> range:
    step = int(match["step"] or 1)
    if match["range"] == "*":
        first, last = low, high
    else:
        first = _number(match["first"], name, low, high, words)
        last = _number(match["last"], name, low, high, words) if match["last"] else high if match["step"] else first
    if name == "day of the week" and last == 0 < first:
        last = 7  # sat-sun
    if step < 1 or last < first:
        raise ValueError(f'"{match[0]}" is no range of a {name}. Write it from low to high, with a step of 1 or more.')
    return range(first, last + 1, step)


def _number(text: str, name: str, low: int, high: int, words: tuple[str, ...]) -> int:
    if text in words:
        return words.index(text) + (1 if words is _MONTHS else 0)
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        choices = f"{low} to {high}" + (f" or {words[0]} to {words[-1]}" if words else "")
        raise ValueError(f'"{text}" is no {name}. Write {choices}.')
    return int(text)


@dataclass(frozen=True, slots=True)
class Every:
    """A length of time between slots; they lie where full hours of the zone's clock are (in winter, where it changes).

    text: as it was written.
    """

    text: str
    step: timedelta

    @classmethod
    def parse(cls, text: str) -> "Every":
        """Read a length of time.

        Raises ValueError with a sentence for the person who wrote it.
        """
        step = timedelta(seconds=duration_seconds(text))
        if step.total_seconds() % 60 or not timedelta(minutes=1) <= step <= _LONGEST:
            raise ValueError(f'"{text}" is no interval of a job. Write whole minutes, as "15m" or "2h", at most "7d".')
        return cls(text.strip(), step)

    def slots(self, after: datetime, zone: ZoneInfo) -> Iterator[Slot]:
        """The slots later than `after` (with zone), in order and without end."""
        start = _ANCHOR - (_ANCHOR.astimezone(zone).utcoffset() or timedelta())
        at = start + ((after.astimezone(UTC) - start) // self.step + 1) * self.step
        while True:
            local = at.astimezone(zone)
            yield Slot(local.replace(tzinfo=None, fold=0), local)
            at += self.step


def duration_seconds(text: str) -> float:
    """The seconds that a length of time stands for.

    Raises ValueError with a sentence for the person who wrote it.

    >>> duration_seconds("6h")
    21600.0
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is no length of time. Write a number and a unit, as "45s", "10m", "6h" or "2d".')
    return float(match[1]) * _SECONDS[match[2]]
