"""The ledger itself: where it is, whether it is the newest, copies of it, and whose documents it holds."""

import getpass
import json
import socket
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Row, Table, func, select

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.ledger.connection import Repository, dump, entry, put_entry
from logistics_batch.ledger.documents.stale import mark_stale
from logistics_batch.ledger.failures import told_plainly
from logistics_batch.ledger.itself.high_water import Mark, read_mark, start_anew
from logistics_batch.ledger.itself.lock import sending_lock
from logistics_batch.ledger.itself.opening import sqlite_path
from logistics_batch.ledger.itself.verifying import Verification, verified
from logistics_batch.ledger.itself.version import copy_database
from logistics_batch.ledger.records import in_state
from logistics_batch.ledger.schema import (
    document,
    meta,
    metadata,
)
from logistics_batch.model.document_state import UNANSWERED
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
}
_AT_ONCE = 500  # records in memory


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """A ledger's file: on which machine, where, and which file it is there."""

    host: str
    path: str
    inode: int


class Itself(Repository):
    """What concerns the ledger as a whole."""

    def mark(self) -> Mark:
        """How far the ledger is."""
        with self._read() as connection:
            return read_mark(connection)

    def require_newest(self) -> None:
        """Go on only with the ledger that was used last.

        Raises:
            LedgerRefused: it is an older copy, or another one.
        """
        noted = self._connection.high_water.noted()
        self._connection.mark = self.mark()
        self._connection.high_water.check(self._connection.mark, noted=noted)

    def accept_restored(self, *, reason: str, now: str) -> int:
        """A person confirms that this older copy goes on; gives how many open documents it holds.

        What it takes for not yet sent may have been sent by the history that is lost. So no later refusal of such a
        document counts: the service may be refusing the second of two.

        Raises:
            LedgerBusy: a sending run holds the ledger.
        """
        with sending_lock(
            self._connection.engine, path=sqlite_path(self._connection.url), what="ledger verify", wait=False
        ):
            return self._go_on(reason=reason, now=now)

    def _go_on(self, *, reason: str, now: str) -> int:
        noted = self._connection.high_water.noted()
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
                    for found in streamed.execute(select(*columns).order_by(*table.primary_key)):
                        yield _record(table, found)

    def verify(self) -> Verification:
        """Look at everything, of every account; see `verifying`."""
        return verified(self._connection, require_newest=self.require_newest, restorations=self.restorations())


def _record(table: Table, found: Row[Any]) -> dict[str, Any]:
    record: dict[str, Any] = {"table": table.name}
    for name, value in found._mapping.items():
        record[name] = value.decode(errors="replace") if isinstance(value, bytes) else value
    return record
