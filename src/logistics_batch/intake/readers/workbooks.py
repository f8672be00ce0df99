"""Workbooks (.xlsx, .xls, .xlsb, .ods) as sheets of text cells with true row numbers; the only door to calamine."""

import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl
import python_calamine as calamine

from logistics_batch.intake.names import held, name_matches, printable
from logistics_batch.intake.readers.by_values import Encrypted, OdsSheet, read_ods, walk_xls, walk_xlsb, widened
from logistics_batch.intake.readers.cells import BookSheet, SheetCells, cells_of
from logistics_batch.intake.readers.formats import check_kind, is_out_of_memory
from logistics_batch.intake.readers.limits import Limits, ReadBudget, hidden_by_merge, refuse_gap, trimmed
from logistics_batch.intake.readers.xlsx_book import has_filtered_table, read_book, read_shared_texts, read_styles
from logistics_batch.intake.readers.xlsx_sheet import CellValues, SheetReader
from logistics_batch.intake.readers.xml_trees import UnsafeXml
from logistics_batch.messages.words import row_list, shortened
from logistics_batch.model.issue import Issue, cell_address, column_letters
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet, facts_frame, merged_facts

_SHOWN_RANGES = 5
_SHOWN_NAMES = 20  # of sheets
_SHOWN_SPANS = 20  # of row numbers
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


def read_workbook(path: Path, *, name: str, kind: str, options: ReadOptions, limits: Limits) -> tuple[Sheet, ...]:
    """The sheets that may hold the rows: visible, of a name that fits, not empty.

    kind: xlsx, xls, xlsb or ods. Raises FileHeld if there is none, a limit is passed, or the workbook is damaged.
    """
    with _translated(name), ExitStack() as opened:
        budget = ReadBudget.whole(name, limits)
        notes: list[Issue] = []
        if kind == "xlsx":
            sheets = _xlsx_sheets(opened.enter_context(zipfile.ZipFile(path)), budget)
        else:
            notes.append(Issue.of("values_alone", format=kind))
            sheets = _ods_sheets(path, budget) if kind == "ods" else _binary_sheets(path, kind, budget)
        taken, left = _taken(sheets, options, budget)
        notes += [Issue.of("sheets_not_taken", sheets=shortened(left, limit=_SHOWN_NAMES))] if left else []
        return tuple(replace(sheet, notes=(*sheet.notes, *notes)) for sheet in taken)


def _xlsx_sheets(archive: zipfile.ZipFile, budget: ReadBudget) -> list[BookSheet]:
    @cache
    def values() -> CellValues:
        texts, styles = read_shared_texts(archive), read_styles(archive)
        return CellValues(styles=styles, texts=texts, is_1904=book.is_1904, is_stale=book.is_stale)

    def read(name: str, part: str) -> SheetCells:
        sheet = SheetReader(archive, part, name=name, budget=budget).read(values())
        sheet.is_filtered |= has_filtered_table(archive, part)
        return sheet

    book = read_book(archive, read)
    return book.sheets


def _ods_sheets(path: Path, budget: ReadBudget) -> list[BookSheet]:
    def read(sheet: OdsSheet) -> SheetCells:
        return replace(cells_of(sheet.rows), hidden_rows=sheet.hidden_rows, merged=sheet.merged)

    return [BookSheet(each.name, each.is_visible, True, partial(read, each)) for each in read_ods(path, budget)]


def _binary_sheets(path: Path, kind: str, budget: ReadBudget) -> list[BookSheet]:
    """The sheets of an .xls or .xlsb workbook; what would not fit is refused before the library unfolds it."""
    walked = walk_xls(path) if kind == "xls" else walk_xlsb(path)
    for sheet in walked:
        budget.check(sheet.name, max(sheet.rows, default=0), sheet.last_column)
        refuse_gap(pl.Series([0, *sorted(sheet.rows)]), what=budget.sheet(sheet.name), limits=budget.limits)
    with path.open("rb") as file:
        workbook = calamine.CalamineWorkbook.from_filelike(file)

    def read(number: int) -> SheetCells | None:
        source, known = workbook.get_sheet_by_index(number), walked[number]
        budget.check(known.name, max(known.rows, default=0), known.last_column)  # beside those that were read
        if source.end is None and not known.special:
            return None
        rows = _with_fitting_texts(source.iter_rows() if source.end else (), known.name, budget)
        cells = cells_of(widened(rows, left=source.start[1] if source.start else 0, special=known.special))
        ranges = ((a + 1, b + 1, c + 1, d + 1) for (a, b), (c, d) in source.merged_cell_ranges or ())
        return replace(cells, hidden_rows=known.hidden_rows, merged=[*known.merged, *ranges])

    visible, table = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet
    return [
        BookSheet(each.name, each.visible == visible, each.typ == table, partial(read, number))
        for number, (each, _) in enumerate(zip(workbook.sheets_metadata, walked, strict=True))
    ]


