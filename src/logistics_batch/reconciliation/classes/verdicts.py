"""The one primary class of a line, and all that is wrong with it: a small fault never hides a great one.

What makes a line a case of its own comes first: that it stands on one side only, or that nothing of it came. Else the
class is the gravest of its causes, and among equally grave ones the dearest. What each cause concerns is counted once:
a piece that is missing cannot be damaged as well, and no more pieces are concerned than the line has.
"""

from functools import reduce

import polars as pl

from logistics_batch.model.reconciliation import (
    MEANINGS,
    MONEY,
    PRICE,
    QUANTITY,
    ComparedOutcome,
    Discrepancy,
    Severity,
)
from logistics_batch.reconciliation.classes.facts import (
    ZERO,
    by_receipts,
    by_service,
    mixed,
    not_shown,
    nothing_came,
    other_price,
    undated_receipt,
    unit_price,
    unreadable,
    which_is_unclear,
    without_lines,
)
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.legs.reading import CONDITION_CLASSES, day
from logistics_batch.reconciliation.notices.headers import is_expired
from logistics_batch.reconciliation.sentences import first_that_holds, verdict_is

_D = Discrepancy
_PRICES = (_D.PRICE_VAR, _D.MRP_VAR)
COUNTED = (_D.SHORT, _D.OVER, *CONDITION_CLASSES, _D.SHELF_LIFE)
"""The causes that concern pieces, each of which is counted once, in this order."""

VALUED = (*COUNTED, *_PRICES)
"""The causes that cost something."""

CAUSES = (*VALUED, _D.UNVERIFIABLE, _D.LATE, _D.EARLY)
"""In this order where two are equally grave and dear."""

_BY_RECEIPTS = (_D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED, *CONDITION_CLASSES, _D.LATE, _D.EARLY, _D.SHELF_LIFE)

_Steps = list[tuple[pl.Expr, Discrepancy | ComparedOutcome]]


def is_wrong(code: Discrepancy) -> pl.Expr:
    """Whether a cause applies to a line."""
    return pl.col(f"is_{code.value}")


def with_verdict(facts: pl.DataFrame, *, rules: Rules, receipts: bool) -> pl.DataFrame:
    """The lines with their causes and `verdict`: a Discrepancy, or one of the outcomes that are none.

    Of each cause there is `is_…`, and as far as it counts pieces and costs something `units_of_…` and `inr_of_…`, exact
    to the paisa and null where no price is known.
    """
    applies = _causes(rules, receipts)
    marked = facts.with_columns(
        applies.get(code, pl.lit(False)).fill_null(False).alias(f"is_{code.value}") for code in CAUSES
    )
    for place, code in enumerate(COUNTED):
        taken = reduce(pl.Expr.add, (pl.col(f"units_of_{other.value}") for other in COUNTED[:place]), ZERO)
        left = pl.max_horizontal(pl.col("largest_leg") - taken, ZERO)
        pieces = pl.when(is_wrong(code)).then(pl.min_horizontal(_pieces(code), left)).otherwise(ZERO)
        marked = marked.with_columns(pieces.cast(QUANTITY).alias(f"units_of_{code.value}"))
    valued = marked.with_columns(_worth(code).alias(f"inr_of_{code.value}") for code in VALUED)
    apart = [*_steps_of_the_notice(rules), *_steps_of_the_line(), *(_steps_of_nothing(rules) if receipts else [])]
    plain: _Steps = [(pl.col("open_receipt"), ComparedOutcome.TOO_EARLY)] if receipts else []
    deltas = (pl.col(f"{name}_delta").fill_null(0) != 0 for name in ("service", "receipt", "price", "mrp"))
    plain.append((pl.any_horizontal(*deltas), ComparedOutcome.WITHIN_TOLERANCE))
    matched = pl.lit(ComparedOutcome.MATCHED.value)
    return valued.with_columns(pl.coalesce(_first(apart), _gravest(), _first(plain), matched).alias("verdict"))


def _first(steps: _Steps) -> pl.Expr:
    return first_that_holds((condition, word.value) for condition, word in steps)


