"""Workbooks (.xlsx, .xls, .xlsb, .ods) as sheets of text cells with true row numbers; the only door to calamine."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import python_calamine as calamine

from logistics_batch.errors import FileHeld
from logistics_batch.intake.cells import IMPRECISE_FROM, Cell, cell_text, number_text
from logistics_batch.intake.grid import numbered, trimmed
from logistics_batch.intake.guards import Limits, check_kind, damaged, unsafe
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.intake.sheet_facts import Address, SheetFacts
from logistics_batch.intake.workbook_facts import Room, WorkbookFacts
from logistics_batch.intake.xml_events import UnsafeXml
from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import MARKS_SCHEMA, Mark, ReadOptions, Sheet

_SHOWN_RANGES = 5
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


def read_workbook(path: Path, *, name: str, kind: str, options: ReadOptions, limits: Limits) -> tuple[Sheet, ...]:
    """The sheets that may hold the rows: visible, of a name that fits, not empty.

    kind: xlsx, xls, xlsb or ods. Raises FileHeld if there is none, a limit is passed, or the workbook is damaged.
    """
    content = io.BytesIO(path.read_bytes())
    with _translated(name):
        room = Room(printable(name), limits, rows=limits.max_workbook_rows, cells=limits.max_workbook_cells)
        facts = WorkbookFacts(path, kind=kind, room=room)
        workbook = calamine.CalamineWorkbook.from_filelike(content)
        return _WorkbookReader(workbook, facts=facts, room=room).sheets(options)


class _WorkbookReader:
    def __init__(self, workbook: calamine.CalamineWorkbook, *, facts: WorkbookFacts, room: Room) -> None:
        self._workbook = workbook
        self._facts = facts
        self._room = room
        self._name = room.name
        self._limits = room.limits

    def sheets(self, options: ReadOptions) -> tuple[Sheet, ...]:
        """The candidates, each read in full."""
        taken: list[Sheet] = []
        passed: list[str] = []
        for metadata in self._workbook.sheets_metadata:
            why = _unwanted(metadata, options)
            sheet = None if why else self._sheet(metadata.name, options)
            if sheet:
                taken.append(sheet)
            else:
                passed.append(f'"{printable(metadata.name)}" ({why or "empty"})')
        if not taken:
            wanted = f' named "{options.name}"' if options.name else ""
            raise FileHeld(
                f"{self._name} has no visible, filled sheet{wanted}. It has: {', '.join(passed) or 'none'}.",
                rule="sheet|none",
                remedy="Unhide or rename the sheet with the rows, or correct sheet.name in the mapping.",
            )
        left = [name for name in passed if name.endswith(("(hidden)", "(another name)"))]
        note = (f"sheets that are not taken: {', '.join(left)}",) if left else ()
        return tuple(replace(sheet, notes=(*sheet.notes, *note)) for sheet in taken)

    def _sheet(self, sheet_name: str, options: ReadOptions) -> Sheet | None:
        """One sheet; None if nothing stands in it."""
        facts = self._facts.of(sheet_name)
        source = self._workbook.get_sheet_by_name(sheet_name)
        if source.start is None and not facts.errors and not facts.without_value:
            return None
        self._room.check(sheet_name, source.total_height, source.total_width)
        self._room.take(0, source.total_height * source.total_width)
        rows = source.to_python(skip_empty_area=False) if source.start is not None else []
        frame, marks = _columns(rows, facts)
        del rows
        frame = trimmed(
            frame,
            what=f'{self._name}, sheet "{printable(sheet_name)}"',
            max_columns=self._limits.max_columns,
            max_gap_rows=self._limits.max_gap_rows,
            at_least=tuple(map(max, zip((0, 0), *facts.without_value, strict=True))),
        )
        if not frame.height:
            return None
        self._room.take(frame.height, 0)
        self._refuse_long_cells(frame, sheet_name)
        ranges = source.merged_cell_ranges or ()
        merges = tuple(facts.merges) or tuple((a + 1, b + 1, c + 1, d + 1) for (a, b), (c, d) in ranges)
        hidden = tuple(sorted({row for row in facts.hidden_rows if row <= frame.height}))
        notes = (*self._notes(facts, options, hidden=hidden, width=frame.width), *_merge_notes(merges))
        frame = numbered(frame)
        return Sheet(
            name=sheet_name,
            frame=frame,
            marks=marks,
            hidden_rows=hidden,
            notes=notes,
            merges=merges,
            worded=_worded(marks, facts),
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
            done = "skipped" if options.hidden_rows == "skip" else "read like the others"
            yield f"hidden rows are {done}: {_ranges(hidden)}"
        columns = [number for first, last in facts.hidden_columns for number in range(first, min(last, width) + 1)]
        if columns:
            yield f"hidden columns are read like the others: {', '.join(map(column_letters, columns))}"
        if facts.is_filtered:
            yield "a filter is set in the sheet; the rows that it hides are among the hidden rows"
        if facts.padded:
            columns = sorted({column for _, column in facts.padded})
            yield f"leading zeros put back as the cells show them, in column {', '.join(map(column_letters, columns))}"
        if not self._facts.are_known:
            yield _BLIND


def _worded(marks: pl.DataFrame, facts: SheetFacts) -> tuple[Address, ...]:
    """The number cells that show more than their number."""
    if not facts.worded:
        return ()
    numbers = marks.filter(pl.col("mark") == Mark.NUMBER.value).select("row", "column").rows()
    return tuple(address for address in numbers if address in facts.worded)


def _unwanted(metadata: calamine.SheetMetadata, options: ReadOptions) -> str:
    """Why a sheet is not a candidate, "" if it is."""
    if metadata.visible != calamine.SheetVisibleEnum.Visible:
        return "hidden"
    if metadata.typ != calamine.SheetTypeEnum.WorkSheet:
        return "no table"
    if options.name and not name_matches(metadata.name, [options.name]):
        return "another name"
    return ""


def _columns(rows: list[list[Cell]], facts: SheetFacts) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells as text columns named from "1", and their marks."""
    special = dict.fromkeys(facts.without_value, "") | facts.errors
    height = max([len(rows), *(row for row, _ in special)])
    width = max([len(rows[0]) if rows else 0, *(column for _, column in special)])
    for row in rows:
        row.extend([""] * (width - len(row)))
    rows.extend([""] * width for _ in range(height - len(rows)))
    for (row_number, column), word in special.items():
        rows[row_number - 1][column - 1] = word
    marks = [
        _marks([row for row, _ in at], [column for _, column in at], mark)
        for at, mark in ((list(facts.errors), Mark.ERROR), (list(facts.without_value), Mark.NO_VALUE))
    ]
    texts = {}
    for number, cells in enumerate(zip(*rows, strict=True), start=1):
        texts[str(number)] = _column(cells, number, facts=facts, marks=marks)
    return pl.DataFrame(texts), pl.concat(marks).sort("row", "column")


