"""The one primary class of a line: a case of its own, or the gravest of all that is wrong with it."""

from dataclasses import dataclass, field
from datetime import date, timedelta

import polars as pl

from logistics_batch.model.reconciliation import MEANINGS, QUANTITY, ComparedOutcome, Discrepancy, Severity
from logistics_batch.reconciliation.causes import gravest, unreadable, with_causes
from logistics_batch.reconciliation.legs import day
from logistics_batch.reconciliation.receipts import CONDITION_CLASSES
from logistics_batch.reconciliation.statuses import is_expired
from logistics_batch.reconciliation.tolerance import DEFAULT_LIMITS, Limit, near_price, near_quantity
from logistics_batch.reconciliation.unread import is_doubtful

_ZERO = pl.lit(0, QUANTITY)


@dataclass(frozen=True, slots=True)
class Rules:
    """By what lines are judged.

    grace_days: a line may be called short or not received from the day after delivery date + grace_days.
    limits: tolerances; classes not named keep their default. complete: False if the service's answer may be cut short.
    claim_days: how many days after the delivery date goods can be claimed.
    """

    business_date: date
    grace_days: int = 1
    limits: dict[Discrepancy, Limit] = field(default_factory=dict)
    complete: bool = True
    claim_days: int = 60

    def limit(self, code: Discrepancy) -> Limit:
        """The tolerance of a class."""
        return self.limits.get(code, DEFAULT_LIMITS[code])

    @property
    def judged_until(self) -> date:
        """The last delivery date of which receipts are judged today."""
        return self.business_date - timedelta(days=self.grace_days + 1)


def with_facts(lines: pl.DataFrame, *, rules: Rules, receipts: bool) -> pl.DataFrame:
    """The lines with what the rules ask: which legs have them, the differences and whether they are tolerated.

    Needs what `side_by_side` gives plus, from the notice, `announced`, `returned`, `accepted`, `due_date` and
    `returned_lines` (lines of the service's notice). receipts: whether receipts are compared at all.
    """
    expected = pl.coalesce("qty_announced", "qty_returned")
    received = pl.col("qty_received").fill_null(_ZERO) if receipts else pl.lit(None, QUANTITY)
    known = lines.with_columns(
        (pl.col("lines_announced") > 0).alias("has_announced"),
        (pl.col("lines_returned") > 0).alias("has_returned"),
        (pl.col("lines_received") > 0).alias("has_received"),
        expected.alias("expected"),
        received.alias("received"),
        (pl.col("qty_returned") - pl.col("qty_announced")).alias("service_delta"),
        (received - expected).alias("receipt_delta"),
        (pl.col("qty_once") - expected if receipts else pl.lit(None, QUANTITY)).alias("once_delta"),
        (pl.col("price_returned") - pl.col("price_announced")).alias("price_delta"),
        (pl.col("mrp_returned") - pl.col("mrp_announced")).alias("mrp_delta"),
        (pl.col("discount_returned") - pl.col("discount_announced")).alias("discount_delta"),
        (pl.col("percentage_returned") - pl.col("percentage_announced")).alias("percentage_delta"),
        _came_elsewhere().alias("notice_received"),
        (pl.col("due_date") <= rules.judged_until).alias("due"),
    )
    return (
        known.with_columns(
            _near(rules, delta="service_delta").alias("service_near"),
            _near(rules, delta="receipt_delta").alias("receipt_near"),
            _near(rules, delta="once_delta").alias("once_near"),
            near_price(
                pl.col("price_delta"), of=pl.col("price_announced"), limit=rules.limit(Discrepancy.PRICE_VAR)
            ).alias("price_near"),
            near_price(pl.col("mrp_delta"), of=pl.col("mrp_announced"), limit=rules.limit(Discrepancy.MRP_VAR)).alias(
                "mrp_near"
            ),
            _other_discount(rules).alias("other_discount"),
        )
        .with_columns(open_receipt().alias("open_receipt"))
        .with_columns((is_doubtful() | less_than_nothing() | perhaps_corrected()).fill_null(False).alias("doubtful"))
    )


def _other_discount(rules: Rules) -> pl.Expr:
    """Both sides name a discount, and not the same; an amount may follow the pieces, so it is told for as many only."""
    amount = near_price(
        pl.col("discount_delta"), of=pl.col("discount_announced"), limit=rules.limit(Discrepancy.PRICE_VAR)
    )
    differs = ~amount & (pl.col("service_delta") == 0)
    return differs.fill_null(False) | (pl.col("percentage_delta") != 0).fill_null(False)


def _came_elsewhere() -> pl.Expr:
    """Whether any line of the notice that should come did."""
    wanted = (pl.col("lines_announced") > 0) | (pl.col("lines_returned") > 0)
    came = pl.col("qty_received").fill_null(_ZERO) > 0  # a dock that writes 0 received nothing
    return (wanted & came).any().over("notice") | pl.col("settled_received").fill_null(False)


