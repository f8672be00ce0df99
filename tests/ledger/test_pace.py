"""Turns are claimed in the ledger: processes that share it keep one rate together."""

from collections.abc import Iterator

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
    assert ledger.take_turn(600) == 0
    assert 500 < other.take_turn(600) <= 600
    assert 500 < ledger.take_turn(600) <= 600
    elsewhere = open_ledger(url, account="http://another-service.test")
    assert elsewhere.take_turn(600) == 0  # another account has its own rate
    elsewhere.close()


def test_a_pause_that_the_service_asked_for_is_everybodys(ledger: Ledger, other: Ledger) -> None:
    ledger.hold_turns(300)
    ledger.hold_turns(100)  # never shortens a longer one
    assert 200 < other.take_turn(1) <= 300


def test_a_time_that_a_wrong_clock_wrote_holds_nobody_up(ledger: Ledger, url: str) -> None:
    ledger.take_turn(1)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '99999999999.0' WHERE name LIKE 'pace:%'"))
    engine.dispose()
    assert ledger.take_turn(1) == 0


def test_pacers_of_two_processes_keep_one_rate(ledger: Ledger, other: Ledger) -> None:
    first, second = Pacer("1/min"), Pacer("1/min")
    with first.sharing(ledger), second.sharing(other):
        assert first.try_turn() == 0
        assert 30 < second.try_turn() <= 60
        second.slow_down(600)
        assert 500 < waits_with(ledger) <= 600
    assert Pacer("1/min").try_turn() == 0  # alone, a pacer knows only its own


def waits_with(ledger: Ledger) -> float:
    third = Pacer("1/min")
    with third.sharing(ledger):
        return third.try_turn()


def test_a_ledger_that_takes_nothing_leaves_each_its_own_rate(ledger: Ledger, url: str) -> None:
    engine = create_engine(url)
    pacer = Pacer("1/min")
    with pacer.sharing(ledger), engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            return  # there nobody holds up everybody else
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        assert pacer.try_turn() == 0
        assert 30 < pacer.try_turn() <= 60
    engine.dispose()


def test_a_turn_taken_ahead_moves_the_next_from_its_own_moment(ledger: Ledger, other: Ledger) -> None:
    assert ledger.take_turn(50) == 0
    assert 40 < other.take_turn(50, ahead_seconds=60) <= 50  # taken, though it is still to come
    assert 90 < ledger.take_turn(50, ahead_seconds=60) <= 100  # not taken
    assert 90 < ledger.take_turn(50, ahead_seconds=60) <= 100
