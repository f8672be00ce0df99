"""The first sheet: is it complete, how much is at stake, which lines first, and that the numbers tie out."""

from collections.abc import Sequence
from decimal import Decimal

import polars as pl
from openpyxl.styles import Alignment
from openpyxl.workbook import Workbook
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import Discrepancy, LegTotals, Outcome, Severity
from logistics_batch.paper.palette import Paint
from logistics_batch.paper.reconciliation_account import Account, class_words
from logistics_batch.paper.reconciliation_cells import (
    COMPLETE_PAINT,
    FAINT,
    INCOMPLETE_PAINT,
    INR,
    TOTAL_PAINT,
    at,
    font,
    paint,
    put,
    put_heading,
    put_text,
)
from logistics_batch.paper.reconciliation_columns import Column, Kind
from logistics_batch.paper.reconciliation_tables import HEADING_HEIGHT, Look, bar_chart, prepare_page, write_lines

_WIDTHS = (27, 11, 22, 20, 20, 22, 16, 18, 78)
_LAST = len(_WIDTHS)
_FIRST_LINES = 8
_BLUE = "1F5A8A"
_RED = "B03A2E"
_MATCH_PERCENT = '0.0" %"'

_FIRST = (
    Column("Class", "code", Kind.CODE, 26),
    Column("Severity", "severity", Kind.CODE, 11),
    Column("INR at stake", "impact_inr", Kind.MONEY, 16),
    Column("Invoice number", "invoice_number", Kind.TEXT, 19),
    Column("SKU", "sku_name", Kind.TEXT, 19),
    Column("Supplier", "supplier", Kind.TEXT, 16),
    Column("Difference", "qty_delta", Kind.CHANGE, 16),
    Column("Age in days", "bucket", Kind.TEXT, 18),
    Column("What we see", "reason", Kind.WORDS, 78),
)
_CLASSES = (
    Column("Class", "class", Kind.CODE, 26),
    Column("Severity", "severity", Kind.CODE, 11),
    Column("Lines", "lines", Kind.COUNT, 16),
    Column("Units announced", "qty_announced", Kind.QUANTITY, 19),
    Column("Units in service", "qty_returned", Kind.QUANTITY, 19),
    Column("Units received", "qty_received", Kind.QUANTITY, 16),
    Column("Announced − received", "gap", Kind.CHANGE, 16),
    Column("INR at stake", "impact_inr", Kind.MONEY, 18),
    Column("What it says", "says", Kind.WORDS, 78),
)


def add_summary(book: Workbook, account: Account) -> None:
    """The sheet "Summary"."""
    sheet = book.create_sheet("Summary")
    prepare_page(sheet)
    for index, width in enumerate(_WIDTHS, 1):
        sheet.column_dimensions[at(sheet, 1, index).column_letter].width = width
    row = _headline(sheet, account)
    row = _tiles(sheet, account, first_row=row + 1)
    row = _first_lines(sheet, account, first_row=row + 2)
    first, last, row = _classes(sheet, account, first_row=row + 2)
    if last >= first:
        _charts(sheet, first=first, last=last, anchor_row=row + 2)
    sheet.sheet_properties.tabColor = COMPLETE_PAINT.fill[2:] if account.complete else INCOMPLETE_PAINT.fill[2:]


def _headline(sheet: Worksheet, account: Account) -> int:
    put_text(at(sheet, 1, 1), "ASN reconciliation")
    at(sheet, 1, 1).font = font("FF1F2D3A", size=22, bold=True)
    sheet.row_dimensions[1].height = 30
    made = account.made_at.isoformat(sep=" ", timespec="minutes")
    lines = (
        account.window_words,
        f"Compared: {account.legs_words}",
        f"Business date {account.business_date:%d %b %Y} · made {made} · run {account.run}",
    )
    for row, text in enumerate(lines, 2):
        put_text(at(sheet, row, 1), text)
        at(sheet, row, 1).font = font(FAINT)
    look = COMPLETE_PAINT if account.complete else INCOMPLETE_PAINT
    word = "COMPLETE" if account.complete else "MAY BE INCOMPLETE — do not sign off"
    _band(sheet, 6, f"{word}  ·  {account.verdict_words}", look, size=14)
    sheet.row_dimensions[6].height = 26
    row = 6
    for doubt in account.doubts:
        row += 1
        _band(sheet, row, doubt, Paint("FFFBE3E1", "FF8A1C12"))
    return row


def _band(sheet: Worksheet, row: int, text: str, look: Paint, *, size: float = 10) -> None:
    for column in range(1, _LAST + 1):
        paint(at(sheet, row, column), look, size=size)
    put_text(at(sheet, row, 1), text)
    at(sheet, row, 1).alignment = Alignment(vertical="center")


def _tiles(sheet: Worksheet, account: Account, *, first_row: int) -> int:
    """A few numbers in large type, each under its name."""
    result = account.result
    rate = result.match_rate
    exceptions = result.exceptions
    worth = exceptions["impact_inr"].sum()
    tiles: list[tuple[int, str, object, str]] = [
        (1, "Exceptions", exceptions.height, "#,##0"),
        (2, "Critical", exceptions.filter(pl.col("severity") == Severity.CRITICAL.value).height, "#,##0"),
        (3, "INR at stake", worth if worth is not None else Decimal(0), INR),
        (4, "Match rate, lines", _known(rate.line_percent), _MATCH_PERCENT),
        (5, "Match rate, units", _known(rate.unit_percent), _MATCH_PERCENT),
        (6, "Within tolerance", result.outcome(Outcome.WITHIN_TOLERANCE).height, "#,##0"),
        (7, "Too early to judge", result.outcome(Outcome.TOO_EARLY).height, "#,##0"),
    ]
    for column, name, value, form in tiles:
        label, number = at(sheet, first_row + 1, column), at(sheet, first_row + 2, column)
        put_text(label, name)
        label.font = font(FAINT)
        number.value = value  # type: ignore[assignment]
        number.number_format = form
        number.font = font("FF1F2D3A", size=16, bold=True)
        number.alignment = Alignment(horizontal="left")
    sheet.row_dimensions[first_row + 2].height = 26
    unpriced = int(result.classes["lines_without_price"].sum())
    if unpriced:
        note = f"Not valued, since no price is known: {counted(unpriced, 'exception')}."
        put_text(at(sheet, first_row + 3, 3), note)
        at(sheet, first_row + 3, 3).font = font(FAINT, italic=True)
        return first_row + 3
    return first_row + 2


