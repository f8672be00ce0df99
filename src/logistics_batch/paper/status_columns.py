"""The columns that we add to a sheet, and how they are known again when the sheet comes back."""

from collections.abc import Sequence

import polars as pl

from logistics_batch.model.sheet import Sheet

STATUS_COLUMNS = ("Status", "Reason", "What to do", "AWB / reference", "Run")
"""The headers of the added columns, in their order."""

COLUMN_WIDTHS = (13.0, 56.0, 48.0, 24.0, 24.0)
"""Their widths in characters of the default font."""


def earlier_columns(headers: Sequence[str]) -> tuple[int, ...]:
    """Where an earlier result's columns stand among a header row's texts (positions from 0); empty if there are none.

    Only all five side by side in their order are ours: users have columns named "Status" or "Reason" themselves.

    >>> earlier_columns(["Status", "Qty", "Status", "Reason", "What to do", "AWB / reference", "Run"])
    (2, 3, 4, 5, 6)
    """
    width = len(STATUS_COLUMNS)
    found: list[int] = []
    for start in range(len(headers) - width + 1):
        if tuple(text.strip() for text in headers[start : start + width]) == STATUS_COLUMNS:
            found.extend(range(start, start + width))
    return tuple(found)


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
