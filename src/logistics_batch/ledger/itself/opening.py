"""Opening a ledger: on a disk of this machine, with durable settings, at this program's version, and sound."""

import os
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import StaticPool

from logistics_batch.errors import LedgerBusy, LedgerRefused, is_of_machine
from logistics_batch.ledger.bulk import execute_plain
from logistics_batch.ledger.connection import ENGINES_KEPT, LOCK_WAIT_SECONDS, entry, pool_keeping, put_entry
from logistics_batch.ledger.failures import (
    DAMAGED,
    DISK_ERROR,
    FAILED_DISK,
    LOCKED,
    PUT_BACK,
    SEE_TO_THE_DISK,
    cause_of,
    is_unreadable,
    sqlite3,
)
from logistics_batch.ledger.itself.version import prepare

# Before these SQLite versions a reset of the write-ahead log could corrupt the file.
_WAL_SAFE_FROM = (3, 51, 3)
_WAL_SAFE_PATCHES = {(3, 44): 6, (3, 50): 7}
_PAGES_BEFORE_SPILL = 32_768  # of 4 kB; once a transaction writes before its commit, nobody reads until then
_SQLITE_ARGUMENTS = {
    "timeout": LOCK_WAIT_SECONDS,
    "check_same_thread": False,
    "cached_statements": 1024,  # one for each number of records: see `bulk`
}
_KEPT = 8  # connections: as many pages are made at once
_users: Counter[Engine] = Counter()  # how many opened each and did not give it back
_counting = Lock()
_MOUNTS = Path("/proc/self/mountinfo")
# 9p and virtiofs are not among them: they lead from a virtual machine or a container to the disk of its own host.
_OVER_A_NETWORK = ("afs", "ceph", "cifs", "gpfs", "lustre", "nfs", "nfs4", "orangefs", "smb3", "smbfs")
_OVER_A_NETWORK_IN_USER_SPACE = (  # as fuse.NAME
    *("ceph", "ceph-fuse", "gcsfuse", "glusterfs", "goofys", "juicefs"),
    *("mount-s3", "mountpoint-s3", "rclone", "s3fs", "sshfs"),
)
_REMOTE = frozenset((*_OVER_A_NETWORK, *(f"fuse.{name}" for name in _OVER_A_NETWORK_IN_USER_SPACE)))
_OCTAL = re.compile(r"\\([0-7]{3})")  # how a blank, a tab, a line break and a backslash are written
_CHECKED_ALWAYS_BELOW_BYTES = 32 << 20  # takes a tenth of a second; a larger ledger is looked at once a day
_CHECKED_AT = "checked_at"  # in the table `meta`


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
    place = url.rsplit("@", 1)[-1]  # without what may be secret: user, password and parameters
    shown = place if place.startswith("sqlite:") else place.partition("?")[0]
    try:
        if path is None:
            from logistics_batch.ledger.itself.postgresql import postgresql_engine  # an extra, and not quick

            engine = postgresql_engine(url, shown=shown)
        elif read_only and not path.exists():
            engine = _sqlite_engine("sqlite://", durable=False)
        else:
            if not read_only:
                require_local_disk(path)
            _make_durable(path.parent)
            if not path.exists():
                path.touch(mode=0o600)
            found = path.stat()
            engine = _file_engine(url, (found.st_dev, found.st_ino))
        with _counting:
            _users[engine] += 1
        try:
            _prepare(engine, path=path)
            if path is not None and path.exists():
                _check_at_opening(engine, path, read_only=read_only)
        except BaseException:
            give_back(engine)
            raise
    except (DBAPIError, OSError) as exc:
        if cause_of(exc) == LOCKED:
            raise LedgerBusy(
                f"Another program has been writing into the ledger {shown} for {LOCK_WAIT_SECONDS} seconds.",
                remedy="It may be suspended: see what it does, then run again.",
            ) from exc
        of_disk = is_of_machine(exc) or cause_of(exc) in FAILED_DISK
        remedy = SEE_TO_THE_DISK if of_disk else "Check that the folder exists, is writable and has free space."
        if path is None:
            remedy = "Check ledger.url and the network, and that the database runs and lets this user in."
        raise LedgerRefused(
            f"The ledger {shown} cannot be opened: {cause_of(exc)}",
            remedy=PUT_BACK if cause_of(exc) in DAMAGED else remedy,
            of_disk=of_disk,
        ) from exc
    return engine


def _prepare(engine: Engine, *, path: Path | None) -> None:
    """See `version.prepare`; once more if the server was started anew since, so that no kept connection lives."""
    try:
        prepare(engine, path=path)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        prepare(engine, path=path)


def give_back(engine: Engine) -> None:
    """Who opened an engine uses it no longer; the last one closes its connections.

    A pool that is disposed of loses sight of those that are lent: they would stay open when they are given back.
    """
    with _counting:
        _users[engine] -= 1
        if not _users[engine]:
            del _users[engine]
            engine.dispose()


