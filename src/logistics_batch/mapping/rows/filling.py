"""Blank cells that take the value above: under merged cells, in columns that are filled down, and "as above" marks."""

from collections.abc import Collection, Mapping
from typing import Final

import polars as pl

from logistics_batch.mapping.loaded import Mapping as LoadedMapping
from logistics_batch.mapping.rows.cells import DAMAGE_SCHEMA, ColumnKind, Damage, name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.model.sheet import Sheet

_MARKS: Final = ("〃", '"', "''", "-do-", "-Do-", "-DO-", "- do -", "- Do -", "ditto", "Ditto", "DITTO", "-〃-", '-"-')


def fill_down(
    mapping: LoadedMapping, sheet: Sheet, header: Header, marked: pl.DataFrame, *, may_be_data: pl.Expr
) -> pl.DataFrame:
    """Blank cells of the declared columns take the value above, from a filled key to the next different one.

    A skipped row ends the block, but a hidden one: what follows it may be its continuation. Values of merged cells go
    before. may_be_data: whether a row is data or hidden.
    """
    spread = _merged_values(mapping, sheet, header, marked)
    for name, texts in spread.items():
        text = pl.col("row").replace_strict(list(texts), list(texts.values()), default=None, return_dtype=pl.String)
        marked = marked.with_columns(pl.when(may_be_data).then(pl.coalesce(name, text)).otherwise(name).alias(name))
    filling = [name_of(column) for column in header.numbers(mapping, mapping.spec.sheet.fill_down)]
    keys = [name_of(column) for column in header.numbers(mapping, mapping.spec.key)]
    if not filling or not keys:
        return marked
    segment = (~may_be_data).cum_sum()
    sources = [pl.when(may_be_data).then(pl.col(name)).alias(name) for name in dict.fromkeys([*keys, *filling])]
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
    own = {name: pl.col(name).is_not_null() & ~pl.col("row").is_in(list(spread.get(name, ()))) for name in filling}
    return staged.with_columns(
        *(expression.alias(f"own:{name}") for name, expression in own.items()),
        *(_filled(name, "block").alias(name) for name in filling),
    )


def _filled(name: str, block: str) -> pl.Expr:
    """A column with its blanks filled from above, as long as the block is the same."""
    origin = pl.when(pl.col(name).is_not_null()).then(pl.col(block)).forward_fill()
    return pl.when(origin == pl.col(block)).then(pl.col(name).forward_fill())


def _merged_values(
    mapping: LoadedMapping, sheet: Sheet, header: Header, marked: pl.DataFrame
) -> dict[str, dict[int, str]]:
    """For key and filled-down columns the values that blank cells get, by row: they lie under a merged cell."""
    wanted = header.numbers(mapping, [*mapping.spec.key, *mapping.spec.sheet.fill_down])
    found: dict[str, dict[int, str]] = {}
    for first_row, column, last_row, _ in sheet.merged_ranges:
        if column in wanted and last_row > first_row > header.row:
            cells = marked.filter(pl.col("row").is_between(first_row, last_row)).select("row", name_of(column))
            (_, value), *below = [*cells.iter_rows()] or [(0, None)]
            if value is not None:
                blank = [row for row, text in below if text is None]
                found.setdefault(name_of(column), {}).update(dict.fromkeys(blank, value))
    return {name: texts for name, texts in found.items() if texts}


def without_dittos(
    frame: pl.DataFrame, uses: Mapping[int, ColumnKind], filled: Collection[int]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells with null for each "as above" mark, and where the marks stand, as DAMAGE_SCHEMA.

    filled: columns that are filled down. Elsewhere a mark in a column of numbers is none, which is said of it anyway.
    """
    numbers = (ColumnKind.NUMBER, ColumnKind.DIGITS)
    columns = [each for each, use in uses.items() if each in filled or use not in numbers]
    is_mark = {name_of(column): pl.col(name_of(column)).is_in(_MARKS).fill_null(value=False) for column in columns}
    bears = frame.select(mask.any().alias(name) for name, mask in is_mark.items()).row(0, named=True) if is_mark else {}
    marks = {name: mask for name, mask in is_mark.items() if bears[name]}
    found = [
        frame.filter(mask).select(
            "row", pl.lit(int(name[1:])).alias("column"), pl.lit(Damage.DITTO.value).alias("damage")
        )
        for name, mask in marks.items()
    ]
    bare = frame.with_columns(pl.when(~mask).then(name).alias(name) for name, mask in marks.items())
    none = pl.DataFrame(schema=DAMAGE_SCHEMA)
    return bare, pl.concat([none, *(each.cast(DAMAGE_SCHEMA) for each in found)])


def as_above(dittos: pl.DataFrame, filled: pl.DataFrame) -> pl.DataFrame:
    """The rows, filled down, in which each mark takes what stands above it, also in a row of another document.

    Nothing is taken over a row that is no data. filled: with `code`, null where a row is data, and `own:` columns.
    """
    for (column,), rows in dittos.group_by("column", maintain_order=True):
        name = name_of(int(str(column)))
        if f"own:{name}" in filled.columns:
            is_mark = pl.col("row").is_in(rows["row"].implode()) & pl.col(name).is_null() & pl.col("code").is_null()
            above = pl.col(name).first().over((~is_mark).cum_sum())
            filled = filled.with_columns(pl.when(is_mark).then(above).otherwise(pl.col(name)).alias(name))
    return filled


def unfilled(dittos: pl.DataFrame, filled: pl.DataFrame) -> pl.DataFrame:
    """The marks that have nothing above them to stand for."""
    if dittos.is_empty():
        return dittos
    names = [name.removeprefix("own:") for name in filled.columns if name.startswith("own:")]
    taken = [
        filled.filter(pl.col(name).is_not_null()).select("row", pl.lit(int(name[1:]), dtype=pl.UInt16).alias("column"))
        for name in names
    ]
    return dittos.join(pl.concat(taken), on=["row", "column"], how="anti", maintain_order="left") if taken else dittos
