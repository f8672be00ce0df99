"""The audit: three legs in, one outcome for every line out, and sums that tie out to zero."""

import hashlib

import polars as pl

from logistics_batch.model.reconciliation import (
    LINES_SCHEMA,
    MEANINGS,
    Discrepancy,
    LegTotals,
    Level,
    Outcome,
    Reconciliation,
)
from logistics_batch.model.reconciliation_history import Earlier, Watch
from logistics_batch.reconciliation import findings, totals
from logistics_batch.reconciliation.ageing import bucket, claim_days_left, claim_until, days_overdue
from logistics_batch.reconciliation.amounts import affected, delta, delta_percent, impact
from logistics_batch.reconciliation.classes import Rules, verdict, with_facts
from logistics_batch.reconciliation.faces import not_returned, tier_words
from logistics_batch.reconciliation.legs import RECEIVED_LINES, Legs
from logistics_batch.reconciliation.lines import received_side, side_by_side, stand_in, swaps
from logistics_batch.reconciliation.pairs import with_pairs
from logistics_batch.reconciliation.reasons import reason
from logistics_batch.reconciliation.sides import Sides, matched_sides
from logistics_batch.reconciliation.since import Carried, carried

_SHOWN = {"supplier_shown": "supplier", "site_shown": "site", "batch_shown": "batch", "status": "asn_status"}


def audit(legs: Legs, *, rules: Rules, earlier: Earlier | None = None, watch: Watch | None = None) -> Reconciliation:
    """Compare the legs line by line, and the outcome with an earlier night's if `earlier` and `watch` are given.

    Raises LogisticsBatchError if lines or quantities over all classes do not equal those of each leg.
    """
    sides = matched_sides(legs)
    judged = _judged_lines(sides, rules=rules)
    apart = [
        findings.surplus_notices(sides.whole, sides.returned),
        findings.notices_without_lines(sides.whole),
        findings.changed_headers(sides.whole),
        findings.differing_amounts(sides, rules=rules),
        findings.odd_statuses(sides.whole, sides.received, rules=rules),
    ]
    shown = [_shown(frame) for frame in (judged, *apart)]
    lines = pl.concat([*shown, findings.unsent_rows(legs.unsent_rows)], how="diagonal_relaxed")
    lines = totals.in_report_order(with_pairs(_identified(_finished(lines, rules=rules))))
    history = carried(lines, earlier, watch=watch) if earlier and watch else Carried(lines)
    lines = totals.in_report_order(history.lines)
    legs_totals = _leg_totals(legs)
    classes = totals.class_totals(lines)
    totals.check_residual(classes, legs_totals)
    return Reconciliation(
        lines=lines,
        classes=classes,
        suppliers=totals.supplier_totals(lines),
        ageing=totals.ageing_totals(lines),
        legs=legs_totals,
        match_rate=totals.match_rate(lines),
        not_returned=not_returned(sides.whole),
        resolved=history.resolved,
        trend=history.trend,
        previous_run=earlier.run if earlier else "",
    )


def _judged_lines(sides: Sides, *, rules: Rules) -> pl.DataFrame:
    receipts = sides.received is not None
    paired = _side_by_side_with_swaps(sides)
    lines = paired.join(sides.whole, on="notice", how="left", maintain_order="left")
    facts = with_facts(lines, rules=rules, receipts=receipts).with_columns(
        verdict(rules=rules, receipts=receipts).alias("verdict"),
        days_overdue("due_date", business_date=rules.business_date).alias("days_overdue"),
    )
    return (
        facts.with_columns(delta().alias("qty_delta"))
        .with_columns(affected().alias("qty_affected"), delta_percent().alias("delta_percent"))
        .with_columns(impact().alias("impact_inr"), reason(rules=rules).alias("reason"))
        .with_columns(pl.lit(Level.LINE.value).alias("level"), pl.col("sku").alias("identity"))
    )


def _side_by_side_with_swaps(sides: Sides) -> pl.DataFrame:
    """SKUs swapped in the service's notice are paired first, then those swapped in what was received."""
    announced, returned = sides.announced, sides.judged_returned
    received = received_side(pl.DataFrame(schema=RECEIVED_LINES | {"notice": pl.UInt32}))
    if sides.received is not None:
        received = sides.received
    lines = side_by_side(announced, returned, received)
    paired = sides.whole.filter(pl.col("tier").is_not_null() & pl.col("accepted")).select("notice")
    has = {leg: pl.col(f"lines_{leg}") > 0 for leg in ("announced", "returned", "received")}
    in_service = swaps(
        lines.join(paired, on="notice", how="semi"),
        expected=pl.col("qty_announced"),
        absent=has["announced"] & ~has["returned"],
        found=pl.col("qty_returned"),
        surplus=has["returned"] & ~has["announced"],
    )
    returned, received = stand_in(returned, in_service), stand_in(received, in_service)
    if in_service.height:
        lines = side_by_side(announced, returned, received)
    expected_side = has["announced"] | has["returned"]
    on_receipt = swaps(
        lines.join(paired, on="notice", how="semi"),
        expected=pl.coalesce("qty_announced", "qty_returned"),
        absent=expected_side & ~has["received"],
        found=pl.col("qty_received"),
        surplus=has["received"] & ~expected_side,
    )
    return side_by_side(announced, returned, stand_in(received, on_receipt)) if on_receipt.height else lines


