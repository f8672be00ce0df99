"""NAME.result.xlsx: the user's own workbook with an answer beside every row, ready to be corrected and dropped again.

Input that is no .xlsx, or one that cannot be changed in place, gives a plain workbook of the same rows at the same
numbers; a file without recognisable rows gives a sheet that says why.
"""

from dataclasses import replace

import polars as pl

from logistics_batch.model.issue import Issue
from logistics_batch.model.report import FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answer_cells import answers_of
from logistics_batch.paper.held_workbook import held_workbook
from logistics_batch.paper.legend import legend
from logistics_batch.paper.plain_workbook import LAST_ROW, last_row, plain_workbook
from logistics_batch.paper.row_answers import answered, cell_notes
from logistics_batch.paper.status_columns import without_earlier_columns
from logistics_batch.paper.xlsx_inert import InertWorkbook
from logistics_batch.paper.xlsx_patch import Annotations, annotated
from logistics_batch.paper.xml_bytes import NotPatchable

_TOO_LONG = Issue(".too_long_for_workbook")


def result_workbook(
    report: FileReport, *, sheet: Sheet | None, original: InertWorkbook | None, lines: Sheet | None = None
) -> bytes:
    """The result of one file as a workbook.

    sheet: the sheet that was read, for input that cannot be changed in place. original: the user's workbook, None for
    input that is no .xlsx. lines: the second sheet, where lines stand on one. Never fails for what the file holds: the
    CSV result and this one always exist.
    """
    if not report.header_row or report.rows.is_empty():
        return held_workbook(report)
    obstacle = original.obstacle if original is not None else ""
    if original is not None and not obstacle:
        try:
            content = original.content
            for of_sheet in report.by_sheet:
                content = annotated(
                    content, of_sheet.sheet, _annotations(of_sheet, *(note.reason for note in original.notes))
                )
            return content
        except ValueError as error:  # NotPatchable, or a number in it that is none
            obstacle = str(error) if isinstance(error, NotPatchable) else "its parts hold numbers that make no sense"
    note = f"This is a plain copy of your rows, without formats and formulas: {obstacle}." if obstacle else ""
    shown = [
        (_rows_alone(of_sheet) if source is None else _own_columns(source, of_sheet), _annotations(of_sheet, note))
        for of_sheet, source in zip(report.by_sheet, (sheet, lines), strict=False)
    ]
    if any(last_row(each) > LAST_ROW for each, _ in shown):
        return held_workbook(replace(report, held=_TOO_LONG), title="The rows are in the CSV result")
    return plain_workbook(*shown)


def _own_columns(sheet: Sheet, report: FileReport) -> Sheet:
    """The sheet without the columns of an earlier result."""
    return replace(sheet, frame=without_earlier_columns(sheet, report.header_row))


def _rows_alone(report: FileReport) -> Sheet:
    """The rows by their numbers and documents, where the file itself is not there any more."""
    header = pl.DataFrame({"row": [report.header_row], "1": ["Document"]}, schema_overrides={"row": pl.UInt32})
    frame = pl.concat([header, report.rows.select("row", pl.col("document").alias("1"))]).sort("row")
    return Sheet(name=report.sheet, frame=frame)


def _annotations(report: FileReport, *notes: str) -> Annotations:
    return Annotations(
        header_row=report.header_row,
        answers=answers_of(answered(report)),
        notes=cell_notes(report),
        legend=legend(report, notes=tuple(note for note in notes if note)),
    )
