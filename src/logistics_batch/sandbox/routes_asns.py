"""Advance shipping notices over HTTP (API §4.1-4.3)."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.acts import act
from logistics_batch.sandbox.asn_replies import found_asns, stored_asn
from logistics_batch.sandbox.asns import chosen_records, find_asns
from logistics_batch.sandbox.service import json_body, request_number, service_of

PATH = "/wms/advance-shipping-notice"


async def fetch(request: Request) -> Response:
    """Search ASNs."""
    query = dict(request.query_params)
    rows = await service_of(request).store.read(lambda connection: find_asns(connection, query))
    return await asyncio.to_thread(lambda: found_asns(request, chosen_records(rows, query)))  # there may be many


async def create(request: Request) -> Response:
    """Create an ASN."""
    body = await json_body(request)
    contract.check_asn(body)
    record = await act(service_of(request), "asn.create", body, request=request_number(request))
    return stored_asn(request, record, done="created")


async def update(request: Request) -> Response:
    """Update the ASN that this body means."""
    body = await json_body(request)
    contract.check_asn(body)
    record = await act(service_of(request), "asn.update", body, request=request_number(request))
    return stored_asn(request, record, done="updated")


routes = [
    Route(PATH, fetch, methods=["GET"]),
    Route(PATH, create, methods=["POST"]),
    Route(PATH, update, methods=["PUT"]),
]
