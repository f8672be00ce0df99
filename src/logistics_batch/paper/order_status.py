"""The status report of orders (one line an item) and the status feed (one line an order), as CSV and as workbook."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Any

import polars as pl
from openpyxl import Workbook
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Font, PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.run_reports import OrderLine
from logistics_batch.paper.answers.result_csv import csv_bytes
from logistics_batch.paper.palette import Paint
from logistics_batch.paper.reconciliation.cells import at, font, put_text
from logistics_batch.paper.reconciliation.columns import CellKind, Column
from logistics_batch.paper.reconciliation.rows import SheetRows, saved
from logistics_batch.paper.reconciliation.tables import TableLayout, lay_table, prepare_page

_AT_END = Paint("FFDDF1E0", "FF14532D")
_DIFFERS = Paint("FFF9D4D1", "FF8A1C12", bold=True)
_NOTED = Paint("FFFFF1BF", "FF665000")
_K = CellKind
_WHO = (
    Column("Reference", "reference_number", _K.TEXT, 18),
    Column("AWB", "awb_number", _K.TEXT, 14),
    Column("Status", "status", _K.TEXT, 17),
)
_KNOWN_BY = Column("Known by", "source", _K.TEXT, 9)
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
    Column("Status since", "status_time", _K.MOMENT, 21),
    _KNOWN_BY,
    Column("Days since sent", "days_since_sent", _K.COUNT, 9),
    Column("Sent at", "sent_at", _K.MOMENT, 21),
    Column("Asked at", "asked_at", _K.MOMENT, 21),
    *_PLACE,
)
FEED_COLUMNS = (
    *_WHO,
    Column("Status since", "status_time", _K.TEXT, 27),  # read by programs: with its offset
    _KNOWN_BY,
    Column("Ordered", "qty_ordered", _K.QUANTITY, 9),
    Column("Picked", "qty_picked", _K.QUANTITY, 8),
    Column("Delivered", "qty_delivered", _K.QUANTITY, 10),
    *_MONEY,
    Column("Difference", "difference", _K.WORDS, 42),
    *_PLACE,
)
_LARGEST = 1_048_575  # lines below the headings that a sheet can hold: of a feed none may be missing
_LONGEST_IN_FORMULA = 255
_MOST_WORDS = 25
_QUANTITIES = ("qty_sent", "qty_ordered", "qty_picked", "qty_delivered")
_AMOUNTS = ("cod_sent", "cod_shown")


def order_status_csv(lines: Sequence[OrderLine]) -> bytes:
    """One line an item; names of columns as in the fields of OrderLine."""
    return csv_bytes(_texts(lines, REPORT_COLUMNS))


def order_status_workbook(
    lines: Sequence[OrderLine], *, facts: Sequence[tuple[str, str]], zone: tzinfo | None = None
) -> bytes:
    """What differs first, then everything, then what this report is.

    zone: in which times are told; without one each in that of its own offset.
    """
    book = Workbook()
    book.remove(book.worksheets[0])
    everything = _frame(lines).with_columns(
        pl.Series(name, [_moment(getattr(line, name), zone) for line in lines], dtype=pl.Datetime)
        for name in ("status_time", "sent_at", "asked_at")
    )
    different = everything.filter(pl.col("difference") != "")
    nothing = "Everything is as it was sent, as far as it is known."
    tables = [
        _coloured(lay_table(book, different, TableLayout("Differences", REPORT_COLUMNS, nothing, 3, _LARGEST))),
        _coloured(lay_table(book, everything, TableLayout("Orders", REPORT_COLUMNS, "No order.", 3, _LARGEST))),
    ]
    _add_facts(book, [*facts, ("Times", f"Of {zone}.")] if zone else facts)
    return saved(book, tables)


def status_feed_csv(orders: Sequence[Sequence[OrderLine]]) -> bytes:
    """One line an order, quantities added up over its items."""
    return csv_bytes(_texts([_added_up(lines) for lines in orders], FEED_COLUMNS))


def status_feed_workbook(orders: Sequence[Sequence[OrderLine]]) -> bytes:
    """The same as a workbook of one sheet."""
    book = Workbook()
    book.remove(book.worksheets[0])
    frame = _frame([_added_up(lines) for lines in orders])
    table = lay_table(book, frame, TableLayout("Orders", FEED_COLUMNS, "No order.", 3, _LARGEST))
    return saved(book, [_coloured(table)])


def _added_up(lines: Sequence[OrderLine]) -> OrderLine:
    """An order in one line; a sum in which a quantity is not known is not known."""
    sums: dict[str, Any] = {}
    for name in _QUANTITIES:
        told = [getattr(line, name) for line in lines]
        sums[name] = None if None in told else sum(told, Decimal(0))
    return replace(lines[0], difference="; ".join(line.difference for line in lines if line.difference), **sums)


def _frame(lines: Sequence[OrderLine]) -> pl.DataFrame:
    """What workbooks show; their numbers are floats, and no row is an empty cell."""
    schema: dict[str, Any] = dict.fromkeys(OrderLine.__dataclass_fields__, pl.String)
    schema |= dict.fromkeys((*_QUANTITIES, *_AMOUNTS), pl.Float64) | {"row": pl.Int64, "days_since_sent": pl.Int64}
    schema |= {"at_end": pl.Boolean}
    columns = {name: [getattr(line, name) for line in lines] for name in schema}
    for name in (*_QUANTITIES, *_AMOUNTS):
        columns[name] = [None if value is None else float(value) for value in columns[name]]
    columns["row"] = [number or None for number in columns["row"]]
    return pl.DataFrame(columns, schema=schema)


def _moment(text: str, zone: tzinfo | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return (moment.astimezone(zone) if zone else moment).replace(tzinfo=None)


def _texts(lines: Sequence[OrderLine], columns: Sequence[Column]) -> pl.DataFrame:
    names = [column.field for column in columns]
    data = [[_text(name, getattr(line, name)) for name in names] for line in lines]
    return pl.DataFrame(data, schema=dict.fromkeys(names, pl.String), orient="row")


def _text(name: str, value: Any) -> str:
    if value is None or (name == "row" and not value):
        return ""
    if name in _AMOUNTS:
        return f"{value:.2f}"
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def _coloured(table: SheetRows) -> SheetRows:
    """The status by whether the order is at its end; differences and notes stand out."""
    frame, lines = table.frame, table.frame.height
    letters = {column.field: get_column_letter(index) for index, column in enumerate(table.columns, 1)}
    ended = frame.filter("at_end")["status"].unique(maintain_order=True).to_list()
    rules = {
        "status": (_is_one_of(f"${letters['status']}2", ended), _AT_END),
        "difference": (f'${letters["difference"]}2<>""', _DIFFERS),
        "note": (f'${letters.get("note")}2<>""', _NOTED),
    }
    for field, (holds, look) in rules.items():
        if lines and holds and field in letters:
            cells = f"{letters[field]}2:{letters[field]}{lines + 1}"
            fill = PatternFill(bgColor=look.fill)  # of a rule it is the background that is seen
            shown = DifferentialStyle(font=Font(color=look.text, bold=look.bold), fill=fill)
            table.sheet.conditional_formatting.add(cells, Rule("expression", dxf=shown, formula=[holds]))
    return table


def _is_one_of(cell: str, words: Iterable[str]) -> str:
    """A formula that asks whether a cell holds one of some words; "" if there are none."""
    short = [word.replace('"', '""') for word in words if len(word) <= _LONGEST_IN_FORMULA]
    asked = [f'{cell}="{word}"' for word in short[:_MOST_WORDS]]
    return f"OR({','.join(asked)})" if asked else ""


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
