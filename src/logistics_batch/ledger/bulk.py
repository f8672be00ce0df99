"""One change for each of many records of a table, in as few statements as the database takes.

SQLite's driver lets go of the interpreter at each record of an `executemany`; with many threads on the telephone the
ledger's thread then waits for its turn again and again. So there many records go into one statement, and that goes to
the driver itself.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

import polars as pl
from sqlalchemy import (
    ARRAY,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Select,
    Table,
    any_,
    bindparam,
    func,
    select,
    type_coerce,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError

from logistics_batch.ledger.failures import sqlite3

_AT_ONCE = 100  # records in one statement; their values stay far below the 32,766 that SQLite takes
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Change:
    """What to write into the record that is found by the values of some columns."""

    found: dict[str, Any]
    values: dict[str, Any]


def insert_into(connection: Connection, table: Table) -> Any:
    """An insert of one record, which can say what becomes of one that is there already (ON CONFLICT)."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # a ledger in a file needs none of its drivers

    return postgresql.insert(table)


def insert_all(connection: Connection, table: Table, records: Sequence[dict[str, Any]]) -> None:
    """Add records, all with the same columns; the table's defaults stand in the others."""
    if connection.dialect.name != "sqlite":
        if records:
            connection.execute(table.insert(), records)
        return
    for some in _chunks(records):
        columns = tuple(some[0])
        values = tuple(chain.from_iterable(map(_values_of(columns), some)))
        execute_plain(connection, _insertion(table.name, columns, len(some)), values)


def insert_frame(connection: Connection, table: Table, frame: pl.DataFrame) -> None:
    """Add the lines of a frame, whose columns are the table's; the table's defaults stand in the others."""
    if frame.is_empty():
        return
    if connection.dialect.name != "sqlite":
        connection.execute(table.insert(), frame.to_dicts())
        return
    statement = _insertion(table.name, tuple(frame.columns), 1)
    with _told_as_sqlalchemy_does(statement):
        _driver(connection).executemany(statement, frame.iter_rows())


def among(
    database: Connection | Engine, column: Column[Any], values: Collection[Any] | BindParameter[Any]
) -> ColumnElement[bool]:
    """Whether a column holds one of many values, texts or numbers; they go to the database as one, however many.

    values: or the parameter that is given them when the question is asked, as `as_one` makes them.
    """
    asked = values if isinstance(values, BindParameter) else bindparam(None, as_one(database, values))
    if database.dialect.name != "sqlite":
        return column == any_(type_coerce(asked, ARRAY(column.type)))
    each = func.json_each(asked).table_valued("value")
    return column.in_(select(each.c.value))


def as_one(database: Connection | Engine, values: Collection[Any]) -> Any:
    """Many values as the one parameter of `among`."""
    return json.dumps([*values]) if database.dialect.name == "sqlite" else [*values]


def read_frame(connection: Connection, query: Select[Any], schema: Mapping[str, Any]) -> pl.DataFrame:
    """The answer to a question as a frame; in columns, which takes a fraction of what single records take."""
    found = connection.execute(query).fetchall()
    columns = zip(*found, strict=True) if found else ((),) * len(schema)
    series = [pl.Series(name, one, dtype=kind) for (name, kind), one in zip(schema.items(), columns, strict=True)]
    return pl.DataFrame(series)


def execute_plain(connection: Connection, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
    """A statement for SQLite's driver, within the connection's transaction.

    SQLAlchemy's way there takes longer than such a statement. Raises SQLAlchemy's exceptions all the same.
    """
    with _told_as_sqlalchemy_does(statement):
        return _driver(connection).execute(statement, values)


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


@contextmanager
def _told_as_sqlalchemy_does(statement: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        wrapped = DBAPIError.instance(statement, None, error, sqlite3.Error, hide_parameters=True)
        raise wrapped from error


def update_found(
    connection: Connection, table: Table, changes: Sequence[Change], *, told: tuple[str, ...]
) -> list[tuple[Any, ...]]:
    """Change those records that are found, all by the same columns; gives columns (`told`) of each that was changed."""
    if not changes:
        return []
    found, values = tuple(changes[0].found), tuple(changes[0].values)
    if connection.dialect.name != "sqlite":
        statement = table.update().where(*(table.c[name] == bindparam(f"found_{name}") for name in found))
        statement = statement.returning(*(table.c[name] for name in told))
        given = ({f"found_{name}": each.found[name] for name in found} | each.values for each in changes)
        return [tuple(line) for one in given for line in connection.execute(statement, one)]
    finding, assigned, changed = _values_of(found), _values_of(values), list[tuple[Any, ...]]()
    for some in _chunks(changes):
        given_values = tuple(chain.from_iterable((*finding(each.found), *assigned(each.values)) for each in some))
        plain = _updating(table.name, found, values, told, len(some))
        changed += execute_plain(connection, plain, given_values)
    return changed


def _values_of(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Takes a record's values in the order of these names."""
    if len(names) == 1:
        (only,) = names
        return lambda record: (record[only],)
    return itemgetter(*names)


def _chunks(records: Sequence[_Record]) -> Iterator[Sequence[_Record]]:
    for start in range(0, len(records), _AT_ONCE):
        yield records[start : start + _AT_ONCE]


@lru_cache(maxsize=256)
def _insertion(table: str, columns: tuple[str, ...], records: int) -> str:
    names = ", ".join(f'"{name}"' for name in columns)  # some are words of SQL
    return f"INSERT INTO {table} ({names}) {_given(len(columns), records)}"


@lru_cache(maxsize=256)
def _updating(table: str, found: tuple[str, ...], values: tuple[str, ...], told: tuple[str, ...], records: int) -> str:
    """SQLite names the columns of a list of values column1, column2 …"""
    names = [f"given.column{place}" for place in range(1, len(found) + len(values) + 1)]
    assigned = ", ".join(f'"{name}" = {given}' for name, given in zip(values, names[len(found) :], strict=True))
    equal = " AND ".join(f"{table}.{name} = {given}" for name, given in zip(found, names, strict=False))
    # Names of our own schema; values are never part of the text.
    changed = f"UPDATE {table} SET {assigned} FROM ({_given(len(names), records)}) AS given WHERE {equal}"  # noqa: S608
    return f"{changed} RETURNING {', '.join(told)}"


def _given(columns: int, records: int) -> str:
    one = f"({', '.join('?' * columns)})"
    return f"VALUES {', '.join([one] * records)}"
