"""Differences that cancel out: as much too little here as there is too much there, probably one mistake and not two."""

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.legs import identifier, spelling

_D = Discrepancy
_LESS = (_D.MISSING_IN_SERVICE, _D.MISSING_SKU, _D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED, _D.SHORT)
_MORE = (_D.UNEXPECTED_IN_SERVICE, _D.NO_ASN, _D.EXTRA_SKU, _D.OVER)
# A SKU that does not belong on the ASN at all: somebody else's goods may well have been booked there.
_STRANGE = (_D.UNEXPECTED_IN_SERVICE, _D.NO_ASN, _D.EXTRA_SKU)
_WORDS = {
    "spelled": ' {} {} of it on this invoice number under supplier "{}": the same one, spelled otherwise?',
    "elsewhere": " {} {} of it on invoice {}: booked on the wrong ASN?",
    "beside": ' {} {} of SKU "{}" on the same invoice: counted as the wrong SKU?',
}


def with_pairs(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with `pair_id` and, in the reason, what stands against it.

    First goods that came on the very invoice under another spelling, then one SKU on two notices of a site, the same
    supplier's before all others, then two SKUs of one notice, then one SKU on notices of different sites; only pairs
    that leave no choice, and of different suppliers only where the SKU does not belong on one of the notices.
    Needs `exception_id`, `code`, `qty_delta`, `reason`, `notice`, `party` and the names that people see.
    """
    usable = (pl.col("qty_delta") != 0) & pl.col("code").is_in([code.value for code in (*_LESS, *_MORE)])
    open_lines = lines.filter(usable).select(
        "exception_id",
        "code",
        "invoice_number",
        "supplier",
        "sku_name",
        "notice",
        identifier("invoice_number").alias("invoice"),
        identifier("sku_name").alias("sku"),
        spelling("site").alias("place"),
        pl.col("party").fill_null("").alias("party"),
        pl.col("qty_delta").abs().alias("size"),
        (pl.col("qty_delta") < 0).alias("less"),
    )
    named = pl.col("sku") != ""
    stray = pl.col("less") | (pl.col("code") == _D.NO_ASN.value)
    on_invoice = open_lines.filter(named & stray & (pl.col("invoice") != ""))
    found = [_paired(on_invoice, keys=["invoice", "sku", "size"], kind="spelled")]
    alone = _without(open_lines.filter(named), found)
    found.append(_paired(alone, keys=["sku", "place", "size", "party"], kind="elsewhere"))
    found.append(_paired(_without(open_lines.filter(named), found), keys=["sku", "place", "size"], kind="elsewhere"))
    alone = _without(open_lines.filter(pl.col("notice").is_not_null()), found)
    found.append(_paired(alone, keys=["notice", "size"], kind="beside"))
    found.append(_paired(_without(open_lines.filter(named), found), keys=["sku", "size"], kind="elsewhere"))
    pairs = pl.concat(found)
    joined = lines.drop("pair_id", strict=False).join(pairs, on="exception_id", how="left", maintain_order="left")
    return joined.with_columns(
        pl.col("pair_id").fill_null(""), pl.concat_str("reason", pl.col("pair_words").fill_null(""))
    ).drop("pair_words")


def _without(lines: pl.DataFrame, pairs: list[pl.DataFrame]) -> pl.DataFrame:
    return lines.join(pl.concat(pairs), on="exception_id", how="anti", maintain_order="left")


def _paired(lines: pl.DataFrame, *, keys: list[str], kind: str) -> pl.DataFrame:
    """`exception_id`, `pair_id` and `pair_words` of both lines of each pair."""
    alone = pl.len().over(*keys, "less") == 1
    sides = lines.filter(alone)
    less, more = sides.filter(pl.col("less")), sides.filter(~pl.col("less"))
    both = (less.join(more, on=keys, suffix="_other"), more.join(less, on=keys, suffix="_other"))
    names = {"elsewhere": "invoice_number_other", "beside": "sku_name_other", "spelled": "supplier_other"}
    either = pl.concat(
        [pair if "party_other" in pair.columns else pair.with_columns(party_other="party") for pair in both]
    )
    size = pl.col("size").cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    direction = pl.when(pl.col("less")).then(pl.lit("more")).otherwise(pl.lit("fewer"))
    return either.filter(_may_belong_together()).select(
        "exception_id",
        pl.col("exception_id_other").alias("pair_id"),
        pl.format(_WORDS[kind], size, direction, pl.col(names[kind])).alias("pair_words"),
    )


def _may_belong_together() -> pl.Expr:
    """A line shows no supplier or a strange SKU, or both lines share a supplier's id or name."""
    ours, others = (pl.col(name).str.split("|") for name in ("party", "party_other"))
    unknown = (pl.col("party") == "") | (pl.col("party_other") == "")
    strange = pl.any_horizontal(pl.col("code", "code_other").is_in([code.value for code in _STRANGE]))
    return unknown | strange | (ours.list.set_intersection(others).list.len() > 0)
