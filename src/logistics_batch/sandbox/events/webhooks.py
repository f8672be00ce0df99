"""Webhooks over HTTP and in the database, and the queue and log of their events (API §4.11, §4.12, §6)."""

import json
import sqlite3
import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import Webhook, WebhookUpdate
from logistics_batch.sandbox.contract.document import WEBHOOKS, ContractRoute, documented
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.contract.replies import Passed
from logistics_batch.sandbox.service import passed, request_number, service_of
from logistics_batch.sandbox.store import StoreChange

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
