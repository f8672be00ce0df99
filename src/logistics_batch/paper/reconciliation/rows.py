"""Many lines as rows of a sheet, made by column and not by cell: a hundred thousand lines take seconds.

The looks are those that `reconciliation_cells` gives to single cells; here only their numbers are written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import polars as pl
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Severity, Standing, State
from logistics_batch.paper.reconciliation.cells import put
from logistics_batch.paper.reconciliation.columns import COMPLETE, INCOMPLETE, CellKind, Column, characters_a_line
from logistics_batch.paper.safe_text import cell_xml, formula_like, visible_column
from logistics_batch.paper.xlsx.package import Package, Packed, packed

_ROWS_A_BLOCK = 5_000
_LINE_HEIGHT = 13.5
_TALLEST = 400.0  # points; Excel knows none above 409
_FIRST_ROW_ENDS = b"</row>"
_CODES = tuple(str(word) for word in (*MEANINGS, *Severity, *ComparedOutcome, *State, *Standing, COMPLETE, INCOMPLETE))
_TEXTS: tuple[object, ...] = (None, "text", "=text")
_SAMPLES: dict[CellKind, tuple[object, ...]] = {
    CellKind.TEXT: _TEXTS,
    CellKind.WORDS: _TEXTS,
    CellKind.ENTRY: _TEXTS,
    CellKind.CODE: (*_TEXTS, *_CODES),
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


def looks_of(sheet: Worksheet) -> Looks:
    """The numbers of the styles of each kind of value, by a sample; before the workbook is saved."""
    return {(kind, sample): _style(sheet, sample, kind) for kind, samples in _SAMPLES.items() for sample in samples}


def _style(sheet: Worksheet, sample: object, kind: CellKind) -> str:
    cell = WriteOnlyCell(sheet)
    put(cell, sample, kind)
    return str(cell.style_id)


def with_rows(content: bytes, tables: Sequence[SheetRows], looks: Looks) -> bytes:
    """The saved workbook with the lines of its tables put in."""
    package = Package(content)
    parts = {table.sheet.path.lstrip("/"): table for table in tables if table.frame.height}
    return package.with_parts({part: _filled(package.read(part), table, looks) for part, table in parts.items()})


def _filled(sheet_xml: bytes, table: SheetRows, looks: Looks) -> Packed:
    head, end, tail = sheet_xml.partition(_FIRST_ROW_ENDS)
    begin, mark, rest = head.partition(b"<dimension ")
    if mark:
        last = f"{get_column_letter(len(table.columns))}{table.frame.height + 1}"
        head = begin + f'<dimension ref="A1:{last}"'.encode() + rest[rest.index(b"/>") :]
    return packed(_pieces(head + end, table, tail, looks))


def _pieces(head: bytes, table: SheetRows, tail: bytes, looks: Looks) -> Iterator[bytes]:
    yield head
    for nth, block in enumerate(table.frame.iter_slices(_ROWS_A_BLOCK)):
        yield _rows_xml(block, table.columns, looks, first_row=2 + nth * _ROWS_A_BLOCK)
    yield tail


def _rows_xml(block: pl.DataFrame, columns: Sequence[Column], looks: Looks, *, first_row: int) -> bytes:
    texts = [visible_column(name) for name, kind in block.schema.items() if kind == pl.String]
    numbered = block.with_columns(texts).with_row_index("row number", offset=first_row)
    row = pl.col("row number").cast(pl.String)
    cells = [
        _cell(column, looks, place=pl.concat_str(pl.lit(f'<c r="{get_column_letter(index)}'), row, pl.lit('" s="')))
        for index, column in enumerate(columns, 1)
    ]
    line = pl.concat_str(pl.lit('<row r="'), row, _height(columns), *cells, pl.lit("</row>"))
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


def _cell(column: Column, looks: Looks, *, place: pl.Expr) -> pl.Expr:
    """A column's cells as XML; one without a value keeps its look."""
    value, kind = pl.col(column.field), column.kind
    bare = pl.concat_str(place, pl.lit(f'{looks[kind, None]}"/>'))
    if "text" in _SAMPLES[kind]:
        text = pl.concat_str(
            place,
            _text_style(column, looks),
            pl.lit('" t="inlineStr"><is><t xml:space="preserve">'),
            cell_xml(column.field),
            pl.lit("</t></is></c>"),
        )
        return pl.when(value.is_null() | (value == "")).then(bare).otherwise(text)
    number = _days(value) if kind is CellKind.DATE else _days_and_parts(value) if kind is CellKind.MOMENT else value
    full = pl.concat_str(
        place, _number_style(column, looks), pl.lit('"><v>'), number.cast(pl.String), pl.lit("</v></c>")
    )
    return pl.when(value.is_null()).then(bare).otherwise(full)


def _days(day: pl.Expr) -> pl.Expr:
    """A date as workbooks count it."""
    return (day - pl.date(1899, 12, 30)).dt.total_days()


def _days_and_parts(moment: pl.Expr) -> pl.Expr:
    """A date and time, to the second, as workbooks count them."""
    return (moment.dt.truncate("1s") - pl.datetime(1899, 12, 30)).dt.total_seconds() / 86_400


def _text_style(column: Column, looks: Looks) -> pl.Expr:
    kind = column.kind
    guarded, usual = pl.lit(looks[kind, "=text"]), pl.lit(looks[kind, "text"])
    plain = pl.when(formula_like(column.field)).then(guarded).otherwise(usual)
    if kind is not CellKind.CODE:
        return plain
    painted = {word: looks[kind, word] for word in _CODES}
    return pl.col(column.field).replace_strict(painted, default=plain, return_dtype=pl.String)


def _number_style(column: Column, looks: Looks) -> pl.Expr:
    """Decimals only where there are any."""
    whole, *parted = (looks[column.kind, sample] for sample in _SAMPLES[column.kind][1:])
    if not parted:
        return pl.lit(whole)
    value = pl.col(column.field).cast(pl.Float64)
    return pl.when(value == value.floor()).then(pl.lit(whole)).otherwise(pl.lit(parted[0]))
