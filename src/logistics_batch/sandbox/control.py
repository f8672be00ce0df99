"""The strings of the sandbox, under ``/_sandbox/``: look inside, plan faults. Not part of the service."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox.asns.stored import amend_asn, delete_asn, records_of, stored_asns
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.events import stored_deliveries, stored_webhooks
from logistics_batch.sandbox.faults.plan import make_plan
from logistics_batch.sandbox.orders.stored import (
    CANCELLED,
    DUPLICATE,
    Goods,
    Move,
    find_order,
    item_rows,
    live_order,
    move_order,
    quantity_of,
    stored_order,
)
from logistics_batch.sandbox.service import json_body, service_of
from logistics_batch.sandbox.store import StoreChange

_LARGEST_ID = 2**63 - 1  # of the database

routes = APIRouter(prefix="/_sandbox")


@routes.get("/health")
async def health() -> dict[str, str]:
    """Whether the sandbox is up; needs no key."""
    return {"status": "up"}


@routes.get("/figures")
async def figures(request: Request) -> dict[str, int]:
    """Counts since the start: syncs of the journal, commits of the database, and the changes in these."""
    service = service_of(request)
    return {"journal_syncs": service.journal.syncs, "commits": service.store.commits, "changes": service.store.changes}


@routes.get("/orders")
async def orders(request: Request, reference: str = "", status: str = "") -> list[dict[str, Any]]:
    """Every order as it is stored, or those with this reference or status."""

    def look(connection: sqlite3.Connection) -> list[dict[str, Any]]:
        rows = connection.execute(
            "SELECT * FROM orders WHERE ? IN ('', reference_number) AND ? IN ('', status) ORDER BY order_id",
            (reference, status),
        )
        return [stored_order(connection, row) for row in rows]

    return await service_of(request).store.read(look)


@routes.post("/orders/{order_id}/status")
async def set_status(request: Request, order_id: str) -> dict[str, Any]:
    """Set the status of an order by hand: ``{status, remarks, courier_comment, items}``.

    `items` says what was picked and delivered: ``{item id: {picked, delivered}}``; without it the status decides.
    """
    body = await json_body(request)
    status = body.get("status")
    if not isinstance(status, str) or not status:
        raise Refused("status is expected")

    def change(change: StoreChange) -> dict[str, Any]:
        order = find_order(change.connection, order_id, by_reference=True)
        holder = live_order(change.connection, order["reference_number"])
        if status != CANCELLED and holder is not None and holder["order_id"] != order["order_id"]:
            raise Refused(DUPLICATE)  # its reference belongs to another order by now
        goods = _goods(body["items"], item_rows(change.connection, order["order_id"])) if "items" in body else None
        words = {name: str(body.get(name, "")) for name in ("remarks", "courier_comment")}
        move_order(change, order, Move(status, goods=goods, **words))
        return stored_order(change.connection, find_order(change.connection, order["awb_number"]))

    return await service_of(request).store.write(change)


@routes.get("/asns")
async def asns(request: Request) -> JSONResponse:
    """Every ASN."""
    rows = await service_of(request).store.read(stored_asns)
    return JSONResponse(await asyncio.to_thread(records_of, rows))


@routes.post("/asns/{asn_id}")
async def amend(request: Request, asn_id: Annotated[int, Path(le=_LARGEST_ID)]) -> dict[str, Any]:
    """Set status, dates (also created_date and modified_date) or lines of an ASN."""
    body = await json_body(request)
    await service_of(request).store.write(lambda change: amend_asn(change, asn_id, body))
    return {"id": asn_id}


@routes.delete("/asns/{asn_id}")
async def delete(request: Request, asn_id: Annotated[int, Path(le=_LARGEST_ID)]) -> dict[str, Any]:
    """Delete an ASN, as the warehouse's own people would."""
    await service_of(request).store.write(lambda change: delete_asn(change, asn_id))
    return {"id": asn_id}


@routes.get("/webhooks")
async def webhooks(request: Request) -> list[dict[str, Any]]:
    """Every webhook, with its headers."""
    return await service_of(request).store.read(stored_webhooks)


@routes.get("/deliveries")
async def deliveries(request: Request) -> list[dict[str, Any]]:
    """Every event delivery."""
    return await service_of(request).store.read(stored_deliveries)


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
    return service_of(request).switches.model_dump()


@routes.put("/switches")
async def set_switches(request: Request) -> dict[str, Any]:
    """Change some switches."""
    service = service_of(request)
    body = await json_body(request)
    with _said_plainly():
        service.switches = service.switches.changed(body)
    return service.switches.model_dump()


def _goods(given: Any, items: dict[str, sqlite3.Row]) -> dict[str, Goods]:
    """Quantities by item id; delivered may not be more than picked, nor picked more than ordered."""
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        raise Refused("Malformed value of items: an object of {picked, delivered} by item id is expected")
    goods = {}
    for item_id, counts in given.items():
        if item_id not in items:
            raise Refused(f"Items do not belong to the order: {item_id}")
        picked, delivered = counts.get("picked", 0), counts.get("delivered", 0)
        numbers = all(type(one) in (int, float) for one in (picked, delivered))
        if not numbers or not 0 <= delivered <= picked <= quantity_of(items[item_id]):
            raise Refused(f"Malformed value of items: 0 <= delivered <= picked <= ordered is expected of {item_id}")
        goods[item_id] = Goods(picked, delivered)
    return goods


@contextmanager
def _said_plainly() -> Iterator[None]:
    """A value that cannot be read is a 400 with its reason."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise Refused(str(error)) from error
