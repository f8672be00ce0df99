"""Status changes of orders: quantities, and the event that each of them sends (API §3, §6)."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from logistics_batch.sandbox.clock import ZONE
from logistics_batch.sandbox.events.webhooks import queue_event
from logistics_batch.sandbox.orders.hubs import place_of
from logistics_batch.sandbox.orders.stored import CANCELLED, child_awbs, item_rows
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
