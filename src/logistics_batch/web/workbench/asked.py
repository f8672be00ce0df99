"""What a page gets, and what it gives back: the same data for the template and for programs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec
from logistics_batch.web.workbench.people import SignedIn

_MOST_DIGITS = 15


@dataclass(frozen=True)
class Surface:
    """What the pages stand on.

    parts: what only reads and decides, shared by all pages. calling: parts that also call the service and its servers,
    opened for one piece of work. jobs: the workspace's jobs, and the calendar of each that has one. behind: does a
    piece of work after the answer, one at a time.
    """

    parts: Parts
    calling: Callable[[], AbstractContextManager[Parts]]
    jobs: Callable[[], tuple[Sequence[JobSpec], Mapping[str, Calendar]]]
    behind: Callable[[Callable[[], None]], None]


@dataclass(frozen=True)
class PageRequest:
    """One request. path: what the address names. query, form: texts; of a name that came several times all are in
    `several`."""

    on: Surface
    who: SignedIn
    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    several: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def parts(self) -> Parts:
        """What only reads and decides."""
        return self.on.parts

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


class NotThere(Exception):
    """There is nothing of that name. The text says of which."""


class Changed(Exception):
    """What was shown is not what is there now; it has to be looked at again."""
