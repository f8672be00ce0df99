"""The page for people under ``/_sandbox/``: what is in the sandbox, the newest first. It only reads and needs no key.

The sandbox listens on this machine alone. The page answers only when it is called by that name, so that a page from
elsewhere, whose name was made to point here, cannot read it.
"""

import json
import re
import sqlite3
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from string import Template
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, Response

from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.service import service_of
from logistics_batch.sandbox.switches import Switches

PAGE, OPENAPI = "/_sandbox/", "/openapi.json"
NEWEST, LONGEST_TEXT = 25, 120
STYLE = (
    "body{margin:2rem;font:15px/1.5 system-ui,sans-serif;color-scheme:light dark}"
    "div{overflow-x:auto}table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;"
    "vertical-align:top;border-bottom:1px solid #8885}bdi{overflow-wrap:anywhere}caption{text-align:left;"
    "font-weight:600;padding-top:1.5rem}"
)
_STYLE_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_FRAME = Template(
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
    'content="width=device-width, initial-scale=1"><title>Sandbox</title><style>$style</style></head><body>'
    "<h1>Sandbox</h1><p>The newest $newest of each. Times are +05:30. The calls it answers: "
    '<a href="/openapi.json">OpenAPI</a>.</p>$tables</body></html>'
)
# Caption of a table, and what it shows, the newest first; the names of its columns are the heads.
_TABLES = {
    "Orders": (
        "SELECT order_id, awb_number, reference_number, status, json_extract(body, '$.customer_name') AS name,"
        " delivery_hub, substr(modified_at, 1, 19) AS changed FROM orders ORDER BY order_id DESC LIMIT ?"
    ),
    "ASNs": (
        "SELECT asn_id, invoice_number, COALESCE(json_extract(body, '$.supplier_name'), json_extract(body,"
        " '$.supplier')) AS supplier, COALESCE(json_extract(body, '$.site_name'), json_extract(body, '$.site'))"
        " AS site, json_extract(body, '$.status') AS status, json_array_length(body, '$.sku_lines') AS lines,"
        " substr(modified_at, 1, 19) AS changed FROM asns ORDER BY asn_id DESC LIMIT ?"
    ),
    "Labels": (
        "SELECT label_id, json_extract(pages, '$[0].awb_number') AS awb_number, json_array_length(pages) AS pages,"
        " substr(created_at, 1, 19) AS made FROM labels ORDER BY label_id DESC LIMIT ?"
    ),
    "Events": (
        "SELECT delivery_id, awb_number, json_extract(payload, '$.OrderStatus') AS order_status, webhook_id, state,"
        " attempts, json_extract(log, '$[#-1].answer') AS last_answer, substr(queued_at, 1, 19) AS queued"
        " FROM event_deliveries ORDER BY delivery_id DESC LIMIT ?"
    ),
}
_COUNTS = (
    "SELECT 'Orders', status, COUNT(*) FROM orders GROUP BY 2 UNION ALL"
    " SELECT 'ASNs', json_extract(body, '$.status'), COUNT(*) FROM asns GROUP BY 2 UNION ALL"
    " SELECT 'Events', state, COUNT(*) FROM event_deliveries GROUP BY 2"
)


def needs_no_key(method: str, path: str) -> bool:
    """Whether a request reads what is open to everybody on this machine."""
    return method in ("GET", "HEAD") and path in (PAGE, OPENAPI, "/_sandbox/health")


def _called_by_its_name(request: Request) -> None:
    if not re.fullmatch(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", request.headers.get("host", ""), re.IGNORECASE):
        raise Refused("This page is for http://127.0.0.1 and http://localhost", status=403)


routes = APIRouter(dependencies=[Depends(_called_by_its_name)])


@routes.get(OPENAPI)
async def openapi(request: Request) -> Response:
    """The OpenAPI document of the service."""
    return JSONResponse(request.app.openapi(), headers=_HEADERS)


@routes.get(PAGE)
async def page(request: Request) -> Response:
    """What there is, at a glance."""
    service = service_of(request)
    defaults = Switches().model_dump()
    changed = [(name, value) for name, value in service.switches.model_dump().items() if value != defaults[name]]
    rules = [(rule["kind"], _short(rule), rule["seen"], rule["fired"]) for rule in service.plan.as_list()]
    lines = [
        (line["seq"], line["at"][:19], line["event"], line.get("endpoint") or line.get("effect") or "", _short(line))
        for line in reversed(service.journal.tail(NEWEST))
    ]
    tables = [
        *await service.store.read(_stored),
        _table("Switches off their defaults", ("Switch", "Value"), changed),
        _table("Fault rules", ("Kind", "Rule", "Seen", "Struck"), rules),
        _table("Journal", ("Seq", "Time", "Event", "What", "Line"), lines),
    ]
    content = _FRAME.substitute(style=STYLE, newest=NEWEST, tables="".join(tables))
    return Response(content.encode("utf-8", "replace"), media_type="text/html", headers=_HEADERS)


def _stored(connection: sqlite3.Connection) -> list[str]:
    shown = [_table("Counts", ("What", "State", "Number"), connection.execute(_COUNTS))]
    for caption, select in _TABLES.items():
        found = connection.execute(select, (NEWEST,))
        shown.append(_table(caption, [column[0] for column in found.description], found))
    return shown


def _table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<div><table><caption>{caption}</caption><tr>{head}</tr>{body}</table></div>" if body else ""


def _cell(value: object) -> str:
    """What somebody else wrote stays text, keeps its own direction, and is cut where it is too long."""
    text = "" if value is None else str(value)
    return f"<bdi>{escape(text[:LONGEST_TEXT])}{'…' if len(text) > LONGEST_TEXT else ''}</bdi>"


def _short(record: dict[str, Any]) -> str:
    left_out = ("seq", "at", "event", "kind", "seen", "fired")
    return json.dumps({name: value for name, value in record.items() if name not in left_out}, ensure_ascii=False)
