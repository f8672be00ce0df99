"""What events and answers make of what is known of an order: only forward, and nothing on an event's word alone."""

import random
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from logistics_batch.model.issue import Issue
from logistics_batch.model.order_state import Hint, OrderState, Shown, ShownItem, status_word

START = datetime.fromisoformat("2026-11-03T09:00:00+05:30")
WAY = ["Pending", "Assigned", "Picked", "At-Hub", "Out-For-Delivery", "Complete"]


def at(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).isoformat()


def hint(number: int, status: str, minutes: float, *, came: float | None = None) -> Hint:
    return Hint(number, status, at(minutes), at(minutes if came is None else came))


@pytest.mark.parametrize("spelling", ["Out-For-Delivery", "out for delivery", "OUT_FOR_DELIVERY", "OutForDelivery"])
def test_a_status_is_the_same_however_it_is_spelt(spelling: str) -> None:
    assert status_word(spelling) == "outfordelivery"


def test_an_event_alone_is_never_the_state() -> None:
    known = OrderState(1).heard(hint(1, "Complete", 5))
    assert (known.status, known.hint_status, known.is_hinted) == ("", "Complete", True)


def test_the_time_of_a_verified_event_is_that_of_the_status() -> None:
    known = OrderState(1).heard(hint(1, "PICKED", 5)).seen("Picked", Shown(), at=at(60))
    assert (known.status, known.status_at, known.source, known.is_hinted) == ("Picked", at(5), "event", False)


def test_a_forged_event_is_refuted_and_hides_nothing_that_comes_after() -> None:
    known = OrderState(1).seen("Picked", Shown(), at=at(10))
    known = known.heard(hint(1, "Complete", 60 * 24 * 365, came=20))
    assert known.hint_at == at(20)  # a time from the future counts as that of its coming
    known = known.seen("Picked", Shown(), at=at(30))
    assert known.problem.reason == "an event said “Complete”, the service shows “Picked”"
    assert (known.status, known.status_at) == ("Picked", at(10))
    known = known.heard(hint(2, "At-Hub", 25))
    assert known.seen("At-Hub", Shown(), at=at(40)).status_at == at(25)


def test_late_and_repeated_events_change_nothing() -> None:
    known = OrderState(1).heard(hint(1, "Picked", 10)).seen("Picked", Shown(), at=at(11))
    for late in (hint(2, "Assigned", 5), hint(3, "Picked", 10), hint(4, "Pending", 9)):
        known = known.heard(late)
        assert not known.is_hinted
    assert known.heard(hint(1, "Complete", 99)) == known  # one that was taken into account before


def test_two_statuses_of_one_moment_are_both_looked_at() -> None:
    known = OrderState(1).heard(hint(1, "At-Hub", 10)).seen("At-Hub", Shown(), at=at(11))
    assert known.heard(hint(2, "Out-For-Delivery", 10)).is_hinted


def test_a_clock_of_the_service_that_is_behind_ours_hides_no_event() -> None:
    known = OrderState(1).seen("At-Hub", Shown(), at=at(10))
    assert known.heard(hint(1, "Out-For-Delivery", 8)).is_hinted
    assert not known.heard(hint(1, "Picked", -30)).is_hinted


def test_what_others_should_be_told_of() -> None:
    items = (ShownItem("Wires", "3", "0", "0"),)
    before = OrderState(1).seen("Picked", Shown("59.00", items), at=at(1))
    assert before.differs_from(OrderState(1))
    assert not replace(before, status="PICKED", asked_at=at(9)).differs_from(before)
    assert not before.not_shown(Issue(".order_unknown"), at=at(2)).differs_from(before)
    assert before.seen("Picked", Shown("59.00", (ShownItem("Wires", "3", "3", "0"),)), at=at(3)).differs_from(before)
    assert before.seen("Picked", Shown("0.00", items), at=at(3)).differs_from(before)


def test_whatever_the_order_of_events_the_state_only_goes_forward() -> None:
    """Shuffled, repeated, late and forged events with questions between them: never back, and right at the end."""
    for seed in range(300):
        dice = random.Random(seed)
        true = [hint(number, status, number * 10) for number, status in enumerate(WAY)]
        forged = [hint(0, dice.choice(WAY), dice.uniform(0, 60)) for _ in range(5)]
        stream = [*true, *dice.choices(true, k=4), *forged]
        dice.shuffle(stream)
        known, last, now = OrderState(1), -1, 0.0
        for number, event in enumerate(stream, 1):
            now += dice.uniform(0, 8)
            known = known.heard(replace(event, event_id=number, received_at=at(now)))
            if dice.random() < 0.4:
                really = WAY[min(int(now // 10), len(WAY) - 1)]
                known = known.seen(really, Shown(), at=at(now))
                assert WAY.index(known.status) >= last, seed
                last = WAY.index(known.status)
        known = known.seen("Complete", Shown(), at=at(200))
        assert (known.status, known.is_hinted) == ("Complete", False)
