"""The figures by which a report is read: ages, match rates, and what is at stake without a known price."""

from collections import Counter
from datetime import date, timedelta

import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation import Limit, Rules, audit

TODAY = date(2026, 11, 10)
PLAIN = Rules(business_date=TODAY)


BUCKETS = {  # by the days since an ASN was due, None for one without a date
    **{-1: "not due", 0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3", 4: "4-7", 7: "4-7", 8: "8-15", 15: "8-15"},
    **{16: "16-30", 30: "16-30", 31: "31-60", 60: "31-60", 61: "61-90", 90: "61-90", 91: "> 90", None: "no date"},
}


def test_an_exception_stands_in_the_bucket_of_its_age():
    world = World()
    for days in BUCKETS:
        due = None if days is None else str(TODAY - timedelta(days=days))
        world.announce(f"I{days}", ("W", "10", "5.00"), delivery_date=due)
    found = audit(world.legs(), rules=PLAIN)
    told = found.exceptions.select("invoice_number", "code", "days_overdue", "bucket").rows()
    assert sorted(told) == sorted((f"I{days}", "MISSING_IN_SERVICE", days, each) for days, each in BUCKETS.items())
    counts = {row["bucket"]: row["lines"] for row in found.ageing.to_dicts() if row["lines"]}
    assert counts == Counter(BUCKETS.values())


def test_the_match_rate_is_of_lines_and_of_units_that_could_be_judged():
    world = World()
    world.both("I1", ("W", "90", "1.00"), ("V", "10", "1.00"))
    world.receive("I1", "W", "90")
    world.receive("I1", "V", "4")
    world.both("I2", ("W", "500", "1.00"), delivery_date=str(TODAY + timedelta(days=3)))  # too early
    world.both("I3", ("W", "700", "1.00"), in_window=False)
    rate = audit(world.legs(), rules=PLAIN).match_rate
    assert (rate.lines, rate.line_percent, rate.unit_percent) == (2, 50.0, 90.0)


def test_lines_at_stake_of_which_no_price_is_known_are_counted():
    world = World()
    for invoice, price in (("I1", "5.00"), ("I2", None)):
        world.both(invoice, ("W", "10", price))
        world.receive(invoice, "W", "4")
    (short,) = audit(world.legs(), rules=PLAIN).classes.to_dicts()
    assert (short["class"], short["lines"], short["lines_without_price"]) == ("SHORT", 2, 1)
    assert str(short["impact_inr"]) == "30.00"


@pytest.mark.parametrize(
    ("received", "expiry", "expected"),
    [
        ("2026-11-03", None, []),
        ("2026-11-04", None, ["LATE"]),
        ("2026-10-30", None, []),
        ("2026-10-29", None, ["EARLY"]),
        ("2026-11-01", "2026-11-15", []),
        ("2026-11-01", "2026-11-14", ["SHELF_LIFE"]),
    ],
)
def test_the_days_that_are_agreed_are_agreed_to_the_last(received, expiry, expected):
    world = World()
    world.both("I1", ("W", "10", "5.00"), expiry_date=expiry)
    world.receive("I1", "W", "10", received_date=received)
    rules = Rules(business_date=TODAY, limits={Discrepancy.SHELF_LIFE: Limit(days=14)})
    assert audit(world.legs(), rules=rules).exceptions["code"].to_list() == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({"status": "New", "delivery_date": "2026-10-31"}, []),
        ({"status": "New", "delivery_date": "2026-10-30"}, ["OVERDUE"]),
        ({"status": "Completed", "delivery_date": "2026-10-30"}, []),
        ({"status": "In-Progress", "modified_at": "2026-10-31T23:00:00+05:30"}, []),
        ({"status": "In-Progress", "modified_at": "2026-10-30T01:00:00+05:30"}, ["STALE_STATUS"]),
    ],
)
def test_an_open_asn_is_told_after_the_days_of_its_class(header, expected):
    world = World()
    world.both("I1", ("W", "10", "5.00"), **header)
    assert audit(world.legs(), rules=PLAIN).exceptions["code"].to_list() == expected
