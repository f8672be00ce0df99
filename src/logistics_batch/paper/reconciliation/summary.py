"""The first sheet: is it complete, how much is at stake, which lines first, and that the numbers tie out."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import polars as pl
from openpyxl.chart import BarChart, Reference
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.marker import DataPoint
from openpyxl.chart.series import SeriesLabel
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.styles import Alignment
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import ComparedOutcome, LegTotals, Severity, Standing
from logistics_batch.paper.amounts import decimal_of
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
from logistics_batch.paper.reconciliation.columns import EXCEPTIONS, CellKind, Column
from logistics_batch.paper.reconciliation.rows import SheetRows
from logistics_batch.paper.reconciliation.tables import HEADING_HEIGHT, prepare_page, write_lines

_BLUE, _DARK = "1F5A8A", "123A5C"
_SEVERITY_COLOURS: dict[str, str] = {
    Severity.CRITICAL: "B8271B",
    Severity.HIGH: "D9604F",
    Severity.MEDIUM: "D98E2B",
    Severity.LOW: "5B8DB8",
}
_LAKHS = '[>=10000000]"₹ "##\\,##\\,##\\,##0;[>=100000]"₹ "##\\,##\\,##0;"₹ "##,##0'
_COUNTS = "#,##0;;"
_WIDTH_CM, _SHORT_CM = 21.0, 8.5
_ROWS_A_CM = 28.35 / 15.0
_HALF_A_PAGE_CM = 14.0  # beside a taller chart the next row of charts would be cut by the end of the page
_NIGHTS = 30
_LEFT, _RIGHT = "A", "F"


class Charts:
    """The charts of the summary: two by two from `row` on, of numbers that stand further down in other `rows`."""

    def __init__(self, sheet: Worksheet, row: int, *, classes: int, exceptions: bool) -> None:
        self._sheet = sheet
        self._first = self._second = row
        self._tall_cm = max(_SHORT_CM, 2.6 + 0.62 * classes)
        if exceptions:
            self._second += 2 + int(self._tall_cm * _ROWS_A_CM)
        if self._tall_cm > _HALF_A_PAGE_CM:
            sheet.row_breaks.append(Break(id=self._second - 2))
        self.last_row = self._second + 1 + int(_SHORT_CM * _ROWS_A_CM)
        sheet.row_breaks.append(Break(id=self.last_row))

    def exceptions(
        self, by_class: tuple[int, int], by_age: tuple[int, int], by_supplier: tuple[int, int], severities: pl.Series
    ) -> None:
        """Open exceptions by class, each in the colour of its severity, and by age; INR at stake by supplier."""
        tall = self._tall_cm
        chart = self._bars("Open exceptions by class", by_class, f"{_LEFT}{self._first}", height_cm=tall)
        for place, severity in enumerate(severities):
            colour = GraphicalProperties(solidFill=_SEVERITY_COLOURS[severity])
            chart.series[0].dPt.append(DataPoint(idx=place, spPr=colour))
        age = f"{_RIGHT}{self._first}"
        self._bars("Open exceptions by age in days", by_age, age, height_cm=tall, lying=False)
        self._bars("INR at stake by supplier", by_supplier, f"{_LEFT}{self._second}", column=8, form=_LAKHS)

    def nights(self, trend: SheetRows) -> None:
        """Open exceptions by night: those that were there, and the new ones on top."""
        first, last = 2 + max(0, trend.frame.height - _NIGHTS), 1 + trend.frame.height
        chart = _plain_chart("Open exceptions, night by night", height_cm=_SHORT_CM, lying=False)
        chart.grouping, chart.overlap = "stacked", 100
        titles = [column.title for column in trend.columns]
        for title, colour in (("Still open", _BLUE), ("New", _DARK)):
            column = titles.index(title) + 1
            chart.add_data(Reference(trend.sheet, min_col=column, min_row=first, max_row=last))
            chart.series[-1].tx = SeriesLabel(v=title)
            chart.series[-1].graphicalProperties = GraphicalProperties(solidFill=colour)
        chart.set_categories(Reference(trend.sheet, min_col=1, min_row=first, max_row=last))
        chart.x_axis.number_format = "d mmm"
        chart.y_axis.delete = False  # the columns have no numbers of their own
        chart.y_axis.number_format = "#,##0"
        chart.legend.position = "b"
        self._sheet.add_chart(chart, f"{_RIGHT}{self._second}")

    def _bars(
        self,
        title: str,
        rows: tuple[int, int],
        place: str,
        *,
        column: int = 3,
        form: str = _COUNTS,
        height_cm: float = _SHORT_CM,
        lying: bool = True,
    ) -> Any:
        """One column of numbers, named by column A, from the first to the last of `rows`; place: of its upper left."""
        chart = _plain_chart(title, height_cm=height_cm, lying=lying)
        numbers, names = (Reference(self._sheet, min_col=one, min_row=rows[0], max_row=rows[1]) for one in (column, 1))
        chart.add_data(numbers, titles_from_data=False)
        chart.set_categories(names)
        chart.legend = None
        chart.series[0].graphicalProperties = GraphicalProperties(solidFill=_BLUE)
        chart.series[0].dLbls = DataLabelList(
            showVal=True, showSerName=False, showCatName=False, showLegendKey=False, numFmt=form
        )
        if lying:
            chart.x_axis.scaling.orientation = "maxMin"  # the first at the top
        self._sheet.add_chart(chart, place)
        return chart


def _plain_chart(title: str, *, height_cm: float, lying: bool) -> Any:
    chart: Any = BarChart()
    chart.width, chart.height = _WIDTH_CM, height_cm
    chart.type = "bar" if lying else "col"
    chart.style = 10
    chart.title = title
    chart.gapWidth = 45
    chart.x_axis.delete = False
    chart.y_axis.delete = True
    chart.y_axis.majorGridlines = None
    chart.y_axis.scaling.min = 0  # else programs begin shortly below the least, and 28 looks like half of 30
    return chart


_WIDTHS = (27, 11, 22, 20, 20, 22, 16, 18, 78)
_LAST = len(_WIDTHS)
_FIRST_LINES = 8
_COUNT = "#,##0"
_MATCH_PERCENT = '0.0" %"'
_INK = "FF1F2D3A"

_KNOWN = {column.field: column for column in EXCEPTIONS}
_FIRST_WIDTHS = {
    **{"code": 26, "severity": 11, "impact_inr": 16, "invoice_number": 19, "sku_name": 19, "supplier": 16},
    **{"qty_delta": 16, "bucket": 18, "reason": 78},
}
_FIRST = [
    replace(_KNOWN[name], width=width, title="Age in days" if name == "bucket" else _KNOWN[name].title)
    for name, width in _FIRST_WIDTHS.items()
]
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


def add_summary(sheet: Worksheet, account: ReconciliationReport, *, trend: SheetRows) -> None:
    """Fill the first sheet; `trend` is the table of the nights, of which it shows a chart."""
    prepare_page(sheet)
    for index, width in enumerate(_WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(index)].width = width
    row = _headline(sheet, account)
    row = _tiles(sheet, account, first_row=row + 1)
    row = _first_lines(sheet, account, first_row=row + 2)
    classes, exceptions = account.by_class, account.open.height > 0
    charts = None
    if exceptions or account.compared:
        charts = Charts(sheet, row + 2, classes=classes.height, exceptions=exceptions)
        row = charts.last_row
    class_rows, row = _classes(sheet, account, first_row=row + 2)
    age_rows = _figures(sheet, "Age in days", account.result.ageing, "bucket", first_row=row + 2)
    supplier_rows = _figures(sheet, "Supplier", account.by_supplier, "supplier", first_row=age_rows[1] + 2)
    if charts and exceptions:
        charts.exceptions(class_rows, age_rows, supplier_rows, classes["severity"])
    if charts and account.trend.height > 1:
        charts.nights(trend)
    sheet.sheet_properties.tabColor = BAND_PAINTS[account.look].fill[2:]


def _figures(sheet: Worksheet, title: str, frame: pl.DataFrame, field: str, *, first_row: int) -> tuple[int, int]:
    """Lines, units and INR by something, in the columns where they stand for the classes; first and last row."""
    empty = Column("", "", CellKind.TEXT, 19)
    columns = (
        Column(title, field, CellKind.WORDS, 26),
        empty,
        Column("Exceptions", "lines", CellKind.COUNT, 16),
        Column("Units concerned", "qty_affected", CellKind.QUANTITY, 19),
        *(empty,) * 3,
        Column("INR at stake", "impact_inr", CellKind.MONEY, 18),
    )
    more = ", most at stake first" if field == "supplier" else ""
    named = frame.with_columns(pl.col(field).replace("", "(none named)"))
    head = f"Open exceptions by {title[0].lower()}{title[1:]}{more}"
    return first_row + 2, _table(sheet, first_row, head, columns, named)


def _headline(sheet: Worksheet, account: ReconciliationReport) -> int:
    put_text(at(sheet, 1, 1), "ASN reconciliation")
    at(sheet, 1, 1).font = font(_INK, size=22, bold=True)
    sheet.row_dimensions[1].height = 30
    made = account.made_at.isoformat(sep=" ", timespec="minutes")
    lines = (
        account.window_words,
        f"Compared: {account.legs_words}",
        f"Business date {account.business_date:%d %b %Y} · made {made} · run {account.run}",
    )
    for row, text in enumerate(lines, 2):
        _faint(sheet, row, text)
    _band(sheet, 6, account.headline, BAND_PAINTS[account.look], size=14)
    sheet.row_dimensions[6].height = 26
    for row, doubt in enumerate(account.doubts, 7):
        _band(sheet, row, doubt, Paint("FFFBE3E1", "FF8A1C12"))
    return 6 + len(account.doubts)


def _faint(sheet: Worksheet, row: int, text: str, *, italic: bool = False) -> None:
    put_text(at(sheet, row, 1), text)
    at(sheet, row, 1).font = font(FAINT, italic=italic)


def _band(sheet: Worksheet, row: int, text: str, look: Paint, *, size: float = 10) -> None:
    for column in range(1, _LAST + 1):
        paint(at(sheet, row, column), look, size=size)
    put_text(at(sheet, row, 1), text)
    at(sheet, row, 1).alignment = Alignment(vertical="center")


def _tiles(sheet: Worksheet, account: ReconciliationReport, *, first_row: int) -> int:
    """A few numbers in large type, each under its name; the last row."""
    result, exceptions = account.result, account.open
    rates = (result.match_rate.line_percent, result.match_rate.unit_percent)
    known = [account.no_rate_words if rate is None else rate for rate in rates]
    tiles: list[tuple[str, object, str]] = [
        ("Open exceptions", exceptions.height, _COUNT),
        ("Critical", exceptions.filter(pl.col("severity") == Severity.CRITICAL.value).height, _COUNT),
        ("INR at stake", decimal_of(exceptions["impact_inr"].sum()), INR),
        ("Units concerned", decimal_of(exceptions["qty_affected"].sum()), _COUNT),
        ("Match rate, lines", known[0], _MATCH_PERCENT),
        ("Match rate, units", known[1], _MATCH_PERCENT),
        ("Within tolerance", result.outcome(ComparedOutcome.WITHIN_TOLERANCE).height, _COUNT),
        ("Too early to judge", result.outcome(ComparedOutcome.TOO_EARLY).height, _COUNT),
    ]
    _tile_row(sheet, tiles, first_row=first_row + 1)
    row = first_row + 2
    if account.compared:
        since: list[tuple[str, object, str]] = [
            ("New since last time", account.new, _COUNT),
            ("Resolved", account.resolved, _COUNT),
            ("Still open", exceptions.height - account.new, _COUNT),
            ("Accepted", account.accepted.height, _COUNT),
            ("Not checked any more", account.gone(Standing.NOT_CHECKED).height, _COUNT),
        ]
        _tile_row(sheet, since, first_row=row + 1)
        row += 2
    if unpriced := int(result.classes["lines_without_price"].sum()):
        row += 1
        _faint(sheet, row, f"Not valued, since no price is known: {counted(unpriced, 'exception')}.", italic=True)
    return row


def _tile_row(sheet: Worksheet, tiles: Sequence[tuple[str, object, str]], *, first_row: int) -> None:
    for column, (name, value, form) in enumerate(tiles, 1):
        label, number = at(sheet, first_row, column), at(sheet, first_row + 1, column)
        put_text(label, name)
        label.font = font(FAINT)
        number.value = value  # type: ignore[assignment]
        number.number_format = form
        number.font = font(_INK, size=16, bold=True)
        number.alignment = Alignment(horizontal="left", shrink_to_fit=True)
    sheet.row_dimensions[first_row + 1].height = 26


def _first_lines(sheet: Worksheet, account: ReconciliationReport, *, first_row: int) -> int:
    """The lines to look at first, worst at the top."""
    worst = account.first(_FIRST_LINES)
    if worst.is_empty():
        _section(sheet, first_row, "No exceptions: every line that was judged agrees")
        return first_row
    return _table(sheet, first_row, "Look at these first", _FIRST, worst)


def _section(sheet: Worksheet, row: int, title: str) -> None:
    put_text(at(sheet, row, 1), title)
    at(sheet, row, 1).font = font(_INK, size=13, bold=True)


def _table(sheet: Worksheet, row: int, title: str, columns: Sequence[Column], lines: pl.DataFrame) -> int:
    """A section that is a table, from its title in this row on; its last row."""
    _section(sheet, row, title)
    for index, column in enumerate(columns, 1):
        put_heading(at(sheet, row + 1, index), column.title, column.kind)
    sheet.row_dimensions[row + 1].height = HEADING_HEIGHT
    write_lines(sheet, lines, columns, first_row=row + 2)
    return row + 1 + lines.height


def _classes(sheet: Worksheet, account: ReconciliationReport, *, first_row: int) -> tuple[tuple[int, int], int]:
    """Sums by class, the legs' own totals and what is left over; first and last row of exceptions, last row."""
    classes, received = account.result.classes, pl.col("qty_received")
    told = classes.with_columns(
        pl.when(account.receipts_compared).then(received).alias("qty_received"),  # 0 would say that nothing came
        pl.when(account.receipts_compared).then(pl.col("qty_announced") - received).alias("gap"),
        pl.when(pl.col("impact_inr") > 0).then("impact_inr").alias("impact_inr"),
        pl.Series("says", [class_words(word) for word in classes["class"]], dtype=pl.String),
    )
    excepted = pl.col("severity") != ""
    exceptions, others = told.filter(excepted), told.filter(~excepted)
    row = 1 + _table(sheet, first_row, "All lines by class", _CLASSES, exceptions)
    _sum_line(sheet, row, "All exceptions", exceptions, money=True)
    write_lines(sheet, others, _CLASSES, first_row=row + 1)
    row += 1 + others.height
    _sum_line(sheet, row, "All lines", told, money=False)
    _legs_lines(sheet, row + 1, account.result.legs)
    return (first_row + 2, first_row + 1 + exceptions.height), row + 2


