"""Sums over the audited lines, and the proof that they tie out: the residual against each leg is zero."""

from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.model.reconciliation import (
    AGEING_SCHEMA,
    CLASSES_SCHEMA,
    LINES_SCHEMA,
    MONEY,
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
from logistics_batch.reconciliation.ageing import BUCKETS
from logistics_batch.reconciliation.faces import shown_header

_ASIDE = (ComparedOutcome.MATCHED, ComparedOutcome.TOO_EARLY)
_LEGS = {"announced": "announced", "in service": "returned", "received": "received", "ordered": "ordered"}
_QUANTITIES = ("qty_announced", "qty_returned", "qty_received")
_COUNTS = ("lines_announced", "lines_returned", "lines_received", "lines_ordered")
# As they stand in the summary: the classes, then what needs nobody.
CLASS_ORDER = (
    *Discrepancy,
    ComparedOutcome.ACCEPTED,
    ComparedOutcome.WITHIN_TOLERANCE,
    ComparedOutcome.TOO_EARLY,
    ComparedOutcome.MATCHED,
    ComparedOutcome.OUTSIDE_WINDOW,
)


@dataclass(frozen=True, slots=True)
class Aside:
    """The notices whose lines were set aside.

    sums: by `supplier` (which may come several times) and whether they are `early`: `lines`, `units`, `taken`,
    `units_received`, and `notices`, how many are aside as a whole. parted: the notices, as people see them, of which
    other lines are left.
    """

    sums: pl.DataFrame
    parted: pl.DataFrame

    @classmethod
    def from_pairs(cls, pairs: pl.DataFrame, *, receipts: bool) -> "Aside":
        """From `Agreement.pairs`. Without receipts nothing is early, as nothing is said about receiving."""
        counts = ("lines", "units", "taken", "units_received")
        # What people see is worked out once for each supplier, of which there are few.
        headers = [f"{side}_{name}" for side in ("a", "r") for name in ("supplier_name", "supplier")]
        early = ((pl.col("taken") == 0) & receipts).alias("early")
        grouped = pairs.group_by(*headers, early).agg(pl.col(counts).sum(), pl.col("whole").sum().alias("notices"))
        supplier, site = (
            shown.alias(name) for shown, name in zip(shown_header()[1:3], ("supplier", "site"), strict=True)
        )
        parted = pairs.filter(~pl.col("whole")).select(supplier, shown_header()[0], site)
        return cls(grouped.select(supplier, "early", *counts, "notices"), parted)

    def of(self, outcome: ComparedOutcome) -> pl.DataFrame:
        """Those whose lines have this outcome."""
        return self.sums.filter(pl.col("early") == (outcome is ComparedOutcome.TOO_EARLY))


def leg_totals(name: str, *, notices: int, lines: pl.DataFrame, rows_apart: int = 0) -> LegTotals:
    """What a leg brought in, read into `units`. rows_apart: lines that are not in the frame (rows never sent)."""
    return LegTotals(
        name=name,
        notices=notices,
        lines=lines.height + rows_apart,
        unreadable=lines["units"].null_count() + rows_apart,
        quantity=str(lines.select(pl.col("units").sum().cast(QUANTITY)).item()),
    )


def class_totals(lines: pl.DataFrame, aside: Aside) -> pl.DataFrame:
    """Counts, units and INR by class (CLASSES_SCHEMA), in the order of the summary; lines set aside are added."""
    excepted = pl.col("outcome") == ComparedOutcome.EXCEPTION.value
    named = lines.with_columns(
        pl.when(excepted).then("code").otherwise("outcome").alias("class"),
        pl.when(excepted).then("severity").otherwise(pl.lit("")).alias("severity"),
    )
    not_valued = (pl.col("impact_inr").is_null() & (pl.col("qty_affected") > 0) & (pl.col("code") != "")).sum()
    grouped = named.group_by("class", maintain_order=True).agg(
        pl.col("severity").first(),
        pl.len().alias("lines"),
        # An order's line shows what other lines count.
        *(pl.col(name).filter(pl.col("level") != ExceptionLevel.ORDER.value).sum() for name in _QUANTITIES),
        *(pl.col(name).sum() for name in ("qty_affected", "qty_ordered", "impact_inr", *_COUNTS)),
        not_valued.alias("lines_without_price"),
    )
    parts = [_in_class_schema(frame) for frame in (grouped, *_class_totals_aside(aside))]
    sums = [pl.col(name).sum() for name in CLASSES_SCHEMA if name not in ("class", "severity")]
    together = pl.concat(parts).group_by("class", maintain_order=True).agg(pl.col("severity").first(), *sums)
    order = {word.value: place for place, word in enumerate(CLASS_ORDER)}
    ranked = together.sort(pl.col("class").replace_strict(order, default=len(order), return_dtype=pl.Int64))
    return _in_class_schema(ranked)


def _in_class_schema(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in CLASSES_SCHEMA.items())


def _class_totals_aside(aside: Aside) -> list[pl.DataFrame]:
    rows = []
    for outcome in _ASIDE:
        pairs = aside.of(outcome)
        open_units = pl.col("units").sum() if outcome is ComparedOutcome.TOO_EARLY else pl.lit(0, QUANTITY)
        row = pairs.select(
            pl.lit(outcome.value).alias("class"),
            pl.lit("").alias("severity"),
            pl.col("lines").sum(),
            pl.col("units").sum().alias("qty_announced"),
            pl.col("units").sum().alias("qty_returned"),
            pl.col("units_received").sum().alias("qty_received"),
            open_units.alias("qty_affected"),
            pl.lit(0, MONEY).alias("impact_inr"),
            pl.lit(0).alias("lines_without_price"),
            *(pl.col("lines").sum().alias(f"lines_{leg}") for leg in ("announced", "returned")),
            pl.col("taken").sum().alias("lines_received"),
            pl.lit(0, QUANTITY).alias("qty_ordered"),
            pl.lit(0).alias("lines_ordered"),
        )
        rows.append(row.filter(pl.col("lines") > 0))
    return rows


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


def match_rate(lines: pl.DataFrame, aside: Aside) -> MatchRate:
    """The share of SKU lines and units that agrees among those that could be judged."""
    matched = aside.of(ComparedOutcome.MATCHED)
    more_lines, more_units = int(matched["lines"].sum()), float(matched["units"].sum() or 0)
    judged = lines.filter(
        ~pl.col("level").is_in([ExceptionLevel.NOTICE.value, ExceptionLevel.ORDER.value])
        & ~pl.col("outcome").is_in([ComparedOutcome.TOO_EARLY.value, ComparedOutcome.OUTSIDE_WINDOW.value])
    )
    agreeing = judged.filter(
        pl.col("outcome").is_in([ComparedOutcome.MATCHED.value, ComparedOutcome.WITHIN_TOLERANCE.value])
    )
    units, agreeing_units = (_units(frame) + more_units for frame in (judged, agreeing))
    count, agreeing_count = judged.height + more_lines, agreeing.height + more_lines
    return MatchRate(
        lines=count,
        agreeing_lines=agreeing_count,
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


def _units(frame: pl.DataFrame) -> float:
    expected = pl.coalesce("qty_announced", "qty_returned", "qty_received").cast(pl.Float64)
    return float(frame.select(expected.sum()).item())


def supplier_totals(lines: pl.DataFrame, aside: Aside) -> pl.DataFrame:
    """The scorecard (SUPPLIERS_SCHEMA), most INR at stake first; lines set aside are added."""
    of_asns = pl.col("level") != ExceptionLevel.ORDER.value
    inside = lines.filter(of_asns & (pl.col("outcome") != ComparedOutcome.OUTSIDE_WINDOW.value))
    parts = [_cards(inside), *(_cards_aside(aside, outcome) for outcome in _ASIDE)]
    notices = _notices_by_supplier(inside, aside)
    sums = [pl.col(name).sum() for name in parts[0].columns if name != "supplier"]
    cards = pl.concat(parts, how="vertical_relaxed").group_by("supplier", maintain_order=True).agg(sums)
    judged = pl.col("lines") - pl.col("too_early")
    agreeing = pl.col("matched") + pl.col("within_tolerance")
    rated = cards.join(notices, on="supplier", how="left", maintain_order="left").with_columns(
        pl.when(judged > 0).then(agreeing * 100 / judged).round(2).alias("match_percent")
    )
    ordered = rated.sort("impact_inr", "exceptions", descending=True, nulls_last=True, maintain_order=True)
    return ordered.select(pl.col(name).cast(kind) for name, kind in SUPPLIERS_SCHEMA.items())


def _notices_by_supplier(inside: pl.DataFrame, aside: Aside) -> pl.DataFrame:
    """How many notices there are. Of those that are aside as a whole no line is `inside`, and no other is like them."""
    who = ("supplier", "invoice_number", "site")
    others = pl.concat([inside.select(who), aside.parted.select(who)]).unique().group_by("supplier").len("notices")
    return (
        pl.concat([others, aside.sums.select("supplier", "notices")]).group_by("supplier").agg(pl.col("notices").sum())
    )


def _cards(lines: pl.DataFrame) -> pl.DataFrame:
    at_stake = pl.col("impact_inr").filter(pl.col("outcome") == ComparedOutcome.EXCEPTION.value).sum()
    outcomes = {
        "matched": ComparedOutcome.MATCHED,
        "within_tolerance": ComparedOutcome.WITHIN_TOLERANCE,
        "too_early": ComparedOutcome.TOO_EARLY,
        "exceptions": ComparedOutcome.EXCEPTION,
    }
    codes = (Discrepancy.SHORT, Discrepancy.OVER, Discrepancy.NOT_RECEIVED)
    return lines.group_by("supplier", maintain_order=True).agg(
        (pl.col("level") == ExceptionLevel.LINE.value).sum().alias("lines"),
        *((pl.col("outcome") == outcome.value).sum().alias(name) for name, outcome in outcomes.items()),
        pl.col("qty_announced").sum(),
        pl.col("qty_received").sum(),
        *((pl.col("code") == code.value).sum().alias(code.value.lower()) for code in codes),
        at_stake.cast(MONEY).alias("impact_inr"),
    )


def _cards_aside(aside: Aside, outcome: ComparedOutcome) -> pl.DataFrame:
    lines = pl.col("lines").sum()
    counts = {
        name: lines if name == outcome.name.lower() else pl.lit(0, pl.UInt32)
        for name in ("matched", "within_tolerance", "too_early", "exceptions")
    }
    return (
        aside.of(outcome)
        .group_by("supplier", maintain_order=True)
        .agg(
            lines,
            *(count.alias(name) for name, count in counts.items()),
            pl.col("units").sum().alias("qty_announced"),
            pl.col("units_received").sum().alias("qty_received"),
            *(pl.lit(0, pl.UInt32).alias(name) for name in ("short", "over", "not_received")),
            pl.lit(0, MONEY).alias("impact_inr"),
        )
    )


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
