"""Receipts that name no supplier or site, or other ones than the ASN of their number: never given to the wrong one."""

from datetime import date

import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import ComparedOutcome
from logistics_batch.reconciliation import Rules, audit

RULES = Rules(business_date=date(2026, 11, 10))


def told(world: World) -> list[tuple[str, str, str]]:
    """Supplier, class or outcome, and reason of each line."""
    lines = audit(world.legs(), rules=RULES).lines.sort("supplier", "site", "code")
    return [(one["supplier"], one["code"] or one["outcome"], one["reason"]) for one in lines.iter_rows(named=True)]


def two_suppliers(second: str = "10") -> World:
    world = World()
    world.both("77", ("A", "10", "5.00"), supplier_name="Acme")
    world.both("77", ("A", second, "5.00"), supplier="S-2", supplier_name="Zeta")
    return world


def test_a_row_without_a_supplier_is_not_given_to_the_one_that_other_rows_name():
    world = two_suppliers()
    world.receive("77", "A", "10", site_name="BHI")
    world.receive("77", "A", "4", site_name="BHI", supplier_name="Zeta")
    found = told(world)
    assert [code for _, code, _ in found] == ["UNVERIFIABLE"] * 3
    assert "one of 2 ASNs with this invoice number cannot be told" in found[0][2]
    assert all('receipts.csv row 2: names no supplier and site "BHI"' in reason for _, _, reason in found[1:])


def test_sku_and_quantity_tell_whose_a_row_is_where_they_leave_no_choice():
    world = two_suppliers("4")
    world.receive("77", "A", "10", site_name="BHI")
    world.receive("77", "A", "4", site_name="BHI", supplier_name="Zeta")
    assert [(who, code) for who, code, _ in told(world)] == [("Acme", "matched"), ("Zeta", "matched")]


def test_one_invoice_to_two_sites_and_a_list_that_names_none():
    world = World()
    for site, qty in (("BHI", "60"), ("DEL", "40")):
        world.both("SPL", ("A", qty, "100.00"), site=site, site_name=site)
        world.receive("SPL", "A", qty, supplier_name="S-1")
    assert [code for _, code, _ in told(world)] == ["matched", "matched"]
    world.receive("SPL", "B", "1", supplier_name="S-1")
    codes = [code for _, code, _ in told(world)]
    assert "NOT_RECEIVED" not in codes and "NO_ASN" not in codes and "UNVERIFIABLE" in codes


def test_goods_of_another_supplier_at_another_site_prove_nothing():
    world = World()
    world.both("1", ("A", "100", "5.00"), supplier_name="Acme Traders", site="B-1", site_name="BHIWANDI-01")
    world.receive("1", "A", "100", supplier_name="Zeta Foods", site_name="DELHI-09")
    found = told(world)
    assert [code for _, code, _ in found] == ["UNVERIFIABLE", "UNVERIFIABLE"]
    assert all('supplier "Zeta Foods" and site "DELHI-09"' in reason for _, _, reason in found)


def test_another_spelling_is_matched_and_shown():
    world = World()
    world.both("1", ("A", "100", "5.00"), supplier_name="Acme Traders", site="B-1", site_name="BHIWANDI-01")
    world.receive("1", "A", "100", supplier_name="ACME TRD", site_name="Bhiwandi")
    [(_, code, reason)] = told(world)
    assert (code, reason) == (
        "matched",
        'Matched all the same: a receipt row names supplier "ACME TRD" and site "Bhiwandi".',
    )


@pytest.mark.parametrize(
    ("supplier", "codes"),
    [
        ("Zeta Foods", ["UNVERIFIABLE", "UNVERIFIABLE"]),
        ("S-9", ["UNVERIFIABLE", "UNVERIFIABLE"]),  # the ASN has the code S-1
        ("M/s. Acme Traders", ["matched"]),
        ("V0042", ["matched"]),  # a code of another kind
    ],
)
def test_goods_of_another_supplier_on_a_list_without_sites_prove_nothing(supplier, codes):
    world = World()
    world.both("1", ("A", "100", "5.00"), supplier_name="Acme Traders", site="B-1", site_name="BHIWANDI-01")
    world.receive("1", "A", "100", supplier_name=supplier)
    assert [code for _, code, _ in told(world)] == codes


def test_the_id_of_goods_without_an_asn_does_not_hang_on_other_rows():
    world = World()
    world.receive("STRAY", "A", "5")
    [alone] = audit(world.legs(), rules=RULES).exceptions["exception_id"].to_list()
    world.receive("STRAY", "B", "5", supplier_name="Acme Traders", site_name="DELHI-09")
    both = audit(world.legs(), rules=RULES).exceptions
    assert dict(both.select("sku_name", "exception_id").iter_rows())["A"] == alone


@pytest.mark.parametrize("supplier", ["Acme Traders", "", "ACME TRD"])
def test_goods_that_another_site_booked_are_not_matched_and_both_sites_are_named(supplier):
    world = World()
    world.both("1", ("A", "10", "5.00"), supplier_name="Acme Traders", site="B-1", site_name="Bhiwandi")
    world.receive("1", "A", "10", supplier_name=supplier, site_name="Pune")
    found = told(world)
    assert [code for _, code, _ in found] == ["UNVERIFIABLE", "UNVERIFIABLE"]
    assert all('site "Pune"' in reason and 'site "Bhiwandi"' in reason for _, _, reason in found)


def test_goods_that_another_supplier_is_said_to_have_brought_are_not_matched_and_both_are_named():
    world = World()
    world.both("1", ("A", "10", "5.00"), supplier_name="Acme Traders", site="B-1", site_name="Bhiwandi")
    world.receive("1", "A", "10", supplier_name="Zeta Foods", site_name="Bhiwandi")
    found = told(world)
    assert [code for _, code, _ in found] == ["UNVERIFIABLE", "UNVERIFIABLE"]
    assert all('"Zeta Foods"' in reason and '"Acme Traders"' in reason for _, _, reason in found)


OTHERS = ["Pune", "BHIWANDI-02", "B-2", "DELHI-09"]
OURS = ["Bhiwandi", "BHIWANDI 01", "Warehouse Bhiwandi-01", "b1", "W17", "17", "भिवंडी"]  # or of another kind or script


def test_which_site_is_another_one():
    world = World()
    for number, site in enumerate([*OTHERS, *OURS]):
        world.both(f"N{number}", ("A", "10", "5.00"), supplier_name="Acme", site="B-1", site_name="BHIWANDI-01")
        world.receive(f"N{number}", "A", "10", supplier_name="Acme", site_name=site)
    matched = set(audit(world.legs(), rules=RULES).outcome(ComparedOutcome.MATCHED)["invoice_number"])
    assert matched == {f"N{number}" for number in range(len(OTHERS), len(OTHERS) + len(OURS))}
