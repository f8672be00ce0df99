"""One rate for all threads, never above it."""

import itertools
import math
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from logistics_batch.api.pacing import Pacer, interval_seconds
from logistics_batch.errors import SettingsError
from logistics_batch.model.turns import Allowed, Turns


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


def test_turns_of_a_second_come_a_trifle_quicker_until_all_are_given() -> None:
    clock = Clock()
    pacer = Pacer("4/s", clock=clock, sleep=clock.sleep)
    turns = []
    for _ in range(9):
        assert pacer.wait_turn()
        assert leaves(pacer, clock) == clock.now
        turns.append(clock.now - 1000)
    assert turns == pytest.approx([0, 0.225, 0.45, 0.675, 1.02, 1.245, 1.47, 1.695, 2.04])


def test_time_that_nobody_used_is_not_saved_up() -> None:
    clock = Clock()
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep)
    pacer.wait_turn()
    clock.now += 60
    assert pacer.try_turn() == 0
    assert pacer.try_turn() == pytest.approx(1.02)


class Row:
    """The turns of all, as the ledger keeps them, in one process and without its commits."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.turns = clock, Turns()

    def take_turns(
        self, count: int, allowed: Allowed, *, ahead_seconds: float, lead_seconds: float, unused: Sequence[float]
    ) -> tuple[list[float], float]:
        return self.turns.take(
            count,
            allowed,
            now=self.clock.now,
            ahead_seconds=ahead_seconds,
            lead_seconds=lead_seconds,
            unused=unused,
        )

    def hold_turns(self, seconds: float) -> None:
        self.turns.hold(self.clock.now + seconds)


def test_a_question_beside_a_run_waits_for_the_turns_taken_already_not_for_the_end_of_the_run() -> None:
    clock = Clock()
    run = Pacer("20/s", clock=clock, sleep=clock.sleep)

    def sleep_while_the_run_goes_on(seconds: float) -> None:
        until = clock.now + seconds
        while clock.now < until:
            clock.now = min(clock.now + 0.01, until)
            run.try_turn(ahead_seconds=0.25)

    asks = Pacer("20/s", clock=clock, sleep=sleep_while_the_run_goes_on)
    row = Row(clock)
    with run.sharing(row), asks.sharing(row):
        run.try_turn(ahead_seconds=0.25)
        began = clock.now
        assert asks.wait_turn()
    assert clock.now - began < 0.5


def test_who_makes_many_calls_takes_many_turns_at_once_and_who_makes_few_leaves_them_to_others() -> None:
    clock = Clock()
    row = Row(clock)
    sizes: list[int] = []

    class Counted(Row):
        def take_turns(self, count: int, *rest: Any, **named: Any) -> tuple[list[float], float]:
            sizes.append(count)
            return row.take_turns(count, *rest, **named)

    pacer = Pacer("100/s", clock=clock, sleep=clock.sleep)
    with pacer.sharing(Counted(clock)):
        assert all(pacer.wait_turn() for _ in range(400))
        many, sizes[:] = list(sizes), []
        for _ in range(5):
            clock.now += 2
            assert pacer.wait_turn()
            pacer.approach()
    assert len(many) < 25  # and not few again after each block that was used up
    assert max(many) <= 21  # of a fifth of a second
    assert len(sizes) <= 5 * 2  # what passed of a block is given back
    assert sizes[-1] == 1


def test_a_call_leaves_while_another_thread_takes_turns_from_the_ledger() -> None:
    clock = Clock()
    taking, go_on = threading.Event(), threading.Event()

    class Slow(Row):
        def take_turns(self, *arguments: Any, **named: Any) -> tuple[list[float], float]:
            if threading.current_thread() is not threading.main_thread():
                taking.set()
                assert go_on.wait(10)
            return super().take_turns(*arguments, **named)

    pacer = Pacer("10/s", clock=clock, sleep=clock.sleep)
    with pacer.sharing(Slow(clock)):
        assert pacer.wait_turn()
        other = threading.Thread(target=pacer.try_turn, kwargs={"ahead_seconds": 0.25}, daemon=True)
        other.start()
        assert taking.wait(10)
        left: list[float | None] = []
        leaving = threading.Thread(target=lambda: left.append(leaves(pacer, clock)), daemon=True)
        leaving.start()
        leaving.join(5)
        assert left == [1000]
        go_on.set()
        other.join()


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
    assert leaves(pacer, clock) == 1030


def test_a_rate_that_is_over_while_turns_are_taken_stops_nobody() -> None:
    asked, go_on = threading.Event(), threading.Event()

    class SlowLedger:
        def take_turns(self, count: int, allowed: Allowed, **_: Any) -> tuple[list[float], float]:
            asked.set()
            assert go_on.wait(5)
            return [], time.monotonic()

        def hold_turns(self, seconds: float) -> None:
            raise AssertionError

    pacer = Pacer("none")
    pacer.refused(time.monotonic(), pause_seconds=0)
    with pacer.sharing(SlowLedger()), ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(pacer.try_turn)]
        assert asked.wait(5)
        calls.append(pool.submit(pacer.try_turn))
        time.sleep(0.1)  # it waits for the other one now
        while pacer.paced:
            pacer.answered(time.monotonic())
        go_on.set()
        assert [call.result(5) for call in calls] == [0, 0]


def test_how_far_a_rate_is_lowered_is_told_though_that_is_just_over(monkeypatch: pytest.MonkeyPatch) -> None:
    pacer = Pacer("none")
    pacer.refused(time.monotonic(), pause_seconds=0)

    def go_well() -> None:
        while pacer.paced:
            pacer.answered(time.monotonic())

    others = threading.Thread(target=go_well)
    is_lowered = type(pacer._allowance).lowered.fget

    def lowered(allowance: Any) -> bool:
        found = is_lowered(allowance)
        if threading.current_thread() is not others and not others.ident:
            others.start()
            others.join(0.2)
        return found

    monkeypatch.setattr(type(pacer._allowance), "lowered", property(lowered))
    assert pacer.lowered_to
    others.join(5)
    assert not others.is_alive()


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


def test_how_many_turns_come_while_a_commit_is_made() -> None:
    assert int(Pacer("20/s").turns_in(0.04)) == 0  # none is taken for a call that may not begin in time
    assert int(Pacer("500/s").turns_in(0.04)) == 19
    assert Pacer("none").turns_in(0.04) == math.inf


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


def leaves(pacer: Pacer, clock: Clock, *, connect: float = 0.0) -> float | None:
    """When a call leaves that waits for its turn and then connects for so long; 0: on a kept connection."""
    turn = pacer.approach(kept_until=-math.inf if connect else math.inf)
    clock.now += connect
    return turn and pacer.depart(turn)


def departures(
    pacer: Pacer, clock: Clock, delays: Iterable[float], connects: Iterable[float] = itertools.repeat(0.0)
) -> list[float]:
    """When calls leave that are held up so long after they took their turn, and connect, one after the other."""
    moments = []
    for late, connect in zip(delays, connects, strict=False):
        while (wait := pacer.try_turn(ahead_seconds=0.02)) > 0.02:
            clock.sleep(wait - 0.015)
        clock.now += late
        left = leaves(pacer, clock, connect=connect)
        assert left is not None
        moments.append(left)
    return moments


def test_one_that_has_no_turn_soon_does_not_leave() -> None:
    clock = Clock()
    pacer = Pacer("20/s", clock=clock, sleep=clock.sleep)
    pacer.try_turn(ahead_seconds=0.02)
    pacer.slow_down(60)
    clock.now += 0.05  # the turn has passed
    assert leaves(pacer, clock) is None
    assert clock.slept == []


@pytest.mark.parametrize("connect", [0.15, 0.5, 2.0])
@pytest.mark.parametrize("rate", ["5/min", "30/min", "1/s"])
def test_calls_that_connect_slowly_all_leave_at_the_rate(rate: str, connect: float) -> None:
    clock, interval = Clock(), interval_seconds(rate)
    pacer = Pacer(rate, clock=clock, sleep=clock.sleep)
    moments = departures(pacer, clock, [0.0] * 20, itertools.repeat(connect))
    assert min(after - before for before, after in itertools.pairwise(moments)) >= interval - 1e-9
    if connect <= 0.5:
        assert 19 * interval >= 0.95 * (moments[-1] - moments[0])


@pytest.mark.parametrize("rate", ["1/s", "2/s"])
def test_sleepers_that_wake_late_leave_all_the_same(rate: str) -> None:
    clock = Clock(late=0.035)
    pacer = Pacer(rate, clock=clock, sleep=clock.sleep)
    moments = departures(pacer, clock, [0.0] * 30)
    assert 29 * interval_seconds(rate) >= 0.85 * (moments[-1] - moments[0])


def test_nothing_waits_once_a_kept_connection_is_at_hand() -> None:
    clock = Clock()
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep)
    departures(pacer, clock, [0.0] * 5, itertools.repeat(0.4))  # a connect is begun earlier by now
    while pacer.try_turn(ahead_seconds=0.1) > 0.1:
        clock.sleep(0.1)
    turn = pacer.approach(kept_until=clock.now + 2)
    slept = len(clock.slept)
    assert turn is not None
    assert pacer.depart(turn) == clock.now
    assert len(clock.slept) == slept


@pytest.mark.parametrize("rate", ["none", "10/s"])
@pytest.mark.parametrize("connecting", [False, True])
def test_a_pause_stops_turns_that_were_taken(rate: str, connecting: bool) -> None:
    clock = Clock()
    pacer = Pacer(rate, clock=clock, sleep=clock.sleep)
    pacer.try_turn(ahead_seconds=0.3)
    turn = pacer.approach() if connecting else None
    pacer.slow_down(5)
    assert (pacer.depart(turn) if turn else pacer.approach()) is None
    assert clock.now == 1000
    clock.now += 4
    assert leaves(pacer, clock) == 1005  # soon enough to be waited for


def test_no_call_waits_when_the_process_is_to_end() -> None:
    clock, stop = Clock(), threading.Event()
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep, stop=stop)
    assert leaves(pacer, clock) == 1000
    stop.set()
    assert leaves(pacer, clock) is None
    assert clock.slept == []


class LimitedService:
    """A service that takes so many calls a second, and a few more at once after a rest."""

    def __init__(self, per_second: float, *, burst: int) -> None:
        self.per_second, self.burst = per_second, burst
        self.credit, self.at = float(burst), 0.0
        self.taken = self.refused = 0

    def takes(self, now: float) -> bool:
        self.credit = min(self.burst, self.credit + (now - self.at) * self.per_second)
        self.at = now
        if self.credit < 1:
            self.refused += 1
            return False
        self.credit -= 1
        self.taken += 1
        return True


def called_for(seconds: float, pacer: Pacer, clock: Clock, service: LimitedService) -> None:
    """One call after the other, each of which takes 20 ms."""
    end = clock.now + seconds
    while clock.now < end and pacer.wait_turn():
        left = leaves(pacer, clock) or clock.now
        clock.now += 0.02
        if service.takes(left):
            pacer.answered(left)
        else:
            pacer.refused(left, pause_seconds=1.0)


def test_the_rate_comes_back_when_the_service_takes_all_again() -> None:
    clock = Clock()
    pacer, service = Pacer("20/s", clock=clock, sleep=clock.sleep), LimitedService(5, burst=1)
    called_for(30, pacer, clock, service)
    assert (pacer.lowered_to or 99) < 7
    service.per_second = service.burst = 1000
    service.taken = 0
    called_for(30, pacer, clock, service)
    assert service.taken > 30 * 4
    called_for(900, pacer, clock, service)
    assert pacer.lowered_to is None
    service.taken = 0
    called_for(10, pacer, clock, service)
    assert 195 <= service.taken <= 201


def test_calls_that_were_under_way_together_lower_the_rate_once() -> None:
    clock = Clock()
    pacer = Pacer("50/s", clock=clock, sleep=clock.sleep)
    left = []
    for _ in range(8):
        pacer.wait_turn()
        left.append(leaves(pacer, clock) or clock.now)
    clock.now += 0.1
    for moment in left:
        pacer.refused(moment, pause_seconds=1.0)
    assert pacer.lowered_to == pytest.approx(25)
    assert pacer.refusals == 8


def test_a_turn_that_is_too_far_ahead_is_not_taken() -> None:
    clock = Clock()
    pacer = Pacer("1/s", clock=clock, sleep=clock.sleep)
    assert pacer.try_turn(ahead_seconds=0.1) == 0
    assert [pacer.try_turn(ahead_seconds=0.1) for _ in range(2)] == pytest.approx([1.02] * 2)
    clock.now += 0.95
    assert 0 < pacer.try_turn(ahead_seconds=0.1) < 0.1
    assert pacer.try_turn(ahead_seconds=0.1) > 1.0
