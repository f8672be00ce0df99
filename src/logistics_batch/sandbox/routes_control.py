"""The strings of the sandbox, under ``/_sandbox/``: look inside, move orders, plan faults. Not part of the service."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request

from logistics_batch.sandbox import events, simulator
from logistics_batch.sandbox.asns import all_asns, amend_asn
from logistics_batch.sandbox.clock import now
from logistics_batch.sandbox.faults import make_plan
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.orders import find_order, item_rows
from logistics_batch.sandbox.routes_orders import created_reply
from logistics_batch.sandbox.service import json_body, service_of
from logistics_batch.sandbox.statuses import change_status
from logistics_batch.sandbox.store import Change

routes = APIRouter(prefix="/_sandbox")


@routes.get("/health")
async def health() -> dict[str, str]:
    """Whether the sandbox is up; needs no key."""
    return {"status": "up"}


@routes.get("/orders")
async def orders(request: Request, reference: str = "", status: str = "") -> list[dict[str, Any]]:
    """Every order as it is stored, or those with this reference or status."""

    def look(connection: sqlite3.Connection) -> list[dict[str, Any]]:
        rows = connection.execute(
            "SELECT * FROM orders WHERE ? IN ('', reference_number) AND ? IN ('', status) ORDER BY order_id",
            (reference, status),
        )
        return [_stored(connection, row) for row in rows]

    return await service_of(request).store.read(look)


@routes.post("/orders/{order_id}/status")
async def set_status(request: Request, order_id: str) -> dict[str, Any]:
    """Set the status of an order: ``{status, remarks}``."""
    body = await json_body(request)
    status = body.get("status")
    if not isinstance(status, str) or not status:
        raise Refused("status is expected")

    def change(change: Change) -> dict[str, Any]:
        order = find_order(change.connection, order_id, by_reference=True)
        change_status(change, order, status, remarks=str(body.get("remarks", "")))
        return _stored(change.connection, find_order(change.connection, order["awb_number"]))

    return await service_of(request).store.write(change)


@routes.post("/advance")
async def advance(request: Request) -> dict[str, Any]:
    """Move orders on: ``{seed, steps}``; without steps to the end of their journeys. Counts of the statuses reached."""
    body = await json_body(request)
    with _said_plainly():
        seed = int(body.get("seed", 0))
        steps = int(body["steps"]) if "steps" in body else None

    def change(change: Change) -> dict[str, int]:
        return simulator.advance_orders(change, seed=seed, steps=steps)

    return {"reached": await service_of(request).store.write(change)}


@routes.get("/asns")
async def asns(request: Request) -> list[dict[str, Any]]:
    """Every ASN."""
    return await service_of(request).store.read(all_asns)


@routes.post("/asns/{asn_id}")
async def amend(request: Request, asn_id: int) -> dict[str, Any]:
    """Set status, dates (also created_date and modified_date) or lines of an ASN."""
    body = await json_body(request)
    await service_of(request).store.write(lambda change: amend_asn(change, asn_id, body))
    return {"id": asn_id}


@routes.post("/receipts")
async def receipts(request: Request) -> dict[str, Any]:
    """The receipts file for the open ASNs: ``{seed, received_on, file}``; `file` is written under the SFTP root."""
    service = service_of(request)
    body = await json_body(request)
    with _said_plainly():
        seed = int(body.get("seed", 0))
        day = date.fromisoformat(body["received_on"]) if "received_on" in body else now().date()
    known = await service.store.read(all_asns)
    lines = simulator.receipts_for([asn for asn in known if asn["status"] in ("New", "In-Progress")], seed=seed)
    text = simulator.receipts_csv(lines, received_on=day)
    if "file" in body:
        _place_under(service.sftp_root, str(body["file"])).write_text(text, encoding="utf-8", newline="")
    odd = [vars(line) for line in lines if line.oddity]
    return {"lines": len(lines), "odd": odd, "csv": text}


@routes.get("/webhooks")
async def webhooks(request: Request) -> list[dict[str, Any]]:
    """Every webhook, with its headers."""
    return await service_of(request).store.read(events.webhooks)


@routes.get("/deliveries")
async def deliveries(request: Request) -> list[dict[str, Any]]:
    """Every event delivery."""
    return await service_of(request).store.read(events.deliveries)


@routes.get("/journal")
async def journal(request: Request, last: int = 100) -> list[dict[str, Any]]:
    """The last lines of the journal."""
    return service_of(request).journal.tail(last)


@routes.get("/faults")
async def faults(request: Request) -> list[dict[str, Any]]:
    """The fault rules in force, with what they have seen and spoiled."""
    return service_of(request).plan.as_list()


@routes.put("/faults")
async def set_faults(request: Request) -> list[dict[str, Any]]:
    """Exchange the fault plan: ``{faults: [rule, …]}``; counting begins anew."""
    service = service_of(request)
    body = await json_body(request)
    with _said_plainly():
        service.plan = make_plan(body)
    return service.plan.as_list()


@routes.get("/switches")
async def switches(request: Request) -> dict[str, Any]:
    """The switches."""
    return service_of(request).switches.as_dict()


@routes.put("/switches")
async def set_switches(request: Request) -> dict[str, Any]:
    """Change some switches."""
    service = service_of(request)
    body = await json_body(request)
    with _said_plainly():
        service.switches = service.switches.changed(body)
    return service.switches.as_dict()


@contextmanager
def _said_plainly() -> Iterator[None]:
    """A value that cannot be read is a 400 with its reason."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise Refused(str(error)) from error


def _stored(connection: sqlite3.Connection, order: sqlite3.Row) -> dict[str, Any]:
    items = [dict(row) | {"body": json.loads(row["body"])} for row in item_rows(connection, order["order_id"]).values()]
    packages = created_reply(connection, order)["child_awb_numbers"]
    return dict(order) | {"body": json.loads(order["body"]), "items": items, "child_awb_numbers": packages}


def _place_under(root: Path | None, name: str) -> Path:
    if root is None:
        raise Refused("the sandbox runs without an SFTP folder")
    path = (root / name.lstrip("/")).resolve()
    if not path.is_relative_to(root.resolve()):
        raise Refused("file is outside of the SFTP folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
