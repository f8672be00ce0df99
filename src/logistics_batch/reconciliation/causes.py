"""All that is wrong with a line, cause by cause, so that a small fault never hides a great one.

A line has one class, the gravest of its causes, and among equally grave ones the dearest. What each cause concerns is
counted once: a piece that is missing cannot be damaged as well, and no more pieces are concerned than the line has.
"""

from functools import reduce

import polars as pl

from logistics_batch.model.reconciliation import MEANINGS, MONEY, PRICE, QUANTITY, Discrepancy, Severity
from logistics_batch.reconciliation.receipts import CONDITION_CLASSES

_D = Discrepancy
_ZERO = pl.lit(0, QUANTITY)
_PRICES = (_D.PRICE_VAR, _D.MRP_VAR)
# In this order where two are equally grave and dear, and in this order pieces are counted.
CAUSES = (
    *(_D.SHORT, _D.OVER),
    *CONDITION_CLASSES,
    *(_D.SHELF_LIFE, *_PRICES, _D.UNVERIFIABLE, _D.LATE, _D.EARLY),
)
COUNTED = (_D.SHORT, _D.OVER, *CONDITION_CLASSES, _D.SHELF_LIFE)
"""The causes that concern pieces, each of which is counted once."""

VALUED = (*COUNTED, *_PRICES)
"""The causes that cost something."""

_BY_RECEIPTS = (_D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED, *CONDITION_CLASSES, _D.LATE, _D.EARLY, _D.SHELF_LIFE)


def is_wrong(code: Discrepancy) -> pl.Expr:
    """Whether a cause applies to a line."""
    return pl.col(f"is_{code.value}")


def unit_price() -> pl.Expr:
    """What a piece is worth: the price announced, else the service's."""
    return pl.coalesce("price_announced", "price_returned")


def by_receipts(code: Discrepancy) -> pl.Expr:
    """Whether SHORT or OVER is about what was received, and not about what the service holds."""
    decisive = (pl.col("receipt_delta") != 0) & ~pl.col("receipt_near") & ~pl.col("doubtful")
    if code is _D.OVER:
        return (decisive & (pl.col("receipt_delta") > 0)).fill_null(False)
    return (decisive & (pl.col("receipt_delta") < 0) & pl.col("due")).fill_null(False)


def by_service(code: Discrepancy) -> pl.Expr:
    """Whether the service holds less (SHORT) or more (OVER) than was announced."""
    delta = pl.col("service_delta")
    sign = delta < 0 if code is _D.SHORT else delta > 0
    return (sign & ~pl.col("service_near")).fill_null(False)


def unreadable() -> pl.Expr:
    """A quantity of some leg is absent or no plain number."""
    return pl.sum_horizontal("unreadable_announced", "unreadable_returned", "unreadable_received") > 0


def largest_leg() -> pl.Expr:
    """The most pieces that any leg has of a line."""
    return pl.max_horizontal(pl.col(f"qty_{leg}").abs() for leg in ("announced", "returned", "received")).fill_null(
        _ZERO
    )


def with_causes(facts: pl.DataFrame, flags: dict[Discrepancy, pl.Expr]) -> pl.DataFrame:
    """The lines with `is_…`, `units_of_…` and `inr_of_…` for each cause, and `largest_leg`.

    flags: when the causes apply that need the rules; quantities and conditions are told here. INR is exact to the paisa
    and null where no price is known.
    """
    quantities = {code: by_receipts(code) | by_service(code) for code in (_D.SHORT, _D.OVER)}
    conditions = {code: pl.col(f"units_{code.value}").fill_null(_ZERO) > 0 for code in CONDITION_CLASSES}
    applies = {**quantities, **conditions, **flags}
    marked = facts.with_columns(
        largest_leg().alias("largest_leg"),
        *(applies.get(code, pl.lit(False)).fill_null(False).alias(f"is_{code.value}") for code in CAUSES),
    )
    return _counted_once(marked).with_columns(_worth(code).alias(f"inr_of_{code.value}") for code in VALUED)


def _counted_once(marked: pl.DataFrame) -> pl.DataFrame:
    """Pieces by cause: together never more than the line has."""
    for place, code in enumerate(COUNTED):
        taken = reduce(pl.Expr.add, (pl.col(f"units_of_{other.value}") for other in COUNTED[:place]), _ZERO)
        left = pl.max_horizontal(pl.col("largest_leg") - taken, _ZERO)
        pieces = pl.when(is_wrong(code)).then(pl.min_horizontal(_pieces(code), left)).otherwise(_ZERO)
        marked = marked.with_columns(pieces.cast(QUANTITY).alias(f"units_of_{code.value}"))
    return marked


