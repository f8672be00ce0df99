"""Rows of a text file with more or fewer cells than its header: their values may stand in the wrong columns."""

import polars as pl

from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.reading import say
from logistics_batch.mapping.table import Table


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
    data = pl.concat([table.grouped.lines["row"], table.keyless["row"]])
    _broken_off(found, table, frame, data=data)
    header = int(frame.filter(pl.col("row") == table.bound.row)["cells"][0])
    if frame.filter((pl.col("cells") != header) & (pl.col("cells") > 1)).is_empty():
        return
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


def _broken_off(found: Findings, table: Table, frame: pl.DataFrame, *, data: pl.Series) -> None:
    """A last row without a line break and with fewer cells than every other one: its last value may be cut, too."""
    last = frame.tail(1).filter(pl.col("row").is_in(data.implode()))
    if not table.sheet.breaks_off or last.is_empty():
        return
    others = frame.filter(pl.col("row").is_in(data.implode()) | (pl.col("row") == table.bound.row)).filter(
        pl.col("row") != last["row"][0]
    )
    if (others["cells"] > last["cells"][0]).all():
        words = say(
            f"The file ends within this row: it has {last['cells'][0]} cells, every other one has more.",
            "The upload was broken off: send the whole file again.",
        )
        found.add(last["row"], table.key_column, "row|cells", words)


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
