"""Whatever the legs hold, every line and unit of each stands in exactly one class."""

from datetime import date
from decimal import Decimal

import polars as pl
import pytest
from campaigns.scale import size
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reconciliation.world import World

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.model.reconciliation import ComparedOutcome, Reconciliation
from logistics_batch.reconciliation import Rules, audit
from logistics_batch.reconciliation.totals import check_residual

TODAY = date(2026, 11, 10)
few = st.sampled_from


def few_or_many(elements: st.SearchStrategy, *, few: int) -> st.SearchStrategy:
    """A few, or many: an audit of many takes no longer, and shows what only goes wrong beside others."""
    return st.lists(elements, max_size=few) | st.lists(elements, min_size=3 * few, max_size=5 * few)


invoices = few(["I1", "i1 ", "I2", "I3", ""]) | st.integers(4, 20).map("I{}".format)
suppliers = few(["S-1", "s1", "S-2", "", None])
sites = few(["BHI", "DEL", "", None])
skus = few(["W", "w ", "X", "Y", "", None])
quantities = few(["1", "2.5", "10", "10.000", "0", "-3", "many", "", None, "1,000"])
prices = few(["1.00", "2.5", "", None, "x"])
dates = few(["2026-11-01", "2026-11-30", "soon", None])
conditions = few(["", "good", "Damaged", "HOLD", "strange", None])
lines = st.lists(st.tuples(skus, quantities, prices), max_size=4)
headers = st.fixed_dictionaries(
    {
        "supplier": suppliers,
        "site": sites,
        "delivery_date": dates,
        "batch": few(["", "B1", None]),
        "in_window": st.booleans(),
    }
)
announcements = few_or_many(st.tuples(invoices, lines, headers, st.booleans()), few=5)
records = few_or_many(st.tuples(invoices, lines, headers), few=5)
receipt = st.fixed_dictionaries(
    {"supplier_name": suppliers, "site_name": sites, "condition": conditions, "received_date": dates}
)
receipts = st.none() | few_or_many(st.tuples(invoices, skus, quantities, receipt), few=8)


def world_of(announced, returned, received) -> World:
    world = World()
    for invoice, told, header, accepted in announced:
        world.announce(invoice, *told, **header, accepted=accepted, why="held: a person must decide")
    for invoice, told, header in returned:
        world.serve(invoice, *told, **header)
    if received is not None:
        world.no_receipts_came()
        for invoice, sku, qty, more in received:
            world.receive(invoice, sku, qty, **more)
    return world


def units(texts) -> Decimal:
    """What can be read of quantities, counted without the auditor's help."""
    return sum((Decimal(text) for text in texts if text not in {"many", "", None, "1,000"}), Decimal(0))


def leg_sums(found: Reconciliation, leg: str) -> tuple[int, Decimal]:
    count = int(found.lines[f"lines_{leg}"].sum())
    return count, sum((value for value in found.lines[f"qty_{leg}"] if value is not None), Decimal(0))


@pytest.mark.slow
@settings(max_examples=size(7, 90), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(announcements, records, receipts, st.booleans())
def test_lines_and_units_of_every_leg_tie_out(announced, returned, received, complete):
    """So they do in `test_exact_matches.py`, of as many legs again."""
    world = world_of(announced, returned, received)
    ties_out(audit(world.legs(), rules=Rules(business_date=TODAY, complete=complete)), world)


def ties_out(found: Reconciliation, world: World) -> None:
    told = {"announced": world.announced_lines, "returned": world.returned_lines, "received": world.receipts or []}
    for leg, source in told.items():
        assert leg_sums(found, leg) == (len(source), units(line["qty"] for line in source))
    assert found.classes["lines"].sum() == found.lines.height
    for line in found.outcome(ComparedOutcome.MATCHED).to_dicts():  # none that cannot be read or named
        assert line["qty_announced"] is not None and line["sku_name"].strip()
        assert line["qty_announced"] == line["qty_returned"]
        assert world.receipts is None or line["qty_received"] == line["qty_announced"] or line["qty_announced"] <= 0
    exceptions = found.exceptions
    assert exceptions["exception_id"].n_unique() == exceptions.height
    assert not any((exceptions[name] == "").any() for name in ("code", "reason", "severity"))


def test_a_report_that_does_not_tie_out_is_refused():
    world = World()
    world.both("I1", ("W", "10"))
    found = audit(world.legs(), rules=Rules(business_date=TODAY))
    lost = found.classes.with_columns(pl.col("qty_announced") - pl.lit("0.001").cast(pl.Decimal(38, 3)))
    with pytest.raises(LogisticsBatchError, match=r'does not tie out: the leg "announced" has 1 lines with 10\.000'):
        check_residual(lost, found.legs)
    check_residual(found.classes, found.legs)
