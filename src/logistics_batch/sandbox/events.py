"""Webhooks, and the delivery of their events (API §4.11, §4.12, §6)."""

import asyncio
import http.client
import json
import sqlite3
import time
from typing import Any
from urllib.parse import urlsplit

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.forms import Refused
from logistics_batch.sandbox.service import Service
from logistics_batch.sandbox.store import Change

UNKNOWN_WEBHOOK = "Webhook not found"
TIMEOUT_SECONDS = 5.0
IDLE_SECONDS = 0.05


def subscribe(change: Change, body: Body) -> None:
    """Store a webhook; the same id again replaces it."""
    change.connection.execute(
        "INSERT OR REPLACE INTO webhooks (webhook_id, body, active) VALUES (?, ?, 1)",
        (str(body["webhookId"]), json.dumps(body, ensure_ascii=False)),
    )
    change.effect("webhook.subscribed", webhook_id=body["webhookId"])


def update_webhook(change: Change, body: Body) -> None:
    """Change callback URL, headers, verification or active state of a webhook."""
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


def webhooks(connection: sqlite3.Connection) -> list[Body]:
    """Every webhook with its active state."""
    rows = connection.execute("SELECT * FROM webhooks ORDER BY webhook_id")
    return [json.loads(row["body"]) | {"is_active": bool(row["active"])} for row in rows]


def deliveries(connection: sqlite3.Connection) -> list[Body]:
    """Every delivery: its payload, attempts, state (waiting, delivered, given up) and last answer."""
    rows = connection.execute("SELECT * FROM deliveries ORDER BY delivery_id")
    return [dict(row) | {"payload": json.loads(row["payload"])} for row in rows]


async def deliver_for_ever(service: Service) -> None:
    """Send due events, the oldest first, until cancelled."""
    while True:
        delivery = await service.store.read(_next_due)
        if delivery is None:
            await asyncio.sleep(IDLE_SECONDS)
            continue
        webhook = json.loads(delivery["webhook"])
        answer = await asyncio.to_thread(
            post_event, webhook["callbackUrl"], headers=webhook.get("headers", {}), payload=delivery["payload"]
        )
        await _record(service, delivery, answer)


def post_event(url: str, *, headers: dict[str, str], payload: str) -> str:
    """POST one event; the status of the answer as text, or what went wrong. Redirects are not followed."""
    try:
        target = urlsplit(url)
        kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        connection = kind(target.hostname or "", target.port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("POST", path, payload.encode(), {"Content-Type": "application/json", **headers})
            return str(connection.getresponse().status)
        finally:
            connection.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return type(error).__name__


def _next_due(connection: sqlite3.Connection) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        "SELECT deliveries.*, webhooks.body AS webhook FROM deliveries JOIN webhooks USING (webhook_id)"
        " WHERE state = 'waiting' AND due_at <= ? ORDER BY due_at, delivery_id LIMIT 1",
        (time.time(),),
    ).fetchone()
    return row


async def _record(service: Service, delivery: sqlite3.Row, answer: str) -> None:
    attempts = delivery["attempts"] + 1
    delivered = answer.startswith("2") and answer.isdigit()
    given_up = attempts >= service.switches.webhook_attempts
    pause_seconds = service.switches.webhook_first_retry_seconds * 4 ** (attempts - 1)

    def change(change: Change) -> None:
        change.connection.execute(
            "UPDATE deliveries SET attempts = ?, state = ?, due_at = ?, last_answer = ? WHERE delivery_id = ?",
            (
                attempts,
                "delivered" if delivered else "given up" if given_up else "waiting",
                time.time() + pause_seconds,
                answer,
                delivery["delivery_id"],
            ),
        )
        if delivered or given_up:
            details: dict[str, Any] = {"delivery_id": delivery["delivery_id"], "attempts": attempts}
            change.effect("event.delivered" if delivered else "event.given_up", **details)

    await service.store.write(change)
