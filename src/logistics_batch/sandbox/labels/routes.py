"""Shipping labels over HTTP: the request, and the signed link (API §4.4)."""

import asyncio
import json
import sqlite3
import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox.contract.bodies import LabelRequest, order_numbers
from logistics_batch.sandbox.contract.document import LABELS, ContractRoute, documented
from logistics_batch.sandbox.contract.replies import Failed, LabelLink
from logistics_batch.sandbox.labels.faults import faulty_label
from logistics_batch.sandbox.labels.layout import LabelPage, label_pdf
from logistics_batch.sandbox.labels.links import check_link, denial, signature
from logistics_batch.sandbox.labels.orders import pages_of_orders, pages_of_shipment
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
