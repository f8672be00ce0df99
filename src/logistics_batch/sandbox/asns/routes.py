"""Advance shipping notices over HTTP (API §4.1-4.3)."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from logistics_batch.sandbox.asns.replies import found_asns, stored_asn
from logistics_batch.sandbox.asns.stored import chosen_records, find_asns
from logistics_batch.sandbox.commands import perform
from logistics_batch.sandbox.contract.bodies import Asn, AsnSearch
from logistics_batch.sandbox.contract.document import ASNS, ContractRoute, documented
from logistics_batch.sandbox.contract.replies import AsnList, AsnStored
from logistics_batch.sandbox.service import service_of

PATH = "/wms/advance-shipping-notice"
_FETCH = {"operationId": "asn.fetch", "parameters": {"invoice_number": "$request.body#/invoice_number"}}
_UPDATE = {"operationId": "asn.update", "requestBody": "$request.body"}

routes = APIRouter(route_class=ContractRoute)


@routes.get(PATH, **documented("asn.fetch", "4.1", AsnList, tag=ASNS))
async def fetch(request: Request, _search: Annotated[AsnSearch, Query()]) -> Response:
    """Search ASNs."""
    query = dict(request.query_params)
    rows = await service_of(request).store.read(lambda connection: find_asns(connection, query))
    return await asyncio.to_thread(lambda: found_asns(request, chosen_records(rows, query)))  # there may be many


@routes.post(PATH, **documented("asn.create", "4.2", AsnStored, tag=ASNS, links={"fetch": _FETCH, "update": _UPDATE}))
async def create(request: Request, _asn: Asn) -> Response:
    """Create an ASN."""
    return stored_asn(request, await perform(request, "asn.create", await request.json()), done="created")


@routes.put(PATH, **documented("asn.update", "4.3", AsnStored, tag=ASNS, links={"fetch": _FETCH}))
async def update(request: Request, _asn: Asn) -> Response:
    """Update the ASN with this supplier, site and invoice number."""
    return stored_asn(request, await perform(request, "asn.update", await request.json()), done="updated")
