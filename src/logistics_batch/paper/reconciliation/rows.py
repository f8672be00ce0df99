"""Many lines as rows of a sheet, made by column and not by cell: a hundred thousand lines take seconds.

The looks are those that `reconciliation_cells` gives to single cells; here only their numbers are written.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import polars as pl
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.paper.reconciliation.cells import WORD_PAINTS, put
from logistics_batch.paper.reconciliation.columns import CellKind, Column, characters_a_line
from logistics_batch.paper.safe_text import formula_like, visible_column
from logistics_batch.paper.xlsx.annotate import text_cell
from logistics_batch.paper.xlsx.package import Package
from logistics_batch.paper.xlsx.plain import serial

_ROWS_A_BLOCK = 5_000
_LINE_HEIGHT = 13.5
_TALLEST = 400.0  # points; Excel knows none above 409
_FIRST_ROW_ENDS = b"</row>"
_NUMBER = "row number"
_TEXTS: tuple[object, ...] = (None, "text", "=text")
_SAMPLES: dict[CellKind, tuple[object, ...]] = {
    CellKind.TEXT: _TEXTS,
    CellKind.WORDS: _TEXTS,
    CellKind.ENTRY: _TEXTS,
    CellKind.CODE: (*_TEXTS, *WORD_PAINTS),
    CellKind.DATE: (None, date(2026, 1, 1)),
    CellKind.MOMENT: (None, datetime(2026, 1, 1)),  # noqa: DTZ001
    **dict.fromkeys((CellKind.MONEY, CellKind.PRICE), (None, Decimal(1))),
    **dict.fromkeys(
        (CellKind.QUANTITY, CellKind.CHANGE, CellKind.COUNT, CellKind.PERCENT), (None, Decimal(1), Decimal("1.5"))
    ),
}

Looks = dict[tuple[CellKind, object], str]


@dataclass(frozen=True, slots=True)
class SheetRows:
    """Lines that belong below the headings of a sheet, from row 2."""

    sheet: Worksheet
    frame: pl.DataFrame
    columns: Sequence[Column]


def saved(book: Workbook, tables: Sequence[SheetRows]) -> bytes:
    """The finished workbook, the lines of its tables put in."""
    first = tables[0].sheet
    # The numbers of the styles of each kind of value, by a sample; before the workbook is saved.
    looks = {(kind, sample): _style(first, sample, kind) for kind, samples in _SAMPLES.items() for sample in samples}
    out = io.BytesIO()
    book.save(out)
    package = Package(out.getvalue())
    for table in tables:
        if table.frame.height:
            part = table.sheet.path.lstrip("/")
            package.put(part, _filled(package.read(part), table, looks))
    return package.saved()


def _style(sheet: Worksheet, sample: object, kind: CellKind) -> str:
    cell = WriteOnlyCell(sheet)
    put(cell, sample, kind)
    return str(cell.style_id)


def _filled(sheet_xml: bytes, table: SheetRows, looks: Looks) -> Iterator[bytes]:
    head, end, tail = sheet_xml.partition(_FIRST_ROW_ENDS)
    begin, mark, rest = head.partition(b"<dimension ")
    if mark:
        last = f"{get_column_letter(len(table.columns))}{table.frame.height + 1}"
        head = begin + f'<dimension ref="A1:{last}"'.encode() + rest[rest.index(b"/>") :]
    yield head + end
    for nth, block in enumerate(table.frame.iter_slices(_ROWS_A_BLOCK)):
        yield _rows_xml(block, table.columns, looks, first_row=2 + nth * _ROWS_A_BLOCK)
    yield tail


def _rows_xml(block: pl.DataFrame, columns: Sequence[Column], looks: Looks, *, first_row: int) -> bytes:
    texts = [visible_column(name) for name, kind in block.schema.items() if kind == pl.String]
    numbered = block.with_columns(texts).with_row_index(_NUMBER, offset=first_row)
    cells = [_cell(column, index, looks) for index, column in enumerate(columns, 1)]
    line = pl.concat_str(pl.lit('<row r="'), _NUMBER, _height(columns), *cells, pl.lit("</row>"))
    return "".join(numbered.select(line.alias("xml"))["xml"].to_list()).encode("utf-8", "replace")


def _height(columns: Sequence[Column]) -> pl.Expr:
    """The rest of the row's tag: room for the longest text that wraps."""
    words = [column for column in columns if column.kind is CellKind.WORDS]
    lines = [
        pl.when(length > column.width).then(length / characters_a_line(column.width)).otherwise(0.0)
        for column in words
        for length in [pl.col(column.field).str.len_chars().fill_null(0)]
    ]
    if not lines:
        return pl.lit('">')
    longest = pl.max_horizontal(lines).floor()
    tall = pl.min_horizontal(_LINE_HEIGHT * (1 + longest), _TALLEST)
    return (
        pl.when(longest >= 1)
        .then(pl.concat_str(pl.lit('" customHeight="1" ht="'), tall, pl.lit('">')))
        .otherwise(pl.lit('">'))
    )


def _cell(column: Column, index: int, looks: Looks) -> pl.Expr:
    """A column's cells as XML; one without a value keeps its look."""
    value, kind = pl.col(column.field), column.kind
    begin = (pl.lit(f'<c r="{get_column_letter(index)}'), _NUMBER, pl.lit('" s="'))
    bare = pl.concat_str(*begin, pl.lit(f'{looks[kind, None]}"/>'))
    if "text" in _SAMPLES[kind]:
        return text_cell(column.field, index, _text_style(column, looks), is_escaped=True, row=_NUMBER).fill_null(bare)
    if kind in (CellKind.DATE, CellKind.MOMENT):
        value = serial(value).cast(pl.Int64 if kind is CellKind.DATE else pl.Float64)
    full = pl.concat_str(*begin, _number_style(column, looks), pl.lit('"><v>'), value, pl.lit("</v></c>"))
    return full.fill_null(bare)


def _text_style(column: Column, looks: Looks) -> pl.Expr:
    kind = column.kind
    guarded, usual = pl.lit(looks[kind, "=text"]), pl.lit(looks[kind, "text"])
    plain = pl.when(formula_like(column.field)).then(guarded).otherwise(usual)
    if kind is not CellKind.CODE:
        return plain
    painted = {word: looks[kind, word] for word in WORD_PAINTS}
    return pl.col(column.field).replace_strict(painted, default=plain, return_dtype=pl.String)


def _number_style(column: Column, looks: Looks) -> pl.Expr:
    """Decimals only where there are any."""
    whole, *parted = (looks[column.kind, sample] for sample in _SAMPLES[column.kind][1:])
    if not parted:
        return pl.lit(whole)
    value = pl.col(column.field).cast(pl.Float64)
    return pl.when(value == value.floor()).then(pl.lit(whole)).otherwise(pl.lit(parted[0]))
