"""Clocks: how long a line has been open, and how long it can still be claimed."""

from datetime import date, timedelta

import polars as pl

from logistics_batch.model.reconciliation import Discrepancy

CLAIMED = (
    Discrepancy.WRONG_SKU,
    Discrepancy.MISSING_SKU,
    Discrepancy.REJECTED,
    Discrepancy.DAMAGED,
    Discrepancy.QUALITY,
    Discrepancy.NOT_RECEIVED,
    Discrepancy.SHORT,
    Discrepancy.SHELF_LIFE,
)
"""The classes of goods that a supplier or carrier is asked to make good."""

NOT_DUE = "not due"
NO_DATE = "no date"
# Upper ends in days past the delivery date; finance reads 30, 60 and 90.
_ENDS = ((1, "0-1"), (3, "2-3"), (7, "4-7"), (15, "8-15"), (30, "16-30"), (60, "31-60"), (90, "61-90"))
_BEYOND = "> 90"
BUCKETS = (NOT_DUE, *(name for _, name in _ENDS), _BEYOND, NO_DATE)


def days_overdue(business_date: date) -> pl.Expr:
    """Days past the delivery date; negative before it, null without one."""
    return (pl.lit(business_date) - pl.col("due_date")).dt.total_days().cast(pl.Int32)


def bucket(days: str) -> pl.Expr:
    """The ageing bucket of a number of days overdue."""
    chain = pl.when(pl.col(days).is_null()).then(pl.lit(NO_DATE)).when(pl.col(days) < 0).then(pl.lit(NOT_DUE))
    for end, name in _ENDS:
        chain = chain.when(pl.col(days) <= end).then(pl.lit(name))
    return chain.otherwise(pl.lit(_BEYOND))


def claim_until(*, claim_days: int, receipts: bool) -> pl.Expr:
    """The last day on which a line can be claimed; null where there is nothing to claim, or no delivery date.

    receipts: whether receipts were compared. Without them, or where all pieces came, a SKU or pieces that only the
    service's ASN lacks are no goods that anybody owes.
    """
    claimed = pl.col("code").is_in([code.value for code in CLAIMED])
    lacking = pl.col("code").is_in([Discrepancy.SHORT.value, Discrepancy.MISSING_SKU.value])
    came = lacking & (pl.col("qty_received") >= pl.col("qty_announced")).fill_null(False)
    return pl.when(pl.lit(receipts) & claimed & ~came).then(pl.col("due_date") + timedelta(days=claim_days))


def claim_days_left(*, business_date: date) -> pl.Expr:
    """Days until the claim window closes, negative once it has; needs `claim_until`."""
    return (pl.col("claim_until") - pl.lit(business_date)).dt.total_days().cast(pl.Int32)
