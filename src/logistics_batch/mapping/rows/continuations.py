"""Further rows of a document that a rule leaves out, where what it asks for stands on the first row only."""

from collections.abc import Iterable

import polars as pl

from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header

_LEFT_OUT = ("skip_rows_where", "only_rows_where")


def continuations(mapping: Mapping, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows, with rule and reason, that go with a row which a rule on a filled-down column leaves out.

    They follow it without a gap, have the same key or none, and are blank in that column: filled down, they would be
    left out, too. marked: rows with their cells and their own `rule`, null where a row is data.
    """
    form = mapping.spec.sheet
    filled = _columns(mapping, header, form.fill_down)
    asked = _columns(mapping, header, (*form.skip_rows_where, *form.only_rows_where))
    keys = _columns(mapping, header, mapping.spec.key)
    once = sorted((asked & filled) - keys)
    cells = [pl.col(name_of(key)) for key in sorted(keys)]
    if not once or not cells:
        return marked.select("row", "rule", "reason").clear()
    is_blank = pl.all_horizontal(pl.col(name_of(column)).is_null() for column in once)
    same_key = pl.all_horizontal(cell.is_null() | (cell == cell.forward_fill().shift(1)) for cell in cells)
    leads = pl.col("rule").is_in(_LEFT_OUT).fill_null(value=False) & ~is_blank
    leads &= pl.any_horizontal(cell.is_not_null() for cell in cells)
    follows = pl.col("rule").is_null() & is_blank & same_key.fill_null(value=False)
    told = marked.select("row", "rule", follows.alias("follows"), leads.alias("leads"))
    told = told.with_columns((~pl.col("follows")).cum_sum().alias("block"))
    of_block = [pl.col(name).first().over("block").alias(f"first:{name}") for name in ("row", "rule", "leads")]
    told = told.with_columns(of_block).filter("follows", "first:leads")
    reason = pl.format("It belongs to row {}, which the mapping leaves out.", "first:row")
    return told.select("row", pl.col("first:rule").alias("rule"), reason.alias("reason"))


def _columns(mapping: Mapping, header: Header, names: Iterable[str]) -> set[int]:
    return {column for name in names if (column := header.column(mapping.names_of(name))) is not None}
