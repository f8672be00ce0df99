"""Rows of a text file with more or fewer cells than its header: their values may stand in the wrong columns."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.findings import Findings
from logistics_batch.model.issue import Issue

_LOOKED_AT: Final = 1_000  # last rows of a file
_HABIT: Final = 5
_ONE_IN: Final = 10
"""So many rows, and one in so many, that end at the same place are how a program writes empty cells at the end."""


def find_ragged(found: Findings, table: CompiledSheet) -> None:
    """Find the data rows whose cells have been shifted.

    Too long is a row with more cells than the header and something written beyond the last column that the header
    names. Too short is a row that ends before a column of the mapping: the cell that is missing may be any of them, and
    each one behind it stands in the place of its neighbour. Only that the sender leaves empty cells at the end of a row
    out makes it right; see `_short`.
    """
    frame = _counted(table)
    header = int(frame.filter(pl.col("row") == table.bound.row)["cells"].sum())
    if frame.filter((pl.col("cells") != header) & (pl.col("cells") > 1)).is_empty():
        return
    _cut_off(found, table, frame)
    own = table.sheet.width - table.sheet.added
    named = max((number for number, text in enumerate(table.bound.texts[:own], 1) if text.strip()), default=0)
    beyond = [pl.col(str(number)).is_not_null() for number in range(named + 1, own + 1)]
    is_data = pl.col("row").is_in(table.data_rows.implode())
    long = frame.filter(is_data, pl.col("cells") > header, pl.any_horizontal(pl.lit(value=False), *beyond))
    few = "cells.few" if _writes_empty_ends(frame) else "cells.trimmed"
    for (cells,), group in pl.concat([long, _short(table, frame)[0]]).group_by("cells", maintain_order=True):
        number = int(str(cells))
        said = Issue.of("cells.many" if number > header else few, cells=number, header=header)
        found.add(group["row"], table.key_column, "row", said)


def note_of_short_rows(table: CompiledSheet) -> Iterator[Issue]:
    """Notes on short rows that are taken as they are: what their last cells stand under is nowhere written."""
    _, spared = _short(table, _counted(table))
    for (cells,), group in spared.sort("cells", descending=True).group_by("cells", maintain_order=True):
        missing = [table.text_of(column) for column in sorted(_cut(table, int(str(cells))))]
        yield Issue.of("short_rows", rows=table.sheet.physical_rows(group["row"]), columns=missing)


def _counted(table: CompiledSheet) -> pl.DataFrame:
    """The sheet's rows with the number of their cells; none where nobody counted."""
    counts = table.sheet.cell_counts
    frame = table.sheet.frame.clear() if counts is None else table.sheet.frame
    return frame.with_columns(pl.lit(counts).cast(pl.UInt32).alias("cells"))


def _cut(table: CompiledSheet, cells: int) -> set[int]:
    """The columns in use that a row with so many cells does not reach."""
    own = table.sheet.width - table.sheet.added
    return {column for column in table.bound.columns.values() if cells < column <= own}


def _short(table: CompiledSheet, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that are too short, and those that are spared.

    Spared are rows that lack no required cell, if the mapping allows them; if they lack just all that is filled down;
    or if so many rows end at the same place, beside whole ones and none that ends in an empty cell, that nobody can
    have forgotten a separator in each.
    """
    mapping, bound = table.mapping, table.bound
    every = frame.filter(pl.col("row").is_in(table.data_rows.implode()))
    data = every.filter(pl.col("cells") < max(bound.columns.values(), default=0))
    if data.is_empty():
        return data, data
    # What is filled down may be blank on all but a document's first row.
    filled = set(table.columns(mapping.spec.sheet.fill_down))
    required = {bound.column(names) for names in mapping.required} - filled
    allowed, trims = mapping.spec.checks.short_rows == "allow", not _writes_empty_ends(frame)
    faulty, spared = [0], [0]
    for cells, count in data.group_by("cells").len().iter_rows():
        cut = _cut(table, cells)
        is_habit = every.height > data.height and count >= max(_HABIT, every.height // _ONE_IN)
        if required & cut or not (allowed or (trims and (cut == filled or is_habit))):
            faulty.append(cells if cut else 0)
        elif cut != filled:
            spared.append(cells)
    return data.filter(pl.col("cells").is_in(faulty)), data.filter(pl.col("cells").is_in(spared))


def _cut_off(found: Findings, table: CompiledSheet, frame: pl.DataFrame) -> None:
    """The last row of a file that ends within it: no line break behind it, and fewer cells than any other row."""
    *others, last = frame.filter(pl.col("cells") > 0)["cells"].to_list()[-_LOOKED_AT:]
    row = frame["row"][-1]
    is_data = row in table.lines["row"].tail(1) or row in table.keyless["row"].tail(1)
    if table.sheet.ends_open and others and last < min(others) and is_data:
        said = Issue.of("cut_off", cells=last, others=min(others))
        found.add(pl.Series([row]), table.key_column, "row", said)


def _writes_empty_ends(frame: pl.DataFrame) -> bool:
    """Whether some row of the file ends in an empty cell."""
    for (cells,), group in frame.filter(pl.col("cells") > 1).group_by("cells"):
        last = str(cells)
        if last not in frame.columns or group[last].null_count():
            return True
    return False
