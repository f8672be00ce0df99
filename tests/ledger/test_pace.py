"""Turns are claimed in the ledger: processes that share it keep one rate together."""

import heapq
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from logistics_batch.api.pacing import Pacer
from logistics_batch.ledger import Ledger, open_ledger


@pytest.fixture
def other(url: str, ledger: Ledger) -> Iterator[Ledger]:
    opened = open_ledger(url, account=ledger.account)
    yield opened
    opened.close()


def test_a_turn_is_taken_by_one(ledger: Ledger, other: Ledger, url: str) -> None:
    assert ledger.pace.take_turn(600) == 0
    assert 500 < other.pace.take_turn(600) <= 600
    assert 500 < ledger.pace.take_turn(600) <= 600
    elsewhere = open_ledger(url, account="http://another-service.test")
    assert elsewhere.pace.take_turn(600) == 0  # another account has its own rate
    elsewhere.close()


def test_a_pause_that_the_service_asked_for_is_everybodys(ledger: Ledger, other: Ledger) -> None:
    ledger.pace.hold_turns(300)
    ledger.pace.hold_turns(100)  # never shortens a longer one
    assert 200 < other.pace.take_turn(1) <= 300


def test_a_time_that_a_wrong_clock_wrote_holds_nobody_up(ledger: Ledger, url: str) -> None:
    ledger.pace.take_turn(1)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '99999999999.0' WHERE name LIKE 'pace:%'"))
    engine.dispose()
    assert ledger.pace.take_turn(1) == 0


def test_pacers_of_two_processes_keep_one_rate(ledger: Ledger, other: Ledger) -> None:
    first, second = Pacer("1/min"), Pacer("1/min")
    with first.sharing(ledger.pace), second.sharing(other.pace):
        assert first.try_turn() == 0
        assert 30 < second.try_turn() <= 60
        second.slow_down(600)
        assert 500 < waits_with(ledger) <= 600
    assert Pacer("1/min").try_turn() == 0  # alone, a pacer knows only its own


def waits_with(ledger: Ledger) -> float:
    third = Pacer("1/min")
    with third.sharing(ledger.pace):
        return third.try_turn()


def test_a_ledger_that_takes_nothing_leaves_each_its_own_rate(ledger: Ledger, url: str) -> None:
    engine = create_engine(url)
    pacer = Pacer("1/min")
    with pacer.sharing(ledger.pace), engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            return  # there nobody holds up everybody else
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        assert pacer.try_turn() == 0
        assert 30 < pacer.try_turn() <= 60
    engine.dispose()


def test_a_turn_taken_ahead_moves_the_next_from_its_own_moment(ledger: Ledger, other: Ledger) -> None:
    assert ledger.pace.take_turn(50) == 0
    assert 40 < other.pace.take_turn(50, ahead_seconds=60) <= 50  # taken, though it is still to come
    assert 90 < ledger.pace.take_turn(50, ahead_seconds=60) <= 100  # not taken
    assert 90 < ledger.pace.take_turn(50, ahead_seconds=60) <= 100


class OneClock:
    """Time that passes only by sleeping, for several processes at once; one sleeper in four may wake late."""

    def __init__(self, *, late: float = 0.0) -> None:
        self.now, self.late = 1_790_000_000.0, late
        self._chance = random.Random(7)

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self._chance.choice((0, 0, 0, self.late))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> OneClock:
    made = OneClock()
    monkeypatch.setattr("logistics_batch.ledger.documents.pace.time", made)
    return made


def departures(clock: OneClock, pacers: list[Pacer], *, calls: int, held_up: float) -> list[float]:
    """When calls of several processes leave, each of which is held up between its turn and its departure."""
    chance = random.Random(20261122)
    ready: list[tuple[float, int, Pacer]] = []
    moments: list[float] = []
    number = 0
    while len(moments) < calls:
        while ready and ready[0][0] <= clock.now:
            moments.append(heapq.heappop(ready)[2].depart())
        pacer = chance.choice(pacers)
        wait = pacer.try_turn(ahead_seconds=0.1)
        if wait <= 0.1:
            number += 1
            heapq.heappush(ready, (clock.now + wait + chance.uniform(0, held_up), number, pacer))
        clock.now += 0.002
    return moments


@pytest.mark.parametrize("late", [0.0, 0.004])
@pytest.mark.parametrize("rate", [1, 2, 3, 20])
@pytest.mark.parametrize("processes", [1, 3])
def test_no_second_sees_one_more_call_than_the_rate_allows(
    tmp_path: Path, clock: OneClock, processes: int, rate: int, late: float
) -> None:
    clock.late = late
    with ExitStack() as stack:
        pacers = []
        for _ in range(processes):
            ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="http://service.test")
            stack.callback(ledger.close)
            pacers.append(Pacer(f"{rate}/s", clock=clock.monotonic, sleep=clock.sleep))
            stack.enter_context(pacers[-1].sharing(ledger.pace))
        moments = departures(clock, pacers, calls=60, held_up=min(0.9, 8 / rate))
    assert all(last - first >= 1.0 - 1e-6 for first, last in zip(moments, moments[rate:], strict=False))
    # One that waits holds up the others here, where all processes have one clock: they are slower, but none waits long.
    assert (len(moments) - 1) / (moments[-1] - moments[0]) > 0.6 * rate


def test_a_departure_that_was_missed_makes_room_for_others(ledger: Ledger, other: Ledger) -> None:
    allowed = {"at_most": 1, "in_seconds": 5.0, "lead_seconds": 0.0}
    first, mark = ledger.pace.leave(**allowed)
    again, _ = ledger.pace.leave(**allowed, instead_of=mark)
    assert 0 <= again - first < 4
    behind, _ = other.pace.leave(**allowed)
    assert behind - again >= 4.9  # the same moment by two clocks


def test_a_departure_that_a_wrong_clock_wrote_holds_nobody_up(ledger: Ledger, url: str) -> None:
    allowed = {"at_most": 1, "in_seconds": 5.0, "lead_seconds": 0.0}
    first, _ = ledger.pace.leave(**allowed)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '[99999999999.0]' WHERE name LIKE 'departures:%'"))
    engine.dispose()
    again, _ = ledger.pace.leave(**allowed)
    assert again - first < 4
