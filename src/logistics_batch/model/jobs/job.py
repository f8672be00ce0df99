"""What a file `jobs/NAME.yaml` says: where files come from, which mapping reads them, where answers go, and when.

A key whose behaviour this version does not have is refused by name: a job that silently ignored `approve: required`
would send what a person wanted to see first.
"""

from datetime import date, time, timedelta
from enum import StrEnum
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, field_validator, model_validator

from logistics_batch.model.complaints import AMOUNT, FILE_STEM, ONE_WORD, PRINT_QUEUE
from logistics_batch.model.jobs.job_fields import (
    Days,
    JobPart,
    Names,
    Path,
    Percent,
    Seconds,
    TimeOfDay,
    Zone,
    complaint,
    dated_path,
    listed,
)
from logistics_batch.model.jobs.timing import Cron, Every
from logistics_batch.model.order_state import END_STATUSES

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


class JobPlace(JobPart):
    """A folder on an SFTP server (by its name in the settings) or on this machine (relative to the workspace)."""

    sftp: str | None = None
    folder: str | None = None
    path: Path = "/"

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.sftp is None) == (self.folder is None):
            raise complaint('A place is either "sftp: NAME" or "folder: PATH".', "Write one of the two.")
        return self

    @property
    def place(self) -> "JobPlace":
        """The place alone, whatever else a job says of it."""
        return JobPlace(sftp=self.sftp, folder=self.folder, path=self.path)

    def on(self, business_date: date) -> Self:
        """The place of one day: `{date}` in its path is filled in."""
        return self.model_copy(update={"path": dated_path(self.path, business_date)})


class Ready(JobPart):
    """When a dropped file is complete: listings alike, or a done-file beside it (`{name}` is the file's name)."""

    unchanged_for: int = Field(default=2, ge=2, le=100)
    poll_every_seconds: Seconds = Field(default=10.0, alias="poll_every", validate_default=False)
    done_file: str | None = None

    @field_validator("done_file")
    @classmethod
    def _names_the_file(cls, value: str | None) -> str | None:
        if value is not None and ("{name}" not in value or value == "{name}"):
            raise complaint("A done-file's name is made from the file's name.", 'Write it as "{name}.done".')
        return value

    def done_name(self, name: str) -> str:
        """The name of the done-file that belongs to a file; "" without such a rule."""
        return (self.done_file or "").replace("{name}", name)


class Source(JobPlace):
    """Where a push job's files lie, and where they go afterwards; archive and quarantine are on the same server.

    Without `archive` (or `quarantine`) a processed (or refused) file stays where it lies. misnamed_after_seconds: so
    long after it was seen, a file whose name fits no job goes to quarantine with a note; None: it stays.
    """

    pattern: Names = Field(default=("*",), min_length=1)
    ready: Ready = Field(default_factory=Ready)
    archive: Path | None = None
    quarantine: Path | None = None
    misnamed_after_seconds: Seconds | None = Field(default=None, alias="misnamed_after")

    @model_validator(mode="after")
    def _misnamed_files_go_somewhere(self) -> Self:
        if self.misnamed_after_seconds is not None and self.quarantine is None:
            raise complaint("Misnamed files have nowhere to go.", "Name a folder under quarantine.")
        return self


class Results(JobPart):
    """Where answers go: on the source's server unless a server or folder is named."""

    sftp: str | None = None
    folder: str | None = None
    path: Path = "/"
    formats: tuple[Literal["xlsx", "csv"], ...] = ("xlsx", "csv")

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        if self.sftp is not None and self.folder is not None:
            raise complaint('Results go either to "sftp: NAME" or to "folder: PATH".', "Write one of the two.")
        return self

    def place(self, source: JobPlace | None = None) -> JobPlace | None:
        """The place, beside `source` where none is named; None if there is neither."""
        if self.sftp is None and self.folder is None:
            return JobPlace(sftp=source.sftp, folder=source.folder, path=self.path) if source else None
        return JobPlace(sftp=self.sftp, folder=self.folder, path=self.path)


