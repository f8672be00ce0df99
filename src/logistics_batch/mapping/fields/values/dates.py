"""Dates by the formats that a mapping declares."""

import re
from calendar import month_name, monthrange
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.loaded import RunValues
from logistics_batch.mapping.spec.words import MONTHS
from logistics_batch.model.issue import Issue

EARLIEST_DAYS: Final = 365
KEPT_DAYS: Final = 7305
"""How long after the business date goods may expire: 20 years."""

_FIRST_YEAR: Final = 1900
_SAMPLE: Final = datetime.fromisoformat("2026-11-23T21:05:09")
_WHOLE_DATES: Final = (("%D", "%m/%d/%y"), ("%F", "%Y-%m-%d"))

_ISO: Final = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")
_NAMED_MONTHS: Final = tuple(f"%d{between}%b{between}%{year}" for between in "- /" for year in "Yy")
CODES: Final = {
    "d": "the day, in one digit or two; beside the name of a month also `2nd`",
    "-d": "the same",
    "e": "the same",
    "m": "the month, in one digit or two",
    "-m": "the same",
    "b": "the month's name, short or whole, with a full stop or without; in English, German, French or Spanish",
    "B": "the same",
    "Y": "the year in four digits",
    "y": "the year in two digits",
    "a": "the weekday, short or whole",
    "A": "the same",
    "j": "the day of the year",
    "H": "the hour, from 0 to 23",
    "I": "the hour, from 1 to 12; with `%p`",
    "p": "AM or PM",
    "M": "the minute",
    "S": "the second",
    "f": "the fraction of a second, in nanoseconds",
    ".f": "the fraction of a second, with its point",
    "z": "the offset from UTC; with a time",
    "D": "`%m/%d/%y`",
    "F": "`%Y-%m-%d`",
    "R": "`%H:%M`",
    "T": "`%H:%M:%S`",
    "%": "the sign %",
}
"""The codes of date formats, each behind a %, and what they stand for."""

_DIRECTIVES: Final = frozenset(CODES)
_TIME: Final = re.compile(r"%(?:[HIMSTRpzf]|\.f)")
_NAMED_MONTH: Final = r"%[bB]\.?"
_ORDINAL: Final = r"(?i)\b([0-9]{1,2})(?:st|nd|rd|th)\b"  # 2nd Dec
_DIGITS_FIRST: Final = r"^(\d{1,2})[-/. ](\d{1,2})[-/. ](?:\d{4}|\d{2})(?:\D.*)?$"
_MONTHS: Final = 12
_MONTH_NUMBERS: Final = {name.lower()[:length]: n for n, name in enumerate(month_name) for length in (3, 9) if name}
_DIRECTIVE_PATTERNS: Final = {
    **dict.fromkeys(("d", "-d", "e"), r"(?P<day>[0-9]{1,2})"),
    **dict.fromkeys(("m", "-m"), r"(?P<month>[0-9]{1,2})"),
    **dict.fromkeys(("b", "B"), r"(?P<name>[A-Za-z]{3,9})"),
    "Y": r"(?P<year>[0-9]{4})",
    "y": r"(?P<year>[0-9]{2})",
}
_LOOKS_LIKE_A_DATE: Final = r"^\d{1,4}[-/. ]+(?:\d{1,2}|\p{L}{3,10})[-/., ]+\d{1,4}(?:\D.*)?$"


def format_fault(date_format: str) -> str:
    """What is wrong with a format, "" if nothing is."""
    directives = re.findall(r"%(-?[A-Za-z]|\.f|%)", date_format)
    unknown = [each for each in directives if each not in _DIRECTIVES]
    if unknown or not directives:
        return f"`{date_format}` is no date format: use %d, %m or %b, and %Y."
    has = set(directives)
    has_day_and_month = bool(has & {"d", "e", "-d"}) and bool(has & {"m", "b", "B", "-m"})
    if not (has & {"F", "D"} or (has_day_and_month and has & {"Y", "y"})):
        return f"`{date_format}` does not say day, month and year."
    # A moment that is written in it comes back from it.
    moment = pl.Series("text", [_SAMPLE])
    written = moment.dt.replace_time_zone("Asia/Kolkata") if "%z" in date_format else moment
    read = _parsed(pl.col("text"), date_format, ReadContext(RunValues("", _SAMPLE.date(), "Asia/Kolkata")))
    try:
        found = written.dt.strftime(date_format).to_frame().select(read.dt.date())["text"][0]
    except pl.exceptions.PolarsError:
        found = None
    if found != _SAMPLE.date():
        return f"`{date_format}` reads no date: %I goes with %p, %H without it, and %z with a time."
    return ""


def contradict(one: str, other: str) -> bool:
    """Whether two formats can read the same digits as different dates (day and month change places)."""
    shapes = {re.sub(r"%-?[demyY]", "#", _spelt_out(each)) for each in (one, other)}
    return len(shapes) == 1 and _order(one) != _order(other)


def _spelt_out(date_format: str) -> str:
    for short, whole in _WHOLE_DATES:
        date_format = date_format.replace(short, whole)
    return date_format


def _order(date_format: str) -> list[str]:
    """In which order a format has day, month and year in digits: d, m and y."""
    parts = re.findall(r"%-?([demyY])", _spelt_out(date_format))
    return [part.replace("e", "d").lower() for part in parts]


def is_day_first(formats: Sequence[str]) -> bool | None:
    """Whether dates in digits begin with the day; None if formats differ in it, or none writes them so.

    A month's name and a year in front cannot be mistaken, and say nothing of the others.
    """
    orders = {tuple(each[:2]) for each in map(_order, formats) if each[0] != "y" and "m" in each}
    return orders == {("d", "m")} if orders in ({("d", "m")}, {("m", "d")}) else None


