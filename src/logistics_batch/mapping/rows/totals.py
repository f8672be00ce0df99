"""Rows of totals: called so in place of a key, or in place of goods where they would be lines of the document above."""

from collections.abc import Sequence
from datetime import date
from itertools import chain
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.numbers import plain_number
from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.spec.words import SUBTOTAL, TOTAL, TOTAL_ALONE, TOTAL_KEY

A_TOTAL: Final = (  # and nothing more: "Total Whitening" is a toothpaste
    r"(?i)^(?:(?:(?:grand|sub|page|net|running|invoice|bill|order)?[\s\-]*totals?"
    r"\s*(?:(?:qty|quantity|amount|value|items?|pcs|pieces|units)\b)?)"
    r"|sum|nett?|[cb]/f|(?:carried|brought) forward|\x{3a3})[\s:.=]*$"
)
_QUANTITIES: Final = ("item_quantity", "qty", "quantity")


def is_called_total(
    keys: Sequence[pl.Expr], cells: Sequence[str], goods: Sequence[int], *, body: pl.DataFrame
) -> pl.Expr:
    """Whether a row that lacks what data needs is called a total.

    The word stands in the row's first cell or in place of its key, there also behind the key of other rows, as
    spreadsheet programs write subtotals: "INV-7 Total". A row whose key is filled with anything but the word stays
    data: "Total Gas Agency" is a customer. goods: columns in which, where blank keys are filled down, "Total Whitening"
    is a toothpaste. body: all rows of the sheet.
    """
    subtotals = [key.str.extract(SUBTOTAL).is_in(body[key.meta.output_name()].implode()) for key in keys]
    keyless = [key.is_null() | key.str.contains(TOTAL_KEY) | of for key, of in zip(keys, subtotals, strict=True)]
    named_as_key = [key.str.contains(TOTAL_ALONE) | of for key, of in zip(keys, subtotals, strict=True)]
    first = pl.coalesce(cells)
    names_goods = pl.any_horizontal(pl.lit(value=False), *(pl.col(name_of(column)) == first for column in goods))
    named = pl.when(names_goods).then(first.str.contains(TOTAL_ALONE)).otherwise(first.str.contains(TOTAL))
    return pl.all_horizontal(pl.any_horizontal(named, *named_as_key).fill_null(value=False), *keyless)


def totals_as_goods(mapping: Mapping, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows (row, code, values) without a key that say a total in place of goods and are the sum of those above.

    marked: the cleaned rows with `code`, null where a row is data.
    """
    keys = keys_filled_down(mapping, header)
    lines, none = mapping.spec.lines.items(), marked.select("row", "code", "values").clear()
    of_goods = (field.columns for place, field in lines if form_of(place, mapping.operation) is FieldForm.GOODS)
    goods = [name_of(column) for column in header.bound(chain.from_iterable(of_goods))]
    quantity = header.bound(names for place, field in lines if place in _QUANTITIES for names in field.columns)
    if not keys or not goods or not quantity:
        return none
    keyless = pl.all_horizontal(pl.col(key).is_null() for key in keys)
    called = pl.any_horizontal(pl.col(name).str.contains(A_TOTAL) for name in goods).fill_null(value=False)
    data = marked.filter(pl.col("code").is_null())
    if not data.select((keyless & called).any()).item():
        return none
    around = ReadContext(RunValues("", date.min, ""), decimal=mapping.spec.sheet.decimal)
    number = plain_number(pl.col(name_of(quantity[0])), around).cast(pl.Decimal(38, 6), strict=False)
    data = data.with_columns(
        number.alias("number"), (keyless & called).alias("total"), (~keyless).cum_sum().alias("of")
    )
    counted = pl.when(~pl.col("total")).then(pl.col("number")).fill_null(0)
    data = data.with_columns(counted.cum_sum().alias("above"), counted.cum_sum().over("of").alias("here"))
    is_sum = pl.col("number").is_null() | (pl.col("number") == pl.col("above")) | (pl.col("number") == pl.col("here"))
    return data.filter("total", is_sum).select("row", pl.lit("total").alias("code"), pl.lit("").alias("values"))


def keys_filled_down(mapping: Mapping, header: Header) -> list[str]:
    """The key columns, if all of them are filled down."""
    keys, filled = (header.numbers(mapping, names) for names in (mapping.spec.key, mapping.spec.sheet.fill_down))
    return [name_of(key) for key in keys] if set(keys) <= set(filled) else []
