"""How single cells of the reconciliation workbook are written: ids as text, real dates, exact numbers, no formulas."""

from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import cast

from openpyxl.cell.cell import Cell
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Severity, Standing, State
from logistics_batch.paper.palette import HEADER_PAINT, Paint
from logistics_batch.paper.reconciliation.columns import COMPLETE, INCOMPLETE, CellKind
from logistics_batch.paper.safe_text import cell_text, is_formula_like

_SEVERITY_PAINTS: dict[str, Paint] = {
    Severity.CRITICAL: Paint("FFC0392B", "FFFFFFFF", bold=True),
    Severity.HIGH: Paint("FFF9D4D1", "FF8A1C12", bold=True),
    Severity.MEDIUM: Paint("FFFFE9C2", "FF7A3B00", bold=True),
    Severity.LOW: Paint("FFE3EDF7", "FF1E4A72", bold=True),
}
_OUTCOME_PAINTS: dict[str, Paint] = {
    ComparedOutcome.MATCHED: Paint("FFDDF1E0", "FF14532D", bold=True),
    ComparedOutcome.WITHIN_TOLERANCE: Paint("FFFFF8D6", "FF665000", bold=True),
    ComparedOutcome.ACCEPTED: Paint("FFE6DCF4", "FF4A2A80", bold=True),
    ComparedOutcome.TOO_EARLY: Paint("FFE9ECEF", "FF3D4650", bold=True),
    ComparedOutcome.OUTSIDE_WINDOW: Paint("FFF4F4F4", "FF767676"),
}
_CALM = Paint("FFE9ECEF", "FF3D4650")
WORD_PAINTS: dict[str, Paint] = {
    **{str(code): _SEVERITY_PAINTS[meaning.severity] for code, meaning in MEANINGS.items()},
    **_SEVERITY_PAINTS,
    **_OUTCOME_PAINTS,
    State.NEW: _SEVERITY_PAINTS[Severity.LOW],
    State.OPEN: _CALM,
    State.CHANGED: _SEVERITY_PAINTS[Severity.MEDIUM],
    State.BACK: _SEVERITY_PAINTS[Severity.MEDIUM],
    Standing.RESOLVED: _OUTCOME_PAINTS[ComparedOutcome.MATCHED],
    Standing.NOT_CHECKED: _CALM,
    COMPLETE: _OUTCOME_PAINTS[ComparedOutcome.MATCHED],
    INCOMPLETE: _SEVERITY_PAINTS[Severity.CRITICAL],
}
"""Every word that stands in a colour: classes, severities, outcomes, and what became of an exception or a night."""

INCOMPLETE_PAINT = Paint("FFC0392B", "FFFFFFFF", bold=True)
BAND_PAINTS = {
    "complete": Paint("FF1E7B45", "FFFFFFFF", bold=True),
    "findings": Paint("FF8A4B08", "FFFFFFFF", bold=True),
    "incomplete": INCOMPLETE_PAINT,
}
"""The band over a report, by its `look`."""

ENTRY_PAINT = Paint("FFFFFBE6", "FF262626")
TOTAL_PAINT = Paint("FFE8EDF2", "FF1F2D3A", bold=True)
FAINT = "FF6B7785"

# Lakh and crore grouping; Excel allows two conditions, so negative sums (there are none) would group in thousands.
INR = '[>=10000000]"₹ "##\\,##\\,##\\,##0.00;[>=100000]"₹ "##\\,##\\,##0.00;"₹ "##,##0.00'
_FORMS = {
    CellKind.MONEY: INR,
    CellKind.PRICE: '"₹ "#,##0.00##',
    CellKind.PERCENT: '0.0" %"',
    CellKind.DATE: "dd mmm yyyy",
    CellKind.MOMENT: "dd mmm yyyy hh:mm:ss",
}
_NUMBERS = (*_FORMS, CellKind.QUANTITY, CellKind.CHANGE, CellKind.COUNT)
_TEXTS = (CellKind.TEXT, CellKind.WORDS, CellKind.ENTRY)
_LINE = Side(style="thin", color="FFD9DFE5")
ROW_BORDER = Border(bottom=_LINE)


def at(sheet: Worksheet, row: int, column: int) -> Cell:
    """A cell by its numbers, from 1; our sheets have no merged ones."""
    return cast("Cell", sheet.cell(row, column))


@cache
def font(colour: str = "FF262626", *, size: float = 10, bold: bool = False, italic: bool = False) -> Font:
    """A shared font; one for each cell would make large books slow."""
    return Font(name="Calibri", size=size, bold=bold, italic=italic, color=colour)


@cache
def _fill(colour: str) -> PatternFill:
    return PatternFill("solid", fgColor=colour)


@cache
def _alignment(*, right: bool = False, wrapped: bool = False, vertical: str = "top") -> Alignment:
    # Texts stand off a little, or the number in the column before would touch them.
    side = "right" if right else "left"
    indent = 0 if right else 1
    # A number that is wider than its column would be shown as ###.
    shrunk = right and not wrapped
    return Alignment(horizontal=side, indent=indent, vertical=vertical, wrap_text=wrapped, shrink_to_fit=shrunk)


def paint(cell: Cell, look: Paint, *, size: float = 10) -> None:
    """Give a cell fill, colour and weight."""
    if look.fill:
        cell.fill = _fill(look.fill)
    cell.font = font(look.text, size=size, bold=look.bold)


def put_text(cell: Cell, value: object) -> None:
    """Write a text that stays one, whatever it begins with."""
    text = cell_text(str(value))
    cell.value = text
    cell.data_type = "s"
    cell.number_format = "@"
    if is_formula_like(text):
        cell.quotePrefix = True


def put(cell: Cell, value: object, kind: CellKind) -> None:
    """Write a value as its kind wants it; an unknown value leaves the cell empty."""
    cell.font = font()
    cell.border = ROW_BORDER
    cell.alignment = _alignment(wrapped=kind in (CellKind.WORDS, CellKind.ENTRY))
    if kind is CellKind.ENTRY:
        paint(cell, ENTRY_PAINT)
    if value is None or value == "":
        return
    if kind in _TEXTS:
        put_text(cell, value)
    elif kind is CellKind.CODE:
        put_code(cell, str(value))
    else:
        _put_number(cell, value, kind)


def put_code(cell: Cell, word: str) -> None:
    """Write a class, outcome or severity in its colour; the word always stands there."""
    put_text(cell, word)
    if word in WORD_PAINTS:
        paint(cell, WORD_PAINTS[word])


def _put_number(cell: Cell, value: object, kind: CellKind) -> None:
    if not isinstance(value, int | float | Decimal | date | datetime):
        raise TypeError(f"{value!r} is no {kind}")
    cell.value = value
    cell.number_format = _FORMS.get(kind) or _whole_or_not(value, signed=kind is CellKind.CHANGE)
    cell.alignment = _alignment(right=True)


def _whole_or_not(value: object, *, signed: bool) -> str:
    """Decimals only where there are any: a format like `0.###` leaves a lonely point behind whole numbers."""
    form = "#,##0" if value == int(value) else "#,##0.00##"  # type: ignore[call-overload]
    return f"+{form};-{form};0" if signed else form


def put_heading(cell: Cell, title: str, kind: CellKind) -> None:
    """Write a column's heading, over numbers on their side."""
    put_text(cell, title)
    paint(cell, HEADER_PAINT)
    cell.alignment = _alignment(right=kind in _NUMBERS, wrapped=True, vertical="center")
