"""Sums over the audited lines, and the proof that they tie out: the residual against each leg is zero.

Of lines that were set aside there is one row for each supplier, which stands for as many `lines`.

Clocks: how long a line has been open, and how long it can still be claimed.
"""

from dataclasses import replace
from datetime import date, timedelta

import polars as pl

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.model.reconciliation import (
    AGEING_SCHEMA,
    CLASSES_SCHEMA,
    LINES_SCHEMA,
    QUANTITY,
    SUPPLIERS_SCHEMA,
    ComparedOutcome,
    Discrepancy,
    ExceptionLevel,
    LegTotals,
    MatchRate,
    Reconciliation,
    Severity,
)
from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.notices.headers import shown_headers

_LEGS = {"announced": "announced", "in service": "returned", "received": "received", "ordered": "ordered"}
_QUANTITIES = ("qty_announced", "qty_returned", "qty_received")
_COUNTS = ("lines_announced", "lines_returned", "lines_received", "lines_ordered")
_IS_ORDER = pl.col("level") == ExceptionLevel.ORDER.value
# As they stand in the summary: the classes, then what needs nobody.
_CLASS_ORDER = (
    *Discrepancy,
    *(ComparedOutcome[name] for name in ("ACCEPTED", "WITHIN_TOLERANCE", "TOO_EARLY", "MATCHED", "OUTSIDE_WINDOW")),
)


def counted_lines(lines: pl.DataFrame, pairs: pl.DataFrame, *, receipts: bool) -> pl.DataFrame:
    """The audited lines with `lines` (1 each), and by supplier those that were set aside.

    pairs: see `ExactMatches`. Their rows have `notices`, how many notices are aside as a whole. Without receipts
    nothing is too early, as nothing is said about receiving.
    """
    early = ((pl.col("taken") == 0) & receipts).alias("early")
    headers = [f"{side}_{name}" for side in ("a", "r") for name in ("supplier_name", "supplier")]
    # What people see is worked out once for each supplier, of which there are few.
    sums = pl.col("lines", "units", "taken", "units_received").sum()
    grouped = pairs.group_by(*headers, early).agg(sums, pl.col("whole").sum().alias("notices"))
    aside = grouped.select(
        pl.when("early")
        .then(pl.lit(ComparedOutcome.TOO_EARLY.value))
        .otherwise(pl.lit(ComparedOutcome.MATCHED.value))
        .alias("outcome"),
        *(pl.lit("").alias(name) for name in ("code", "severity")),
        pl.lit(ExceptionLevel.LINE.value).alias("level"),
        shown_headers()[1].alias("supplier"),
        *(pl.col("units").alias(name) for name in ("qty_announced", "qty_returned")),
        pl.col("units_received").alias("qty_received"),
        pl.when("early").then("units").otherwise(pl.lit(0, QUANTITY)).alias("qty_affected"),
        *(pl.col("lines").alias(name) for name in ("lines", "lines_announced", "lines_returned")),
        pl.col("taken").alias("lines_received"),
        "notices",
    )
    return pl.concat([lines.with_columns(pl.lit(1, pl.UInt32).alias("lines")), aside], how="diagonal_relaxed")


def leg_totals(legs: Legs) -> tuple[LegTotals, ...]:
    """Counted from the legs as they came in, read into `units`, so that the check sees whatever matching lost."""
    found = [
        _leg_total(
            "announced", legs.announced_notices.height, legs.announced_lines, rows_apart=legs.unsent_rows.height
        ),
        _leg_total("in service", legs.returned_notices.height, legs.returned_lines),
    ]
    if legs.received is not None:
        found.append(_leg_total("received", legs.received["invoice_number"].n_unique(), legs.received))
    if legs.ordered is not None:
        orders = legs.ordered.select(pl.coalesce("po_number", "invoice_number")).to_series().n_unique()
        found.append(_leg_total("ordered", orders, legs.ordered))
    return tuple(found)


