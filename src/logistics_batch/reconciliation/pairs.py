"""Lines that point to each other: differences that cancel out, and rows not sent whose goods came all the same.

As much too little here as there is too much there is probably one mistake and not two.
"""

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.legs.reading import identifier, spelling
from logistics_batch.reconciliation.sentences import sentence

_D = Discrepancy
# A SKU that does not belong on the ASN at all: somebody else's goods may well have been booked there.
_STRANGE = (_D.UNEXPECTED_IN_SERVICE, _D.NO_ASN, _D.EXTRA_SKU)
_PAIRED = (
    *(_D.MISSING_IN_SERVICE, _D.MISSING_SKU, _D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED, _D.SHORT),
    *(*_STRANGE, _D.OVER),
)
_WORDS = {
    "spelled": ' {size} {more} of it on this invoice number under supplier "{supplier_other:known}": the same one, '
    "spelled otherwise?",
    "elsewhere": " {size} {more} of it on invoice {invoice_number_other:known}: booked on the wrong ASN?",
    "beside": ' {size} {more} of SKU "{sku_name_other:known}" on the same invoice: counted as the wrong SKU?',
}
# By what lines are paired, the likeliest first.
_TIERS = (
    ("spelled", ("invoice", "sku", "size")),
    ("elsewhere", ("sku", "place", "size", "party")),
    ("elsewhere", ("sku", "place", "size")),
    ("beside", ("notice", "size")),
    ("elsewhere", ("sku", "size")),
)


def with_pairs(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with `pair_id` and, in the reason, what stands against it.

    First goods that came on the very invoice under another spelling, then one SKU on two notices of a site, the same
    supplier's before all others, then two SKUs of one notice, then one SKU on notices of different sites; only pairs
    that leave no choice, and of different suppliers only where the SKU does not belong on one of the notices.
    Needs `exception_id`, `code`, `qty_delta`, `reason`, `notice`, `party` and the names that people see.
    """
    usable = (pl.col("qty_delta") != 0) & pl.col("code").is_in([code.value for code in _PAIRED])
    left = lines.filter(usable).select(
        *("exception_id", "code", "invoice_number", "supplier", "sku_name", "notice"),
        identifier("invoice_number").alias("invoice"),
        identifier("sku_name").alias("sku"),
        spelling("site").alias("place"),
        pl.col("party").fill_null("").alias("party"),
        pl.col("qty_delta").abs().alias("size"),
        (pl.col("qty_delta") < 0).alias("less"),
    )
    stray = (pl.col("less") | (pl.col("code") == _D.NO_ASN.value)) & (pl.col("invoice") != "")
    pairs = []
    for kind, keys in _TIERS:
        fitting = pl.col("notice").is_not_null() if kind == "beside" else pl.col("sku") != ""
        pairs.append(_paired(left.filter(fitting & stray if kind == "spelled" else fitting), keys=keys, kind=kind))
        left = left.join(pairs[-1], on="exception_id", how="anti", maintain_order="left")
    joined = lines.drop("pair_id", strict=False).join(
        pl.concat(pairs), on="exception_id", how="left", maintain_order="left"
    )
    return joined.with_columns(
        pl.col("pair_id").fill_null(""), pl.concat_str("reason", pl.col("pair_words").fill_null(""))
    ).drop("pair_words")


def _paired(lines: pl.DataFrame, *, keys: tuple[str, ...], kind: str) -> pl.DataFrame:
    """`exception_id`, `pair_id` and `pair_words` of both lines of each pair."""
    sides = lines.filter(pl.len().over(*keys, "less") == 1).with_columns(pl.col("party").alias("own_party"))
    less, more = sides.filter(pl.col("less")), sides.filter(~pl.col("less"))
    either = pl.concat([less.join(more, on=keys, suffix="_other"), more.join(less, on=keys, suffix="_other")])
    direction = pl.when(pl.col("less")).then(pl.lit("more")).otherwise(pl.lit("fewer"))
    return either.filter(_may_belong_together()).select(
        "exception_id",
        pl.col("exception_id_other").alias("pair_id"),
        sentence(_WORDS[kind], more=direction).alias("pair_words"),
    )


def _may_belong_together() -> pl.Expr:
    """A line shows no supplier or a strange SKU, or both lines share a supplier's id or name."""
    parties = ("own_party", "own_party_other")
    ours, others = (pl.col(name).str.split("|") for name in parties)
    unknown = pl.any_horizontal(pl.col(name) == "" for name in parties)
    strange = pl.any_horizontal(pl.col("code", "code_other").is_in([code.value for code in _STRANGE]))
    return unknown | strange | (ours.list.set_intersection(others).list.len() > 0)


def with_rows_not_sent(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with, in the reason, the row that was not sent where goods have no ASN, and the other way round.

    Needs `code`, `level`, `invoice_number`, `qty_received`, `file_name`, `rows` and `reason`.
    """
    numbered = lines.with_columns(identifier("invoice_number").alias("invoice"))
    named = pl.col("invoice") != ""
    is_row = named & (pl.col("code") == _D.NOT_SENT.value) & (pl.col("level") == ExceptionLevel.ROW.value)
    came = named & (pl.col("code") == _D.NO_ASN.value)
    row = sentence(" {file_name:known} row {rows:known} announced this invoice and was not sent.")
    units = pl.col("qty_received").sum().alias("units")
    rows = numbered.filter(is_row).group_by("invoice", maintain_order=True).agg(row.first().alias("announced_by"))
    goods = numbered.filter(came).group_by("invoice").agg(units)
    for told in (rows, goods):
        numbered = numbered.join(told, on="invoice", how="left", maintain_order="left")
    arrived = pl.when(pl.col("units").is_not_null()).then(sentence(" {units} units came on this invoice."))
    more = pl.when(came).then("announced_by").when(is_row).then(arrived).fill_null("")
    return numbered.with_columns(pl.concat_str("reason", more).alias("reason")).select(lines.columns)
