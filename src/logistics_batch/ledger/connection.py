"""The connection that all repositories share: transactions are either reads, or exclusive and durable writes."""

import hashlib
import json
import os
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import BindParameter, Column, ColumnElement, Connection, Engine, Executable, Row, Select, select

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import among, execute_plain, insert_into
from logistics_batch.ledger.failures import require_known, told_plainly
from logistics_batch.ledger.of_jobs import narrow_questions
from logistics_batch.ledger.records import StoredDocument, select_documents, stored
from logistics_batch.ledger.schema import document, meta

LOCK_WAIT_SECONDS = 30
ENGINES_KEPT = 2  # without connections, for what they know of statements: each run of a schedule opens the ledger anew
_MOST_CONNECTIONS = 64  # of one program
_LINE_BYTES = 128  # one small write within a sector: whole or not at all
_REMEDY = (
    "Do not send anything yet. Find the ledger as it was last, and put it back. If it is lost: “reconcile” the days "
    "since, look single orders up with “order get”, then confirm that this ledger goes on: "
    "logistics-batch ledger verify --accept-restored --reason TEXT"
)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_Value = TypeVar("_Value")


def pool_keeping(connections: int) -> dict[str, int]:
    """The settings of a pool that keeps so many open, and lends more while they are needed."""
    return {"pool_size": connections, "max_overflow": _MOST_CONNECTIONS - connections}


def dump(value: Any) -> str:
    """Compact JSON for a column that holds several values."""
    return _COMPACT.encode(value)


def digest(body: str) -> str:
    """The sha256 of the bytes that are sent."""
    return hashlib.sha256(body.encode()).hexdigest()


def named_for(kind: str, account: str) -> str:
    """The name of an account's entry in the table `meta`."""
    return f"{kind}:{account}"


def entry(connection: Connection, name: str, *, lock: bool = False) -> str | None:
    """What stands under a name in the table `meta`; lock: nobody else changes it before the transaction ends."""
    query = select(meta.c.value).where(meta.c.name == name)
    found: str | None = connection.execute(query.with_for_update() if lock else query).scalar()
    return found


