"""A SKU that stands several times in an ASN: prices that differ line by line are not hidden by their average."""

from datetime import date

import pytest
from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit, discounts_not_returned

RULES = Rules(business_date=date(2026, 11, 10))


def outcome(announced, returned):
    world = World()
    world.announce("I1", *announced)
    world.serve("I1", *returned)
    (line,) = audit(world.legs(), rules=RULES).lines.to_dicts()
    return line["code"] or line["outcome"], line["reason"]


@pytest.mark.parametrize(
    ("announced", "returned", "told"),
    [
        (
            [("A", "10", "100"), ("A", "10", "200")],
            [("A", "10", "150"), ("A", "10", "150")],
            "10 at 100, 10 at 200; in the service 20 at 150",
        ),
        (
            [("A", "10", "100"), ("A", "5")],
            [("A", "10", "900"), ("A", "5")],
            "10 at 100, 5 at no price; in the service 10 at",
        ),
        (
            [("A", "10", "100"), ("A", "5", "120")],
            [("A", "10", "100"), ("A", "5")],
            "in the service 10 at 100, 5 at no price",
        ),
        (
            [("A", "1", "5", "9"), ("A", "1", "5", "11")],
            [("A", "1", "5", "10"), ("A", "1", "5", "10")],
            "The retail prices of its lines",
        ),
    ],
)
def test_other_prices_behind_the_same_average_are_told(announced, returned, told):
    code, reason = outcome(announced, returned)
    assert code == "UNVERIFIABLE"
    assert told in reason


@pytest.mark.parametrize(
    ("announced", "returned"),
    [
        ([("A", "10", "100"), ("A", "5", "100.00")], [("A", "15", "100")]),
        ([("A", "10", "100"), ("A", "5", "120")], [("A", "5", "120"), ("A", "10", "100")]),
        ([("A", "10", "100"), ("A", "10", "200")], [("A", "20", "150")]),
        ([("A", "10"), ("A", "5")], [("A", "10", "100"), ("A", "5", "120")]),
    ],
)
def test_the_same_pieces_at_the_same_prices_match_however_the_lines_are_cut(announced, returned):
    assert outcome(announced, returned)[0] == "matched"


def line(*discount: str) -> list[tuple[str, ...]]:
    """Ten pieces at 100, retail price 200, with a discount and a percentage."""
    return [("A", "10", "100", "200", *discount)]


@pytest.mark.parametrize(
    ("announced", "returned", "told"),
    [
        (line("0.00"), line("50.00"), "Announced with a discount of INR 0.00, the service has INR 50.00."),
        (line("", "5"), line("", "10"), "Announced with a discount of 5 %, the service has 10 %."),
        (
            [("A", "10", "100", "200", "0")],
            [("A", "10", "120", "200", "50")],
            "Announced at INR 100.00 a unit, the service has INR 120.00. Announced with a discount of INR 0.00",
        ),
    ],
)
def test_a_discount_that_both_sides_name_and_that_differs_is_told(announced, returned, told):
    code, reason = outcome(announced, returned)
    assert code == "PRICE_VAR" and reason.startswith(told)


@pytest.mark.parametrize(
    ("announced", "returned"),
    [
        (line("50.00", "5"), line()),
        (line(), line("50.00", "5")),
        (line("50.00"), line("50")),
        ([("A", "4", "100", "200", "20"), ("A", "6", "100", "200", "30")], line("50")),
    ],
)
def test_a_discount_that_one_side_does_not_name_is_not_compared(announced, returned):
    assert outcome(announced, returned)[0] == "matched"


@pytest.mark.parametrize(
    ("announced", "returned", "count"),
    [
        (line("50"), line(), 1),
        (line("", "5"), line(), 1),
        (line("50"), line("n/a"), 1),
        (line("50"), line("40"), 0),
        (line("0.00"), line(), 0),
        (line(), line("50"), 0),
    ],
)
def test_asns_whose_discount_could_not_be_compared_are_counted(announced, returned, count):
    world = World()
    world.announce("I1", *announced)
    world.serve("i1 ", *returned)
    world.announce("I2", *line("50"), accepted=False)
    world.announce("I3", *line("50"), in_window=False)
    world.announce("I4", *line("50"))  # of which the service returns nothing, which is told anyway
    assert discounts_not_returned(world.legs()) == count


def test_what_a_discount_differs_by_is_at_stake():
    worth = {
        "50.00": (line("0"), line("50")),
        "100.00": (line("", "5"), line("", "10")),  # five in a hundred of the retail price, ten pieces
        "250.00": ([("A", "10", "100", "", "0")], [("A", "10", "120", "", "50")]),
    }
    for inr, (announced, returned) in worth.items():
        world = World()
        world.announce("I1", *announced)
        world.serve("I1", *returned)
        [found] = audit(world.legs(), rules=RULES).exceptions["impact_inr"].to_list()
        assert str(found) == inr