def _leg_total(name: str, notices: int, lines: pl.DataFrame, *, rows_apart: int = 0) -> LegTotals:
    """rows_apart: lines that are not in the frame (rows never sent)."""
    return LegTotals(
        name=name,
        notices=notices,
        lines=lines.height + rows_apart,
        unreadable=lines["units"].null_count() + rows_apart,
        quantity=str(lines.select(pl.col("units").sum().cast(QUANTITY)).item()),
    )


def class_totals(counted: pl.DataFrame) -> pl.DataFrame:
    """Counts, units and INR by class (CLASSES_SCHEMA), in the order of the summary."""
    excepted = pl.col("outcome") == ComparedOutcome.EXCEPTION.value
    unpriced = pl.col("impact_inr").is_null() & (pl.col("qty_affected") > 0) & (pl.col("code") != "")
    grouped = counted.group_by(
        pl.when(excepted).then("code").otherwise("outcome").alias("class"), maintain_order=True
    ).agg(
        pl.when(excepted).then("severity").otherwise(pl.lit("")).first().alias("severity"),
        # An order's line shows what other lines count.
        *(pl.col(name).filter(~_IS_ORDER).sum() for name in _QUANTITIES),
        *(pl.col(name).sum() for name in ("lines", "qty_affected", "qty_ordered", "impact_inr", *_COUNTS)),
        unpriced.sum().alias("lines_without_price"),
    )
    order = {word.value: place for place, word in enumerate(_CLASS_ORDER)}
    ranked = grouped.sort(pl.col("class").replace_strict(order, default=len(order), return_dtype=pl.Int64))
    return ranked.select(pl.col(name).cast(kind) for name, kind in CLASSES_SCHEMA.items())


def check_residual(classes: pl.DataFrame, legs: tuple[LegTotals, ...]) -> None:
    """Raise unless lines and quantities over all classes equal those of each leg.

    Raises LogisticsBatchError naming the leg and what is left over.
    """
    for leg in legs:
        place = _LEGS[leg.name]
        lines = int(classes[f"lines_{place}"].sum())
        units = str(classes.select(pl.col(f"qty_{place}").sum().cast(QUANTITY)).item())
        if (lines, units) != (leg.lines, leg.quantity):
            raise LogisticsBatchError(
                f'The reconciliation does not tie out: the leg "{leg.name}" has {leg.lines} lines with {leg.quantity} '
                f"units, its classes have {lines} lines with {units} units.",
                remedy="No report was written. This is a defect of logistics-batch; report it with the input files.",
            )


def match_rate(counted: pl.DataFrame) -> MatchRate:
    """The share of SKU lines and units that agrees among those that could be judged."""
    expected = pl.coalesce("qty_announced", "qty_returned", "qty_received").cast(pl.Float64)
    silent = [ComparedOutcome.TOO_EARLY.value, ComparedOutcome.OUTSIDE_WINDOW.value]
    agreeing = [ComparedOutcome.MATCHED.value, ComparedOutcome.WITHIN_TOLERANCE.value]
    of_lines = pl.col("level").is_in([ExceptionLevel.LINE.value, ExceptionLevel.ROW.value])
    judged = counted.filter(of_lines & ~pl.col("outcome").is_in(silent)).with_columns(expected.alias("units"))
    agree = judged.filter(pl.col("outcome").is_in(agreeing))
    (count, units), (agreeing_count, agreeing_units) = (
        (int(frame["lines"].sum()), float(frame["units"].sum())) for frame in (judged, agree)
    )
    return MatchRate(
        lines=count,
        line_percent=round(100 * agreeing_count / count, 2) if count else None,
        unit_percent=round(100 * agreeing_units / units, 2) if units else None,
    )


def without_rates(result: Reconciliation) -> Reconciliation:
    """The audit without shares of what agrees, where a leg that was to be compared is missing: nothing says that much.

    The counts stay: they are of the legs that are there.
    """
    rate = replace(result.match_rate, line_percent=None, unit_percent=None)
    cards = result.suppliers.with_columns(pl.lit(None, pl.Float64).alias("match_percent"))
    return replace(result, match_rate=rate, suppliers=cards)


