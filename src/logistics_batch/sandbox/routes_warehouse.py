"""The warehouse and its vans over HTTP, under ``/_sandbox/``: orders move, receipts come back."""

from datetime import date
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request

from logistics_batch.sandbox import simulator
from logistics_batch.sandbox.asns import all_asns
from logistics_batch.sandbox.clock import now
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.orders import find_order
from logistics_batch.sandbox.service import json_body, service_of
from logistics_batch.sandbox.statuses import change_status, stored_order
from logistics_batch.sandbox.store import Change

routes = APIRouter(prefix="/_sandbox")


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
        return stored_order(change.connection, find_order(change.connection, order["awb_number"]))

    return await service_of(request).store.write(change)


@routes.post("/advance")
async def advance(request: Request) -> dict[str, Any]:
    """Move orders on: ``{seed, steps}``; without steps to the end of their journeys. Counts of the statuses reached."""
    body = await json_body(request)
    seed = _whole(body, "seed", otherwise=0)
    steps = _whole(body, "steps") if "steps" in body else None

    def change(change: Change) -> dict[str, int]:
        return simulator.advance_orders(change, seed=seed, steps=steps)

    return {"reached": await service_of(request).store.write(change)}


@routes.post("/receipts")
async def receipts(request: Request) -> dict[str, Any]:
    """The receipts file for the open ASNs: ``{seed, received_on, file}``; `file` is written under the SFTP root."""
    service = service_of(request)
    body = await json_body(request)
    seed = _whole(body, "seed", otherwise=0)
    day = _day(body, "received_on")
    known = await service.store.read(all_asns)
    lines = simulator.receipts_for([asn for asn in known if asn["status"] in ("New", "In-Progress")], seed=seed)
    text = simulator.receipts_csv(lines, received_on=day)
    if "file" in body:
        _place_under(service.sftp_root, str(body["file"])).write_text(text, encoding="utf-8", newline="")
    odd = [vars(line) for line in lines if line.oddity]
    return {"lines": len(lines), "odd": odd, "csv": text}


def _whole(body: dict[str, Any], name: str, *, otherwise: int | None = None) -> int:
    value = body.get(name, otherwise)
    if type(value) is not int or (name == "steps" and value < 0):
        raise Refused(f"Malformed value of {name}: a whole number is expected")
    return value


def _day(body: dict[str, Any], name: str) -> date:
    """The day that `body` names, today without one."""
    try:
        return date.fromisoformat(body[name]) if name in body else now().date()
    except (TypeError, ValueError):
        raise Refused(f"Malformed value of {name}: a date of the form YYYY-MM-DD is expected") from None


def _place_under(root: Path | None, name: str) -> Path:
    if root is None:
        raise Refused("the sandbox runs without an SFTP folder")
    path = (root / name.lstrip("/")).resolve()
    if not path.is_relative_to(root.resolve()):
        raise Refused("file is outside of the SFTP folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
