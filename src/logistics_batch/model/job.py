"""What a file `jobs/NAME.yaml` says: where files come from, which mapping reads them, where answers go, and when.

A key whose behaviour this version does not have is refused by name: a job that silently ignored `approve: required`
would send what a person wanted to see first.
"""

import re
from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from logistics_batch.model.complaints import AMOUNT, FILE_STEM, ONE_WORD
from logistics_batch.model.cron import Cron
from logistics_batch.model.duration import duration_seconds
from logistics_batch.model.order_state import END_STATUSES

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|[{}]")
_DAYS = re.compile(r"([+-]?\d{1,4})d")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")


def _complaint(text: str, remedy: str = "") -> PydanticCustomError:
    # As a template's value, so that braces in the text stay what they are.
    return PydanticCustomError("job", "{text}", {"text": text, "remedy": remedy})


def _refuse(value: object) -> Any:
    if value is None:
        return value
    raise _complaint("This version cannot do that yet.", "Remove the key.")


def _seconds(value: object) -> float:
    try:
        return duration_seconds(str(value))
    except ValueError as error:
        raise _complaint(str(error)) from error


def _percent(value: object) -> float:
    match = _PERCENT.fullmatch(str(value).strip())
    if match is None or float(match[1]) > 100:
        raise _complaint(f'"{value}" is no share of the rows.', 'Write it as "20%".')
    return float(match[1])


def _days(value: object) -> int:
    match = _DAYS.fullmatch(str(value).strip())
    if match is None:
        raise _complaint(f'"{value}" is no number of days from the business date.', 'Write "-3d", "0d" or "+7d".')
    return int(match[1])


def _names(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _dated(value: str) -> str:
    for found in _PLACEHOLDER.findall(value):
        if found != "{date}":
            raise _complaint(f'"{found}" is no placeholder of a path.', 'There is "{date}", the business date.')
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError) as error:
        raise _complaint(f'"{value}" is no time zone.', 'Write its IANA name, as "Asia/Kolkata".') from error
    return value


def _cron(value: object) -> Cron:
    try:
        return Cron.parse(str(value))
    except ValueError as error:
        raise _complaint(str(error)) from error


def dated_path(template: str, business_date: date) -> str:
    """A path of a job with its `{date}` filled in.

    >>> dated_path("/archive/{date}", date(2026, 11, 3))
    '/archive/2026-11-03'
    """
    return template.replace("{date}", business_date.isoformat())


Later = Annotated[Any, BeforeValidator(_refuse)]
Seconds = Annotated[float, BeforeValidator(_seconds)]
Percent = Annotated[float, BeforeValidator(_percent)]
Days = Annotated[int, BeforeValidator(_days)]
Path = Annotated[str, AfterValidator(_dated)]
Zone = Annotated[str, AfterValidator(_zone)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Place(_Part):
    """A folder on an SFTP server (by its name in the settings) or on this machine (relative to the workspace)."""

    sftp: str | None = None
    folder: str | None = None
    path: Path = "/"

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.sftp is None) == (self.folder is None):
            raise _complaint('A place is either "sftp: NAME" or "folder: PATH".', "Write one of the two.")
        return self

    def on(self, business_date: date) -> "Place":
        """The place of one day: `{date}` in its path is filled in."""
        return Place(sftp=self.sftp, folder=self.folder, path=dated_path(self.path, business_date))


class Ready(_Part):
    """When a dropped file is complete: listings alike, or a done-file beside it (`{name}` is the file's name)."""

    unchanged_for: int = Field(default=2, ge=2, le=100)
    poll_every_seconds: Seconds = Field(default=10.0, alias="poll_every", validate_default=False)
    done_file: str | None = None

    @field_validator("done_file")
    @classmethod
    def _names_the_file(cls, value: str | None) -> str | None:
        if value is not None and ("{name}" not in value or value == "{name}"):
            raise _complaint("A done-file's name is made from the file's name.", 'Write it as "{name}.done".')
        return value


