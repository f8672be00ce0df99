"""What a line is about: how many units, and what they are worth in INR (exact; rounded once a line, to the paisa)."""

import polars as pl

from logistics_batch.model.reconciliation import MONEY, QUANTITY, Discrepancy, Outcome
from logistics_batch.reconciliation.receipts import CONDITION_CLASSES

_D = Discrepancy
_ZERO = pl.lit(0, QUANTITY)
_OF_QUANTITY = (_D.SHORT, _D.OVER, *CONDITION_CLASSES)
# Of lines that both sides have, so that a price that differs counts beside what else is wrong.
PRICED = (*_OF_QUANTITY, _D.NOT_RECEIVED, _D.MISSING_SKU, _D.EXPIRED_UNRECEIVED, _D.PRICE_VAR, _D.MRP_VAR)


def _is(*words: Discrepancy | Outcome) -> pl.Expr:
    return pl.col("verdict").is_in([word.value for word in words])


def by_receipts() -> pl.Expr:
    """Whether SHORT or OVER is about what was received, and not about what the service holds."""
    decisive = (pl.col("receipt_delta") != 0) & ~pl.col("receipt_near")
    return (decisive & ((pl.col("receipt_delta") > 0) | pl.col("due").fill_null(False))).fill_null(False)


def price_differs() -> pl.Expr:
    """The price of file and service differs beyond the tolerance."""
    return ((pl.col("price_delta") != 0) & ~pl.col("price_near")).fill_null(False)


def mrp_differs() -> pl.Expr:
    """The retail price of file and service differs beyond the tolerance."""
    return ((pl.col("mrp_delta") != 0) & ~pl.col("mrp_near")).fill_null(False)


def delta() -> pl.Expr:
    """What is there minus what should be; null where that cannot be said."""
    return (
        pl.when(_is(_D.UNVERIFIABLE))
        .then(None)
        .when(_is(_D.NOT_SENT, _D.MISSING_IN_SERVICE, _D.MISSING_SKU))
        .then(-pl.col("qty_announced"))
        .when(_is(_D.UNEXPECTED_IN_SERVICE, _D.EXTRA_SKU, _D.NO_ASN))
        .then(pl.coalesce("qty_returned", "qty_received"))
        .when((_is(_D.SHORT, _D.OVER) & ~by_receipts()) | (_is(_D.WRONG_SKU) & pl.col("found_returned").is_not_null()))
        .then(pl.col("service_delta"))
        .otherwise(pl.coalesce("receipt_delta", "service_delta"))
    )


def affected() -> pl.Expr:
    """How many units the line is about, never negative: all that is wrong with them; needs `qty_delta`."""
    bad = pl.sum_horizontal(pl.col(f"units_{code.value}").fill_null(_ZERO) for code in CONDITION_CLASSES)
    apart = pl.when(by_receipts()).then(pl.col("receipt_delta").abs()).otherwise(_ZERO)
    chain = (
        pl.when(_is(_D.WRONG_SKU, _D.PRICE_VAR, _D.MRP_VAR))
        .then(pl.col("expected"))
        .when(_is(_D.LATE, _D.EARLY, _D.SHELF_LIFE))
        .then(pl.col("received"))
        .when(_is(_D.UNVERIFIABLE))
        .then(pl.coalesce("expected", "qty_received"))
        .when(_is(*CONDITION_CLASSES))
        .then(bad + apart)
        .when(_is(_D.SHORT, _D.OVER))
        .then(pl.col("qty_delta").abs() + bad)
        .otherwise(pl.col("qty_delta"))
        .abs()
    )
    return chain.cast(QUANTITY)


def impact() -> pl.Expr:
    """INR at stake, never negative; null where no price is known or nothing can be said. Needs `qty_affected`."""
    unit_price = pl.coalesce("price_announced", "price_returned")
    by_quantity = pl.col("qty_affected") * unit_price
    by_price = pl.col("price_delta").abs() * pl.col("expected")
    by_mrp = pl.col("mrp_delta").abs() * pl.col("expected")
    beside = pl.when(price_differs()).then(by_price).fill_null(_ZERO) + pl.when(mrp_differs()).then(by_mrp).fill_null(
        _ZERO
    )
    return (
        pl.when(_is(_D.UNVERIFIABLE, Outcome.TOO_EARLY))
        .then(None)
        .when(_is(_D.PRICE_VAR, _D.MRP_VAR))
        .then(beside)
        .when(_is(*PRICED))
        .then(by_quantity + beside)
        # Nothing is lost by goods that came in full, only not on their day.
        .when(_is(_D.LATE, _D.EARLY))
        .then(pl.lit(0, MONEY))
        .when(_is(Outcome.WITHIN_TOLERANCE))
        .then(by_quantity + by_price.fill_null(_ZERO))
        .otherwise(by_quantity)
        .round(2, mode="half_away_from_zero")
        .cast(MONEY)
    )


def delta_percent() -> pl.Expr:
    """The difference as a share of what was expected, in percent; for display only."""
    return (
        pl.when(pl.col("expected") != 0)
        .then(pl.col("qty_delta").cast(pl.Float64) * 100 / pl.col("expected").cast(pl.Float64))
        .round(2)
    )
