"""Orders in the database: find, update, items, cancel, and what is answered about them (API §3, §4.5-4.10)."""

import json
import re
import sqlite3
from collections.abc import Iterable
from typing import Any

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.orders.hubs import hubs_for
from logistics_batch.sandbox.store import StoreChange

PENDING = "Pending"
CANCELLED = "cancelled"
CANCELLABLE = frozenset({PENDING, "New-Order", "Pickup-Failed"})
CLOSED = frozenset({CANCELLED, "Complete", "Delivered", "Returned"})
UNKNOWN_ORDER = "Order not found"
DUPLICATE = "Shipment Reference Number already exists"
NOT_CANCELLABLE = "The order can't be cancelled now"
NOT_CHANGEABLE = "The order can't be updated now"
_ITEM_REPLY: Body = {"item_name": "", "item_quantity": 1, "item_price_per_each": "", "total_item_price": ""}
_ROW = ("order_id", "reference_number", "awb_number", "status", "delivery_hub_sn", "delivery_hub")
_TEXTS = (
    *("delivery_address", "delivery_postal_code", "pickup_address", "pickup_postal_code", "customer_name"),
    *("pickup_customer_name", "return_address", "return_postal_code", "return_customer_name", "return_hub"),
)
_PHONES = ("customer_mobile", "alternate_customer_mobile", "pickup_customer_mobile", "return_customer_mobile")


class UnknownOrder(Refused):
    """There is no such order; the document does not say with which HTTP status."""

    def __init__(self) -> None:
        super().__init__(UNKNOWN_ORDER)


def find_order(connection: sqlite3.Connection, order_id: str, *, by_reference: bool = False) -> sqlite3.Row:
    """The order with this AWB number or order id, or (if asked) reference: the live one, else the latest."""
    row = connection.execute("SELECT * FROM orders WHERE awb_number = ?", (order_id,)).fetchone()
    if row is None and re.fullmatch(r"[1-9]\d{0,17}", order_id, re.ASCII):
        row = connection.execute("SELECT * FROM orders WHERE order_id = ?", (int(order_id),)).fetchone()
    if row is None and by_reference:
        return find_by_reference(connection, order_id)
    if row is None:
        raise UnknownOrder
    found: sqlite3.Row = row
    return found


def order_in_path(
    connection: sqlite3.Connection, order_id: str, *, reading: str = "id", method: str = ""
) -> sqlite3.Row:
    """The order that ``{orderId}`` means in this reading of the document (switch ``order_id_reading``)."""
    if reading == "reference":
        return find_by_reference(connection, order_id)
    by_reference = reading == "both" or (reading == "fetch_both" and method == "GET")
    return find_order(connection, order_id, by_reference=by_reference)


def find_by_reference(connection: sqlite3.Connection, reference: str) -> sqlite3.Row:
    """The live order with this reference number, else the latest of the cancelled ones."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM orders WHERE reference_number = ? ORDER BY status = 'cancelled', order_id DESC LIMIT 1",
        (reference,),
    ).fetchone()
    if row is None:
        raise UnknownOrder
    return row


def live_order(connection: sqlite3.Connection, reference: str) -> Any:
    """The row of the order that holds this reference now (API §8.4), or None."""
    return connection.execute(
        "SELECT * FROM orders WHERE reference_number = ? AND status <> ?", (reference, CANCELLED)
    ).fetchone()


def update_order(change: StoreChange, order: sqlite3.Row, body: Body) -> sqlite3.Row:
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
    connection.execute(
        "UPDATE orders SET body = :body, delivery_hub = :delivery_hub, delivery_hub_sn = :delivery_hub_sn,"
        " pickup_hub = :pickup_hub, modified_at = :at WHERE order_id = :order_id",
        hubs_for(fields)
        | {"body": json.dumps(fields, ensure_ascii=False), "at": change.at, "order_id": order["order_id"]},
    )
    _note(change, "order.updated", order)
    return _row(connection, order["order_id"])


def add_items(change: StoreChange, order: sqlite3.Row, items: dict[str, Body]) -> None:
    """Add items under the ids given; their weight is in grams (API §2.3)."""
    _must_be_open(order)
    connection = change.connection
    present = set(item_rows(connection, order["order_id"]))
    taken = sorted(present & set(items))
    if taken:
        raise Refused(f"Items belong to the order already: {', '.join(taken)}")
    for number, (item_id, item) in enumerate(items.items(), start=len(present)):
        connection.execute(
            "INSERT INTO items (order_id, item_id, position, body, weight_unit) VALUES (?, ?, ?, ?, 'g')",
            (order["order_id"], item_id, number, json.dumps(item, ensure_ascii=False)),
        )
    _note(change, "order.items_added", order, item_ids=list(items))


def delete_items(change: StoreChange, order: sqlite3.Row, item_ids: list[str]) -> None:
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


def item_replies(items: Iterable[tuple[str, Body]]) -> dict[str, Body]:
    """Items by their id, as create, update and add answer them: with all four fields (API §4.6)."""
    return {item_id: {name: item.get(name, unset) for name, unset in _ITEM_REPLY.items()} for item_id, item in items}


def changed_reply(connection: sqlite3.Connection, order: sqlite3.Row) -> Body:
    """What update and add items answer (API §4.7, §4.8)."""
    rows = item_rows(connection, order["order_id"])
    return {
        "awb_number": order["awb_number"],
        "delivery_hub": order["delivery_hub"],
        "item_details": item_replies((item_id, json.loads(row["body"])) for item_id, row in rows.items()),
    }


def created_reply(connection: sqlite3.Connection, order: sqlite3.Row) -> Body:
    """What create answers, also again: the same with the AWB numbers of the packages (API §4.6)."""
    return changed_reply(connection, order) | {"child_awb_numbers": child_awbs(connection, order["order_id"])}


def order_details(connection: sqlite3.Connection, order: sqlite3.Row) -> Body:
    """The order as fetch shows it (API §2.3, §4.5)."""
    body = json.loads(order["body"])
    rows = item_rows(connection, order["order_id"])
    return {
        **{name: order[name] for name in _ROW},
        **{name: body.get(name, "") for name in _TEXTS},
        **{name: _phone_number(body.get(name)) for name in _PHONES},
        "item_details": {item_id: _item_details(row) for item_id, row in rows.items()},
        "cash_on_delivery": body.get("cash_on_delivery", "0.00"),
    }


def _item_details(row: sqlite3.Row) -> Body:
    item = json.loads(row["body"])
    return {
        "item_name": item["item_name"],
        "item_quantity": item.get("item_quantity", 1),
        "item_qty_picked": row["picked"],
        "item_qty_delivered": row["delivered"],
    }


def _phone_number(text: str | None) -> int | None:
    return int(re.sub(r"\D", "", text)) if text else None


def _row(connection: sqlite3.Connection, order_id: int | None) -> sqlite3.Row:
    row: sqlite3.Row = connection.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone()
    return row


def _must_be_open(order: sqlite3.Row) -> None:
    if order["status"] in CLOSED:
        raise Refused(NOT_CHANGEABLE)


def _must_belong(connection: sqlite3.Connection, order: sqlite3.Row, item_ids: list[str]) -> None:
    foreign = sorted(set(item_ids) - set(item_rows(connection, order["order_id"])))
    if foreign:
        raise Refused(f"Items do not belong to the order: {', '.join(foreign)}")


def _note(change: StoreChange, effect: str, order: sqlite3.Row, **details: Any) -> None:
    change.effect(effect, reference_number=order["reference_number"], awb_number=order["awb_number"], **details)
