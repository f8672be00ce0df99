"""The result of a file that was refused before its rows could be told apart: one sheet that says why and what to do."""

from datetime import datetime

from logistics_batch.model.answer_columns import HELD_SHEET
from logistics_batch.model.report import FileReport
from logistics_batch.paper.plain_parts import PlainStyle, plain_package, plain_sheet
from logistics_batch.paper.safe_text import xml_text

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
    return plain_package({HELD_SHEET: plain_sheet({1: 14, 2: _TEXT_WIDTH}, "".join(rows))}).content


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
