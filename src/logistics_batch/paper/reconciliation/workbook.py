"""reconciliation.xlsx: what an analyst works with. Every sheet is there every night, also with nothing to say."""

from collections.abc import Iterator
from decimal import Decimal

import polars as pl
from openpyxl import Workbook
from openpyxl.styles import Alignment

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Discrepancy, Standing
from logistics_batch.paper.answers.result_csv import csv_bytes
from logistics_batch.paper.reconciliation import columns as columns
from logistics_batch.paper.reconciliation.account import DEFINITIONS, ReconciliationReport
from logistics_batch.paper.reconciliation.cells import INCOMPLETE_PAINT, at, font, paint, put_code, put_text
from logistics_batch.paper.reconciliation.data import plain
from logistics_batch.paper.reconciliation.rows import saved
from logistics_batch.paper.reconciliation.summary import add_summary
from logistics_batch.paper.reconciliation.tables import (
    LARGEST_SHEET,
    WITH_ALL_EXCEPTIONS,
    TableLayout,
    lay_table,
    left_out,
    prepare_page,
    whole_table,
)

MISSING_AND_UNEXPECTED = (
    Discrepancy.MISSING_IN_SERVICE,
    Discrepancy.NOT_SENT,
    Discrepancy.UNEXPECTED_IN_SERVICE,
    Discrepancy.NO_ASN,
    Discrepancy.DUPLICATE_ASN,
)
_DOUBT = "May be incomplete"
_FROZEN = 5  # class, severity, money, invoice and SKU stay in view


def reconciliation_workbook(account: ReconciliationReport) -> bytes:
    """The workbook; ids are text, dates are dates, nothing in it can run as a formula."""
    book = Workbook()
    book.remove(book.worksheets[0])
    summary = book.create_sheet("Summary")
    laid = [lay_table(book, frame, layout) for layout, frame in tables(account)]
    if account.open.height:
        laid[0].sheet.sheet_properties.tabColor = INCOMPLETE_PAINT.fill[2:]
    add_summary(summary, account, trend=laid[-1])
    _add_log(book, account)
    return saved(book, laid)


def whole_tables(account: ReconciliationReport) -> dict[str, bytes]:
    """By name the CSV files of the tables that a sheet does not hold, with its headings; of most reports none.

    Exceptions stand in reconciliation.csv anyway.
    """
    files = {}
    for layout, frame in tables(account):
        if frame.height > LARGEST_SHEET and layout.title not in WITH_ALL_EXCEPTIONS:
            texts = (
                plain(column.field, frame.schema[column.field]).fill_null("").alias(column.title)
                for column in layout.columns
            )
            files[whole_table(layout.title)] = csv_bytes(frame.select(texts))
    return files


def tables(account: ReconciliationReport) -> Iterator[tuple[TableLayout, pl.DataFrame]]:
    """All tables of the workbook, in the order of its sheets, with all their lines; the trend last."""
    result, open_ones = account.result, account.open
    nothing = f"0 exceptions, {counted(account.judged, 'line')} checked."
    yield TableLayout("Exceptions", columns.EXCEPTIONS, nothing, _FROZEN), open_ones
    nothing = "No difference is accepted."
    yield TableLayout("Accepted", columns.EXCEPTIONS, nothing, _FROZEN), account.accepted
    nothing = "Every exception of earlier nights was looked at again."
    yield TableLayout("Not checked", columns.GONE, nothing, _FROZEN), account.gone(Standing.NOT_CHECKED)
    nothing = "No exception of earlier nights went away."
    yield TableLayout("Resolved", columns.GONE, nothing, _FROZEN), account.gone(Standing.RESOLVED)
    yield TableLayout("Matched", columns.MATCHED, "No line matched.", 2), result.outcome(ComparedOutcome.MATCHED)
    near = result.outcome(ComparedOutcome.WITHIN_TOLERANCE)
    yield TableLayout("Within tolerance", columns.NEAR, "No line needed a tolerance.", 2), near
    nothing = "Nothing is missing in the service, and nothing is there that we do not know."
    missing = _of_classes(open_ones, MISSING_AND_UNEXPECTED)
    yield TableLayout("Missing & unexpected", columns.MISSING, nothing, _FROZEN), missing
    yield TableLayout("Ageing", columns.AGEING, "No open exception.", 1), account.ageing
    suppliers = result.suppliers.with_columns(pl.col("supplier").replace("", "(none named)"))
    yield TableLayout("Supplier scorecard", columns.SCORECARD, "No supplier.", 1), suppliers
    unsent = _of_classes(open_ones, (Discrepancy.NOT_SENT,)).sort("file_name", "sheet", maintain_order=True)
    yield TableLayout("Rows not accepted", columns.UNSENT, "Every row was accepted.", 3), unsent
    if account.not_read.height:
        yield TableLayout("Receipt rows not read", columns.NOT_READ, frozen=1), account.not_read
    word = pl.when("complete").then(pl.lit(columns.COMPLETE)).otherwise(pl.lit(columns.INCOMPLETE))
    yield TableLayout("Trend", columns.TREND, frozen=1), account.trend.with_columns(word.alias("completeness"))


def _of_classes(exceptions: pl.DataFrame, codes: tuple[Discrepancy, ...]) -> pl.DataFrame:
    return exceptions.filter(pl.col("code").is_in([code.value for code in codes]))


def _add_log(book: Workbook, account: ReconciliationReport) -> None:
    sheet = book.create_sheet("Run log & definitions")
    prepare_page(sheet)
    for letter, width in (("A", 30), ("B", 12), ("C", 112), ("D", 88)):
        sheet.column_dimensions[letter].width = width
    row = 0
    for name, *texts in _log_lines(account):
        row += 2 if row and not texts else 1
        first = at(sheet, row, 1)
        if not texts:
            put_text(first, name)
            first.font = font("FF1F2D3A", size=13, bold=True)
            continue
        for index, text in enumerate((name, *texts), 1):
            if text:
                cell = at(sheet, row, index)
                cell.font = font(bold=index == 1)
                (put_code if len(texts) > 2 and index < 3 else put_text)(cell, text)
                cell.alignment = Alignment(wrap_text=index > 2, vertical="top")
        if name == _DOUBT:
            paint(first, INCOMPLETE_PAINT)


def _log_lines(account: ReconciliationReport) -> Iterator[tuple[str, ...]]:
    """The lines of the log: a heading; a name, "" and words; or a class, its severity, what it says and what to do."""
    yield ("Run",)
    yield columns.RUN, "", account.run
    yield from ((name, "", value) for name, value in account.log)
    yield from ((_DOUBT, "", doubt) for doubt in account.doubts)
    too_long = [left_out(layout.title, frame) for layout, frame in tables(account)]
    yield from (("Note", "", note) for note in (*account.notes, *filter(None, too_long)))
    yield ("Control totals, counted before matching",)
    for leg in account.result.legs:
        unreadable = f", {leg.unreadable:,} of them without a readable quantity" if leg.unreadable else ""
        units = f"{Decimal(leg.quantity):,f} units; residual 0"
        yield leg.name, "", f"{leg.papers}, {leg.lines:,} lines{unreadable}; {units}"
    yield ("Classes: a line has one, the gravest that applies",)
    yield from ((code.value, one.severity.value, one.says, one.do) for code, one in MEANINGS.items())
    yield ("Words",)
    yield from ((name, "", words) for name, words in DEFINITIONS)
