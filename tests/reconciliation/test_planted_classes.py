"""Every class is planted once in a world full of agreement, and is found once; nothing else is found."""

import random
from datetime import date

import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy
from logistics_batch.reconciliation import Limit, Rules, audit

TODAY = date(2026, 11, 10)
RULES = Rules(business_date=TODAY, limits={Discrepancy.SHELF_LIFE: Limit(days=14)})


def agreeing(world: World, *, notices: int, seed: int) -> None:
    """Notices that agree on all three legs."""
    rng = random.Random(seed)
    for number in range(notices):
        lines = [
            (f"SKU-{rng.randrange(50):03}-{nth}", str(rng.randint(1, 500)), f"{rng.randint(1, 900)}.50")
            for nth in range(4)
        ]
        invoice = f"OK-{seed}-{number}"
        world.both(invoice, *lines, supplier=f"S-{rng.randrange(9)}")
        for sku, qty, _ in lines:
            world.receive(invoice, sku, qty)


def plant_missing_in_service(world: World) -> None:
    world.announce("P-MISSING", ("W", "10", "5.00"))
    world.receive("P-MISSING", "W", "10")


def plant_not_sent(world: World) -> None:
    world.announce("P-UNSENT", ("W", "10"), accepted=False, state="refused", why="refused: unknown SKU")


def plant_unexpected(world: World) -> None:
    world.serve("P-ALIEN", ("W", "10", "5.00"))


def plant_no_asn(world: World) -> None:
    world.receive("P-STRAY", "W", "10")


def plant_duplicate(world: World) -> None:
    world.both("P-TWICE", ("W", "10", "5.00"))
    world.serve("P-TWICE", ("W", "10", "5.00"))
    world.receive("P-TWICE", "W", "10")


def plant_wrong_sku(world: World) -> None:
    world.both("P-SWAP", ("W", "10", "5.00"), ("V", "3", "1.00"))
    world.receive("P-SWAP", "X", "10")
    world.receive("P-SWAP", "V", "3")


def plant_missing_sku(world: World) -> None:
    world.announce("P-LESS", ("W", "10", "5.00"), ("V", "3", "1.00"))
    world.serve("P-LESS", ("W", "10", "5.00"))
    world.receive("P-LESS", "W", "10")


def plant_extra_sku(world: World) -> None:
    world.both("P-MORE", ("W", "10", "5.00"))
    world.receive("P-MORE", "W", "10")
    world.receive("P-MORE", "Z", "4")


def plant_condition(word: str):
    def plant(world: World) -> None:
        world.both(f"P-{word}", ("W", "10", "5.00"))
        world.receive(f"P-{word}", "W", "8")
        world.receive(f"P-{word}", "W", "2", condition=word)

    return plant


def plant_not_received(world: World) -> None:
    world.both("P-NOWHERE", ("W", "10", "5.00"))


def plant_short(world: World) -> None:
    world.both("P-SHORT", ("W", "10", "5.00"))
    world.receive("P-SHORT", "W", "7")


def plant_over(world: World) -> None:
    world.both("P-OVER", ("W", "10", "5.00"))
    world.receive("P-OVER", "W", "13")


def plant_price(world: World) -> None:
    world.announce("P-PRICE", ("W", "10", "5.00"))
    world.serve("P-PRICE", ("W", "10", "6.25"))
    world.receive("P-PRICE", "W", "10")


def plant_retail_price(world: World) -> None:
    world.announce("P-MRP", ("W", "10", "5.00", "9.00"))
    world.serve("P-MRP", ("W", "10", "5.00", "9.50"))
    world.receive("P-MRP", "W", "10")


def plant_tax(world: World) -> None:
    world.announce("P-TAX", ("W", "10", "5.00"), tax="9.00")
    world.serve("P-TAX", ("W", "10", "5.00"), tax="2.50")
    world.receive("P-TAX", "W", "10")


def plant_total(world: World) -> None:
    world.announce("P-TOTAL", ("W", "10", "5.00"), total_price="50.00")
    world.serve("P-TOTAL", ("W", "10", "5.00"), total_price="150")
    world.receive("P-TOTAL", "W", "10")


def plant_shelf_life(world: World) -> None:
    world.both("P-STALE", ("W", "10", "5.00"), expiry_date="2026-11-12")
    world.receive("P-STALE", "W", "10", received_date="2026-11-01")


def plant_expired(world: World) -> None:
    world.both("P-OVER-AND-OUT", ("W", "10", "5.00"), status="Expired")


def plant_late(world: World) -> None:
    world.both("P-LATE", ("W", "10", "5.00"))
    world.receive("P-LATE", "W", "10", received_date="2026-11-04")


def plant_early(world: World) -> None:
    world.both("P-EARLY", ("W", "10", "5.00"))
    world.receive("P-EARLY", "W", "10", received_date="2026-10-29")


def plant_regression(world: World) -> None:
    world.announce("P-BACK", ("W", "10", "5.00"))
    world.serve("P-BACK", ("W", "10", "5.00"), status="In Progress", furthest_status="Completed")
    world.receive("P-BACK", "W", "10")


def plant_stale_status(world: World) -> None:
    world.announce("P-STUCK", ("W", "10", "5.00"))
    world.serve("P-STUCK", ("W", "10", "5.00"), status="In-Progress", modified_at="2026-10-30T08:00:00+05:30")
    world.receive("P-STUCK", "W", "10")


