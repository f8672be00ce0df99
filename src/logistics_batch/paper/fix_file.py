"""NAME.fix.xlsx or NAME.fix.csv: only the rows that need correcting, each with all rows of its document.

Of a file that was held as a whole it has all rows, for none of them was sent.
The layout is that of the file that came, without any column of ours, so that it can be corrected and dropped as it is.
In a workbook the failing cells are coloured and say in a comment what is wrong.
"""

import polars as pl

from logistics_batch.model.issue import cell_address
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.plain_workbook import plain_workbook
from logistics_batch.paper.result_csv import csv_bytes
from logistics_batch.paper.row_answers import NEEDS_CORRECTING, CellNote, answered_rows, cell_notes
from logistics_batch.paper.status_columns import without_earlier_columns
from logistics_batch.paper.xlsx_fix import fix_workbook
from logistics_batch.paper.xlsx_patch import Annotations
from logistics_batch.paper.xlsx_sheet import Area
from logistics_batch.paper.xml_bytes import NotPatchable


def fix_file(report: FileReport, *, sheet: Sheet | None, original: bytes, format: str) -> tuple[str, bytes] | None:
    """The suffix ("csv" or "xlsx") and the content of the fix file; None where nothing is to be corrected.

    A row needs correcting if it is invalid, refused or blocked; every other row of its document comes with it, and
    every row that was held with its file.
    """
    rows = rows_to_correct(report)
    if not rows or not report.header_row:
        return None
    if format == "xlsx":
        try:
            moved = {row: report.header_row + 1 + index for index, row in enumerate(rows)}
            notes = _notes(report, moved)
            return "xlsx", fix_workbook(original, report.sheet, header_row=report.header_row, rows=rows, notes=notes)
        except NotPatchable:
            pass  # a plain workbook of the same rows does as well
    if sheet is None:
        return None
    close = close_rows(sheet, rows, header_row=report.header_row)
    if format == "csv":
        return "csv", csv_bytes(close.frame.drop("row"), header=False, as_it_came=True)
    notes = _notes(report, {row: number for number, row in enumerate(rows, start=2)})
    return "xlsx", plain_workbook(
        close, Annotations(header_row=1, answers={}, notes=notes, legend="", adds_columns=False)
    )


def rows_to_correct(report: FileReport) -> tuple[int, ...]:
    """The numbers of the rows that go into the fix file, in their order."""
    to_correct = [row for row in report.rows if row.fate in NEEDS_CORRECTING]
    if not to_correct:
        return ()
    documents = {row.document for row in to_correct if row.document}
    # what is held with its file goes out with the corrected one or not at all
    wanted = NEEDS_CORRECTING | {Fate.HELD} if report.reason else NEEDS_CORRECTING
    return tuple(
        row.row
        for row in report.rows
        if row.row > report.header_row and (row.fate in wanted or row.document in documents)
    )


def close_rows(sheet: Sheet, rows: tuple[int, ...], *, header_row: int) -> Sheet:
    """The header and some rows of a sheet one under the other, without the columns of an earlier result."""
    wanted = pl.DataFrame({"row": [header_row, *rows]}, schema={"row": pl.UInt32})
    numbers = wanted.with_row_index("new", offset=1).with_columns(pl.col("new").cast(pl.UInt32))
    frame = numbers.join(without_earlier_columns(sheet, header_row), on="row", how="left", maintain_order="left")
    marks = sheet.marks.join(numbers, on="row", how="inner").drop("row").rename({"new": "row"})
    return Sheet(sheet.name, frame.drop("row").rename({"new": "row"}), marks)


def _notes(report: FileReport, moved: dict[int, int]) -> list[CellNote]:
    """What is wrong, at the new places; of a row without a failing cell at its first one."""
    notes: list[CellNote] = []
    told: set[int] = set()
    for note in cell_notes(report):
        area = Area.of(note.cell.encode())
        if area is not None and area.top in moved:
            told.add(area.top)
            notes.append(CellNote(cell_address(moved[area.top], area.left), note.text))
    for row in answered_rows(report):
        if row.row in moved and row.row not in told and row.fate in (Fate.REFUSED, Fate.INVALID):
            text = "\n".join(text for text in (row.reason, row.fix) if text)
            notes.append(CellNote(cell_address(moved[row.row], 1), text))
    return notes
