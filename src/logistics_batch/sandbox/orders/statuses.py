"""Status changes of orders: quantities, cash, history, and the event that each of them sends (API §3, §6)."""

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from logistics_batch.sandbox.clock import ZONE
from logistics_batch.sandbox.orders.hubs import HubPlace, place_of
from logistics_batch.sandbox.orders.stored import CANCELLED, PENDING, child_awbs, item_rows
from logistics_batch.sandbox.store import StoreChange

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
    """One change of status. moved_by: client, hand or warehouse; at: ISO time, "" is now.

    goods: picked and delivered by item id; None lets the status decide: all of it from Picked on.
    """

    status: str
    remarks: str = ""
    courier_comment: str = ""
    moved_by: str = "hand"
    at: str = ""
    goods: Mapping[str, Goods] | None = None


def change_status(change: StoreChange, order: sqlite3.Row, status: str, *, remarks: str = "") -> None:
    """Set the status on the client's word."""
    move_order(change, order, Move(status, remarks, moved_by="client"))


def move_order(change: StoreChange, order: sqlite3.Row, move: Move) -> None:
    """Set status, quantities and history, and queue the event for every active webhook."""
    connection, at = change.connection, move.at or change.at
    connection.execute(
        "UPDATE orders SET status = ?, modified_at = ? WHERE order_id = ?", (move.status, at, order["order_id"])
    )
    _count_goods(connection, order["order_id"], move)
    change.effect(
        "order.cancelled" if move.status == CANCELLED else "order.status_changed",
        reference_number=order["reference_number"],
        awb_number=order["awb_number"],
        status=move.status,
    )
    place = place_of(move.status, json.loads(order["body"]))
    _remember(change, order, move, place)
    _queue_event(change, order, status_event(order, move, at=at, place=place))


def history_of(connection: sqlite3.Connection, order: sqlite3.Row) -> list[dict[str, Any]]:
    """Every status the order has had, the first one first, with time, place, remarks and the courier's comment."""
    rows = connection.execute(
        "SELECT * FROM order_history WHERE order_id = ? ORDER BY history_id", (order["order_id"],)
    )
    started = place_of(PENDING, json.loads(order["body"]))
    first = {
        "status": PENDING,
        "at": order["created_at"],
        "moved_by": "client",
        "place": started.name,
        "latitude": started.latitude,
        "longitude": started.longitude,
        **dict.fromkeys(("remarks", "courier_comment", "cash_collected"), ""),
    }
    return [first, *({name: row[name] for name in first} for row in rows)]


def stored_order(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    """An order as it is stored, with its items and the AWB numbers of its packages."""
    items = [dict(row) | {"body": json.loads(row["body"])} for row in item_rows(connection, order["order_id"]).values()]
    packages = child_awbs(connection, order["order_id"])
    return dict(order) | {"body": json.loads(order["body"]), "items": items, "child_awb_numbers": packages}


def status_event(order: sqlite3.Row, move: Move, *, at: str, place: HubPlace) -> dict[str, Any]:
    """The payload of updateOrderStatus (API §6)."""
    body = json.loads(order["body"])
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
        "location": {"lat": place.latitude, "long": place.longitude},
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


def _remember(change: StoreChange, order: sqlite3.Row, move: Move, place: HubPlace) -> None:
    change.connection.execute(
        "INSERT INTO order_history (order_id, status, at, moved_by, place, latitude, longitude,"
        " remarks, courier_comment, cash_collected) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            order["order_id"],
            move.status,
            move.at or change.at,
            move.moved_by,
            place.name,
            place.latitude,
            place.longitude,
            move.remarks,
            move.courier_comment,
            _cash_collected(change.connection, order) if move.status in HANDED_OVER else "",
        ),
    )


def _cash_collected(connection: sqlite3.Connection, order: sqlite3.Row) -> str:
    """Cash on delivery in INR for the share of units that was handed over; "" when the order is prepaid."""
    body = json.loads(order["body"])
    if body.get("is_cod") != "true":
        return ""
    items = item_rows(connection, order["order_id"]).values()
    ordered = sum((Decimal(str(quantity_of(item))) for item in items), Decimal(0))
    delivered = sum((Decimal(str(item["delivered"])) for item in items), Decimal(0))
    share = delivered / ordered if ordered else Decimal(1)
    return str((Decimal(body.get("cash_on_delivery", "0.00")) * share).quantize(Decimal("0.01")))


def _queue_event(change: StoreChange, order: sqlite3.Row, payload: dict[str, Any]) -> None:
    awb = order["awb_number"]
    change.connection.execute(
        "INSERT INTO event_deliveries (webhook_id, awb_number, lane, payload, queued_at, due_at)"
        " SELECT webhook_id, ?, ?, ?, ?, ? FROM webhooks WHERE active ORDER BY webhook_id",
        (awb, awb, json.dumps(payload, ensure_ascii=False), change.at, time.time()),
    )
