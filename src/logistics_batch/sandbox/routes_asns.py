"""Advance shipping notices over HTTP (API §4.1-4.3)."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.asns import create_asn, envelope, search_asns, update_asn
from logistics_batch.sandbox.service import json_body, passed, request_number, service_of

routes = APIRouter()
PATH = "/wms/advance-shipping-notice"


@routes.get(PATH)
async def fetch(request: Request) -> JSONResponse:
    """Search ASNs."""
    service = service_of(request)
    query = dict(request.query_params)
    records = await service.store.read(lambda connection: search_asns(connection, query))
    return JSONResponse(envelope(records, service.switches.asn_envelope))


@routes.post(PATH)
async def create(request: Request) -> JSONResponse:
    """Create an ASN."""
    body = await json_body(request)
    contract.check_asn(body)
    number = request_number(request)
    asn_id = await service_of(request).store.write(lambda change: create_asn(change, body), request=number)
    return passed({"id": asn_id, "invoice_number": body["invoice_number"]})


@routes.put(PATH)
async def update(request: Request) -> JSONResponse:
    """Update the ASN with this supplier, site and invoice number."""
    body = await json_body(request)
    contract.check_asn(body)
    number = request_number(request)
    asn_id = await service_of(request).store.write(lambda change: update_asn(change, body), request=number)
    return passed({"id": asn_id, "invoice_number": body["invoice_number"]})
