"""When a job runs by itself, which file is expected until when, and of what a person is told."""

from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, model_validator

from logistics_batch.model.complaints import FILE_STEM
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.cron import Cron
from logistics_batch.model.jobs.interval import Every
from logistics_batch.model.jobs.job_fields import JobPart, Seconds, TimeOfDay, Zone, complaint

NotifyKind = Literal[
    "on_failure",
    "on_held",
    "on_invalid_rows",
    "on_missing_file",
    "on_late_file",
    "on_empty_file",
    "on_duplicate_file",
    "on_success",
]
DEFAULT_GRACE_SECONDS = 6 * 3600.0
DEFAULT_NOTIFY: tuple[NotifyKind, ...] = (
    "on_failure",
    "on_held",
    "on_missing_file",
    "on_late_file",
    "on_empty_file",
    "on_duplicate_file",
)


def _cron(value: object) -> Cron:
    try:
        return Cron.parse(str(value))
    except ValueError as error:
        raise complaint(str(error)) from error


def _every(value: object) -> Every:
    try:
        return Every.parse(str(value))
    except ValueError as error:
        raise complaint(str(error)) from error


class Missed(StrEnum):
    """What becomes of runs that were missed because nothing was running."""

    LAST = "last"  # the latest of them runs, if it is not older than the grace
    ALL = "all"  # each of them that is not older than the grace runs, the oldest first
    NONE = "none"  # they are left out


class Schedule(JobPart):
    """When a job runs by itself; without a time zone in that of the service, without a calendar on every day."""

    cron: Annotated[Cron, BeforeValidator(_cron)] | None = None
    every: Annotated[Every, BeforeValidator(_every)] | None = None
    timezone: Zone | None = None
    calendar: str | None = Field(default=None, pattern=FILE_STEM)
    missed: Missed = Missed.LAST
    grace_seconds: Seconds = Field(default=DEFAULT_GRACE_SECONDS, alias="grace", validate_default=False)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.cron is None) == (self.every is None):
            raise complaint("A schedule is either a cron line or an interval.", 'Write "cron" or "every".')
        return self

    @property
    def timing(self) -> Cron | Every:
        """The cron line or the interval."""
        timing = self.cron or self.every
        assert timing is not None
        return timing

    @property
    def text(self) -> str:
        """The schedule in a few words."""
        words = self.cron.text if self.cron else f"every {self.timing.text}"
        return f"{words}, calendar {self.calendar}" if self.calendar else words

    def zone(self, service_zone: str) -> ZoneInfo:
        """The zone in which the expression is read."""
        return ZoneInfo(self.timezone or service_zone)


class Expect(JobPart):
    """A file that has to come on each working day until `by`, in the job's zone.

    since: from when on a file counts, by default from midnight; a time later than `by` is that of the evening before.
    """

    by: TimeOfDay
    since: TimeOfDay = time(0, 0)
    calendar: str | None = Field(default=None, pattern=FILE_STEM)

    def opens(self, day: date, zone: ZoneInfo) -> datetime:
        """From when on a file counts for a day."""
        return datetime.combine(day - timedelta(days=1) if self.since > self.by else day, self.since, zone)

    def deadline(self, day: date, zone: ZoneInfo) -> datetime:
        """Until when the file for a day has to be there."""
        return datetime.combine(day, self.by, zone)

    def closes(self, day: date, zone: ZoneInfo, calendar: Calendar) -> datetime:
        """From when on a file counts for the next expected day, and no longer for this one."""
        following = calendar.next_working(day)
        return self.opens(following or day + timedelta(days=7), zone)
