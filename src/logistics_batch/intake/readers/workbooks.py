"""Workbooks (.xlsx, .xls, .xlsb, .ods) as sheets of text cells with true row numbers; the only door to calamine."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl
import python_calamine as calamine

from logistics_batch.errors import FileHeld
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.intake.readers.archives import damaged, is_out_of_memory, unsafe
from logistics_batch.intake.readers.binary import BinarySheet, walk_xls, walk_xlsb
from logistics_batch.intake.readers.cells import SheetCells, cells_of, widened
from logistics_batch.intake.readers.formats import check_kind
from logistics_batch.intake.readers.limits import Limits, ReadBudget, hidden_by_merge, trimmed
from logistics_batch.intake.readers.ods import read_ods
from logistics_batch.intake.readers.xlsx_book import has_filtered_table, read_book, read_shared_texts, read_styles
from logistics_batch.intake.readers.xlsx_sheet import CellValues, SheetReader
from logistics_batch.intake.readers.xml_events import UnsafeXml
from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import CellFact, CellRange, ReadOptions, Sheet, facts_frame, merged_facts

_SHOWN_RANGES = 5
_SHOWN_SPANS = 20  # of row numbers
_SHOWN_NAMES = 20  # of sheets
_FAULTS = (
    calamine.CalamineError,
    zipfile.BadZipFile,
    zlib.error,
    OSError,  # "failed to fill whole buffer"
    LookupError,
    ValueError,
    struct.error,
    EOFError,
    OverflowError,
    pl.exceptions.PolarsError,
)
_UNSEEN = (
    "an .{} file is read by its values alone: leading zeros and words that a number format adds, text that is struck "
    "through, hidden columns and filters are not seen"
)
_UNSEEN_ERRORS = "in .xls files of programs before 1997 error cells look empty, and hidden rows are not seen"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sheet of a workbook; read: gives its cells, None if nothing stands in it."""

    name: str
    is_visible: bool
    is_table: bool
    read: Callable[[], SheetCells | None]


def read_workbook(path: Path, *, name: str, kind: str, options: ReadOptions, limits: Limits) -> tuple[Sheet, ...]:
    """The sheets that may hold the rows: visible, of a name that fits, not empty.

    kind: xlsx, xls, xlsb or ods. Raises FileHeld if there is none, a limit is passed, or the workbook is damaged.
    """
    with _translated(name):
        budget = ReadBudget.whole(name, limits)
        notes: list[str] = []
        if kind == "xlsx":
            sheets = _xlsx_sheets(path, budget)
        else:
            notes.append(_UNSEEN.format(kind))
            sheets = _ods_sheets(path, budget) if kind == "ods" else _binary_sheets(path, kind, budget, notes)
        taken, left = _taken(sheets, options, budget)
        notes += [f"sheets that are not taken: {_first_of(left)}"] if left else []
        return tuple(replace(sheet, notes=(*sheet.notes, *notes)) for sheet in taken)


def _xlsx_sheets(path: Path, budget: ReadBudget) -> list[_Candidate]:
    values: list[CellValues] = []

    def read(name: str, part: str) -> SheetCells:
        with zipfile.ZipFile(path) as archive:
            if not values:
                texts, styles = read_shared_texts(archive), read_styles(archive)
                values.append(CellValues(styles=styles, texts=texts, is_1904=book.is_1904, is_stale=book.is_stale))
            sheet = SheetReader(archive, part, name=name, budget=budget).read(values[0])
            sheet.is_filtered |= has_filtered_table(archive, part)
            return sheet

    with zipfile.ZipFile(path) as archive:
        book = read_book(archive)
    return [
        _Candidate(each.name, each.is_visible, each.is_table, partial(read, each.name, each.part))
        for each in book.sheets
    ]


def _ods_sheets(path: Path, budget: ReadBudget) -> list[_Candidate]:
    return [_Candidate(sheet.name, sheet.is_visible, True, sheet.cells) for sheet in read_ods(path, budget)]


def _binary_sheets(path: Path, kind: str, budget: ReadBudget, notes: list[str]) -> list[_Candidate]:
    """The sheets of an .xls or .xlsb workbook; what would not fit is refused before the workbook is opened."""
    most_cells = budget.limits.max_workbook_cells
    walked = walk_xls(path) if kind == "xls" else walk_xlsb(path, most_cells=most_cells)
    notes += [_UNSEEN_ERRORS] if walked is None else []
    for name, sheet in (walked or {}).items():  # the library unfolds them all at once
        budget.check(name, sheet.last_row, sheet.last_column)
        budget.check_gap(name, *sheet.gap)
        budget.check_texts(name, sheet.characters)
    with path.open("rb") as file:
        workbook = calamine.CalamineWorkbook.from_filelike(file)

    def read(name: str) -> SheetCells | None:
        known = (walked or {}).get(name) or BinarySheet()
        source = workbook.get_sheet_by_name(name)
        if source.end is None and not known.special:
            return None
        budget.check(name, *(each + 1 for each in source.end or (0, 0)))
        rows = source.iter_rows() if source.end else ()
        cells = cells_of(widened(rows, left=source.start[1] if source.start else 0, special=known.special))
        ranges = source.merged_cell_ranges or ()
        cells.merged = known.merged or [(a + 1, b + 1, c + 1, d + 1) for (a, b), (c, d) in ranges]
        cells.hidden_rows = known.hidden_rows
        return cells

    visible, table = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet
    return [
        _Candidate(each.name, each.visible == visible, each.typ == table, partial(read, each.name))
        for each in workbook.sheets_metadata
    ]


