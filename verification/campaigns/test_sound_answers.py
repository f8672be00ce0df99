"""Sound nights of every size: however many ASNs lie in a range, and however they lie there, no answer is doubted."""

import random
from datetime import date, timedelta

import pytest
from campaigns.scale import FULL, SEED, numbers, report
from flows.asn_service import record
from flows.conftest import parts, service  # noqa: F401

from logistics_batch.flows.asns.fetch import asn_range, fetch_asns

pytestmark = [] if FULL else [pytest.mark.slow]

FIRST = date(2026, 11, 1)
ROUND = (10, 20, 25, 30, 40, 50, 100, 200, 250, 500)


def drawn(number: int) -> list[dict[str, object]]:
    """ASNs of one night: round numbers every other time, on few or many days, of few or many suppliers and statuses."""
    lots = random.Random(f"{SEED} {number}")
    count = lots.choice(ROUND) if number % 2 else number
    days, statuses = lots.choice((1, 2, 8)), lots.choice((("New",), ("New", "Completed", "InProgress")))
    created = lots.choice((1, 5))
    return [
        record(
            nth,
            f"I-{nth}",
            ("W", "1"),
            day=f"{FIRST + timedelta(days=lots.randrange(days))}",
            status=lots.choice(statuses),
            supplier_name=f"S{lots.randrange(lots.choice((1, 4)))}",
            created_date=f"2026-10-{1 + lots.randrange(created):02}T10:00:00+05:30",
        )
        for nth in range(count)
    ]


def test_no_sound_night_is_doubted(parts, service):  # noqa: F811
    """Each night is fetched by a service that sends all at once, with and without the right count."""
    nights, doubted = 0, []
    for number in numbers(30, 1000):
        service.records = drawn(number)
        service.says_count = number % 3 > 0
        found = fetch_asns(parts, asn_range("delivery", FIRST, FIRST + timedelta(days=7)))
        nights += 1
        if not found.complete or found.notes or len(found.records) != len(service.records):
            doubted.append((number, len(service.records), found.notes))
    report("sound answers", nights=nights, false_alarms=len(doubted))
    assert doubted == []
