"""Every class is planted once in a world full of agreement, and is found once; nothing else is found."""

import random
from dataclasses import dataclass, field
from datetime import date
from typing import Any

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


W = ("W", "10", "5.00")
CAME = ("W", "10", {})


@dataclass(frozen=True)
class Plant:
    """One invoice in which a class stands: its lines as announced, as the service has them (None: the same), and as
    they came, each (SKU, quantity, what else); what the two headers say; units and rupees that are told.
    """

    units: str | None
    inr: str | None
    ours: tuple[tuple[str, ...], ...] | None = (W,)
    theirs: tuple[tuple[str, ...], ...] | None = None
    came: tuple[tuple[str, str, dict[str, str]], ...] = (CAME,)
    header: dict[str, Any] = field(default_factory=dict)
    served: dict[str, str] = field(default_factory=dict)
    records: int = 1

    def put(self, world: World, invoice: str) -> None:
        """Into the world, under this invoice number."""
        if self.ours is not None:
            world.announce(invoice, *self.ours, **self.header)
        for _ in range(self.records):
            world.serve(invoice, *((self.ours or ()) if self.theirs is None else self.theirs), **self.served)
        for sku, qty, more in self.came:
            world.receive(invoice, sku, qty, **more)


def of_condition(word: str) -> Plant:
    return Plant("2.000", "10.00", came=(("W", "8", {}), ("W", "2", {"condition": word})))


def came_on(day: str) -> tuple[tuple[str, str, dict[str, str]], ...]:
    return (("W", "10", {"received_date": day}),)


UNSENT = {"accepted": False, "state": "refused", "why": "refused: unknown SKU"}
SHELF = {"expiry_date": "2026-11-12"}
SINCE = {"status": "In-Progress", "modified_at": "2026-10-30T08:00:00+05:30"}
LATER = {"delivery_date": "2026-10-30"}
PLANTS = {
    Discrepancy.MISSING_IN_SERVICE: Plant("10.000", "50.00", records=0),
    Discrepancy.NOT_SENT: Plant("10.000", None, ours=(W[:2],), records=0, came=(), header=UNSENT),
    Discrepancy.UNEXPECTED_IN_SERVICE: Plant("10.000", "50.00", ours=None, theirs=(W,), came=()),
    Discrepancy.NO_ASN: Plant("10.000", None, ours=None, records=0),
    Discrepancy.DUPLICATE_ASN: Plant("10.000", "50.00", records=2),
    Discrepancy.WRONG_SKU: Plant("10.000", "50.00", (W, ("V", "3", "1.00")), came=(("X", "10", {}), ("V", "3", {}))),
    Discrepancy.MISSING_SKU: Plant("3.000", "3.00", ours=(W, ("V", "3", "1.00")), theirs=(W,)),
    Discrepancy.EXTRA_SKU: Plant("4.000", None, came=(CAME, ("Z", "4", {}))),
    Discrepancy.REJECTED: of_condition("Rejected"),
    Discrepancy.DAMAGED: of_condition("damaged"),
    Discrepancy.QUALITY: of_condition("QC-fail"),
    Discrepancy.HOLD: of_condition("on hold"),
    Discrepancy.NONSTD_PACK: of_condition("Non-standard pack"),
    Discrepancy.EXPIRED_UNRECEIVED: Plant("10.000", "50.00", came=(), served={"status": "Expired"}),
    Discrepancy.NOT_RECEIVED: Plant("10.000", "50.00", came=()),
    Discrepancy.SHORT: Plant("3.000", "15.00", came=(("W", "7", {}),)),
    Discrepancy.OVER: Plant("3.000", "15.00", came=(("W", "13", {}),)),
    Discrepancy.PRICE_VAR: Plant("10.000", "12.50", theirs=(("W", "10", "6.25"),)),
    Discrepancy.MRP_VAR: Plant("10.000", "5.00", ours=((*W, "9.00"),), theirs=((*W, "9.50"),)),
    Discrepancy.TAX_VAR: Plant(None, "6.50", header={"tax": "9.00"}, served={"tax": "2.50"}),
    Discrepancy.TOTAL_MISMATCH: Plant(None, "100.00", header={"total_price": "50.00"}, served={"total_price": "150"}),
    Discrepancy.SHELF_LIFE: Plant("10.000", "50.00", header=SHELF, served=SHELF, came=came_on("2026-11-01")),
    Discrepancy.OVERDUE: Plant(None, None, came=(), header=LATER, served={**LATER, "status": "New"}),
    Discrepancy.LATE: Plant("10.000", "0.00", came=came_on("2026-11-04")),
    Discrepancy.EARLY: Plant("10.000", "0.00", came=came_on("2026-10-29")),
    Discrepancy.STATUS_REGRESSION: Plant(None, None, served={"status": "In Progress", "furthest_status": "Completed"}),
    Discrepancy.STALE_STATUS: Plant(None, None, served=SINCE),
    Discrepancy.HEADER_DIFF: Plant(None, None, header={"description": "PO 77"}, served={"description": "PO 78"}),
    Discrepancy.UNVERIFIABLE: Plant("10.000", None, theirs=(("W", "", "5.00"),)),
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
        PLANTS[code].put(world, f"P-{code.value}")
    if Discrepancy.OVERDUE in codes:
        world.receipts = None  # with receipts it would be NOT_RECEIVED
    found = audit(world.legs(), rules=RULES)
    assert sorted(found.exceptions["code"]) == sorted(code.value for code in codes)
    assert found.exceptions["exception_id"].n_unique() == len(codes)
    for line in found.exceptions.to_dicts():
        planted = PLANTS[Discrepancy(line["code"])]
        told = [None if line[name] is None else str(line[name]) for name in ("qty_affected", "impact_inr")]
        assert told == [planted.units, planted.inr], line["code"]
        assert line["reason"] and line["invoice_number"] == f"P-{line['code']}"
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
