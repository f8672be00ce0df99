"""Workbooks are parsed in a process of its own with little memory, little time, and nothing in its environment.

A workbook from outside can make a parser hang, eat all memory or crash. Here that costs one child process, and its file
is held; the run goes on with the next file.
"""

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.intake.guards import Limits, recognise
from logistics_batch.intake.names import printable
from logistics_batch.intake.reading import read_file
from logistics_batch.model.sheet import ReadOptions, Sheet

_WORKBOOKS = ("xlsx", "xls", "xlsb", "ods")
_CHILD = "logistics_batch.intake.reading_child"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What reading one workbook may take: address space in bytes, seconds of processor time, seconds by the clock."""

    memory_bytes: int = 3 << 30
    cpu_seconds: int = 90
    wait_seconds: float = 300.0


class LimitedReader:
    """Reads files as `intake.reading.read_file` does; workbooks in a child process that is kept for the next one."""

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._allowance = allowance or Allowance()
        self._child: subprocess.Popen[bytes] | None = None

    def __call__(
        self, path: Path, *, name: str, options: ReadOptions, limits: Limits | None = None
    ) -> tuple[Sheet, ...]:
        """The candidate sheets of a file; raises FileHeld also where reading takes more than it may."""
        if recognise(path) not in _WORKBOOKS:
            return read_file(path, name=name, options=options, limits=limits)
        with tempfile.TemporaryDirectory(prefix="logistics-batch-read-") as folder:
            request = {
                "path": str(path.resolve()),
                "name": name,
                "options": asdict(options),
                "limits": asdict(limits or Limits()),
                "cpu_seconds": self._allowance.cpu_seconds,
                "folder": folder,
            }
            return _sheets(self._ask(request, name=name), Path(folder))

    @property
    def process_id(self) -> int | None:
        """The child process, None while there is none."""
        return self._child.pid if self._child else None

    def close(self) -> None:
        """End the child process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()

    def _ask(self, request: dict[str, Any], *, name: str) -> dict[str, Any]:
        used = self._child is not None
        answer = self._answer(request)
        if used and not answer:  # the kept process may have died of something else: a fresh one judges
            answer = self._answer(request)
        if not answer:
            raise FileHeld(
                f"{printable(name)} cannot be read: it is damaged, or takes more memory or time than other workbooks.",
                rule="file|too_costly",
                remedy="Copy the rows into a new workbook, save it as .xlsx and send that.",
            )
        said: dict[str, Any] = json.loads(answer)
        return said

    def _answer(self, request: dict[str, Any]) -> bytes:
        """The child's answer; b"" if it died of the request or took too long, and is gone then."""
        child = self._running()
        assert child.stdin is not None
        assert child.stdout is not None
        answer = b""
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
            answer = _line_within(child.stdout, self._allowance.wait_seconds)
        except BrokenPipeError:
            pass  # it has died already: the same as no answer
        finally:
            if not answer:
                self.close()
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                [sys.executable, "-m", _CHILD, str(self._allowance.memory_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # a parser's last words may hold the user's data
                env=_bare_environment(),
                start_new_session=True,  # Ctrl-C is for us; it ends when its input does
            )
        return self._child


def _bare_environment() -> dict[str, str]:
    """No secret, no proxy, no home: only where the code lies, and few threads, each of which would ask for memory."""
    places = os.pathsep.join(place for place in sys.path if place)
    return {"PYTHONPATH": places, "LC_ALL": "C.UTF-8", "POLARS_MAX_THREADS": "2"}


def _line_within(pipe: Any, seconds: float) -> bytes:
    """The next line of a pipe; b"" if it ends or nothing comes in time."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        line: bytes = pipe.readline() if selector.select(seconds) else b""
    return line if line.endswith(b"\n") else b""


def _sheets(said: dict[str, Any], folder: Path) -> tuple[Sheet, ...]:
    if "held" in said:
        raise FileHeld(said["held"]["message"], rule=said["held"]["rule"], remedy=said["held"]["remedy"])
    return tuple(_sheet(one, folder) for one in said["sheets"])


def _sheet(said: dict[str, Any], folder: Path) -> Sheet:
    return Sheet(
        name=said["name"],
        frame=pl.read_ipc(folder / said["frame"]),
        marks=pl.read_ipc(folder / said["marks"]),
        hidden_rows=tuple(said["hidden_rows"]),
        notes=tuple(said["notes"]),
        merges=tuple(tuple(one) for one in said["merges"]),
        worded=tuple(tuple(one) for one in said["worded"]),
        struck=tuple(tuple(one) for one in said["struck"]),
        covered=tuple(tuple(one) for one in said["covered"]),
    )


def told(sheets: Sequence[Sheet], folder: Path) -> dict[str, Any]:
    """Sheets as JSON, their frames as Arrow files in `folder`: what the child process answers."""
    return {"sheets": [_told(sheet, folder, str(number)) for number, sheet in enumerate(sheets)]}


def _told(sheet: Sheet, folder: Path, number: str) -> dict[str, Any]:
    frames = {"frame": sheet.frame, "marks": sheet.marks}
    for name, frame in frames.items():
        frame.write_ipc(folder / f"{number}.{name}")
    return {
        "name": sheet.name,
        **{name: f"{number}.{name}" for name in frames},
        **{name: getattr(sheet, name) for name in ("hidden_rows", "notes", "merges", "worded", "struck", "covered")},
    }
