"""A ledger of an earlier version is brought up to date in place: whole or not at all, and no row is lost."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.operations import Operations
from sqlalchemy import Column, MetaData, Text, inspect, text
from support.commands import Finished, forker_of_tests
from support.engines import engine_of
from support.postgres import new_database

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.ledger.itself import version as versions
from logistics_batch.ledger.itself.lock import sending_lock
from logistics_batch.ledger.schema import SCHEMA_VERSION

NEXT = SCHEMA_VERSION + 1
HERE = Path(__file__).parent
KEPT = ["1", "5"]  # the first, and that of 1.0: ledgers with rows, as SQL, see `made`
ACCOUNT = "http://service.test"
POSTGRES_GUARDS = """
SELECT tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE NOT tgisinternal
UNION ALL SELECT proname, pg_get_functiondef(p.oid) FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public' ORDER BY 1, 2
"""
SQLITE_GUARDS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"


def opened_elsewhere(url: str, point: str, schema: int, folder: Path) -> Finished:
    """How a process ends that opens the ledger, and is killed at that point."""
    forker = forker_of_tests()
    return forker.fork("ledger_opener", url, point, str(schema), folder=folder, environment=dict(os.environ)).end()


def sqlite_file(url: str) -> Path | None:
    return Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None


@pytest.fixture
def url(nothing: str) -> str:
    return nothing


@pytest.fixture(params=KEPT)
def since(request: pytest.FixtureRequest) -> str:
    """The version of the schema that an old ledger has."""
    return str(request.param)


@pytest.fixture
def old(url: str, since: str) -> str:
    """The address of a ledger of an earlier version, in which two orders were sent."""
    path = sqlite_file(url)
    if path:
        path.touch(mode=0o600)
        with sqlite3.connect(path) as connection:
            connection.executescript((HERE / f"version_{since}/sqlite.sql").read_text("utf-8"))
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute((HERE / f"version_{since}/postgresql.sql").read_bytes())
    return url


def shape(url: str) -> dict[str, Any]:
    """Everything that the database knows about its tables, keys, indexes and guards."""
    engine = engine_of(url)
    seen = inspect(engine)
    found: dict[str, Any] = {
        name: {
            "columns": [
                (column["name"], repr(column["type"]), column["nullable"], column["default"])
                for column in seen.get_columns(name)
            ],
            "key": seen.get_pk_constraint(name),
            "unique": sorted(map(repr, seen.get_unique_constraints(name))),
            "foreign": sorted(map(repr, seen.get_foreign_keys(name))),
            "indexes": sorted(map(repr, seen.get_indexes(name))),
        }
        for name in seen.get_table_names()
    }
    with engine.connect() as connection:
        guards = connection.execute(text(SQLITE_GUARDS if sqlite_file(url) else POSTGRES_GUARDS))
        found["guards"] = [(name, " ".join(sql.split())) for name, sql in guards]
    engine.dispose()
    return found


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is of a later version, which has one more column."""
    monkeypatch.setattr(versions, "SCHEMA_VERSION", NEXT)
    monkeypatch.setitem(versions.STEPS, NEXT, _to_the_next)


def _to_the_next(op: Operations, dialect: str) -> None:
    op.add_column("run", Column("more", Text, server_default=""))


def rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in the columns that version 1 has; its version is no row."""
    engine = engine_of(url)
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        found = {
            name: sorted((_as_it_was(row._mapping) for row in connection.execute(table.select())), key=repr)
            for name, table in metadata.tables.items()
            if name not in ("meta", "web_view", "lease", "lane")
        }
    engine.dispose()
    return found


def _as_it_was(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in row.items() if name not in ("more", "lane", "lease_id"))


def version(url: str) -> str:
    engine = engine_of(url)
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT value FROM meta WHERE name = 'schema_version'")).scalar_one()
    engine.dispose()
    return str(stored)


def test_an_old_ledger_is_what_a_new_one_is(old: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Whoever changes the schema writes a step to it."""
    in_file = f"sqlite:///{tmp_path}/new.db"
    new = in_file if sqlite_file(old) else new_database(request.getfixturevalue("postgres"))
    open_ledger(new, account=ACCOUNT).close()
    open_ledger(old, account=ACCOUNT).close()
    assert shape(old) == shape(new)
    assert version(old) == version(new) == str(SCHEMA_VERSION)


def test_every_row_is_still_there(old: str) -> None:
    before = rows(old)
    assert len(before["document"]) == 3
    ledger = open_ledger(old, account=ACCOUNT)
    assert rows(old) == before
    states = [(document.key, document.state, document.awb_number) for document in ledger.documents.select()]
    assert states == [("A", "accepted", "SH-22T70ZX"), ("B", "in_doubt", ""), ("C", "planned", "")]
    assert "Łódź आशा" in ledger.documents.select()[0].body
    assert [run.exit_code for run in ledger.runs.latest()] == [4]
    ledger.close()


