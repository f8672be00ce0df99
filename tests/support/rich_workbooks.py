"""Workbooks with what people put into theirs, each in the layout of `result_samples.order_workbook`."""

import io
from collections.abc import Callable
from datetime import datetime

from openpyxl import Workbook
from openpyxl.chart import LineChart, PieChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.formatting.rule import ColorScaleRule, DataBarRule, FormulaRule, IconSetRule
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.styles.colors import Color
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.table import Table, TableStyleInfo
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image as Picture
from support.result_samples import FIRST_ROW, HEADER_ROW, LAST_ROW, order_workbook

COLUMNS = 8


def book_of(sheet: Worksheet) -> Workbook:
    """The workbook that a sheet belongs to."""
    book = sheet.parent
    assert isinstance(book, Workbook)
    return book


def charts(sheet: Worksheet) -> None:
    """A line chart below the rows and a pie chart right of them."""
    amounts = Reference(sheet, min_col=6, min_row=HEADER_ROW, max_row=LAST_ROW)
    line = LineChart()
    line.title, line.height, line.width = "Quantities", 5, 12
    line.add_data(amounts, titles_from_data=True)
    sheet.add_chart(line, "A14")
    pie = PieChart()
    pie.height, pie.width = 4, 6
    pie.add_data(amounts, titles_from_data=True)
    sheet.add_chart(pie, "J5")


def picture(sheet: Worksheet) -> None:
    """A logo above the header."""
    file = io.BytesIO()
    Picture.new("RGB", (96, 32), (31, 78, 121)).save(file, "PNG")
    sheet.add_image(Image(file), "F1")


def table(sheet: Worksheet) -> None:
    """The rows as a table with its own stripes and filter buttons."""
    style = TableStyleInfo(name="TableStyleMedium9", showRowStripes=True)
    sheet.add_table(Table(displayName="Outbound", ref=f"A{HEADER_ROW}:H{LAST_ROW}", tableStyleInfo=style))


def protected(sheet: Worksheet) -> None:
    """Locked but for the cells that a clerk fills in."""
    sheet.protection.sheet = True
    sheet.protection.password = "bhiwandi"
    for row in range(FIRST_ROW, LAST_ROW + 1):
        sheet.cell(row, 3).protection = Protection(locked=False)


def frozen_and_filtered(sheet: Worksheet) -> None:
    """The user's own freeze, filter, zoom, and a hidden row and column."""
    sheet.freeze_panes = "C5"
    sheet.auto_filter.ref = f"A{HEADER_ROW}:H{LAST_ROW}"
    sheet.auto_filter.add_filter_column(4, ["SKU-5", "SKU-6", "SKU-8"])
    sheet.sheet_view.zoomScale = 120
    sheet.row_dimensions[7].hidden = True
    sheet.column_dimensions["G"].hidden = True


def from_1904(sheet: Worksheet) -> None:
    """Dates counted as old programs on Macs do."""
    book_of(sheet).epoch = CALENDAR_MAC_1904
    for row in range(FIRST_ROW, LAST_ROW + 1):
        cell = sheet.cell(row, 7, datetime(2026, 11, row))  # noqa: DTZ001
        cell.number_format = "dd-mmm-yy"


def conditional(sheet: Worksheet) -> None:
    """Bars, scales, icons and a stripe by formula, and cells that accept only some values."""
    area = f"F{FIRST_ROW}:F{LAST_ROW}"
    sheet.conditional_formatting.add(area, DataBarRule("min", None, "max", None, color="FF63BE7B"))
    scale = ColorScaleRule("min", None, "FFF8696B", None, None, None, "max", None, "FF63BE7B")
    sheet.conditional_formatting.add(f"G{FIRST_ROW}:G{LAST_ROW}", scale)
    sheet.conditional_formatting.add(f"H{FIRST_ROW}:H{LAST_ROW}", IconSetRule("3Arrows", "percent", [0, 33, 67]))
    stripe = FormulaRule(formula=["MOD(ROW(),2)=0"], fill=PatternFill("solid", bgColor="FFF2F2F2"))
    sheet.conditional_formatting.add(f"A{FIRST_ROW}:E{LAST_ROW}", stripe)
    whole = DataValidation("whole", "1", "500", operator="between", prompt="1 to 500", promptTitle="Qty")
    whole.add(area)
    sheet.add_data_validation(whole)


def several_sheets(sheet: Worksheet) -> None:
    """Sheets before and behind, hidden ones, names and formulas that look at the orders."""
    book = book_of(sheet)
    cover = book.create_sheet("Cover", 0)
    cover["A1"] = "Read me"
    rates = book.create_sheet("Rates")
    rates.append(["SKU-5", 99.5])
    rates.sheet_state = "hidden"
    book.create_sheet("Old").sheet_state = "veryHidden"
    book.defined_names["Quantities"] = DefinedName("Quantities", attr_text=f"{sheet.title}!$F$5:$F$10")
    cover["A2"] = "=SUM(Quantities)"
    book.active = book.index(sheet)


def themed(sheet: Worksheet) -> None:
    """Colours of the theme, own fonts and heights, groups of columns, links, and a page set up for printing."""
    for cell in sheet[HEADER_ROW]:
        cell.fill = PatternFill("solid", fgColor=Color(theme=4, tint=-0.25))
        cell.font = Font(name="Georgia", bold=True, size=12, color=Color(theme=0))
        cell.alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
    for row in range(FIRST_ROW, LAST_ROW + 1):
        for cell in sheet[row]:
            cell.fill = PatternFill("solid", fgColor=Color(theme=4, tint=0.8)) if row % 2 else PatternFill()
            cell.font = Font(name="Georgia", size=10)
    sheet.row_dimensions[HEADER_ROW].height = 30
    sheet.row_dimensions[8].height = 40
    sheet.column_dimensions["B"].width = 22
    sheet.column_dimensions.group("G", "H", outline_level=1)
    sheet["A5"].hyperlink = Hyperlink(ref="A5", location="Summary!A1", display="SO-1000")
    sheet.print_title_rows = f"{HEADER_ROW}:{HEADER_ROW}"
    sheet.print_area = "A1:H11"
    sheet.page_setup.orientation = "landscape"
    sheet.oddFooter.center.text = "Page &P of &N"
    sheet.sheet_properties.tabColor = "FF1F4E79"
    sheet.sheet_view.showGridLines = False


def merged_groups(sheet: Worksheet) -> None:
    """The order's number once over its rows, as people lay out by hand."""
    for row in (5, 7, 9):
        sheet.merge_cells(f"A{row}:A{row + 1}")
        sheet.cell(row, 1).alignment = Alignment(vertical="center", horizontal="center")


def commented(sheet: Worksheet) -> None:
    """Comments of several people, one on a cell that fails and one in the header."""
    for address, text, author in (("C8", "Ask Ravi", "Anita"), ("D4", "Six digits", "Office"), ("H10", "=1+1", "x")):
        comment = Comment(text, author)
        comment.width, comment.height = 160, 60
        sheet[address].comment = comment


RICH: dict[str, Callable[[Worksheet], None] | None] = {
    "plain": None,
    "charts": charts,
    "picture": picture,
    "table": table,
    "protected": protected,
    "frozen and filtered": frozen_and_filtered,
    "1904": from_1904,
    "conditional": conditional,
    "several sheets": several_sheets,
    "themed": themed,
    "merged groups": merged_groups,
    "commented": commented,
}


def rich_workbook(name: str) -> bytes:
    """One of them."""
    return order_workbook(RICH[name])
