"""What a request does to the database, by endpoint: at once, or later while the service has said yes already.

A command has two steps: `prepare` gives what is new its numbers, so that it can be answered; `perform` judges and
stores. A late command (switch ``effect_delay_seconds``, fault ``late_effect``) is tried and undone for its answer, kept
in the table ``late_acts``, and performed when its time has come, also after a restart; what is not allowed by then is
lost, as the journal tells.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from logistics_batch.sandbox.asns.stored import create_asn, take_asn_id, update_asn
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.orders.new_orders import number_order, store_order
from logistics_batch.sandbox.orders.stored import (
    CANCELLED,
    Move,
    add_items,
    changed_reply,
    created_reply,
    delete_items,
    live_order,
    move_order,
    must_be_cancellable,
    order_in_path,
    update_order,
)
from logistics_batch.sandbox.service import UNEXPECTED, Service, request_number, service_of
from logistics_batch.sandbox.store import StoreChange
from logistics_batch.sandbox.switches import Switches

LOOK_SECONDS = 0.02


@dataclass(frozen=True)
class Command:
    """The two steps of one endpoint; what was prepared is JSON."""

    perform: Callable[[StoreChange, Body, Switches], Any]
    prepare: Callable[[StoreChange, Body], Body] = lambda _change, given: given


async def perform(request: Request, endpoint: str, given: Body) -> Any:
    """Do what was asked and return the message of the answer; Refused: it is not allowed."""
    service, number = service_of(request), request_number(request)
    switches = service.switches
    delay_seconds = getattr(request.state, "effect_delay_seconds", switches.effect_delay_seconds)
    if delay_seconds > 0:
        due_at = time.time() + delay_seconds
        return await service.store.write(
            lambda change: _put_off(change, endpoint, given, due_at, switches), request=number
        )
    one = COMMANDS[endpoint]
    return await service.store.write(
        lambda change: one.perform(change, one.prepare(change, given), switches), request=number
    )


async def perform_late_commands(service: Service) -> None:
    """Perform late commands when they are due, until cancelled."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        for row in await service.store.read(_due):
            await _perform_late(service, row)


async def _perform_late(service: Service, row: sqlite3.Row) -> None:
    def forget(change: StoreChange) -> None:
        change.connection.execute("DELETE FROM late_acts WHERE late_act_id = ?", (row["late_act_id"],))

    def change(change: StoreChange) -> None:
        forget(change)
        COMMANDS[row["endpoint"]].perform(change, json.loads(row["content"]), service.switches)

    try:
        await service.store.write(change, request=row["request"])
    except Refused as refusal:
        await service.journal.append("lost", request=row["request"], endpoint=row["endpoint"], reason=refusal.message)
        await service.store.write(forget)


def _put_off(change: StoreChange, endpoint: str, given: Body, due_at: float, switches: Switches) -> Any:
    late = COMMANDS[endpoint]
    prepared = late.prepare(change, given)
    answer = change.rehearse(lambda trial: late.perform(trial, prepared, switches))
    change.connection.execute(
        "INSERT INTO late_acts (due_at, request, endpoint, content) VALUES (?, ?, ?, ?)",
        (due_at, change.request, endpoint, json.dumps(prepared, ensure_ascii=False)),
    )
    return answer


def _due(connection: sqlite3.Connection) -> list[sqlite3.Row]:
    rows = connection.execute("SELECT * FROM late_acts WHERE due_at <= ? ORDER BY due_at, late_act_id", (time.time(),))
    return rows.fetchall()


def _create_order(change: StoreChange, numbered: Body, switches: Switches) -> Body:
    reference = numbered["body"]["reference_number"]
    if live_order(change.connection, reference) is None or switches.duplicate_reference == "refuse":
        store_order(change, numbered)
    elif switches.duplicate_reference == "error":
        raise Refused(UNEXPECTED, status=500)
    return created_reply(change.connection, live_order(change.connection, reference))


def _update_order(change: StoreChange, given: Body, switches: Switches) -> Body:
    order = order_in_path(change.connection, given["order_id"], reading=switches.order_id_reading, method="PUT")
    return changed_reply(change.connection, update_order(change, order, given["body"]))


def _add_items(change: StoreChange, given: Body, _switches: Switches) -> Body:
    order = order_in_path(change.connection, given["order_id"])
    add_items(change, order, given["body"]["item_details"])
    return changed_reply(change.connection, order)


def _delete_items(change: StoreChange, given: Body, _switches: Switches) -> str:
    order = order_in_path(change.connection, given["order_id"])
    delete_items(change, order, given["body"]["item_list"])
    return f"Items deleted for AWB Number : {order['awb_number']}"


def _cancel(change: StoreChange, given: Body, _switches: Switches) -> str:
    order = order_in_path(change.connection, given["order_id"])
    must_be_cancellable(order)
    move_order(change, order, Move(CANCELLED))
    return "Order Cancelled Successfully"


def _number_asn(change: StoreChange, given: Body) -> Body:
    return {"asn_id": take_asn_id(change), "body": given}


def _create_asn(change: StoreChange, content: Body, switches: Switches) -> Body:
    return create_asn(change, content["asn_id"], content["body"], switches)


COMMANDS = {
    "order.create": Command(_create_order, number_order),
    "order.update": Command(_update_order),
    "order.add_items": Command(_add_items),
    "order.delete_items": Command(_delete_items),
    "order.cancel": Command(_cancel),
    "asn.create": Command(_create_asn, _number_asn),
    "asn.update": Command(update_asn),
}