def put_entry(connection: Connection, name: str, value: str) -> None:
    """Write what stands under a name in the table `meta`."""
    new = insert_into(connection, meta).values(name=name, value=value)
    connection.execute(new.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def _make_ready(connection: Connection, *, patience_seconds: float, durable: bool) -> None:
    """How long the next transaction of SQLite waits for other writers, and whether for the disk.

    PostgreSQL always waits for the disk, and has no writers to wait for as a whole.
    """
    wanted = {"busy_timeout": int(patience_seconds * 1000), "synchronous": "EXTRA" if durable else "NORMAL"}
    for name, value in wanted.items() if connection.dialect.name == "sqlite" else ():
        if connection.info.get(name) != value:
            execute_plain(connection, f"PRAGMA {name} = {value}", ()).close()
            connection.info[name] = value


@dataclass(frozen=True, slots=True)
class Mark:
    """Which ledger, and how many transactions it has seen."""

    epoch: str
    seq: int


_FOUND = "value, (SELECT value FROM meta WHERE name = 'epoch'), (SELECT value FROM meta WHERE name = 'schema_version')"
_COUNT = f"UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS VARCHAR) WHERE name = 'seq' RETURNING {_FOUND}"  # noqa: S608 - our own words
_READ = f"SELECT {_FOUND} FROM meta WHERE name = 'seq'"  # noqa: S608


def read_mark(connection: Connection, *, counts: bool = False) -> Mark:
    """How far the ledger is; counts: with the transaction that is about to commit.

    Raises LedgerRefused if a newer program changed the schema.
    """
    seq, epoch, version = connection.exec_driver_sql(_COUNT if counts else _READ).one()
    require_known(int(version))
    return Mark(epoch, int(seq))


def start_anew(connection: Connection, *, above: int) -> Mark:
    """Give the ledger a new name and a count above all that was seen: what other copies say of it is over."""
    mark = Mark(secrets.token_hex(8), above + 1)
    for name, value in (("epoch", mark.epoch), ("seq", str(mark.seq))):
        connection.execute(meta.update().where(meta.c.name == name).values(value=value))
    return mark


class HighWater:
    """How far the ledger has come, noted outside of it: one that is behind its own notes is an older copy.

    The ledger carries a name of its own (`epoch`) and counts its writing transactions (`seq`). After each commit the
    count is noted in files beside it. A note is never ahead of what is durable, so that no power cut makes a sound
    ledger look old; a ledger that is behind a note has lost transactions, and with them the memory of what was sent.
    Without paths nothing is noted and nothing is found.
    """

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """paths: the first is written after each commit, all of them around each sending run."""
        self._paths = tuple(paths)

    def noted(self) -> list[Mark]:
        """What the files say; a file that is not there or cannot be read says nothing."""
        found = []
        for path in self._paths:
            with suppress(OSError, ValueError, KeyError, TypeError):
                written = json.loads(path.read_bytes())
                found.append(Mark(str(written["epoch"]), int(written["seq"])))
        return found

    def note(self, mark: Mark) -> None:
        """After a commit: for the death of this process, not for that of the machine, so it costs no sync."""
        if self._paths:
            _write_note(self._paths[0], mark, durable=False)

    def keep(self, mark: Mark) -> None:
        """Around a sending run: at every place, durably."""
        for path in self._paths:
            _write_note(path, mark, durable=True)

    def check(self, found: Mark, *, noted: Sequence[Mark]) -> None:
        """Compare the ledger with its notes, which were read before it: others may be writing.

        Raises:
            LedgerRefused: it is an older copy, or another ledger than the one that was used last.
        """
        for mark in noted:
            if mark.epoch != found.epoch:
                raise LedgerRefused(
                    "This ledger is not the one with which this workspace sent before: it was deleted, replaced, or "
                    "restored from a copy of another time. It does not know what was sent since.",
                    remedy=_REMEDY,
                )
            if mark.seq > found.seq:
                raise LedgerRefused(
                    f"This ledger is an older copy: {mark.seq - found.seq} transactions that were written are not in "
                    "it, so it does not know everything that was sent.",
                    remedy=_REMEDY,
                )


def _write_note(path: Path, mark: Mark, *, durable: bool) -> None:
    """One write over the old line, or nothing: a note that cannot be made (no space) leaves the older one."""
    line = json.dumps(asdict(mark)).ljust(_LINE_BYTES - 1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError:
        return
    try:
        os.pwrite(descriptor, line.encode(), 0)
        if durable:
            os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)


class LedgerConnection:
    """What all repositories stand on: an engine, the account of documents, and marks of what was sent."""

    def __init__(
        self, engine: Engine, *, account: str, url: str, high_water: HighWater, jobs: Collection[str] | None = None
    ) -> None:
        """jobs: those whose part alone is read; None: all."""
        self.engine = engine
        self.jobs = jobs
        self.account = account
        self.url = url
        self.high_water = high_water
        self.mark: Mark | None = None  # as of the last transaction of this object
        self.older_copy: bool | None = None  # not looked yet
        self.clock_ahead_seconds = 0.0  # see `Ledger.clock_ahead_seconds`

    @contextmanager
    def read(self, *, one_statement: bool = False) -> Iterator[Connection]:
        """What is seen does not change within the block. one_statement: it has only one, which sees one state.

        Raises:
            LedgerRefused: it cannot be read.
        """
        with (
            told_plainly("read", patience_seconds=LOCK_WAIT_SECONDS),
            self.engine.connect().execution_options(one_statement=one_statement) as connection,
            connection.begin(),
        ):
            if self.jobs is not None:
                narrow_questions(connection, self.jobs)
            yield connection

    @contextmanager
    def write(
        self,
        *,
        patience_seconds: float = LOCK_WAIT_SECONDS,
        counts: bool = True,
        durable: bool = True,
        unhurried: bool = False,
    ) -> Iterator[Connection]:
        """One transaction; when the block ends without an exception, its content survives a power cut if `durable`.

        counts: whether a copy of the ledger from before it is one that must not send. unhurried: much is worked out
        between two statements; else a server takes a program for frozen that says nothing for some seconds.

        Raises:
            LedgerRefused: nothing of it was written; or all of it was, where the server was lost while it committed.
        """
        mark = None
        with (
            told_plainly("written", patience_seconds=patience_seconds),
            self.engine.connect().execution_options(write=True, unhurried=unhurried) as connection,
        ):
            _make_ready(connection, patience_seconds=patience_seconds, durable=durable)
            with connection.begin():
                yield connection
                mark = read_mark(connection, counts=True) if counts and not self._is_older_copy(connection) else None
        if mark is not None:
            self.mark = mark
            self.high_water.note(mark)

    def _is_older_copy(self, connection: Connection) -> bool:
        """Whether the notes are ahead: then nothing is counted, or the copy would catch up and pass for the newest."""
        if self.older_copy is None:
            noted = self.high_water.noted()  # before the ledger is asked: others may be writing
            found = read_mark(connection)
            self.older_copy = any(mark.epoch != found.epoch or mark.seq > found.seq for mark in noted)
        return self.older_copy


class Repository:
    """One subject of the ledger, over the connection that all of them share."""

    def __init__(self, connection: LedgerConnection) -> None:
        self._connection = connection
        self._read = connection.read
        self._write = connection.write
        self.account = connection.account

    def _rows(self, query: Select[Any]) -> Sequence[Row[*tuple[Any, ...]]]:
        """The records that a question finds."""
        with self._read(one_statement=True) as connection:
            return connection.execute(query).all()

    def _column(self, query: Select[Any]) -> list[Any]:
        """The first column of the records that a question finds."""
        return [each[0] for each in self._rows(query)]

    def _values(self, kind: type[_Value], query: Select[Any]) -> list[_Value]:
        """The records that a question finds as values, see `records.stored`."""
        return stored(kind, self._rows(query))

    def _value(self, kind: type[_Value], query: Select[Any]) -> _Value | None:
        """The first of them, None if there is none."""
        return next(iter(self._values(kind, query.limit(1))), None)

    def _documents(
        self,
        *wanted: ColumnElement[bool],
        by: Sequence[Any] = (document.c.id,),
        at_most: int | None = None,
        by_account: bool = True,
    ) -> list[StoredDocument]:
        """The documents of this account that fulfil what is wanted, in the order of some columns.

        by_account: an index may begin with the account. It is taken then even where that leaves a million documents.
        """
        mine = document.c.account if by_account else document.c.account.concat("")
        query = select_documents().where(mine == self.account, *wanted)
        return self._values(StoredDocument, query.order_by(*by).limit(at_most))

    def _exists(self, query: Select[Any]) -> bool:
        """Whether a question finds anything."""
        return bool(self._rows(query.limit(1)))

    def _execute(self, statement: Executable, records: Sequence[Mapping[str, Any]] = (), *, counts: bool = True) -> int:
        """Carry out one statement in a durable transaction; gives how many records it changed."""
        with self._write(counts=counts) as connection:
            return connection.execute(statement, records or None).rowcount

    def _among(self, column: Column[Any], values: Collection[Any] | BindParameter[Any]) -> ColumnElement[bool]:
        """Whether a column holds one of many values, see `bulk.among`."""
        return among(self._connection.engine, column, values)
