"""The first sheet: is it complete, how much is at stake, which lines first, and that the numbers tie out."""

from collections.abc import Sequence
from decimal import Decimal

import polars as pl
from openpyxl.styles import Alignment
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy, LegTotals, Severity, Standing
from logistics_batch.paper.palette import Paint
from logistics_batch.paper.reconciliation.account import ReconciliationReport, class_words
from logistics_batch.paper.reconciliation.cells import (
    BAND_PAINTS,
    FAINT,
    INR,
    TOTAL_PAINT,
    at,
    font,
    paint,
    put,
    put_heading,
    put_text,
)
from logistics_batch.paper.reconciliation.columns import CellKind, Column
from logistics_batch.paper.reconciliation.drawings import Drawn
from logistics_batch.paper.reconciliation.figures import by_age, by_class, by_supplier
from logistics_batch.paper.reconciliation.rows import SheetRows
from logistics_batch.paper.reconciliation.tables import HEADING_HEIGHT, prepare_page, write_lines
from logistics_batch.paper.reconciliation.words import decimal_of

_WIDTHS = (27, 11, 22, 20, 20, 22, 16, 18, 78)
_LAST = len(_WIDTHS)
_FIRST_LINES = 8
_COUNT = "#,##0"
_MATCH_PERCENT = '0.0" %"'

_FIRST = (
    Column("Class", "code", CellKind.CODE, 26),
    Column("Severity", "severity", CellKind.CODE, 11),
    Column("INR at stake", "impact_inr", CellKind.MONEY, 16),
    Column("Invoice number", "invoice_number", CellKind.WORDS, 19),
    Column("SKU", "sku_name", CellKind.WORDS, 19),
    Column("Supplier", "supplier", CellKind.WORDS, 16),
    Column("Difference", "qty_delta", CellKind.CHANGE, 16),
    Column("Age in days", "bucket", CellKind.TEXT, 18),
    Column("What we see", "reason", CellKind.WORDS, 78),
)
_CLASSES = (
    Column("Class", "class", CellKind.CODE, 26),
    Column("Severity", "severity", CellKind.CODE, 11),
    Column("Lines", "lines", CellKind.COUNT, 16),
    Column("Units announced", "qty_announced", CellKind.QUANTITY, 19),
    Column("Units in service", "qty_returned", CellKind.QUANTITY, 19),
    Column("Units received", "qty_received", CellKind.QUANTITY, 16),
    Column("Announced − received", "gap", CellKind.CHANGE, 16),
    Column("INR at stake", "impact_inr", CellKind.MONEY, 18),
    Column("What it says", "says", CellKind.WORDS, 78),
)


def _figures(title: str, field: str) -> tuple[Column, ...]:
    """Lines, units and INR by something, in the columns where they stand for the classes."""
    return (
        Column(title, field, CellKind.WORDS, 26),
        Column("", "", CellKind.TEXT, 11),
        Column("Exceptions", "lines", CellKind.COUNT, 16),
        Column("Units concerned", "qty_affected", CellKind.QUANTITY, 19),
        *(Column("", "", CellKind.TEXT, 19) for _ in range(3)),
        Column("INR at stake", "impact_inr", CellKind.MONEY, 18),
    )


_BY_AGE = _figures("Age in days", "bucket")
_BY_SUPPLIER = _figures("Supplier", "supplier")


def add_summary(sheet: Worksheet, account: ReconciliationReport, *, trend: SheetRows) -> None:
    """Fill the first sheet; `trend` is the table of the nights, of which it shows a chart."""
    prepare_page(sheet)
    for index, width in enumerate(_WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(index)].width = width
    row = _headline(sheet, account)
    row = _tiles(sheet, account, first_row=row + 1)
    row = _first_lines(sheet, account, first_row=row + 2)
    classes, ages, suppliers = by_class(account), by_age(account), by_supplier(account)
    drawn = Drawn(sheet, row + 2, trend)
    row = drawn.end(classes.height, account) if account.open.height or account.compared else row
    first, last, row = _classes(sheet, account, first_row=row + 2)
    age_rows = _figures_table(sheet, "Open exceptions by age in days", ages, _BY_AGE, first_row=row + 2)
    named = suppliers.with_columns(pl.col("supplier").replace("", "(none named)"))
    supplier_rows = _figures_table(
        sheet, "Open exceptions by supplier, most at stake first", named, _BY_SUPPLIER, first_row=age_rows[1] + 2
    )
    if account.open.height:
        drawn.classes((first, last), classes)
        drawn.ages(age_rows)
        drawn.suppliers(supplier_rows)
    if account.trend.height > 1:
        drawn.nights()
    sheet.sheet_properties.tabColor = BAND_PAINTS[account.look].fill[2:]


def _figures_table(
    sheet: Worksheet, title: str, frame: pl.DataFrame, columns: Sequence[Column], *, first_row: int
) -> tuple[int, int]:
    """A small table; returns the first and the last row of its lines."""
    _section(sheet, first_row, title)
    _headings(sheet, first_row + 1, columns)
    write_lines(sheet, frame.with_columns(pl.lit(None).alias("")), columns, first_row=first_row + 2)
    return first_row + 2, first_row + 1 + frame.height


def _headline(sheet: Worksheet, account: ReconciliationReport) -> int:
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
    _band(sheet, 6, account.headline, BAND_PAINTS[account.look], size=14)
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