def day_and_month(text: pl.Expr, *, day_first: bool) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Of dates in digits: fits only with day and month changed over; fits only as declared; fits both ways."""
    first = text.str.extract(_DIGITS_FIRST, 1).cast(pl.Int8)
    second = text.str.extract(_DIGITS_FIRST, 2).cast(pl.Int8)
    day, month = (first, second) if day_first else (second, first)
    swapped, sound = (month > _MONTHS) & (day <= _MONTHS), (day > _MONTHS) & (month <= _MONTHS)
    either = (day <= _MONTHS) & (month <= _MONTHS) & (day != month)
    return swapped.fill_null(value=False), sound.fill_null(value=False), either.fill_null(value=False)


def moment_of(text: pl.Expr, formats: list[str], around: ReadContext) -> tuple[pl.Expr, pl.Expr]:
    """Date and time in the zone of the run (null where no format fits), and whether a time of day was written.

    True date cells and ISO dates need no declared format: they cannot be mistaken.
    """
    dates: list[pl.Expr] = []
    times: list[pl.Expr] = []
    for date_format in dict.fromkeys((*formats, *_ISO)):
        (times if _TIME.search(date_format) else dates).append(_parsed(text, date_format, around))
    at_midnight = [each.cast(pl.Datetime("us")) for each in dates]
    with_time = pl.coalesce(times) if times else pl.lit(None, dtype=pl.Datetime("us"))
    return pl.coalesce(*at_midnight, with_time), with_time.is_not_null()


def _parsed(text: pl.Expr, date_format: str, around: ReadContext) -> pl.Expr:
    if re.search(_NAMED_MONTH, date_format):
        text = text.str.replace(_ORDINAL, "${1}")
        text = text.str.replace_many(MONTHS, ascii_case_insensitive=True, leftmost=True)
        date_format = re.sub(_NAMED_MONTH, "%b", date_format)
    if not _TIME.search(date_format):
        day = text.str.to_date(date_format, strict=False)
        # %Y reads "26" as the year 26: leave it to a format with %y.
        return pl.when(day.dt.year() >= _FIRST_YEAR).then(day)
    if "%z" in date_format:
        aware = text.str.to_datetime(date_format, strict=False, time_unit="us")
        return aware.dt.convert_time_zone(around.run.timezone).dt.replace_time_zone(None)
    return text.str.to_datetime(date_format, strict=False, time_unit="us")


def outside_window(moment: pl.Expr, around: ReadContext) -> pl.Expr:
    """Whether a date is more than a year before the business date or too long after it: then a digit is wrong."""
    earliest = around.run.business_date - timedelta(days=EARLIEST_DAYS)
    latest = around.run.business_date + timedelta(days=around.latest_days)
    return ~moment.dt.date().is_between(earliest, latest).fill_null(value=True)


def with_offset(moment: pl.Expr, has_time: pl.Expr, *, at: str, around: ReadContext) -> pl.Expr:
    """ISO 8601 with the zone's offset; `at` is the time of day where none was written."""
    hours, minutes, seconds = (int(part) for part in (at + ":00").split(":")[:3])
    chosen = moment.dt.offset_by(f"{hours * 3600 + minutes * 60 + seconds}s")
    filled = pl.when(has_time).then(moment).otherwise(chosen)
    zoned = filled.dt.replace_time_zone(around.run.timezone, ambiguous="earliest", non_existent="null")
    return zoned.dt.strftime("%Y-%m-%dT%H:%M:%S%:z")


def no_such_day(text: str, formats: Sequence[str]) -> Issue | None:
    """Why a text that is written as a format wants names no day of the calendar, None if it is not so.

    >>> no_such_day("31-Nov-2026", ["%d-%b-%Y"]).code
    'date.no_such_day'
    """
    for date_format in (*formats, *_ISO, *_NAMED_MONTHS):
        found = re.fullmatch(_pattern(date_format), text.strip())
        parts = found.groupdict() if found else {}
        month = _MONTH_NUMBERS.get((parts.get("name") or "").lower(), int(parts.get("month") or 0))
        if not found or (parts.get("name") and not month):
            continue
        day, year = int(parts["day"]), int(parts["year"])
        year += 2000 if len(parts["year"]) == len("26") else 0
        if not 1 <= month <= _MONTHS:
            return Issue.of("date.day_for_month" if 1 <= day <= _MONTHS else "date.no_such_month", month=month)
        days = monthrange(year, month)[1] if year else day
        if not 1 <= day <= days:
            return Issue.of("date.no_such_day", month=month_name[month], year=year, days=days)
    return None


@cache
def _pattern(date_format: str) -> str:
    """A format as a pattern whose groups are day, month or its name, and year, each once."""
    parts: list[str] = []
    for literal, directive in re.findall(r"([^%]+)|%(-?[A-Za-z]|\.f|%)", _spelt_out(date_format)):
        group = re.escape(literal) if literal else _DIRECTIVE_PATTERNS.get(directive, r"[\w.:+]+")
        name = re.match(r"\(\?P<\w+>", group)
        parts.append(group if name is None or not any(part.startswith(name[0]) for part in parts) else r"\w+")
    return "".join(parts)


def written(date_format: str, at: str = "2026-11-03T18:05:09.25+0530") -> str:
    """How a moment is written in a format."""
    moment = pl.Series([at]).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z")
    return str(moment.dt.convert_time_zone("Asia/Kolkata").dt.strftime(date_format)[0])


def looks_like_a_date(text: pl.Expr) -> pl.Expr:
    """Whether a text cell seems to hold a date, in any way of writing it."""
    return text.str.contains(_LOOKS_LIKE_A_DATE).fill_null(value=False)