class Budget(JobPart):
    """How much of a file may be wrong before nothing of it is sent; a share of the rows in percent, 0 to 100."""

    invalid_rows_percent: Percent = Field(alias="invalid_rows")


class _Job(JobPart):
    """partner: whose people see what belongs to it, beside those who see everything.

    resume_for_seconds: for how long a run that stopped early is tried again; by default as long as the grace.
    """

    name: str = Field(default="", pattern=FILE_STEM)
    partner: str = Field(default="", pattern=FILE_STEM)
    schedule: Schedule | None = None
    after: Names = ()
    notify: Annotated[tuple[NotifyKind, ...], BeforeValidator(listed)] = DEFAULT_NOTIFY
    resume_for_seconds: Seconds | None = Field(default=None, alias="resume_for")

    @property
    def tried_for(self) -> timedelta:
        """How long after its time, or its start by hand, a run that stopped early may begin again."""
        grace = self.schedule.grace_seconds if self.schedule else DEFAULT_GRACE_SECONDS
        return timedelta(seconds=grace if self.resume_for_seconds is None else self.resume_for_seconds)


class _DeliveringJob(_Job):
    """A job whose answers or reports go to a place beside the reports folder, if it names one."""

    results: Results | None = None

    @property
    def results_place(self) -> JobPlace | None:
        """Where they go, beside what the job reads unless a server or folder is named; None: nowhere else."""
        return self.results.place(self._read_from()) if self.results else None

    def _read_from(self) -> JobPlace | None:
        """The place that the job reads, if it reads one."""
        return None


class PushJob(_DeliveringJob):
    """Files come in, documents go out, answers go back."""

    kind: Literal["push"]
    mapping: str = Field(min_length=1)
    source: Source
    expect: Expect | None = None
    budget: Budget | None = None
    approve: Literal["never", "required"] = "never"
    on_change: Literal["hold", "update"] = "hold"

    def _read_from(self) -> JobPlace:
        return self.source


class Window(JobPart):
    """A range of dates around the business date, both ends inclusive; `by` names the date of the ASN that is meant."""

    by: Literal["created", "modified", "delivery"]
    from_days: Days = Field(alias="from")
    to_days: Days = Field(alias="to")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_days > self.to_days:
            raise complaint("The window ends before it begins.", '"from" is the earlier day.')
        return self

    def around(self, business_date: date) -> tuple[date, date]:
        """The first and the last day."""
        return business_date + timedelta(days=self.from_days), business_date + timedelta(days=self.to_days)


class Lists(JobPlace):
    """Where lists of goods received or ordered lie (a folder or one file), and the `receipt.read` mapping for them."""

    mapping: str = Field(min_length=1)
    pattern: Names = Field(default=("*",), min_length=1)


class Margin(JobPart):
    """How far apart two sides may be before it counts; of several limits the wider holds. `amount` is in rupees."""

    percent: float | None = Field(default=None, ge=0, le=100)
    units: float | None = Field(default=None, ge=0)
    amount: Annotated[str, Field(pattern=AMOUNT)] | None = None


class Tolerance(Margin):
    """The margin of a class of differences, and other ones for some suppliers and SKUs; `days` for classes of dates."""

    days: int | None = Field(default=None, ge=0, le=1000)
    suppliers: dict[str, Margin] = Field(default_factory=dict)
    skus: dict[str, Margin] = Field(default_factory=dict)


class ReconcileJob(_DeliveringJob):
    """ASNs of a range of dates against the ledger, the receipts and the purchase orders.

    claim_days: how long after the delivery date goods can be claimed.
    """

    kind: Literal["reconcile"]
    window: Window
    receipts: Lists | None = None
    purchase_orders: Lists | None = None
    tolerance: dict[str, Tolerance] = Field(default_factory=dict)
    claim_days: int = Field(default=60, ge=1, le=1000)
    previous: Literal["results"] | None = None

    @model_validator(mode="after")
    def _previous_lies_somewhere(self) -> Self:
        if self.previous is not None and self.results_place is None:
            raise complaint('"previous: results" has no place to read from.', 'Say under "results" where reports go.')
        return self

    def _read_from(self) -> JobPlace | None:
        return self.receipts