def _with_fitting_texts(rows: Iterable[list[Any]], name: str, budget: ReadBudget) -> Iterator[list[Any]]:
    """The rows, as long as their texts fit."""
    characters = 0
    for row in rows:
        characters += sum(len(each) for each in row if isinstance(each, str))
        budget.check_texts(name, characters)
        yield row


def _taken(sheets: Sequence[BookSheet], options: ReadOptions, budget: ReadBudget) -> tuple[list[Sheet], list[str]]:
    """The sheets that may hold the rows, and the names of those that a person may have meant."""
    judged = [(sheet, _unwanted(sheet, options)) for sheet in sheets]
    wanted = sum(not why for _, why in judged)
    if wanted > budget.limits.max_sheets:  # to look into each takes long, and one only is sent
        raise held("sheet|too_many", budget.name, count=wanted, most=budget.limits.max_sheets)
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
        raise held("sheet|none", budget.name)
    if not taken:
        code = "sheet|none.named" if options.name else "sheet|none.filled"
        raise held(code, budget.name, sheets=shortened(passed, limit=_SHOWN_NAMES), wanted=options.name)
    return taken, left


def _unwanted(sheet: BookSheet, options: ReadOptions) -> str:
    """Why a sheet is not a candidate, "" if it is."""
    if not sheet.is_visible:
        return "hidden"
    if not sheet.is_table:
        return "no table"
    if options.name and not name_matches(sheet.name, [options.name]):
        return "another name"
    return ""


def _sheet(name: str, cells: SheetCells, options: ReadOptions, budget: ReadBudget) -> Sheet | None:
    """One sheet; None if nothing stands in it."""
    left = cells.facts.filter(kind=CellFact.NO_VALUE)  # they count, though they look empty
    least = left.select(pl.col("row", "column").max().fill_null(0)).row(0)
    frame = trimmed(cells.frame, what=budget.sheet(name), limits=budget.limits, at_least=least)
    if not frame.height:
        return None
    budget.take(frame)
    covered = facts_frame((*cell, CellFact.HIDDEN_BY_MERGE, None) for cell in hidden_by_merge(frame, cells.merged))
    hidden = tuple(sorted({row for row in cells.hidden_rows if row <= frame.height}))
    return Sheet(
        name=name,
        frame=frame.with_row_index("row", offset=1),
        facts=pl.concat([cells.facts, merged_facts(cells.merged), covered]),
        hidden_rows=hidden,
        notes=tuple(_notes(cells, options, hidden=hidden, width=frame.width)),
    )


def _notes(cells: SheetCells, options: ReadOptions, *, hidden: Sequence[int], width: int) -> Iterator[Issue]:
    if hidden:
        code = "hidden_rows.read" if options.hidden_rows == "read" else "hidden_rows.skipped"
        yield Issue.of(code, rows=row_list(hidden, limit=_SHOWN_SPANS))
    columns = [number for first, last in cells.hidden_columns for number in range(first, min(last, width) + 1)]
    if columns:
        yield Issue.of("hidden_columns", columns=[*map(column_letters, columns)])
    if cells.is_filtered:
        yield Issue.of("filter_set")
    if cells.padded:
        yield Issue.of("leading_zeros", columns=[*map(column_letters, sorted(cells.padded))])
    if cells.merged:
        ranges = [f"{cell_address(a, b)}:{cell_address(c, d)}" for a, b, c, d in cells.merged]
        yield Issue.of("merged_cells", ranges=shortened(ranges, limit=_SHOWN_RANGES))


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Whatever a parser says about a workbook becomes a held file; also the panic of a Rust library."""
    try:
        yield
    except (calamine.PasswordError, Encrypted):
        check_kind("encrypted", name=name)
    except UnsafeXml as error:
        raise held(f"file|unsafe.workbook_xml_{error.what}", name, **error.values) from error
    except _FAULTS as error:
        if is_out_of_memory(error):
            raise
        raise held("file|damaged", name) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise held("file|damaged", name) from error
