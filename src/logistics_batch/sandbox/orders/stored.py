"""Orders in the database: find, update, items, cancel, and what is answered about them (API §3, §4.5-4.10).

Hubs by pin code, as the service would derive them (API §4.6 rule 1), and where an order goes.

Status changes of orders: quantities, and the event that each of them sends (API §3, §6).
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from logistics_batch.sandbox.clock import ZONE
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.events import queue_event
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


# The first two digits of a pin code: the city's code and name, its latitude and longitude in degrees.
_CITIES = {
    "11": ("DEL", "Delhi", 28.6139, 77.209),
    "12": ("GGN", "Gurugram", 28.4595, 77.0266),
    "20": ("NOI", "Noida", 28.5355, 77.391),
    "30": ("JAI", "Jaipur", 26.9124, 75.7873),
    "38": ("AMD", "Ahmedabad", 23.0225, 72.5714),
    "40": ("BOM", "Mumbai", 19.076, 72.8777),
    "41": ("PNQ", "Pune", 18.5204, 73.8567),
    "42": ("BWD", "Bhiwandi", 19.2813, 73.0483),
    "50": ("HYD", "Hyderabad", 17.385, 78.4867),
    "56": ("BLR", "Bengaluru", 12.9716, 77.5946),
    "60": ("MAA", "Chennai", 13.0827, 80.2707),
    "68": ("COK", "Kochi", 9.9312, 76.2673),
    "70": ("CCU", "Kolkata", 22.5726, 88.3639),
}
_ELSEWHERE = ("NAG", "Nagpur", 21.1458, 79.0882)


@dataclass(frozen=True)
class Hub:
    """A hub's code and its name for people, and its city's coordinates in degrees."""

    code: str
    name: str
    latitude: float
    longitude: float


def hub_for(pin_code: str | None) -> Hub:
    """The hub that serves a pin code; one national hub for those that no city serves."""
    digits = "".join(filter(str.isdigit, pin_code or ""))
    code, city, latitude, longitude = _CITIES.get(digits[:2], _ELSEWHERE)
    return Hub(f"{code}-{digits[:3]}" if len(digits) >= 3 else code, f"{city} Hub", latitude, longitude)


def place_of(body: Mapping[str, str]) -> tuple[float, float]:
    """Latitude and longitude that an order is on its way to; without its own those of the hub that delivers."""
    latitude, longitude = body.get("delivery_lat"), body.get("delivery_long", body.get("delivery_lon"))
    if latitude is None or longitude is None:
        hub = hub_for(body.get("delivery_postal_code"))
        return hub.latitude, hub.longitude
    return float(latitude), float(longitude)


def hubs_for(fields: Mapping[str, str]) -> dict[str, str]:
    """The hubs of an order by column: those that were sent, others follow from pin codes (API §4.6 rule 1)."""
    delivery = hub_for(fields.get("delivery_postal_code"))
    pickup_code = fields.get("pickup_postal_code")
    return {
        "delivery_hub": fields.get("delivery_hub") or delivery.code,
        "delivery_hub_sn": delivery.name,
        "pickup_hub": fields.get("pickup_hub") or (hub_for(pickup_code).code if pickup_code else ""),
    }


TOPIC = "updateOrderStatus"
CLIENT = "Sandbox"
HANDED_OVER = frozenset({"Delivered", "Complete"})
WITH_GOODS = HANDED_OVER | {
    *("Picked", "Moving-To-Hub", "At-Hub", "Out-For-Delivery", "Attempted"),
    *("At-Hub-RTO", "Moving-To-Origin", "Returned"),
}


@dataclass(frozen=True)
class Goods:
    """How much of one item was picked and delivered: 0 <= delivered <= picked <= the quantity ordered."""

    picked: float
    delivered: float


@dataclass(frozen=True)
class Move:
    """One change of status; goods: picked and delivered by item id; None: all of it from Picked on."""

    status: str
    remarks: str = ""
    courier_comment: str = ""
    goods: Mapping[str, Goods] | None = None


def move_order(change: StoreChange, order: sqlite3.Row, move: Move) -> None:
    """Set status and quantities, and queue the event for every active webhook."""
    connection = change.connection
    connection.execute(
        "UPDATE orders SET status = ?, modified_at = ? WHERE order_id = ?", (move.status, change.at, order["order_id"])
    )
    _count_goods(connection, order["order_id"], move)
    change.effect(
        "order.cancelled" if move.status == CANCELLED else "order.status_changed",
        reference_number=order["reference_number"],
        awb_number=order["awb_number"],
        status=move.status,
    )
    queue_event(change, order["awb_number"], status_event(order, move, at=change.at))


def stored_order(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    """An order as it is stored, with its items and the AWB numbers of its packages."""
    items = [dict(row) | {"body": json.loads(row["body"])} for row in item_rows(connection, order["order_id"]).values()]
    packages = child_awbs(connection, order["order_id"])
    return dict(order) | {"body": json.loads(order["body"]), "items": items, "child_awb_numbers": packages}


def status_event(order: sqlite3.Row, move: Move, *, at: str) -> dict[str, Any]:
    """The payload of updateOrderStatus (API §6)."""
    body = json.loads(order["body"])
    latitude, longitude = place_of(body)
    return {
        "WaybillNo": order["awb_number"],
        "eventType": TOPIC,
        "OrderStatus": move.status,
        "order_status": move.status,
        "StatusCode": move.status,
        "CourierComment": move.courier_comment or move.remarks,
        "StatusDateTime": at,
        "ToMobileNumber": body["customer_mobile"],
        "ToEmail": body.get("customer_email", ""),
        "ToName": body.get("customer_name", ""),
        "Client": CLIENT,
        "podDocs": [f"pod/{order['awb_number']}.JPG"] if move.status in HANDED_OVER else [],
        "EDD": _expected_delivery(body, order["created_at"]),
        "order_no": order["reference_number"],
        "location": {"lat": latitude, "long": longitude},
        "remarks": move.remarks,
    }


def quantity_of(item: sqlite3.Row) -> float:
    """The quantity ordered of a stored item; one where the order names none."""
    quantity: float = json.loads(item["body"]).get("item_quantity") or 1
    return quantity


def _expected_delivery(body: dict[str, Any], created_at: str) -> str:
    """What the client expects, else three days after the order was placed."""
    wanted = body.get("expected_delivery_time")
    if wanted is None:
        return (datetime.fromisoformat(created_at) + timedelta(days=3)).isoformat(timespec="seconds")
    moment = datetime.fromisoformat(wanted)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZONE)).isoformat()


def _count_goods(connection: sqlite3.Connection, order_id: int, move: Move) -> None:
    items = item_rows(connection, order_id)
    goods = _all_goods(items, move.status) if move.goods is None else move.goods
    for item_id, counted in goods.items():
        connection.execute(
            "UPDATE items SET picked = ?, delivered = ? WHERE order_id = ? AND item_id = ?",
            (counted.picked, counted.delivered, order_id, item_id),
        )


def _all_goods(items: Mapping[str, sqlite3.Row], status: str) -> dict[str, Goods]:
    """Everything picked from Picked on and everything picked delivered at the end; what was counted before stays."""
    if status not in WITH_GOODS:
        return {}
    picked = {name: min(item["picked"] or quantity_of(item), quantity_of(item)) for name, item in items.items()}
    return {name: Goods(count, count if status in HANDED_OVER else 0) for name, count in picked.items()}
