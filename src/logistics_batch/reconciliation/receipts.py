"""Receipts before they are compared: counted once, blanks completed, conditions understood."""

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation.legs import identifier, spelling

# What warehouses write, and the codes of a receiving advice (X12 861). Other words are never guessed.
_WORDS = {
    "good": ("", "good", "ok", "okay", "fresh", "sellable", "saleable", "accepted", "fine", "new", "pass", "passed"),
    Discrepancy.DAMAGED.value: ("damaged", "damage", "broken", "leaking", "leaked", "torn", "wet", "crushed", "01"),
    Discrepancy.QUALITY.value: ("quality", "qc fail", "qc failed", "quality fail", "defective", "expired", "04"),
    Discrepancy.REJECTED.value: ("rejected", "reject", "refused", "returned", "08"),
    Discrepancy.HOLD.value: ("hold", "on hold", "qc hold", "quality hold", "quarantine", "blocked", "09"),
    Discrepancy.NONSTD_PACK.value: (
        "non standard pack",
        "nonstandard pack",
        "non standard packing",
        "bad packing",
        "06",
    ),
}
CONDITION_CODES = {word: code for code, words in _WORDS.items() for word in words}
CONDITION_CLASSES = (
    Discrepancy.REJECTED,
    Discrepancy.DAMAGED,
    Discrepancy.QUALITY,
    Discrepancy.HOLD,
    Discrepancy.NONSTD_PACK,
)


def condition_code(column: str = "condition") -> pl.Expr:
    """`good`, the class of a condition, or null for a word that is not known."""
    plain = pl.col(column).fill_null("").str.to_lowercase().str.replace_all(r"[\s_\-./]+", " ").str.strip_chars()
    return plain.replace_strict(CONDITION_CODES, default=None, return_dtype=pl.String)


def receipt_groups(received: pl.DataFrame, targets: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The receipts with the `group` each line belongs to, and the groups (`group, invoice, party, place`).

    A blank supplier or site takes the only one that other lines of the invoice name, if ASNs (targets: `invoice`,
    `parties`, `places`) of just one have that invoice number. What belongs to none is known by its own names, which do
    not change with other rows.
    """
    choice = targets.group_by("invoice").agg(
        pl.col(several).list.sort().list.join("|").n_unique().alias(f"{name}_choice")
        for name, several in (("party", "parties"), ("place", "places"))
    )
    named = received.with_columns(
        identifier("invoice_number").alias("invoice"),
        spelling("supplier_name").alias("party"),
        spelling("site_name").alias("place"),
    ).join(choice, on="invoice", how="left", maintain_order="left")
    filled = named.with_columns(_completed("party"), _completed("place")).drop("party_choice", "place_choice")
    keys = ["invoice", "party", "place"]
    groups = filled.select(keys).unique(maintain_order=True).with_row_index("group")
    return filled.join(groups, on=keys, how="left", maintain_order="left").drop(keys), groups


def _completed(column: str) -> pl.Expr:
    filled = pl.col(column).filter(pl.col(column) != "")
    only = pl.when(filled.n_unique().over("invoice") == 1).then(filled.first().over("invoice"))
    blank = (pl.col(column) == "") & (pl.col("invoice") != "") & (pl.col(f"{column}_choice").fill_null(0) == 1)
    return pl.when(blank).then(only).otherwise(None).fill_null(pl.col(column)).alias(column)
