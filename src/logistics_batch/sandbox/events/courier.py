"""The delivery of events: every webhook on its own, the events of one order in their order, until taken or given up.

What waits lies in the database: a delivery that was under way when the sandbox died goes out again.
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

from logistics_batch.sandbox.clock import now_text
from logistics_batch.sandbox.service import Service
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
