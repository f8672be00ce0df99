"""Shipment orders over HTTP (API §4.5-4.10)."""

import sqlite3
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox.commands import perform
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import ORDER_NUMBERS, AddedItems, DeletedItems, Order, OrderUpdate
from logistics_batch.sandbox.contract.document import ORDERS, ContractRoute, OrderId, documented
from logistics_batch.sandbox.contract.replies import ChangedOrder, CreatedOrder, FetchedOrder, Passed
from logistics_batch.sandbox.orders.stored import order_details, order_in_path
from logistics_batch.sandbox.service import passed, service_of

SHIPMENT = "/orders/shipment"
ONE_SHIPMENT = SHIPMENT + "/{orderId}"
_AWB = "$response.body#/message/awb_number"
_LINKS: dict[str, Any] = {  # how a created order is reached by the other calls
    name: {"operationId": name, "parameters": {"orderId": _AWB}}
    for name in ("order.fetch", "order.update", "order.add_items", "order.delete_items", "order.cancel")
} | {"label.create": {"operationId": "label.create", "requestBody": {ORDER_NUMBERS: _AWB}}}

routes = APIRouter(route_class=ContractRoute)


@routes.post(SHIPMENT, **documented("order.create", "4.6", Passed[CreatedOrder], tag=ORDERS, links=_LINKS))
async def create(request: Request, _order: Order) -> JSONResponse:
    """Create an order."""
    return passed(request, await perform(request, "order.create", await request.json()))


@routes.get(ONE_SHIPMENT, **documented("order.fetch", "4.5", Passed[FetchedOrder], tag=ORDERS))
async def fetch(request: Request, order_id: OrderId) -> JSONResponse:
    """Fetch an order."""
    service = service_of(request)

    def look(connection: sqlite3.Connection) -> Body:
        reading = service.switches.order_id_reading
        return order_details(connection, order_in_path(connection, order_id, reading=reading, method="GET"))

    return passed(request, {"order_details": await service.store.read(look)})


@routes.put(ONE_SHIPMENT, **documented("order.update", "4.7", Passed[ChangedOrder], tag=ORDERS))
async def update(request: Request, order_id: OrderId, _order: OrderUpdate) -> JSONResponse:
    """Update an order."""
    return await _changed(request, "order.update", order_id)


@routes.put("/orders/add/items/{orderId}", **documented("order.add_items", "4.8", Passed[ChangedOrder], tag=ORDERS))
async def add(request: Request, order_id: OrderId, _items: AddedItems) -> JSONResponse:
    """Add items to an order."""
    return await _changed(request, "order.add_items", order_id)


@routes.put("/orders/delete/items/{orderId}", **documented("order.delete_items", "4.9", Passed[str], tag=ORDERS))
async def delete(request: Request, order_id: OrderId, _items: DeletedItems) -> JSONResponse:
    """Delete items from an order."""
    return await _changed(request, "order.delete_items", order_id)


@routes.put("/api/orders/cancel/{orderId}", **documented("order.cancel", "4.10", Passed[str], tag=ORDERS))
async def cancel(request: Request, order_id: OrderId) -> JSONResponse:
    """Cancel an order that is Pending or Pickup-Failed."""
    return passed(request, await perform(request, "order.cancel", {"order_id": order_id, "body": {}}))


async def _changed(request: Request, endpoint: str, order_id: str) -> JSONResponse:
    given = {"order_id": order_id, "body": await request.json()}
    return passed(request, await perform(request, endpoint, given))