def _shown(lines: pl.DataFrame) -> pl.DataFrame:
    renamed = {old: new for old, new in _SHOWN.items() if old in lines.columns}
    told = lines.with_columns(tier_words().alias("match_tier")).rename(renamed)
    keep = [
        name
        for name in (*LINES_SCHEMA, "verdict", "in_window", "identity", "party", "place", "notice")
        if name in told.columns
    ]
    return told.select(keep)


def _finished(lines: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """Outcome, code, severity and age from the verdict; what lies outside the window is not judged."""
    codes = [code.value for code in Discrepancy]
    severities = {code.value: meaning.severity.value for code, meaning in MEANINGS.items()}
    outside = ~pl.col("in_window").fill_null(True)
    excepted = pl.col("verdict").is_in(codes) & ~outside
    settled = lines.with_columns(
        pl.when(outside)
        .then(pl.lit(Outcome.OUTSIDE_WINDOW.value))
        .when(excepted)
        .then(pl.lit(Outcome.EXCEPTION.value))
        .otherwise("verdict")
        .alias("outcome"),
        pl.when(excepted).then("verdict").otherwise(pl.lit("")).alias("code"),
        days_overdue("due_date", business_date=rules.business_date).alias("days_overdue"),
        pl.when(~outside).then("impact_inr").alias("impact_inr"),
        pl.when(~outside).then("reason").otherwise(pl.lit("")).alias("reason"),
        *(pl.col(name).fill_null(0) for name in ("lines_announced", "lines_returned", "lines_received")),
    )
    missing = [pl.lit(None, kind).alias(name) for name, kind in LINES_SCHEMA.items() if name not in settled.columns]
    whole = (
        settled.with_columns(*missing)
        .with_columns(
            pl.col("code").replace_strict(severities, default="", return_dtype=pl.String).alias("severity"),
            bucket("days_overdue").alias("bucket"),
            claim_until(claim_days=rules.claim_days).alias("claim_until"),
        )
        .with_columns(claim_days_left(business_date=rules.business_date).alias("claim_days_left"))
    )
    texts = [name for name, kind in LINES_SCHEMA.items() if kind == pl.String]
    return whole.with_columns(pl.col(texts).fill_null(""))


def _identified(lines: pl.DataFrame) -> pl.DataFrame:
    """Exceptions with an id that hangs on what the line is (invoice, supplier, site, SKU, batch), not on its class."""
    parts = [
        pl.col("invoice_number").str.strip_chars().str.to_lowercase(),
        pl.col("party").fill_null(""),
        pl.col("place").fill_null(""),
        pl.col("identity").fill_null(""),
        pl.col("batch").str.strip_chars().str.to_lowercase(),
    ]
    named = lines.with_columns(pl.concat_str(parts, separator="\x1f").alias("who"))
    nth = pl.int_range(pl.len()).over("who")
    numbered = named.with_columns(pl.concat_str("who", pl.lit("\x1f"), nth.cast(pl.String)).alias("who"))
    excepted = numbered["code"] != ""
    ids = [
        _exception_id(who) if is_exception else "" for who, is_exception in zip(numbered["who"], excepted, strict=True)
    ]
    return numbered.with_columns(pl.Series("exception_id", ids, dtype=pl.String))


def _exception_id(who: str) -> str:
    # The prefix keeps spreadsheet programs from reading an id like 12e45678 as a number.
    return "EX-" + hashlib.sha256(who.encode()).hexdigest()[:16].upper()


def _leg_totals(legs: Legs) -> tuple[LegTotals, ...]:
    """Counted from the legs as they came in, so that the check sees whatever matching lost or doubled."""
    announced = totals.leg_totals(
        "announced",
        notices=legs.announced_notices.height,
        lines=legs.announced_lines,
        rows_apart=legs.unsent_rows.height,
    )
    returned = totals.leg_totals("in service", notices=legs.returned_notices.height, lines=legs.returned_lines)
    if legs.received is None:
        return announced, returned
    invoices = legs.received["invoice_number"].n_unique()
    return announced, returned, totals.leg_totals("received", notices=invoices, lines=legs.received)
