"""Functions that work on files from outside run in a child process with little memory and time, and no environment.

What goes there is ours, and travels pickled. What comes back was made by a process that foreign bytes may have taken
over, and is data alone: JSON, frames as Arrow files in a private folder, and objects of the classes that are asked for.
"""

import dataclasses
import io
import logging
import pickle
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

import polars as pl

from logistics_batch import errors
from logistics_batch.child_process import Child, ChildAnswer, ChildFailed, ChildLost, Interrupted
from logistics_batch.errors import FileHeld, LogisticsBatchError, RunStopped
from logistics_batch.intake.names import held, printable
from logistics_batch.model.document import Documents, MappedFile, Operation, OrderNumber
from logistics_batch.model.issue import Issue, Place
from logistics_batch.scratch import scratch_folder

_SEVERAL = {"tuple": tuple, "list": list, "frozenset": frozenset}
_OF_HELD = ("code", "values", "sheet", "header_row")
_ROWS_FOR_ONE = 250_000  # so many rows may take what a question may; their answers take a quarter of it or less
_KNOWN = (MappedFile, OrderNumber, Operation)

_log = logging.getLogger(__name__)

_P = ParamSpec("_P")
_T = TypeVar("_T")


class LimitedWork:
    """Calls functions in a child process that is kept for the next call; threads take turns."""

    def __init__(self, child: Child) -> None:
        """child: of WORKER; whoever hands it in ends it."""
        self._child = child

    def __call__(
        self, work: Callable[_P, _T], *, about: str, returns: Sequence[type] = (), rows_read: int = 0
    ) -> Callable[_P, _T]:
        """The same function, run in the child; of a module's top level, so that it is found there.

        about: the name of the file that it works on. returns: the classes of what it gives, beside those of mapping.
        rows_read: of a file that was read well before; the more they are, the more the function may take.
        What comes raises, beside the function's own errors: FileHeld where it takes too much or kills the child,
        RunStopped where the process was asked to end meanwhile.
        """

        times = max(1.0, rows_read / _ROWS_FOR_ONE)

        def limited(*args: _P.args, **values: _P.kwargs) -> _T:
            folder = _Folder()
            placed = [each.absolute() if isinstance(each, Path) else each for each in args]  # the child lies elsewhere
            try:
                answer = self._child.ask(
                    {"folder": str(folder.path)}, pickle.dumps((work, placed, values)), times=times
                )
            except ChildLost as lost:
                raise held("file|too_costly", about) from lost
            except ChildFailed as failed:
                _log.error("The program failed on %s in its own process: %s", printable(about), failed)
                raise
            except Interrupted as stopped:
                raise RunStopped(
                    f"The program was asked to end while {printable(about)} was worked on.",
                    remedy="The next run takes it from the beginning.",
                ) from stopped
            reader = _Reader(folder, {each.__name__: each for each in (*_KNOWN, *returns)})
            if "error" in answer.said:
                raise reader.error(answer.said["error"])
            value: _T = reader.value(answer.said["value"])
            return value

        return limited


class Limited(Protocol):
    """How a function is called that works on a file from outside, as LimitedWork."""

    def __call__(
        self, work: Callable[_P, _T], *, about: str, returns: Sequence[type] = (), rows_read: int = 0
    ) -> Callable[_P, _T]:
        """The function, run in a limited process; raises FileHeld, too, and RunStopped."""


def at_once(
    work: Callable[_P, _T], *, about: str, returns: Sequence[type] = (), rows_read: int = 0
) -> Callable[_P, _T]:
    """The function itself, run here: for files of our own."""
    del about, returns, rows_read
    return work


class _Folder:
    """A private folder, removed when nobody looks at it any more."""

    def __init__(self) -> None:
        held = ExitStack()
        self.path = held.enter_context(scratch_folder())
        weakref.finalize(self, held.close)


@dataclasses.dataclass(frozen=True, slots=True)
class _Frames:
    """Frames that lie in a folder, read each time they are gone through."""

    folder: _Folder
    names: tuple[str, ...]

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return (_frame(self.folder.path / name) for name in self.names)


