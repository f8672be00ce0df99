"""Shipping labels over HTTP: the request, and the signed link (API §4.4)."""

import asyncio
import json
import sqlite3
import time
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.labels import LabelPage, label_pdf, page_from
from logistics_batch.sandbox.links import check_link, signature
from logistics_batch.sandbox.orders import CANCELLED, child_awbs, find_order, item_rows
from logistics_batch.sandbox.service import json_body, request_number, service_of
from logistics_batch.sandbox.store import Change

routes = APIRouter()
RETURN_TO = "Sandbox Logistics, Plot 7, Bhiwandi 421302"


@routes.post("/order/shippinglabel/")
async def create(request: Request) -> JSONResponse:
    """Give a link to the label."""
    service = service_of(request)
    body = await json_body(request)
    numbers = contract.check_label(body)

    def change(change: Change) -> int:
        orders = [
            find_order(change.connection, number, by_reference=True) for number in numbers or [body["awb_number"]]
        ]
        pages = [page for order in orders for page in label_pages(change.connection, order, {} if numbers else body)]
        stored = json.dumps([page.as_dict() for page in pages], ensure_ascii=False)
        cursor = change.connection.execute("INSERT INTO labels (pages, created_at) VALUES (?, ?)", (stored, change.at))
        label_id = cursor.lastrowid or 0
        change.effect("label.created", label_id=label_id, awb_numbers=[page.awb_number for page in pages])
        return label_id

    label_id = await service.store.write(change, request=request_number(request))
    expires = int(time.time() + service.switches.link_lifetime_seconds)
    signed = signature(service.link_secret, label_id=label_id, expires=expires)
    url = f"{request.base_url}labels/{label_id}.pdf?expires={expires}&signature={signed}"
    return JSONResponse({"status": "SUCCESS", "url": url})


@routes.get("/labels/{label_id}.pdf")
async def download(request: Request, label_id: int) -> Response:
    """The PDF behind a signed link; no key is needed or wanted."""
    service = service_of(request)
    expires, given = (request.query_params.get(name, "") for name in ("expires", "signature"))
    wrong = check_link(service.link_secret, label_id=label_id, expires=expires, given=given, now=time.time())
    if wrong:
        page = (
            f"<?xml version='1.0' encoding='UTF-8'?><Error><Code>AccessDenied</Code><Message>{wrong}</Message></Error>"
        )
        return Response(page, status_code=403, media_type="application/xml")
    row = await service.store.read(
        lambda connection: connection.execute("SELECT pages FROM labels WHERE label_id = ?", (label_id,)).fetchone()
    )
    pdf = await asyncio.to_thread(label_pdf, [page_from(page) for page in json.loads(row["pages"])])
    return Response(pdf, media_type="application/pdf")


def label_pages(connection: sqlite3.Connection, order: sqlite3.Row, given: Body) -> list[LabelPage]:
    """A page for each package of the order; what the request says stands over what the order says."""
    if order["status"] == CANCELLED:
        raise Refused("The order is cancelled")
    stored = json.loads(order["body"])
    packages = child_awbs(connection, order["order_id"]) or [order["awb_number"]]
    shared: dict[str, Any] = {
        "order_awb_number": order["awb_number"],
        "reference": given.get("order_id") or order["reference_number"],
        "hub": f"{order['delivery_hub']}  {order['delivery_hub_sn']}",
        "name": given.get("customer_name") or stored.get("customer_name", ""),
        "address": given.get("shipping_address") or stored["delivery_address"],
        "postal_code": given.get("delivery_pincode") or stored.get("delivery_postal_code", ""),
        "mobile": given.get("primary_mobile_no") or stored["customer_mobile"],
        "collect": _to_collect(stored, given),
        "return_to": "Return to: " + (given.get("return_address") or stored.get("return_address") or RETURN_TO),
        "contents": _contents(connection, order["order_id"]),
        "packages": len(packages),
    }
    return [LabelPage(awb_number=awb, package=number, **shared) for number, awb in enumerate(packages, start=1)]


def _to_collect(stored: Body, given: Body) -> str:
    """The amount for a COD label, "" for a prepaid one."""
    cod = given["is_cod"] if "is_cod" in given else stored.get("is_cod") == "true"
    return str(given.get("amount_to_collect") or stored.get("cash_on_delivery", "0.00")) if cod else ""


def _contents(connection: sqlite3.Connection, order_id: int) -> str:
    items = [json.loads(row["body"]) for row in item_rows(connection, order_id).values()]
    return ", ".join(f"{item['item_name']} x {item.get('item_quantity', 1)}" for item in items)
