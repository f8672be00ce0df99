"""Pages for people under ``/_sandbox/``, and the description of the API; all read only, none needs the key.

The sandbox listens on this machine alone; pages answer only when they are called by its name, so that a page from
elsewhere, whose name was made to point here, cannot read them.
"""

import sqlite3
import time
from dataclasses import replace
from importlib import resources

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox import events, pages_data, pages_lists, pages_order, pages_overview
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.links import signature
from logistics_batch.sandbox.openapi import openapi_document
from logistics_batch.sandbox.pages_access import is_local_host
from logistics_batch.sandbox.pages_api import api_page
from logistics_batch.sandbox.pages_behaviour import behaviour_page
from logistics_batch.sandbox.pages_data import Wanted
from logistics_batch.sandbox.pages_journal import last_lines
from logistics_batch.sandbox.service import Service, service_of
from logistics_batch.sandbox.switches import Switches

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_STATIC = {"pages.css": "text/css", "refresh.js": "text/javascript", "icon.svg": "image/svg+xml"}
_LONGEST_TEXT = 200
_LARGEST_ID = 2**62
_JOURNAL_ROWS = 12
_ORDER_JOURNAL_ROWS = 40


def _called_by_its_name(request: Request) -> None:
    if not is_local_host(request.headers.get("host", "")):
        raise Refused("This page is for http://127.0.0.1 and http://localhost", status=403)


routes = APIRouter(dependencies=[Depends(_called_by_its_name)])


@routes.get("/openapi.json")
@routes.get("/_sandbox/openapi.json")
async def openapi() -> Response:
    """The OpenAPI document."""
    return JSONResponse(openapi_document(), headers=_HEADERS)


@routes.get("/_sandbox/api")
async def api() -> Response:
    """The same document for people."""
    return _page(api_page(openapi_document()))


@routes.get("/_sandbox/")
async def overview(request: Request) -> Response:
    """What there is, at a glance."""
    service = service_of(request)
    seen = await service.store.read(pages_overview.look)
    defaults = Switches().as_dict()
    changed = {name: value for name, value in service.switches.as_dict().items() if value != defaults[name]}
    lines = last_lines(service.journal.path, count=_JOURNAL_ROWS)
    return _page(pages_overview.overview_page(seen, lines=lines, rules=service.plan.as_list(), changed=changed))


@routes.get("/_sandbox/pages/orders")
async def orders(request: Request) -> Response:
    """A list of orders."""
    wanted = _wanted(request)

    def look(connection: sqlite3.Connection) -> bytes:
        counted = pages_data.counts(connection, "orders", "status")
        return pages_lists.orders_page(wanted, pages_data.orders(connection, wanted), counted)

    return _page(await service_of(request).store.read(look))


@routes.get("/_sandbox/pages/orders/{order_id}")
async def order(request: Request, order_id: int) -> Response:
    """One order."""
    service = service_of(request)
    seen = await service.store.read(lambda connection: pages_order.look(connection, min(order_id, _LARGEST_ID)))
    if seen is None:
        raise Refused("There is no order with this id", status=404)
    names = (seen.row["reference_number"], seen.row["awb_number"])
    lines = last_lines(service.journal.path, count=_ORDER_JOURNAL_ROWS, containing=names)
    return _page(pages_order.order_page(seen, urls=_label_urls(service, seen.labels), lines=lines))


@routes.get("/_sandbox/pages/asns")
async def asns(request: Request) -> Response:
    """A list of ASNs."""
    wanted = _wanted(request)

    def look(connection: sqlite3.Connection) -> bytes:
        counted = pages_data.counts(connection, "asns", "json_extract(body, '$.status')")
        return pages_lists.asns_page(wanted, pages_data.asns(connection, wanted), counted)

    return _page(await service_of(request).store.read(look))


@routes.get("/_sandbox/pages/labels")
async def labels(request: Request) -> Response:
    """A list of labels, each with a link that works for as long as any other."""
    service, wanted = service_of(request), _wanted(request)
    rows = await service.store.read(lambda connection: pages_data.labels(connection, wanted))
    return _page(pages_lists.labels_page(wanted, rows, _label_urls(service, rows)))


@routes.get("/_sandbox/pages/events")
async def deliveries(request: Request) -> Response:
    """Webhooks and deliveries."""
    wanted = _wanted(request)

    def look(connection: sqlite3.Connection) -> bytes:
        rows = pages_data.deliveries(connection, wanted)
        ids = [row["delivery_id"] for row in rows]
        listed = pages_lists.deliveries_table(
            rows, pages_data.attempts(connection, ids), empty="No event is like that."
        )
        counted = pages_data.counts(connection, "event_deliveries", "state")
        return pages_lists.events_page(wanted, listed, ids=ids, counted=counted, webhooks=events.webhooks(connection))

    return _page(await service_of(request).store.read(look))


@routes.get("/_sandbox/pages/journal")
async def journal(request: Request) -> Response:
    """The end of the journal."""
    wanted = _wanted(request)
    texts = (wanted.text,) if wanted.text else ()
    lines = last_lines(service_of(request).journal.path, count=wanted.count, before=wanted.before, containing=texts)
    return _page(pages_lists.journal_page(wanted, lines))


@routes.get("/_sandbox/pages/behaviour")
async def behaviour(request: Request) -> Response:
    """Faults and switches in force."""
    service = service_of(request)
    return _page(behaviour_page(rules=service.plan.as_list(), switches=service.switches.as_dict()))


@routes.get("/_sandbox/static/{name}")
async def static(name: str) -> Response:
    """The style sheet, the script and the icon of the pages."""
    if name not in _STATIC:
        raise Refused("There is no such file", status=404)
    content = resources.files("logistics_batch.sandbox").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name], headers=_HEADERS)


def _page(content: bytes) -> Response:
    return Response(content, media_type="text/html", headers=_HEADERS)


def _wanted(request: Request) -> Wanted:
    """What the query asks for; a number that is none counts as not given."""
    query = request.query_params
    before = query.get("before", "")
    number = min(int(before), _LARGEST_ID) if before.isascii() and before.isdigit() and len(before) < 30 else None
    wanted = Wanted(text=query.get("find", "").strip()[:_LONGEST_TEXT], state=query.get("state", "")[:_LONGEST_TEXT])
    return replace(wanted, before=number)


def _label_urls(service: Service, rows: list[sqlite3.Row]) -> dict[int, str]:
    expires = int(time.time() + service.switches.link_lifetime_seconds)
    return {
        row["label_id"]: f"/labels/{row['label_id']}.pdf?expires={expires}&signature="
        + signature(service.link_secret, label_id=row["label_id"], expires=expires)
        for row in rows
    }
