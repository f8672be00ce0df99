"""The service's ASNs of two nights, held against each other value by value: headers and SKU lines."""

import polars as pl

from logistics_batch.model.reconciliation import PRICE
from logistics_batch.reconciliation.legs import HEADER_FIELDS, Legs, identifier, price

VALUES_COMPARED: dict[str, pl.DataType] = {
    "record_id": pl.String(),
    "invoice_number": pl.String(),
    "sku_name": pl.String(),  # "" where the value is of the ASN as a whole
    "field": pl.String(),  # in the service's words
    "first": pl.String(),
    "second": pl.String(),
}

_HEADER = ("status", *HEADER_FIELDS, "total_price", "tax")
_REQUESTED = "qty_received (= requested, API §2.1)"
_LINE = {"qty": "qty", "price": "price_per_qty", "mrp": "maximum_retail_price", "qty_requested": _REQUESTED}
_LINE_ITSELF = "SKU line"
_WHERE = ("who", "sku", "nth", "field")


def named_notices(legs: Legs) -> pl.DataFrame:
    """The service's ASNs, each once, with `who`: the id, or invoice number and supplier where replies have no id."""
    named = legs.returned_notices.with_columns(pl.col("record_id").fill_null(""))
    nameless = pl.concat_str(identifier("invoice_number"), pl.lit("|"), identifier("supplier_name"))
    who = pl.when(pl.col("record_id") != "").then("record_id").otherwise(nameless)
    return named.with_columns(who.alias("who")).unique("who", keep="first", maintain_order=True)


def changed_values(first: Legs, second: Legs) -> pl.DataFrame:
    """VALUES_COMPARED and `who`: what differs in the ASNs that both nights have.

    A number differs only in its value, not in how it is written. A SKU line that one night lacks has only its quantity.
    """
    before, after = named_notices(first), named_notices(second)
    both = before.select("who").join(after.select("who"), on="who", how="semi")
    then, now = (
        pl.concat([_header_values(notices), _line_values(notices, legs)]).join(both, on="who", how="semi")
        for notices, legs in ((before, first), (after, second))
    )
    together = then.join(now, on=list(_WHERE), how="full", coalesce=True, suffix="_second")
    told = together.with_columns(
        *(pl.coalesce(name, f"{name}_second").alias(name) for name in ("record_id", "invoice_number", "sku_name")),
        pl.col("value").fill_null("").alias("first"),
        pl.col("value_second").fill_null("").alias("second"),
    )
    differing = told.filter(pl.col("first") != pl.col("second"))
    return differing.sort("invoice_number", *_WHERE).select("who", *VALUES_COMPARED)


def _header_values(notices: pl.DataFrame) -> pl.DataFrame:
    values = notices.select("who", "record_id", "invoice_number", *(_plain(name) for name in _HEADER))
    unpivoted = values.unpivot(
        list(_HEADER), index=["who", "record_id", "invoice_number"], variable_name="field", value_name="value"
    )
    nothing = (pl.lit("").alias("sku_name"), pl.lit("").alias("sku"), pl.lit(0, pl.Int64).alias("nth"))
    return unpivoted.with_columns(*nothing).select(*_COLUMNS)


def _line_values(notices: pl.DataFrame, legs: Legs) -> pl.DataFrame:
    """Lines are known by their SKU; of several with one SKU the smallest is held against the smallest."""
    lines = legs.returned_lines.join(notices.select("notice", "who", "record_id", "invoice_number"), on="notice")
    sorted_lines = lines.with_columns(identifier("sku_name").alias("sku")).sort(
        "who", "sku", price("qty"), price("price"), price("mrp"), nulls_last=True
    )
    numbered = sorted_lines.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("who", "sku").alias("nth"))
    values = numbered.with_columns(
        *(_plain(name).alias(word) for name, word in _LINE.items()), pl.lit("there").alias(_LINE_ITSELF)
    )
    return values.unpivot(
        [*_LINE.values(), _LINE_ITSELF],
        index=["who", "record_id", "invoice_number", "sku_name", "sku", "nth"],
        variable_name="field",
        value_name="value",
    ).select(*_COLUMNS)


_COLUMNS = ("record_id", "invoice_number", "sku_name", *_WHERE, "value")


def _plain(name: str) -> pl.Expr:
    """A text for comparing: a number as such, whatever zeros it was written with."""
    text = pl.col(name).fill_null("").str.strip_chars()
    number = price(name).cast(PRICE).cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    return pl.coalesce(number, text).alias(name)
