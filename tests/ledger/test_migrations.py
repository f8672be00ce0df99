"""A ledger of an earlier version is brought up to date in place: whole or not at all, and no row is lost."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from ledger.arrivals import arrival, evaluated
from sqlalchemy import MetaData, create_engine, inspect, text

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger import HeldNow, NewEvent, open_ledger
from logistics_batch.ledger.lock import sending_lock
from logistics_batch.ledger.migrations import migrate
from logistics_batch.ledger.schema import SCHEMA_VERSION

VERSION_1 = Path(__file__).parent / "version_1"  # ledgers with rows, as SQL, written when version 1 was the newest
ACCOUNT = "http://service.test"
NEWER_TABLES = (
    "meta",
    "event",
    "notice",
    "order_state",
    "feed",
    "run_note",
    "held_file",
    "left_file",
    "cancelled_number",
)
NEWER_COLUMNS = {
    "slot": ("business_date", "state", "owner", "alive_at", "exit_code", "ended_at"),
    "document": ("folded_key", "seen", "code", "values", "rule", "reason", "fix"),
    "file": ("code", "values", "rule", "reason", "remedy"),
    "row": ("code", "values", "rule", "reason"),  # what was said in words is a value now
    "issue": ("code", "values", "field", "rule", "reason", "fix"),
}

POSTGRES_GUARDS = """
SELECT tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE NOT tgisinternal
UNION ALL SELECT proname, pg_get_functiondef(p.oid) FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public' ORDER BY 1, 2
"""
SQLITE_GUARDS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
EVENT_COLUMNS_4 = (
    "account, identity, received_at, topic, waybill, order_status, status_at, zone_assumed, unreadable, seen, raw"
)
NOTICE_COLUMNS_9 = (
    "key, kind, job, business_date, wanted, since, last_seen, seen, title, text, over_at, over_text, owed, told, "
    "over_told, tries, next_try_at"
)
OPEN_IT = """
import sys
from logistics_batch.crash_points import arm
from logistics_batch.ledger import open_ledger
arm(sys.argv[2])
open_ledger(sys.argv[1], account="x").close()
"""


def sqlite_file(url: str) -> Path | None:
    return Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None


@pytest.fixture
def old(url: str) -> str:
    """The address of a ledger of version 1, in which two orders were sent."""
    path = sqlite_file(url)
    if path:
        path.touch(mode=0o600)
        with sqlite3.connect(path) as connection:
            connection.executescript((VERSION_1 / "sqlite.sql").read_text("utf-8"))
        connection.close()
    else:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute((VERSION_1 / "postgresql.sql").read_bytes())
    return url


def shape(url: str) -> dict[str, Any]:
    """Everything that the database knows about its tables, keys, indexes and guards."""
    engine = create_engine(url)
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


def rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that version 1 had, in the columns that it had; its version is no row."""
    engine = create_engine(url)
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        found = {
            name: sorted((_as_it_was(name, row._mapping) for row in connection.execute(table.select())), key=repr)
            for name, table in metadata.tables.items()
            if name not in NEWER_TABLES
        }
    engine.dispose()
    return found


def _as_it_was(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in row.items() if name not in NEWER_COLUMNS.get(table, ()))


def version(url: str) -> str:
    engine = create_engine(url)
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT value FROM meta WHERE name = 'schema_version'")).scalar_one()
    engine.dispose()
    return str(stored)


