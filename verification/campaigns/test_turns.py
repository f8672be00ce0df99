"""Turns in simulated time, by chance: no second has one call more than the rate, and the rate is reached."""

import heapq
import itertools
import math
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from api.test_pacing import Clock, LimitedService, called_for, departures
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger.test_pace import OneClock

from logistics_batch.api.pacing import Pacer, Turn
from logistics_batch.ledger import open_ledger


@settings(deadline=None)
@given(st.lists(st.floats(0, 0.4), max_size=120), st.sampled_from([1, 2, 3, 10, 20, 50, 300]))
def test_no_second_holds_one_more_however_late_some_are(delays: list[float], rate: int) -> None:
    clock = Clock()
    moments = departures(Pacer(f"{rate}/s", clock=clock, sleep=clock.sleep), clock, delays)
    assert all(last - first >= 1.0 - 1e-6 for first, last in zip(moments, moments[rate:], strict=False))


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.15, 0.3, 0.5, 4.0]), max_size=80), st.sampled_from([1, 2, 10, 300]))
def test_no_second_holds_one_more_however_slowly_some_connect(connects: list[float], rate: int) -> None:
    clock = Clock()
    moments = departures(Pacer(f"{rate}/s", clock=clock, sleep=clock.sleep), clock, itertools.repeat(0.0), connects)
    assert all(last - first >= 1.0 - 1e-6 for first, last in zip(moments, moments[rate:], strict=False))


@pytest.mark.parametrize("rate", [2, 20, 400])
def test_the_rate_is_reached_though_some_are_late(rate: int) -> None:
    clock = Clock()
    delays = [0.13 if number % (3 * rate) == 7 else 0.001 / rate for number in range(20 * rate)]
    moments = departures(Pacer(f"{rate}/s", clock=clock, sleep=clock.sleep), clock, delays)
    assert 0.93 * rate < (len(moments) - 1) / (moments[-1] - moments[0]) <= rate


@pytest.mark.parametrize("rate", ["50/s", "20/s", "none"])
@pytest.mark.parametrize(("per_second", "burst"), [(5, 1), (5, 10), (12, 5), (0.5, 2)])
def test_a_service_that_takes_less_is_called_about_as_often_as_it_takes(
    rate: str, per_second: float, burst: int
) -> None:
    clock = Clock()
    pacer, service = Pacer(rate, clock=clock, sleep=clock.sleep), LimitedService(per_second, burst=burst)
    called_for(300, pacer, clock, service)
    assert service.taken >= 0.8 * per_second * 300
    assert service.refused <= max(0.02 * service.taken, 20)
    assert pacer.refusals == service.refused
    assert pacer.lowered_to is not None


class MoodyService(LimitedService):
    """A service that refuses one call in eighty by chance, however slow they come."""

    def __init__(self) -> None:
        super().__init__(1e6, burst=10**6)
        self._chance = random.Random(20261122)

    def takes(self, now: float) -> bool:
        if self._chance.random() < 1 / 80:
            self.refused += 1
            return False
        return super().takes(now)


@pytest.mark.parametrize("rate", ["50/s", "20/s", "none"])
def test_refusals_by_chance_do_not_slow_the_calls_down_for_good(rate: str) -> None:
    clock = Clock()
    pacer, service = Pacer(rate, clock=clock, sleep=clock.sleep), MoodyService()
    called_for(600, pacer, clock, service)
    assert service.taken > 600 * 5.5
    assert service.refused < 0.02 * service.taken


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> OneClock:
    made = OneClock()
    monkeypatch.setattr("logistics_batch.ledger.service.time", made)
    return made


@contextmanager
def sharing_processes(folder: Path, clock: OneClock, *, processes: int, rate: int) -> Iterator[list[Pacer]]:
    """The pacers of processes that keep one rate."""
    with ExitStack() as stack:
        pacers = []
        for _ in range(processes):
            ledger = open_ledger(f"sqlite:///{folder}/ledger.db", account="http://service.test")
            stack.callback(ledger.close)
            pacers.append(Pacer(f"{rate}/s", clock=clock.monotonic, sleep=clock.sleep))
            stack.enter_context(pacers[-1].sharing(ledger.pace))
        yield pacers