class Source(Place):
    """Where a push job's files lie, and where they go afterwards; archive and quarantine are on the same server.

    Without `archive` (or `quarantine`) a processed (or refused) file stays where it lies.
    """

    pattern: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(default=("*",), min_length=1)
    ready: Ready = Ready()
    archive: Path | None = None
    quarantine: Path | None = None

    @property
    def place(self) -> Place:
        """Where the files are dropped."""
        return Place(sftp=self.sftp, folder=self.folder, path=self.path)


class Results(_Part):
    """Where answers go: on the source's server unless a server or folder is named."""

    sftp: str | None = None
    folder: str | None = None
    path: Path = "/"
    formats: tuple[Literal["xlsx", "csv"], ...] = ("xlsx", "csv")

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        if self.sftp is not None and self.folder is not None:
            raise _complaint('Results go either to "sftp: NAME" or to "folder: PATH".', "Write one of the two.")
        return self

    def place(self, source: Place | None = None) -> Place | None:
        """The place, beside `source` where none is named; None if there is neither."""
        if self.sftp is None and self.folder is None:
            return Place(sftp=source.sftp, folder=source.folder, path=self.path) if source else None
        return Place(sftp=self.sftp, folder=self.folder, path=self.path)


class Missed(StrEnum):
    """What becomes of runs that were missed because nothing was running."""

    LAST = "last"  # the latest of them runs, if it is not older than the grace
    NONE = "none"  # they are left out


class Schedule(_Part):
    """When a job runs by itself; without a time zone in that of the service."""

    cron: Annotated[Cron, BeforeValidator(_cron)]
    timezone: Zone | None = None
    missed: Missed = Missed.LAST
    grace_seconds: Seconds = Field(default=6 * 3600.0, alias="grace", validate_default=False)

    @field_validator("missed", mode="before")
    @classmethod
    def _not_all(cls, value: object) -> object:
        if value == "all":
            raise _complaint('This version cannot catch up "all" missed runs.', 'Write "last" or "none".')
        return value

    def zone(self, service_zone: str) -> ZoneInfo:
        """The zone in which the expression is read."""
        return ZoneInfo(self.timezone or service_zone)


class Budget(_Part):
    """How much of a file may be wrong before nothing of it is sent; a share of the rows in percent, 0 to 100."""

    invalid_rows_percent: Percent = Field(alias="invalid_rows")


class _Job(_Part):
    sends: ClassVar[bool] = False  # whether runs of this kind take the ledger's lock

    name: str = Field(default="", pattern=FILE_STEM)
    schedule: Schedule | None = None
    expect: Later = None
    after: Later = None
    notify: Later = None


class PushJob(_Job):
    """Files come in, documents go out, answers go back."""

    sends: ClassVar[bool] = True

    kind: Literal["push"]
    mapping: str = Field(min_length=1)
    source: Source
    results: Results | None = None
    budget: Budget | None = None
    approve: Literal["never", "required"] = "never"
    on_change: Literal["hold", "update"] = "hold"

    @property
    def results_place(self) -> Place | None:
        """Where answers go beside the reports folder; None: nowhere else."""
        return self.results.place(self.source) if self.results else None


class Window(_Part):
    """A range of dates around the business date, both ends inclusive; `by` names the date of the ASN that is meant."""

    by: Literal["created", "modified", "delivery"]
    from_days: Days = Field(alias="from")
    to_days: Days = Field(alias="to")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_days > self.to_days:
            raise _complaint("The window ends before it begins.", '"from" is the earlier day.')
        return self

    def around(self, business_date: date) -> tuple[date, date]:
        """The first and the last day."""
        return business_date + timedelta(days=self.from_days), business_date + timedelta(days=self.to_days)


class Receipts(Place):
    """Where files of goods received lie (a folder or one file), and the `receipt.read` mapping that reads them."""

    mapping: str = Field(min_length=1)
    pattern: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(default=("*",), min_length=1)

    @property
    def place(self) -> Place:
        """Where the files lie."""
        return Place(sftp=self.sftp, folder=self.folder, path=self.path)


class Margin(_Part):
    """How far apart two sides may be before it counts; of several limits the wider holds. `amount` is in rupees."""

    percent: float | None = Field(default=None, ge=0, le=100)
    units: float | None = Field(default=None, ge=0)
    amount: Annotated[str, Field(pattern=AMOUNT)] | None = None


