"""The ledger itself: where it is, whether it is the newest, copies of it, and whether what it says holds together."""

import getpass
import hashlib
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Select, func, or_, select

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.ledger.connection import Repository, dump, entry, put_entry, read_mark, start_anew
from logistics_batch.ledger.documents.recording import in_state, mark_stale
from logistics_batch.ledger.failures import sqlite3, told_plainly
from logistics_batch.ledger.itself.lock import sending_lock, sending_now
from logistics_batch.ledger.itself.opening import check_database, sqlite_path
from logistics_batch.ledger.itself.version import copy_database
from logistics_batch.ledger.records import CANCELLED
from logistics_batch.ledger.schema import attempt, document, evidence, file, meta, metadata, row, run
from logistics_batch.model.document import UNANSWERED
from logistics_batch.model.issue import Issue

RESTORED = "restored"
"""The rule of what was released, or in doubt, in an older copy that goes on: it is not sent again by itself."""
_MAY_STILL_GO_OUT = ("planned", "refused", "held")
_HOME = "home"  # in the table `meta`
# What holds names, phone numbers and addresses of people.
_PERSONAL = {
    "document": ("body", "keep", "values"),  # what a person said is a value, too
    "row": ("values",),  # those of a skipped row quote its cell, such as a signature
    "attempt": ("reply",),
    "issue": ("value", "values"),
    "event": ("raw",),
    "exception": ("owner", "comment", "facts"),
    "exception_change": ("owner", "comment"),
    "person": ("secret", "link"),
    "web_session": ("digest", "address"),
    "access_token": ("digest",),
    "audit": ("address",),
}
_AT_ONCE = 500  # records, or bodies, in memory
_SHOWN = 5  # examples named in one finding
_KEEP_IT = "This must never happen: keep a copy of the ledger as it is, and report it."


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """A ledger's file: on which machine, where, and which file it is there."""

    host: str
    path: str
    inode: int


