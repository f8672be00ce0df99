"""Shipping labels over HTTP: the request, and the signed link (API §4.4)."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import asdict
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import LabelRequest, order_numbers
from logistics_batch.sandbox.contract.document import LABELS, ContractRoute, documented
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.contract.replies import Failed, LabelLink
from logistics_batch.sandbox.labels.faults import check_link, denial, faulty_label, signature
from logistics_batch.sandbox.labels.layout import LabelPage, label_pdf
from logistics_batch.sandbox.orders.stored import CANCELLED, UNKNOWN_ORDER, child_awbs, find_order, item_rows
from logistics_batch.sandbox.service import request_number, service_of
from logistics_batch.sandbox.store import StoreChange

_URL = "$response.body#/url#regex:"  # understood by testers of APIs, not by the OpenAPI standard
_DOWNLOAD = {
    "operationId": "label.download",
    "parameters": {
        "labelId": _URL + r"labels/(\d+)\.pdf",
        "expires": _URL + r"expires=(\d+)",
        "signature": _URL + r"signature=([0-9a-f]+)",
    },
}
_XML: dict[str, Any] = {"schema": {"type": "string"}}
_PDF: dict[str, Any] = {"schema": {"type": "string", "contentMediaType": "application/pdf"}}
_LINK: dict[str, Any] = {  # of a link that is wrong in any way the answer is 403, as from a store of files
    "security": [],
    "parameters": [
        {"name": name, "in": "query", "required": True, "schema": {"type": "string", "pattern": pattern}}
        for name, pattern in (("expires", "^[0-9]{1,12}$"), ("signature", "^[0-9a-f]{64}$"))
    ],
}

routes = APIRouter(route_class=ContractRoute)


@routes.post(
    "/order/shippinglabel/",
    openapi_extra={"security": [{"queryKey": []}]},
    **documented("label.create", "4.4", LabelLink, tag=LABELS, links={"download": _DOWNLOAD}),
)
async def create(request: Request, _wanted: LabelRequest) -> JSONResponse:
    """Get a link to a label."""
    service, body = service_of(request), await request.json()
    numbers = order_numbers(body)
    many, bad_number = service.switches.multi_order_labels, service.switches.multi_order_bad_number

    def change(change: StoreChange) -> int:
        if numbers:
            pages = pages_of_orders(change.connection, numbers, many=many, bad_number=bad_number)
        else:
            pages = pages_of_shipment(change.connection, body)
        stored = json.dumps([asdict(page) for page in pages], ensure_ascii=False)
        cursor = change.connection.execute("INSERT INTO labels (pages, created_at) VALUES (?, ?)", (stored, change.at))
        label_id = cursor.lastrowid or 0
        change.effect("label.created", label_id=label_id, awb_numbers=[page.awb_number for page in pages])
        return label_id

    label_id = await service.store.write(change, request=request_number(request))
    expires = int(time.time() + service.switches.link_lifetime_seconds)
    signed = signature(service.link_secret, label_id=label_id, expires=expires)
    url = f"{request.base_url}labels/{label_id}.pdf?expires={expires}&signature={signed}"
    return JSONResponse({"status": "SUCCESS", "url": url})


@routes.get(
    "/labels/{labelId}.pdf",
    operation_id="label.download",
    summary="Download a label",
    description="API §4.4, §8.5: the time-limited link that a label request answers with; it needs no key",
    tags=[LABELS],
    response_class=Response,
    openapi_extra=_LINK,
    responses={
        200: {"description": "The label, 4 x 6 inches a page", "content": {"application/pdf": _PDF}},
        400: {"description": "The label has no number", "model": Failed},
        403: {"description": "The signature is wrong or the link has expired", "content": {"application/xml": _XML}},
        404: {"description": "There is no such label", "content": {"application/xml": _XML}},
    },
)
async def download(request: Request, label_id: Annotated[int, Path(alias="labelId", ge=1)]) -> Response:
    """The PDF behind a signed link; no key is needed or wanted. Faults of labels strike here."""
    service = service_of(request)
    expires, given = (request.query_params.get(name, "") for name in ("expires", "signature"))
    wrong = check_link(service.link_secret, label_id=label_id, expires=expires, given=given, now=time.time())
    if wrong:
        return Response(denial(wrong), status_code=403, media_type="application/xml")
    pages = await service.store.read(lambda connection: _stored_pages(connection, label_id))
    if not pages:
        return Response(denial("No such label", code="NoSuchKey"), status_code=404, media_type="application/xml")
    for kind in getattr(request.state, "label_faults", ()):
        return await asyncio.to_thread(faulty_label, kind, pages)
    return Response(await asyncio.to_thread(label_pdf, pages), media_type="application/pdf")


def _stored_pages(connection: sqlite3.Connection, label_id: int) -> list[LabelPage]:
    row = connection.execute("SELECT pages FROM labels WHERE label_id = ?", (label_id,)).fetchone()
    return [LabelPage(**page) for page in json.loads(row["pages"])] if row else []


RETURN_TO = "Sandbox Logistics, Plot 7, Bhiwandi 421302"
NO_LABEL_WHEN_CANCELLED = "The order is cancelled"
ONE_BY_ONE = "Labels are made for one order a call"
OTHER_ORDER = "order_id is not the reference number of this AWB Number"


def pages_of_orders(
    connection: sqlite3.Connection, numbers: list[str], *, many: str, bad_number: str
) -> list[LabelPage]:
    """The pages for ``order_numbers[]``.

    many: what a call for several orders gives, as the switch ``multi_order_labels`` says.
    bad_number: whether one unknown or cancelled order refuses the whole call, as ``multi_order_bad_number`` says.
    """
    if len(numbers) > 1 and many == "refused":
        raise Refused(ONE_BY_ONE)
    chosen = numbers[:1] if many == "first_only" else numbers
    orders: list[list[LabelPage]] = []
    for number in chosen:
        try:
            orders.append(_pages(connection, find_order(connection, number, by_reference=True), {}))
        except Refused:
            if bad_number != "skip" or len(chosen) == 1:
                raise
    if not orders:
        raise Refused(UNKNOWN_ORDER)
    if many == "one_pdf_reversed":
        orders.reverse()
    return [page for pages in orders for page in pages]


def pages_of_shipment(connection: sqlite3.Connection, shipment: Body) -> list[LabelPage]:
    """The pages for a whole shipment: what it says stands over what the order says."""
    order = find_order(connection, shipment["awb_number"])
    if order["awb_number"] != shipment["awb_number"]:
        raise Refused(UNKNOWN_ORDER)
    if shipment.get("order_id") not in (None, "", order["reference_number"]):
        raise Refused(OTHER_ORDER)
    return _pages(connection, order, shipment)


def _pages(connection: sqlite3.Connection, order: sqlite3.Row, given: Body) -> list[LabelPage]:
    """A page for each package of the order."""
    if order["status"] == CANCELLED:
        raise Refused(NO_LABEL_WHEN_CANCELLED)
    stored = json.loads(order["body"])
    packages = child_awbs(connection, order["order_id"]) or [order["awb_number"]]
    shared: dict[str, Any] = {
        "order_awb_number": order["awb_number"],
        "reference": order["reference_number"],
        "hub": order["delivery_hub"],
        "hub_name": order["delivery_hub_sn"],
        "name": given.get("customer_name") or stored.get("customer_name", ""),
        "address": given.get("shipping_address") or stored["delivery_address"],
        "postal_code": given.get("delivery_pincode") or stored.get("delivery_postal_code", ""),
        "mobile": given.get("primary_mobile_no") or stored["customer_mobile"],
        "collect": _to_collect(stored, given),
        "return_to": given.get("return_address") or stored.get("return_address") or RETURN_TO,
        "contents": _contents(connection, order["order_id"], given.get("sku_details")),
        "packages": len(packages),
        "date_placed": given.get("date_placed") or order["created_at"][:10],
        "weight": given.get("weight") or _grams(stored.get("weight", "")),
        "dimensions": _dimensions(given) or _dimensions(stored),
    }
    return [LabelPage(awb_number=awb, package=number, **shared) for number, awb in enumerate(packages, start=1)]


def _to_collect(stored: Body, given: Body) -> str:
    """The amount for a COD label, "" for a prepaid one; a whole shipment is prepaid unless it says is_cod itself."""
    cod = given.get("is_cod", False) if given else stored.get("is_cod") == "true"
    return str(given.get("amount_to_collect") or stored.get("cash_on_delivery", "0.00")) if cod else ""


def _grams(kilograms: str) -> str:
    """An order's weight is in kilograms, a label's in grams (API §2.2, §2.3)."""
    return f"{(Decimal(kilograms) * 1000).normalize():f}" if kilograms else ""


def _dimensions(body: Body) -> str:
    """Length x breadth x height as far as they are known; a label request may give them as one text."""
    given = body.get("dimensions", body)
    if isinstance(given, str):
        return given
    sides = [str(given[name]) for name in ("length", "breadth", "height") if given.get(name)]
    return " x ".join(sides) + f" {given.get('uom') or 'cm'}" if sides else ""


def _contents(connection: sqlite3.Connection, order_id: int, given: Any) -> str:
    """Items and how many of each: those of the request, else those of the order."""
    if isinstance(given, str) and given.strip():
        return given
    if given:
        return _listed((line.get("name", ""), line.get("quantity", "1")) for line in given)
    items = [json.loads(row["body"]) for row in item_rows(connection, order_id).values()]
    return _listed((item["item_name"], item.get("item_quantity", 1)) for item in items)


def _listed(lines: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} x {quantity}" for name, quantity in lines)
