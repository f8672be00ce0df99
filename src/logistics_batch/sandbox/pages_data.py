"""What the pages show, read from the database; every list is limited, so that its size does not matter."""

import sqlite3
from dataclasses import dataclass

PAGE_ROWS = 50
_AFTER_EVERY_CHARACTER = "\U0010ffff"
_LABELS_SEARCHED = 20_000
_ORDER = (
    "SELECT order_id, awb_number, reference_number, status, delivery_hub, delivery_hub_sn, created_at, modified_at,"
    " json_extract(body, '$.customer_name') AS customer_name, json_extract(body, '$.is_cod') AS is_cod,"
    " (SELECT COUNT(*) FROM items WHERE items.order_id = orders.order_id) AS items FROM orders"
)


@dataclass(frozen=True)
class Wanted:
    """Which part of a list: a text to look for, a state, and the id that all shown must be smaller than."""

    text: str = ""
    state: str = ""
    before: int | None = None
    count: int = PAGE_ROWS


def counts(connection: sqlite3.Connection, table: str, column: str) -> dict[str, int]:
    """How many rows of a table have which state, the largest number first."""
    rows = connection.execute(f"SELECT {column}, COUNT(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC, 1")  # noqa: S608
    return {str(row[0]): row[1] for row in rows}


def size(connection: sqlite3.Connection, table: str) -> int:
    """How many rows a table has."""
    number: int = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608
    return number


def orders(connection: sqlite3.Connection, wanted: Wanted) -> list[sqlite3.Row]:
    """Orders, the newest first; text: the beginning of a reference or AWB number, or an order id."""
    conditions, values = _narrowed("order_id", "status", wanted)
    if wanted.text:
        begins = "(reference_number >= ? AND reference_number < ?) OR (awb_number >= ? AND awb_number < ?)"
        by_package = "order_id IN (SELECT order_id FROM packages WHERE child_awb_number = ?)"
        conditions.append(f"({begins} OR CAST(order_id AS TEXT) = ? OR {by_package})")
        text, end = wanted.text, wanted.text + _AFTER_EVERY_CHARACTER
        values += [text, end, text, end, text, text]
    return _rows(connection, f"{_ORDER} {_where(conditions)} ORDER BY order_id DESC LIMIT ?", [*values, wanted.count])


def asns(connection: sqlite3.Connection, wanted: Wanted) -> list[sqlite3.Row]:
    """ASNs, the newest first; text: the beginning of an invoice number."""
    conditions, values = _narrowed("asn_id", "json_extract(body, '$.status')", wanted)
    if wanted.text:
        conditions.append("invoice_number >= ? AND invoice_number < ?")
        values += [wanted.text, wanted.text + _AFTER_EVERY_CHARACTER]
    select = f"SELECT * FROM asns {_where(conditions)} ORDER BY asn_id DESC LIMIT ?"  # noqa: S608
    return _rows(connection, select, [*values, wanted.count])


def deliveries(connection: sqlite3.Connection, wanted: Wanted) -> list[sqlite3.Row]:
    """Event deliveries, the newest first; text: an AWB number."""
    conditions, values = _narrowed("delivery_id", "state", wanted)
    if wanted.text:
        conditions.append("awb_number = ?")
        values.append(wanted.text)
    select = f"SELECT * FROM event_deliveries {_where(conditions)} ORDER BY delivery_id DESC LIMIT ?"  # noqa: S608
    return _rows(connection, select, [*values, wanted.count])


def attempts(connection: sqlite3.Connection, delivery_ids: list[int]) -> dict[int, list[sqlite3.Row]]:
    """The attempts of these deliveries, in order."""
    marks = ", ".join("?" * len(delivery_ids))
    select = f"SELECT * FROM delivery_attempts WHERE delivery_id IN ({marks}) ORDER BY delivery_id, number"  # noqa: S608
    found: dict[int, list[sqlite3.Row]] = {}
    for row in connection.execute(select, delivery_ids):
        found.setdefault(row["delivery_id"], []).append(row)
    return found


def labels(connection: sqlite3.Connection, wanted: Wanted) -> list[sqlite3.Row]:
    """Labels, the newest first; text: an AWB number, looked for among the newest 20,000."""
    conditions, values = _narrowed("label_id", "''", wanted)
    if wanted.text:
        conditions.append("instr(pages, ?)")
        values.append(wanted.text)
    newest = f"(SELECT * FROM labels ORDER BY label_id DESC LIMIT {_LABELS_SEARCHED})"  # noqa: S608
    select = f"SELECT * FROM {newest} {_where(conditions)} ORDER BY label_id DESC LIMIT ?"  # noqa: S608
    return _rows(connection, select, [*values, wanted.count])


def _narrowed(id_column: str, state_column: str, wanted: Wanted) -> tuple[list[str], list[object]]:
    conditions, values = [], list[object]()
    if wanted.before is not None:
        conditions.append(f"{id_column} < ?")
        values.append(wanted.before)
    if wanted.state:
        conditions.append(f"{state_column} = ?")
        values.append(wanted.state)
    return conditions, values


def _where(conditions: list[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _rows(connection: sqlite3.Connection, select: str, values: list[object]) -> list[sqlite3.Row]:
    return connection.execute(select, values).fetchall()
