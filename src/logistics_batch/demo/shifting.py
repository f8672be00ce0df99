"""Samples dated around one day are moved to another: every date keeps its form, everything else stays as it is."""

import csv
import io
import re
from datetime import date, datetime, timedelta
from itertools import chain
from pathlib import Path

from openpyxl import load_workbook

# How a date looks in the text of a cell, with the form that `strptime` reads it by; a longer form comes before one that
# it contains. No digit, point or slash may stand beside a date: an order or invoice number must not be taken for one.
_FORMS = (
    (r"\d{4}-\d{2}-\d{2}", "%Y-%m-%d"),
    (r"\d{2}-\d{2}-\d{4}", "%d-%m-%Y"),
    (r"\d{2}/\d{2}/\d{4}", "%d/%m/%Y"),
    (r"\d{2}\.\d{2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{2}\.\d{2}\.\d{2}", "%d.%m.%y"),
    (r"\d{2}-[A-Z][a-z]{2}-\d{4}", "%d-%b-%Y"),
    (r"\d{2}-[A-Z][a-z]{2}-\d{2}", "%d-%b-%y"),
)
_DATE = re.compile(rf"(?<![\w./-])(?:{'|'.join(f'({pattern})' for pattern, _ in _FORMS)})(?![\d/-]|\.\d)")
_FARTHEST = timedelta(days=5 * 366)  # from the anchor: what is farther away is a number that looks like a date


def read_anchor(folder: Path) -> date:
    """The day that the samples of a folder are dated around."""
    return date.fromisoformat((folder / "anchor.txt").read_text(encoding="ascii").strip())


def shift_file(source: Path, target: Path, *, anchor: date, to: date) -> None:
    """Copy a CSV file or a workbook with its dates moved from `anchor` to `to`."""
    if source.suffix == ".xlsx":
        _shift_workbook(source, target, anchor=anchor, days=to - anchor)
    else:
        target.write_bytes(_shift_csv(source.read_bytes(), anchor=anchor, days=to - anchor))


def shift_text(text: str, *, anchor: date, days: timedelta) -> str:
    """The text with every date in it moved.

    >>> shift_text("Date: 03.11.26  Dock: 3", anchor=date(2026, 11, 3), days=timedelta(days=30))
    'Date: 03.12.26  Dock: 3'
    """

    def moved(match: re.Match[str]) -> str:
        form = _FORMS[(match.lastindex or 1) - 1][1]
        try:
            day = datetime.strptime(match[0], form).date()  # noqa: DTZ007 - a day, no moment
        except ValueError:
            return match[0]
        return match[0] if abs(day - anchor) > _FARTHEST else (day + days).strftime(form)

    return _DATE.sub(moved, text)


def _shift_csv(content: bytes, *, anchor: date, days: timedelta) -> bytes:
    """Cell by cell; quotes and line ends are written as the samples have them, and a BOM stays."""
    mark = b"\xef\xbb\xbf"
    rows = csv.reader(io.StringIO(content.removeprefix(mark).decode("utf-8"), newline=""))
    shifted = io.StringIO(newline="")
    csv.writer(shifted).writerows([[shift_text(cell, anchor=anchor, days=days) for cell in row] for row in rows])
    return (mark if content.startswith(mark) else b"") + shifted.getvalue().encode()


def _shift_workbook(source: Path, target: Path, *, anchor: date, days: timedelta) -> None:
    book = load_workbook(source)
    for sheet in book.worksheets:
        for cell in chain.from_iterable(sheet.iter_rows()):
            if isinstance(cell.value, str) and cell.data_type == "s":
                cell.value = shift_text(cell.value, anchor=anchor, days=days)
            elif isinstance(cell.value, date):
                cell.value = cell.value + days
    book.save(target)
    book.close()