def plant_overdue(world: World) -> None:
    world.both("P-OVERDUE", ("W", "10", "5.00"), delivery_date="2026-10-30", status="New")
    world.receipts = None  # with receipts it would be NOT_RECEIVED


def plant_header(world: World) -> None:
    world.announce("P-HEAD", ("W", "10", "5.00"), description="PO 77")
    world.serve("P-HEAD", ("W", "10", "5.00"), description="PO 78")
    world.receive("P-HEAD", "W", "10")


def plant_unverifiable(world: World) -> None:
    world.announce("P-BLANK", ("W", "10", "5.00"))
    world.serve("P-BLANK", ("W", "", "5.00"))
    world.receive("P-BLANK", "W", "10")


PLANTS = {
    Discrepancy.MISSING_IN_SERVICE: (plant_missing_in_service, "10.000", "50.00"),
    Discrepancy.NOT_SENT: (plant_not_sent, "10.000", None),
    Discrepancy.UNEXPECTED_IN_SERVICE: (plant_unexpected, "10.000", "50.00"),
    Discrepancy.NO_ASN: (plant_no_asn, "10.000", None),
    Discrepancy.DUPLICATE_ASN: (plant_duplicate, "10.000", "50.00"),
    Discrepancy.WRONG_SKU: (plant_wrong_sku, "10.000", "50.00"),
    Discrepancy.MISSING_SKU: (plant_missing_sku, "3.000", "3.00"),
    Discrepancy.EXTRA_SKU: (plant_extra_sku, "4.000", None),
    Discrepancy.REJECTED: (plant_condition("Rejected"), "2.000", "10.00"),
    Discrepancy.DAMAGED: (plant_condition("damaged"), "2.000", "10.00"),
    Discrepancy.QUALITY: (plant_condition("QC-fail"), "2.000", "10.00"),
    Discrepancy.HOLD: (plant_condition("on hold"), "2.000", "10.00"),
    Discrepancy.NONSTD_PACK: (plant_condition("Non-standard pack"), "2.000", "10.00"),
    Discrepancy.EXPIRED_UNRECEIVED: (plant_expired, "10.000", "50.00"),
    Discrepancy.NOT_RECEIVED: (plant_not_received, "10.000", "50.00"),
    Discrepancy.SHORT: (plant_short, "3.000", "15.00"),
    Discrepancy.OVER: (plant_over, "3.000", "15.00"),
    Discrepancy.PRICE_VAR: (plant_price, "10.000", "12.50"),
    Discrepancy.MRP_VAR: (plant_retail_price, "10.000", "5.00"),
    Discrepancy.TAX_VAR: (plant_tax, None, "6.50"),
    Discrepancy.TOTAL_MISMATCH: (plant_total, None, "100.00"),
    Discrepancy.SHELF_LIFE: (plant_shelf_life, "10.000", "50.00"),
    Discrepancy.OVERDUE: (plant_overdue, None, None),
    Discrepancy.LATE: (plant_late, "10.000", "0.00"),
    Discrepancy.EARLY: (plant_early, "10.000", "0.00"),
    Discrepancy.STATUS_REGRESSION: (plant_regression, None, None),
    Discrepancy.STALE_STATUS: (plant_stale_status, None, None),
    Discrepancy.HEADER_DIFF: (plant_header, None, None),
    Discrepancy.UNVERIFIABLE: (plant_unverifiable, "10.000", None),
}


def test_every_class_has_a_plant():
    assert set(PLANTS) == set(Discrepancy)


@pytest.mark.parametrize(
    "codes",
    [set(Discrepancy) - {Discrepancy.OVERDUE}, {Discrepancy.OVERDUE}],  # which there is only without receipts
    ids=["with receipts", "without receipts"],
)
def test_each_planted_class_is_found_once_and_nothing_is_invented(codes):
    world = World()
    agreeing(world, notices=40, seed=7)
    for code in codes:
        PLANTS[code][0](world)
    found = audit(world.legs(), rules=RULES)
    assert sorted(found.exceptions["code"]) == sorted(code.value for code in codes)
    assert found.exceptions["exception_id"].n_unique() == len(codes)
    for line in found.exceptions.to_dicts():
        _, units, impact = PLANTS[Discrepancy(line["code"])]
        told = [None if line[name] is None else str(line[name]) for name in ("qty_affected", "impact_inr")]
        assert told == [units, impact], line["code"]
        assert line["reason"] and line["invoice_number"].startswith("P-")
    assert set(found.outcome(ComparedOutcome.MATCHED)["invoice_number"].str.slice(0, 2)) <= {"OK", "P-"}


def test_a_world_that_agrees_has_no_exceptions_and_still_gives_a_report():
    world = World()
    agreeing(world, notices=25, seed=1)
    found = audit(world.legs(), rules=RULES)
    assert found.exceptions.is_empty()
    assert found.classes["class"].to_list() == [ComparedOutcome.MATCHED.value]
    assert found.match_rate.line_percent == 100.0


def test_nothing_at_all_gives_an_empty_report():
    found = audit(World().legs(), rules=RULES)
    assert found.lines.is_empty()
    assert found.match_rate.line_percent is None
    assert [leg.lines for leg in found.legs] == [0, 0]
