"""Margins by supplier and SKU, the claim window, differences that cancel out, and what is said besides."""

from datetime import date
from decimal import Decimal

import pytest
from reconciliation.world import World

from logistics_batch.errors import UsageError
from logistics_batch.flows.reconcile.reconcile import limits_of
from logistics_batch.model.jobs.job import Margin, Tolerance
from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation import Limit, Rules, audit

TODAY = date(2026, 11, 10)
PLAIN = Rules(business_date=TODAY)


def codes(world: World, rules: Rules = PLAIN) -> list[tuple[str, str]]:
    lines = audit(world.legs(), rules=rules).lines
    return sorted((line["invoice_number"], line["code"] or line["outcome"]) for line in lines.to_dicts())


@pytest.mark.parametrize(
    ("sku", "supplier", "received", "expected"),
    [
        ("W", "S-9", "98", "SHORT"),
        ("W", "Acme Ltd.", "98", "within tolerance"),
        ("W", "Acme Ltd.", "94", "SHORT"),
        ("FRESH-7", "S-9", "97", "within tolerance"),
        ("FRESH-7", "Acme Ltd.", "96", "SHORT"),  # of both the SKU's margin holds
        ("UNFRESH-7", "S-9", "97", "SHORT"),
    ],
)
def test_margins_differ_by_supplier_and_sku(sku, supplier, received, expected):
    limit = Limit(
        units=Decimal(1),
        suppliers={"ACME LTD": Limit(units=Decimal(5))},
        skus={"fresh-*": Limit(percent=Decimal(3))},
    )
    world = World()
    world.both("I1", (sku, "100"), supplier=None, supplier_name=supplier)
    world.receive("I1", sku, received)
    assert codes(world, Rules(business_date=TODAY, limits={Discrepancy.SHORT: limit})) == [("I1", expected)]


def test_margins_of_a_job_become_limits():
    given = Tolerance(units=2, suppliers={"Acme": Margin(percent=1)}, skus={"F-*": Margin(units=9)})
    limits = limits_of({"SHORT": given, "LATE": Tolerance(days=4), "TOTAL_MISMATCH": Tolerance(amount="5.00")})
    assert limits[Discrepancy.SHORT].suppliers == {"Acme": Limit(percent=Decimal("1.0"))}
    assert limits[Discrepancy.SHORT].skus == {"F-*": Limit(units=Decimal("9.0"))}
    assert limits[Discrepancy.LATE].days == 4
    assert str(limits[Discrepancy.SHORT]) == "2.0 units; Acme: 1.0 %; F-*: 9.0 units"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("LATE", Tolerance(percent=1), "LATE is not measured in percent"),
        ("SHORT", Tolerance(days=1), "SHORT is not measured in days"),
        ("MRP_VAR", Tolerance(units=1), "MRP_VAR is not counted in units"),
        ("SHORT", Tolerance(units=1, suppliers={"A": Margin(amount="1.00")}), "SHORT is not measured in rupees"),
        ("EARLY", Tolerance(days=1, suppliers={"A": Margin()}), "EARLY has one tolerance for all suppliers"),
        ("TAX_VAR", Tolerance(amount="1.00", skus={"A": Margin()}), "TAX_VAR has one tolerance for all SKUs"),
        ("HEADER_DIFF", Tolerance(percent=1), 'class "HEADER_DIFF" has no tolerance'),
    ],
)
def test_margins_that_a_class_cannot_have_are_refused(name, given, message):
    with pytest.raises(UsageError, match=message):
        limits_of({name: given})


@pytest.mark.parametrize(("due", "left"), [("2026-11-01", 51), ("2026-09-11", 0), ("2026-08-01", -41)])
def test_the_claim_window_closes(due, left):
    world = World()
    world.both("I1", ("W", "10", "5.00"), delivery_date=due)
    world.receive("I1", "W", "7")
    line = audit(world.legs(), rules=PLAIN).exceptions.row(0, named=True)
    assert (line["code"], line["claim_days_left"]) == ("SHORT", left)


def test_what_nobody_can_claim_has_no_claim_window():
    world = World()
    world.both("I1", ("W", "10", "5.00"))
    world.receive("I1", "W", "13")
    assert audit(world.legs(), rules=PLAIN).exceptions["claim_until"].to_list() == [None]


