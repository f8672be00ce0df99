"""Orders in the database: create, find, update, items, cancel (API §3, §4.5-4.10)."""

import json
import re
import sqlite3
from typing import Any

from logistics_batch.sandbox.contract import Body, order_items
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.hubs import hub_for
from logistics_batch.sandbox.store import Change

PENDING = "Pending"
CANCELLED = "cancelled"
CANCELLABLE = frozenset({PENDING, "New-Order", "Pickup-Failed"})
CLOSED = frozenset({CANCELLED, "Complete", "Delivered", "Returned"})
UNKNOWN_ORDER = "Order not found"
DUPLICATE = "Shipment Reference Number already exists"
NOT_CANCELLABLE = "The order can't be cancelled now"
NOT_CHANGEABLE = "The order can't be updated now"

# AWB codes run through all combinations of these 32 signs without repeating: an odd factor permutes modulo 2**35
_SIGNS = "0123456789ABCDEFGHJKLMNPQRTUVXYZ"
_FACTOR, _START, _MODULUS = 22_695_477_301, 11_903_217_733, 2**35


def awb_code(number: int) -> str:
    """The AWB number of the order with this running number: SH- and seven signs, scattered but never twice."""
    scattered = (number * _FACTOR + _START) % _MODULUS
    return "SH-" + "".join(_SIGNS[(scattered >> shift) & 31] for shift in range(30, -1, -5))


def find_order(connection: sqlite3.Connection, order_id: str, *, by_reference: bool = False) -> sqlite3.Row:
    """The order with this AWB number or order id, or (if asked) reference: the live one, else the latest."""
    row = connection.execute("SELECT * FROM orders WHERE awb_number = ?", (order_id,)).fetchone()
    if row is None and re.fullmatch(r"[1-9]\d{0,17}", order_id, re.ASCII):
        row = connection.execute("SELECT * FROM orders WHERE order_id = ?", (int(order_id),)).fetchone()
    if row is None and by_reference:
        row = connection.execute(
            "SELECT * FROM orders WHERE reference_number = ? ORDER BY status = 'cancelled', order_id DESC LIMIT 1",
            (order_id,),
        ).fetchone()
    if row is None:
        raise Refused(UNKNOWN_ORDER)
    found: sqlite3.Row = row
    return found