def test_the_schema_becomes_that_of_a_new_ledger(old: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before = shape(old)
    assert "event" not in before
    open_ledger(old, account=ACCOUNT).close()
    if sqlite_file(old):
        new = f"sqlite:///{tmp_path}/new.db"
    else:
        server = request.getfixturevalue("postgres")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE new_{os.getpid()}")
        new = server.get_uri(database=f"new_{os.getpid()}")
    open_ledger(new, account=ACCOUNT).close()
    assert shape(old) == shape(new)
    assert version(old) == version(new) == str(SCHEMA_VERSION)


def test_each_version_between_becomes_today_s_as_well(tmp_path: Path) -> None:
    open_ledger(f"sqlite:///{tmp_path}/new.db", account=ACCOUNT).close()
    for between in range(2, SCHEMA_VERSION):
        url = f"sqlite:///{tmp_path}/{between}.db"
        Path(tmp_path / f"{between}.db").touch(mode=0o600)
        with closing(sqlite3.connect(tmp_path / f"{between}.db")) as connection:
            connection.executescript((VERSION_1 / "sqlite.sql").read_text("utf-8"))
        engine = create_engine(url)
        with engine.begin() as changing:
            migrate(changing, found=1, wanted=between)
            changing.execute(text("UPDATE meta SET value = :v WHERE name = 'schema_version'"), {"v": str(between)})
        engine.dispose()
        before = rows(url)
        open_ledger(url, account=ACCOUNT).close()
        assert (shape(url), version(url)) == (shape(f"sqlite:///{tmp_path}/new.db"), str(SCHEMA_VERSION))
        assert rows(url) == before


def test_every_row_is_still_there(old: str) -> None:
    before = rows(old)
    assert len(before["document"]) == 3
    ledger = open_ledger(old, account=ACCOUNT)
    assert rows(old) == before
    states = [(document.key, document.state, document.awb_number) for document in ledger.documents()]
    assert states == [("A", "accepted", "SH-22T70ZX"), ("B", "in_doubt", ""), ("C", "planned", "")]
    assert "Łódź आशा" in ledger.documents()[0].body
    assert [run.exit_code for run in ledger.runs()] == [4]
    ledger.close()


def test_what_is_new_can_be_used_and_what_is_old_goes_on(old: str) -> None:
    ledger = open_ledger(old, account=ACCOUNT)
    event = NewEvent(identity="i" * 64, received_at="2026-11-22T09:00:00+05:30", raw=b"{}")
    assert ledger.store_events([event, event], patience_seconds=5) == [True, False]
    planned = ledger.documents(states=["planned"])
    assert len(ledger.step(outcomes=[], claim=planned, run="R1", now="2026-11-22T09:00:00+05:30")) == 1
    ledger.close()


def test_what_was_sent_before_is_found_in_another_spelling(old: str) -> None:
    ledger = open_ledger(old, account=ACCOUNT)
    found = evaluated(ledger, arrival({"a": "{}", "Ｂ": "{}", "c\u200b": "{}", "D": "{}"}))
    assert [each.rule for each in found] == ["other_spelling"] * 3 + [""]
    ledger.close()


def test_what_was_folded_otherwise_by_an_earlier_version_is_folded_anew(old: str) -> None:
    engine = create_engine(old)
    with engine.begin() as connection:
        migrate(connection, found=1, wanted=9)
        connection.execute(text("UPDATE meta SET value = '9' WHERE name = 'schema_version'"))
        connection.execute(text("UPDATE document SET folded_key = 'as earlier' WHERE key = 'A'"))
    engine.dispose()
    ledger = open_ledger(old, account=ACCOUNT)
    assert [each.rule for each in evaluated(ledger, arrival({"a": "{}"}))] == ["other_spelling"]
    ledger.close()


def test_numbers_by_which_people_cancelled_are_no_notices_any_more(old: str) -> None:
    engine = create_engine(old)
    with engine.begin() as connection:
        migrate(connection, found=1, wanted=9)
        connection.execute(text("UPDATE meta SET value = '9' WHERE name = 'schema_version'"))
        for key in ("order|asked to cancel|SH-9", "order|cancel|SH-8"):
            empty = "'on_held', '', '', 0, '2026-11-22', '', 1, '', '', '2026-11-22', '', 0, '{}', '{}', 0, ''"
            connection.execute(text(f"INSERT INTO notice ({NOTICE_COLUMNS_9}) VALUES ('{key}', {empty})"))
    engine.dispose()
    ledger = open_ledger(old, account=ACCOUNT)
    assert (ledger.asked_since("2026-11-22"), ledger.asked_since("2026-11-23")) == (["SH-9"], [])
    assert [each.key for each in ledger.notices_since("")] == ["order|cancel|SH-8"]
    ledger.close()


def test_an_event_that_was_kept_is_known_again(old: str) -> None:
    """Also its digest is that of a new one, so that its sender's repetition is no second event."""
    engine = create_engine(old)
    with engine.begin() as connection:
        migrate(connection, found=1, wanted=4)
        connection.execute(text("UPDATE meta SET value = '4' WHERE name = 'schema_version'"))
        for identity, raw in (("i", b"{}"), ("p", b"")):
            values = f"'{ACCOUNT}', '{identity * 64}', '2026-11-22', '', 'SH-1', 'Picked', '', 0, '', 3, :raw"
            connection.execute(text(f"INSERT INTO event ({EVENT_COLUMNS_4}) VALUES ({values})"), {"raw": raw})
    engine.dispose()
    ledger = open_ledger(old, account=ACCOUNT)
    again = NewEvent(identity="i" * 64, received_at="2026-11-22T09:00:00+05:30", raw=b"{}")
    assert ledger.store_events([again, replace(again, raw=b"{ }")], patience_seconds=5) == [False, True]
    with ledger._read() as connection:
        kept = connection.execute(text("SELECT waybill, seen, length(content) FROM event ORDER BY id")).all()
    assert [tuple(each) for each in kept][:2] == [("SH-1", 4, 64), ("SH-1", 3, 0)]
    ledger.close()


def test_what_was_held_before_files_were_followed_waits_for_nobody(old: str) -> None:
    """Nobody knows any more what came of it; from the new version on it is followed."""
    engine = create_engine(old)
    with engine.begin() as connection:
        migrate(connection, found=1, wanted=6)
        connection.execute(text("UPDATE meta SET value = '6' WHERE name = 'schema_version'"))
        connection.execute(text("UPDATE file SET rule = 'all_alike'"))
    engine.dispose()
    ledger = open_ledger(old, account=ACCOUNT)
    assert ledger.held_files() == []
    file = ledger.files()[0]
    assert ledger.hold_file(HeldNow(file.id, file.run, "orders", "orders", "i"), now="2026-11-22T09:00:00+05:30")
    assert [(each.id, each.rule) for each in ledger.held_files()] == [(file.id, "all_alike")]
    ledger.close()


@pytest.mark.parametrize("point", ["ledger.migration.begun", "ledger.migration.before_commit"])
def test_killed_on_the_way_it_has_one_version_or_the_other(old: str, point: str) -> None:
    shape_before, rows_before = shape(old), rows(old)
    died = subprocess.run([sys.executable, "-c", OPEN_IT, old, point], capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert (shape(old), version(old)) == (shape_before, "1")
    open_ledger(old, account=ACCOUNT).close()
    assert version(old) == str(SCHEMA_VERSION)
    assert rows(old) == rows_before


@pytest.mark.parametrize("stored", ["97", "two"])
def test_a_ledger_that_is_not_understood_is_refused_untouched(url: str, stored: str) -> None:
    open_ledger(url, account=ACCOUNT).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = :v WHERE name = 'schema_version'"), {"v": stored})
    engine.dispose()
    for read_only in (False, True):
        with pytest.raises(LedgerRefused) as caught:
            open_ledger(url, account=ACCOUNT, read_only=read_only)
        assert stored in caught.value.message
        assert ("newer version" in caught.value.message) is (stored == "97")
    assert version(url) == stored


def test_nothing_is_changed_under_a_sending_run(old: str) -> None:
    with sending_lock(create_engine(old), path=sqlite_file(old), what="orders-nightly", wait=False):
        with pytest.raises(LedgerBusy):
            open_ledger(old, account=ACCOUNT)
        assert version(old) == "1"
    open_ledger(old, account=ACCOUNT).close()


class TestTheCopyBesideAFile:
    """SQLite only: the ledger as it was, for whoever goes back to the earlier program."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "ledger.db"
        path.touch(mode=0o600)
        with sqlite3.connect(path) as connection:
            connection.executescript((VERSION_1 / "sqlite.sql").read_text("utf-8"))
        connection.close()
        return path

    def test_it_holds_the_ledger_as_it_was(self, path: Path) -> None:
        before = rows(f"sqlite:///{path}")
        open_ledger(f"sqlite:///{path}", account=ACCOUNT).close()
        copy = path.with_name("ledger.db.version-1")
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert (rows(f"sqlite:///{copy}"), version(f"sqlite:///{copy}")) == (before, "1")
        assert not list(path.parent.glob("*.part"))

    def test_without_room_for_it_nothing_is_changed(self, path: Path) -> None:
        path.with_name("ledger.db.version-1.part").mkdir()
        with pytest.raises(LedgerRefused):
            open_ledger(f"sqlite:///{path}", account=ACCOUNT)
        assert version(f"sqlite:///{path}") == "1"

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