def test_what_waits_goes_on(old: str) -> None:
    ledger = open_ledger(old, account=ACCOUNT)
    planned = ledger.documents.select(states=["planned"])
    assert len(ledger.attempts.step(outcomes=[], claim=planned, run="R1", now="2026-11-22T09:00:00+05:30")) == 1
    ledger.close()


@pytest.mark.usefixtures("next_version")
def test_a_later_program_brings_it_up_to_date(old: str) -> None:
    before = rows(old)
    open_ledger(old, account=ACCOUNT).close()
    assert (version(old), rows(old)) == (str(NEXT), before)
    assert any(name == "more" for name, *_ in shape(old)["run"]["columns"])


@pytest.mark.parametrize("since", KEPT[-1:], indirect=True)
@pytest.mark.parametrize("point", ["ledger.schema.begun", "ledger.schema.before_commit"])
def test_killed_on_the_way_it_has_one_version_or_the_other(old: str, since: str, point: str, tmp_path: Path) -> None:
    shape_before, rows_before = shape(old), rows(old)
    died = opened_elsewhere(old, point, NEXT, tmp_path)
    assert died.code == -signal.SIGKILL, died.err
    assert (shape(old), version(old)) == (shape_before, since)
    done = opened_elsewhere(old, "", NEXT, tmp_path)
    assert (done.code, version(old), rows(old)) == (0, str(NEXT), rows_before), done.err


@pytest.mark.parametrize("point", ["ledger.schema.begun", "ledger.schema.before_commit"])
def test_killed_while_it_is_made_it_is_empty_and_is_made_then(url: str, point: str, tmp_path: Path) -> None:
    died = opened_elsewhere(url, point, SCHEMA_VERSION, tmp_path)
    assert died.code == -signal.SIGKILL, died.err
    assert shape(url) == {"guards": []}
    open_ledger(url, account=ACCOUNT).close()
    assert version(url) == str(SCHEMA_VERSION)


@pytest.mark.parametrize("stored", ["97", "two"])
def test_a_ledger_that_is_not_understood_is_refused_untouched(url: str, stored: str) -> None:
    open_ledger(url, account=ACCOUNT).close()
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = :v WHERE name = 'schema_version'"), {"v": stored})
    engine.dispose()
    for read_only in (False, True):
        with pytest.raises(LedgerRefused) as caught:
            open_ledger(url, account=ACCOUNT, read_only=read_only)
        assert stored in caught.value.message
        assert ("newer version" in caught.value.message) is (stored == "97")
    assert version(url) == stored


@pytest.mark.usefixtures("next_version")
def test_nothing_is_changed_under_a_sending_run(old: str, since: str) -> None:
    with sending_lock(engine_of(old), path=sqlite_file(old), what="orders-nightly", wait=False):
        with pytest.raises(LedgerBusy):
            open_ledger(old, account=ACCOUNT)
        assert version(old) == since
    open_ledger(old, account=ACCOUNT).close()


@pytest.mark.usefixtures("next_version")
class TestTheCopyBesideAFile:
    """SQLite only: the ledger as it was, for whoever goes back to the earlier program."""

    @pytest.fixture
    def path(self, tmp_path: Path, since: str) -> Path:
        path = tmp_path / "ledger.db"
        path.touch(mode=0o600)
        with sqlite3.connect(path) as connection:
            connection.executescript((HERE / f"version_{since}/sqlite.sql").read_text("utf-8"))
        connection.close()
        return path

    def test_it_holds_the_ledger_as_it_was(self, path: Path, since: str) -> None:
        before = rows(f"sqlite:///{path}")
        open_ledger(f"sqlite:///{path}", account=ACCOUNT).close()
        copy = path.with_name(f"ledger.db.version-{since}")
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert (rows(f"sqlite:///{copy}"), version(f"sqlite:///{copy}")) == (before, since)
        assert not list(path.parent.glob("*.part"))

    def test_without_room_for_it_nothing_is_changed(self, path: Path, since: str) -> None:
        path.with_name(f"ledger.db.version-{since}.part").mkdir()
        with pytest.raises(LedgerRefused):
            open_ledger(f"sqlite:///{path}", account=ACCOUNT)
        assert version(f"sqlite:///{path}") == since

    def test_a_new_ledger_and_a_current_one_need_none(self, tmp_path: Path) -> None:
        for _ in range(2):
            open_ledger(f"sqlite:///{tmp_path}/new/ledger.db", account=ACCOUNT).close()
        assert not list((tmp_path / "new").glob("*version*"))


def test_the_tools_of_migration_are_not_loaded_for_a_ledger_of_today(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom logistics_batch.ledger import open_ledger\n"
        f"open_ledger('sqlite:///{tmp_path}/ledger.db', account='x').close()\n"
        "print(sorted(name for name in sys.modules if name.startswith('alembic')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
