"""A line has one class, the gravest; its INR, its units and its reason hold all that is wrong with it, each once."""

from datetime import date
from typing import Any

import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation import Rules, audit

TODAY = date(2026, 11, 10)
PLAIN = Rules(business_date=TODAY)


def line_of(world: World) -> dict[str, Any]:
    """The one exception of a line."""
    (line,) = [one for one in audit(world.legs(), rules=PLAIN).exceptions.to_dicts() if one["level"] == "line"]
    return line


def one_line(*, returned: tuple[str, ...] = ("A", "100", "10.00"), **received: str) -> World:
    """100 of A at INR 10 announced; received: pieces by condition ("good" for none)."""
    world = World()
    world.both("I1", ("A", "100", "10.00"), ("B", "1", "1.00"))
    world.returned_lines[0] |= dict(zip(("sku_name", "qty", "price"), returned, strict=True))
    world.receive("I1", "B", "1")
    for condition, qty in received.items():
        world.receive("I1", "A", qty, condition=condition, received_date="2026-11-01")
    return world


@pytest.mark.parametrize(
    ("received", "code", "also", "by_class"),
    [
        ({"good": "98", "damaged": "2"}, "DAMAGED", "", "DAMAGED 20.00"),
        ({"damaged": "2"}, "SHORT", "DAMAGED", "SHORT 980.00; DAMAGED 20.00"),
        ({"rejected": "10", "damaged": "20", "good": "70"}, "DAMAGED", "REJECTED", "DAMAGED 200.00; REJECTED 100.00"),
        ({"good": "70", "damaged": "50"}, "DAMAGED", "OVER", "DAMAGED 500.00; OVER 200.00"),
        ({"hold": "120"}, "HOLD", "OVER", "HOLD 1000.00; OVER 200.00"),
        ({"06": "100"}, "NONSTD_PACK", "", "NONSTD_PACK 1000.00"),
    ],
)
def test_the_gravest_and_dearest_cause_is_the_class_and_the_others_stand_beside_it(received, code, also, by_class):
    line = line_of(one_line(**received))
    assert (line["code"], line["also"], line["impact_by_class"]) == (code, also, by_class)


def test_a_short_of_one_piece_hides_no_price_and_no_shortage_at_the_service():
    line = line_of(one_line(returned=("A", "1", "1000.00"), good="99"))
    assert (line["code"], line["also"]) == ("SHORT", "PRICE_VAR")
    assert (line["qty_affected"], str(line["impact_inr"])) == (99, "99990.00")
    assert "received 99: 1 fewer. The service holds 1." in line["reason"]


def test_one_shortage_that_dock_and_service_both_tell_counts_once():
    line = line_of(one_line(returned=("A", "95", "10.00"), good="95"))
    assert (line["qty_affected"], str(line["impact_inr"])) == (5, "50.00")


def test_too_much_at_the_dock_hides_no_shortage_at_the_service():
    line = line_of(one_line(returned=("A", "90", "10.00"), good="105"))
    assert (line["code"], line["also"], line["qty_delta"]) == ("SHORT", "OVER", -10)
    assert "the service holds 90: 10 fewer" in line["reason"] and "Also 5 more received" in line["reason"]
    assert line["impact_by_class"] == "SHORT 100.00; OVER 50.00"


def test_goods_that_nobody_announced_and_that_are_bad_are_said_to_be_both():
    world = one_line(good="100")
    world.receive("I1", "C", "4", condition="damaged")
    line = line_of(world)
    assert (line["code"], line["qty_affected"], line["qty_delta"]) == ("DAMAGED", 4, 4)


def test_goods_of_an_asn_that_was_not_accepted_count_with_all_that_came():
    world = World()
    world.announce("I1", ("A", "10", "10.00"), accepted=False, why="held: a person must decide")
    world.receive("I1", "A", "500", condition="damaged")
    line = line_of(world)
    assert (line["code"], line["also"], line["qty_affected"]) == ("NOT_SENT", "DAMAGED", 500)
    assert "Also 500 are damaged." in line["reason"]


def test_goods_that_came_late_and_short_and_keep_too_short_are_said_to_be_all_of_it():
    world = World()
    world.both("I1", ("A", "100", "10.00"), expiry_date="2026-11-20")
    world.receive("I1", "A", "60", received_date="2026-11-08")
    rules = Rules(
        business_date=TODAY, limits={Discrepancy.SHELF_LIFE: PLAIN.limit(Discrepancy.LATE).__class__(days=30)}
    )
    (line,) = audit(world.legs(), rules=rules).exceptions.to_dicts()
    assert (line["code"], line["also"]) == ("SHORT", "SHELF_LIFE, LATE")
    assert line["impact_by_class"] == "SHORT 400.00; SHELF_LIFE 600.00"
