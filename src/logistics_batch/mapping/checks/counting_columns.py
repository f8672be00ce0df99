"""Columns that only count the rows, 1, 2, 3 …: a row that was pasted twice gets a number of its own there."""

from collections.abc import Sequence
from typing import Final

import polars as pl

_MOST_ROWS: Final = 20_000
_MOST_COLUMNS: Final = 100
_ONE: Final = ("1", "01", "001", "1.0", "1.")


def counting_columns(frame: pl.DataFrame, rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Of some columns of a sheet's frame those that count its rows of data, all of them or those of each document.

    rows: the rows of data by document: doc, row. Every number must be there: a column of anything else, as of boxes or
    batches, tells rows apart. Rows that are no data may be counted or not. Of a large sheet none is looked for.
    """
    if not 1 < rows.height <= _MOST_ROWS or not names:
        return []
    ordered = rows.select("doc", "row").unique("row", keep="first").sort("row")
    begin = frame.filter(pl.col("row") == ordered["row"][0]).select(names).row(0)
    hopeful = [name for name, text in zip(names, begin, strict=True) if (text or "").strip() in _ONE][:_MOST_COLUMNS]
    cells = frame.select("row", *hopeful).filter(pl.col("row").is_in(ordered["row"].implode()))
    return [name for name in hopeful if _counts(ordered.with_columns(_number(cells[name])))]


def _number(cells: pl.Series) -> pl.Series:
    return cells.str.strip_chars().cast(pl.Float64, strict=False).rename("number")


def _counts(rows: pl.DataFrame) -> bool:
    """Whether the numbers go on from row to row, or from row to row of each document."""
    if rows["number"].null_count():
        return False
    step, apart = pl.col("number").diff(), pl.col("row").cast(pl.Float64).diff()
    goes_on = (step == 1) | (step == apart)
    begins = pl.col("number") == 1
    same_document = pl.col("doc") == pl.col("doc").shift(1)
    through_the_sheet = rows.select(goes_on.fill_null(begins).all()).item()
    through_each = rows.sort("doc", "row").select(pl.when(same_document).then(goes_on).otherwise(begins).all()).item()
    return bool(through_the_sheet or through_each)