def _known(value: float | None) -> float | str:
    return "nothing to judge" if value is None else value


def _first_lines(sheet: Worksheet, account: Account, *, first_row: int) -> int:
    """The lines to look at first, worst at the top."""
    worst = account.result.exceptions.head(_FIRST_LINES)
    _section(
        sheet, first_row, "Look at these first" if worst.height else "No exceptions: every line that was judged agrees"
    )
    if worst.is_empty():
        return first_row
    _headings(sheet, first_row + 1, _FIRST)
    write_lines(sheet, worst, _FIRST, first_row=first_row + 2)
    return first_row + 1 + worst.height


def _section(sheet: Worksheet, row: int, title: str) -> None:
    put_text(at(sheet, row, 1), title)
    at(sheet, row, 1).font = font("FF1F2D3A", size=13, bold=True)


def _headings(sheet: Worksheet, row: int, columns: Sequence[Column]) -> None:
    for index, column in enumerate(columns, 1):
        put_heading(at(sheet, row, index), column.title, column.kind)
    sheet.row_dimensions[row].height = HEADING_HEIGHT


def _classes(sheet: Worksheet, account: Account, *, first_row: int) -> tuple[int, int, int]:
    """Sums by class, the legs' own totals and what is left over; first and last row of exceptions, last row."""
    _section(sheet, first_row, "All lines by class")
    _headings(sheet, first_row + 1, _CLASSES)
    told = account.result.classes.with_columns(
        _gap().alias("gap"),
        pl.when(pl.col("impact_inr") > 0).then("impact_inr").alias("impact_inr"),
        pl.Series("says", [class_words(word) for word in account.result.classes["class"]], dtype=pl.String),
    )
    excepted = pl.col("class").is_in([code.value for code in Discrepancy])
    exceptions, others = told.filter(excepted), told.filter(~excepted)
    start = first_row + 2
    write_lines(sheet, exceptions, _CLASSES, first_row=start)
    row = start + exceptions.height
    _sum_line(sheet, row, "All exceptions", exceptions, money=True)
    write_lines(sheet, others, _CLASSES, first_row=row + 1)
    row += 1 + others.height
    _sum_line(sheet, row, "All lines", told, money=False)
    _legs_line(sheet, row + 1, account.result.legs)
    return start, start + exceptions.height - 1, row + 2


def _gap() -> pl.Expr:
    received = pl.col("qty_received")
    return pl.when(received.is_not_null()).then(pl.col("qty_announced") - received)


def _sum_line(sheet: Worksheet, row: int, name: str, told: pl.DataFrame, *, money: bool) -> None:
    values: list[tuple[object, Kind]] = [(name, Kind.TEXT), (None, Kind.TEXT), (int(told["lines"].sum()), Kind.COUNT)]
    for column in ("qty_announced", "qty_returned", "qty_received"):
        values.append((told[column].sum(), Kind.QUANTITY))
    worth = told["impact_inr"].sum() if money else None
    values += [(told["gap"].sum(), Kind.CHANGE), (worth, Kind.MONEY), (None, Kind.TEXT)]
    for index, (value, kind) in enumerate(values, 1):
        cell = at(sheet, row, index)
        put(cell, value, kind)
        paint(cell, TOTAL_PAINT)


def _legs_line(sheet: Worksheet, row: int, legs: tuple[LegTotals, ...]) -> None:
    """The totals counted before matching, and the residual, which is zero or there would be no report."""
    lines = " · ".join(f"{leg.name} {counted(leg.lines, 'line')}" for leg in legs)
    units = [Decimal(leg.quantity) for leg in legs]
    rows = (
        ("Counted before matching", units, f"Lines of the legs: {lines}"),
        ("Residual", [Decimal(0)] * len(units), "Every line and unit of every leg stands in exactly one class."),
    )
    for offset, (name, numbers, words) in enumerate(rows):
        quantities: list[tuple[object, Kind]] = [(number, Kind.QUANTITY) for number in numbers]
        quantities += [(None, Kind.QUANTITY)] * (_LAST - 4 - len(numbers))
        cells = [(name, Kind.TEXT), (None, Kind.TEXT), (None, Kind.TEXT), *quantities, (words, Kind.TEXT)]
        for index, (value, kind) in enumerate(cells, 1):
            put(at(sheet, row + offset, index), value, kind)
            paint(at(sheet, row + offset, index), TOTAL_PAINT)


def _charts(sheet: Worksheet, *, first: int, last: int, anchor_row: int) -> None:
    sheet.row_breaks.append(Break(id=anchor_row - 1))
    size_cm = (21.0, 3.2 + 0.62 * (last - first + 1))
    lines = Look("Exceptions by class, lines", _BLUE, size_cm)
    money = Look("INR at stake by class", _RED, size_cm)
    sheet.add_chart(bar_chart(sheet, column=3, rows=(first, last), look=lines), f"A{anchor_row}")
    sheet.add_chart(bar_chart(sheet, column=8, rows=(first, last), look=money), f"F{anchor_row}")
