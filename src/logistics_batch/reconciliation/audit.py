"""The audit: three legs in, one outcome for every line out, and sums that tie out to zero."""

from dataclasses import replace
from functools import cache, partial

import polars as pl

from logistics_batch.model.reconciliation import LINES_SCHEMA, LegTotals, Reconciliation
from logistics_batch.model.reconciliation_history import Earlier, Watch
from logistics_batch.reconciliation import totals
from logistics_batch.reconciliation.agreement import Agreement, set_aside
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.faces import accepted_pairs, not_returned
from logistics_batch.reconciliation.history import Carried, carried, uncompared
from logistics_batch.reconciliation.legs import Legs, identifier, with_units
from logistics_batch.reconciliation.line_audit import audited_lines, audited_orders

_NOTICES_AT_ONCE = 10_000


def audit(
    legs: Legs, *, rules: Rules, earlier: Earlier | None = None, watch: Watch | None = None, told: bool = True
) -> Reconciliation:
    """Compare the legs line by line, and the outcome with the nights before if `earlier` and `watch` are given.

    told: whether the report says anything of other nights; what the next one has to know is `remembered` in any case.
    Raises LogisticsBatchError if lines or quantities over all classes do not equal those of each leg.
    """
    read = _read(legs)
    agreement = set_aside(read, rules=rules, looked_at=_invoices(earlier, legs.unread))
    found, whole = audited_lines(agreement.left, rules=rules)
    if read.ordered is not None:
        found = pl.concat([found, audited_orders(read, rules=rules)], how="diagonal_relaxed")
    history = carried(found, earlier, watch=watch) if earlier and watch else Carried(uncompared(found))
    if not told:
        history = Carried(uncompared(found), remembered=history.remembered)
    lines = totals.in_report_order(history.lines)
    aside = totals.Aside.from_pairs(agreement.pairs, receipts=legs.received is not None)
    legs_totals = _leg_totals(read)
    classes = totals.class_totals(lines, aside)
    totals.check_residual(classes, legs_totals)
    return Reconciliation(
        differing=lines,
        agreeing=cache(partial(_agreeing_lines, agreement, rules)),
        classes=classes,
        suppliers=totals.supplier_totals(lines, aside),
        ageing=totals.ageing_totals(lines),
        legs=legs_totals,
        match_rate=totals.match_rate(lines, aside),
        not_returned=not_returned(accepted_pairs(whole), agreement.settled_pairs()),
        resolved=history.resolved,
        trend=history.trend,
        previous_run=earlier.run if earlier and told else "",
        remembered=history.remembered,
    )


def _invoices(earlier: Earlier | None, unread: pl.DataFrame) -> pl.Series:
    """The invoices whose lines are all looked at: of the earlier night's exceptions, and with receipts not read."""
    listed = (earlier or Earlier()).listed
    named = [frame.select(identifier("invoice_number").alias("invoice")) for frame in (listed, unread)]
    return pl.concat(named)["invoice"]


def _read(legs: Legs) -> Legs:
    """The legs with the quantities of their lines read."""
    return replace(
        legs,
        announced_notices=legs.announced_notices.rechunk(),
        returned_notices=legs.returned_notices.rechunk(),
        announced_lines=with_units(legs.announced_lines.rechunk()),
        returned_lines=with_units(legs.returned_lines.rechunk()),
        received=None if legs.received is None else with_units(legs.received),
        ordered=None if legs.ordered is None else with_units(legs.ordered),
    )


def _agreeing_lines(agreement: Agreement, rules: Rules) -> pl.DataFrame:
    """The lines that were set aside, put together as the whole audit does it, in parts: there may be millions."""
    found = (audited_lines(legs, rules=rules)[0] for legs in agreement.legs_aside(notices_at_once=_NOTICES_AT_ONCE))
    parts = [_told_once(lines) for lines in found]
    if not parts:
        return pl.DataFrame(schema=LINES_SCHEMA)
    firsts = pl.concat([first for _, first in parts], how="vertical_relaxed")
    told = {name for part, _ in parts for name in part.columns}
    same = [name for name in firsts.columns if name not in told and _is_same(firsts[name])]
    others = [name for name in firsts.columns if name not in same]
    whole = pl.concat(
        [
            part.with_columns(_everywhere(first.select(others).drop(part.columns))).select(others)
            for part, first in parts
        ],
        how="vertical_relaxed",
    )
    return totals.in_report_order(whole.with_columns(_everywhere(firsts.select(same))))


def _told_once(lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The invoice and what else differs from line to line, and the first line, which says what the others hold."""
    return lines.select("invoice_number", *_differing(lines)), lines.head(1)


def _differing(lines: pl.DataFrame) -> list[str]:
    return [column.name for column in lines if column.name != "invoice_number" and not _is_same(column)]


def _everywhere(lines: pl.DataFrame) -> list[pl.Expr]:
    """What the first line says, for all lines."""
    return [pl.lit(column).first().alias(column.name) for column in lines]


def _is_same(column: pl.Series) -> bool:
    return column.n_unique() <= 1


def _leg_totals(legs: Legs) -> tuple[LegTotals, ...]:
    """Counted from the legs as they came in, so that the check sees whatever matching lost or doubled."""
    announced = totals.leg_totals(
        "announced",
        notices=legs.announced_notices.height,
        lines=legs.announced_lines,
        rows_apart=legs.unsent_rows.height,
    )
    returned = totals.leg_totals("in service", notices=legs.returned_notices.height, lines=legs.returned_lines)
    found = [announced, returned]
    if legs.received is not None:
        invoices = legs.received["invoice_number"].n_unique()
        found.append(totals.leg_totals("received", notices=invoices, lines=legs.received))
    if legs.ordered is not None:
        orders = legs.ordered.select(pl.coalesce("po_number", "invoice_number")).to_series().n_unique()
        found.append(totals.leg_totals("ordered", notices=orders, lines=legs.ordered))
    return tuple(found)
