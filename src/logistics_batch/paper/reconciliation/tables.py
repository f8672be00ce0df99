"""The workbook's tables: a frozen heading, a filter, sensible widths, and a sentence where there is nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from openpyxl.utils import get_column_letter
from openpyxl.workbook import Workbook
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.paper.reconciliation.cells import FAINT, at, font, put, put_heading, put_text
from logistics_batch.paper.reconciliation.columns import CellKind, Column, lines_more
from logistics_batch.paper.reconciliation.rows import SheetRows

LARGEST_SHEET = 100_000
"""Lines that one sheet takes: more can be opened, but not worked with. The whole table stands in a CSV file then."""

WITH_ALL_EXCEPTIONS = ("Exceptions", "Missing & unexpected", "Rows not accepted")
"""Sheets whose lines all stand in reconciliation.csv."""

STATUS_WORDS = ("Open", "In progress", "Accepted", "Closed")
HEADING_HEIGHT = 32.0
_WIDEST_PAGE = 230.0  # characters; beyond, a page cannot be read
_LINE_HEIGHT = 13.5


@dataclass(frozen=True, slots=True)
class TableLayout:
    """One table's sheet; `frozen` columns stay in view. nothing: said where there are no lines. largest: how many lines
    it shows."""

    title: str
    columns: Sequence[Column]
    nothing: str = ""
    frozen: int = 0
    largest: int = LARGEST_SHEET


def lay_table(book: Workbook, frame: pl.DataFrame, layout: TableLayout) -> SheetRows:
    """A sheet with the headings of a table from A1, and the lines that `with_rows` is to put below them."""
    columns = layout.columns
    sheet: Worksheet = book.create_sheet(layout.title)
    shown = frame.head(layout.largest)
    prepare_page(sheet)
    for index, column in enumerate(columns, 1):
        put_heading(at(sheet, 1, index), column.title, column.kind)
        sheet.column_dimensions[get_column_letter(index)].width = column.width
        if shown.height and column.field == "analyst_status":
            _offer_status_words(sheet, get_column_letter(index), lines=shown.height)
    sheet.row_dimensions[1].height = HEADING_HEIGHT
    last = 1 + shown.height
    sheet.freeze_panes = f"{get_column_letter(layout.frozen + 1)}2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{max(last, 2)}"
    _print_on_pages(sheet, layout)
    if shown.is_empty():
        _say(sheet, 2, layout.nothing)
    elif frame.height > layout.largest:
        _say(sheet, last + 1, left_out(layout.title, frame))
        at(sheet, last + 1, 1).hyperlink = whole_table(layout.title)
    return SheetRows(sheet, shown, columns)


def left_out(title: str, frame: pl.DataFrame) -> str:
    """What a sheet does not show, "" if it shows all."""
    rest = frame.height - LARGEST_SHEET
    if rest <= 0:
        return ""
    where = f"all stand in {whole_table(title)} beside this workbook"
    return f"{title}: {rest:,} of {frame.height:,} lines are left out of the sheet; {where}."


def whole_table(title: str) -> str:
    """The CSV file that has all lines of a sheet's table."""
    if title in WITH_ALL_EXCEPTIONS:
        return "reconciliation.csv"
    return f"reconciliation_{title.lower().replace(' ', '_')}.csv"


def _print_on_pages(sheet: Worksheet, layout: TableLayout) -> None:
    """The heading on each page; a wide table on several pages side by side, each with the frozen columns."""
    sheet.print_title_rows = "1:1"
    width = sum(column.width for column in layout.columns)
    if layout.frozen and width > _WIDEST_PAGE:
        sheet.print_title_cols = f"A:{get_column_letter(layout.frozen)}"
        sheet.page_setup.fitToWidth = round(width / _WIDEST_PAGE + 0.5)


def _say(sheet: Worksheet, row: int, sentence: str) -> None:
    cell = at(sheet, row, 1)
    put_text(cell, sentence)
    cell.font = font(FAINT, italic=True)


def write_lines(sheet: Worksheet, frame: pl.DataFrame, columns: Sequence[Column], *, first_row: int) -> None:
    """One row a line."""
    taken = frame.select(
        pl.col(column.field).alias(str(index)) if column.field else pl.lit(None).alias(str(index))
        for index, column in enumerate(columns)
    )
    words = [(index, column.width) for index, column in enumerate(columns) if column.kind is CellKind.WORDS]
    for row, values in enumerate(taken.iter_rows(), first_row):
        for index, (value, column) in enumerate(zip(values, columns, strict=True)):
            put(at(sheet, row, index + 1), value, column.kind)
        more = max((lines_more(len(str(values[index] or "")), width) for index, width in words), default=0)
        if more:
            sheet.row_dimensions[row].height = _LINE_HEIGHT * (1 + more)


def _offer_status_words(sheet: Worksheet, column: str, *, lines: int) -> None:
    """A list to choose from in the analysts' status column."""
    choice = DataValidation(type="list", formula1=f'"{",".join(STATUS_WORDS)}"', allow_blank=True)
    choice.showErrorMessage = False  # other words are welcome
    sheet.add_data_validation(choice)
    choice.add(f"{column}2:{column}{lines + 1}")


def prepare_page(sheet: Worksheet) -> None:
    """Landscape A4, as wide as the page, numbered; on the screen without grid lines."""
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
    sheet.page_setup.fitToWidth = 1
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_margins.left = sheet.page_margins.right = 0.4
    sheet.page_margins.top = sheet.page_margins.bottom = 0.5
    footer = sheet.oddFooter
    if footer is not None and footer.center is not None:
        footer.center.text = "&A · page &P of &N"
    sheet.sheet_view.showGridLines = False
