"""How far apart two sides may be before it counts; what lies inside stays visible as a state of its own."""

from dataclasses import dataclass
from decimal import Decimal

import polars as pl

from logistics_batch.model.reconciliation import PRICE, QUANTITY, Discrepancy

TOLERATED = (Discrepancy.SHORT, Discrepancy.OVER, Discrepancy.PRICE_VAR)


@dataclass(frozen=True, slots=True)
class Limit:
    """How far is near enough; a difference is within if it keeps at least one of the limits, ends included.

    percent: of what was announced, 0 to 100. units: of the SKU. amount: INR per unit, for prices.
    """

    percent: Decimal | None = None
    units: Decimal | None = None
    amount: Decimal | None = None

    def __str__(self) -> str:
        parts = [
            f"{self.percent} %" if self.percent is not None else "",
            f"{self.units} units" if self.units is not None else "",
            f"INR {self.amount} a unit" if self.amount is not None else "",
        ]
        return " or ".join(part for part in parts if part) or "none"


# Nothing is tolerated but a paisa of rounding in a price.
DEFAULT_LIMITS = {
    Discrepancy.SHORT: Limit(),
    Discrepancy.OVER: Limit(),
    Discrepancy.PRICE_VAR: Limit(amount=Decimal("0.01")),
}


def near_quantity(difference: pl.Expr, *, of: pl.Expr, limit: Limit) -> pl.Expr:
    """Whether a difference in quantity is within the limit; `of` is the announced quantity."""
    return _near(difference, of=of, percent=limit.percent, absolute=limit.units, scale=QUANTITY)


def near_price(difference: pl.Expr, *, of: pl.Expr, limit: Limit) -> pl.Expr:
    """Whether a difference in price is within the limit; `of` is the announced price."""
    return _near(difference, of=of, percent=limit.percent, absolute=limit.amount, scale=PRICE)


def _near(
    difference: pl.Expr, *, of: pl.Expr, percent: Decimal | None, absolute: Decimal | None, scale: pl.Decimal
) -> pl.Expr:
    size = difference.abs()
    near = pl.lit(False)
    if percent is not None:
        # Multiplied, not divided: exact at the edge.
        near = near | (size * pl.lit(100, scale) <= of.abs() * pl.lit(percent, scale))
    if absolute is not None:
        near = near | (size <= pl.lit(absolute, scale))
    return near