class Tolerance(Margin):
    """The margin of a class of differences, and other ones for some suppliers and SKUs; `days` for classes of dates."""

    days: int | None = Field(default=None, ge=0, le=1000)
    suppliers: dict[str, Margin] = Field(default_factory=dict)
    skus: dict[str, Margin] = Field(default_factory=dict)


class ReconcileJob(_Job):
    """ASNs of a range of dates against the ledger and the receipts.

    claim_days: how long after the delivery date goods can be claimed.
    """

    kind: Literal["reconcile"]
    window: Window
    receipts: Receipts | None = None
    tolerance: dict[str, Tolerance] = Field(default_factory=dict)
    claim_days: int = Field(default=60, ge=1, le=1000)
    previous: Literal["results"] | None = None
    results: Results | None = None

    @model_validator(mode="after")
    def _previous_lies_somewhere(self) -> Self:
        if self.previous is not None and self.results_place is None:
            raise _complaint('"previous: results" has no place to read from.', 'Say under "results" where reports go.')
        return self

    @property
    def results_place(self) -> Place | None:
        """Where the report goes beside the reports folder; beside the receipts unless a server or folder is named."""
        return self.results.place(self.receipts) if self.results else None


SortKey = Annotated[str, Field(pattern=ONE_WORD)]


class LabelsJob(_Job):
    """A bundle of labels in the order in which people pick.

    orders: all that were never printed (also None), or those of all runs for the business date. from_run: instead, the
    orders of one run: its id, or a job's name for its latest run. per_group: each group in files of its own.
    """

    kind: Literal["labels"]
    orders: Literal["unprinted", "business_date"] | None = None
    from_run: str | None = Field(default=None, min_length=1)
    layout: Literal["4x6", "a4-2up", "a4-4up", "letter-4up"] = "4x6"
    sort: tuple[SortKey, ...] = ()
    reverse: bool = False
    max_pages: int = Field(default=200, ge=1, le=10_000)
    per_group: bool = False
    results: Results | None = None

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if self.orders is not None and self.from_run is not None:
            raise _complaint("There are two choices of orders.", 'Write either "orders: unprinted" or "from_run: JOB".')
        return self

    @property
    def results_place(self) -> Place | None:
        """Where the bundle goes beside the reports folder; None: nowhere else."""
        return self.results.place() if self.results else None


class Feed(Place):
    """Where files of changed orders go for a warehouse system; one that could not be delivered goes there later."""

    format: Literal["csv", "xlsx"] = "csv"

    @model_validator(mode="after")
    def _is_one_place(self) -> Self:
        if "{date}" in self.path:
            raise _complaint(
                'A feed goes to one place, so "{date}" is no part of its path.', "A feed's name has its number."
            )
        return self


class OrderStatusJob(_Job):
    """What became of the orders that were accepted.

    sent_within_seconds: how far back orders are followed. poll_after_seconds: how long an order may be silent before
    the service is asked for it. max_calls: of one run. end_statuses: with which of them an order is at its end.
    """

    kind: Literal["order_status"]
    sent_within_seconds: Seconds = Field(default=30 * 86400.0, alias="sent_within", gt=0, validate_default=False)
    poll_after_seconds: Seconds = Field(default=6 * 3600.0, alias="poll_after", validate_default=False)
    max_calls: int = Field(default=900, ge=1, le=100_000)
    end_statuses: tuple[str, ...] = Field(default=END_STATUSES, min_length=1)
    results: Results | None = None
    feed: Feed | None = None

    @property
    def results_place(self) -> Place | None:
        """Where the report goes beside the reports folder; None: nowhere else."""
        return self.results.place() if self.results else None


class SettleJob(_Job):
    """Doubts that are due are settled."""

    sends: ClassVar[bool] = True

    kind: Literal["settle"]


JobSpec = PushJob | ReconcileJob | LabelsJob | OrderStatusJob | SettleJob
JOB_KINDS: dict[str, type[JobSpec]] = {
    "push": PushJob,
    "reconcile": ReconcileJob,
    "labels": LabelsJob,
    "order_status": OrderStatusJob,
    "settle": SettleJob,
}