def _steps_of_the_notice(rules: Rules) -> _Steps:
    has_announced, has_returned = pl.col("has_announced"), pl.col("has_returned")
    announced, returned = pl.col("announced").is_not_null(), pl.col("returned").is_not_null()
    accepted = pl.col("accepted").fill_null(False)
    # What a cut answer does not show may well be there.
    absent = _D.MISSING_IN_SERVICE if rules.complete else _D.UNVERIFIABLE
    unannounced = _D.NO_ASN if rules.complete else _D.UNVERIFIABLE
    return [
        (has_announced & ~accepted, _D.NOT_SENT),
        ((has_announced | has_returned) & which_is_unclear(), _D.UNVERIFIABLE),
        (has_announced & ~returned, absent),
        (has_returned & ~(announced & accepted), _D.UNEXPECTED_IN_SERVICE),
        (pl.col("stray").is_not_null(), _D.UNVERIFIABLE),
        (~announced & ~returned, unannounced),
        (~has_announced & announced & ~accepted, _D.NO_ASN),
    ]


def _steps_of_the_line() -> _Steps:
    order, unannounced = list(Severity), ~pl.col("has_announced")
    graver = (
        code
        for code in CONDITION_CLASSES
        if order.index(MEANINGS[code].severity) < order.index(MEANINGS[_D.EXTRA_SKU].severity)
    )
    return [
        (unreadable() | without_lines() | (pl.col("sku") == ""), _D.UNVERIFIABLE),
        (pl.col("found_sku") != "", _D.WRONG_SKU),
        (pl.col("has_announced") & ~pl.col("has_returned"), _D.MISSING_SKU),
        *((unannounced & (pl.col(f"units_{code.value}") > 0), code) for code in graver),
        (unannounced, _D.EXTRA_SKU),
    ]


def _steps_of_nothing(rules: Rules) -> _Steps:
    due = pl.col("due").fill_null(False)
    nothing = nothing_came() & ~pl.col("doubtful")
    return [
        (nothing & is_expired(rules.business_date), _D.EXPIRED_UNRECEIVED),
        # All else of the notice came, so that this is no matter of the lorry.
        (nothing & due & pl.col("notice_received"), _D.MISSING_SKU),
        (nothing & due, _D.NOT_RECEIVED),
    ]


def _causes(rules: Rules, receipts: bool) -> dict[Discrepancy, pl.Expr]:
    """When each cause applies."""
    both = pl.col("has_announced") & pl.col("has_returned")
    unknown = both & (not_shown("price") | not_shown("mrp") | mixed("price") | mixed("mrp"))
    unknown |= pl.col("condition_unknown") > 0
    one_sku = pl.col("accepted") & pl.col("found_returned").is_null()  # of which prices can be compared
    causes = {
        **{code: by_receipts(code) | by_service(code) for code in (_D.SHORT, _D.OVER)},
        **{code: pl.col(f"units_{code.value}").fill_null(ZERO) > 0 for code in CONDITION_CLASSES},
        _D.PRICE_VAR: one_sku & (other_price() | pl.col("other_discount")),
        _D.MRP_VAR: one_sku & (pl.col("mrp_delta") != 0) & ~pl.col("mrp_near"),
    }
    if receipts:
        waiting = pl.col("open_receipt") & ~pl.col("due").fill_null(True) & ~is_expired(rules.business_date)
        unknown |= undated_receipt() | (pl.col("doubtful") & ~waiting)
        causes |= _causes_of_dates(rules)
    return causes | {_D.UNVERIFIABLE: unknown}


def _causes_of_dates(rules: Rules) -> dict[Discrepancy, pl.Expr]:
    """What did not come when it should; by the dates of both sides, so that a moved one blames nobody."""
    first, last = pl.col("received_first"), pl.col("received_date")
    dates = [day("a_delivery_date"), day("r_delivery_date")]
    late = (last - pl.max_horizontal(*dates)).dt.total_days() > rules.days(_D.LATE)
    early = (pl.min_horizontal(*dates) - first).dt.total_days() > rules.days(_D.EARLY)
    left = (pl.col("expiry_date") - last).dt.total_days() < rules.days(_D.SHELF_LIFE)
    # While more may come, only what keeps too short is said of goods that came.
    came, settled = ~nothing_came(), ~pl.col("open_receipt") | pl.col("due")
    return {_D.SHELF_LIFE: left & came, _D.LATE: late & came & settled, _D.EARLY: early & came & settled}


