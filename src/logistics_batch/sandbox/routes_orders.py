"""Shipment orders over HTTP (API §4.5-4.10)."""

import json
import re
import sqlite3
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.orders import (
    CANCELLED,
    add_items,
    child_awbs,
    create_order,
    delete_items,
    find_order,
    item_rows,
    live_order,
    must_be_cancellable,
    update_order,
)
from logistics_batch.sandbox.service import UNEXPECTED, json_body, passed, request_number, service_of
from logistics_batch.sandbox.statuses import change_status
from logistics_batch.sandbox.store import Change

routes = APIRouter()
_ITEM_REPLY = ("item_name", "item_quantity", "item_price_per_each", "total_item_price")


@routes.post("/orders/shipment")
async def create(request: Request) -> JSONResponse:
    """Create an order."""
    service = service_of(request)
    body = await json_body(request)
    contract.check_order(body)

    def change(change: Change) -> dict[str, Any]:
        earlier = live_order(change.connection, body["reference_number"])
        if earlier is None or service.switches.duplicate_reference == "refuse":
            return created_reply(change.connection, create_order(change, body))
        if service.switches.duplicate_reference == "error":
            raise Refused(UNEXPECTED, status=500)
        return created_reply(change.connection, earlier)

    return passed(await service.store.write(change, request=request_number(request)))


@routes.get("/orders/shipment/{order_id}")
async def fetch(request: Request, order_id: str) -> JSONResponse:
    """Show an order."""
    service = service_of(request)

    def look(connection: sqlite3.Connection) -> dict[str, Any]:
        order = find_order(connection, order_id, by_reference=service.switches.fetch_by_reference)
        return order_details(connection, order)

    return passed({"order_details": await service.store.read(look)})


@routes.put("/orders/shipment/{order_id}")
async def update(request: Request, order_id: str) -> JSONResponse:
    """Change an order."""
    body = await json_body(request)
    contract.check_order_update(body)

    def change(change: Change) -> dict[str, Any]:
        return reply(change.connection, update_order(change, find_order(change.connection, order_id), body))

    return passed(await service_of(request).store.write(change, request=request_number(request)))


@routes.put("/orders/add/items/{order_id}")
async def add(request: Request, order_id: str) -> JSONResponse:
    """Add items to an order."""
    body = await json_body(request)
    contract.check_added_items(body)

    def change(change: Change) -> dict[str, Any]:
        order = find_order(change.connection, order_id)
        add_items(change, order, body["item_details"])
        return reply(change.connection, order)

    return passed(await service_of(request).store.write(change, request=request_number(request)))


@routes.put("/orders/delete/items/{order_id}")
async def delete(request: Request, order_id: str) -> JSONResponse:
    """Delete items from an order."""
    body = await json_body(request)
    contract.check_deleted_items(body)

    def change(change: Change) -> str:
        order = find_order(change.connection, order_id)
        delete_items(change, order, body["item_list"])
        return f"Items deleted for AWB Number : {order['awb_number']}"

    return passed(await service_of(request).store.write(change, request=request_number(request)))


@routes.put("/api/orders/cancel/{order_id}")
async def cancel(request: Request, order_id: str) -> JSONResponse:
    """Cancel an order."""

    def change(change: Change) -> None:
        order = find_order(change.connection, order_id)
        must_be_cancellable(order)
        change_status(change, order, CANCELLED)

    await service_of(request).store.write(change, request=request_number(request))
    return passed("Order Cancelled Successfully")


def reply(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    """What update and add answer."""
    items = {item_id: json.loads(row["body"]) for item_id, row in item_rows(connection, order["order_id"]).items()}
    return {
        "awb_number": order["awb_number"],
        "delivery_hub": order["delivery_hub"],
        "item_details": {
            item_id: {name: item[name] for name in _ITEM_REPLY if name in item} for item_id, item in items.items()
        },
    }


def created_reply(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    """What create answers: the same with the AWB numbers of the packages."""
    return reply(connection, order) | {"child_awb_numbers": child_awbs(connection, order["order_id"])}


def order_details(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    """The order as fetch shows it (API §2.3)."""
    body = json.loads(order["body"])
    texts = ("delivery_address", "delivery_postal_code", "pickup_address", "pickup_postal_code", "customer_name")
    returns = ("return_address", "return_postal_code", "return_customer_name", "return_hub")
    phones = ("customer_mobile", "alternate_customer_mobile", "pickup_customer_mobile", "return_customer_mobile")
    return {
        "order_id": order["order_id"],
        **{
            name: order[name]
            for name in ("reference_number", "awb_number", "status", "delivery_hub_sn", "delivery_hub")
        },
        **{name: body.get(name, "") for name in (*texts, "pickup_customer_name", *returns)},
        **{name: _phone_number(body.get(name)) for name in phones},
        "item_details": {
            item_id: _item_details(row) for item_id, row in item_rows(connection, order["order_id"]).items()
        },
        "cash_on_delivery": body.get("cash_on_delivery", "0.00"),
    }


def _item_details(row: sqlite3.Row) -> dict[str, Any]:
    item = json.loads(row["body"])
    return {
        "item_name": item["item_name"],
        "item_quantity": item.get("item_quantity", 1),
        "item_qty_picked": row["picked"],
        "item_qty_delivered": row["delivered"],
    }


def _phone_number(text: str | None) -> int | None:
    return int(re.sub(r"\D", "", text)) if text else None