def _pieces(code: Discrepancy) -> pl.Expr:
    """How many pieces a cause concerns by itself."""
    if code in CONDITION_CLASSES:
        return pl.col(f"units_{code.value}").fill_null(_ZERO)
    if code is _D.SHELF_LIFE:
        return pl.col("received").abs().fill_null(_ZERO)
    # What the dock and the service say of one shortage overlaps: the greater of both counts.
    deltas = ((by_receipts(code), "receipt_delta"), (by_service(code), "service_delta"))
    return pl.max_horizontal(pl.when(wrong).then(pl.col(delta).abs()).otherwise(_ZERO) for wrong, delta in deltas)


def _worth(code: Discrepancy) -> pl.Expr:
    """INR at stake by a cause: pieces times price, or what a price differs by for all that was announced."""
    if code in COUNTED:
        worth = pl.col(f"units_of_{code.value}") * unit_price()
    else:
        worth = pl.col("price_delta" if code is _D.PRICE_VAR else "mrp_delta").abs() * pl.col("expected").abs()
    if code is _D.PRICE_VAR:
        worth = pl.when(pl.col("other_discount")).then(worth.fill_null(_ZERO) + _discount()).otherwise(worth)
    return pl.when(is_wrong(code)).then(worth.round(2, mode="half_away_from_zero").cast(MONEY))


def _discount() -> pl.Expr:
    """INR by which the discount of a line differs, null where that cannot be told."""
    of_retail = (pl.col("percentage_delta").abs() * pl.col("mrp_announced")).cast(PRICE) * pl.col("expected").abs()
    return pl.coalesce(pl.col("discount_delta").abs(), of_retail.cast(PRICE) / 100).cast(PRICE)


def gravest() -> pl.Expr:
    """The class of a line by its causes: the gravest, among equals the dearest; null where there is none."""
    return pl.coalesce(*(_dearest(severity) for severity in Severity))


def _dearest(severity: Severity) -> pl.Expr:
    codes = [code for code in CAUSES if MEANINGS[code].severity is severity]
    if not codes:
        return pl.lit(None, pl.String)
    weights = {code: pl.when(is_wrong(code)).then(_weight(code)) for code in codes}
    most = pl.max_horizontal(weights.values())
    return pl.coalesce(*(pl.when(weight == most).then(pl.lit(code.value)) for code, weight in weights.items()))


def _weight(code: Discrepancy) -> pl.Expr:
    """For choosing only: INR, or pieces where no price is known; here pieces count for each of their faults."""
    if code in COUNTED:
        return (_pieces(code).cast(pl.Float64) * unit_price().cast(pl.Float64).fill_null(1.0)).fill_null(0.0)
    if code in VALUED:
        return pl.col(f"inr_of_{code.value}").cast(pl.Float64).fill_null(0.0)
    return pl.lit(-1.0)


def shown_by_receipts() -> pl.Expr:
    """Whether receipts showed the difference of a line, or a part of it, so that nothing settles it without them."""
    verdict = pl.col("verdict")
    classes = [code.value for code in (*_BY_RECEIPTS, _D.NO_ASN)]
    of_sku = [
        (verdict == _D.MISSING_SKU.value) & pl.col("has_returned"),
        (verdict == _D.EXTRA_SKU.value) & ~pl.col("has_returned"),
        (verdict == _D.WRONG_SKU.value) & pl.col("qty_received").is_not_null(),
    ]
    beside = [is_wrong(code) for code in _BY_RECEIPTS if code in CAUSES]
    counted = [is_wrong(code) & by_receipts(code) for code in (_D.SHORT, _D.OVER)]
    unsure = pl.any_horizontal(
        "doubtful", pl.col("condition_unknown") > 0, pl.col("stray").is_not_null(), "open_receipt"
    )
    unknown = ((verdict == _D.UNVERIFIABLE.value) | is_wrong(_D.UNVERIFIABLE)) & unsure
    return pl.any_horizontal(verdict.is_in(classes), *of_sku, *beside, *counted, unknown).fill_null(False)