def _taken(sheets: Sequence[_Candidate], options: ReadOptions, budget: ReadBudget) -> tuple[list[Sheet], list[str]]:
    """The sheets that may hold the rows, and the names of those that a person may have meant."""
    judged = [(sheet, _unwanted(sheet, options)) for sheet in sheets]
    _refuse_crowd(sum(not why for _, why in judged), budget)
    taken: list[Sheet] = []
    passed: list[str] = []
    left: list[str] = []
    for candidate, why in judged:
        cells = None if why else candidate.read()
        sheet = None if cells is None else _sheet(candidate.name, cells, options, budget)
        if sheet:
            taken.append(sheet)
            continue
        passed.append(f'"{printable(candidate.name)}" ({why or "empty"})')
        left += passed[-1:] if why in ("hidden", "another name") else []
    if not judged:
        raise FileHeld(
            f"{budget.name} is a workbook without any sheet.",
            rule="sheet|none",
            remedy="Copy the rows into a sheet of a new workbook, save it as .xlsx and send that.",
        )
    if not taken:
        wanted = f' named "{options.name}"' if options.name else ""
        raise FileHeld(
            f"{budget.name} has no visible, filled sheet{wanted}. It has: {_first_of(passed)}.",
            rule="sheet|none",
            remedy="Unhide or rename the sheet with the rows, or correct sheet.name in the mapping.",
        )
    return taken, left


def _unwanted(sheet: _Candidate, options: ReadOptions) -> str:
    """Why a sheet is not a candidate, "" if it is."""
    if not sheet.is_visible:
        return "hidden"
    if not sheet.is_table:
        return "no table"
    if options.name and not name_matches(sheet.name, [options.name]):
        return "another name"
    return ""


def _refuse_crowd(sheets: int, budget: ReadBudget) -> None:
    """Raise FileHeld for more sheets than anybody means: to look into each takes long, and one only is sent."""
    if sheets > budget.limits.max_sheets:
        raise FileHeld(
            f"{budget.name} has {sheets:,} visible sheets; at most {budget.limits.max_sheets} are looked into.",
            rule="sheet|too_many",
            remedy="Delete the sheets that do not belong to it, or name the one to read in the mapping.",
        )


def _sheet(name: str, cells: SheetCells, options: ReadOptions, budget: ReadBudget) -> Sheet | None:
    """One sheet; None if nothing stands in it."""
    frame = trimmed(cells.frame, what=budget.sheet(name), limits=budget.limits, at_least=cells.least)
    if not frame.height:
        return None
    budget.take(frame)
    _refuse_long_cells(frame, budget, sheet=name)
    covered = facts_frame((*cell, CellFact.HIDDEN_BY_MERGE, None) for cell in hidden_by_merge(frame, cells.merged))
    hidden = tuple(sorted({row for row in cells.hidden_rows if row <= frame.height}))
    return Sheet(
        name=name,
        frame=frame.with_row_index("row", offset=1),
        facts=pl.concat([cells.facts, merged_facts(cells.merged), covered]),
        hidden_rows=hidden,
        notes=tuple(_notes(cells, options, hidden=hidden, width=frame.width)),
    )


def _refuse_long_cells(frame: pl.DataFrame, budget: ReadBudget, *, sheet: str) -> None:
    most = budget.limits.max_cell_characters
    for column in frame.columns:
        if (frame[column].str.len_chars().max() or 0) > most:  # type: ignore[operator]
            row = (frame[column].str.len_chars() > most).arg_max() or 0
            raise FileHeld(
                f"{budget.sheet(sheet)}: cell {cell_address(row + 1, int(column))} is longer than {most:,} characters.",
                rule="sheet|long_cell",
                remedy="Shorten the cell and send the file again.",
            )


def _notes(cells: SheetCells, options: ReadOptions, *, hidden: Sequence[int], width: int) -> Iterator[str]:
    if hidden:
        done = "read like the others" if options.hidden_rows == "read" else "skipped"
        yield f"hidden rows are {done}: {_spans(hidden)}"
    columns = [number for first, last in cells.hidden_columns for number in range(first, min(last, width) + 1)]
    if columns:
        yield f"hidden columns are read like the others: {', '.join(map(column_letters, columns))}"
    if cells.is_filtered:
        yield "a filter is set in the sheet; the rows that it hides are among the hidden rows"
    if cells.padded:
        letters = ", ".join(map(column_letters, sorted(cells.padded)))
        yield f"leading zeros put back as the cells show them, in column {letters}"
    if cells.merged:
        yield f"merged cells, whose value stands in the first cell only: {_ranges(cells.merged)}"


def _ranges(merged: Sequence[CellRange]) -> str:
    shown = [f"{cell_address(a, b)}:{cell_address(c, d)}" for a, b, c, d in merged[:_SHOWN_RANGES]]
    return ", ".join(shown) + (f" and {len(merged) - _SHOWN_RANGES} more" if len(merged) > _SHOWN_RANGES else "")


def _spans(rows: Sequence[int]) -> str:
    """Row numbers as people write them: 3, 7-9; the first ones only."""
    spans: list[list[int]] = []
    for row in rows:
        if spans and row == spans[-1][1] + 1:
            spans[-1][1] = row
        else:
            spans.append([row, row])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:_SHOWN_SPANS]]
    return ", ".join(words) + (" …" if len(spans) > _SHOWN_SPANS else "")


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Whatever a parser says about a workbook becomes a held file; also the panic of a Rust library."""
    try:
        yield
    except calamine.PasswordError:
        check_kind("encrypted", name=name)
    except UnsafeXml as error:
        raise unsafe(name, str(error)) from error
    except _FAULTS as error:
        if is_out_of_memory(error):
            raise
        raise damaged(name) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged(name) from error
