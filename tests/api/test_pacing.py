"""One rate for all threads, never above it."""

import itertools
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logistics_batch.api.pacing import Pacer, interval_seconds
from logistics_batch.errors import SettingsError


class Clock:
    """Time that passes only by sleeping; a sleeper may wake late, as sleepers do."""

    def __init__(self, *, late: float = 0.0) -> None:
        self.now = 1000.0
        self.late = late
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds + self.late


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [("1/s", 1.0), ("50/s", 0.02), ("30/min", 2.0), ("0.5/s", 2.0), (" 2 / S ", 0.5), ("none", 0.0), ("None", 0.0)],
)
def test_rates(rate: str, seconds: float) -> None:
    assert interval_seconds(rate) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "rate", ["", "1", "fast", "0/s", "-1/s", "1/h", "1/2s", "1e3/s", "1//s", "inf/s", "nan/s", "१/s"]
)
def test_what_is_no_rate_is_named_with_a_remedy(rate: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Pacer(rate)
    assert rate in caught.value.message
    assert "1/s" in caught.value.remedy


def test_turns_are_evenly_apart() -> None:
    clock = Clock()
    pacer = Pacer("4/s", clock=clock, sleep=clock.sleep)
    turns = []
    for _ in range(5):
        assert pacer.wait_turn()
        turns.append(clock.now)
    assert turns == [1000.0, 1000.25, 1000.5, 1000.75, 1001.0]


def test_time_that_nobody_used_is_not_saved_up() -> None:
    clock = Clock()
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep)
    pacer.wait_turn()
    clock.now += 60
    assert pacer.try_turn() == 0
    assert pacer.try_turn() == 1.0


def test_one_that_wakes_late_does_not_bring_the_next_nearer() -> None:
    clock = Clock(late=0.3)
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep)
    turns = []
    for _ in range(4):
        pacer.wait_turn()
        turns.append(clock.now)
    assert [round(b - a, 6) for a, b in itertools.pairwise(turns)] == [1.3, 1.3, 1.3]


@given(st.lists(st.floats(0, 3), max_size=40), st.floats(0, 0.5))
def test_no_window_holds_more_than_the_rate_allows(pauses: list[float], late: float) -> None:
    clock = Clock(late=late)
    pacer = Pacer("2/s", clock=clock, sleep=clock.sleep)
    turns = []
    for pause in pauses:
        clock.now += pause
        pacer.wait_turn()
        turns.append(clock.now)
    assert all(later - earlier >= 0.5 - 1e-9 for earlier, later in itertools.pairwise(turns))


def test_no_rate_means_no_wait() -> None:
    clock = Clock()
    pacer = Pacer("none", clock=clock, sleep=clock.sleep)
    assert all(pacer.wait_turn() for _ in range(100))
    assert clock.slept == []


@pytest.mark.parametrize("rate", ["none", "10/s"])
def test_slowing_down_holds_everybody(rate: str) -> None:
    clock = Clock()
    pacer = Pacer(rate, clock=clock, sleep=clock.sleep)
    pacer.slow_down(30)
    pacer.slow_down(5)  # a shorter wish does not shorten a longer one
    assert pacer.try_turn() == 30
    pacer.wait_turn()
    assert clock.now == 1030


def test_nobody_can_stop_us_for_longer_than_a_quarter_of_an_hour() -> None:
    clock = Clock()
    pacer = Pacer("none", clock=clock, sleep=clock.sleep)
    for seconds in (float("nan"), -1, 0):
        pacer.slow_down(seconds)
    assert pacer.try_turn() == 0
    pacer.slow_down(float("inf"))
    assert pacer.try_turn() == 900


def test_how_long_many_calls_take() -> None:
    clock = Clock()
    pacer = Pacer("30/min", clock=clock, sleep=clock.sleep)
    assert [pacer.seconds_for(n) for n in (0, 1, 2, 11)] == [0, 0, 2, 20]
    pacer.slow_down(60)
    assert pacer.seconds_for(11) == 80
    assert Pacer("none").seconds_for(5000) == 0


def test_the_end_of_the_process_ends_the_waiting() -> None:
    clock = Clock()
    stop = threading.Event()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now > 1003:
            stop.set()

    pacer = Pacer("1/min", clock=clock, sleep=sleep)
    assert pacer.wait_turn(stop=stop)
    assert not pacer.wait_turn(stop=stop)
    assert max(clock.slept) <= 0.5
    assert pacer.try_turn() > 0  # the turn that was given up was not taken


def test_sixteen_threads_keep_one_rate() -> None:
    pacer = Pacer("200/s")
    turns: list[float] = []

    def work() -> None:
        for _ in range(5):
            pacer.wait_turn()
            turns.append(time.monotonic())

    threads = [threading.Thread(target=work) for _ in range(16)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(turns) == 80
    assert max(turns) - start >= 79 / 200  # a machine under load makes it slower, nothing makes it faster


def test_calls_that_were_held_up_after_their_turn_still_leave_apart() -> None:
    moments: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pacer = Pacer("10/s", clock=lambda: now[0], sleep=sleep)
    for late in (0.09, 0.0, 0.05, 0.0):
        assert pacer.wait_turn()
        now[0] += late
        pacer.depart()
        moments.append(now[0])
    gaps = [after - before for before, after in itertools.pairwise(moments)]
    assert min(gaps) >= 0.1 - 1e-9


def test_turns_that_are_taken_ahead_do_not_lose_what_a_late_taker_lost() -> None:
    clock = Clock()
    pacer = Pacer("10/s", clock=clock, sleep=clock.sleep)
    moments = []
    for late in (0.0, 0.06, 0.0, 0.03, 0.09):  # what was done between the turn and the call: a commit, a busy machine
        wait = pacer.try_turn(ahead_seconds=0.1)
        while wait > 0.1:
            clock.sleep(wait - 0.095)
            wait = pacer.try_turn(ahead_seconds=0.1)
        turn = clock.now + wait
        clock.now += late
        pacer.wait_until(turn)
        pacer.depart()
        moments.append(clock.now)
    gaps = [after - before for before, after in itertools.pairwise(moments)]
    assert gaps == pytest.approx([0.1] * 4, rel=0.005)
    assert min(gaps) >= 0.1


def test_a_turn_that_is_too_far_ahead_is_not_taken() -> None:
    clock = Clock()
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep)
    assert pacer.try_turn(ahead_seconds=0.1) == 0
    assert [pacer.try_turn(ahead_seconds=0.1) for _ in range(2)] == pytest.approx([1.0] * 2, rel=0.005)
    clock.now += 0.95
    assert 0 < pacer.try_turn(ahead_seconds=0.1) < 0.1
    assert pacer.try_turn(ahead_seconds=0.1) > 1.0
