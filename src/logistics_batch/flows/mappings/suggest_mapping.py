"""Proposals for a file that has no mapping yet, or no longer fits the one it has; nothing is written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.files.receive import ReceivedFile, unpacked
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import held_as_mistake
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping import Mapping
from logistics_batch.mapping.drift import Drift, drift_of
from logistics_batch.mapping.rewritten import rewritten
from logistics_batch.mapping.rows.header import name_fits, names_over_two_rows
from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import draft_json
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import ReadOptions, Sheet
from logistics_batch.scratch import scratch_folder

_HEAD_ROWS, _HEAD_COLUMNS = 12, 40
_WORDS_OF_A_COLUMN: Final = 20
_MOST_COLUMNS, _SHOWN = 200, 80


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person says of a sample; what is not said is found out. header: its (lower) row; header_rows: 1 or 2."""

    operation: str = ""
    sheet: str = ""
    header: int = 0
    header_rows: int = 0


def suggest(
    parts: Parts, path: Path, *, operation: str | None, sheet: str | None = None, header: int = 0
) -> dict[str, Any]:
    """A draft for a file, as `--json` prints it; its `text` is the mapping. sheet: its sheet's name, or a pattern.
    header: the row that names the columns, 0 if it is to be found.

    Raises:
        UsageError: no such file, sheet or operation, the file cannot be read, or nothing in it looks like a header.
    """
    with _one_file(parts, path) as file:
        look = look_at(parts, file.path, name=file.name, wanted=Wanted(operation or "", sheet or "", header))
    if sheet and not any(name_fits(each, sheet) for each in look["sheets"]):
        there = ", ".join(f"“{name}”" for name in look["sheets"])
        raise UsageError(f"{path.name} has no sheet “{sheet}”.", remedy=f"Its sheets are {there}.")
    if look["draft"] is None:
        raise UsageError(
            f"No row of {path.name} looks like a header.",
            remedy="A header names the columns in one of the first 30 rows; --header ROW says in which one.",
        )
    draft: dict[str, Any] = look["draft"]
    return draft


def drifted(parts: Parts, path: Path, mapping: Mapping, *, text: str, load: Callable[[str], Mapping]) -> Drift:
    """How a file differs from what a mapping knows. text: of the mapping. load: loads a changed one; can be pickled.

    Raises:
        UsageError: no such file, it cannot be read, or it has nothing in common with the mapping.
    """
    with _one_file(parts, path) as file:
        found = parts.limited(_drift, about=file.name, returns=(Drift,))(
            file.path, mapping, name=file.name, text=text, load=load
        )
    if found is None:
        raise UsageError(
            f"{path.name} has no column of the mapping {mapping.name}.",
            remedy="Leave out --like to get a draft of a new mapping.",
        )
    return found


def look_at(parts: Parts, path: Path, *, name: str, wanted: Wanted) -> dict[str, Any]:
    """A sample as a person maps it: its sheets, first rows and columns with samples, and under `draft` what `--json`
    prints of a proposal, None where no header is found.

    Raises UsageError: there is no such operation, or the file cannot be read.
    """
    operation = _operation(wanted.operation or None)
    with held_as_mistake():
        return parts.limited(_look, about=name)(path, name=name, operation=operation, wanted=wanted)


def _look(path: Path, *, name: str, operation: Operation | None, wanted: Wanted) -> dict[str, Any]:
    """What runs in the limited process."""
    sheets = read_file(path, name=name, options=ReadOptions())
    chosen = [each for each in sheets if wanted.sheet and name_fits(each.name, wanted.sheet)] or sheets
    named = [_with_one_header(each, wanted.header) for each in chosen] if wanted.header_rows == 2 else chosen
    draft = draft_of(named, operation=operation, among=len(sheets), header=wanted.header)
    shown = next((each for each in chosen if draft and each.name == draft.table.sheet), chosen[0])
    head = shown.frame.head(_HEAD_ROWS).select("row", *shown.frame.columns[1 : _HEAD_COLUMNS + 1])
    columns = []
    for each in filter(None, draft.table.names) if draft else ():
        profile = draft.table.profiles.get(each) if draft else None
        samples, values = ([*profile.samples], [*dict.fromkeys(profile.values)]) if profile else ([], [])
        columns.append(
            {"name": each, "samples": [text[:_SHOWN] for text in samples], "values": values[:_WORDS_OF_A_COLUMN]}
        )
    told = draft_json(draft, file_name=name) if draft else None
    if told and wanted.header:
        rows = {"header": wanted.header} | ({"header_rows": 2} if wanted.header_rows == 2 else {})
        for key, value in rows.items():
            told["text"] = rewritten(told["text"], ("sheet", key), value)
    return {
        "sheets": [each.name for each in sheets],
        "sheet": shown.name,
        "head": [{"row": row, "cells": [(text or "")[:_SHOWN] for text in cells]} for row, *cells in head.iter_rows()],
        "columns": columns[:_MOST_COLUMNS],
        "more": len(columns[_MOST_COLUMNS:]),
        "draft": told,
    }


def _with_one_header(sheet: Sheet, row: int) -> Sheet:
    """The sheet with the names over two rows in the lower one; there is no upper one then."""
    frame, at = sheet.frame.filter(pl.col("row") != row - 1), pl.col("row") == row
    for texts in frame.filter(at).drop("row").iter_rows():
        names = zip(frame.columns[1:], names_over_two_rows(sheet, row, [each or "" for each in texts])[1], strict=True)
        frame = frame.with_columns(pl.when(at).then(pl.lit(name)).otherwise(pl.col(n)).alias(n) for n, name in names)
    return replace(sheet, frame=frame)


def _drift(path: Path, mapping: Mapping, *, name: str, text: str, load: Callable[[str], Mapping]) -> Drift | None:
    """What runs in the limited process."""
    options = mapping.read_options
    try:
        sheets = read_file(path, name=name, options=options)
    except FileHeld:
        if not options.name:
            raise
        sheets = read_file(path, name=name, options=replace(options, name=None))  # the sheet may have another name
    return drift_of(mapping, sheets, text, load=load)


def _operation(name: str | None) -> Operation | None:
    if name is None:
        return None
    if name not in list(Operation):
        known = ", ".join(each.value for each in Operation)
        raise UsageError(f"There is no operation “{name}”.", remedy=f"Known: {known}.")
    return Operation(name)


@contextmanager
def _one_file(parts: Parts, path: Path) -> Iterator[ReceivedFile]:
    """The file, or the only one in an archive; what is wrong with it is the mistake of who named it."""
    if not path.is_file():
        raise UsageError(f"No such file: {path}.", remedy="Check the name and the folder.")
    with scratch_folder() as folder:
        (file, *others) = unpacked(parts, [ReceivedFile(path, path.name)], to=folder)
        if others:
            raise UsageError(f"{path.name} holds {len(others) + 1} files.", remedy="Unpack it and name one of them.")
        with held_as_mistake():
            if file.held is not None:
                raise file.held
            yield file
