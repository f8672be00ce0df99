"""How our columns look, and a sheet without those of an earlier round."""

import polars as pl

from logistics_batch.model.answers.answer_columns import earlier_columns
from logistics_batch.model.sheet import Sheet

COLUMN_WIDTHS = (13.0, 62.0, 62.0, 24.0, 22.0)
"""The widths of our columns in characters of the default font."""


def header_texts(sheet: Sheet, header_row: int) -> tuple[str, ...]:
    """The texts of the sheet's header row by position, "" where a column has none."""
    line = sheet.frame.filter(pl.col("row") == header_row).drop("row")
    if line.is_empty():
        return ("",) * sheet.width
    return tuple(text or "" for text in line.row(0))


def without_earlier_columns(sheet: Sheet, header_row: int) -> pl.DataFrame:
    """The sheet's frame without the columns of an earlier result; the others keep their names."""
    ours = earlier_columns(header_texts(sheet, header_row))
    return sheet.frame.drop(str(position + 1) for position in ours)