@dataclasses.dataclass(frozen=True, slots=True)
class _Reader:
    """What a child answered, as objects again."""

    folder: _Folder
    classes: Mapping[str, type]

    def value(self, told: Any) -> Any:
        if not isinstance(told, dict):
            return told
        ((kind, content),) = told.items()
        match kind:
            case "tuple" | "list" | "frozenset":
                return _SEVERAL[kind](map(self.value, content))
            case "dict":
                return {self.value(key): self.value(value) for key, value in content}
            case "day":
                return date.fromisoformat(content)
            case "path":
                return Path(content)
            case "bytes":
                return (self.folder.path / _own(content)).read_bytes()
            case "frame":
                return _frame(self.folder.path / _own(content))
            case "error":
                return self.error(content)
            case "issue":  # the shorter form of what there may be thousands of
                code, values, *place = content
                return Issue(code, Place(*place), values)
            case "documents":
                return self._documents(content)
        name, content = told["object"]
        found = self.classes[name]
        return found(content) if issubclass(found, Enum) else found(**{key: self.value(each) for key, each in content})

    def error(self, told: Any) -> LogisticsBatchError:
        name, values = told
        found = getattr(errors, name)
        if not (isinstance(found, type) and issubclass(found, LogisticsBatchError)):
            raise TypeError(name)
        return found(values.pop("code" if "code" in values else "message"), **values)

    def _documents(self, told: dict[str, Any]) -> Documents:
        names = tuple(_own(name) for name in told["frames"])
        frames = _Frames(self.folder, names)
        return Documents(
            list(frames) if len(names) == 1 else frames,
            count=told["count"],
            operation=Operation(told["operation"]),
            order=self.value(told["order"]),
            lent=tuple(told["lent"]),
        )


def _own(name: str) -> str:
    """The name of a file that the child wrote into the folder; it leads nowhere else."""
    if not name.isalnum():
        raise ValueError(name)
    return name


def _frame(path: Path) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(path.read_bytes()))  # never mapped: who wrote it may shorten it


# ── what follows runs in the child


def answer(question: dict[str, Any], files: tuple[bytes, ...]) -> ChildAnswer:
    """What a function gives, or the error of ours that it raises."""
    work, args, values = pickle.loads(files[0])  # noqa: S301 - of the parent, which is ours
    writer = _Writer(Path(question["folder"]))
    try:
        return ChildAnswer({"value": writer.value(work(*args, **values))})
    except LogisticsBatchError as error:
        return ChildAnswer({"error": _told(error)})


def _told(error: LogisticsBatchError) -> list[Any]:
    if isinstance(error, FileHeld):
        return [type(error).__name__, {name: getattr(error, name) for name in _OF_HELD}]
    return [type(error).__name__, {"message": error.message, "remedy": error.remedy}]


@dataclasses.dataclass(slots=True)
class _Writer:
    """A result as JSON, with files beside it."""

    folder: Path
    _written: int = 0

    def value(self, value: Any) -> Any:
        match value:
            case Enum():
                return {"object": [type(value).__name__, value.value]}
            case None | bool() | int() | float() | str():
                return value
            case Issue():
                at = value.place
                return {"issue": [value.code, value.values, at.row, at.column, at.cell, at.value, at.sheet, at.field]}
            case Documents():
                return {"documents": self._documents(value)}
            case pl.DataFrame():
                return {"frame": self._frame(value)}
            case bytes():
                path = self._next()
                path.write_bytes(value)
                return {"bytes": path.name}
            case date():
                return {"day": value.isoformat()}
            case Path():
                return {"path": str(value)}
            case LogisticsBatchError():
                return {"error": _told(value)}
            case tuple() | list() | frozenset():
                return {type(value).__name__: [self.value(each) for each in value]}
            case dict():
                return {"dict": [[self.value(key), self.value(each)] for key, each in value.items()]}
        fields = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
        return {"object": [type(value).__name__, [[name, self.value(each)] for name, each in fields]]}

    def _documents(self, documents: Documents) -> dict[str, Any]:
        return {
            "frames": [self._frame(frame) for frame in documents.frames],
            "count": len(documents),
            "operation": documents.operation.value,
            "order": self.value(documents.order),
            "lent": list(documents.lent),
        }

    def _frame(self, frame: pl.DataFrame) -> str:
        path = self._next()
        frame.write_ipc(path)
        return path.name

    def _next(self) -> Path:
        self._written += 1
        return self.folder / f"part{self._written}"
