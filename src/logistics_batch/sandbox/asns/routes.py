"""Advance shipping notices over HTTP, in every form that services of their kind are seen to use (API §4.1-4.3)."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from logistics_batch.sandbox.asns.stored import find_asns, records_of
from logistics_batch.sandbox.commands import perform
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import Asn, AsnSearch
from logistics_batch.sandbox.contract.document import ASNS, ContractRoute, documented
from logistics_batch.sandbox.contract.replies import AsnList, Passed, StoredAsn
from logistics_batch.sandbox.service import answered, passed, service_of
from logistics_batch.sandbox.switches import Switches

PATH = "/wms/advance-shipping-notice"
_FETCH = {"operationId": "asn.fetch", "parameters": {"invoice_number": "$request.body#/invoice_number"}}
_UPDATE = {"operationId": "asn.update", "requestBody": "$request.body"}

_ENVELOPED = {"pass": "PASS", "success": "SUCCESS"}

routes = APIRouter(route_class=ContractRoute)


@routes.get(PATH, **documented("asn.fetch", "4.1", AsnList, tag=ASNS))
async def fetch(request: Request, _search: Annotated[AsnSearch, Query()]) -> Response:
    """Search ASNs."""
    query = dict(request.query_params)
    rows = await service_of(request).store.read(lambda connection: find_asns(connection, query))
    return await asyncio.to_thread(lambda: found_asns(request, records_of(rows)))  # there may be many


@routes.post(
    PATH, **documented("asn.create", "4.2", Passed[StoredAsn], tag=ASNS, links={"fetch": _FETCH, "update": _UPDATE})
)
async def create(request: Request, _asn: Asn) -> Response:
    """Create an ASN."""
    return stored_asn(request, await perform(request, "asn.create", await request.json()), done="created")


@routes.put(PATH, **documented("asn.update", "4.3", Passed[StoredAsn], tag=ASNS, links={"fetch": _FETCH}))
async def update(request: Request, _asn: Asn) -> Response:
    """Update the ASN with this supplier, site and invoice number."""
    return stored_asn(request, await perform(request, "asn.update", await request.json()), done="updated")


def found_asns(request: Request, records: list[Body]) -> Response:
    """The answer to a search, in the form that the switches say."""
    return answered(request, envelope(records, service_of(request).switches))


def stored_asn(request: Request, record: Body, *, done: str) -> Response:
    """The answer to create and update; `done` is the verb of its text."""
    form, shown = service_of(request).switches.asn_replies, as_shown(record, service_of(request).switches)
    if form == "empty":
        return Response()
    if form == "bare":
        return answered(request, shown)
    messages: dict[str, Any] = {
        "id": {"id": record["id"], "invoice_number": record["invoice_number"]},
        "text": f"Advance shipping notice {done} successfully",
        "record": shown,
    }
    return passed(request, messages[form])


def envelope(records: list[Body], switches: Switches) -> Any:
    """The list in its envelope, cut off where the hidden page ends."""
    shown = [as_shown(record, switches) for record in records[: switches.asn_page_cap or None]]
    form = switches.asn_envelope
    if form == "bare":
        return shown
    if form == "single" and len(shown) == 1:
        return shown[0]
    if form == "by_id":
        return {"status": "PASS", "message": {str(record["id"]): record for record in shown}}
    counts = {"total": {"count": len(records)}, "shown": {"count": len(shown)}, "absent": {}}
    key = form if form in ("results", "data") else "result"
    listed = counts[switches.asn_count] | {"next": 0, "previous": None, key: shown}
    return {"status": _ENVELOPED[form], "message": listed} if form in _ENVELOPED else listed


def as_shown(record: Body, switches: Switches) -> Body:
    """The record with its parties and lines in the forms that the switches say."""
    shown = {name: value for name, value in record.items() if name != "sku_lines"}
    for party in ("supplier", "site"):
        shown |= _party(shown, party, switches.asn_parties)
        if switches.asn_parties != "both":
            del shown[f"{party}_name"]
    lines: Any = record["sku_lines"]
    if switches.asn_lines_form == "by_id":
        lines = {str(line["id"]): {name: line[name] for name in line if name != "id"} for line in lines}
    return shown | {switches.asn_lines_key: lines}


def _party(record: Body, party: str, form: str) -> Body:
    known, name = record[party], record[f"{party}_name"]
    if form == "object":
        return {party: {"id": known, "name": name}}
    return {party: name or known} if form == "name" else {}
