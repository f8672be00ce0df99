"""NAME.result.xlsx: the user's own workbook with an answer beside every row, ready to be corrected and dropped again.

Input that is no .xlsx, or one that cannot be changed in place, gives a plain workbook of the same rows at the same
numbers; a file without recognisable rows gives a sheet that says why.
"""

from dataclasses import replace
from datetime import datetime

import polars as pl

from logistics_batch.model.answers import HELD_SHEET
from logistics_batch.model.counting import counted
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.row_answers import (
    answers_of,
    cell_notes,
    header_texts,
    without_earlier_columns,
)
from logistics_batch.paper.safe_text import xml_text
from logistics_batch.paper.xlsx.annotate import Annotations, annotate
from logistics_batch.paper.xlsx.inert import InertWorkbook
from logistics_batch.paper.xlsx.package import NotPatchable, Package
from logistics_batch.paper.xlsx.plain import LAST_ROW, PlainStyle, last_row, plain_package, plain_sheet, plain_workbook

_TOO_LONG = Issue(".too_long_for_workbook")


def result_workbook(
    report: FileReport, *, sheet: Sheet | None, original: InertWorkbook | None, lines: Sheet | None = None
) -> bytes:
    """The result of one file as a workbook.

    sheet: the sheet that was read, None if it is not there any more. original: the user's workbook, None for
    input that is no .xlsx. lines: the second sheet, where lines stand on one. Never fails for what the file holds: the
    CSV result and this one always exist.
    """
    if not report.header_row or report.rows.is_empty():
        return held_workbook(report)
    obstacle = original.obstacle if original is not None else ""
    if original is not None and not obstacle:
        try:
            package = Package(original.content)
            for of_sheet, source in zip(report.by_sheet, (sheet, lines), strict=False):
                if source is None:
                    raise NotPatchable("it cannot be read any more")
                annotate(package, source, _annotations(of_sheet, source, *(note.reason for note in original.notes)))
            return package.saved()
        except ValueError as error:  # NotPatchable, or a number in it that is none
            obstacle = str(error) if isinstance(error, NotPatchable) else "its parts hold numbers that make no sense"
    note = f"This is a plain copy of your rows, without formats and formulas: {obstacle}." if obstacle else ""
    shown = [
        (
            _rows_alone(of_sheet) if source is None else _own_columns(source, of_sheet),
            _annotations(of_sheet, source, note),
        )
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


def _annotations(report: FileReport, sheet: Sheet | None, *notes: str) -> Annotations:
    return Annotations(
        header_row=report.header_row,
        answers=answers_of(report),
        notes=cell_notes(report, header_texts(sheet, report.header_row) if sheet is not None else ()),
        legend=legend(report, notes=tuple(note for note in notes if note)),
    )


_TEXT_WIDTH = 90


def held_workbook(report: FileReport, *, title: str = "Nothing of this file was sent") -> bytes:
    """A workbook that explains; dropped again by accident it is held too, for it has no header row."""
    lines = [
        ("File", report.file),
        ("Why", report.reason),
        ("What to do", report.remedy),
        ("Rows read", str(report.rows_read)),
        ("Sheet", report.sheet),
        ("Notes", "\n".join(note.reason for note in report.notes)),
        ("Mapping", report.mapping),
        ("Received", _moment(report.received_at)),
        ("Run", report.run),
        ("SHA-256", report.sha256),
    ]
    rows = [_row(1, [("A", PlainStyle.TITLE, title)], lines=2)]
    for number, (name, text) in enumerate(((name, text) for name, text in lines if text), start=3):
        height = sum(1 + len(line) // _TEXT_WIDTH for line in text.split("\n"))
        rows.append(_row(number, [("A", PlainStyle.HEADER, name), ("B", PlainStyle.WRAPPED, text)], lines=height))
    return plain_package({HELD_SHEET: plain_sheet({1: 14, 2: _TEXT_WIDTH}, "".join(rows))}).saved()


def _moment(text: str) -> str:
    """A time as people read it: without the T and the fractions of a second."""
    return datetime.fromisoformat(text).isoformat(sep=" ", timespec="seconds") if text else ""


def _row(number: int, cells: list[tuple[str, PlainStyle, str]], *, lines: int) -> str:
    written = "".join(
        f'<c r="{letter}{number}" s="{style.value}" t="inlineStr"><is><t xml:space="preserve">'
        f"{xml_text(text).decode()}</t></is></c>"
        for letter, style, text in cells
    )
    return f'<row r="{number}" ht="{lines * 15 + 3}" customHeight="1">{written}</row>'


FATE_MEANINGS: dict[Fate, str] = {
    Fate.ACCEPTED: "the service took it",
    Fate.UNCHANGED: "accepted earlier; not sent again",
    Fate.REFUSED: "the service said no; see Reason",
    Fate.INVALID: "something in this row must be corrected; see the coloured cell",
    Fate.BLOCKED: "not sent: another row of its document is wrong, or says otherwise",
    Fate.IN_DOUBT: "sent, no clear answer yet; do not send it another way",
    Fate.HELD: "a person must decide; ask the operator",
    Fate.PENDING: "not sent yet",
    Fate.SKIPPED: "not sent: blank, a title, a total, or no longer wanted",
}
"""Each fate in a few words for a clerk."""


_HELD_WITH_ITS_FILE = "not sent, because the whole file was held; see What to do"


def legend(report: FileReport, *, notes: tuple[str, ...] = ()) -> str:
    """What came of the file, what each word means, and what to do with this workbook."""
    counts = {fate: count for fate, count in report.counts.items() if count}
    lines = [f"{report.file}, run {report.run}", ""]
    meanings = FATE_MEANINGS | {Fate.HELD: _HELD_WITH_ITS_FILE} if report.reason else FATE_MEANINGS
    lines += [f"{count} {fate.value}{report.in_documents(fate)}: {meanings[fate]}" for fate, count in counts.items()]
    lines += [f"{counted(report.rows_read, 'row')} read in all", ""]
    if any(fate in counts for fate in (Fate.REFUSED, Fate.INVALID, Fate.BLOCKED)):
        lines.append("Correct the rows in this workbook and drop it again. What was accepted is not sent twice.")
    lines.append("These five columns are written by logistics-batch and replaced each time.")
    return "\n".join([*lines, *notes])
