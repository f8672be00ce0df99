"""Rows that can be nothing but words beside the data: a note below the table, units below the header."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from logistics_batch.mapping.rows.cells import ColumnKind, name_of

_LEAST_WORDS: Final = 4
_MOST_CELLS: Final = 2
_UNIT: Final = r"^[(\[][^0-9()\[\]]{1,12}[)\]]$"  # (pcs), [Rs.]

_OF_DIGITS: Final = (ColumnKind.NUMBER, ColumnKind.DIGITS)


def notes_below(rows: pl.DataFrame, kinds: Mapping[int, ColumnKind], *, last: int, body: pl.DataFrame) -> list[int]:
    """The rows below the data in which a sentence stands and nothing that may be data.

    Of one or two filled cells one is a sentence. Columns that are read hold nothing but words where numbers are wanted,
    and sentences in place of a number by which something is known, longer than any there. rows: those that lack what
    data needs, with all their cells. kinds: of the columns that are read. last: the last row that lacks nothing. body:
    all rows with the columns that are read.
    """
    numbers = [name_of(column) for column, kind in kinds.items() if kind in _OF_DIGITS]
    known = [name_of(column) for column, kind in kinds.items() if kind is ColumnKind.IDENTITY]
    others = [name_of(column) for column, kind in kinds.items() if kind not in (*_OF_DIGITS, ColumnKind.IDENTITY)]
    counted = rows.filter(
        pl.any_horizontal(pl.lit(value=False), *(pl.col(name).str.contains("[0-9]") for name in numbers))
    )
    below = rows.filter(pl.col("row") > max(last, int(counted["row"].max() or 0)))  # type: ignore[arg-type]
    words = {name: _words(pl.col(name)) for name in below.columns if name != "row"}
    few = pl.sum_horizontal(pl.col(name).is_not_null() for name in words).is_between(1, _MOST_CELLS)
    told = pl.any_horizontal(count >= _LEAST_WORDS for count in words.values())
    found = below.filter(few, told, *(pl.col(name).is_null() for name in others))
    if found.is_empty():
        return []
    data = body.filter(pl.col("row") <= last)
    longest = {name: max(int(data.select(_words(pl.col(name)).max()).item() or 0), _LEAST_WORDS - 1) for name in known}
    longer = (pl.col(name).is_null() | (words[name] > most) for name, most in longest.items())
    return found.filter(*longer)["row"].to_list()


def _words(cell: pl.Expr) -> pl.Expr:
    return cell.str.count_matches(r"\p{L}{2,}").fill_null(0)


def units_below(rows: pl.DataFrame, *, header: int) -> list[int]:
    """The row right below the header, if it holds units in brackets and nothing else."""
    cells = [pl.col(name) for name in rows.columns if name != "row"]
    is_unit = pl.all_horizontal(cell.is_null() | cell.str.contains(_UNIT) for cell in cells)
    several = pl.sum_horizontal(cell.is_not_null() for cell in cells) > 1
    return rows.filter(pl.col("row") == header + 1, is_unit, several)["row"].to_list()
