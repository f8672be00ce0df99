"""The delivery of events: every webhook on its own, the events of one order in their order, until taken or given up.

What waits lies in the database: a delivery that was under way when the sandbox died goes out again.

Webhooks over HTTP and in the database, and the queue and log of their events (API §4.11, §4.12, §6).
"""

import asyncio
import json
import random
import sqlite3
import ssl
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache

import httpx
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox.clock import now_text
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import Webhook, WebhookUpdate
from logistics_batch.sandbox.contract.document import WEBHOOKS, ContractRoute, documented
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.contract.replies import Passed
from logistics_batch.sandbox.service import Service, passed, request_number, service_of
from logistics_batch.sandbox.store import StoreChange
from logistics_batch.sandbox.switches import Switches

IDLE_SECONDS = 0.05
AT_ONCE = 16  # deliveries under way to one webhook


@dataclass(frozen=True)
class Attempt:
    """How one POST ended: the status of the answer, or the error; elapsed_seconds from the first step to that."""

    elapsed_seconds: float
    answer: str = ""
    error: str = ""


async def deliver_for_ever(service: Service) -> None:
    """Send due events to every active webhook until cancelled; a slow or dead receiver holds up nobody else."""
    couriers: dict[str, Courier] = {}
    async with asyncio.TaskGroup() as tasks:
        while True:
            for webhook_id in await service.store.read(_busy_webhooks):
                courier = couriers.setdefault(webhook_id, Courier(service, webhook_id))
                await courier.send_due(tasks)
            await asyncio.sleep(IDLE_SECONDS)


@dataclass
class Courier:
    """Carries the events of one webhook, at most `AT_ONCE` at a time and one of each order."""

    service: Service
    webhook_id: str
    orders: set[str] = field(default_factory=set)

    async def send_due(self, tasks: asyncio.TaskGroup) -> None:
        """Start what is due and not under way."""
        free = AT_ONCE - len(self.orders)
        if free <= 0:
            return
        for row in await self.service.store.read(self._due):
            if len(self.orders) < AT_ONCE and row["awb_number"] not in self.orders:
                self.orders.add(row["awb_number"])
                tasks.create_task(self._carry(row, tasks))

    async def _carry(self, row: sqlite3.Row, tasks: asyncio.TaskGroup) -> None:
        webhook = json.loads(row["webhook"])
        try:
            at = now_text()
            attempt = await post_event(
                webhook["callbackUrl"],
                headers=webhook.get("headers", {}),
                payload=row["payload"].encode(),
                timeout_seconds=self.service.switches.webhook_timeout_seconds,
            )
            switches = self.service.switches
            await self.service.store.write(lambda change: _record(change, row, attempt, at=at, switches=switches))
        finally:
            self.orders.discard(row["awb_number"])
        await self.send_due(tasks)

    def _due(self, connection: sqlite3.Connection) -> list[sqlite3.Row]:
        """What is due, the longest due first: of each order only the first that waits."""
        return connection.execute(
            "SELECT due.*, webhooks.body AS webhook FROM event_deliveries AS due JOIN webhooks USING (webhook_id)"
            " WHERE due.state = 'waiting' AND due.webhook_id = ? AND due_at <= ? AND active"
            " AND NOT EXISTS (SELECT 1 FROM event_deliveries AS earlier WHERE earlier.state = 'waiting'"
            "  AND earlier.webhook_id = due.webhook_id AND earlier.awb_number = due.awb_number"
            "  AND earlier.delivery_id < due.delivery_id)"
            " ORDER BY due_at, due.delivery_id LIMIT ?",
            (self.webhook_id, time.time(), 2 * AT_ONCE),
        ).fetchall()