@dataclass(frozen=True, slots=True)
class LedgerFinding:
    """One thing that does not hold together, and what to do about it."""

    check: str
    problem: str
    remedy: str = _KEEP_IT


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, by its count, and what does not hold together.

    counted: records by kind, documents also by state. restorations: when who confirmed that an older copy goes on, and
    why.
    """

    counted: dict[str, int]
    findings: tuple[LedgerFinding, ...]
    restorations: tuple[dict[str, Any], ...]


class Itself(Repository):
    """What concerns the ledger as a whole."""

    def require_newest(self) -> None:
        """Go on only with the ledger that was used last.

        Raises:
            LedgerRefused: it is an older copy, or another one.
        """
        noted = self._connection.high_water.noted()
        with self._read() as connection:
            found = self._connection.mark = read_mark(connection)
        self._connection.high_water.check(found, noted=noted)

    def sending_now(self) -> str:
        """Who sends now, in brackets; "" if nobody does, as far as can be seen from here."""
        return sending_now(self._connection.engine)

    def moment(self) -> str:
        """Another text as soon as anything is written that counts."""
        with self._read(one_statement=True) as connection:
            mark = read_mark(connection)
        return f"{mark.epoch}-{mark.seq}"

    def accept_restored(self, *, reason: str, now: str) -> int:
        """A person confirms that this older copy goes on; gives how many open documents it holds.

        What it takes for not yet sent may have been sent by the history that is lost. So no later refusal of such a
        document counts: the service may be refusing the second of two. What was confirmed on one machine is only noted
        on the others that send with the same ledger.

        Raises:
            LedgerBusy: a sending run holds the ledger.
        """
        with sending_lock(
            self._connection.engine, path=sqlite_path(self._connection.url), what="ledger verify", wait=False
        ):
            return self._go_on(reason=reason, now=now)

    def _go_on(self, *, reason: str, now: str) -> int:
        noted = self._connection.high_water.noted()
        known = {mark["epoch"] for said in self.restorations() for mark in said["noted"]}
        with self._read() as connection:
            found = read_mark(connection)
        if noted and all(mark.epoch in known - {found.epoch} for mark in noted):  # accepted on another machine already
            self._connection.mark, self._connection.older_copy = found, False
            self.keep_mark()
            return 0
        with self._write(counts=False) as connection:
            found = read_mark(connection)
            above = max(mark.seq for mark in (*noted, found))
            may_go_out = document.c.state.in_(_MAY_STILL_GO_OUT)
            open_documents = list(connection.execute(select(document.c.id).where(may_go_out)).scalars())
            connection.execute(document.update().where(may_go_out).values(may_exist=1))
            approved = document.update().where(document.c.state == "planned", document.c.send_approved == 1)
            waits = in_state("held", Issue.of(f"{RESTORED}.released", next=[])) | {
                "send_approved": 0,
                "doubt_since": now,
            }
            connection.execute(approved.values(waits))
            doubts = document.update().where(document.c.state.in_(UNANSWERED))
            connection.execute(doubts.where(document.c.doubt_since == "").values(doubt_since=now))
            connection.execute(doubts.values(in_state("in_doubt", Issue(RESTORED))))
            mark_stale(connection, *open_documents)
            mark = start_anew(connection, above=above)
            times = connection.execute(select(func.count()).where(meta.c.name.like("restored:%"))).scalar_one()
            said = {"at": now, "who": getpass.getuser(), "reason": reason, "noted": [asdict(each) for each in noted]}
            put_entry(connection, f"restored:{times + 1}", dump(said))
        self._connection.mark = mark
        self._connection.older_copy = False
        self.keep_mark()
        return len(open_documents)

    def restorations(self) -> list[dict[str, Any]]:
        """Who confirmed when and why (at, who, reason) that an older copy goes on, the oldest first."""
        said = map(json.loads, self._column(select(meta.c.value).where(meta.c.name.like("restored:%"))))
        return sorted(said, key=lambda each: str(each["at"]))

    def keep_mark(self) -> None:
        """Note durably, at every place outside of the ledger, how far it is."""
        if self._connection.mark is not None:
            self._connection.high_water.keep(self._connection.mark)

    def moved_from(self) -> LedgerPlace | None:
        """Where it was used last, if this may be a copy of that; None if it is the same, or no SQLite ledger."""
        here = self._here()
        with self._read() as connection:
            stored = entry(connection, _HOME)
        if here is None or stored is None:
            return None
        known = LedgerPlace(**json.loads(stored))
        elsewhere = (known.host, known.path) != (here.host, here.path)
        return known if elsewhere and known.inode != here.inode else None

    def settle_in(self) -> None:
        """From now on this is its place."""
        here = self._here()
        if here is None:
            return
        with self._read() as connection:
            if entry(connection, _HOME) == dump(asdict(here)):
                return
        with self._write(counts=False) as connection:
            put_entry(connection, _HOME, dump(asdict(here)))

    def _here(self) -> LedgerPlace | None:
        path = sqlite_path(self._connection.url)
        if path is None or not path.exists():
            return None
        found = path.resolve()
        return LedgerPlace(socket.gethostname(), str(found), found.stat().st_ino)

    def back_up(self, file: Path) -> int:
        """Copy the ledger to a new file, whole or not at all, and check the copy; gives its size in bytes.

        Raises UsageError if the file is there already or the ledger is no SQLite file, LedgerRefused if it cannot be
        copied or the copy is not sound.
        """
        path = sqlite_path(self._connection.url)
        if path is None:
            raise UsageError("This ledger is no SQLite file.", remedy="Back it up with `pg_dump`.")
        if file.exists():
            raise UsageError(f"{file} is there already.", remedy="Name a new file.")
        try:
            copy_database(path, file)
        except (sqlite3.Error, OSError) as error:
            raise LedgerRefused(
                f"The ledger could not be copied to {file}: {error}.",
                remedy="Check the folder and its free space; if the ledger itself is damaged, see `ledger verify`.",
            ) from error
        return file.stat().st_size

    def settings_of_server(self) -> dict[str, str]:
        """What PostgreSQL says of the durability of our commits; nothing with SQLite."""
        if self._connection.engine.dialect.name == "sqlite":
            return {}
        names = ("fsync", "synchronous_commit", "synchronous_standby_names")
        query = select(*(func.current_setting(name).label(name) for name in names))
        return dict(self._rows(query)[0]._mapping)

    def records(self, *, personal: bool) -> Iterator[dict[str, Any]]:
        """Every record as {"table": name, column: value …}, table by table, in the order in which they were written.

        personal: also what holds data of people: payloads, what mappings keep, replies, events, values of cells.
        """
        with told_plainly("read"), self._connection.engine.connect() as connection:
            if connection.dialect.name != "sqlite":  # there one transaction sees one moment anyway
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                streamed = connection.execution_options(yield_per=_AT_ONCE)
                for table in metadata.sorted_tables:
                    left_out = () if personal else _PERSONAL.get(table.name, ())
                    columns = [column for column in table.c if column.name not in left_out]
                    for found in streamed.execute(select(*columns).order_by(*table.primary_key)).mappings():
                        texts = {
                            name: value.decode(errors="replace") if isinstance(value, bytes) else value
                            for name, value in found.items()
                        }
                        yield {"table": table.name} | texts

    def verify(self) -> Verification:
        """What a look at all of it finds, of every account; it changes nothing."""
        engine = self._connection.engine
        found = [*_raised("database", lambda: check_database(engine, thorough=True))]
        found += _raised("newest", self.require_newest)
        with self._read() as connection:
            counted = {
                name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
                for name, table in _COUNTED.items()
            }
            states = select(document.c.state, func.count()).group_by(document.c.state).order_by(document.c.state)
            for state, count in connection.execute(states):
                counted[f"documents {state}".replace("_", " ")] = int(count)
            for check, words, remedy, query in _checks():
                if broken := [str(line[0]) for line in connection.execute(query.limit(_SHOWN + 1))]:
                    found.append(LedgerFinding(check, f"{words}: {_named(broken)}.", remedy))
            found += _digests(connection)
        return Verification(counted, tuple(found), tuple(self.restorations()))


def _raised(check: str, look: Callable[[], None]) -> list[LedgerFinding]:
    try:
        look()
    except LedgerRefused as error:
        return [LedgerFinding(check, error.message, error.remedy)]
    return []


def _named(found: Sequence[str]) -> str:
    return ", ".join(found[:_SHOWN]) + (" and more" if len(found) > _SHOWN else "")


def _digests(connection: Connection) -> Iterator[LedgerFinding]:
    """Bodies are what was sent, byte for byte; those that were purged say nothing."""
    changed: list[str] = []
    query = select(document.c.id, document.c.body, document.c.body_sha256).where(func.length(document.c.body) > 0)
    for part in connection.execution_options(yield_per=_AT_ONCE).execute(query).partitions():
        for number, body, digest in part:
            # Who changes a SQLite file by hand may leave a text where bytes belong.
            content = body if isinstance(body, bytes) else str(body).encode()
            changed += [str(number)] if hashlib.sha256(content).hexdigest() != digest else []
    if changed:
        yield LedgerFinding("bytes", f"The bytes of documents are not those that were written: {_named(changed)}.")


_COUNTED: Final = {
    "runs": run,
    "files": file,
    "rows": row,
    "documents": document,
    "attempts": attempt,
    "evidence": evidence,
}


def _checks() -> Iterator[tuple[str, str, str, Select[Any]]]:
    """What must not be found in the ledger: name, words, remedy, and the query for it."""
    rows = select(row.c.file_id, func.count().label("n")).group_by(row.c.file_id).subquery()
    tries = (
        select(attempt.c.document_id, func.count().label("n"), func.max(attempt.c.n).label("last"))
        .group_by(attempt.c.document_id)
        .subquery()
    )
    yield (
        "totals",
        "The rows of files are not as many as were read",
        _KEEP_IT,
        select(file.c.name)
        .outerjoin(rows, rows.c.file_id == file.c.id)
        .where(func.coalesce(rows.c.n, 0) != file.c.rows_read),
    )
    yield (
        "fates",
        "Rows have neither a fate nor a document; they are in the files",
        _KEEP_IT,
        select(file.c.name).distinct().join(row).where(row.c.document_id.is_(None), row.c.fate == ""),
    )
    yield (
        "attempts",
        "The attempts of documents are not all there",
        _KEEP_IT,
        select(document.c.id)
        .outerjoin(tries, tries.c.document_id == document.c.id)
        .where(
            or_(
                func.coalesce(tries.c.n, 0) != document.c.attempts,
                func.coalesce(tries.c.last, 0) != document.c.attempts,
                (document.c.attempts == 0) & document.c.state.in_(("sending", "in_doubt", "refused")),
            )
        ),
    )
    yield (
        "sent bytes",
        "What was sent is not what documents hold",
        _KEEP_IT,
        select(document.c.id).distinct().join(attempt).where(attempt.c.request_sha256 != document.c.body_sha256),
    )
    yield (
        "one live order",
        "Under one reference more than one order was accepted, and none of them is known to be cancelled",
        "Look each up with “order get”, and cancel what is not wanted.",
        select(document.c.key)
        .where(document.c.kind == "order", document.c.state == "accepted", document.c.code.not_in(CANCELLED))
        .group_by(document.c.account, document.c.key)
        .having(func.count() > 1),
    )
