"""Workbooks are parsed in a process of its own with little memory, little time, and nothing in its environment.

A workbook from outside can make a parser hang, eat all memory or crash. Here that costs one child process, and its file
is held; the run goes on with the next file.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from logistics_batch.child_process import Allowance, Child, ChildLost
from logistics_batch.errors import FileHeld
from logistics_batch.intake.names import printable
from logistics_batch.intake.readers import Limits, read_file, sniff_format
from logistics_batch.model.sheet import ReadOptions, Sheet
from logistics_batch.scratch import scratch_folder

_WORKBOOKS = ("xlsx", "xls", "xlsb", "ods")
_CHILD = "logistics_batch.intake.reading_child"


class LimitedReader:
    """Reads files as `intake.readers.read_file` does; workbooks in a child process that is kept for the next one."""

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._child = Child(_CHILD, allowance=allowance)

    def __call__(
        self, path: Path, *, name: str, options: ReadOptions, limits: Limits | None = None
    ) -> tuple[Sheet, ...]:
        """The candidate sheets of a file; raises FileHeld also where reading takes more than it may."""
        if sniff_format(path) not in _WORKBOOKS:
            return read_file(path, name=name, options=options, limits=limits)
        with scratch_folder() as folder:
            question = {
                "path": str(path.resolve()),
                "name": name,
                "options": asdict(options),
                "limits": asdict(limits or Limits()),
                "folder": str(folder),
            }
            try:
                answer = self._child.ask(question)
            except ChildLost as lost:
                raise FileHeld(
                    f"{printable(name)} cannot be read: it is damaged, or takes more memory or time than other "
                    "workbooks.",
                    rule="file|too_costly",
                    remedy="Copy the rows into a new workbook, save it as .xlsx and send that.",
                ) from lost
            return _sheets(answer.said, folder)

    @property
    def process_id(self) -> int | None:
        """The child process, None while there is none."""
        return self._child.process_id

    def close(self) -> None:
        """End the child process."""
        self._child.close()


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
