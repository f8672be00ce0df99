"""Opening a ledger: durable settings, its place, its version, and whether the database is sound."""

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from logistics_batch.errors import LedgerBusy, LedgerRefused, is_of_machine
from logistics_batch.ledger.bulk import execute_plain
from logistics_batch.ledger.connection import LOCK_WAIT_SECONDS
from logistics_batch.ledger.failures import DAMAGED, FAILED_DISK, LOCKED, PUT_BACK, cause_of
from logistics_batch.ledger.itself.integrity import check_at_opening
from logistics_batch.ledger.itself.mounts import require_local_disk
from logistics_batch.ledger.itself.version import prepare

# Before these SQLite versions a reset of the write-ahead log could corrupt the file.
_WAL_SAFE_FROM = (3, 51, 3)
_WAL_SAFE_PATCHES = {(3, 44): 6, (3, 50): 7}
_SQLITE_ARGUMENTS = {
    "timeout": LOCK_WAIT_SECONDS,
    "check_same_thread": False,
    "cached_statements": 1024,  # one for each number of records: see `bulk`
}


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite ledger; None for any other."""
    prefix = "sqlite:///"
    return Path(url[len(prefix) :]) if url.startswith(prefix) and len(url) > len(prefix) else None


def open_engine(url: str, *, read_only: bool = False) -> Engine:
    """Connect to the ledger and create its schema or bring it up to date.

    A read-only SQLite ledger that does not exist yet is an empty one in memory, so that a dry run writes nothing.

    Raises:
        LedgerRefused: it cannot be opened, is damaged, or was written by a later version; it would be written on a
            network file system, or reached over a network without a proof of who answers there.
        LedgerBusy: it has to be brought up to date, and a sending run holds it; or another program writes and does not
            come to an end.
    """
    path = sqlite_path(url)
    try:
        if path is None:
            from logistics_batch.ledger.itself.postgresql import postgresql_engine  # an extra, and not quick

            engine = postgresql_engine(url, shown=_shown(url))
        elif read_only and not path.exists():
            engine = _sqlite_engine("sqlite://", durable=False)
        else:
            if not read_only:
                require_local_disk(path)
            _make_durable(path.parent)
            if not path.exists():
                path.touch(mode=0o600)
            engine = _sqlite_engine(url, durable=True)
        prepare(engine, path=path)
        check_at_opening(engine, path, read_only=read_only)
    except (DBAPIError, OSError) as exc:
        if cause_of(exc) == LOCKED:
            raise LedgerBusy(
                f"Another program has been writing into the ledger {_shown(url)} for {LOCK_WAIT_SECONDS} seconds.",
                remedy="It may be suspended: see what it does, then run again.",
            ) from exc
        raise LedgerRefused(
            f"The ledger {_shown(url)} cannot be opened: {cause_of(exc)}",
            remedy=PUT_BACK
            if cause_of(exc) in DAMAGED
            else "Check that the folder exists, is writable and has free space.",
            of_disk=is_of_machine(exc) or cause_of(exc) in FAILED_DISK,
        ) from exc
    return engine


def _sqlite_engine(url: str, *, durable: bool) -> Engine:
    extra: dict[str, Any] = {} if durable else {"poolclass": StaticPool}
    engine = create_engine(url, connect_args=_SQLITE_ARGUMENTS, hide_parameters=True, **extra)

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so, not where the driver guesses
        version = tuple(int(part) for part in connection.execute("SELECT sqlite_version()").fetchone()[0].split("."))
        wal = version >= _WAL_SAFE_FROM or version[2] >= _WAL_SAFE_PATCHES.get((version[0], version[1]), 10_000)
        if durable:
            connection.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
        # EXTRA also syncs the folder after the journal is removed: a lost intent would be a second POST.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is emptied is overwritten, not only marked as free

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("one_statement", False):
            execute_plain(connection, "BEGIN IMMEDIATE" if options.get("write", False) else "BEGIN", ())

    return engine


def _make_durable(folder: Path) -> None:
    """Make a folder, and those above it, whose names survive a power cut: SQLite syncs only what is in it."""
    if folder.exists():
        return
    _make_durable(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    above = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(above)
    finally:
        os.close(above)


def _shown(url: str) -> str:
    """A ledger's place without what may be secret: user, password and parameters."""
    place = url.rsplit("@", 1)[-1]
    return place if place.startswith("sqlite:") else place.partition("?")[0]