def leaving(clock: OneClock, pacers: list[Pacer], *, calls: int, held_up: float, connects: float = 0.0) -> list[float]:
    """When calls of several processes leave, each of which is held up behind its turn, and then connects.

    connects: for how long at most, and a third of it at least.
    """
    chance = random.Random(20261122)
    ready: list[tuple[float, int, Pacer, Turn | None]] = []
    moments: list[float] = []
    number = 0
    while len(moments) < calls:
        while ready and ready[0][0] <= clock.now:
            _, known, leaving, turn = heapq.heappop(ready)
            if turn is not None:
                if left := leaving.depart(turn):
                    moments.append(left)
            elif turn := leaving.approach(kept_until=-math.inf if connects else math.inf):
                heapq.heappush(ready, (clock.now + chance.uniform(connects / 3, connects), known, leaving, turn))
        pacer = chance.choice(pacers)
        wait = pacer.try_turn(ahead_seconds=0.02)
        if wait <= 0.02:
            number += 1
            heapq.heappush(ready, (clock.now + wait + chance.uniform(0, held_up), number, pacer, None))
        clock.now += 0.002
    return moments


IN_FLIGHT, CALL_SECONDS, SOON_SECONDS = 8, 0.2, 0.25


def departures_of_senders(clock: OneClock, pacers: list[Pacer], *, seconds: float) -> list[float]:
    """When calls of processes leave, each of which sends as many at once as it may, a call as soon as one came back."""
    events = [(clock.now, number, "looks") for number in range(len(pacers))]
    under_way, moments, until = [0] * len(pacers), list[float](), clock.now + seconds
    while events and events[0][0] < until:
        at, number, what = heapq.heappop(events)
        clock.now, pacer = max(clock.now, at), pacers[number]
        if what == "leaves":
            turn = pacer.approach()
            left = turn and pacer.depart(turn)
            assert left is not None
            moments.append(left)
            heapq.heappush(events, (left + CALL_SECONDS, number, "comes back"))
            continue
        under_way[number] -= what == "comes back"
        while (room := IN_FLIGHT - under_way[number]) > 0:
            wait = pacer.try_turn(ahead_seconds=SOON_SECONDS, wanted=room)
            if wait > SOON_SECONDS:
                heapq.heappush(events, (clock.now + wait - SOON_SECONDS, number, "looks"))
                break
            under_way[number] += 1
            heapq.heappush(events, (clock.now + wait, number, "leaves"))
    return moments


@pytest.mark.parametrize("processes", [3, 4, 8])
def test_processes_use_the_rate_whole_together(tmp_path: Path, clock: OneClock, processes: int) -> None:
    """None holds turns that others could use: each alone could use less than half of the rate."""
    with sharing_processes(tmp_path, clock, processes=processes, rate=100) as pacers:
        moments = departures_of_senders(clock, pacers, seconds=4)
    assert all(last - first >= 1.0 - 1e-6 for first, last in zip(moments, moments[100:], strict=False))
    assert (len(moments) - 1) / (moments[-1] - moments[0]) > 0.97 * 100


def calls_at(rate: int) -> int:
    """Enough for some seconds at that rate, each with many calls where many fit in."""
    return 60 if rate == 20 else 20


@pytest.mark.parametrize("rate", [1, 3, 20])
@pytest.mark.parametrize("processes", [1, 3])
def test_no_second_sees_one_more_call_than_the_rate_allows(
    tmp_path: Path, clock: OneClock, processes: int, rate: int
) -> None:
    clock.late = 0.004
    with sharing_processes(tmp_path, clock, processes=processes, rate=rate) as pacers:
        moments = leaving(clock, pacers, calls=calls_at(rate), held_up=min(0.9, 8 / rate))
    assert all(last - first >= 1.0 - 1e-6 for first, last in zip(moments, moments[rate:], strict=False))
    # A call that is held up beyond its turn takes another: slower, but none waits long.
    assert (len(moments) - 1) / (moments[-1] - moments[0]) > 0.3 * rate


@pytest.mark.parametrize(("rate", "connects"), [(1, 0.5), (20, 0.15), (20, 0.5)])
def test_slow_connects_bring_no_second_above_the_rate(
    tmp_path: Path, clock: OneClock, rate: int, connects: float
) -> None:
    with sharing_processes(tmp_path, clock, processes=3, rate=rate) as pacers:
        moments = leaving(clock, pacers, calls=calls_at(rate), held_up=0.0, connects=connects)
    assert all(last - first >= 1.0 - 1e-6 for first, last in zip(moments, moments[rate:], strict=False))
    assert (len(moments) - 1) / (moments[-1] - moments[0]) > 0.3 * rate


@pytest.mark.parametrize("rate", [1, 20])
def test_processes_reach_the_rate_together(tmp_path: Path, clock: OneClock, rate: int) -> None:
    with sharing_processes(tmp_path, clock, processes=3, rate=rate) as pacers:
        moments = leaving(clock, pacers, calls=calls_at(rate), held_up=0.018)
    assert (len(moments) - 1) / (moments[-1] - moments[0]) >= 0.95 * rate
