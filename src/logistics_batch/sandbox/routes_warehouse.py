"""The warehouse and its vans over HTTP, under ``/_sandbox/``: orders move, receipts come back."""

import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from logistics_batch.sandbox import simulator
from logistics_batch.sandbox.clock import now
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.orders import CANCELLED, DUPLICATE, find_order, item_rows, live_order
from logistics_batch.sandbox.receipts_day import WantedDay, receive
from logistics_batch.sandbox.receipts_plan import read_plan
from logistics_batch.sandbox.service import json_body, service_of
from logistics_batch.sandbox.statuses import Goods, Move, history_of, move_order, quantity_of, stored_order
from logistics_batch.sandbox.store import Change

routes = APIRouter(prefix="/_sandbox")


@routes.post("/orders/{order_id}/status")
async def set_status(request: Request, order_id: str) -> dict[str, Any]:
    """Set the status of an order by hand: ``{status, remarks, courier_comment, items}``.

    `items` says what was picked and delivered: ``{item id: {picked, delivered}}``; without it the status decides.
    """
    body = await json_body(request)
    status = body.get("status")
    if not isinstance(status, str) or not status:
        raise Refused("status is expected")

    def change(change: Change) -> dict[str, Any]:
        order = find_order(change.connection, order_id, by_reference=True)
        holder = live_order(change.connection, order["reference_number"])
        if status != CANCELLED and holder is not None and holder["order_id"] != order["order_id"]:
            raise Refused(DUPLICATE)  # its reference belongs to another order by now
        goods = _goods(body["items"], item_rows(change.connection, order["order_id"])) if "items" in body else None
        words = {name: str(body.get(name, "")) for name in ("remarks", "courier_comment")}
        move_order(change, order, Move(status, goods=goods, **words))
        return stored_order(change.connection, find_order(change.connection, order["awb_number"]))

    return await service_of(request).store.write(change)


@routes.get("/orders/{order_id}/history")
async def history(request: Request, order_id: str) -> list[dict[str, Any]]:
    """Every status that an order has had, with time, place, remarks, courier's comment and cash collected."""

    def look(connection: sqlite3.Connection) -> list[dict[str, Any]]:
        return history_of(connection, find_order(connection, order_id, by_reference=True))

    return await service_of(request).store.read(look)


@routes.post("/advance")
async def advance(request: Request) -> dict[str, Any]:
    """Move orders on: ``{seed, steps, share, references}``; without steps to their ends. Counts of statuses reached."""
    body = await json_body(request)
    drive = simulator.Drive(
        seed=_whole(body, "seed", otherwise=0),
        steps=_whole(body, "steps") if "steps" in body else None,
        share=_share(body),
        references=_references(body),
    )
    return {"reached": await simulator.advance(service_of(request), drive)}


@routes.post("/receipts")
async def receipts(request: Request) -> Response:
    """The receipts file for the open ASNs: ``{seed, received_on, plant, move_asns, file, format}``.

    `plant` names oddities and their shares; without it the day is an ordinary one. `file` is written under the SFTP
    root, as CSV or (`format`) xlsx. The answer's `odd` says what was planted where.
    """
    service = service_of(request)
    body = await json_body(request)
    wanted = WantedDay(
        received_on=_day(body, "received_on"),
        seed=_whole(body, "seed", otherwise=0),
        plan=read_plan(body["plant"]) if "plant" in body else None,
        moves=body.get("move_asns") is True,
        place=_place_under(service.sftp_root, str(body["file"])) if "file" in body else None,
        form=_form(body),
    )
    return Response(await receive(service, wanted), media_type="application/json")


def _whole(body: dict[str, Any], name: str, *, otherwise: int | None = None) -> int:
    value = body.get(name, otherwise)
    if type(value) is not int or (name == "steps" and value < 0):
        raise Refused(f"Malformed value of {name}: a whole number is expected")
    return value


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


def _share(body: dict[str, Any]) -> float:
    share = body.get("share", 1.0)
    if type(share) not in (int, float) or not 0 <= share <= 1:
        raise Refused("Malformed value of share: a number from 0 to 1 is expected")
    return float(share)


def _references(body: dict[str, Any]) -> tuple[str, ...]:
    references = body.get("references", [])
    if not isinstance(references, list) or not all(isinstance(one, str) for one in references):
        raise Refused("Malformed value of references: an array of strings is expected")
    if "references" in body and not references:
        raise Refused("Malformed value of references: at least one is expected")
    return tuple(dict.fromkeys(references))


def _form(body: dict[str, Any]) -> str:
    form = body.get("format", "csv")
    if form not in ("csv", "xlsx"):
        raise Refused("Malformed value of format: csv or xlsx is expected")
    return str(form)


def _day(body: dict[str, Any], name: str) -> date:
    """The day that `body` names, today without one."""
    try:
        return date.fromisoformat(body[name]) if name in body else now().date()
    except (TypeError, ValueError):
        raise Refused(f"Malformed value of {name}: a date of the form YYYY-MM-DD is expected") from None


def _place_under(root: Path | None, name: str) -> Path:
    if root is None:
        raise Refused("the sandbox runs without an SFTP folder")
    try:
        path = (root / name.lstrip("/")).resolve()
        if not path.is_relative_to(root.resolve()):
            raise Refused("file is outside of the SFTP folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        is_place = not path.is_dir()
    except (OSError, ValueError):
        is_place = False
    if not is_place:
        raise Refused("Malformed value of file: the name of a file in the SFTP folder is expected")
    return path