def _column(cells: Sequence[Cell], column: int, *, facts: SheetFacts, marks: list[pl.DataFrame]) -> pl.Series:
    """One column as text; its marks are added to `marks`."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        return pl.Series(cells, dtype=pl.String).replace("", None)
    if kinds <= {str, float}:
        texts, found = _texts_and_numbers(cells, column)
        marks.append(found)
    else:
        texts, found = _one_by_one(cells, column)
        marks.append(found)
    padded = {row: width for (row, at), width in facts.padded.items() if at == column}
    return _padded(texts, padded, found) if padded else texts


def _texts_and_numbers(cells: Sequence[Cell], column: int) -> tuple[pl.Series, pl.DataFrame]:
    """A column of texts and plain numbers, which most are, without a look at each cell."""
    frame = pl.DataFrame(
        {
            "text": pl.Series([cell if type(cell) is str else None for cell in cells], dtype=pl.String),
            "number": pl.Series([None if type(cell) is str else cell for cell in cells], dtype=pl.Float64),
        }
    )
    number = pl.col("number")
    exact = number.abs() < IMPRECISE_FROM
    whole = exact & (number == number.round(0))
    short = pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String))
    rest = number.map_elements(number_text, return_dtype=pl.String)  # runs where it is not null
    odd = frame.select(pl.when(~whole).then(number)).select(rest).to_series()
    texts = frame.select(
        pl.coalesce(pl.when(pl.col("text") != "").then(pl.col("text")), short, odd).alias("text"),
        pl.when(exact)
        .then(pl.lit(Mark.NUMBER.value))
        .when(number.is_finite())
        .then(pl.lit(Mark.IMPRECISE.value))
        .otherwise(pl.lit(Mark.ERROR.value))
        .alias("mark"),
        number.is_not_null().alias("is_number"),
    )
    found = texts.with_row_index("row", offset=1).filter("is_number")
    return texts["text"], found.select("row", pl.lit(column, dtype=pl.UInt16).alias("column"), "mark")


def _one_by_one(cells: Sequence[Cell], column: int) -> tuple[pl.Series, pl.DataFrame]:
    """A column with dates, times or truth values in it."""
    texts: list[str | None] = []
    rows: list[int] = []
    marks: list[str] = []
    for row, value in enumerate(cells, start=1):
        if isinstance(value, str):
            texts.append(value or None)
            continue
        text, mark = cell_text(value)
        texts.append(text)
        if mark:
            rows.append(row)
            marks.append(mark.value)
    found = pl.DataFrame({"row": rows, "column": [column] * len(rows), "mark": marks}, schema=MARKS_SCHEMA)
    return pl.Series(texts, dtype=pl.String), found


def _padded(texts: pl.Series, widths: dict[int, int], marks: pl.DataFrame) -> pl.Series:
    """Whole numbers with the leading zeros that their cells show; widths: of each row that has such a format."""
    numbers = set(marks.filter(pl.col("mark") == Mark.NUMBER.value)["row"])
    shown = {
        row - 1: texts[row - 1].zfill(width)
        for row, width in widths.items()
        if row in numbers and texts[row - 1].isdigit()
    }
    return texts.scatter(list(shown), list(shown.values())) if shown else texts


def _marks(rows: list[int], columns: list[int], mark: Mark) -> pl.DataFrame:
    values = {"row": rows, "column": columns, "mark": [mark.value] * len(rows)}
    return pl.DataFrame(values, schema=MARKS_SCHEMA)


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
        raise damaged(name) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged(name) from error
