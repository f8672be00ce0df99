"""Shipment orders over HTTP (API §4.5-4.10)."""

import sqlite3
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.acts import act
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.order_replies import order_details
from logistics_batch.sandbox.orders import order_in_path
from logistics_batch.sandbox.service import answered, json_body, request_number, service_of

SHIPMENT = "/orders/shipment"
ONE_SHIPMENT = SHIPMENT + "/{order_id}"


async def create(request: Request) -> JSONResponse:
    """Create an order."""
    body = await json_body(request)
    contract.check_order(body)
    return await _done(request, "order.create", body)


async def fetch(request: Request) -> JSONResponse:
    """Show an order."""
    service, order_id = service_of(request), request.path_params["order_id"]

    def look(connection: sqlite3.Connection) -> Body:
        reading = service.switches.order_id_reading
        return order_details(connection, order_in_path(connection, order_id, reading=reading, method="GET"))

    return _passed(request, {"order_details": await service.store.read(look)})


async def update(request: Request) -> JSONResponse:
    """Change an order."""
    body = await json_body(request)
    contract.check_order_update(body)
    return await _done(request, "order.update", _given(request, body))


async def add(request: Request) -> JSONResponse:
    """Add items to an order."""
    body = await json_body(request)
    contract.check_added_items(body)
    return await _done(request, "order.add_items", _given(request, body))


async def delete(request: Request) -> JSONResponse:
    """Delete items from an order."""
    body = await json_body(request)
    contract.check_deleted_items(body)
    return await _done(request, "order.delete_items", _given(request, body))


async def cancel(request: Request) -> JSONResponse:
    """Cancel an order."""
    return await _done(request, "order.cancel", _given(request, {}))


def _given(request: Request, body: Body) -> Body:
    return {"order_id": request.path_params["order_id"], "body": body}


async def _done(request: Request, endpoint: str, given: Body) -> JSONResponse:
    return _passed(request, await act(service_of(request), endpoint, given, request=request_number(request)))


def _passed(request: Request, message: Any) -> JSONResponse:
    return answered(request, {"status": "PASS", "message": message})


routes = [
    Route(SHIPMENT, create, methods=["POST"]),
    Route(ONE_SHIPMENT, fetch, methods=["GET"]),
    Route(ONE_SHIPMENT, update, methods=["PUT"]),
    Route("/orders/add/items/{order_id}", add, methods=["PUT"]),
    Route("/orders/delete/items/{order_id}", delete, methods=["PUT"]),
    Route("/api/orders/cancel/{order_id}", cancel, methods=["PUT"]),
]
