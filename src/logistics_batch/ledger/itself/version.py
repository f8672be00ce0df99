"""Which version of the schema a ledger has: creating it, bringing it up to date, refusing one from the future."""

import os
import secrets
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, inspect, text

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import among, insert_all
from logistics_batch.ledger.connection import entry, put_entry
from logistics_batch.ledger.failures import require_known, sqlite3
from logistics_batch.ledger.itself.lock import sending_lock
from logistics_batch.ledger.schema import SCHEMA_VERSION, guard_statements, meta, metadata


def _to_version_2(op: Any, _: str) -> None:
    """What a page asks of an order or a run is found without reading all of them."""
    op.create_index("document_accepted_run", "document", ["accepted_run"])
    op.create_index("attempt_run", "attempt", ["run_id"])
    op.create_index("evidence_document", "evidence", ["document_id"])
    op.create_index("decision_document", "decision", ["document_id"])


def _to_version_3(op: Any, _: str) -> None:
    """How far a run is, is counted by an index alone; people keep views."""
    keys = (sa.Column(name, sa.Text, primary_key=True) for name in ("person", "place", "name"))
    op.create_table("web_view", *keys, sa.Column("query", sa.Text, nullable=False))
    op.drop_index("document_state", "document")
    op.create_index("document_state", "document", ["state", "file_id"])


def _to_version_4(op: Any, _: str) -> None:
    """Several programs may send, each what lies in its lanes."""
    for table, name in (("document", "lane"), ("attempt", "lease_id")):
        op.add_column(table, sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    texts = (sa.Column(name, sa.Text, nullable=False) for name in ("account", "process", "run"))
    op.create_table(
        "lease",
        sa.Column("id", sa.Integer, primary_key=True),
        *texts,
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("clock_ahead", sa.Integer, nullable=False),
    )
    op.create_table(
        "lane",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("lease_id", sa.Integer, nullable=False),
    )
    columns = (sa.Column("id", sa.Integer), *map(sa.Column, ("account", "key", "lane")))
    document, connection = sa.Table("document", sa.MetaData(), *columns), op.get_bind()
    lanes: dict[int, list[int]] = {}
    for number, account, key in connection.execute(sa.select(*document.c["id", "account", "key"])):
        lanes.setdefault(zlib.crc32(f"{account}\0{key}".encode()) % 64, []).append(number)
    for lane, numbers in lanes.items():
        connection.execute(document.update().where(among(connection, document.c.id, numbers)).values(lane=lane))


def _to_version_5(op: Any, _: str) -> None:
    """Several programs may keep the schedule; each says of which version it is."""
    op.add_column("lease", sa.Column("keeps_schedule", sa.Integer, nullable=False, server_default="0"))
    op.add_column("lease", sa.Column("version", sa.Text, nullable=False, server_default=""))


def _to_version_6(op: Any, _: str) -> None:
    """What runs now, and ran of late, is found without reading every planned time there ever was."""
    op.create_index("slot_state", "slot", ["state", "claimed_at"])


STEPS: dict[int, Callable[[Any, str], None]] = {
    2: _to_version_2,
    3: _to_version_3,
    4: _to_version_4,
    5: _to_version_5,
    6: _to_version_6,
}
"""How a ledger gets to each version from the one before, by alembic's operations and the name of the dialect.

A step neither reads today's schema nor today's guards: what it makes of an old ledger never changes again.
"""
_CREATION_KEY = 0x6C6F6763  # "logc"; that of sending is another


def prepare(engine: Engine, *, path: Path | None) -> None:
    """Create the schema, or bring that of an earlier version up to date.

    path: the SQLite file, None for any other; a copy of it is kept beside it before its schema is changed.

    Raises:
        LedgerRefused: it was written by a later version of the program, or its version cannot be told.
        LedgerBusy: it has to be brought up to date, and a sending run holds it.
    """
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":  # where two may find it empty at the same moment
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATION_KEY})
        if not inspect(connection).has_table("meta"):
            crash_point("ledger.schema.begun")
            metadata.create_all(connection, checkfirst=False)
            for statement in guard_statements(connection.dialect.name):
                connection.exec_driver_sql(statement)
            known = {"schema_version": str(SCHEMA_VERSION), "epoch": secrets.token_hex(8), "seq": "0"}
            insert_all(connection, meta, [{"name": name, "value": value} for name, value in known.items()])
            crash_point("ledger.schema.before_commit")
            return
        found = _version(connection)
    require_known(found, known=SCHEMA_VERSION)
    if found < SCHEMA_VERSION:
        with sending_lock(engine, path=path, what="bringing the ledger up to date", wait=False):
            _bring_up_to_date(engine, path)


def _version(connection: Connection) -> int:
    stored = entry(connection, "schema_version", lock=True)
    if stored is None or not stored.isdecimal():
        raise LedgerRefused(
            f"The ledger does not say which version its schema has ({stored}).",
            remedy="Restore a backup; nothing is sent with a damaged ledger.",
        )
    return int(stored)


def _bring_up_to_date(engine: Engine, path: Path | None) -> None:
    """One transaction: whoever dies within it leaves the ledger as it was."""
    from alembic.operations import Operations  # takes a while to import, and is hardly ever needed
    from alembic.runtime.migration import MigrationContext

    with engine.connect().execution_options(write=True) as connection, connection.begin():
        found = _version(connection)
        if found == SCHEMA_VERSION:  # somebody else was quicker
            return
        if path is not None:
            copy = path.with_name(f"{path.name}.version-{found}")
            try:
                copy_database(path, copy)
            except (sqlite3.Error, OSError) as error:
                raise LedgerRefused(
                    f"The ledger has to be brought up to date, and no copy of it can be kept at {copy}: {error}.",
                    remedy="Check that the folder is writable and has free space.",
                ) from error
        crash_point("ledger.schema.begun")
        operations = Operations(MigrationContext.configure(connection))
        for version in range(found + 1, SCHEMA_VERSION + 1):
            STEPS[version](operations, connection.dialect.name)
        put_entry(connection, "schema_version", str(SCHEMA_VERSION))
        crash_point("ledger.schema.before_commit")


def copy_database(path: Path, copy: Path) -> None:
    """Copy a SQLite ledger, whole or not at all, and check the copy.

    Raises:
        sqlite3.Error: it cannot be read, or the copy is not sound.
        OSError: the copy cannot be written.
    """
    beside = copy.with_name(f"{copy.name}.part")
    try:
        beside.unlink(missing_ok=True)
        beside.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(beside)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            found = target.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        with beside.open("rb+") as handle:
            os.fsync(handle.fileno())
        beside.replace(copy)
    except (sqlite3.Error, OSError):
        beside.unlink(missing_ok=True)
        raise
