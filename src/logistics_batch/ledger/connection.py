"""Opening a ledger: durable settings, schema version, and transactions that are either reads or exclusive writes."""

import hashlib
import ipaddress
import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import StaticPool

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger.bulk import execute_plain
from logistics_batch.ledger.failures import LOCKED, cause_of, told_plainly
from logistics_batch.ledger.itself.high_water import HighWater, Mark, count_transaction, read_mark
from logistics_batch.ledger.itself.integrity import check_at_opening
from logistics_batch.ledger.itself.mounts import require_local_disk
from logistics_batch.ledger.itself.version import prepare

# Before these SQLite versions a reset of the write-ahead log could corrupt the file.
_WAL_SAFE_FROM = (3, 51, 3)
_WAL_SAFE_PATCHES = {(3, 44): 6, (3, 50): 7}
_LOCK_WAIT_SECONDS = 30
_SQLITE_ARGUMENTS = {
    "timeout": _LOCK_WAIT_SECONDS,
    "check_same_thread": False,
    "cached_statements": 1024,  # one for each number of records: see `bulk`
}
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DAMAGED = ("file is not a database", "database disk image is malformed")


def dump(value: Any) -> str:
    """Compact JSON for a column that holds several values."""
    return _COMPACT.encode(value)


def digest(body: str) -> str:
    """The sha256 of the bytes that are sent."""
    return hashlib.sha256(body.encode()).hexdigest()


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
            engine = _postgresql_engine(url)
            _require_own_session(engine, url)
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
                f"Another program has been writing into the ledger {_shown(url)} for {_LOCK_WAIT_SECONDS} seconds.",
                remedy="It may be suspended: see what it does, then run again.",
            ) from exc
        damaged = cause_of(exc) in _DAMAGED
        raise LedgerRefused(
            f"The ledger {_shown(url)} cannot be opened: {cause_of(exc)}",
            remedy="It is damaged: keep it as it is, and put the newest backup in its place (operator's guide, Backup)."
            if damaged
            else "Check that the folder exists, is writable and has free space.",
        ) from exc
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


def _require_verified_server(engine: Engine) -> None:
    """Raises LedgerRefused if a connection would leave this machine and would not prove who answers.

    That is judged by what the library of PostgreSQL makes of the URL, of its own environment and of service files. It
    is asked by a connection that has one impossible parameter, so that nothing is looked up or sent.
    """
    from psycopg import ProgrammingError, pq  # an extra, and not quick
    from psycopg.conninfo import make_conninfo

    _, wanted = engine.dialect.create_connect_args(engine.url)
    known = {each.keyword.decode() for each in pq.Conninfo.get_defaults()}
    asked = {name: value for name, value in wanted.items() if name in known} | {"target_session_attrs": "impossible"}
    try:
        connection = pq.PGconn.connect_start(make_conninfo("", **asked).encode())
    except ProgrammingError:  # its text may show a part of the password
        raise LedgerRefused(
            "ledger.url has a parameter that PostgreSQL cannot read.",
            remedy='Write it as "postgresql://USER:PASSWORD@HOST/DATABASE"; letters such as @ / : # in the password as '
            "%40 %2F %3A %23.",
        ) from None
    found = {each.keyword: (each.val or b"").decode() for each in connection.info}
    connection.finish()
    pairs = zip_longest(found[b"host"].split(","), found[b"hostaddr"].split(","), fillvalue="")
    far = [address or host for host, address in pairs if _is_far(host, address)]
    if far and found[b"sslmode"] != "verify-full":
        places = ", ".join(each.rsplit("@", 1)[-1] for each in far)
        raise LedgerRefused(
            f"ledger.url leads over a network, to {places}, where nothing would prove who answers (sslmode is "
            f"{found[b'sslmode']}); so nothing was sent there, no password either.",
            remedy="Write ?sslmode=verify-full&sslrootcert=FILE behind the database in ledger.url; FILE holds the "
            "certificate of the authority that signed the server's (sslrootcert=system: one of those that this machine "
            "trusts). A database on this machine is reached as 127.0.0.1 or by its socket.",
        )


def _is_far(host: str, address: str) -> bool:
    """Whether a connection leaves this machine; PostgreSQL takes the address, else the host, else its own socket."""
    place = address or host
    if not place or (not address and place.startswith(("/", "@"))):
        return False
    try:
        found = {str(each[4][0]) for each in socket.getaddrinfo(place, None)} if place == "localhost" else {place}
        return not all(ipaddress.ip_address(each).is_loopback for each in found)
    except (OSError, ValueError):
        return True


