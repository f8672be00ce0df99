"""Purchase orders as a leg: what was ordered against what was announced, down to what was received."""

from datetime import date
from decimal import Decimal

import polars as pl
import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import Discrepancy, Level
from logistics_batch.model.reconciliation_history import Earlier, Watch
from logistics_batch.reconciliation import Limit, Rules, audit

TODAY = date(2026, 11, 10)
PLAIN = Rules(business_date=TODAY)


def told(world: World, rules: Rules = PLAIN) -> list[dict[str, object]]:
    """The lines of the orders."""
    return audit(world.legs(), rules=rules).lines.filter(pl.col("level") == Level.ORDER.value).to_dicts()


def code(line: dict[str, object]) -> object:
    return line["code"] or line["outcome"]


@pytest.mark.parametrize(
    ("ordered", "announced", "more", "expected", "units", "inr"),
    [
        ("100", "100", {}, "matched", 0, None),
        ("100", "80", {}, "SHORT", 20, "40.00"),
        ("100", "120", {}, "OVER", 20, "40.00"),
        ("100", "80", {"delivery_date": "2026-11-30"}, "too early", 20, None),
        ("100", "120", {"delivery_date": "2026-11-30"}, "OVER", 20, "40.00"),
        ("100", "100", {"price": "1.50"}, "PRICE_VAR", 100, "50.00"),
        ("100", "80", {"price": "1.50"}, "SHORT", 20, "70.00"),
        ("100", "99", {}, "within tolerance", 1, None),
        ("many", "100", {}, "UNVERIFIABLE", 100, None),
    ],
)
def test_an_order_line_is_judged_like_any_other(ordered, announced, more, expected, units, inr):
    world = World()
    world.both("I1", ("W", announced, "2.00"), po_number="PO 4711")
    world.order("4711", "w", ordered, **({"price": "2.00"} | more))
    limits = {Discrepancy.SHORT: Limit(units=Decimal(1))}
    (line,) = told(world, Rules(business_date=TODAY, limits=limits))
    assert (code(line), line["qty_affected"]) == (expected, units)
    if expected not in ("matched", "too early", "within tolerance"):
        assert (line["impact_inr"] is None) if inr is None else str(line["impact_inr"]) == inr


def test_an_order_is_announced_by_several_asns_and_seen_down_to_the_dock():
    world = World()
    world.both("I1", ("W", "50"), po_number="PO-9")
    world.both("I2", ("W", "30"), po_number="po 9")
    world.receive("I1", "W", "50")
    world.receive("I2", "W", "25")
    world.order("9", "W", "60", row=2)
    world.order("9", "W", "40", row=3)
    (line,) = told(world)
    assert code(line) == "SHORT"
    assert (
        line["reason"] == "Order 9: Ordered 100, announced 80: 20 fewer. On ASN I1, I2; in the service 80; received 75."
    )
    assert [str(line[f"qty_{leg}"]) for leg in ("ordered", "announced", "returned", "received")] == [
        "100.000",
        "80.000",
        "80.000",
        "75.000",
    ]
    assert (line["rows"], line["file_name"], line["lines_ordered"]) == ("2, 3", "orders.csv", 2)


def test_what_nobody_announced_and_what_nobody_ordered():
    world = World()
    world.both("I1", ("W", "10"), ("X", "5"), po_number="1")
    world.order("1", "W", "10")
    world.order("1", "V", "3")
    world.order("2", "W", "7")
    world.order("3", "W", "7", delivery_date=None)
    assert sorted((line["po_number"], line["sku_name"], code(line)) for line in told(world)) == [
        ("1", "V", "MISSING_SKU"),
        ("1", "W", "matched"),
        ("1", "X", "EXTRA_SKU"),
        ("2", "W", "NO_ASN"),
        ("3", "W", "UNVERIFIABLE"),
    ]


def test_without_a_number_the_invoice_and_the_supplier_tell_the_order():
    world = World()
    for supplier in ("A", "B"):
        world.both("I1", ("W", "10"), supplier=supplier)
    world.both("I2", ("W", "10"), supplier="A")
    world.order("", "W", "12", invoice_number="I1", supplier_name="b")
    world.order("", "W", "10", invoice_number="I2", supplier_name="Amalgamated")
    world.order("", "W", "1", invoice_number="", supplier_name="B")
    lines = {line["invoice_number"]: line for line in told(world)}
    assert {invoice: code(line) for invoice, line in lines.items()} == {
        "I1": "SHORT",
        "I2": "matched",
        "": "UNVERIFIABLE",
    }
    assert lines["I1"]["match_tier"] == "invoice number" and lines["I1"]["qty_announced"] == 10


def test_what_was_not_accepted_is_not_announced_but_told():
    world = World()
    world.both("I1", ("W", "60"), po_number="1")
    world.announce("I2", ("W", "40"), po_number="1", accepted=False, state="held", why="held")
    world.order("1", "W", "100")
    (line,) = told(world)
    assert code(line) == "SHORT" and "40 more stand in files, but were not accepted." in str(line["reason"])


def test_the_sums_of_all_four_legs_tie_out_and_orders_are_no_part_of_the_match_rate():
    world = World()
    world.both("I1", ("W", "50"), po_number="9")
    world.receive("I1", "W", "50")
    world.order("9", "W", "60")
    found = audit(world.legs(), rules=PLAIN)
    assert [(leg.name, leg.lines, leg.quantity) for leg in found.legs] == [
        ("announced", 1, "50.000"),
        ("in service", 1, "50.000"),
        ("received", 1, "50.000"),
        ("ordered", 1, "60.000"),
    ]
    assert found.match_rate.lines == 1 and found.match_rate.line_percent == 100
    assert found.classes["qty_announced"].sum() == 50 and found.classes["qty_ordered"].sum() == 60


def test_orders_without_receipts_are_a_third_leg():
    world = World()
    world.both("I1", ("W", "50"), po_number="9")
    world.order("9", "W", "60")
    assert [leg.name for leg in audit(world.legs(), rules=PLAIN).legs] == ["announced", "in service", "ordered"]


def test_an_order_line_keeps_its_id_and_is_resolved_only_by_orders():
    world = World()
    world.both("I1", ("W", "50"), po_number="9")
    world.order("9", "W", "60")
    first = audit(world.legs(), rules=PLAIN)
    (line,) = first.exceptions.to_dicts()
    world.both("I2", ("W", "5"), po_number="9")
    (later,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert later["exception_id"] == line["exception_id"] and later["qty_affected"] == 5
    earlier = Earlier(
        name="reconciliation.xlsx",
        run="run-1",
        business_date=TODAY,
        listed=first.exceptions.with_columns(
            pl.lit("").alias("standing"),
            *(pl.lit(None, pl.Date).alias(name) for name in ("last_seen", "gone_since")),
            pl.lit("").alias("became"),
        ),
    )
    world.both("I3", ("W", "5"), po_number="9")
    watch = Watch(date(2026, 11, 11), (date(2026, 11, 1), date(2026, 11, 9)), complete=True, orders=True)
    (gone,) = audit(world.legs(), rules=PLAIN, earlier=earlier, watch=watch).resolved.to_dicts()
    assert (gone["standing"], gone["became"]) == ("resolved", "Tonight it is matched.")
    world.orders = None
    watch = Watch(date(2026, 11, 11), (date(2026, 11, 1), date(2026, 11, 9)), complete=True)
    (gone,) = audit(world.legs(), rules=PLAIN, earlier=earlier, watch=watch).resolved.to_dicts()
    assert (gone["standing"], gone["became"]) == ("not checked", "No purchase orders were compared tonight.")
