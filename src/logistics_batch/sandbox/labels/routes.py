"""Shipping labels over HTTP: the request, and the signed link (API §4.4)."""

import asyncio
import json
import sqlite3
import time

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.labels.faults import WantedLabel, faulty_label
from logistics_batch.sandbox.labels.layout import LabelPage, label_pdf, page_from
from logistics_batch.sandbox.labels.links import check_link, denial, signature
from logistics_batch.sandbox.labels.orders import pages_of_another_order, pages_of_orders, pages_of_shipment
from logistics_batch.sandbox.service import json_body, request_number, service_of
from logistics_batch.sandbox.store import Change

routes = APIRouter()


@routes.post("/order/shippinglabel/")
async def create(request: Request) -> JSONResponse:
    """Give a link to the label."""
    service = service_of(request)
    body = await json_body(request)
    numbers = contract.check_label(body)

    many, bad_number = service.switches.multi_order_labels, service.switches.multi_order_bad_number

    def change(change: Change) -> int:
        if numbers:
            pages = pages_of_orders(change.connection, numbers, many=many, bad_number=bad_number)
        else:
            pages = pages_of_shipment(change.connection, body)
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
        others = await service.store.read(lambda connection: pages_of_another_order(connection, pages))
        return await asyncio.to_thread(faulty_label, kind, WantedLabel(pages, others))
    return Response(await asyncio.to_thread(label_pdf, pages), media_type="application/pdf")


def _stored_pages(connection: sqlite3.Connection, label_id: int) -> list[LabelPage]:
    row = connection.execute("SELECT pages FROM labels WHERE label_id = ?", (label_id,)).fetchone()
    return [page_from(page) for page in json.loads(row["pages"])] if row else []
