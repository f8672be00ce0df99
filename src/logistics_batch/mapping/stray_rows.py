"""Rows of goods without a key where blank keys are filled down: what parts them from those above may be a page end."""

import polars as pl

from logistics_batch.mapping.cells import name_of
from logistics_batch.mapping.table import Table


def stray_rows(table: Table) -> pl.DataFrame:
    """The rows, with the document above each (doc, row), of which nobody can tell whether they are a line of that.

    Such a row has all that a line needs, and nothing in the columns that are filled down but what rules ask of each
    row: it begins nothing of its own. Without it the document above may be half of what is meant.
    """
    none = pl.DataFrame(schema={"doc": pl.UInt32, "row": pl.UInt32})
    mapping, form = table.mapping, table.mapping.spec.sheet
    filled, keys, asked = (
        {table.bound.column(mapping.names_of(name)) for name in names} - {None}
        for names in (form.fill_down, mapping.spec.key, (*form.skip_rows_where, *form.only_rows_where))
    )
    goods = {each.column for each in table.line if mapping.is_required(each.place) and each.column is not None}
    if table.keyless.is_empty() or not goods or not keys <= filled:
        return none
    blank = [pl.col(name_of(column)).is_null() for column in filled - (asked - keys) if column is not None]
    there = [pl.col(name_of(column)).is_not_null() for column in goods]
    strays = table.keyless.filter(*blank, *there).select("row")
    placed = table.grouped.lines.select("row", "doc").sort("row")
    return strays.join_asof(placed, on="row").drop_nulls("doc").select("doc", "row")