def _sum_line(sheet: Worksheet, row: int, name: str, told: pl.DataFrame, *, money: bool) -> None:
    sums = [told[column].sum() if told[column].count() else None for column in (*_QUANTITIES, "gap")]
    worth = told["impact_inr"].sum() if money else None
    _total_line(sheet, row, [name, None, int(told["lines"].sum()), *sums, worth, None])


_QUANTITIES = ("qty_announced", "qty_returned", "qty_received")


def _total_line(sheet: Worksheet, row: int, values: Sequence[object]) -> None:
    for index, (value, column) in enumerate(zip(values, _CLASSES, strict=True), 1):
        put(at(sheet, row, index), value, CellKind.TEXT if index in (1, 2, _LAST) else column.kind)
        paint(at(sheet, row, index), TOTAL_PAINT)


def _legs_lines(sheet: Worksheet, row: int, legs: tuple[LegTotals, ...]) -> None:
    """The totals counted before matching, and the residual, which is zero or there would be no report."""
    lines = " · ".join(f"{leg.name} {counted(leg.lines, 'line')}" for leg in legs)
    units = {leg.name: Decimal(leg.quantity) for leg in legs}
    if "ordered" in units:
        lines += f" with {units['ordered']:,.0f} units"
    known = [units.get(name) for name in ("announced", "in service", "received")]
    residual = [None if number is None else Decimal(0) for number in known]
    words = "Every line and unit of every leg stands in exactly one class."
    _total_line(sheet, row, ["Counted before matching", None, None, *known, None, None, f"Lines of the legs: {lines}"])
    _total_line(sheet, row + 1, ["Residual", None, None, *residual, None, None, words])
