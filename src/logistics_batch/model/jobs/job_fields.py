"""The small values that job files and calendars are made of, and how a wrong one is complained about."""

import re
from datetime import date, time
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from logistics_batch.model.jobs.timing import duration_seconds

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|[{}]")
_DAYS = re.compile(r"([+-]?\d{1,4})d")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


def complaint(text: str, remedy: str = "") -> PydanticCustomError:
    """What is wrong with a value, and what to write instead."""
    # As a template's value, so that braces in the text stay what they are.
    return PydanticCustomError("job", "{text}", {"text": text, "remedy": remedy})


def _seconds(value: object) -> float:
    try:
        return duration_seconds(str(value))
    except ValueError as error:
        raise complaint(str(error)) from error


def _percent(value: object) -> float:
    match = _PERCENT.fullmatch(str(value).strip())
    if match is None or float(match[1]) > 100:
        raise complaint(f'"{value}" is no share of the rows.', 'Write it as "20%".')
    return float(match[1])


def _days(value: object) -> int:
    match = _DAYS.fullmatch(str(value).strip())
    if match is None:
        raise complaint(f'"{value}" is no number of days from the business date.', 'Write "-3d", "0d" or "+7d".')
    return int(match[1])


def _time(value: object) -> time:
    match = _TIME.fullmatch(str(value).strip())
    if match is None:
        raise complaint(f'"{value}" is no time of day.', 'Write it as "21:00".')
    return time(int(match[1]), int(match[2]))


def listed(value: object) -> object:
    """One text as a list of one."""
    return (value,) if isinstance(value, str) else value


def _dated(value: str) -> str:
    for found in _PLACEHOLDER.findall(value):
        if found != "{date}":
            raise complaint(f'"{found}" is no placeholder of a path.', 'There is "{date}", the business date.')
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError) as error:
        raise complaint(f'"{value}" is no time zone.', 'Write its IANA name, as "Asia/Kolkata".') from error
    return value


def dated_path(template: str, business_date: date) -> str:
    """A path of a job with its `{date}` filled in.

    >>> dated_path("/archive/{date}", date(2026, 11, 3))
    '/archive/2026-11-03'
    """
    return template.replace("{date}", business_date.isoformat())


Seconds = Annotated[float, BeforeValidator(_seconds)]
Percent = Annotated[float, BeforeValidator(_percent)]
Days = Annotated[int, BeforeValidator(_days)]
TimeOfDay = Annotated[time, BeforeValidator(_time)]
Path = Annotated[str, AfterValidator(_dated)]
Zone = Annotated[str, AfterValidator(_zone)]
Names = Annotated[tuple[str, ...], BeforeValidator(listed)]


class JobPart(BaseModel):
    """A part of a file: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True)