def _tiles(sheet: Worksheet, account: ReconciliationReport, *, first_row: int) -> int:
    """A few numbers in large type, each under its name; the last row."""
    result = account.result
    rate = result.match_rate
    tiles: list[tuple[str, object, str]] = [
        ("Open exceptions", account.open.height, _COUNT),
        ("Critical", account.open.filter(pl.col("severity") == Severity.CRITICAL.value).height, _COUNT),
        ("INR at stake", decimal_of(account.open["impact_inr"].sum()), INR),
        ("Units concerned", decimal_of(account.open["qty_affected"].sum()), "#,##0"),
        ("Match rate, lines", _known(rate.line_percent, account), _MATCH_PERCENT),
        ("Match rate, units", _known(rate.unit_percent, account), _MATCH_PERCENT),
        ("Within tolerance", result.outcome(ComparedOutcome.WITHIN_TOLERANCE).height, _COUNT),
        ("Too early to judge", result.outcome(ComparedOutcome.TOO_EARLY).height, _COUNT),
    ]
    _tile_row(sheet, tiles, first_row=first_row + 1)
    row = first_row + 2
    if account.compared:
        since: list[tuple[str, object, str]] = [
            ("New since last time", account.new, _COUNT),
            ("Resolved", account.resolved, _COUNT),
            ("Still open", account.open.height - account.new, _COUNT),
            ("Accepted", account.accepted.height, _COUNT),
            ("Not checked any more", account.gone(Standing.NOT_CHECKED).height, _COUNT),
        ]
        _tile_row(sheet, since, first_row=row + 1)
        row += 2
    unpriced = int(result.classes["lines_without_price"].sum())
    notes = [f"Not valued, since no price is known: {counted(unpriced, 'exception')}."] if unpriced else []
    for note in notes:
        row += 1
        put_text(at(sheet, row, 1), note)
        at(sheet, row, 1).font = font(FAINT, italic=True)
    return row


def _tile_row(sheet: Worksheet, tiles: Sequence[tuple[str, object, str]], *, first_row: int) -> None:
    for column, (name, value, form) in enumerate(tiles, 1):
        label, number = at(sheet, first_row, column), at(sheet, first_row + 1, column)
        put_text(label, name)
        label.font = font(FAINT)
        number.value = value  # type: ignore[assignment]
        number.number_format = form
        number.font = font("FF1F2D3A", size=16, bold=True)
        number.alignment = Alignment(horizontal="left", shrink_to_fit=True)
    sheet.row_dimensions[first_row + 1].height = 26


def _known(value: float | None, account: ReconciliationReport) -> float | str:
    return account.no_rate_words if value is None else value


def _first_lines(sheet: Worksheet, account: ReconciliationReport, *, first_row: int) -> int:
    """The lines to look at first, worst at the top."""
    worst = account.first(_FIRST_LINES)
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


def _classes(sheet: Worksheet, account: ReconciliationReport, *, first_row: int) -> tuple[int, int, int]:
    """Sums by class, the legs' own totals and what is left over; first and last row of exceptions, last row."""
    _section(sheet, first_row, "All lines by class")
    _headings(sheet, first_row + 1, _CLASSES)
    received = pl.lit(account.receipts_compared)
    told = account.result.classes.with_columns(
        pl.when(received).then("qty_received").alias("qty_received"),  # 0 would say that nothing came
        pl.when(received).then(_gap()).alias("gap"),
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
    values: list[tuple[object, CellKind]] = [
        (name, CellKind.TEXT),
        (None, CellKind.TEXT),
        (int(told["lines"].sum()), CellKind.COUNT),
    ]
    for column in ("qty_announced", "qty_returned", "qty_received"):
        values.append((_sum(told[column]), CellKind.QUANTITY))
    worth = told["impact_inr"].sum() if money else None
    values += [(_sum(told["gap"]), CellKind.CHANGE), (worth, CellKind.MONEY), (None, CellKind.TEXT)]
    for index, (value, kind) in enumerate(values, 1):
        cell = at(sheet, row, index)
        put(cell, value, kind)
        paint(cell, TOTAL_PAINT)


def _sum(column: pl.Series) -> object:
    """The sum; None where nothing is known."""
    return column.sum() if column.count() else None


def _legs_line(sheet: Worksheet, row: int, legs: tuple[LegTotals, ...]) -> None:
    """The totals counted before matching, and the residual, which is zero or there would be no report."""
    lines = " · ".join(f"{leg.name} {counted(leg.lines, 'line')}" for leg in legs)
    counted_units = {leg.name: Decimal(leg.quantity) for leg in legs}
    units = [counted_units[name] for name in ("announced", "in service", "received") if name in counted_units]
    if "ordered" in counted_units:
        lines += f" with {counted_units['ordered']:,.0f} units"
    rows = (
        ("Counted before matching", units, f"Lines of the legs: {lines}"),
        ("Residual", [Decimal(0)] * len(units), "Every line and unit of every leg stands in exactly one class."),
    )
    for offset, (name, numbers, words) in enumerate(rows):
        quantities: list[tuple[object, CellKind]] = [(number, CellKind.QUANTITY) for number in numbers]
        quantities += [(None, CellKind.QUANTITY)] * (_LAST - 4 - len(numbers))
        cells = [
            (name, CellKind.TEXT),
            (None, CellKind.TEXT),
            (None, CellKind.TEXT),
            *quantities,
            (words, CellKind.TEXT),
        ]
        for index, (value, kind) in enumerate(cells, 1):
            put(at(sheet, row + offset, index), value, kind)
            paint(at(sheet, row + offset, index), TOTAL_PAINT)
