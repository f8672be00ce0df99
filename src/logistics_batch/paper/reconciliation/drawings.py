"""The charts of the workbook: native ones, so that they follow the cells and can be copied into a presentation."""

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

    def classes(self, rows: tuple[int, int], classes: pl.DataFrame) -> None:
        """Open exceptions by class, each in the colour of its severity."""
        chart = self._bars("Open exceptions by class", rows, height_cm=self._tall_cm)
        for place, word in enumerate(classes["class"]):
            colour = _SEVERITY_COLOURS[MEANINGS[Discrepancy(word)].severity]
            chart.series[0].dPt.append(DataPoint(idx=place, spPr=GraphicalProperties(solidFill=colour)))
        self._sheet.add_chart(chart, f"{_LEFT}{self._first}")

    def ages(self, rows: tuple[int, int]) -> None:
        """Open exceptions by age."""
        chart = self._bars("Open exceptions by age in days", rows, height_cm=self._tall_cm, lying=False)
        self._sheet.add_chart(chart, f"{_RIGHT}{self._first}")

    def suppliers(self, rows: tuple[int, int]) -> None:
        """INR at stake by supplier."""
        chart = self._bars("INR at stake by supplier", rows, column=8, form=_LAKHS)
        self._sheet.add_chart(chart, f"{_LEFT}{self._second}")

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
        *,
        column: int = 3,
        form: str = _COUNTS,
        height_cm: float = _SHORT_CM,
        lying: bool = True,
    ) -> Any:
        """One column of numbers, named by column A, from the first to the last of `rows`."""
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
