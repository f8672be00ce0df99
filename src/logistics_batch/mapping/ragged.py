"""Rows of a text file with more or fewer cells than its header: their values may stand in the wrong columns."""

from typing import Final

import polars as pl

from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.reading import say
from logistics_batch.mapping.table import Table

_LOOKED_AT: Final = 1_000  # last rows of a file


def ragged(found: Findings, table: Table) -> None:
    """Find the data rows whose cells have been shifted.

    Too long is a row with more cells than the header and something written beyond the last column that the header
    names. Too short is a row that ends before a column of the mapping, if that column is required or if some row of the
    file ends in an empty cell: the program that wrote it does not leave those out, so a cell is missing. Where no row
    ends in an empty cell, short rows are how that program writes empty cells at the end, and stay.
    """
    counts = table.sheet.cell_counts
    if counts is None:
        return
    frame = table.sheet.frame.with_columns(counts.cast(pl.UInt32).alias("cells"))
    header = int(frame.filter(pl.col("row") == table.bound.row)["cells"][0])
    if frame.filter((pl.col("cells") != header) & (pl.col("cells") > 1)).is_empty():
        return
    _cut_off(found, table, frame)
    data = pl.concat([table.grouped.lines["row"], table.keyless["row"]])
    rows = frame.filter(pl.col("row").is_in(data.implode()))
    own = table.sheet.width - table.sheet.added
    named = max((number for number, text in enumerate(table.bound.texts[:own], 1) if text.strip()), default=0)
    beyond = [pl.col(str(number)).is_not_null() for number in range(named + 1, own + 1)]
    long = rows.filter((pl.col("cells") > header) & pl.any_horizontal(beyond)) if beyond else rows.clear()
    short = rows.filter(pl.col("cells") < _least(table, frame))
    for (cells,), group in pl.concat([long, short]).group_by("cells", maintain_order=True):
        cause = "is a comma not in quotes?" if int(str(cells)) > header else "is a cell missing?"
        words = say(
            f"The row has {cells} cell{'' if cells == 1 else 's'}, the header {header}: {cause}",
            "Put a cell that holds the separator in quotes, give every column its cell, or send the file as .xlsx.",
        )
        found.add(group["row"], table.key_column, "row|cells", words)


def _cut_off(found: Findings, table: Table, frame: pl.DataFrame) -> None:
    """The last row of a file that ends within it: no line break behind it, and fewer cells than any other row."""
    *others, last = frame.filter(pl.col("cells") > 0)["cells"].to_list()[-_LOOKED_AT:]
    row = frame["row"][-1]
    is_data = row in table.grouped.lines["row"].tail(1) or row in table.keyless["row"].tail(1)
    if table.sheet.ends_open and others and last < min(others) and is_data:
        words = say(
            f"The file ends within this row: it has {last} cell{'' if last == 1 else 's'}, others {min(others)}, "
            "and no line break behind it.",
            "Send the whole file again; if the row is complete, give every column its cell.",
        )
        found.add(pl.Series([row]), table.key_column, "row|cut_off", words)


def _least(table: Table, frame: pl.DataFrame) -> int:
    """How many cells a row must have."""
    mapping, bound = table.mapping, table.bound
    # A column that is filled down may be blank on all rows but the first of a document.
    filled = {bound.column(mapping.names_of(name)) for name in mapping.spec.sheet.fill_down}
    required = {bound.column(names) for names in mapping.required} - filled
    wanted = set(bound.columns.values()) if _writes_empty_ends(frame) else required
    own = table.sheet.width - table.sheet.added
    return max((column for column in wanted if column is not None and column <= own), default=0)


def _writes_empty_ends(frame: pl.DataFrame) -> bool:
    """Whether some row of the file ends in an empty cell."""
    for (cells,), group in frame.filter(pl.col("cells") > 1).group_by("cells"):
        last = str(cells)
        if last not in frame.columns or group[last].null_count():
            return True
    return False
