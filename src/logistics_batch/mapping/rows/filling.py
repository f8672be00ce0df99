"""Blank cells that take the value above: under merged cells, in columns that are filled down, and "as above" marks."""

from collections.abc import Collection, Mapping
from typing import Final

import polars as pl

from logistics_batch.mapping.loaded import Mapping as LoadedMapping
from logistics_batch.mapping.rows.cells import DAMAGE_SCHEMA, ColumnKind, Damage, name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.model.sheet import Sheet

_DITTO: Final = "ditto:"
_MARKS: Final = ("〃", '"', "''", "-do-", "-Do-", "-DO-", "- do -", "- Do -", "ditto", "Ditto", "DITTO", "-〃-", '-"-')


HIDDEN: Final = "hidden row.skipped"
_MAY_BE_DATA: Final = pl.col("code").is_null() | (pl.col("code") == HIDDEN)


def fill_down(mapping: LoadedMapping, sheet: Sheet, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """Blank cells of the declared columns take the value above, from a filled key to the next different one.

    A skipped row ends the block, but a hidden one: what follows it may be its continuation. Values of merged cells go
    before. marked: with `code`, null where a row is data.
    """
    under: dict[str, pl.DataFrame] = {}
    for column in header.numbers(mapping, [*mapping.spec.key, *mapping.spec.sheet.fill_down]):
        name = name_of(column)
        under[name] = _under_merged(sheet, header, column, marked)
        if not under[name].is_empty():
            text = pl.when(_MAY_BE_DATA).then(pl.coalesce(name, "under")).otherwise(name).alias(name)
            marked = marked.join(under[name], on="row", how="left", maintain_order="left")
            marked = marked.with_columns(text).drop("under")
    filling = [name_of(column) for column in header.numbers(mapping, mapping.spec.sheet.fill_down)]
    keys = [name_of(column) for column in header.numbers(mapping, mapping.spec.key)]
    if not filling or not keys:
        return marked
    segment = (~_MAY_BE_DATA).cum_sum()
    sources = [pl.when(_MAY_BE_DATA).then(pl.col(name)).alias(name) for name in dict.fromkeys([*keys, *filling])]
    staged = marked.with_columns(segment.alias("segment"), *sources)
    staged = staged.with_columns(_filled(key, "segment").shift(1).alias(f"before:{key}") for key in keys)
    same_segment = pl.col("segment") == pl.col("segment").shift(1)
    before = {key: pl.when(same_segment).then(pl.col(f"before:{key}")) for key in keys}
    differs = pl.any_horizontal(pl.col(key).ne(before[key]).fill_null(value=False) for key in keys)
    begins = pl.any_horizontal(pl.col(key).is_not_null() for key in keys) & pl.all_horizontal(
        before[key].is_null() for key in keys
    )
    block = (differs | begins | ~same_segment.fill_null(value=False)).cum_sum()
    staged = staged.with_columns(block.alias("block"))
    own = {name: pl.col(name).is_not_null() & ~pl.col("row").is_in(under[name]["row"].implode()) for name in filling}
    return staged.with_columns(
        *(expression.alias(f"own:{name}") for name, expression in own.items()),
        *(_filled(name, "block").alias(name) for name in filling),
    )


def _filled(name: str, block: str) -> pl.Expr:
    """A column with its blanks filled from above, as long as the block is the same."""
    origin = pl.when(pl.col(name).is_not_null()).then(pl.col(block)).forward_fill()
    return pl.when(origin == pl.col(block)).then(pl.col(name).forward_fill())


def _under_merged(sheet: Sheet, header: Header, column: int, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows in which a column is blank under a merged cell below the header, with the value of that: row, under."""
    spans = [
        (top, bottom) for top, left, bottom, _ in sheet.merged_ranges if left == column and bottom > top > header.row
    ]
    if not spans:
        return pl.DataFrame(schema={"row": pl.UInt32, "under": pl.String})
    ends = pl.DataFrame(spans, schema={"top": marked.schema["row"], "bottom": pl.UInt32}, orient="row")
    cells = marked.select("row", pl.col(name_of(column)).alias("cell"))
    within = cells.join_asof(ends, left_on="row", right_on="top").filter(pl.col("row") <= pl.col("bottom"))
    valued = within.with_columns(pl.col("cell").first().over("top").alias("under"))
    return valued.filter(pl.col("cell").is_null()).select("row", "under").drop_nulls()


def without_dittos(frame: pl.DataFrame, uses: Mapping[int, ColumnKind], filled: Collection[int]) -> pl.DataFrame:
    """The cells with null for each "as above" mark; `ditto:c1` says where c1 bears one, if it does anywhere.

    filled: columns that are filled down. Elsewhere a mark in a column of numbers is none, which is said of it anyway.
    """
    numbers = (ColumnKind.NUMBER, ColumnKind.DIGITS)
    columns = [name_of(each) for each, use in uses.items() if each in filled or use not in numbers]
    is_mark = {name: pl.col(name).is_in(_MARKS) for name in columns if frame[name].is_in(_MARKS).any()}
    masks = [mask.fill_null(value=False).alias(f"{_DITTO}{name}") for name, mask in is_mark.items()]
    return frame.with_columns(*masks, *(pl.when(~mask).then(name).alias(name) for name, mask in is_mark.items()))


def as_above(filled: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows in which each mark takes what stands above it, also in a row of another document; and the marks that
    have nothing above them to stand for, as DAMAGE_SCHEMA.

    Nothing is taken over a row that is no data. filled: with `code`, null where a row is data; only columns that are
    filled down have `own:`.
    """
    damage = [pl.DataFrame(schema=DAMAGE_SCHEMA)]
    for mark in [name for name in filled.columns if name.startswith(_DITTO)]:
        name = mark.removeprefix(_DITTO)
        if f"own:{name}" in filled.columns:
            is_mark = pl.col(mark) & pl.col(name).is_null() & pl.col("code").is_null()
            above = pl.col(name).first().over((~is_mark).cum_sum())
            filled = filled.with_columns(pl.when(is_mark).then(above).otherwise(pl.col(name)).alias(name))
        column, kind = pl.lit(int(name[1:])).alias("column"), pl.lit(Damage.DITTO.value).alias("damage")
        left = filled.filter(pl.col(mark) & pl.col(name).is_null())
        damage.append(left.select("row", column, kind).cast(DAMAGE_SCHEMA))
    return filled, pl.concat(damage)
