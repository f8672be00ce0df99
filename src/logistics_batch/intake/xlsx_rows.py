"""Where the cells of some lines of an .xlsx sheet stand: their rows and columns, each address checked."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from logistics_batch.intake.xlsx_lines import FIELD, ROW, ROW_END, STYLE, NotPlain, joined

_ROW_TAG: Final = r'^[1-9][0-9]{0,6}"(?: [A-Za-z][A-Za-z0-9:]{0,40}="[^"<>&]*")*/?>$'
_IS_HIDDEN: Final = r'[ :](?:hidden="(?:1|true)"|ht="0(?:\.0*)?")'
_LETTERS: Final = re.compile(r"[A-Z]{1,3}")
_STYLE_NUMBER: Final = re.compile(f"{STYLE}(?:0|[1-9][0-9]{{0,4}})")
_UNSTYLED: Final = -1
_DIGITS: Final = "0123456789"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of some lines. numbers: as the sheet says them, in order. widths: how many cells each has. hidden: the
    numbers of those that cannot be seen."""

    numbers: pl.Series
    widths: pl.Series
    hidden: list[int]


@dataclass(frozen=True, slots=True)
class Placed:
    """Cells at their places: place: which of the rows each stands in, from 0; column: from 1; style: -1 where none is
    written. is_table: whether each row has the same cells, in the first columns."""

    rows: Rows
    fields: pl.DataFrame
    place: pl.Series
    column: pl.Series
    style: pl.Series
    is_table: bool


def placed(lines: pl.DataFrame) -> Placed:
    """The cells of some lines at their places; raises NotPlain where an address is missing or not in order."""
    first = pl.col("f0")
    if lines["f0"].null_count():
        raise NotPlain
    signs = lines.lazy().select(row=first.str.starts_with(ROW), end=first == ROW_END).collect(engine="in-memory")
    rows = _rows(lines, signs)
    cells = lines.lazy().filter(~(signs["row"] | signs["end"])).collect(engine="in-memory")
    place = pl.int_range(rows.numbers.len(), dtype=pl.UInt32, eager=True).repeat_by(rows.widths)
    place = place.explode(empty_as_null=False).drop_nulls() if cells.height else pl.Series([], dtype=pl.UInt32)
    return _as_table(rows, cells, place) or _anywhere(rows, cells, place)


def _rows(lines: pl.DataFrame, signs: pl.DataFrame) -> Rows:
    """The rows, each of which must begin, hold its cells and end."""
    begins, ends = signs["row"].arg_true(), signs["end"].arg_true()
    tags = lines[begins]
    is_closed = tags["f1"] == "/"
    is_closed = is_closed.fill_null(value=False)
    opened = begins.filter(~is_closed)
    if opened.len() != ends.len() or not begins.len() or begins[0] != 0:
        raise NotPlain
    until = begins.shift(-1, fill_value=lines.height)  # a row reaches to the next one
    within = pl.select(pl.when(is_closed).then(0).otherwise(until - begins - 2)).to_series()
    last = (until - 1).filter(~is_closed)
    if not (last == ends).all() or not (until.filter(is_closed) == begins.filter(is_closed) + 1).all():
        raise NotPlain
    if lines["f1"].gather(ends).null_count() != ends.len():
        raise NotPlain
    tag = joined(tags).str.slice(1).str.replace_all(STYLE, '" s="', literal=True)
    tag = tag.str.replace(f"{FIELD}/", '"/>', literal=True)
    if not tag.str.contains(_ROW_TAG).all():
        raise NotPlain
    numbers = tag.str.split_exact('"', 1).struct[0].cast(pl.UInt32)
    hidden = numbers.filter(tag.str.contains(_IS_HIDDEN)).to_list()
    return Rows(numbers, within.cast(pl.UInt32), hidden)


def _as_table(rows: Rows, cells: pl.DataFrame, place: pl.Series) -> Placed | None:
    """The cells where each row has those of the first one; None if they are not so."""
    width = int(rows.widths[0])
    if not width or not (rows.widths == width).all():
        return None
    letters = _letters(cells["f0"].head(width))
    numbers = _column_numbers(letters)
    position = pl.int_range(cells.height, dtype=pl.UInt32, eager=True) % width
    style = _styles(cells["f0"], letters.gather(position), rows.numbers.gather(place))
    if style is None:
        return None
    columns = [numbers[each] for each in letters.to_list()]
    if any(left >= right for left, right in pairwise(columns)):
        raise NotPlain
    column = pl.Series(columns, dtype=pl.UInt16).gather(position)
    return Placed(rows, cells, place, column, style, columns == list(range(1, width + 1)))


def _anywhere(rows: Rows, cells: pl.DataFrame, place: pl.Series) -> Placed:
    """The cells of rows of which each has its own."""
    letters = _letters(cells["f0"])
    numbers = _column_numbers(letters)
    style = _styles(cells["f0"], letters, rows.numbers.gather(place))
    if style is None:
        raise NotPlain
    columns = pl.Series(list(numbers.values()), dtype=pl.UInt16)
    column = letters.replace_strict(pl.Series(list(numbers), dtype=pl.String), columns) if numbers else columns
    if not ((place.cast(pl.Int64) * (1 << 16) + column).diff(null_behavior="drop") > 0).all():
        raise NotPlain
    return Placed(rows, cells, place, column, style, is_table=False)


def _letters(first: pl.Series) -> pl.Series:
    """The letters of addresses, which a style may follow."""
    addresses = first.str.extract(f"^([^{STYLE}]*)") if first.str.contains(STYLE, literal=True).any() else first
    return addresses.str.strip_chars_end(_DIGITS)


def _column_numbers(letters: pl.Series) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in letters.unique(maintain_order=True).to_list():
        if each is None or not _LETTERS.fullmatch(each):
            raise NotPlain
        number = 0
        for letter in each:
            number = number * 26 + ord(letter) - 64
        found[each] = number
    return found


def _styles(first: pl.Series, letters: pl.Series, rows: pl.Series) -> pl.Series | None:
    """The number of each cell's style, if all addresses are what they should be; else None."""
    addresses = pl.select(pl.concat_str(letters, rows.cast(pl.String))).to_series()
    styled = (first != addresses).arg_true()
    none = pl.repeat(_UNSTYLED, first.len(), dtype=pl.Int32, eager=True)
    if styled.is_empty():
        return none
    rest = first.gather(styled).str.strip_prefix(addresses.gather(styled))
    if not all(_STYLE_NUMBER.fullmatch(each) for each in rest.unique().to_list()):
        return None
    numbers = rest.str.slice(1).cast(pl.Int32)
    return numbers if styled.len() == first.len() else none.scatter(styled, numbers)
