"""By what lines are judged: dates, and how far apart two sides may be before it counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum

import polars as pl

from logistics_batch.model.reconciliation import PRICE, QUANTITY, Discrepancy
from logistics_batch.reconciliation.legs.reading import pattern_of, spelled


class ToleranceMeasure(StrEnum):
    """In what the tolerance of a class is given besides percent."""

    UNITS = "units"
    AMOUNT = "amount"
    DAYS = "days"


_D = Discrepancy
_PARTIES = ("a_parties", "r_parties")
MEASURES = {
    _D.SHORT: ToleranceMeasure.UNITS,
    _D.OVER: ToleranceMeasure.UNITS,
    _D.PRICE_VAR: ToleranceMeasure.AMOUNT,
    _D.MRP_VAR: ToleranceMeasure.AMOUNT,
    _D.TAX_VAR: ToleranceMeasure.AMOUNT,
    _D.TOTAL_MISMATCH: ToleranceMeasure.AMOUNT,
    _D.NOT_RECEIVED: ToleranceMeasure.DAYS,
    _D.LATE: ToleranceMeasure.DAYS,
    _D.EARLY: ToleranceMeasure.DAYS,
    _D.OVERDUE: ToleranceMeasure.DAYS,
    _D.STALE_STATUS: ToleranceMeasure.DAYS,
    _D.SHELF_LIFE: ToleranceMeasure.DAYS,
}
TOLERATED = tuple(MEASURES)
BY_SKU = (_D.SHORT, _D.OVER, _D.PRICE_VAR, _D.MRP_VAR)
"""The classes whose tolerance may differ by SKU; by supplier those of them and of the other amounts may."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How far is near enough; a difference is within if it keeps at least one of the limits, ends included.

    percent: of what was announced, 0 to 100. units: of the SKU. amount: INR per unit for prices, else INR. days: after
    (or before) the date that counts. suppliers, skus: other limits for some, which replace this one; of both the SKU's
    holds. Suppliers by id or name, as the files or the service write it; SKUs may have `*` for any letters.
    """

    percent: Decimal | None = None
    units: Decimal | None = None
    amount: Decimal | None = None
    days: int | None = None
    suppliers: Mapping[str, "Limit"] = field(default_factory=dict)
    skus: Mapping[str, "Limit"] = field(default_factory=dict)

    def __str__(self) -> str:
        given = {"{} %": self.percent, "{} units": self.units, "INR {}": self.amount, "{} days": self.days}
        general = " or ".join(form.format(limit) for form, limit in given.items() if limit is not None) or "none"
        others = [f"{name}: {limit}" for name, limit in (*self.suppliers.items(), *self.skus.items())]
        return "; ".join((general, *others))


# Nothing is tolerated but a paisa of rounding in a price and a rupee in a sum, and some days on dates.
DEFAULT_LIMITS = {
    _D.SHORT: Limit(),
    _D.OVER: Limit(),
    _D.PRICE_VAR: Limit(amount=Decimal("0.01")),
    _D.MRP_VAR: Limit(amount=Decimal("0.01")),
    _D.TAX_VAR: Limit(amount=Decimal("1.00")),
    _D.TOTAL_MISMATCH: Limit(amount=Decimal("1.00")),
    _D.LATE: Limit(days=2),
    _D.EARLY: Limit(days=2),
    _D.OVERDUE: Limit(days=10),
    _D.STALE_STATUS: Limit(days=10),
    _D.SHELF_LIFE: Limit(days=0),
}


@dataclass(frozen=True, slots=True)
class Rules:
    """By what lines are judged.

    grace_days: a line may be called short or not received from the day after delivery date + grace_days.
    limits: tolerances; classes not named keep their default. complete: False if the service's answer may be cut short.
    claim_days: how many days after the delivery date goods can be claimed.

    What tells what is resolved from what was not looked at: due, the delivery dates that were asked for, both ends
    inclusive, None where another date of the ASN was; followed, invoice numbers, folded, that were asked for whatever
    the dates of their ASNs; whole, nothing that belongs into the report is known to be missing.
    """

    business_date: date
    grace_days: int = 1
    limits: dict[Discrepancy, Limit] = field(default_factory=dict)
    complete: bool = True
    claim_days: int = 60
    due: tuple[date, date] | None = None
    followed: frozenset[str] = frozenset()
    whole: bool = True

    def limit(self, code: Discrepancy) -> Limit:
        """The tolerance of a class."""
        return self.limits.get(code, DEFAULT_LIMITS[code])

    def days(self, code: Discrepancy) -> int:
        """The days that a class tolerates."""
        return self.limit(code).days or 0

    @property
    def judged_until(self) -> date:
        """The last delivery date of which receipts are judged today."""
        return self.business_date - timedelta(days=self.grace_days + 1)


def near(difference: pl.Expr, *, of: pl.Expr, limit: Limit, scale: pl.Decimal = PRICE) -> pl.Expr:
    """Whether a difference in money or, by its scale, in quantity is within the limit; `of` is what was announced.

    The limit is that of the line's SKU, else of its supplier, else of all; needs `sku` and `*_parties` where it has
    such.
    """

    def within(one: Limit) -> pl.Expr:
        size, holds = difference.abs(), pl.lit(False)
        fixed = one.units if scale == QUANTITY else one.amount
        if one.percent is not None:  # multiplied, not divided: exact at the edge
            holds = holds | (size * pl.lit(100, scale) <= of.abs() * pl.lit(one.percent, scale))
        return holds if fixed is None else holds | (size <= pl.lit(fixed, scale))

    chosen = within(limit)
    for name, one in limit.suppliers.items():
        named = pl.lit(spelled(name))
        ours = pl.any_horizontal(pl.col(side).list.contains(named).fill_null(False) for side in _PARTIES)
        chosen = pl.when(ours).then(within(one)).otherwise(chosen)
    for pattern, one in limit.skus.items():
        chosen = pl.when(pl.col("sku").str.contains(pattern_of(pattern))).then(within(one)).otherwise(chosen)
    return chosen


def near_either_way(difference: pl.Expr, *, of: pl.Expr, rules: Rules) -> pl.Expr:
    """Whether a quantity that is over or short is within the limit of its class; no difference always is."""
    over, short = (near(difference, of=of, limit=rules.limit(code), scale=QUANTITY) for code in (_D.OVER, _D.SHORT))
    return pl.when(difference == 0).then(True).when(difference > 0).then(over).otherwise(short)
