"""ASNs that name several purchase orders: which of their pieces are for which order nobody can say."""

import polars as pl

from logistics_batch.reconciliation.doubt_words import plain
from logistics_batch.reconciliation.legs import Legs, identifier

_KEYS = ["link", "sku"]


def with_shared_asns(whole: pl.DataFrame, legs: Legs, orders: pl.DataFrame) -> pl.DataFrame:
    """The order lines with `shared`: the accepted ASNs that have the SKU and name this order among others, in words."""
    named = legs.announced_notices.filter(pl.col("accepted").fill_null(False) & (pl.col("po_several") != ""))
    bases = named.select(
        "notice", "invoice_number", "po_several", pl.col("po_several").str.split(", ").alias("number")
    ).explode("number")
    links = orders.select("base", "link").unique()
    theirs = bases.with_columns(pl.concat_str(pl.lit("po:"), "number").alias("base")).join(links, on="base")
    lines = legs.announced_lines.with_columns(identifier("sku_name").alias("sku"))
    each = theirs.join(lines, on="notice").group_by(*_KEYS, "invoice_number", "po_several").agg(pl.col("units").sum())
    words = pl.format("ASN {} with {} names purchase orders {}", "invoice_number", plain("units"), "po_several")
    told = each.sort("invoice_number").group_by(_KEYS).agg(words.str.join("; ").alias("shared"))
    return whole.join(told, on=_KEYS, how="left", maintain_order="left")
