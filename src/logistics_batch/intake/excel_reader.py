"""Workbooks (.xlsx, .xls, .xlsb, .ods) as sheets of text cells with true row numbers; the only door to calamine."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import polars as pl
import python_calamine as calamine

from logistics_batch.errors import FileHeld
from logistics_batch.intake.grid import covered, numbered, trimmed
from logistics_batch.intake.guards import Limits, check_kind, damaged, unsafe
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.intake.sheet_cells import ParsedSheet, UnfoldedSheet, extent, read_cells
from logistics_batch.intake.sheet_facts import SheetFacts
from logistics_batch.intake.workbook_facts import Room, WorkbookFacts
from logistics_batch.intake.xlsx_lines import NotPlain
from logistics_batch.intake.xlsx_odd_cells import small_book
from logistics_batch.intake.xlsx_plain import PlainWorkbook
from logistics_batch.intake.xml_events import UnsafeXml
from logistics_batch.intake.zip_directory import ends_plainly, is_out_of_memory
from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import Mark, ReadOptions, Sheet

_SHOWN_RANGES = 5
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
)
_BLIND = "in .xls files of programs before 1997 error cells look empty, and hidden rows cannot be told"


def read_workbook(
    path: Path, *, name: str, kind: str, options: ReadOptions, limits: Limits, in_one_pass: bool = True
) -> tuple[Sheet, ...]:
    """The sheets that may hold the rows: visible, of a name that fits, not empty.

    kind: xlsx, xls, xlsb or ods. in_one_pass: whether sheets of .xlsx workbooks that are written as ordinary programs
    write them are read the fast way; what is read is the same. Raises FileHeld if there is none, a limit is passed, or
    the workbook is damaged.
    """
    with _translated(name):
        room = Room(printable(name), limits, rows=limits.max_workbook_rows, cells=limits.max_workbook_cells)
        is_plain = in_one_pass and kind == "xlsx" and ends_plainly(path)
        plain = PlainWorkbook(path, room=room, parse=_parse) if is_plain else None
        return _WorkbookReader(path, kind=kind, room=room, plain=plain).sheets(options)


class _WorkbookReader:
    def __init__(self, path: Path, *, kind: str, room: Room, plain: PlainWorkbook | None) -> None:
        self._path = path
        self._room = room
        self._name = room.name
        self._limits = room.limits
        self._facts = WorkbookFacts(path, kind=kind, room=room)  # refuses what would not fit before it is opened
        self._plain = plain

    @cached_property
    def _workbook(self) -> calamine.CalamineWorkbook:
        """The workbook as the general reader opens it, with all shared texts."""
        with self._path.open("rb") as file:
            return calamine.CalamineWorkbook.from_filelike(file)

    def sheets(self, options: ReadOptions) -> tuple[Sheet, ...]:
        """The candidates, each read in full."""
        taken: list[Sheet] = []
        passed: list[str] = []
        judged = [(metadata.name, _unwanted(metadata, options)) for metadata in self._sheets_metadata()]
        self._refuse_crowd(sum(not why for _, why in judged))
        for name, why in judged:
            sheet = None if why else self._sheet(name, options)
            if sheet:
                taken.append(sheet)
            else:
                passed.append(f'"{printable(name)}" ({why or "empty"})')
        if not judged:
            raise FileHeld(
                f"{self._name} is a workbook without any sheet.",
                rule="sheet|none",
                remedy="Copy the rows into a sheet of a new workbook, save it as .xlsx and send that.",
            )
        if not taken:
            wanted = f' named "{options.name}"' if options.name else ""
            raise FileHeld(
                f"{self._name} has no visible, filled sheet{wanted}. It has: {_first_of(passed)}.",
                rule="sheet|none",
                remedy="Unhide or rename the sheet with the rows, or correct sheet.name in the mapping.",
            )
        left = [name for name in passed if name.endswith(("(hidden)", "(another name)"))]
        note = (f"sheets that are not taken: {_first_of(left)}",) if left else ()
        return tuple(replace(sheet, notes=(*sheet.notes, *note)) for sheet in taken)

    def _refuse_crowd(self, sheets: int) -> None:
        """Raise FileHeld for more sheets than anybody means: to look into each takes long, and one only is sent."""
        if sheets > self._limits.max_sheets:
            raise FileHeld(
                f"{self._name} has {sheets:,} visible sheets; at most {self._limits.max_sheets} are looked into.",
                rule="sheet|too_many",
                remedy="Delete the sheets that do not belong to it, or name the one to read in the mapping.",
            )

    def _sheets_metadata(self) -> list[calamine.SheetMetadata]:
        if self._plain is not None:
            with suppress(*_FAULTS), zipfile.ZipFile(self._path) as archive:
                if found := calamine.CalamineWorkbook.from_filelike(small_book(archive)).sheets_metadata:
                    return found
        return self._workbook.sheets_metadata  # also of a book without sheets: more may be wrong with it

    def _unfolded(self, sheet_name: str) -> UnfoldedSheet | None:
        """The cells of one sheet; None if nothing stands in it."""
        if self._plain is not None:
            with suppress(NotPlain, *_FAULTS):  # whatever is wrong with it, the general reader says
                return self._plain.sheet(sheet_name)
        workbook = self._workbook
        facts = self._facts.of(sheet_name)
        source = workbook.get_sheet_by_name(sheet_name)
        if source.start is None and not facts.errors and not facts.without_value:
            return None
        height, width = extent(source)
        self._room.check(sheet_name, height, width)
        ranges = source.merged_cell_ranges or ()
        facts.merges = facts.merges or [(a + 1, b + 1, c + 1, d + 1) for (a, b), (c, d) in ranges]
        return UnfoldedSheet(*read_cells(source, facts), facts)

    def _sheet(self, sheet_name: str, options: ReadOptions) -> Sheet | None:
        """One sheet; None if nothing stands in it."""
        unfolded = self._unfolded(sheet_name)
        if unfolded is None:
            return None
        facts, marks = unfolded.facts, unfolded.marks
        frame = trimmed(
            unfolded.frame,
            what=f'{self._name}, sheet "{printable(sheet_name)}"',
            max_columns=self._limits.max_columns,
            max_gap_rows=self._limits.max_gap_rows,
            at_least=tuple(map(max, zip((0, 0), *facts.without_value, strict=True))),
        )
        if not frame.height:
            return None
        self._room.take(frame.height, frame.height * frame.width)
        self._refuse_long_cells(frame, sheet_name)
        hidden = tuple(sorted({row for row in facts.hidden_rows if row <= frame.height}))
        notes = (*self._notes(facts, options, hidden=hidden, width=frame.width), *_merge_notes(facts.merges))
        return Sheet(
            name=sheet_name,
            frame=numbered(frame),
            marks=marks,
            hidden_rows=hidden,
            notes=notes,
            merges=tuple(facts.merges),
            worded=_worded(marks, facts),
            struck=_struck(frame, facts),
            covered=covered(frame, facts.merges),
        )

    def _refuse_long_cells(self, frame: pl.DataFrame, sheet_name: str) -> None:
        most = self._limits.max_cell_characters
        for column in frame.columns:
            if (frame[column].str.len_chars().max() or 0) > most:  # type: ignore[operator]
                row = (frame[column].str.len_chars() > most).arg_max() or 0
                cell = cell_address(row + 1, int(column))
                raise FileHeld(
                    f'{self._name}, sheet "{printable(sheet_name)}": cell {cell} is longer than {most:,} characters.',
                    rule="sheet|long_cell",
                    remedy="Shorten the cell and send the file again.",
                )

    def _notes(self, facts: SheetFacts, options: ReadOptions, *, hidden: Sequence[int], width: int) -> Iterator[str]:
        if hidden:
            done = "read like the others" if options.hidden_rows == "read" else "skipped"
            yield f"hidden rows are {done}: {_ranges(hidden)}"
        columns = [number for first, last in facts.hidden_columns for number in range(first, min(last, width) + 1)]
        if columns:
            yield f"hidden columns are read like the others: {', '.join(map(column_letters, columns))}"
        if facts.is_filtered:
            yield "a filter is set in the sheet; the rows that it hides are among the hidden rows"
        if facts.padded:
            columns = sorted({column for column, _ in facts.padded})
            yield f"leading zeros put back as the cells show them, in column {', '.join(map(column_letters, columns))}"
        if not self._facts.are_known:
            yield _BLIND


def _parse(content: io.BytesIO, sheet: str) -> ParsedSheet:
    return calamine.CalamineWorkbook.from_filelike(content).get_sheet_by_name(sheet)


def _worded(marks: pl.DataFrame, facts: SheetFacts) -> tuple[tuple[int, int, str], ...]:
    """The number cells that show more than their number, and what they show."""
    if not facts.worded:
        return ()
    rows, columns = zip(*facts.worded, strict=True)
    schema = {"row": pl.Int64, "column": pl.Int64, "shown": pl.String}
    worded = pl.DataFrame({"row": rows, "column": columns, "shown": facts.worded.values()}, schema=schema)
    numbers = marks.filter(pl.col("mark") == Mark.NUMBER.value).select(pl.col("row", "column").cast(pl.Int64))
    return tuple(worded.join(numbers, on=["row", "column"], how="semi").sort("row", "column").iter_rows())


def _struck(frame: pl.DataFrame, facts: SheetFacts) -> tuple[tuple[int, int, str, str], ...]:
    """The cells that are struck through, if only in part, and in which something stands."""
    wanted = {column for _, column in facts.struck if column <= frame.width}
    columns = {column: frame[str(column)].is_not_null() for column in wanted}
    return tuple(
        (row, column, *texts)
        for (row, column), texts in sorted(facts.struck.items())
        if row <= frame.height and column in columns and columns[column][row - 1]
    )


def _unwanted(metadata: calamine.SheetMetadata, options: ReadOptions) -> str:
    """Why a sheet is not a candidate, "" if it is."""
    if metadata.visible != calamine.SheetVisibleEnum.Visible:
        return "hidden"
    if metadata.typ != calamine.SheetTypeEnum.WorkSheet:
        return "no table"
    if options.name and not name_matches(metadata.name, [options.name]):
        return "another name"
    return ""


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more


def _merge_notes(ranges: Sequence[tuple[int, int, int, int]]) -> Iterator[str]:
    if ranges:
        shown = [f"{cell_address(a, b)}:{cell_address(c, d)}" for a, b, c, d in ranges[:_SHOWN_RANGES]]
        more = f" and {len(ranges) - _SHOWN_RANGES} more" if len(ranges) > _SHOWN_RANGES else ""
        yield f"merged cells, whose value stands in the first cell only: {', '.join(shown)}{more}"


def _ranges(rows: Sequence[int]) -> str:
    """Row numbers as people write them: 3, 7-9; the first ranges only."""
    spans: list[list[int]] = []
    for row in rows:
        if spans and row == spans[-1][1] + 1:
            spans[-1][1] = row
        else:
            spans.append([row, row])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:20]]
    return ", ".join(words) + (" …" if len(spans) > 20 else "")


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