SortKey = Annotated[str, Field(pattern=ONE_WORD)]


class Printer(JobPart):
    """A queue of the printing system (CUPS), and what it is told.

    media, tray: as the printer names them (`lpoptions -p QUEUE -l`). zpl: the labels are drawn as ZPL graphics with so
    many dots per inch, for a raw queue of a thermal printer. wait_seconds: for so long the queue is watched.
    """

    queue: str = Field(pattern=PRINT_QUEUE)
    media: str = Field(default="", pattern=FILE_STEM)
    tray: str = Field(default="", pattern=FILE_STEM)
    copies: int = Field(default=1, ge=1, le=20)
    zpl: Literal[203, 300] | None = None
    wait_seconds: Seconds = Field(default=120.0, alias="wait", validate_default=False)


def _printer(value: object) -> object:
    """The name of a queue alone is a printer."""
    return {"queue": value} if isinstance(value, str) else value


class LabelsJob(_DeliveringJob):
    """A bundle of labels in the order in which people pick.

    orders: all that were never printed (also None), or those of all runs for the business date. from_run: instead, the
    orders of one run: its id, or a job's name for its latest run. per_group: each group in files of its own. printer:
    where the labels are printed as soon as the bundle is made.
    """

    kind: Literal["labels"]
    orders: Literal["unprinted", "business_date"] | None = None
    from_run: str | None = Field(default=None, min_length=1)
    layout: Literal["4x6", "a4-2up", "a4-4up", "letter-4up"] = "4x6"
    sort: tuple[SortKey, ...] = ()
    reverse: bool = False
    max_pages: int = Field(default=200, ge=1, le=10_000)
    per_group: bool = False
    printer: Annotated[Printer, BeforeValidator(_printer)] | None = Field(default=None, alias="print")

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if self.orders is not None and self.from_run is not None:
            raise complaint("There are two choices of orders.", 'Write either "orders: unprinted" or "from_run: JOB".')
        return self


class Feed(JobPlace):
    """Where files of changed orders go for a warehouse system; one that could not be delivered goes there later."""

    format: Literal["csv", "xlsx"] = "csv"

    @model_validator(mode="after")
    def _is_one_place(self) -> Self:
        if "{date}" in self.path:
            raise complaint(
                'A feed goes to one place, so "{date}" is no part of its path.', "A feed's name has its number."
            )
        return self


class OrderStatusJob(_DeliveringJob):
    """What became of the orders that were accepted.

    sent_within_seconds: how far back orders are followed. poll_after_seconds: how long an order may be silent before
    the service is asked for it. max_calls: of one run. end_statuses: with which of them an order is at its end.
    """

    kind: Literal["order_status"]
    sent_within_seconds: Seconds = Field(default=30 * 86400.0, alias="sent_within", gt=0, validate_default=False)
    poll_after_seconds: Seconds = Field(default=6 * 3600.0, alias="poll_after", validate_default=False)
    max_calls: int = Field(default=900, ge=1, le=100_000)
    end_statuses: tuple[str, ...] = Field(default=END_STATUSES, min_length=1)
    feed: Feed | None = None


class SettleJob(_Job):
    """Doubts that are due are settled."""

    kind: Literal["settle"]


JobSpec = PushJob | ReconcileJob | LabelsJob | OrderStatusJob | SettleJob
JOB_KINDS: dict[str, type[JobSpec]] = {
    "push": PushJob,
    "reconcile": ReconcileJob,
    "labels": LabelsJob,
    "order_status": OrderStatusJob,
    "settle": SettleJob,
}


def calendars_of(job: JobSpec) -> list[str]:
    """The calendars that a job names."""
    named = [job.schedule.calendar if job.schedule else None]
    if isinstance(job, PushJob) and job.expect:
        named.append(job.expect.calendar)
    return sorted({name for name in named if name is not None})
