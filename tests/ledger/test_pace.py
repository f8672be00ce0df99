"""Turns are claimed in the ledger: processes that share it keep one rate together."""

import json
import random
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text
from support.engines import engine_of

from logistics_batch.api.pacing import Pacer
from logistics_batch.ledger import Ledger, open_ledger
from logistics_batch.model.turns import Allowed


@pytest.fixture
def other(url: str, ledger: Ledger) -> Iterator[Ledger]:
    opened = open_ledger(url, account=ledger.account)
    yield opened
    opened.close()


def wait(ledger: Ledger, spacing: float = 600, *, count: int = 1, ahead: float = 0.0, missed: float = 0.0) -> float:
    """Take turns if they come so soon; gives the seconds until the first that was taken, or could not be.

    missed: a turn that passed without a call.
    """
    one_by_one = Allowed(1, spacing, spacing)
    taken, next_at = ledger.pace.take_turns(count, one_by_one, ahead_seconds=ahead, unused=[missed] if missed else [])
    return (taken[0] if taken else next_at) - time.monotonic()


def test_a_turn_is_taken_by_one(ledger: Ledger, other: Ledger, url: str) -> None:
    assert wait(ledger) <= 0
    assert 500 < wait(other) <= 600
    assert 500 < wait(ledger) <= 600
    elsewhere = open_ledger(url, account="http://another-service.test")
    assert wait(elsewhere) <= 0  # another account has its own rate
    elsewhere.close()


def test_turns_are_taken_in_blocks(ledger: Ledger, other: Ledger) -> None:
    assert wait(ledger, 10, count=5) <= 0
    assert 40 < wait(other, 10) <= 50


def test_a_pause_that_the_service_asked_for_is_everybodys(ledger: Ledger, other: Ledger) -> None:
    ledger.pace.hold_turns(300)
    ledger.pace.hold_turns(100)  # never shortens a longer one
    assert 200 < wait(other, 1) <= 300


def test_a_time_that_a_wrong_clock_wrote_holds_nobody_up(ledger: Ledger, url: str) -> None:
    wait(ledger, 1)
    engine = engine_of(url)
    with engine.begin() as connection:
        far = json.dumps({"held_until": 99999999999.0, "given": [99999999999.0]})
        connection.execute(text("UPDATE meta SET value = :far WHERE name LIKE 'pace:%'"), {"far": far})
    engine.dispose()
    assert wait(ledger, 1) <= 0


def test_pacers_of_two_processes_keep_one_rate(ledger: Ledger, other: Ledger) -> None:
    first, second = Pacer("1/min"), Pacer("1/min")
    with first.sharing(ledger.pace), second.sharing(other.pace):
        assert first.try_turn() == 0
        assert 30 < second.try_turn() <= 61.9
        second.slow_down(600)
        assert 500 < waits_with(ledger) <= 600
    assert Pacer("1/min").try_turn() == 0  # alone, a pacer knows only its own


def waits_with(ledger: Ledger) -> float:
    third = Pacer("1/min")
    with third.sharing(ledger.pace):
        return third.try_turn()


def test_a_ledger_that_takes_nothing_leaves_each_its_own_rate(ledger: Ledger, url: str) -> None:
    engine = engine_of(url)
    pacer = Pacer("1/min")
    with pacer.sharing(ledger.pace), engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            return  # there nobody holds up everybody else
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        assert pacer.try_turn() == 0
        assert 30 < pacer.try_turn() <= 61.9
    engine.dispose()


def test_a_turn_taken_ahead_moves_the_next_from_its_own_moment(ledger: Ledger, other: Ledger) -> None:
    assert wait(ledger, 50) <= 0
    assert 40 < wait(other, 50, ahead=60) <= 50  # taken, though it is still to come
    assert 90 < wait(ledger, 50, ahead=60) <= 100  # not taken
    assert 90 < wait(ledger, 50, ahead=60) <= 100


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
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[OneClock]:
    """Time that does not pass, also for PostgreSQL."""
    made = OneClock()
    monkeypatch.setattr("logistics_batch.ledger.service._now", lambda _: (made.now, made.now))
    monkeypatch.setattr("time.monotonic", made.monotonic)
    yield made


@pytest.mark.usefixtures("still")
def test_a_turn_that_was_missed_is_given_back(ledger: Ledger, other: Ledger) -> None:
    missed = time.monotonic() + wait(ledger, 50)
    assert wait(other, 50, missed=missed) == 0
    assert wait(other, 50, ahead=60) == pytest.approx(50, abs=0.001)
    assert wait(ledger, 50, missed=missed + 1) == pytest.approx(100, abs=0.001)  # none was given then


def test_turns_that_nobody_took_are_made_up_for_within_their_span(
    ledger: Ledger, other: Ledger, still: OneClock
) -> None:
    """Ten in two seconds, nobody took one for half a second: the next come quicker, until there are ten."""
    allowed, began = Allowed(10, 2.0, 0.1), still.now
    ledger.pace.take_turns(5, allowed, ahead_seconds=0)
    still.now += 1.0
    taken, next_at = other.pace.take_turns(7, allowed, ahead_seconds=0)
    assert [round(turn - began, 3) for turn in taken] == [1.0, 1.1, 1.2, 1.3, 1.4, 2.0, 2.1]
    assert round(next_at - began, 3) == 2.2
