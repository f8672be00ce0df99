"""Column names that run over two rows: what several columns have in common stands above the names of each."""

from collections.abc import Sequence

import polars as pl

from logistics_batch.model.sheet import Sheet


def names_above(sheet: Sheet, row: int, width: int) -> list[str]:
    """The cells of the row above another; blank ones where there is none."""
    cells = sheet.frame.filter(pl.col("row") == row - 1).drop("row")
    return [text or "" for text in cells.row(0)] if cells.height else [""] * width


def names_over_two_rows(sheet: Sheet, row: int, *, above: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The texts of a row, each behind what stands above it; a blank cell below a name bears that name.

    A common name reaches as far as its merged cell. Where the row above has no merged cells, as in a text file, it
    reaches to the next filled one.
    """
    common = _merged(sheet, row - 1, above) or _to_the_right(above, texts)
    return [
        f"{shared} {own}".strip() if own.strip() else name
        for own, name, shared in zip(texts, above, common, strict=True)
    ]


def _merged(sheet: Sheet, row: int, above: Sequence[str]) -> list[str] | None:
    """What each column has in common with others by merged cells of one row; None if there are none."""
    ranges = [
        (left, right) for first, left, last, right in sheet.merged_ranges if first == last == row and right > left
    ]
    if not ranges:
        return None
    common = list(above)
    for left, right in ranges:
        common[left - 1 : right] = [above[left - 1]] * len(common[left - 1 : right])
    return common


def _to_the_right(above: Sequence[str], texts: Sequence[str]) -> list[str]:
    """What stands above each column or left of that; a name with nothing below it is its own column's only."""
    common: list[str] = []
    reaching = ""
    for name, own in zip(above, texts, strict=True):
        if name.strip():
            reaching = name if own.strip() else ""
        common.append(reaching)
    return common