@pytest.mark.parametrize(
    ("in_service", "received", "code"),
    [("7", None, "SHORT"), ("7", "10", "SHORT"), (None, None, "MISSING_SKU"), (None, "10", "MISSING_SKU")],
)
def test_what_only_the_service_lacks_is_owed_by_nobody(in_service, received, code):
    world = World()
    world.announce("I1", ("W", "10", "5.00"), ("V", "1", "1.00"))
    world.serve("I1", *([("W", in_service, "5.00")] if in_service else []), ("V", "1", "1.00"))
    if received:
        world.receive("I1", "W", received)
        world.receive("I1", "V", "1")
    (line,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert (line["code"], line["claim_until"], line["claim_days_left"]) == (code, None, None)


@pytest.mark.parametrize(("in_service", "code"), [("7", "SHORT"), (None, "MISSING_SKU")])
def test_what_the_service_lacks_and_the_dock_as_well_can_be_claimed(in_service, code):
    world = World()
    world.announce("I1", ("W", "10", "5.00"), ("V", "1", "1.00"))
    world.serve("I1", *([("W", in_service, "5.00")] if in_service else []), ("V", "1", "1.00"))
    world.receive("I1", "V", "1")
    world.receive("I1", "W", "4")
    (line,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert (line["code"], line["claim_until"]) == (code, date(2026, 12, 31))


def test_what_was_ordered_and_not_announced_has_no_claim_window():
    world = World()
    world.both("I1", ("W", "8", "5.00"), po_number="4711")
    world.order("4711", "W", "10")
    world.receive("I1", "W", "8")
    (line,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert (line["level"], line["code"], line["claim_until"]) == ("order", "SHORT", None)


def pairs(world: World) -> dict[str, tuple[str, str]]:
    """The reason and the invoice and SKU of the partner, by invoice and SKU."""
    lines = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    named = {line["exception_id"]: f"{line['invoice_number']} {line['sku_name']}" for line in lines}
    return {
        f"{line['invoice_number']} {line['sku_name']}": (line["code"], named.get(line["pair_id"], "")) for line in lines
    }


def test_goods_booked_on_the_wrong_asn_are_paired():
    world = World()
    world.both("I1", ("W", "10"), ("V", "3"))
    world.both("I2", ("Z", "8"))
    world.receive("I1", "V", "3")
    world.receive("I2", "Z", "8")
    world.receive("I2", "W", "10")
    assert pairs(world) == {"I1 W": ("MISSING_SKU", "I2 W"), "I2 W": ("EXTRA_SKU", "I1 W")}
    reasons = audit(world.legs(), rules=PLAIN).exceptions["reason"].to_list()
    assert any("10 more of it on invoice I2: booked on the wrong ASN?" in reason for reason in reasons)
    assert any("10 fewer of it on invoice I1: booked on the wrong ASN?" in reason for reason in reasons)


def test_units_counted_as_another_sku_of_the_invoice_are_paired():
    world = World()
    world.both("I1", ("W", "10"), ("V", "10"))
    world.receive("I1", "W", "6")
    world.receive("I1", "V", "14")
    assert pairs(world) == {"I1 W": ("SHORT", "I1 V"), "I1 V": ("OVER", "I1 W")}


def test_a_mistyped_invoice_number_pairs_what_is_missing_with_what_is_unexpected():
    world = World()
    world.announce("INV-100", ("W", "17"))
    world.serve("INV-I00", ("W", "17"))
    assert pairs(world) == {
        "INV-100 W": ("MISSING_IN_SERVICE", "INV-I00 W"),
        "INV-I00 W": ("UNEXPECTED_IN_SERVICE", "INV-100 W"),
    }


def test_pairs_that_leave_a_choice_are_not_guessed():
    world = World()
    for invoice in ("I1", "I2", "I3"):
        world.both(invoice, ("W", "10"))
        world.receive(invoice, "W", "12" if invoice == "I3" else "8")
    assert {partner for _, partner in pairs(world).values()} == {""}


def test_rows_alike_in_the_receipts_are_summed_and_named():
    world = World()
    world.both("I1", ("W", "10"))
    for _ in range(2):
        world.receive("I1", "W", "10", received_date="2026-11-01")
    line = audit(world.legs(), rules=PLAIN).exceptions.row(0, named=True)
    assert line["code"] == "OVER"
    assert line["reason"].endswith("2 receipt rows summed. Receipt rows 2, 3 are alike: counted twice?")


def test_an_asn_called_completed_though_goods_are_missing_is_said_to_be():
    world = World()
    world.both("I1", ("W", "10"), status="Completed")
    world.receive("I1", "W", "6")
    line = audit(world.legs(), rules=PLAIN).exceptions.row(0, named=True)
    assert line["code"] == "SHORT" and "nevertheless calls the ASN Completed" in line["reason"]


def test_a_total_that_the_lines_explain_is_told_once():
    world = World()
    world.announce("I1", ("W", "10", "5.00"), total_price="50.00")
    world.serve("I1", ("W", "10", "6.00"), total_price="60.00")
    world.receive("I1", "W", "10")
    assert codes(world) == [("I1", "PRICE_VAR")]


def test_a_total_with_charges_that_was_sent_so_is_no_mismatch():
    world = World()
    world.both("I1", ("W", "10", "5.00"), total_price="59.00")
    world.receive("I1", "W", "10")
    assert codes(world) == [("I1", "matched")]


@pytest.mark.parametrize(
    ("announced", "returned", "expected"),
    [
        ("59.00", "69.00", []),  # with charges of 9.00 on both sides
        ("50.00", "160.00", [("TOTAL_MISMATCH", "100.00", " Of the lines it is INR 50.00 and INR 60.00.")]),
        ("50.00", "45.00", [("TOTAL_MISMATCH", "15.00", " Of the lines it is INR 50.00 and INR 60.00.")]),
    ],
)
def test_what_the_lines_explain_of_a_total_is_at_stake_once(announced, returned, expected):
    world = World()
    world.announce("I1", ("W", "10", "5.00"), total_price=announced)
    world.serve("I1", ("W", "10", "6.00"), total_price=returned)
    lines = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    of_asn = [one for one in lines if one["level"] == "ASN"]
    assert [(one["code"], str(one["impact_inr"])) for one in of_asn] == [told[:2] for told in expected]
    assert all(one["reason"].endswith(told[2]) for one, told in zip(of_asn, expected, strict=True))
    assert [str(one["impact_inr"]) for one in lines if one["code"] == "PRICE_VAR"] == ["10.00"]


def test_the_services_own_total_is_held_against_its_lines():
    world = World()
    world.announce("I1", ("W", "10", "5.00"))
    world.serve("I1", ("W", "10", "5.00"), total_price="70.00")
    world.receive("I1", "W", "10")
    assert codes(world) == [("I1", "TOTAL_MISMATCH"), ("I1", "matched")]


@pytest.mark.parametrize(
    ("total", "tax", "code", "also", "inr", "words"),
    [
        (
            "150.00",
            "2.50",
            "TOTAL_MISMATCH",
            "TAX_VAR",
            "100.00",
            ["Sent with a total of", "Also announced with INR 9"],
        ),
        ("52.00", "99.00", "TAX_VAR", "TOTAL_MISMATCH", "90.00", ["Announced with INR 9", "Also sent with a total of"]),
        ("50.00", "2.50", "TAX_VAR", "", "6.50", ["Announced with INR 9"]),
        ("150.00", "9.00", "TOTAL_MISMATCH", "", "100.00", ["Sent with a total of"]),
    ],
)
def test_a_total_hides_no_tax_and_a_tax_no_total(total, tax, code, also, inr, words):
    world = World()
    world.announce("I1", ("W", "10", "5.00"), total_price="50.00", tax="9.00")
    world.serve("I1", ("W", "10", "5.00"), total_price=total, tax=tax)
    (line,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert (line["code"], line["also"], str(line["impact_inr"])) == (code, also, inr)
    assert [part for part in words if part not in line["reason"]] == []


@pytest.mark.parametrize(("shown", "told"), [(None, {"total_price": 1}), ("n/a", {"total_price": 1}), ("50.00", {})])
def test_a_total_that_the_service_does_not_return_is_named(shown, told):
    world = World()
    world.announce("I1", ("W", "10", "5.00"), total_price="50.00")
    world.serve("I1", ("W", "10", "5.00"), total_price=shown)
    assert audit(world.legs(), rules=PLAIN).not_returned == told


def test_a_retail_price_that_the_service_does_not_return_is_not_taken_as_equal():
    world = World()
    world.announce("I1", ("W", "10", "5.00", "9.00"))
    world.serve("I1", ("W", "10", "5.00"))
    assert codes(world) == [("I1", "UNVERIFIABLE")]


def test_the_services_qty_received_stands_apart_from_what_was_received():
    world = World()
    world.both("I1", ("W", "10"))
    world.returned_lines[0]["qty_requested"] = "7"
    line = audit(world.legs(), rules=PLAIN).lines.row(0, named=True)
    assert (line["outcome"], line["qty_received"], str(line["qty_requested"])) == ("matched", None, "7.000")


def test_a_delivery_date_moved_at_the_service_blames_nobody_for_being_early():
    world = World()
    world.announce("I1", ("W", "10"), delivery_date="2026-10-20")
    world.serve("I1", ("W", "10"), delivery_date="2026-10-29", status="Completed")
    world.receive("I1", "W", "10", received_date="2026-10-20")
    assert codes(world) == [("I1", "HEADER_DIFF"), ("I1", "matched")]


@pytest.mark.parametrize(
    ("received", "code", "units", "inr", "words"),
    [
        ([("2", "Damaged")], "SHORT", 100, "10000.00", ["received 2: 98 fewer", "Also 2 are damaged"]),
        ([("60", "Damaged")], "DAMAGED", 100, "10000.00", ["60 of 60 received are damaged", "Also 40 fewer received"]),
        ([("1", "Non standard pack"), ("1", "OK")], "SHORT", 99, "9900.00", ["98 fewer", "Also 1 are not packed"]),
        ([("30", "on hold"), ("20", "ok")], "SHORT", 80, "8000.00", ["50 fewer", "Also 30 are on hold"]),
        ([("10", "Rejected"), ("20", "Damaged"), ("70", "OK")], "DAMAGED", 30, "3000.00", ["Also 10 were rejected"]),
        ([("100", "on hold")], "HOLD", 100, "10000.00", ["100 of 100 received are on hold"]),
        ([("120", "on hold")], "HOLD", 120, "12000.00", ["Also 20 more received"]),
        ([("1", "smelly"), ("1", "ok")], "SHORT", 98, "9800.00", ['Also the receipt\'s condition "smelly"']),
    ],
)
def test_a_line_holds_all_that_is_wrong_with_it(received, code, units, inr, words):
    world = World()
    world.both("I1", ("A", "100", "100.00"), ("B", "1", "1.00"))
    world.receive("I1", "B", "1")
    for qty, condition in received:
        world.receive("I1", "A", qty, condition=condition)
    (line,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert (line["code"], line["qty_affected"], str(line["impact_inr"])) == (code, units, inr)
    for part in words:
        assert part in line["reason"]


@pytest.mark.parametrize(
    ("price", "mrp", "received", "code", "inr", "words"),
    [
        ("1000.00", "20.00", "99", "SHORT", "99010.00", "Also announced at INR 10.00 a unit, the service has 1000.00."),
        (
            "10.00",
            "25.00",
            "99",
            "SHORT",
            "510.00",
            "Also the retail price: announced INR 20.00, the service has 25.00",
        ),
        ("11.00", "25.00", "100", "MRP_VAR", "600.00", "Also announced at INR 10.00 a unit"),
        ("11.00", "20.00", "0", "NOT_RECEIVED", "1100.00", "Also announced at INR 10.00 a unit"),
    ],
)
def test_a_price_that_differs_counts_beside_what_else_is_wrong(price, mrp, received, code, inr, words):
    world = World()
    world.announce("I1", ("A", "100", "10.00", "20.00"))
    world.serve("I1", ("A", "100", price, mrp))
    world.receive("I1", "A", received)
    (line,) = audit(world.legs(), rules=PLAIN).exceptions.to_dicts()
    assert (line["code"], str(line["impact_inr"])) == (code, inr)
    assert words in line["reason"]