def live_order(connection: sqlite3.Connection, reference: str) -> sqlite3.Row | None:
    """The order that holds this reference now (API §8.4)."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM orders WHERE reference_number = ? AND status <> ?", (reference, CANCELLED)
    ).fetchone()
    return row


def create_order(change: Change, body: Body) -> sqlite3.Row:
    """Store a checked order with its items and packages; the reference must be free."""
    connection = change.connection
    if live_order(connection, body["reference_number"]) is not None:
        raise Refused(DUPLICATE)
    hub = hub_for(body.get("delivery_postal_code"))
    fields = {name: value for name, value in body.items() if name != "item_details"}
    cursor = connection.execute(
        "INSERT INTO orders"
        " (awb_number, reference_number, status, delivery_hub, delivery_hub_sn, body, created_at, modified_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            _free_awb(connection, body.get("awb_number")),
            body["reference_number"],
            PENDING,
            body.get("delivery_hub") or hub.code,
            hub.name,
            json.dumps(fields, ensure_ascii=False),
            change.at,
            change.at,
        ),
    )
    order = _row(connection, cursor.lastrowid)
    _store_items(connection, order["order_id"], body)
    _store_packages(connection, order, body)
    change.effect(
        "order.created",
        reference_number=order["reference_number"],
        awb_number=order["awb_number"],
        order_id=order["order_id"],
    )
    return order


def update_order(change: Change, order: sqlite3.Row, body: Body) -> sqlite3.Row:
    """Put new values over the stored ones; items are named by their ids."""
    _must_be_open(order)
    connection = change.connection
    given = dict(body)
    items = given.pop("item_details", {})
    _must_belong(connection, order, list(items))
    for item_id, item in items.items():
        stored = connection.execute(
            "SELECT body FROM items WHERE order_id = ? AND item_id = ?", (order["order_id"], item_id)
        ).fetchone()
        connection.execute(
            "UPDATE items SET body = ? WHERE order_id = ? AND item_id = ?",
            (json.dumps(json.loads(stored[0]) | item, ensure_ascii=False), order["order_id"], item_id),
        )
    fields = json.loads(order["body"]) | given
    hub = hub_for(fields.get("delivery_postal_code"))
    connection.execute(
        "UPDATE orders SET body = ?, delivery_hub = ?, delivery_hub_sn = ?, modified_at = ? WHERE order_id = ?",
        (
            json.dumps(fields, ensure_ascii=False),
            fields.get("delivery_hub") or hub.code,
            hub.name,
            change.at,
            order["order_id"],
        ),
    )
    _note(change, "order.updated", order)
    return _row(connection, order["order_id"])


def add_items(change: Change, order: sqlite3.Row, items: dict[str, Body]) -> None:
    """Add items under the ids given; their weight is in grams (API §2.3)."""
    _must_be_open(order)
    connection = change.connection
    present = set(item_rows(connection, order["order_id"]))
    taken = sorted(present & set(items))
    if taken:
        raise Refused(f"Items belong to the order already: {', '.join(taken)}")
    for number, (item_id, item) in enumerate(items.items(), start=len(present)):
        _insert_item(connection, (order["order_id"], item_id, number, None, json.dumps(item, ensure_ascii=False), "g"))
    _note(change, "order.items_added", order, item_ids=list(items))


def delete_items(change: Change, order: sqlite3.Row, item_ids: list[str]) -> None:
    """Delete the named items; all of them must belong to the order."""
    _must_be_open(order)
    _must_belong(change.connection, order, item_ids)
    for item_id in item_ids:
        change.connection.execute("DELETE FROM items WHERE order_id = ? AND item_id = ?", (order["order_id"], item_id))
    _note(change, "order.items_deleted", order, item_ids=item_ids)


def must_be_cancellable(order: sqlite3.Row) -> None:
    """Only an order that is Pending or Pickup-Failed can be cancelled (API §3)."""
    if order["status"] not in CANCELLABLE:
        raise Refused(NOT_CANCELLABLE)


def item_rows(connection: sqlite3.Connection, order_id: int) -> dict[str, sqlite3.Row]:
    """The items of an order by id, in their order."""
    rows = connection.execute("SELECT * FROM items WHERE order_id = ? ORDER BY position, item_id", (order_id,))
    return {row["item_id"]: row for row in rows}


def child_awbs(connection: sqlite3.Connection, order_id: int) -> list[str]:
    """AWB numbers of the packages; none when the order is one package."""
    rows = connection.execute("SELECT child_awb_number FROM packages WHERE order_id = ? ORDER BY position", (order_id,))
    return [row[0] for row in rows]


def _row(connection: sqlite3.Connection, order_id: int | None) -> sqlite3.Row:
    row: sqlite3.Row = connection.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone()
    return row


def _free_awb(connection: sqlite3.Connection, wanted: str | None) -> str:
    taken = "SELECT 1 FROM orders WHERE awb_number = ?"
    if wanted:
        if connection.execute(taken, (wanted,)).fetchone():
            raise Refused("AWB Number already exists")
        return wanted
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'orders'").fetchone()
    number = (last[0] if last else 0) + 1
    while connection.execute(taken, (awb_code(number),)).fetchone():
        number += 1  # only an AWB chosen by a client can stand in the way
    return awb_code(number)


def _insert_item(connection: sqlite3.Connection, values: tuple[Any, ...]) -> None:
    connection.execute(
        "INSERT INTO items (order_id, item_id, position, kit, body, weight_unit) VALUES (?, ?, ?, ?, ?, ?)", values
    )


def _store_items(connection: sqlite3.Connection, order_id: int, body: Body) -> None:
    for position, (kit, item) in enumerate(order_items(body)):
        item_id = connection.execute("INSERT INTO item_ids DEFAULT VALUES").lastrowid
        _insert_item(connection, (order_id, str(item_id), position, kit, json.dumps(item, ensure_ascii=False), "kg"))


def _store_packages(connection: sqlite3.Connection, order: sqlite3.Row, body: Body) -> None:
    names: list[str | None] = [None] * body.get("packages_count", 0)
    ids = [body.get("package_id")] + [item.get("package_id") for _, item in order_items(body)]
    names.extend(dict.fromkeys(one for one in ids if one))
    if len(names) < 2:
        return
    for position, name in enumerate(names, start=1):
        connection.execute(
            "INSERT INTO packages (child_awb_number, order_id, position, package_id) VALUES (?, ?, ?, ?)",
            (f"{order['awb_number']}-{position:02d}", order["order_id"], position, name),
        )


def _must_be_open(order: sqlite3.Row) -> None:
    if order["status"] in CLOSED:
        raise Refused(NOT_CHANGEABLE)


def _must_belong(connection: sqlite3.Connection, order: sqlite3.Row, item_ids: list[str]) -> None:
    foreign = sorted(set(item_ids) - set(item_rows(connection, order["order_id"])))
    if foreign:
        raise Refused(f"Items do not belong to the order: {', '.join(foreign)}")


def _note(change: Change, effect: str, order: sqlite3.Row, **details: Any) -> None:
    change.effect(effect, reference_number=order["reference_number"], awb_number=order["awb_number"], **details)
