"""Which notice each group of receipt lines belongs to: in tiers, the strictest first."""

import polars as pl

from logistics_batch.reconciliation.legs.reading import identifier, spelling
from logistics_batch.reconciliation.matching.notices import spelled_otherwise

PARTIES = (("party", "parties"), ("place", "places"))
"""Supplier and site: as a receipt names them, and the list of names that a notice has for them."""

_KEYS = ["invoice", "party", "place"]


def receipt_groups(received: pl.DataFrame, targets: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The receipts with the `group` each line belongs to, and the groups (`group, invoice, party, place`).

    A blank supplier or site takes the only one that other lines of the invoice name, if ASNs (targets: `invoice`,
    `parties`, `places`) of just one have that invoice number. What belongs to none is known by its own names, which do
    not change with other rows.
    """
    choice = targets.group_by("invoice").agg(
        _together(several).n_unique().alias(f"{name}_choice") for name, several in PARTIES
    )
    named = received.with_columns(
        identifier("invoice_number").alias("invoice"),
        spelling("supplier_name").alias("party"),
        spelling("site_name").alias("place"),
    ).join(choice, on="invoice", how="left", maintain_order="left")
    completed = named.with_columns(_completed("party"), _completed("place"))
    groups = completed.select(_KEYS).unique(maintain_order=True).with_row_index("group")
    grouped = completed.join(groups, on=_KEYS, how="left", maintain_order="left")
    return grouped.drop(*_KEYS, "party_choice", "place_choice"), groups


def _together(several: str) -> pl.Expr:
    return pl.col(several).list.sort().list.join("|")


def _completed(column: str) -> pl.Expr:
    filled = pl.col(column).filter(pl.col(column) != "")
    only = pl.when(filled.n_unique().over("invoice") == 1).then(filled.first().over("invoice"))
    blank = (pl.col(column) == "") & (pl.col("invoice") != "") & (pl.col(f"{column}_choice").fill_null(0) == 1)
    return pl.when(blank).then(only).fill_null(pl.col(column)).alias(column)


def match_receipts(groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """`group`, `notice` and `tier` of the groups that fit a notice.

    groups: `group`, `invoice`, `party`, `place` (normalised, "" where the receipt does not say).
    targets: `notice`, `invoice`, `parties`, `places`, `batch_key`, in order of preference.
    """
    notices = targets.filter(pl.col("invoice") != "").with_columns(
        _together("parties").alias("all_parties"), _together("places").alias("all_places")
    )
    wanted = groups.filter(pl.col("invoice") != "")
    by_place = notices.explode("places").filter(pl.col("places").is_not_null())
    exact = wanted.join(
        by_place.explode("parties"),
        left_on=_KEYS,
        right_on=["invoice", "parties", "places"],
        maintain_order="left_right",
    )
    by_site = wanted.filter(pl.col("party").n_unique().over("invoice", "place") == 1).join(
        by_place.filter(pl.col("all_parties").n_unique().over("invoice", "places") == 1),
        left_on=["invoice", "place"],
        right_on=["invoice", "places"],
        maintain_order="left_right",
    )
    by_invoice = wanted.filter(pl.struct("party", "place").n_unique().over("invoice") == 1).join(
        notices.filter(pl.struct("all_parties", "all_places").n_unique().over("invoice") == 1),
        on="invoice",
        maintain_order="left_right",
    )
    # Receipts carry no batch, so a notice with one is matched without it.
    strict = pl.when(pl.col("batch_key") == "").then(1).otherwise(2)
    spelled = _by_another_spelling(wanted, notices)
    found = ((exact, strict), (spelled, pl.lit(3)), (by_site, pl.lit(3)), (by_invoice, pl.lit(4)))
    each = [frame.select("group", "notice", tier.cast(pl.UInt8).alias("tier")) for frame, tier in found]
    return pl.concat(each).unique("group", keep="first", maintain_order=True)


def _by_another_spelling(groups: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    named = groups.filter(pl.col("party") != "").with_columns(
        pl.concat_list("party").alias("parties"),
        pl.concat_list("place").list.eval(pl.element().filter(pl.element() != "")).alias("places"),
    )
    return spelled_otherwise(named, notices, keys=("group", "notice"))
