"""Status changes of orders, and the event that each of them sends (API §3, §6)."""

import json
import sqlite3
import time
from datetime import datetime, timedelta
from typing import Any

from logistics_batch.sandbox.clock import ZONE
from logistics_batch.sandbox.orders import child_awbs, item_rows
from logistics_batch.sandbox.store import Change

TOPIC = "updateOrderStatus"
CLIENT = "Sandbox"
_WITH_GOODS = frozenset({"Picked", "At-Hub", "Moving-To-Hub", "Out-For-Delivery", "Attempted", "Delivered", "Complete"})
_HANDED_OVER = frozenset({"Delivered", "Complete"})


def change_status(change: Change, order: sqlite3.Row, status: str, *, remarks: str = "") -> None:
    """Set the status, what was picked and delivered, and queue the event for every active webhook."""
    connection = change.connection
    connection.execute(
        "UPDATE orders SET status = ?, modified_at = ? WHERE order_id = ?", (status, change.at, order["order_id"])
    )
    _count_goods(connection, order["order_id"], status)
    change.effect(
        "order.cancelled" if status == "cancelled" else "order.status_changed",
        reference_number=order["reference_number"],
        awb_number=order["awb_number"],
        status=status,
    )
    payload = json.dumps(status_event(order, status, at=change.at, remarks=remarks), ensure_ascii=False)
    connection.execute(
        "INSERT INTO deliveries (webhook_id, payload, due_at)"
        " SELECT webhook_id, ?, ? FROM webhooks WHERE active ORDER BY webhook_id",
        (payload, time.time()),
    )


def status_event(order: sqlite3.Row, status: str, *, at: str, remarks: str) -> dict[str, Any]:
    """The payload of updateOrderStatus (API §6)."""
    body = json.loads(order["body"])
    return {
        "WaybillNo": order["awb_number"],
        "eventType": TOPIC,
        "OrderStatus": status,
        "order_status": status,
        "StatusCode": status,
        "CourierComment": remarks,
        "StatusDateTime": at,
        "ToMobileNumber": body["customer_mobile"],
        "ToEmail": body.get("customer_email", ""),
        "ToName": body.get("customer_name", ""),
        "Client": CLIENT,
        "podDocs": [f"pod/{order['awb_number']}.JPG"] if status in _HANDED_OVER else [],
        "EDD": _expected_delivery(body, order["created_at"]),
        "order_no": order["reference_number"],
        "location": {"lat": float(body.get("delivery_lat", 0)), "long": float(_longitude(body))},
        "remarks": remarks,
    }


def _longitude(body: dict[str, Any]) -> Any:
    return body.get("delivery_long", body.get("delivery_lon", 0))


def _expected_delivery(body: dict[str, Any], created_at: str) -> str:
    """What the client expects, else three days after the order was placed."""
    wanted = body.get("expected_delivery_time")
    if wanted is None:
        return (datetime.fromisoformat(created_at) + timedelta(days=3)).isoformat(timespec="seconds")
    moment = datetime.fromisoformat(wanted)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZONE)).isoformat()


def _count_goods(connection: sqlite3.Connection, order_id: int, status: str) -> None:
    quantity = "COALESCE(json_extract(body, '$.item_quantity'), 1)"
    if status in _WITH_GOODS:
        connection.execute(f"UPDATE items SET picked = {quantity} WHERE order_id = ?", (order_id,))  # noqa: S608
    if status in _HANDED_OVER:
        connection.execute(f"UPDATE items SET delivered = {quantity} WHERE order_id = ?", (order_id,))  # noqa: S608


def stored_order(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    """An order as it is stored, with its items and the AWB numbers of its packages."""
    items = [dict(row) | {"body": json.loads(row["body"])} for row in item_rows(connection, order["order_id"]).values()]
    packages = child_awbs(connection, order["order_id"])
    return dict(order) | {"body": json.loads(order["body"]), "items": items, "child_awb_numbers": packages}
