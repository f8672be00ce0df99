"""Statements of the ledger are compiled once for all tests of a process, not once for each ledger that a test opens."""

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.util import LRUCache

_MOST = 2000


def share_statements() -> None:
    """From now on in this process: engines of SQLite share what they compiled. All of them have the same dialect."""
    shared = LRUCache[Any, Any](_MOST)

    def connected(connection: Connection) -> None:
        if isinstance(connection.dialect, SQLiteDialect):
            connection.engine._compiled_cache = shared

    event.listen(Engine, "engine_connect", connected)
    SQLiteDialect.__eq__ = lambda one, other: type(one) is type(other)  # type: ignore[assignment,method-assign]
    SQLiteDialect.__hash__ = lambda one: hash(type(one))  # type: ignore[assignment,method-assign]
