"""A receipt row that cannot be read may be the goods that a line lacks: nothing is claimed, and the row is named."""

from datetime import date

import pytest
from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit

RULES = Rules(business_date=date(2026, 11, 10))


def lines(world: World) -> dict[str, dict]:
    found = audit(world.legs(), rules=RULES).lines
    return {line["sku_name"]: line for line in found.iter_rows(named=True)}


def announced(*skus: str) -> World:
    world = World()
    world.both("I1", *((sku, "10", "5.00") for sku in skus))
    world.no_receipts_came()
    return world


def test_nothing_read_is_not_nothing_received():
    world = announced("A", "B")
    world.receive("I1", "B", "10")
    world.receive_unreadably(invoice_number="I1", sku_name="A")
    told = lines(world)
    assert (told["A"]["code"], told["A"]["impact_inr"]) == ("UNVERIFIABLE", None)
    assert 'receipts.csv row 90, cell D90 "10 pcs"' in told["A"]["reason"]
    assert told["B"]["outcome"] == "matched"  # the row names another SKU


def test_a_row_that_names_no_sku_may_be_any_line_of_its_invoice():
    world = announced("A", "B", "C")
    world.receive("I1", "B", "10")
    world.receive("I1", "C", "8")
    world.receive("I1", "C", "2", condition="damaged")
    world.receive_unreadably(invoice_number="i1 ")
    told = lines(world)
    assert [told[sku]["code"] for sku in "ABC"] == ["UNVERIFIABLE", "UNVERIFIABLE", "DAMAGED"]
    assert (str(told["C"]["impact_inr"]), told["C"]["also"]) == ("10.00", "UNVERIFIABLE")
    assert "Also not certain" in told["C"]["reason"] and "row 90" in told["C"]["reason"]


@pytest.mark.parametrize("received", ["7", "13"])
def test_neither_short_nor_over_is_claimed(received):
    world = announced("A")
    world.receive("I1", "A", received)
    world.receive_unreadably(invoice_number="I1", sku_name="A")
    assert lines(world)["A"]["code"] == "UNVERIFIABLE"


def test_no_swap_is_seen_where_a_row_could_not_be_read():
    world = announced("A")
    world.receive("I1", "X", "10")
    world.receive_unreadably(invoice_number="I1")
    assert {sku: line["code"] for sku, line in lines(world).items()} == {"A": "UNVERIFIABLE", "X": "EXTRA_SKU"}


def test_what_the_service_shows_is_certain_all_the_same():
    world = World()
    world.announce("I1", ("A", "10", "5.00"))
    world.serve("I1", ("A", "4", "5.00"))
    world.receive_unreadably(invoice_number="I1", sku_name="A")
    told = lines(world)["A"]
    assert (told["code"], told["also"]) == ("SHORT", "UNVERIFIABLE") and "the service holds 4" in told["reason"]


def test_a_row_without_an_invoice_may_be_any_missing_goods_of_its_sku():
    world = announced("A", "B")
    world.both("I2", ("A", "3", "5.00"))
    world.receive("I2", "A", "3")
    world.receive_unreadably(sku_name="A")
    found = audit(world.legs(), rules=RULES).lines
    told = {(one["invoice_number"], one["sku_name"]): one for one in found.iter_rows(named=True)}
    assert told["I1", "A"]["code"] == "UNVERIFIABLE" and "names this SKU and no invoice" in told["I1", "A"]["reason"]
    assert told["I1", "B"]["code"] == "NOT_RECEIVED" and told["I2", "A"]["outcome"] == "matched"


def test_a_row_that_names_nothing_is_told_beside_what_it_might_explain():
    world = announced("A")
    world.receive_unreadably()
    told = lines(world)["A"]
    assert told["code"] == "NOT_RECEIVED"
    assert "Perhaps not so" in told["reason"] and "row 90" in told["reason"]


def test_what_is_not_due_yet_stays_too_early():
    world = World()
    world.both("I1", ("A", "10", "5.00"), delivery_date="2026-11-10")
    world.receive_unreadably(invoice_number="I1", sku_name="A")
    assert lines(world)["A"]["outcome"] == "too early"


def test_of_two_suppliers_only_the_one_that_the_row_names_is_in_doubt():
    world = World()
    for supplier in ("Acme", "Zeta"):
        world.both("77", (f"{supplier}-A", "10", "5.00"), supplier=supplier)
    world.receive_unreadably(invoice_number="77", supplier_name="ACME", site_name="BHI")
    told = lines(world)
    assert {sku: line["code"] for sku, line in told.items()} == {"Acme-A": "UNVERIFIABLE", "Zeta-A": "NOT_RECEIVED"}


def test_corrections_are_netted_and_named():
    world = announced("A", "B")
    world.receive("I1", "A", "12")
    world.receive("I1", "A", "-2")
    world.receive("I1", "B", "10")
    world.receive("I1", "B", "-3")
    told = lines(world)
    assert (
        told["A"]["outcome"] == "matched"
        and told["A"]["reason"] == "Corrections are taken off: -2 (receipts.csv row 3)."
    )
    assert (told["B"]["code"], str(told["B"]["qty_affected"])) == ("SHORT", "3.000")
    assert "Corrections are taken off: -3 (receipts.csv row 5)." in told["B"]["reason"]


def test_more_taken_back_than_received_proves_nothing():
    world = announced("A")
    world.receive("I1", "A", "-2")
    told = lines(world)["A"]
    assert told["code"] == "UNVERIFIABLE" and "-2 in all" in told["reason"]
