"""The status report of orders (one line an item) and the status feed (one line an order), as CSV and as workbook."""

import io
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import polars as pl
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.order_line import OrderLine
from logistics_batch.paper.palette import Paint
from logistics_batch.paper.reconciliation_cells import at, font, paint, put_text
from logistics_batch.paper.reconciliation_columns import Column, Kind
from logistics_batch.paper.reconciliation_tables import Layout, add_table, prepare_page
from logistics_batch.paper.result_csv import csv_bytes

_AT_END = Paint("FFDDF1E0", "FF14532D")
_DIFFERS = Paint("FFF9D4D1", "FF8A1C12", bold=True)
_NOTED = Paint("FFFFF1BF", "FF665000")
_K = Kind
_WHO = (
    Column("Reference", "reference_number", _K.TEXT, 18),
    Column("AWB", "awb_number", _K.TEXT, 14),
    Column("Status", "status", _K.TEXT, 17),
)
_WHEN = (Column("Status since", "status_time", _K.TEXT, 27), Column("Known by", "source", _K.TEXT, 9))
_MONEY = (Column("COD sent", "cod_sent", _K.MONEY, 13), Column("COD shown", "cod_shown", _K.MONEY, 13))
_PLACE = (
    Column("Source file", "file", _K.TEXT, 28),
    Column("Sheet", "sheet", _K.TEXT, 12),
    Column("Row", "row", _K.COUNT, 7),
)
REPORT_COLUMNS = (
    *_WHO,
    Column("Difference", "difference", _K.WORDS, 42),
    Column("Note", "note", _K.WORDS, 34),
    Column("Item", "item", _K.TEXT, 24),
    Column("Sent", "qty_sent", _K.QUANTITY, 8),
    Column("Ordered", "qty_ordered", _K.QUANTITY, 9),
    Column("Picked", "qty_picked", _K.QUANTITY, 8),
    Column("Delivered", "qty_delivered", _K.QUANTITY, 10),
    *_MONEY,
    *_WHEN,
    Column("Days since sent", "days_since_sent", _K.COUNT, 9),
    Column("Sent at", "sent_at", _K.TEXT, 27),
    Column("Asked at", "asked_at", _K.TEXT, 27),
    *_PLACE,
)
FEED_COLUMNS = (
    *_WHO,
    *_WHEN,
    Column("Ordered", "qty_ordered", _K.QUANTITY, 9),
    Column("Picked", "qty_picked", _K.QUANTITY, 8),
    Column("Delivered", "qty_delivered", _K.QUANTITY, 10),
    *_MONEY,
    Column("Difference", "difference", _K.WORDS, 42),
    *_PLACE,
)
_QUANTITIES = ("qty_sent", "qty_ordered", "qty_picked", "qty_delivered")
_AMOUNTS = ("cod_sent", "cod_shown")


def order_status_csv(lines: Sequence[OrderLine]) -> bytes:
    """One line an item; names of columns as in the fields of OrderLine."""
    return csv_bytes(_texts([asdict(line) for line in lines], REPORT_COLUMNS))


def order_status_workbook(lines: Sequence[OrderLine], *, facts: Sequence[tuple[str, str]]) -> bytes:
    """What differs first, then everything, then what this report is."""
    book = Workbook()
    book.remove(book.worksheets[0])
    different = _frame([asdict(line) for line in lines if line.difference])
    nothing = "Everything is as it was sent, as far as it is known."
    _colour(add_table(book, different, Layout("Differences", REPORT_COLUMNS, nothing, frozen=3)), different)
    everything = _frame([asdict(line) for line in lines])
    _colour(add_table(book, everything, Layout("Orders", REPORT_COLUMNS, "No order.", frozen=3)), everything)
    _add_facts(book, facts)
    return _bytes(book)


def status_feed_csv(orders: Sequence[Sequence[OrderLine]]) -> bytes:
    """One line an order, quantities added up over its items."""
    return csv_bytes(_texts([_added_up(lines) for lines in orders], FEED_COLUMNS))


def status_feed_workbook(orders: Sequence[Sequence[OrderLine]]) -> bytes:
    """The same as a workbook of one sheet."""
    book = Workbook()
    book.remove(book.worksheets[0])
    frame = _frame([_added_up(lines) for lines in orders])
    _colour(add_table(book, frame, Layout("Orders", FEED_COLUMNS, "No order.", frozen=3)), frame)
    return _bytes(book)


def _added_up(lines: Sequence[OrderLine]) -> dict[str, Any]:
    """An order in one line; a sum in which a quantity is not known is not known."""
    order = asdict(lines[0])
    for name in _QUANTITIES:
        told = [getattr(line, name) for line in lines]
        order[name] = None if None in told else sum(told, Decimal(0))
    order["difference"] = "; ".join(line.difference for line in lines if line.difference)
    return order


def _frame(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    schema: dict[str, Any] = dict.fromkeys(OrderLine.__dataclass_fields__, pl.String)
    schema |= dict.fromkeys((*_QUANTITIES, *_AMOUNTS), pl.Object) | {"row": pl.Int64, "days_since_sent": pl.Int64}
    return pl.DataFrame(rows, schema=schema | {"at_end": pl.Boolean}, orient="row")


def _texts(rows: Sequence[dict[str, Any]], columns: Sequence[Column]) -> pl.DataFrame:
    names = [column.field for column in columns]
    data = [[_text(name, row[name]) for name in names] for row in rows]
    return pl.DataFrame(data, schema=dict.fromkeys(names, pl.String), orient="row")


def _text(name: str, value: Any) -> str:
    if value is None or (name == "row" and not value):
        return ""
    if name in _AMOUNTS:
        return f"{value:.2f}"
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def _colour(sheet: Worksheet, frame: pl.DataFrame) -> None:
    """The status by whether the order is at its end; differences and notes stand out."""
    titles = [cell.value for cell in sheet[1]]
    for row, (at_end, difference, note) in enumerate(frame.select("at_end", "difference", "note").iter_rows(), 2):
        if at_end:
            paint(at(sheet, row, titles.index("Status") + 1), _AT_END)
        if difference:
            paint(at(sheet, row, titles.index("Difference") + 1), _DIFFERS)
        if note and "Note" in titles:
            paint(at(sheet, row, titles.index("Note") + 1), _NOTED)


def _add_facts(book: Workbook, facts: Sequence[tuple[str, str]]) -> None:
    sheet: Worksheet = book.create_sheet("About")
    prepare_page(sheet)
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 24, 110
    for row, (name, words) in enumerate((*facts, *_WORDS), 1):
        put_text(at(sheet, row, 1), name)
        at(sheet, row, 1).font = font(bold=True)
        put_text(at(sheet, row, 2), words)


_WORDS = (
    ("Status", "As the service wrote it when it was asked last. An event alone is never believed."),
    ("Known by: event", "The time of the status comes from an event, and the service showed the same status."),
    ("Known by: fetch", "No event told it: the time is when the status was first seen, so it may be older."),
    ("Sent", "How much our file ordered. Ordered, Picked, Delivered: what the service shows."),
    ("COD", "The amount to collect stands on the first line of an order, so that sums are right."),
    ("Difference", "Not as it was sent, or short: fewer picked, or at the end fewer delivered, than ordered."),
)


def _bytes(book: Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
