"""Totals whose word stands in the place of goods, in rows that would be lines of the document above."""

from datetime import date
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.numbers import plain_number
from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.targets import Form, form_of

A_TOTAL: Final = (  # and nothing more: "Total Whitening" is a toothpaste
    r"(?i)^(?:(?:(?:grand|sub|page|net|running|invoice|bill|order)?[\s\-]*totals?"
    r"\s*(?:(?:qty|quantity|amount|value|items?|pcs|pieces|units)\b)?)"
    r"|sum|nett?|[cb]/f|(?:carried|brought) forward|\x{3a3})[\s:.=]*$"
)
_QUANTITIES: Final = ("item_quantity", "qty", "quantity")


def totals_as_goods(mapping: Mapping, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows (row, rule, reason) without a key that say a total in place of goods and are the sum of those above.

    marked: the cleaned rows with `rule`, null where a row is data.
    """
    keys = keys_filled_down(mapping, header)
    goods, quantity = _columns(mapping, header, goods=True), _columns(mapping, header, goods=False)[:1]
    if not keys or not goods or not quantity:
        return _none(marked)
    keyless = pl.all_horizontal(pl.col(key).is_null() for key in keys)
    called = pl.any_horizontal(pl.col(name).str.contains(A_TOTAL) for name in goods).fill_null(value=False)
    data = marked.filter(pl.col("rule").is_null())
    if not data.select((keyless & called).any()).item():
        return _none(marked)
    around = ReadContext(date.min, "", decimal=mapping.spec.sheet.decimal)
    number = plain_number(pl.col(quantity[0]), around).cast(pl.Decimal(38, 6), strict=False)
    data = data.with_columns(
        number.alias("number"), (keyless & called).alias("total"), (~keyless).cum_sum().alias("of")
    )
    counted = pl.when(~pl.col("total")).then(pl.col("number")).fill_null(0)
    data = data.with_columns(counted.cum_sum().alias("above"), counted.cum_sum().over("of").alias("here"))
    is_sum = pl.col("number").is_null() | (pl.col("number") == pl.col("above")) | (pl.col("number") == pl.col("here"))
    found = data.filter("total", is_sum)
    reason = pl.lit("The row holds a total.").alias("reason")
    return found.select("row", pl.lit("total").alias("rule"), reason)


def keys_filled_down(mapping: Mapping, header: Header) -> list[str]:
    """The key columns, if all of them are filled down."""
    keys, filled = (
        [header.column(mapping.names_of(name)) for name in names]
        for names in (mapping.spec.key, mapping.spec.sheet.fill_down)
    )
    return [name_of(key) for key in keys if key is not None] if set(keys) <= set(filled) - {None} else []


def _columns(mapping: Mapping, header: Header, *, goods: bool) -> list[str]:
    """The columns of goods, or of their quantities."""
    found = [
        header.column(names)
        for place, field in mapping.spec.lines.items()
        for names in field.columns
        if (form_of(place, mapping.operation) is Form.GOODS if goods else place in _QUANTITIES)
    ]
    return [name_of(column) for column in found if column is not None]


def _none(marked: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(schema={"row": marked.schema["row"], "rule": pl.String, "reason": pl.String})
