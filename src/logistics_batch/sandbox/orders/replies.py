"""What the service answers about orders (API §2.3, §4.5-4.8)."""

import json
import re
import sqlite3

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.orders.new_orders import item_replies
from logistics_batch.sandbox.orders.stored import child_awbs, item_rows

_ROW = ("order_id", "reference_number", "awb_number", "status", "delivery_hub_sn", "delivery_hub")
_TEXTS = (
    *("delivery_address", "delivery_postal_code", "pickup_address", "pickup_postal_code", "customer_name"),
    *("pickup_customer_name", "return_address", "return_postal_code", "return_customer_name", "return_hub"),
)
_PHONES = ("customer_mobile", "alternate_customer_mobile", "pickup_customer_mobile", "return_customer_mobile")


def changed_reply(connection: sqlite3.Connection, order: sqlite3.Row) -> Body:
    """What update and add items answer (API §4.7, §4.8)."""
    rows = item_rows(connection, order["order_id"])
    return {
        "awb_number": order["awb_number"],
        "delivery_hub": order["delivery_hub"],
        "item_details": item_replies((item_id, json.loads(row["body"])) for item_id, row in rows.items()),
    }


def created_reply(connection: sqlite3.Connection, order: sqlite3.Row) -> Body:
    """What create answered, or answers again: the same with the AWB numbers of the packages (API §4.6)."""
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
