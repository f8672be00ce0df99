"""Rows of goods without a key: nobody can tell whether they are a line of the document above."""

from collections.abc import Iterable

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.rows.cells import BLANKS, name_of


def stray_rows(table: CompiledSheet) -> pl.DataFrame:
    """The rows, with the document above each (doc, row), of which nobody can tell whether they are a line of that.

    Such a row has all that a line needs, and says nothing else of the document than the row above: blank, or the same.
    The document may be half of what is meant without it. One that says something else has lost a key of its own.
    """
    none = pl.DataFrame(schema={"doc": pl.UInt32, "row": pl.UInt32})
    mapping, form = table.mapping, table.mapping.spec.sheet
    goods = {each.column for each in table.line if mapping.is_required(each.place) and each.column is not None}
    if table.keyless.is_empty() or not goods:
        return none
    filled, keys, asked = (
        set(table.columns(names))
        for names in (form.fill_down, mapping.spec.key, (*form.skip_rows_where, *form.only_rows_where))
    )
    header = {each.column for each in table.header if each.spec.source != "sum"}  # a sum is over what lines say
    said = (header | filled) - {None} - keys - asked - goods
    names = [name_of(column) for column in sorted(filter(None, said)) if name_of(column) in table.keyless.columns]
    rows = table.keyless.filter(pl.col(name_of(column)).is_not_null() for column in goods).select("row", *names)
    rows = rows.join(_with_a_key(table, keys), on="row", how="anti", maintain_order="left")
    lines = table.grouped.lines.select("row", "doc", *names).sort("row")
    other = [pl.col(name).is_not_null() & pl.col(name).ne_missing(pl.col(f"{name}_right")) for name in names]
    has_own_key = pl.any_horizontal(other) if other else pl.lit(value=False)
    own = rows.join_asof(lines, on="row").filter(has_own_key).select("row")
    placed = pl.concat([lines.select("row", "doc"), own.with_columns(pl.lit(None, pl.UInt32).alias("doc"))]).sort("row")
    strays = rows.join(own, on="row", how="anti", maintain_order="left").select("row")
    return strays.join_asof(placed, on="row").drop_nulls("doc").select("doc", "row")


def _with_a_key(table: CompiledSheet, keys: Iterable[int | None]) -> pl.DataFrame:
    """The rows without a key in whose cell something stands that could not be read: it is a key of their own."""
    written = [pl.col(str(column)).str.strip_chars(BLANKS).fill_null("") != "" for column in keys]
    return (
        table.sheet.frame.filter(pl.col("row").is_in(table.keyless["row"].implode()))
        .filter(pl.any_horizontal(written) if written else pl.lit(value=False))
        .select("row")
    )
