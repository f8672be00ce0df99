"""The charts of the workbook: native ones, so that they follow the cells and can be copied into a presentation."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl
from openpyxl.chart import BarChart, Reference
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.marker import DataPoint
from openpyxl.chart.series import SeriesLabel
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.reconciliation import MEANINGS, Discrepancy, Severity
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.rows import SheetRows

_BLUE, _DARK = "1F5A8A", "123A5C"
_SEVERITY_COLOURS = {
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
_RIGHT = "F"


@dataclass(frozen=True, slots=True)
class _Look:
    """How a chart looks: its title, the form of its numbers, its height, and the colour of each bar (RRGGBB)."""

    title: str
    form: str = _COUNTS
    height_cm: float = _SHORT_CM
    colours: tuple[str, ...] = field(default=())


class Drawn:
    """The charts of the summary: two by two from `row` on, of numbers that stand further down."""

    def __init__(self, sheet: Worksheet, row: int, trend: SheetRows) -> None:
        self._sheet = sheet
        self._row = row
        self._trend = trend
        self._tall_cm = _SHORT_CM

    def end(self, classes: int, account: ReconciliationReport) -> int:
        """The last row that the charts cover."""
        self._tall_cm = max(_SHORT_CM, 2.6 + 0.62 * classes)
        rows = 2 + int(self._tall_cm * _ROWS_A_CM) if account.open.height else 0
        self._second = self._row + rows
        if self._tall_cm > _HALF_A_PAGE_CM:
            self._sheet.row_breaks.append(Break(id=self._second - 2))
        last = self._second + 1 + int(_SHORT_CM * _ROWS_A_CM)
        self._sheet.row_breaks.append(Break(id=last))
        return last

    def classes(self, rows: tuple[int, int], classes: pl.DataFrame) -> None:
        """Open exceptions by class, each in the colour of its severity."""
        colours = tuple(_SEVERITY_COLOURS[MEANINGS[Discrepancy(word)].severity] for word in classes["class"])
        look = _Look("Open exceptions by class", height_cm=self._tall_cm, colours=colours)
        self._sheet.add_chart(_bars(self._sheet, column=3, rows=rows, look=look), f"A{self._row}")

    def ages(self, rows: tuple[int, int]) -> None:
        """Open exceptions by age."""
        look = _Look("Open exceptions by age in days", height_cm=self._tall_cm)
        self._sheet.add_chart(_bars(self._sheet, column=3, rows=rows, look=look, lying=False), f"{_RIGHT}{self._row}")

    def suppliers(self, rows: tuple[int, int]) -> None:
        """INR at stake by supplier."""
        look = _Look("INR at stake by supplier", form=_LAKHS)
        self._sheet.add_chart(_bars(self._sheet, column=8, rows=rows, look=look), f"A{self._second}")

    def nights(self) -> None:
        """Open exceptions by night: those that were there, and the new ones on top."""
        height = self._trend.frame.height
        first, last = 2 + max(0, height - _NIGHTS), 1 + height
        chart = _plain_chart(_Look("Open exceptions, night by night"), lying=False)
        chart.grouping, chart.overlap = "stacked", 100
        titles = [column.title for column in self._trend.columns]
        for title, colour in (("Still open", _BLUE), ("New", _DARK)):
            column = titles.index(title) + 1
            chart.add_data(Reference(self._trend.sheet, min_col=column, min_row=first, max_row=last))
            chart.series[-1].tx = SeriesLabel(v=title)
            chart.series[-1].graphicalProperties = GraphicalProperties(solidFill=colour)
        chart.set_categories(Reference(self._trend.sheet, min_col=1, min_row=first, max_row=last))
        chart.x_axis.number_format = "d mmm"
        chart.y_axis.delete = False  # the columns have no numbers of their own
        chart.y_axis.number_format = "#,##0"
        if chart.legend is not None:
            chart.legend.position = "b"
        self._sheet.add_chart(chart, f"{_RIGHT}{self._second}")


def _plain_chart(look: _Look, *, lying: bool) -> Any:
    chart = BarChart()
    for name, size in (("width", _WIDTH_CM), ("height", look.height_cm)):
        setattr(chart, name, size)  # its stubs know whole centimetres only
    chart.type = "bar" if lying else "col"
    chart.style = 10
    chart.title = look.title
    chart.gapWidth = 45
    chart.x_axis.delete = False
    chart.y_axis.delete = True
    chart.y_axis.majorGridlines = None
    chart.y_axis.scaling.min = 0  # else programs begin shortly below the least, and 28 looks like half of 30
    return chart


def _bars(sheet: Worksheet, *, column: int, rows: tuple[int, int], look: _Look, lying: bool = True) -> Any:
    """One column of numbers, named by column A, from the first to the last of `rows`."""
    chart = _plain_chart(look, lying=lying)
    chart.add_data(Reference(sheet, min_col=column, min_row=rows[0], max_row=rows[1]), titles_from_data=False)
    chart.set_categories(Reference(sheet, min_col=1, min_row=rows[0], max_row=rows[1]))
    chart.legend = None
    series = chart.series[0]
    series.graphicalProperties = GraphicalProperties(solidFill=_BLUE)
    for place, colour in enumerate(look.colours):
        series.dPt.append(DataPoint(idx=place, spPr=GraphicalProperties(solidFill=colour)))
    series.dLbls = DataLabelList(
        showVal=True, showSerName=False, showCatName=False, showLegendKey=False, numFmt=look.form
    )
    if lying:
        chart.x_axis.scaling.orientation = "maxMin"  # the first at the top
    return chart