def _pieces(code: Discrepancy) -> pl.Expr:
    """How many pieces a cause concerns by itself."""
    if code in CONDITION_CLASSES:
        return pl.col(f"units_{code.value}").fill_null(ZERO)
    if code is _D.SHELF_LIFE:
        return pl.col("received").abs().fill_null(ZERO)
    # What the dock and the service say of one shortage overlaps: the greater of both counts.
    deltas = ((by_receipts(code), "receipt_delta"), (by_service(code), "service_delta"))
    return pl.max_horizontal(pl.when(wrong).then(pl.col(delta).abs()).otherwise(ZERO) for wrong, delta in deltas)


def _worth(code: Discrepancy) -> pl.Expr:
    """INR at stake by a cause: pieces times price, or what a price differs by for all that was announced."""
    if code in COUNTED:
        worth = pl.col(f"units_of_{code.value}") * unit_price()
    else:
        worth = pl.col("price_delta" if code is _D.PRICE_VAR else "mrp_delta").abs() * pl.col("expected").abs()
    if code is _D.PRICE_VAR:
        worth = pl.when("other_discount").then(worth.fill_null(ZERO) + _discount()).otherwise(worth)
    return pl.when(is_wrong(code)).then(worth.round(2, mode="half_away_from_zero").cast(MONEY))


def _discount() -> pl.Expr:
    """INR by which the discount of a line differs, null where that cannot be told."""
    of_retail = (pl.col("percentage_delta").abs() * pl.col("mrp_announced")).cast(PRICE) * pl.col("expected").abs()
    return pl.coalesce(pl.col("discount_delta").abs(), of_retail.cast(PRICE) / 100).cast(PRICE)


def _gravest() -> pl.Expr:
    """The class of a line by its causes: the gravest, among equals the dearest; null where there is none."""
    found = []
    for severity in Severity:
        weights = {
            code: pl.when(is_wrong(code)).then(_weight(code)) for code in CAUSES if MEANINGS[code].severity is severity
        }
        if weights:
            most = pl.max_horizontal(weights.values())
            found.append(first_that_holds((weight == most, code.value) for code, weight in weights.items()))
    return pl.coalesce(*found)


def _weight(code: Discrepancy) -> pl.Expr:
    """For choosing only: INR, or pieces where no price is known; here pieces count for each of their faults."""
    if code in COUNTED:
        return (_pieces(code).cast(pl.Float64) * unit_price().cast(pl.Float64).fill_null(1.0)).fill_null(0.0)
    if code in VALUED:
        return pl.col(f"inr_of_{code.value}").cast(pl.Float64).fill_null(0.0)
    return pl.lit(-1.0)


def shown_by_receipts() -> pl.Expr:
    """Whether receipts showed the difference of a line, or a part of it, so that nothing settles it without them."""
    unsure = ("doubtful", pl.col("condition_unknown") > 0, pl.col("stray").is_not_null(), "open_receipt")
    return pl.any_horizontal(
        verdict_is(*_BY_RECEIPTS, _D.NO_ASN),
        verdict_is(_D.MISSING_SKU) & pl.col("has_returned"),
        verdict_is(_D.EXTRA_SKU) & ~pl.col("has_returned"),
        verdict_is(_D.WRONG_SKU) & pl.col("qty_received").is_not_null(),
        *(is_wrong(code) for code in _BY_RECEIPTS if code in CAUSES),
        *(is_wrong(code) & by_receipts(code) for code in (_D.SHORT, _D.OVER)),
        (verdict_is(_D.UNVERIFIABLE) | is_wrong(_D.UNVERIFIABLE)) & pl.any_horizontal(*unsure),
    ).fill_null(False)
