"""What a page gets, and what it gives back: the same data for the template and for programs."""

import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.check import CheckedSheet
from logistics_batch.flows.mappings.mapping_files import MappingFiles, digest_of
from logistics_batch.flows.mappings.suggest_mapping import Wanted
from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec
from logistics_batch.model.report import FileReport
from logistics_batch.operate.doctor import Check
from logistics_batch.operate.run_job import JobOutcome, Order
from logistics_batch.web.workbench.people import SignedIn
from logistics_batch.web.workbench.work import Work

_MOST_DIGITS = 15
_MOST_FIELDS = 20_000
_MOST_UNREAD = 4  # times what is taken that is still read, so that the browser comes to read the answer
_ROWS_KEPT, _CHECK_SECONDS = 200_000, 2 * 3600.0


@dataclass(frozen=True, kw_only=True)
class SheetCheck:
    """A sheet that somebody looks at before it is dropped. came: as it was uploaded; now: with the cells corrected.

    job: the name of the job that it is for, "" if only a mapping was chosen. cells: sheet, row, column, and what stands
    there instead of what came.
    """

    person: str
    at: float  # on the clock that never goes back
    job: str
    mapping: str
    came: CheckedSheet
    now: CheckedSheet
    cells: Mapping[tuple[str, int, int], str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Of the sheet as it is now."""
        return self.now.report.rows_read

    @property
    def seen(self) -> str:
        """A digest of the sheet as it is now, as forms bring it along."""
        return self.now.sha256[:16]


@dataclass(frozen=True, kw_only=True)
class StudioSheet:
    """A sample of which a mapping is made. look: what `look_at` says of it, as it was `wanted`; text: the mapping's.

    name: of the mapping that it was opened from, "" for a new one. report: what comes of the sample, None while the
    text cannot be used; wrong: why not; hints: what it says and need not.
    """

    person: str
    at: float  # on the clock that never goes back
    file: str
    content: bytes = field(repr=False)
    wanted: Wanted
    look: Mapping[str, Any] = field(repr=False)
    text: str
    name: str
    report: FileReport | None = None
    wrong: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Of the sample."""
        return self.report.rows_read if self.report else 0

    @property
    def seen(self) -> str:
        """A digest of the mapping's text, as forms bring it along."""
        return digest_of(self.text)


_L = TypeVar("_L", SheetCheck, StudioSheet)


class Kept(Generic[_L]):
    """The sheets that are looked at, in memory alone: the oldest go, and all after two hours or with the program."""

    def __init__(self, most: int, *, thing: str, gone: str, changed: str) -> None:
        """thing: what one is called; gone, changed: what is said of one that is not kept, or not as it was shown."""
        self._kept: dict[str, _L] = {}
        self._most, self._thing, self._gone, self._changed = most, thing, gone, changed
        self._lock = threading.Lock()

    def keep(self, new: _L) -> str:
        """Keep one; its name, which nobody guesses."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[name] = new
            while len(self._kept) > self._most or (self._rows() > _ROWS_KEPT and len(self._kept) > 1):
                del self._kept[next(iter(self._kept))]
        return name

    def of(self, asked: "PageRequest") -> dict[str, _L]:
        """Those of who asks, by name, the newest last."""
        now, person = asked.parts.clock.monotonic(), asked.who.name
        with self._lock:
            for name in [name for name, each in self._kept.items() if now - each.at > _CHECK_SECONDS]:
                del self._kept[name]
            return {name: each for name, each in self._kept.items() if each.person == person}

    def one(self, asked: "PageRequest", name: str) -> _L:
        """That of a name. Raises NotThere."""
        found = self.of(asked).get(name)
        if found is None:
            raise NotThere(f"This {self._gone}")
        return found

    def as_seen(self, asked: "PageRequest") -> tuple[str, _L]:
        """The name and the one that a form names. Raises Changed unless it is as the form showed it."""
        name = asked.form.get("id", "")
        if not name:
            raise UsageError(f"No {self._thing} is named.", remedy="Open the page again.")
        found = self.one(asked, name)
        if asked.form.get("seen") != found.seen:
            raise Changed(f"The {self._changed} since it was shown.")
        return name, found

    def change(self, name: str, seen: _L, to: _L) -> None:
        """Keep another in the place of one that was seen. Raises Changed if that is not there any more."""
        with self._lock:
            if self._kept.get(name) is not seen:
                raise Changed("It was changed elsewhere meanwhile.")
            self._kept[name] = to

    def forget(self, name: str) -> None:
        """Keep one no longer."""
        with self._lock:
            self._kept.pop(name, None)

    def _rows(self) -> int:
        return sum(each.rows for each in self._kept.values())


def _checks() -> Kept[SheetCheck]:
    gone = "check is not kept any more, or is somebody else's. Nothing was sent; check the sheet again."
    return Kept(24, thing="sheet", gone=gone, changed="sheet was corrected elsewhere")


def _studios() -> Kept[StudioSheet]:
    gone = "sample is not kept any more, or is somebody else's. What was saved is in mappings/."
    return Kept(8, thing="sample", gone=gone, changed="mapping was changed elsewhere")


class KnownJobs(NamedTuple):
    """The workspace's jobs that can be used, the calendar of each that has one by its job's name, and in words what is
    wrong with the others.
    """

    usable: Sequence[JobSpec]
    calendars: Mapping[str, Calendar]
    wrong: str


@dataclass(frozen=True)
class Surface:
    """What the pages stand on.

    parts: what only reads and decides, shared by all pages. calling: parts that also call the service and its servers,
    opened for one piece of work. jobs: the workspace's jobs, read anew. calendar: one by its name. mappings: the names
    of its mappings. behind: does a piece of work after the answer, one at a time. work: what people began here. run: a
    job's run, as the command makes it. files: the mapping files. doctor: every check of the command of that name.
    settings: each with its value and whether the workspace gives it, without secrets. print_queues: to which bundles
    may be sent. checks: sheets that are looked at before they are dropped. studios: samples of which mappings are made.
    """

    parts: Parts
    calling: Callable[[], AbstractContextManager[Parts]]
    jobs: Callable[[], KnownJobs]
    calendar: Callable[[str | None], Calendar]
    mappings: Callable[[], Sequence[str]]
    behind: Callable[[Callable[[], None]], None]
    work: Work
    run: Callable[[str, Order], JobOutcome]
    files: MappingFiles
    doctor: Callable[[], Iterable[Check]]
    settings: Callable[[], Iterable[tuple[str, str, bool]]]
    print_queues: Sequence[str] = ()
    checks: Kept[SheetCheck] = field(default_factory=_checks)
    studios: Kept[StudioSheet] = field(default_factory=_studios)


def seen_by(on: Surface, who: SignedIn) -> Surface:
    """The same, of which somebody with partners sees only what belongs to their jobs.

    What belongs to a job is what its runs read, made and noted; of a job whose file is gone or wrong, nothing is seen.
    """
    if not who.partners:
        return on

    def jobs() -> KnownJobs:
        found = on.jobs()
        return KnownJobs([each for each in found.usable if each.partner in who.partners], found.calendars, wrong="")

    names = [each.name for each in jobs().usable]
    return replace(on, parts=replace(on.parts, ledger=on.parts.ledger.of_jobs(names)), jobs=jobs)


@dataclass(frozen=True)
class Upload:
    """A file that a form brought."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Posted:
    """The fields of a form, each with its values, and the file that came with it."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    upload: Upload | None = None


async def posted(request: Request, *, most: int) -> Posted | None:
    """What a request brings; of a body that is no form nothing, and None if it is more than `most` bytes."""
    kept, came = bytearray(), 0
    async for chunk in request.stream():
        came += len(chunk)
        if came > most * _MOST_UNREAD:
            return None
        if came <= most:
            kept += chunk
    if came > most:
        return None
    return await _read(request, bytes(kept))


async def _read(request: Request, body: bytes) -> Posted:
    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    fields: dict[str, list[str]] = {}
    upload = None
    try:
        form = await Request(request.scope, receive).form(max_files=1, max_fields=_MOST_FIELDS)
    except (MultiPartException, KeyError, ValueError):
        return Posted()
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.setdefault(name, []).append(value)
        elif value.filename:
            upload = Upload(value.filename, await value.read())
    await form.close()
    return Posted(fields, upload)


@dataclass(frozen=True)
class PageRequest:
    """One request. path: what the address names. query, form: texts; of a name that came several times all are in
    `several`. upload: the file that a form brought, if it brought one."""

    on: Surface
    who: SignedIn
    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    several: Mapping[str, Sequence[str]] = field(default_factory=dict)
    upload: Upload | None = None

    @property
    def parts(self) -> Parts:
        """What only reads and decides."""
        return self.on.parts

    @property
    def mark(self) -> str:
        """Another text as soon as what pages show may have changed."""
        ended = sum(bool(each.outcome) for each in self.on.work.all())
        return f"{self.parts.ledger.itself.moment()}-{ended}"

    @property
    def now(self) -> str:
        """The wall time as the ledger keeps it."""
        return self.parts.now


def number_of(text: str) -> int | None:
    """A number that a table may have; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None


@dataclass(frozen=True)
class PageData:
    """A page: its template's name and its data, which is also its JSON. status: of HTTP."""

    template: str
    data: Mapping[str, Any]
    status: int = 200


@dataclass(frozen=True)
class Moved:
    """The page to go to, and what is said there once."""

    to: str
    said: str = ""


@dataclass(frozen=True)
class Download:
    """A file to keep, under its name."""

    name: str
    content: bytes = field(repr=False)


class NotThere(Exception):
    """There is nothing of that name. The text says of which."""


class Changed(Exception):
    """What was shown is not what is there now; it has to be looked at again."""
