"""The dock of the campaigns plants each kind of difference as often as asked, and the receipts differ nowhere else."""

from collections import Counter
from datetime import date
from typing import Any

import pytest
from campaigns.warehouse.asns import SERVICE_KINDS
from campaigns.warehouse.day import ADDED_KINDS, KINDS, Outcome, received_with
from campaigns.warehouse.lines import CONDITIONS

DAY = date(2026, 11, 20)
DUE = "2026-11-15"
Key = tuple[str, str]


def asns(count: int = 6, lines: int = 4) -> list[dict[str, Any]]:
    """ASNs as the service shows them, all due on `DUE`."""
    header = {"supplier": "SUP-1", "supplier_name": "Acme", "site": "S1", "site_name": None, "status": "New"}
    header |= {"delivery_date": DUE, "expiry_date": None, "batch": None, "serial_number": None}
    line = {"item_desc": None, "price_per_qty": "10.00", "maximum_retail_price": "12.00"}
    return [
        {
            "id": number,
            "invoice_number": f"INV-{number}",
            **dict.fromkeys(("description", "total_price")),
            **header,
            "sku_lines": [
                {"id": number * 100 + place, "sku_name": f"SKU-{number}-{place}", "qty": str(40 + place), **line}
                for place in range(lines)
            ],
        }
        for number in range(1, count + 1)
    ]


def announced(world: list[dict[str, Any]]) -> dict[Key, int]:
    return {(asn["invoice_number"], line["sku_name"]): int(line["qty"]) for asn in world for line in asn["sku_lines"]}


def totals(outcome: Outcome) -> dict[Key, float]:
    counted: dict[Key, float] = {}
    for row in outcome.receipts:
        counted[row.invoice_number, row.item] = counted.get((row.invoice_number, row.item), 0) + row.quantity
    return counted


@pytest.mark.parametrize("share", [0.01, 0.02])
def test_every_kind_is_planted_as_often_as_asked_and_the_file_differs_nowhere_else(share: float) -> None:
    world = asns(100, 5)
    outcome = received_with(world, dict.fromkeys(KINDS, share), seed=1, received_on=DAY)
    planted = Counter(one.oddity for one in outcome.oddities)
    assert set(planted) == set(KINDS)
    assert planted["short"] == round(share * 500)
    assert planted["mirrored"] == 2 * round(share * 500)
    assert planted["price_changed"] == planted["no_asn"] == round(share * 100)
    assert planted["never_received"] == planted["late"] == 5 * round(share * 100)
    expected, counted = announced(world), totals(outcome)
    named = {(one.invoice_number, one.item) for one in outcome.oddities}
    elsewhere = {(one.other_invoice_number, one.item) for one in outcome.oddities if one.other_invoice_number}
    swapped_in = {(one.invoice_number, one.other_item) for one in outcome.oddities if one.oddity == "swapped"}
    for key in expected | counted:
        if key not in named | elsewhere | swapped_in:
            assert counted[key] == expected[key], key
    for one in outcome.oddities:
        if one.item and one.oddity != "unexpected_asn":
            assert counted.get((one.invoice_number, one.item), 0) == one.quantity, one
            assert expected.get((one.invoice_number, one.item), 0) == one.announced, one


def test_the_same_seed_plants_the_same() -> None:
    plan = dict.fromkeys(KINDS, 1)
    first, again, other = (received_with(asns(60), plan, seed=seed, received_on=DAY) for seed in (1, 1, 2))
    assert first == again
    assert first.receipts != other.receipts


def test_each_kind_does_what_its_name_says() -> None:
    outcome = received_with(asns(60), dict.fromkeys(KINDS, 1), seed=5, received_on=DAY)
    odd = {one.oddity: one for one in outcome.oddities}
    rows = {kind: [row for row in outcome.receipts if row.oddity == kind] for kind in KINDS}
    assert odd["short"].quantity < odd["short"].announced < odd["over"].announced + odd["over"].quantity
    assert odd["over"].quantity > odd["over"].announced
    assert rows["swapped"][0].item == odd["swapped"].other_item != odd["swapped"].item
    low, high = (one for one in outcome.oddities if one.oddity == "mirrored")
    assert low.announced - low.quantity == high.quantity - high.announced > 0
    assert (low.invoice_number, low.other_item) == (high.invoice_number, high.item)
    assert odd["extra_sku"].announced == 0 < odd["extra_sku"].quantity
    assert odd["missing_sku"].quantity == 0
    assert odd["duplicate_line"].quantity == 2 * odd["duplicate_line"].announced
    assert len(rows["two_trucks"]) == 2
    assert odd["two_trucks"].quantity == odd["two_trucks"].announced
    assert rows["booked_elsewhere"][0].invoice_number == odd["booked_elsewhere"].other_invoice_number
    for kind, word in CONDITIONS.items():
        assert [row.condition for row in rows[kind]].count(word) == 1
    assert not rows["never_received"] + rows["expired"]
    assert {row.received_on > DUE for row in rows["late"]} == {True}
    assert max(row.received_on for row in rows["late"]) <= DAY.isoformat()
    assert {row.received_on < DUE for row in rows["early"]} == {True}
    assert rows["no_asn"][0].invoice_number.startswith("NOASN-")
    assert odd["completed_short"].quantity < odd["completed_short"].announced


def test_what_is_not_due_yet_has_no_rows() -> None:
    world = asns(3)
    world[1]["delivery_date"] = "2026-11-21"
    world[2]["delivery_date"] = None
    outcome = received_with(world, {}, seed=1, received_on=DAY)
    assert outcome.not_due == 1
    assert {(row.invoice_number, row.received_on) for row in outcome.receipts} == {
        ("INV-1", DUE),
        ("INV-3", DAY.isoformat()),
    }


def test_more_than_there_is_room_for_is_refused() -> None:
    with pytest.raises(ValueError, match="short is wanted 30 times, but only 24 places"):
        received_with(asns(), {"short": 30}, seed=1, received_on=DAY)
    with pytest.raises(ValueError, match="nothing to plant"):
        received_with([], {"short": 1}, seed=1, received_on=DAY)


def test_asns_that_stand_twice_are_left_exact() -> None:
    world = [*asns(2), asns(1)[0] | {"id": 77}]
    outcome = received_with(world, {"short": 4}, seed=1, received_on=DAY)
    assert {one.invoice_number for one in outcome.oddities} == {"INV-2"}


def test_no_kind_is_without_a_place() -> None:
    assert len(set(KINDS)) == len(KINDS)
    assert set(ADDED_KINDS) | set(SERVICE_KINDS) | set(CONDITIONS) <= set(KINDS)
