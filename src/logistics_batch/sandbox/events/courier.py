"""The delivery of events: every webhook on its own, the events of one order in their order, until taken or given up.

What waits lies in the database: a delivery that was under way when the sandbox died goes out again.
"""

import asyncio
import json
import random
import re
import sqlite3
import ssl
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from urllib.parse import SplitResult, urlsplit

from logistics_batch.sandbox.clock import now_text
from logistics_batch.sandbox.service import Service
from logistics_batch.sandbox.store import StoreChange
from logistics_batch.sandbox.switches import Switches

IDLE_SECONDS = 0.05
AT_ONCE = 16  # deliveries under way to one webhook
_MOST_HEAD_BYTES = 65_536


@dataclass(frozen=True)
class Attempt:
    """How one POST ended: the status of the answer, or the error; elapsed_seconds from the first step to that."""

    elapsed_seconds: float
    answer: str = ""
    error: str = ""

    @property
    def taken(self) -> bool:
        """Whether the receiver said that it has the event."""
        return self.answer.startswith("2")


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
    """Carries the events of one webhook, at most `AT_ONCE` at a time and one of each lane."""

    service: Service
    webhook_id: str
    lanes: set[str] = field(default_factory=set)

    async def send_due(self, tasks: asyncio.TaskGroup) -> None:
        """Start what is due and not under way."""
        free = AT_ONCE - len(self.lanes)
        if free <= 0:
            return
        for row in await self.service.store.read(self._due):
            if len(self.lanes) < AT_ONCE and row["lane"] not in self.lanes:
                self.lanes.add(row["lane"])
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
            self.lanes.discard(row["lane"])
        await self.send_due(tasks)

    def _due(self, connection: sqlite3.Connection) -> list[sqlite3.Row]:
        """What is due, the longest due first: of each lane only the first that waits."""
        return connection.execute(
            "SELECT due.*, webhooks.body AS webhook FROM event_deliveries AS due JOIN webhooks USING (webhook_id)"
            " WHERE due.state = 'waiting' AND due.webhook_id = ? AND due_at <= ? AND active"
            " AND NOT EXISTS (SELECT 1 FROM event_deliveries AS earlier WHERE earlier.state = 'waiting'"
            "  AND earlier.webhook_id = due.webhook_id AND earlier.lane = due.lane"
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
    state = "delivered" if attempt.taken else "given up" if number >= switches.webhook_attempts else "waiting"
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
    jitter = 0.25 * random.Random(f"{switches.event_seed}:{delivery_id}:{attempts}").random()  # noqa: S311
    return float(switches.webhook_first_retry_seconds * 4 ** (attempts - 1) * (1 + jitter))


async def post_event(url: str, *, headers: Mapping[str, str], payload: bytes, timeout_seconds: float) -> Attempt:
    """POST one event, all of it within `timeout_seconds`."""
    started = time.monotonic()
    answer = error = ""
    try:
        async with asyncio.timeout(timeout_seconds):
            answer = await _status_of_post(urlsplit(url), headers, payload)
    except TimeoutError:
        error = f"no answer within {timeout_seconds:g} s"
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as failure:
        error = type(failure).__name__
    return Attempt(round(time.monotonic() - started, 6), answer, error)


async def _status_of_post(target: SplitResult, headers: Mapping[str, str], payload: bytes) -> str:
    secure = ssl.create_default_context() if target.scheme == "https" else None
    if not target.hostname:
        raise ValueError("the URL names no host")
    port = target.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(target.hostname, port, ssl=secure, limit=_MOST_HEAD_BYTES)
    try:
        writer.write(_request(target, headers, payload))
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.transport.abort()
    status = re.match(rb"HTTP/1\.[01] (\d{3})\b", head)
    if status is None:
        raise ValueError("the answer is not HTTP")
    return status[1].decode()


def _request(target: SplitResult, headers: Mapping[str, str], payload: bytes) -> bytes:
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    own = {"Host": target.netloc.rpartition("@")[2], "Content-Type": "application/json"}
    own |= {"Content-Length": str(len(payload)), "Connection": "close"}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (own | dict(headers)).items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + payload