def _busy_webhooks(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT webhook_id FROM webhooks WHERE active AND EXISTS (SELECT 1 FROM event_deliveries AS waiting"
        " WHERE waiting.webhook_id = webhooks.webhook_id AND state = 'waiting')"
    )
    return [row["webhook_id"] for row in rows]


def _record(change: StoreChange, row: sqlite3.Row, attempt: Attempt, *, at: str, switches: Switches) -> None:
    """Log the attempt, and settle the delivery or put it off."""
    delivery_id, number = row["delivery_id"], row["attempts"] + 1
    is_taken = attempt.answer.startswith("2")
    state = "delivered" if is_taken else "given up" if number >= switches.webhook_attempts else "waiting"
    due_at = time.time() + pause_seconds(delivery_id, number, switches=switches)
    change.connection.execute(
        "UPDATE event_deliveries SET attempts = ?, state = ?, due_at = ?, log = json_insert(log, '$[#]', json(?))"
        " WHERE delivery_id = ?",
        (number, state, due_at, json.dumps({"number": number, "at": at} | asdict(attempt)), delivery_id),
    )
    if state != "waiting":
        effect = "event.delivered" if state == "delivered" else "event.given_up"
        change.effect(effect, delivery_id=delivery_id, attempts=number)


def pause_seconds(delivery_id: int, attempts: int, *, switches: Switches) -> float:
    """How long to wait after the n-th failed attempt: four times the last pause, and up to a quarter more."""
    jitter = 0.25 * random.Random(f"{delivery_id}:{attempts}").random()  # noqa: S311
    return float(switches.webhook_first_retry_seconds * 4 ** (attempts - 1) * (1 + jitter))


async def post_event(url: str, *, headers: Mapping[str, str], payload: bytes, timeout_seconds: float) -> Attempt:
    """POST one event, all of it within `timeout_seconds`; redirects are not followed."""
    started = time.monotonic()
    answer = error = ""
    named = {"Content-Type": "application/json"} | dict(headers)
    try:
        sent = [(name.encode(), value.strip().encode("latin-1")) for name, value in named.items()]
        async with (
            asyncio.timeout(timeout_seconds),
            httpx.AsyncClient(verify=_trusted(), trust_env=False, timeout=None) as client,  # noqa: S113
            client.stream("POST", url, content=payload, headers=sent) as reply,
        ):
            answer = str(reply.status_code)
    except TimeoutError:
        error = f"no answer within {timeout_seconds:g} s"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as failure:
        error = type(failure).__name__
    return Attempt(round(time.monotonic() - started, 6), answer, error)


@cache
def _trusted() -> ssl.SSLContext:
    """Of the system; made once, for that takes longer than to send an event."""
    return ssl.create_default_context()


UNKNOWN_WEBHOOK = "Webhook not found"
HIDDEN = "[hidden]"
_UPDATE = {"operationId": "webhook.update", "requestBody": "$request.body"}

routes = APIRouter(route_class=ContractRoute)


@routes.post(
    "/webhooks/subscribe",
    **documented("webhook.subscribe", "4.11", Passed[str], tag=WEBHOOKS, links={"update": _UPDATE}),
)
async def create(request: Request, _webhook: Webhook) -> JSONResponse:
    """Subscribe to order status updates."""
    body = await request.json()
    await service_of(request).store.write(lambda change: subscribe(change, body), request=request_number(request))
    return passed(request, "Webhook configured successfully")


@routes.put("/webhooks/update", **documented("webhook.update", "4.12", Passed[str], tag=WEBHOOKS))
async def update(request: Request, _webhook: WebhookUpdate) -> JSONResponse:
    """Change a subscription, or switch it off."""
    body = await request.json()
    await service_of(request).store.write(lambda change: update_webhook(change, body), request=request_number(request))
    return passed(request, "Webhook updated successfully")


def subscribe(change: StoreChange, body: Body) -> None:
    """Store a webhook; the same id again replaces it."""
    change.connection.execute(
        "INSERT OR REPLACE INTO webhooks (webhook_id, body, active) VALUES (?, ?, 1)",
        (str(body["webhookId"]), json.dumps(body, ensure_ascii=False)),
    )
    change.effect("webhook.subscribed", webhook_id=body["webhookId"])


def update_webhook(change: StoreChange, body: Body) -> None:
    """Change callback URL, headers, verification or active state of a webhook; what waits for it waits until it is."""
    webhook_id = str(body["webhookId"])
    row = change.connection.execute("SELECT * FROM webhooks WHERE webhook_id = ?", (webhook_id,)).fetchone()
    if row is None:
        raise Refused(UNKNOWN_WEBHOOK)
    merged = json.loads(row["body"]) | body
    active = bool(merged.pop("is_active", row["active"]))
    change.connection.execute(
        "UPDATE webhooks SET body = ?, active = ? WHERE webhook_id = ?",
        (json.dumps(merged, ensure_ascii=False), active, webhook_id),
    )
    change.effect("webhook.updated", webhook_id=body["webhookId"], active=active)


def queue_event(change: StoreChange, awb_number: str, payload: Body) -> None:
    """Queue an event for every active webhook."""
    change.connection.execute(
        "INSERT INTO event_deliveries (webhook_id, awb_number, payload, queued_at, due_at)"
        " SELECT webhook_id, ?, ?, ?, ? FROM webhooks WHERE active ORDER BY webhook_id",
        (awb_number, json.dumps(payload, ensure_ascii=False), change.at, time.time()),
    )


def stored_webhooks(connection: sqlite3.Connection) -> list[Body]:
    """Every webhook with its active state; the values of its headers are secrets and hidden."""
    rows = connection.execute("SELECT * FROM webhooks ORDER BY CAST(webhook_id AS INTEGER), webhook_id")
    return [_shown(json.loads(row["body"])) | {"is_active": bool(row["active"])} for row in rows]


def stored_deliveries(connection: sqlite3.Connection) -> list[Body]:
    """Every delivery: payload, state (waiting, delivered, given up) and each attempt."""
    rows = connection.execute("SELECT * FROM event_deliveries ORDER BY delivery_id")
    return [dict(row) | {name: json.loads(row[name]) for name in ("payload", "log")} for row in rows]


def _shown(body: Body) -> Body:
    return body | {"headers": dict.fromkeys(body.get("headers", {}), HIDDEN)}