def supplier_totals(counted: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The scorecard (SUPPLIERS_SCHEMA), most INR at stake first.

    Open exceptions are counted at every level, as the summary does; of an order's line nothing else is.
    """
    outcome, lines, is_line = pl.col("outcome"), pl.col("lines"), pl.col("level") == ExceptionLevel.LINE.value
    is_open = outcome == ComparedOutcome.EXCEPTION.value
    told = counted.filter(outcome != ComparedOutcome.OUTSIDE_WINDOW.value, ~_IS_ORDER | is_open)
    inside = told.filter(~_IS_ORDER)
    codes = (Discrepancy.SHORT, Discrepancy.OVER, Discrepancy.NOT_RECEIVED)
    cards = told.group_by("supplier", maintain_order=True).agg(
        lines.filter(is_line).sum(),
        *(
            lines.filter(outcome == ComparedOutcome[name].value).sum().alias(name.lower())
            for name in ("MATCHED", "WITHIN_TOLERANCE", "TOO_EARLY")
        ),
        lines.filter(is_open).sum().alias("exceptions"),
        pl.col("qty_announced", "qty_received").filter(~_IS_ORDER).sum(),
        *(lines.filter((pl.col("code") == code.value) & is_open).sum().alias(code.value.lower()) for code in codes),
        pl.col("impact_inr").filter(is_open).sum(),
    )
    # Of notices that are aside as a whole no line is left, and no other is like them.
    who = ("supplier", "invoice_number", "site")
    parted = pairs.filter(~pl.col("whole")).select(
        shown.alias(name) for shown, name in zip(shown_headers(), ("invoice_number", "supplier", "site"), strict=False)
    )
    others = pl.concat([inside.filter(pl.col("invoice_number").is_not_null()).select(who), parted.select(who)]).unique()
    whole = inside.select("supplier", pl.col("notices").fill_null(0))
    each = pl.concat([others.select("supplier", pl.lit(1).alias("notices")), whole], how="vertical_relaxed")
    notices = each.group_by("supplier").agg(pl.col("notices").sum())
    judged, agreeing = lines - pl.col("too_early"), pl.col("matched") + pl.col("within_tolerance")
    rated = cards.join(notices, on="supplier", how="left", maintain_order="left").with_columns(
        pl.col("notices").fill_null(0),
        pl.when(judged > 0).then(agreeing * 100 / judged).round(2).alias("match_percent"),
    )
    ordered = rated.sort("impact_inr", "exceptions", "supplier", descending=[True, True, False], nulls_last=True)
    return ordered.select(pl.col(name).cast(kind) for name, kind in SUPPLIERS_SCHEMA.items())


def ageing_totals(lines: pl.DataFrame) -> pl.DataFrame:
    """Exceptions by age (AGEING_SCHEMA): every bucket, also the empty ones."""
    open_lines = lines.filter(pl.col("outcome") == ComparedOutcome.EXCEPTION.value)
    sums = open_lines.group_by("bucket").agg(
        pl.len().alias("lines"), pl.col("qty_affected").sum(), pl.col("impact_inr").sum()
    )
    every = pl.DataFrame({"bucket": BUCKETS}).join(sums, on="bucket", how="left", maintain_order="left")
    return every.select(pl.col(name).cast(kind) for name, kind in AGEING_SCHEMA.items()).fill_null(0)


def in_report_order(lines: pl.DataFrame) -> pl.DataFrame:
    """Exceptions first, each outcome by INR at stake, then age, then place of origin; without INR the gravest first."""
    gravity = {severity.value: place for place, severity in enumerate(Severity)}
    worthless = pl.col("impact_inr").fill_null(0) == 0
    order = {outcome.value: place for place, outcome in enumerate(ComparedOutcome)}
    return lines.sort(
        pl.col("outcome").replace_strict(order, return_dtype=pl.Int8),
        pl.col("impact_inr").fill_null(0).neg(),
        pl.when(worthless).then(pl.col("severity").replace_strict(gravity, default=None, return_dtype=pl.Int8)),
        pl.col("days_overdue").neg(),
        "invoice_number",
        "sku_name",
        "exception_id",
        nulls_last=True,
        maintain_order=True,
    ).select(pl.col(name).cast(kind) for name, kind in LINES_SCHEMA.items())


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
