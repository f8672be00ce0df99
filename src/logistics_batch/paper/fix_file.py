"""NAME.fix.xlsx or NAME.fix.csv: only the rows that need correcting, each with all rows of its document.

The layout is that of the file that came, so that it can be corrected and dropped as it is.
"""

import polars as pl

from logistics_batch.model.report import FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.plain_workbook import plain_workbook
from logistics_batch.paper.result_csv import csv_bytes, header_texts
from logistics_batch.paper.row_answers import NEEDS_CORRECTING, CellNote, cell_notes
from logistics_batch.paper.status_columns import earlier_columns
from logistics_batch.paper.xlsx_patch import Annotations
from logistics_batch.paper.xlsx_sheet import Area


def fix_file(report: FileReport, *, sheet: Sheet | None, original: bytes, format: str) -> tuple[str, bytes] | None:  # noqa: ARG001
    """The suffix ("csv" or "xlsx") and the content of the fix file; None where nothing is to be corrected.

    A row needs correcting if it is invalid, refused or blocked; every other row of its document comes with it.
    """
    rows = rows_to_correct(report)
    if not rows or sheet is None or not report.header_row:
        return None
    close = close_rows(sheet, rows, header_row=report.header_row)
    if format == "csv":
        return "csv", csv_bytes(close.frame.drop("row"), header=False)
    moved = {row: number for number, row in enumerate(rows, start=2)}
    notes = tuple(note for found in cell_notes(report) if (note := _moved(found, moved)) is not None)
    annotations = Annotations(header_row=1, answers={}, notes=notes, legend="", adds_columns=False)
    return "xlsx", plain_workbook(close, annotations)


def rows_to_correct(report: FileReport) -> tuple[int, ...]:
    """The numbers of the rows that go into the fix file, in their order."""
    documents = {row.document for row in report.rows if row.fate in NEEDS_CORRECTING and row.document}
    return tuple(row.row for row in report.rows if row.fate in NEEDS_CORRECTING or row.document in documents)


def close_rows(sheet: Sheet, rows: tuple[int, ...], *, header_row: int) -> Sheet:
    """The header and some rows of a sheet one under the other, without the columns of an earlier result."""
    wanted = pl.DataFrame({"row": [header_row, *rows]}, schema={"row": pl.UInt32})
    numbers = wanted.with_row_index("new", offset=1).with_columns(pl.col("new").cast(pl.UInt32))
    ours = {str(position + 1) for position in earlier_columns(header_texts(sheet, header_row))}
    frame = numbers.join(sheet.frame.drop(ours), on="row", how="left", maintain_order="left")
    marks = sheet.marks.join(numbers, on="row", how="inner").drop("row").rename({"new": "row"})
    return Sheet(sheet.name, frame.drop("row").rename({"new": "row"}), marks)


def _moved(note: CellNote, rows: dict[int, int]) -> CellNote | None:
    area = Area.of(note.cell.encode())
    if area is None or area.top not in rows:
        return None
    return CellNote(note.cell.rstrip("0123456789") + str(rows[area.top]), note.text)