def _near(rules: Rules, *, delta: str) -> pl.Expr:
    over, short = (
        near_quantity(pl.col(delta), of=pl.col("expected"), limit=rules.limit(code))
        for code in (Discrepancy.OVER, Discrepancy.SHORT)
    )
    return pl.when(pl.col(delta) == 0).then(True).when(pl.col(delta) > 0).then(over).otherwise(short)


def with_verdict(facts: pl.DataFrame, *, rules: Rules, receipts: bool) -> pl.DataFrame:
    """The lines with their causes and `verdict`: a Discrepancy, or one of the outcomes that are none.

    What makes a line a case of its own comes first: that it stands on one side only, or that nothing of it came. Else
    it is the gravest of its causes.
    """
    apart = [*_steps_of_the_notice(rules), *_steps_of_the_line(), *(_steps_of_nothing(rules) if receipts else [])]
    plain: Steps = [(open_receipt(), ComparedOutcome.TOO_EARLY)] if receipts else []
    plain.append((_differs_a_little(), ComparedOutcome.WITHIN_TOLERANCE))
    return with_causes(facts, _causes(rules, receipts)).with_columns(
        pl.coalesce(_first(apart), gravest(), _first(plain), pl.lit(ComparedOutcome.MATCHED.value)).alias("verdict")
    )


def _first(steps: "Steps") -> pl.Expr:
    return pl.coalesce(*(pl.when(condition).then(pl.lit(word.value)) for condition, word in steps))


Steps = list[tuple[pl.Expr, Discrepancy | ComparedOutcome]]


def _steps_of_the_notice(rules: Rules) -> Steps:
    has_announced, has_returned = pl.col("has_announced"), pl.col("has_returned")
    announced, returned = pl.col("announced").is_not_null(), pl.col("returned").is_not_null()
    accepted = pl.col("accepted").fill_null(False)
    # What a cut answer does not show may well be there.
    absent = Discrepancy.MISSING_IN_SERVICE if rules.complete else Discrepancy.UNVERIFIABLE
    unannounced = Discrepancy.NO_ASN if rules.complete else Discrepancy.UNVERIFIABLE
    return [
        (has_announced & ~accepted, Discrepancy.NOT_SENT),
        ((has_announced | has_returned) & which_is_unclear(), Discrepancy.UNVERIFIABLE),
        (has_announced & ~returned, absent),
        (has_returned & ~(announced & accepted), Discrepancy.UNEXPECTED_IN_SERVICE),
        (pl.col("stray").is_not_null(), Discrepancy.UNVERIFIABLE),
        (~announced & ~returned, unannounced),
        (~has_announced & announced & ~accepted, Discrepancy.NO_ASN),
    ]


def _steps_of_the_line() -> Steps:
    nameless, swapped = pl.col("sku") == "", pl.col("found_sku") != ""
    unannounced = ~pl.col("has_announced")
    bad = [
        (unannounced & (pl.col(f"units_{code.value}") > 0), code)
        for code in CONDITION_CLASSES
        if _graver_than_extra(code)
    ]
    return [
        (unreadable() | without_lines() | nameless, Discrepancy.UNVERIFIABLE),
        (swapped, Discrepancy.WRONG_SKU),
        (pl.col("has_announced") & ~pl.col("has_returned"), Discrepancy.MISSING_SKU),
        *bad,
        (unannounced, Discrepancy.EXTRA_SKU),
    ]


def _graver_than_extra(code: Discrepancy) -> bool:
    order = list(Severity)
    return order.index(MEANINGS[code].severity) < order.index(MEANINGS[Discrepancy.EXTRA_SKU].severity)


def which_is_unclear() -> pl.Expr:
    """The notice is paired with none, since it may be any of several that name no supplier and site."""
    return pl.col("possible").is_not_null()


def without_lines() -> pl.Expr:
    """The service's notice came without any SKU lines."""
    return pl.col("returned").is_not_null() & (pl.col("returned_lines") == 0)


def _steps_of_nothing(rules: Rules) -> Steps:
    due = pl.col("due").fill_null(False)
    nothing = _nothing_came() & ~pl.col("doubtful")
    return [
        (nothing & is_expired(rules.business_date), Discrepancy.EXPIRED_UNRECEIVED),
        # All else of the notice came, so that this is no matter of the lorry.
        (nothing & due & pl.col("notice_received"), Discrepancy.MISSING_SKU),
        (nothing & due, Discrepancy.NOT_RECEIVED),
    ]


