"""Where all rows of a file fail alike: one cause for the whole file, a moved column or a wrong sheet, not bad data."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet

ROWS_AT_LEAST: Final = 10  # fewer rows can fail alike by chance, and are soon mended one by one
_SHAPES: Final = {
    "mobile": "phone",
    "pincode": "pin",
    "date": "date",
    "integer": "whole number",
    "money": "amount",
}
_LOOKS_LIKE: Final = 0.8  # of the filled cells
_SAMPLE: Final = 200  # rows


@dataclass(frozen=True, slots=True)
class Alike:
    """What is wrong with every one of `rows` rows, by the first issue."""

    issue: Issue
    rows: int


def failing_alike(mapped: MappedFile, *, second: str = "") -> Alike | None:
    """What every row of data breaks, if all break one rule in one column; None otherwise, or if there are few rows.

    second: the name of the second sheet, if it is about the rows of that.
    """
    data = mapped.rows.filter(pl.col("state") != RowState.SKIPPED.value, pl.col("sheet") == second)
    if data.height < ROWS_AT_LEAST or not data["state"].eq(RowState.INVALID.value).all():
        return None
    # in the order of the issues, so that of two that all rows have the first is named, whichever run it is
    first: dict[tuple[str, str], dict[int, Issue]] = {}
    for issue in mapped.issues:
        if issue.sheet == second:
            first.setdefault((issue.rule, issue.column), {}).setdefault(issue.row, issue)
    alike = (Alike(next(iter(rows.values())), len(rows)) for rows in first.values() if len(rows) >= data.height)
    return next(alike, None)


def stands_in(mapped: MappedFile, sheet: Sheet) -> str:
    """Where all rows of a file's own sheet fail alike, the header of the one other column whose values look as that
    rule wants them; "" if there is none or several.
    """
    found = failing_alike(mapped)
    if found is None or (shape := _SHAPES.get(found.issue.rule.rpartition("|")[2])) is None:
        return ""
    from logistics_batch.mapping.suggest.profile import profile_of  # most files never need it

    rows = mapped.rows.filter(pl.col("state") == RowState.INVALID.value, pl.col("sheet") == "")["row"].head(_SAMPLE)
    cells = sheet.frame.filter(pl.col("row").is_in(rows.implode()))
    fitting = [
        header
        for number, header in enumerate(mapped.columns, 1)
        if header.strip()
        and header.strip() != found.issue.column
        and str(number) in cells.columns
        and profile_of(tuple(cells[str(number)])).share(shape) >= _LOOKS_LIKE
    ]
    return fitting[0].strip() if len(fitting) == 1 else ""
