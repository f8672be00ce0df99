"""NAME.fix.xlsx or NAME.fix.csv: only the rows that need correcting, each with all rows of its document.

Of a file that was held as a whole it has all rows, for none of them was sent.
The layout is that of the file that came, without any column of ours, so that it can be corrected and dropped as it is.
A text file has its delimiter, and its encoding where the mapping declares one.
In a workbook the failing cells are coloured and say in a comment what is wrong.
"""

import codecs
from dataclasses import replace
from typing import Final

import polars as pl

from logistics_batch.model.issue import cell_address
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.plain_workbook import plain_workbook
from logistics_batch.paper.result_csv import csv_bytes
from logistics_batch.paper.row_answers import NEEDS_CORRECTING, CellNote, answered, cell_notes
from logistics_batch.paper.status_columns import without_earlier_columns
from logistics_batch.paper.xlsx_fix import KeptRows, fix_workbook
from logistics_batch.paper.xlsx_patch import Annotations
from logistics_batch.paper.xlsx_sheet import Area

_FOUND_BY_THEMSELVES: Final = ",;\t|"


def fix_file(
    report: FileReport, *, sheet: Sheet | None, original: bytes, format: str, lines: Sheet | None = None
) -> tuple[str, bytes] | None:
    """The suffix ("csv" or "xlsx") and the content of the fix file; None where nothing is to be corrected.

    A row needs correcting if it is invalid, refused or blocked; every other row of its document comes with it, and
    every row that was held with its file. lines: the second sheet, where lines stand on one; only the rows of these
    documents are left on it, too.
    """
    kept = rows_to_correct(report)
    if not any(kept) or not report.header_row:
        return None
    sheets = list(zip(report.by_sheet, kept, strict=True))
    if format == "xlsx":
        try:
            return "xlsx", fix_workbook(original, [_kept(of_sheet, rows) for of_sheet, rows in sheets])
        except ValueError:  # NotPatchable, or a number in it that is none
            pass  # a plain workbook of the same rows does as well
    sources = [source for source in (sheet, lines) if source is not None]
    if len(sources) < len(sheets):
        return None
    close = [
        close_rows(source, rows, header_row=of_sheet.header_row)
        for source, (of_sheet, rows) in zip(sources, sheets, strict=False)
    ]
    if format == "csv":
        return "csv", text_file(close[0])
    annotations = [_annotations(*each) for each in sheets]
    return "xlsx", plain_workbook(*zip(close, annotations, strict=True))


def rows_to_correct(report: FileReport) -> tuple[tuple[int, ...], ...]:
    """For each sheet the numbers of its rows that go into the fix file, in their order."""
    wrong = report.rows.filter(pl.col("fate").is_in(NEEDS_CORRECTING))
    wanted = NEEDS_CORRECTING | ({Fate.HELD} if report.reason and wrong.height else set())
    # What is held with its file goes out with the corrected one or not at all.
    of_them = (pl.col("document") != "") & pl.col("document").is_in(wrong["document"].unique().implode())
    fits = pl.col("fate").is_in(wanted) | of_them
    return tuple(
        tuple(of_sheet.rows.filter(fits, pl.col("row") > of_sheet.header_row)["row"]) for of_sheet in report.by_sheet
    )


def _kept(report: FileReport, rows: tuple[int, ...]) -> KeptRows:
    moved = {row: report.header_row + 1 + index for index, row in enumerate(rows)}
    return KeptRows(report.sheet, report.header_row, rows, _notes(report, moved))


def _annotations(report: FileReport, rows: tuple[int, ...]) -> Annotations:
    notes = _notes(report, {row: number for number, row in enumerate(rows, start=2)})
    return Annotations(header_row=1, answers={}, notes=notes, legend="", adds_columns=False)


def close_rows(sheet: Sheet, rows: tuple[int, ...], *, header_row: int) -> Sheet:
    """The header and some rows of a sheet one under the other, without the columns of an earlier result."""
    wanted = pl.DataFrame({"row": [header_row, *rows]}, schema={"row": pl.UInt32})
    numbers = wanted.with_row_index("new", offset=1).with_columns(pl.col("new").cast(pl.UInt32))
    frame = numbers.join(without_earlier_columns(sheet, header_row), on="row", how="left", maintain_order="left")
    marks = sheet.marks.join(numbers, on="row", how="inner").drop("row").rename({"new": "row"})
    moved = {row: number for number, row in enumerate((header_row, *rows), 1)}
    struck = tuple((moved[cell[0]], *cell[1:]) for cell in sheet.struck if cell[0] in moved)
    worded = tuple((moved[row], column, shown) for row, column, shown in sheet.worded if row in moved)
    return replace(
        sheet,
        frame=frame.drop("row").rename({"new": "row"}),
        marks=marks,
        hidden_rows=(),
        cell_counts=None,
        merges=_moved_merges(sheet, moved),
        worded=worded,
        struck=struck,
        covered=tuple((moved[row], column) for row, column in sheet.covered if row in moved),
    )


def text_file(sheet: Sheet) -> bytes:
    """A sheet as a text file of its own kind: with the delimiter it came with, in the encoding its mapping declares.

    Where the encoding was found and not declared, it is UTF-8 with a mark, which is never taken for another.
    """
    separator = sheet.delimiter or ","
    written = csv_bytes(sheet.frame.drop("row"), header=False, as_it_came=True, separator=separator)
    if separator not in _FOUND_BY_THEMSELVES and separator.isascii():
        written = codecs.BOM_UTF8 + f"sep={separator}\r\n".encode() + written.removeprefix(codecs.BOM_UTF8)
    if not sheet.encoding or codecs.lookup(sheet.encoding).name == "utf-8":
        return written
    return written.decode("utf-8-sig").encode(sheet.encoding)


def _moved_merges(sheet: Sheet, moved: dict[int, int]) -> tuple[tuple[int, int, int, int], ...]:
    """The merged ranges of rows that stay, as far as these reach."""
    found = []
    for top, left, bottom, right in sheet.merges:
        stay = [moved[row] for row in range(top, bottom + 1) if row in moved]
        if top in moved and (len(stay) > 1 or right > left):
            found.append((stay[0], left, stay[-1], right))
    return tuple(found)


def _notes(report: FileReport, moved: dict[int, int]) -> list[CellNote]:
    """What is wrong, at the new places; of a row without a failing cell at its first one."""
    notes: list[CellNote] = []
    told: set[int] = set()
    for note in cell_notes(report):
        area = Area.of(note.cell.encode())
        if area is not None and area.top in moved:
            told.add(area.top)
            notes.append(CellNote(cell_address(moved[area.top], area.left), note.text))
    wrong = answered(report).filter(pl.col("fate").is_in((Fate.REFUSED, Fate.INVALID)))
    for row, *texts in wrong.select("row", "reason", "fix").iter_rows():
        if row in moved and row not in told:
            notes.append(CellNote(cell_address(moved[row], 1), "\n".join(filter(None, texts))))
    return notes