def _postgresql_engine(url: str) -> Engine:
    """Commits are durable whatever the database or the role says, and nobody waits for a suspended writer for ever."""
    try:
        engine = create_engine(url, hide_parameters=True)  # exceptions hold none of what is written
    except (ArgumentError, ValueError):  # its text shows a part of the URL
        raise LedgerRefused(
            "ledger.url cannot be read as an address.",
            remedy='Write it as "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"; letters such as @ / : # in the '
            "password as %40 %2F %3A %23.",
        ) from None
    _require_verified_server(engine)

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: object) -> None:
        connection.autocommit = True  # a setting of a transaction that is rolled back would go with it
        if connection.execute("SHOW synchronous_commit").fetchone()[0] == "off":
            connection.execute("SET synchronous_commit = on")
        connection.execute(f"SET lock_timeout = '{_LOCK_WAIT_SECONDS}s'")
        connection.autocommit = False

    return engine


def _require_own_session(engine: Engine, url: str) -> None:
    """Raises LedgerRefused if the transactions of a connection meet several servers: no lock would hold a run.

    While another transaction is open, a pooler gives a connection's next one to another server than its last.
    """
    served_by = text("SELECT pg_backend_pid()")
    with engine.connect() as own, engine.connect() as other:
        before = own.execute(served_by).scalar_one()
        own.commit()
        other.execute(served_by)
        if own.execute(served_by).scalar_one() != before:
            raise LedgerRefused(
                f"Between here and the ledger {_shown(url)} stands a pooler that gives each transaction another "
                "session of PostgreSQL (such as PgBouncer with pool_mode = transaction): it could not be told whether "
                "another run is sending.",
                remedy="Connect to PostgreSQL itself, or set the pooler to pool_mode = session for this database.",
            )


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


def named_for(kind: str, account: str) -> str:
    """The name of an account's entry in the table `meta`: names are short there, and addresses may be long.

    >>> len(named_for("facts", "https://service.example.com")) <= 64
    True
    """
    return f"{kind}:{hashlib.sha256(account.encode()).hexdigest()[:32]}"


def _be_patient(connection: Connection, seconds: float) -> None:
    """How long the next transaction waits for other writers; PostgreSQL has none to wait for as a whole."""
    if connection.dialect.name == "sqlite" and connection.info.get("patience") != seconds:
        with closing(connection.connection.cursor()) as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        connection.info["patience"] = seconds


class LedgerConnection:
    """What all repositories stand on: an engine, the account of documents, and marks of what was sent."""

    def __init__(self, engine: Engine, *, account: str, url: str, high_water: HighWater) -> None:
        self.engine = engine
        self.account = account
        self.url = url
        self.high_water = high_water
        self.mark: Mark | None = None  # as of the last transaction of this object
        self.older_copy: bool | None = None  # not looked yet

    @contextmanager
    def read(self, *, one_statement: bool = False) -> Iterator[Connection]:
        """What is seen does not change within the block. one_statement: it has only one, which sees one state.

        Raises:
            LedgerRefused: it cannot be read.
        """
        with (
            told_plainly("read", patience_seconds=_LOCK_WAIT_SECONDS),
            self.engine.connect().execution_options(one_statement=one_statement) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def write(self, *, patience_seconds: float = _LOCK_WAIT_SECONDS, counts: bool = True) -> Iterator[Connection]:
        """One durable transaction; when the block ends without an exception, its content survives a power cut.

        counts: whether a copy of the ledger from before it is one that must not send.

        Raises:
            LedgerRefused: nothing of it was written; or all of it was, where the server was lost while it committed.
        """
        mark = None
        with (
            told_plainly("written", patience_seconds=patience_seconds),
            self.engine.connect().execution_options(write=True) as connection,
        ):
            _be_patient(connection, patience_seconds)
            with connection.begin():
                yield connection
                mark = count_transaction(connection) if counts and not self._is_older_copy(connection) else None
        if mark is not None:
            self.mark = mark
            self.high_water.note(mark)

    def _is_older_copy(self, connection: Connection) -> bool:
        """Whether the notes are ahead: then nothing is counted, or the copy would catch up and pass for the newest."""
        if self.older_copy is None:
            noted = self.high_water.noted()  # before the ledger is asked: others may be writing
            found = read_mark(connection)
            self.older_copy = found is not None and any(
                mark.epoch != found.epoch or mark.seq > found.seq for mark in noted
            )
        return self.older_copy

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()


class Repository:
    """One subject of the ledger, over the connection that all of them share."""

    def __init__(self, connection: LedgerConnection) -> None:
        self._connection = connection
        self._read = connection.read
        self._write = connection.write
        self.account = connection.account