def _causes(rules: Rules, receipts: bool) -> dict[Discrepancy, pl.Expr]:
    """When the causes apply that are not about quantities and conditions."""
    both = pl.col("has_announced") & pl.col("has_returned")
    unknown = (both & (price_unknown() | mrp_unknown() | mixed("price") | mixed("mrp"))) | (
        pl.col("condition_unknown") > 0
    )
    one_sku = pl.col("accepted") & pl.col("found_returned").is_null()  # of which prices can be compared
    causes = {
        Discrepancy.PRICE_VAR: one_sku & (other_price() | pl.col("other_discount")),
        Discrepancy.MRP_VAR: one_sku & (pl.col("mrp_delta") != 0) & ~pl.col("mrp_near"),
    }
    if not receipts:
        return causes | {Discrepancy.UNVERIFIABLE: unknown}
    waiting = open_receipt() & ~pl.col("due").fill_null(True) & ~is_expired(rules.business_date)
    unknown = unknown | undated_receipt() | (pl.col("doubtful") & ~waiting)
    return causes | _causes_of_dates(rules) | {Discrepancy.UNVERIFIABLE: unknown}


def _causes_of_dates(rules: Rules) -> dict[Discrepancy, pl.Expr]:
    """What did not come when it should; by the dates of both sides, so that a moved one blames nobody."""
    first, last = pl.col("received_first"), pl.col("received_date")
    dates = [day("a_delivery_date"), day("r_delivery_date")]
    late = _days_between(pl.max_horizontal(*dates), last) > (rules.limit(Discrepancy.LATE).days or 0)
    early = _days_between(first, pl.min_horizontal(*dates)) > (rules.limit(Discrepancy.EARLY).days or 0)
    left = _days_between(last, pl.col("expiry_date")) < (rules.limit(Discrepancy.SHELF_LIFE).days or 0)
    # While more may come, only what keeps too short is said of goods that came.
    settled = ~open_receipt() | pl.col("due")
    return {
        Discrepancy.SHELF_LIFE: left & ~_nothing_came(),
        Discrepancy.LATE: late & ~_nothing_came() & settled,
        Discrepancy.EARLY: early & ~_nothing_came() & settled,
    }


def _days_between(earlier: pl.Expr, later: pl.Expr) -> pl.Expr:
    return (later - earlier).dt.total_days()


def _nothing_came() -> pl.Expr:
    return (pl.col("qty_received").fill_null(_ZERO) == 0) & (pl.col("expected") > 0)


def open_receipt() -> pl.Expr:
    """Less came than was expected, beyond the tolerance."""
    return (_nothing_came() | ((pl.col("receipt_delta") < 0) & ~pl.col("receipt_near"))).fill_null(False)


def undated_receipt() -> pl.Expr:
    """Less came than was expected, and without a delivery date nobody can say whether more is due."""
    return open_receipt() & pl.col("due_date").is_null()


def less_than_nothing() -> pl.Expr:
    """Corrections take back more than was received."""
    return (pl.col("qty_received") < 0).fill_null(False)


def perhaps_corrected() -> pl.Expr:
    """Whether the goods agree, are too few or too many hangs on whether a later list corrects an earlier one.

    Different quantities that make together what was expected are no correction; where all may be taken back, they are.
    """
    sides = (
        pl.when(pl.col(f"{name}_near")).then(0).otherwise(pl.col(f"{name}_delta").sign())
        for name in ("receipt", "once")
    )
    counted, once = sides
    exact = (pl.col("receipt_delta") == 0) & (pl.col("alike_lists").fill_null("") == "") & (pl.col("qty_once") != 0)
    return ((counted != once) & ~exact & (pl.col("lines_received") > 0)).fill_null(False)


def other_price() -> pl.Expr:
    """The price per unit differs, beyond the tolerance."""
    return ((pl.col("price_delta") != 0) & ~pl.col("price_near")).fill_null(False)


def price_unknown() -> pl.Expr:
    """A price was announced, and the service's reply has none to compare."""
    return pl.col("price_announced").is_not_null() & pl.col("price_returned").is_null()


def mrp_unknown() -> pl.Expr:
    """A retail price was announced, and the service's reply has none to compare."""
    return pl.col("mrp_announced").is_not_null() & pl.col("mrp_returned").is_null()


def mixed(kind: str) -> pl.Expr:
    """A SKU of several lines has other prices on both sides, and their averages hide it or cannot be made.

    kind: "price" or "mrp". While the quantities differ, the averages do, and nothing is hidden; a side that has one
    line for all has no other price to say than the average.
    """
    differs = pl.col(f"{kind}_mix_announced") != pl.col(f"{kind}_mix_returned").fill_null("")
    several = (pl.col("lines_announced") > 1) & (pl.col("lines_returned") > 1)
    hidden = pl.col(f"{kind}_delta").is_null() | ((pl.col(f"{kind}_delta") == 0) & several)
    return (differs & hidden & (pl.col("service_delta") == 0)).fill_null(False)


def _differs_a_little() -> pl.Expr:
    deltas = [pl.col(name).fill_null(0) != 0 for name in ("service_delta", "receipt_delta", "price_delta", "mrp_delta")]
    return pl.any_horizontal(*deltas)