@lru_cache(maxsize=ENGINES_KEPT)
def _file_engine(url: str, _file: tuple[int, int]) -> Engine:  # by its name it may be another file later
    return _sqlite_engine(url, durable=True)


def _sqlite_engine(url: str, *, durable: bool) -> Engine:
    extra: dict[str, Any] = dict(pool_keeping(_KEPT)) if durable else {"poolclass": StaticPool}
    engine = create_engine(url, module=sqlite3, connect_args=_SQLITE_ARGUMENTS, hide_parameters=True, **extra)

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
        connection.execute(f"PRAGMA cache_spill = {_PAGES_BEFORE_SPILL}")
        connection.execute("PRAGMA secure_delete = ON")  # what is emptied is overwritten, not only marked as free

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("one_statement", False):
            execute_plain(connection, "BEGIN IMMEDIATE" if options.get("write", False) else "BEGIN", ())

    @event.listens_for(engine, "handle_error", retval=True)
    def _tell_a_failing_disk(context: ExceptionContext) -> Exception | None:
        path = sqlite_path(url)
        if path is None or str(context.original_exception) not in DAMAGED or not is_unreadable(path):
            return None
        return OperationalError(context.statement, None, sqlite3.OperationalError(DISK_ERROR), hide_parameters=True)

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


def require_local_disk(path: Path) -> None:
    """Raises LedgerRefused if the file lies, or would lie, on a network file system; only Linux tells it.

    There `flock` and the locks of SQLite may hold on one machine only, depending on the server and on how it is
    mounted, so that two runs on two machines would send at the same time; and what was synced may be lost.
    """
    try:
        mountinfo = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    point, kind = mount_of(path.resolve(), mountinfo)
    if kind in _REMOTE:
        raise LedgerRefused(
            f"The ledger {path} lies on a network file system ({kind}, mounted at {point}). Its locks may "
            "not hold between machines, and two runs could send the same thing; so nothing is sent with it.",
            remedy=f"While nothing runs, move it (and {path.name}-wal, if it is there) to a disk of this machine, and "
            "write its new place as ledger.url; or use PostgreSQL.",
        )


def mount_of(path: Path, mountinfo: str) -> tuple[str, str]:
    """Where what a path lies on is mounted, and the type of that file system; the path need not exist.

    mountinfo: as /proc/self/mountinfo, see proc(5).

    >>> mount_of(Path("/srv/x"), "36 35 98:0 / /srv rw,noatime - nfs4 server:/srv rw")
    ('/srv', 'nfs4')
    """
    folders = {str(folder) for folder in (path, *path.parents)}
    found = ("", "")
    for line in mountinfo.splitlines():
        place, _, system = line.partition(" - ")
        fields = place.split(" ")
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4]) if len(fields) > 4 else ""
        # A later mount at the same point hides the earlier one, as a network's hides that of its automounter.
        if point in folders and len(point) >= len(found[0]):
            found = (point, system.partition(" ")[0])
    return found


def _check_at_opening(engine: Engine, path: Path, *, read_only: bool) -> None:
    """Look at a SQLite file that is small, or was not looked at today; a reader of a large one does not wait for that.

    Raises:
        LedgerRefused: it is damaged.
    """
    if path.stat().st_size < _CHECKED_ALWAYS_BELOW_BYTES:
        check_database(engine)
        return
    with engine.connect() as connection, connection.begin():
        last = entry(connection, _CHECKED_AT)
    now = datetime.now(UTC)
    is_due = last is None or not timedelta(0) <= now - datetime.fromisoformat(last) < timedelta(days=1)
    if is_due and not read_only:
        check_database(engine)
        with engine.connect().execution_options(write=True) as connection, connection.begin():
            put_entry(connection, _CHECKED_AT, now.isoformat())


def check_database(engine: Engine, *, thorough: bool = False) -> None:
    """Have SQLite look at its own pages; thorough: also whether every index fits its table. PostgreSQL does it itself.

    Raises:
        LedgerRefused: it is damaged.
    """
    if engine.dialect.name != "sqlite":
        return
    pragma = "integrity_check(1)" if thorough else "quick_check(1)"
    try:
        with engine.connect() as connection:
            verdict = connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()
    except DBAPIError as exc:
        verdict = str(exc.orig)
    if verdict in FAILED_DISK or (verdict != "ok" and is_unreadable(Path(engine.url.database or ""))):
        raise LedgerRefused(f"The ledger cannot be read: {DISK_ERROR}.", remedy=SEE_TO_THE_DISK, of_disk=True)
    if verdict != "ok":
        raise LedgerRefused(
            f"The ledger is damaged: {verdict}.", remedy="Restore a backup; nothing is sent with a damaged ledger."
        )
