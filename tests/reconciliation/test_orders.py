"""Purchase orders as a leg: what was ordered against what was announced, down to what was received."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import polars as pl
import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import Discrepancy, Earlier, ExceptionLevel
from logistics_batch.reconciliation import Limit, Rules, audit, counted_once

TODAY = date(2026, 11, 10)
PLAIN = Rules(business_date=TODAY)


def told(world: World, rules: Rules = PLAIN) -> list[dict[str, object]]:
    """The lines of the orders."""
    return audit(world.legs(), rules=rules).lines.filter(pl.col("level") == ExceptionLevel.ORDER.value).to_dicts()


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
    due = (date(2026, 11, 1), date(2026, 11, 9))
    first = audit(world.legs(), rules=replace(PLAIN, due=due), earlier=Earlier())
    (line,) = first.exceptions.to_dicts()
    world.both("I2", ("W", "5"), po_number="9")
    (later,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert later["exception_id"] == line["exception_id"] and later["qty_affected"] == 5
    earlier = Earlier(run="run-1", business_date=TODAY, listed=first.remembered)
    world.both("I3", ("W", "5"), po_number="9")
    next_day = replace(PLAIN, business_date=date(2026, 11, 11), due=due)
    (gone,) = audit(world.legs(), rules=next_day, earlier=earlier).resolved.to_dicts()
    assert (gone["standing"], gone["became"]) == ("resolved", "Tonight it is matched.")
    world.orders = None
    (gone,) = audit(world.legs(), rules=next_day, earlier=earlier).resolved.to_dicts()
    assert (gone["standing"], gone["became"]) == ("not checked", "No purchase orders were compared tonight.")


def told_of_lists(world: World) -> list[dict[str, object]]:
    """The lines of orders that stand in several lists, as the job puts them together."""
    legs = world.legs()
    assert legs.ordered is not None
    counted = counted_once(legs.ordered)
    lines = audit(replace(legs, ordered=counted.lines), rules=PLAIN).lines
    return lines.filter(pl.col("level") == ExceptionLevel.ORDER.value).to_dicts()


@pytest.mark.parametrize(
    ("amended", "expected"),
    [({"qty": "80"}, "OVER"), ({"delivery_date": "2026-11-12"}, "matched"), ({"price": "3.00"}, "PRICE_VAR")],
)
def test_an_amended_order_stands_in_the_place_of_the_earlier_one(amended, expected):
    world = World()
    world.both("I1", ("W", "100", "2.00"), po_number="4712")
    told_first = {"qty": "100", "price": "2.00", "row": 2}
    world.order("4712", "W", **told_first, file_name="po1.csv")
    world.order("PO 4712", "w", **told_first | amended, file_name="po2.csv")
    (line,) = told_of_lists(world)
    assert code(line) == expected
    assert expected == "matched" or "in the place of earlier lists: po1.csv row 2." in str(line["reason"])


def test_a_line_that_a_later_list_of_its_order_lacks_may_be_cancelled():
    world = World()
    world.both("I1", ("W", "10"), ("V", "5"), po_number="7")
    for sku, qty in (("W", "10"), ("V", "5"), ("X", "3")):
        world.order("7", sku, qty, file_name="po1.csv")
    world.order("7", "W", "10", file_name="po2.csv")
    lines = {line["sku_name"]: line for line in told_of_lists(world)}
    assert {sku: code(line) for sku, line in lines.items()} == {"W": "matched", "V": "matched", "X": "UNVERIFIABLE"}
    assert "the later list po2.csv names the order without this SKU" in str(lines["X"]["reason"])


@pytest.mark.parametrize(
    ("ordered", "announced", "expected", "inr"),
    [
        ([("100", "100")], [("50", "100"), ("50", "140")], "PRICE_VAR", "2000.00"),
        ([("100", "100")], [("50", "60"), ("50", "140")], "UNVERIFIABLE", None),
        ([("50", "100"), ("50", "140")], [("60", "140"), ("40", "100")], "UNVERIFIABLE", None),
        ([("50", "100"), ("50", "140")], [("50", "140"), ("50", "100")], "matched", None),
        ([("100", "100")], [("50", "100"), ("50", "")], "UNVERIFIABLE", None),
    ],
)
def test_prices_of_several_lines_are_not_hidden_by_their_average(ordered, announced, expected, inr):
    world = World()
    world.both("I6", *(("W", qty, price) for qty, price in announced), po_number="4716")
    for qty, price in ordered:
        world.order("4716", "W", qty, price=price)
    (line,) = told(world)
    assert code(line) == expected
    assert inr is None or str(line["impact_inr"]) == inr


def test_an_order_that_others_announce_or_that_goes_elsewhere_does_not_match():
    world = World()
    world.both("I8", ("W", "10"), po_number="1", supplier="Z1", supplier_name="Zeta Foods")
    world.both("I9", ("W", "10"), po_number="2", site="D1", site_name="DELHI-01")
    world.both("I7", ("W", "10"), po_number="3", supplier="S-1", supplier_name="Acme Traders Pvt Ltd")
    for number in ("1", "2", "3"):
        world.order(number, "W", "10", site_name="BHIWANDI-01")
    lines = {line["po_number"]: line for line in told(world)}
    assert [code(lines[number]) for number in ("1", "2", "3")] == ["HEADER_DIFF", "HEADER_DIFF", "matched"]
    assert "announced by or for Zeta Foods of ASN I8" in str(lines["1"]["reason"])
    assert "announced by or for DELHI-01 of ASN I9" in str(lines["2"]["reason"])


def of_two_suppliers(**announced: tuple[str, str]) -> World:
    """Invoice N of Acme and of Zeta, each with pieces and price."""
    world = World()
    for supplier, (qty, price) in announced.items():
        world.both("N", ("W", qty, price), supplier=supplier, supplier_name=supplier)
        world.receive("N", "W", qty, supplier_name=supplier)
    return world


@pytest.mark.parametrize(
    ("ordered", "announced", "expected"),
    [
        ((("10", "1"), ("20", "1")), (("20", "1"), ("10", "1")), [("Acme", "OVER"), ("Zeta", "SHORT")]),
        ((("10", "3"), ("10", "1")), (("10", "1"), ("10", "3")), [("Acme", "PRICE_VAR"), ("Zeta", "PRICE_VAR")]),
        ((("10", "1"), ("30", "1")), (("10", "1"), ("20", "1")), [("Acme", "matched"), ("Zeta", "SHORT")]),
    ],
)
def test_an_invoice_number_of_two_suppliers_is_an_order_of_each(ordered, announced, expected):
    world = of_two_suppliers(Acme=announced[0], Zeta=announced[1])
    for supplier, (qty, price) in zip(("Acme", "Zeta"), ordered, strict=True):
        world.order("", "W", qty, price=price, invoice_number="N", supplier_name=supplier)
    lines = told(world)
    assert sorted((line["supplier"], code(line)) for line in lines) == expected
    assert all(line["qty_returned"] is None and line["qty_received"] is None for line in lines), "not told apart"


def test_an_order_that_no_asn_names_is_found_by_its_invoice_number():
    world = World()
    world.both("I7", ("W", "10"))
    world.order("771", "W", "10", invoice_number="I7")
    world.order("772", "W", "10", invoice_number="I8")
    assert sorted((line["po_number"], code(line)) for line in told(world)) == [("771", "matched"), ("772", "NO_ASN")]


def parted_order(*announced: tuple[str, str, str], sites: bool) -> World:
    """An order of 10 from each of two suppliers, or for each of two sites; announced: supplier, site, quantity."""
    world = World()
    for nth, (supplier, site, qty) in enumerate(announced):
        world.both(f"I{nth}", ("W", qty, "2.00"), supplier=supplier, site=site, po_number="PO 1")
    for nth in ("1", "2"):
        named = {"supplier_name": "S-1", "site_name": f"B-{nth}"} if sites else {"supplier_name": f"S-{nth}"}
        world.order("1", "W", "10", price="2.00", **named)
    return world


@pytest.mark.parametrize(
    ("sites", "announced", "expected"),
    [
        (False, [("S-1", "B-1", "20")], ["NO_ASN", "OVER"]),
        (False, [("S-1", "B-1", "10"), ("S-2", "B-1", "10")], ["matched", "matched"]),
        (False, [("S-1", "B-1", "15"), ("S-2", "B-1", "5")], ["OVER", "SHORT"]),
        (True, [("S-1", "B-1", "20")], ["NO_ASN", "OVER"]),
        (True, [("S-1", "B-1", "10"), ("S-1", "B-2", "10")], ["matched", "matched"]),
        # Of one that names neither nobody can say whose part it is.
        (False, [("S-1", "B-1", "10"), ("S-9", "B-1", "10")], ["matched"]),
    ],
)
def test_what_one_supplier_or_site_lacks_is_not_made_good_by_another(sites, announced, expected):
    lines = told(parted_order(*announced, sites=sites))
    assert sorted(str(code(line)) for line in lines) == expected


@pytest.mark.parametrize(
    ("announced", "expected", "units", "due", "words"),
    [
        ("60", "too early", 40, date(2026, 11, 30), "announced 60 so far; due 2026-11-30"),
        ("45", "SHORT", 15, date(2026, 11, 1), "Ordered 100 (60 of it due by now), announced 45: 15 fewer."),
        (None, "NO_ASN", 60, date(2026, 11, 1), "Ordered 100 (60 of it due by now), due 2026-11-01; no accepted ASN"),
        ("100", "matched", 0, date(2026, 11, 30), ""),
    ],
)
def test_the_part_of_an_order_that_is_due_waits_for_no_later_part(announced, expected, units, due, words):
    world = World()
    if announced:
        world.both("I1", ("W", announced, "2.00"), po_number="1")
    world.order("1", "W", "60", price="2.00", delivery_date="2026-11-01")
    world.order("1", "W", "40", price="2.00", delivery_date="2026-11-30")
    (line,) = told(world)
    assert (code(line), line["qty_affected"], line["due_date"]) == (expected, units, due)
    assert words in str(line["reason"])


def test_the_scorecard_counts_the_exceptions_of_orders_as_the_summary_does():
    world = World()
    world.both("I1", ("W", "80", "2.00"), po_number="PO 4711")
    world.order("4711", "w", "100", price="2.00")
    world.order("4712", "V", "5", supplier_name="Of orders alone")
    result = audit(world.legs(), rules=PLAIN)
    lines = result.lines.filter(pl.col("outcome") == "exception")
    summed = lines.group_by("supplier").agg(pl.len(), pl.col("impact_inr").sum()).sort("supplier").rows()
    cards = result.suppliers.sort("supplier")
    assert cards.select("supplier", "exceptions", "impact_inr").rows() == summed
    assert [name for name, *_ in summed] == ["Of orders alone", "S-1"]
    assert cards.select("notices", "lines", "matched", "short", "qty_announced").rows() == [
        (0, 0, 0, 0, Decimal(0)),
        (1, 1, 1, 1, Decimal(80)),
    ]
