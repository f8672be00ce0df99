"""Cells that say "as above": they take that where the column is filled down, and elsewhere are no value to be sent."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping.rows.cells import ColumnKind, Damage, name_of

_MARKS: Final = ("〃", '"', "''", "-do-", "-Do-", "-DO-", "- do -", "- Do -", "ditto", "Ditto", "DITTO", "-〃-", '-"-')
_FOUND: Final = {"row": pl.UInt32, "column": pl.UInt16, "damage": pl.String}


def without_dittos(
    frame: pl.DataFrame, uses: Mapping[int, ColumnKind], filled: Collection[int | None]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells with null for each mark, and where the marks stand: row, column, damage.

    filled: columns that are filled down. Elsewhere a mark in a column of numbers is none, which is said of it anyway.
    """
    numbers = [
        each for each, use in uses.items() if each in filled or use not in (ColumnKind.NUMBER, ColumnKind.DIGITS)
    ]
    texts = {number: name_of(number) for number in numbers if name_of(number) in frame.columns}
    bears = frame.select(pl.col(*texts.values()).is_in(_MARKS).any()).row(0, named=True) if texts else {}
    texts = {number: name for number, name in texts.items() if bears[name]}
    is_mark = {name: frame[name].is_in(_MARKS).fill_null(value=False) for name in texts.values()}
    found = [
        frame.filter(is_mark[name]).select("row", pl.lit(number).alias("column"), pl.lit(Damage.DITTO).alias("damage"))
        for number, name in texts.items()
    ]
    if not found:
        return frame, pl.DataFrame(schema=_FOUND)
    bare = frame.with_columns(pl.when(~is_mark[name]).then(pl.col(name)).alias(name) for name in texts.values())
    return bare, pl.concat([each.cast(_FOUND) for each in found])  # type: ignore[arg-type]


def as_above(dittos: pl.DataFrame, filled: pl.DataFrame) -> pl.DataFrame:
    """The rows, filled down, in which each mark takes what stands above it, also in a row of another document.

    Nothing is taken over a row that is no data. filled: with `rule`, null where a row is data, and `own:` columns.
    """
    for (column,), rows in dittos.group_by("column", maintain_order=True):
        name = name_of(int(str(column)))
        if f"own:{name}" not in filled.columns:
            continue
        is_mark = pl.col("row").is_in(rows["row"].implode()) & pl.col(name).is_null() & pl.col("rule").is_null()
        above = pl.col(name).first().over((~is_mark).cum_sum())
        filled = filled.with_columns(pl.when(is_mark).then(above).otherwise(pl.col(name)).alias(name))
    return filled


def unfilled(dittos: pl.DataFrame, filled: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The marks that have nothing above them to stand for. columns: those that are filled down."""
    if dittos.is_empty():
        return dittos
    taken = [
        filled.filter(pl.col(name).is_not_null()).select("row", pl.lit(int(name[1:]), dtype=pl.UInt16).alias("column"))
        for name in columns
    ]
    return dittos.join(pl.concat(taken), on=["row", "column"], how="anti", maintain_order="left") if taken else dittos
