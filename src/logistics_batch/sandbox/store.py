"""What the service knows, in one SQLite file: durable, and committed in groups.

Everything runs on the event loop's thread over one connection. All changes of one turn of the loop share one
transaction and one commit; each has its own savepoint, and nobody is answered before the commit. Every change notes its
effects in the same transaction, so that the journal can be completed after a crash.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from logistics_batch.sandbox.clock import now_text
from logistics_batch.sandbox.journal import Journal

Result = TypeVar("Result")
SCHEMA_VERSION = 6


@dataclass
class StoreChange:
    """One change in the making: the connection, its time, and the effects it has had so far."""

    connection: sqlite3.Connection
    request: int | None
    at: str = field(default_factory=now_text)
    effects: list[dict[str, Any]] = field(default_factory=list)

    def effect(self, name: str, **details: Any) -> None:
        """Note an effect for the journal, in the same transaction."""
        text = json.dumps(details, ensure_ascii=False)
        cursor = self.connection.execute(
            "INSERT INTO effects (request, effect, details) VALUES (?, ?, ?)", (self.request, name, text)
        )
        self.effects.append(_committed(cursor.lastrowid, self.request, name, details))

    def rehearse(self, act: Callable[["StoreChange"], Result]) -> Result:
        """What `act` would answer; nothing of it stays."""
        self.connection.execute("SAVEPOINT rehearsal")
        try:
            return act(StoreChange(self.connection, self.request, self.at))
        finally:
            self.connection.execute("ROLLBACK TO rehearsal")
            self.connection.execute("RELEASE rehearsal")


def take_numbers(connection: sqlite3.Connection, name: str, count: int) -> int:
    """The first of `count` numbers in a row that nobody else gets; `name` is orders, items or asns."""
    row = connection.execute("UPDATE numbers SET last = last + ? WHERE name = ? RETURNING last", (count, name))
    last: int = row.fetchone()[0]
    return last - count + 1


@dataclass
class _Group:
    done: "asyncio.Future[None]"
    effects: list[dict[str, Any]] = field(default_factory=list)


class Store:
    """The database of the service, and its tie to the journal."""

    def __init__(self, path: Path, *, journal: Journal) -> None:
        self._journal = journal
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.create_function("casefold", 1, lambda text: text and text.casefold(), deterministic=True)
        # WAL is safe here: no other connection writes or checkpoints. FULL: an answer must survive a power cut.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        _must_be_of_this_version(self._connection, path)
        self._connection.executescript(Path(__file__).with_name("store.sql").read_text("utf-8"))
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self._group: _Group | None = None
        self.commits = self.changes = 0
        self._complete_journal()

    async def write(self, change: Callable[[StoreChange], Result], *, request: int | None = None) -> Result:
        """Run `change` in its own savepoint and return its result once it is durable; an exception undoes it alone."""
        group = self._open_group()
        current = StoreChange(self._connection, request)
        self._connection.execute("SAVEPOINT one_change")
        try:
            result = change(current)
        except BaseException:
            self._connection.execute("ROLLBACK TO one_change")
            self._connection.execute("RELEASE one_change")
            raise
        self._connection.execute("RELEASE one_change")
        self.changes += 1
        group.effects.extend(current.effects)
        await asyncio.shield(group.done)
        return result

    async def read(self, look: Callable[[sqlite3.Connection], Result]) -> Result:
        """What `look` sees; never anything that is not durable yet."""
        result = look(self._connection)
        if self._group is not None:
            await asyncio.shield(self._group.done)
        return result

    def close(self) -> None:
        """Commit what is open and close the file."""
        if self._group is not None:
            self._commit()
        self._connection.close()

    def _open_group(self) -> _Group:
        if self._group is None:
            loop = asyncio.get_running_loop()
            self._connection.execute("BEGIN IMMEDIATE")
            self._group = _Group(loop.create_future())
            loop.call_soon(self._commit)
        return self._group

    def _commit(self) -> None:
        group, self._group = self._group, None
        if group is None:
            return
        try:
            self._connection.execute("COMMIT")
            self.commits += 1
            if group.effects:
                self._journal.append_now(group.effects)
        except (sqlite3.Error, OSError) as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            group.done.set_exception(error)
            return
        group.done.set_result(None)

    def _complete_journal(self) -> None:
        """Write the effects that were committed just before a crash and did not reach the journal."""
        missing = self._connection.execute(
            "SELECT effect_id, request, effect, details FROM effects WHERE effect_id > ? ORDER BY effect_id",
            (self._journal.last_effect_id,),
        ).fetchall()
        records = [_committed(row[0], row[1], row[2], json.loads(row[3])) | {"recovered": True} for row in missing]
        if records:
            self._journal.append_now(records)


def _must_be_of_this_version(connection: sqlite3.Connection, path: Path) -> None:
    """OSError when another version of the sandbox made the file: it is for trying, so nothing is carried over."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        connection.close()
        raise OSError(f"{path} was made by another version of the sandbox: name another data folder, or remove it")


def _committed(effect_id: int | None, request: int | None, effect: str, details: dict[str, Any]) -> dict[str, Any]:
    return {"event": "committed", "effect": effect, "effect_id": effect_id, "request": request, **details}
