"""What a page gets, and what it gives back: the same data for the template and for programs."""

import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.files.check import CheckedSheet
from logistics_batch.flows.mappings.mapping_files import MappingFiles
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
_MOST_FIELDS, _MOST_FIELDS_BESIDE_A_FILE = 20_000, 50
_MOST_UNREAD = 4  # times what is taken that is still read, so that the browser comes to read the answer
_CHECKS_KEPT, _STUDIOS_KEPT, _ROWS_KEPT, _CHECK_SECONDS = 24, 8, 200_000, 2 * 3600.0


@dataclass(frozen=True)
class SheetCheck:
    """A sheet that somebody looks at before it is dropped. came: as it was uploaded; now: with the cells corrected.

    job: the name of the job that it is for, "" if only a mapping was chosen. cells: sheet, row, column, and what stands
    there instead of what came.
    """

    person: str
    job: str
    mapping: str
    came: CheckedSheet
    now: CheckedSheet
    at: float
    cells: Mapping[tuple[str, int, int], str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Of the sheet as it is now."""
        return self.now.report.rows_read


@dataclass(frozen=True)
class StudioSheet:
    """A sample of which a mapping is made. look: what `look_at` says of it, as it was `wanted`; text: the mapping's.

    name: of the mapping that it was opened from, "" for a new one. report: what comes of the sample, None while the
    text cannot be used; wrong: why not; hints: what it says and need not.
    """

    person: str
    at: float
    file: str
    content: bytes = field(repr=False)
    wanted: Wanted
    look: Mapping[str, Any] = field(repr=False)
    text: str
    name: str = ""
    report: FileReport | None = None
    wrong: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Of the sample."""
        return self.report.rows_read if self.report else 0


class Looked(Protocol):
    """Something that a person looks at: whose it is, since when, and how many rows it has."""

    @property
    def person(self) -> str:
        """Who looks."""

    @property
    def at(self) -> float:
        """Since when, on the clock that never goes back."""

    @property
    def rows(self) -> int:
        """Of the sheet."""


_L = TypeVar("_L", bound=Looked)


class Kept(Generic[_L]):
    """The sheets that are looked at, in memory alone: the oldest go, and all after two hours or with the program."""

    def __init__(self, most: int = _CHECKS_KEPT) -> None:
        self._kept: dict[str, _L] = {}
        self._most = most
        self._lock = threading.Lock()

    def keep(self, new: _L) -> str:
        """Keep one; its name, which nobody guesses."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._kept[name] = new
            while len(self._kept) > self._most or (self._rows() > _ROWS_KEPT and len(self._kept) > 1):
                del self._kept[next(iter(self._kept))]
        return name

    def of(self, person: str, *, now: float) -> dict[str, _L]:
        """Those of a person, by name, the newest last."""
        with self._lock:
            for name in [name for name, each in self._kept.items() if now - each.at > _CHECK_SECONDS]:
                del self._kept[name]
            return {name: each for name, each in self._kept.items() if each.person == person}

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


@dataclass(frozen=True)
class Surface:
    """What the pages stand on.

    parts: what only reads and decides, shared by all pages. calling: parts that also call the service and its servers,
    opened for one piece of work. jobs: the workspace's jobs, and the calendar of each that has one; calendar: one by
    its name. mappings: the names of its mappings. behind: does a piece of work after the answer, one at a time. work:
    what people began here. run: a job's run, as the command makes it. files: the mapping files. doctor: every check of
    the command of that name. settings: each with its value and whether the workspace gives it, without secrets.
    print_queues: to which bundles may be sent. checks: sheets that are looked at before they are dropped. studios:
    samples of which mappings are made.
    """

    parts: Parts
    calling: Callable[[], AbstractContextManager[Parts]]
    jobs: Callable[[], tuple[Sequence[JobSpec], Mapping[str, Calendar]]]
    calendar: Callable[[str | None], Calendar]
    mappings: Callable[[], Sequence[str]]
    behind: Callable[[Callable[[], None]], None]
    work: Work
    run: Callable[[str, Order], JobOutcome]
    files: MappingFiles
    doctor: Callable[[], Iterable[Check]]
    settings: Callable[[], Iterable[tuple[str, str, bool]]]
    print_queues: Sequence[str] = ()
    checks: Kept[SheetCheck] = field(default_factory=Kept)
    studios: Kept[StudioSheet] = field(default_factory=lambda: Kept(_STUDIOS_KEPT))


def seen_by(on: Surface, who: SignedIn) -> Surface:
    """The same, of which somebody with partners sees only what belongs to their jobs.

    What belongs to a job is what its runs read, made and noted; of a job whose file is gone or wrong, nothing is seen.
    """
    if not who.partners:
        return on

    def jobs() -> tuple[Sequence[JobSpec], Mapping[str, Calendar]]:
        found, calendars = on.jobs()
        return [each for each in found if each.partner in who.partners], calendars

    try:
        names = [each.name for each in jobs()[0]]
    except LogisticsBatchError:  # told where jobs are shown
        names = []
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
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await _with_file(request, bytes(kept))
    return Posted(_fields(bytes(kept)))


async def _with_file(request: Request, body: bytes) -> Posted:
    async def stream() -> AsyncIterator[bytes]:
        yield body

    parser = MultiPartParser(request.headers, stream(), max_files=1, max_fields=_MOST_FIELDS_BESIDE_A_FILE)  # type: ignore[arg-type]
    fields: dict[str, list[str]] = {}
    upload = None
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        return Posted()
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if value.filename:
                upload = Upload(value.filename, await value.read())
            await value.close()
        else:
            fields.setdefault(name, []).append(value)
    return Posted(fields, upload)


def _fields(body: bytes) -> dict[str, list[str]]:
    """The fields of a form; of a body that is none, nothing."""
    form: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return form
    for name, value in pairs:
        form.setdefault(name, []).append(value)
    return form


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
