"""A SKU that stands several times in an ASN: prices that differ line by line are not hidden by their average."""

from datetime import date

import pytest
from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit

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
