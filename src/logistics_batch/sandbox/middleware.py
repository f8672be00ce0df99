"""What every request goes through before the service: the key, the journal, and the faults of the plan."""

import asyncio
import hmac
import json
import logging
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logistics_batch.sandbox.endpoints import CONTROL, LABEL_CREATE, LABEL_DOWNLOAD, endpoint_of, is_link, reference_in
from logistics_batch.sandbox.faults.fault_responses import (
    UNAUTHORIZED,
    FaultyAnswer,
    fail,
    fault_response,
    stand_in,
)
from logistics_batch.sandbox.faults.kinds import LABEL_KINDS
from logistics_batch.sandbox.faults.plan import Fault
from logistics_batch.sandbox.page import OPENAPI, needs_no_key
from logistics_batch.sandbox.service import UNEXPECTED, Service

DELIVERIES = frozenset({"slow_drip", "drop_midway", "close_after", "reset_after", "stale_keepalive"})
_DROPS_A_SECOND = 10


class Connection:
    """The connection of one request, to be used well or broken."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.transport: asyncio.Transport = scope["state"]["transport"]
        self._receive = receive
        self._send = send

    async def deliver(self, answer: FaultyAnswer, fault: Fault | None) -> None:
        """Give the answer as the fault has it; without one as it is."""
        if fault is None or fault.kind == "stale_keepalive":
            await answer.send(self._send)
        elif fault.kind == "slow_drip":
            await self._drip(answer, fault)
        elif fault.kind == "drop_midway":
            await self._cut(answer, fault)
        else:
            await answer.send(self._send)
            await self._flushed()
            self._break() if fault.kind == "reset_after" else self.transport.close()

    async def reset(self) -> None:
        """Break the connection: the client sees it break, not close."""
        self._break()
        await self._until_gone()

    async def _drip(self, answer: FaultyAnswer, fault: Fault) -> None:
        rate = fault.options["bytes_per_second"]
        drop = max(1, int(rate / _DROPS_A_SECOND))
        if fault.options["part"] == "head":
            for piece in _slices([answer.head(), *answer.pieces], drop):
                self.transport.write(piece)
                await asyncio.sleep(len(piece) / rate)
                if self.transport.is_closing():
                    break
            self.transport.close()
            await self._until_gone()
            return
        await answer.send_head(self._send)
        for piece in _slices(answer.pieces, drop):
            if self.transport.is_closing():
                await self._until_gone()
                return
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(len(piece) / rate)
        await self._send({"type": "http.response.body", "body": b""})

    async def _cut(self, answer: FaultyAnswer, fault: Fault) -> None:
        share = fault.options["share"]
        if fault.options["part"] == "head":
            head = answer.head()
            self.transport.write(head[: int(len(head) * share)])
        else:
            await answer.send_head(self._send)
            part = answer.body()[: int(answer.length() * share)]
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        await self._flushed()
        self.transport.close()
        await self._until_gone()

    async def _flushed(self) -> None:
        """Until the operating system has every byte."""
        while self.transport.get_write_buffer_size() and not self.transport.is_closing():
            await asyncio.sleep(0.01)

    def _break(self) -> None:
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _slices(pieces: list[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]


LOG = logging.getLogger(__name__)
MAX_BODY_BYTES = 5_000_000
_LONGEST_TEXT = 2_000


@dataclass(frozen=True)
class Call:
    """A request with its endpoint, the id in its path ("" without one), its query and its body."""

    scope: Scope
    receive: Receive
    endpoint: str
    path_id: str
    query: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path as it was asked for, decoded."""
        return str(self.scope["path"])

    @property
    def state(self) -> dict[str, Any]:
        """What the middleware tells the service about this request."""
        state: dict[str, Any] = self.scope.setdefault("state", {})
        return state

    def key(self) -> str:
        """The API key: a query parameter for label requests, else the header API_KEY (API §5)."""
        if self.endpoint == LABEL_CREATE:
            return self.query.get("API_KEY", "")
        header: bytes = next((value for name, value in self.scope["headers"] if name == b"api_key"), b"")
        return header.decode("latin-1")

    @cached_property
    def content(self) -> Any:
        """The body as JSON; the beginning of it as text when it is none, None when there is none."""
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return self.body[:_LONGEST_TEXT].decode("utf-8", "replace")

    def reference(self) -> str:
        """What a fault plan knows this request by: the id in its path, or what its body or its search names."""
        return self.path_id or reference_in(self.content) or self.query.get("invoice_number", "")

    def described(self) -> dict[str, Any]:
        """What the journal keeps: no key, no secret of a link, no header of a webhook."""
        described: dict[str, Any] = {"endpoint": self.endpoint, "method": self.scope["method"], "path": self.path}
        if self.query and self.endpoint != LABEL_DOWNLOAD:
            query = {name: value for name, value in self.query.items() if name != "API_KEY"}
            described |= {"query": query} if query else {}
        content = self.content
        if isinstance(content, dict) and isinstance(content.get("headers"), dict):
            content = {**content, "headers": dict.fromkeys(content["headers"], "[hidden]")}
        if self.body:
            described["body"] = content
        return described

    def replay(self) -> Receive:
        """A receive channel that gives the body again, and then nothing: the service does not hear a client go."""
        messages: list[Message] = [{"type": "http.request", "body": self.body, "more_body": False}]

        async def receive() -> Message:
            return messages.pop() if messages else await asyncio.get_running_loop().create_future()

        return receive


async def read_call(scope: Scope, receive: Receive) -> Call | None:
    """The whole request; None when the client went away before its end: such a request has no effect.

    Reading stops beyond `MAX_BODY_BYTES`.
    """
    endpoint, path_id = endpoint_of(scope["method"], scope["path"])
    pieces: list[bytes] = []
    length, more = 0, True
    while more and length <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        length += len(pieces[-1])
        more = message.get("more_body", False)
    text = scope["query_string"].decode("latin-1")
    query = dict(parse_qsl(text, keep_blank_values=True)) if text else {}
    return Call(scope, receive, endpoint, path_id, query, b"".join(pieces) if len(pieces) > 1 else pieces[0])


@dataclass
class CallOutcome:
    """What is to become of one request so far; `decided` by a fault, without an `answer`: the connection breaks."""

    answer: FaultyAnswer | None = None
    decided: bool = False
    delivery: Fault | None = None

    def decide(self, answer: FaultyAnswer | None) -> None:
        """Put this in the answer's place."""
        self.answer, self.decided = answer, True

    def takes(self, fault: Fault) -> bool:
        """Whether this fault can still do something: one answer, delivered in one way."""
        if self.decided and self.answer is None:
            return False
        if fault.kind in DELIVERIES:
            return self.delivery is None
        return fault.kind == "delay" or not self.decided

    @property
    def cut(self) -> bool:
        """Whether the answer will not arrive whole."""
        return self.delivery is not None and self.delivery.kind == "drop_midway"


class Middleware:
    """ASGI application around the service."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._stale: WeakKeyDictionary[asyncio.BaseTransport, int] = WeakKeyDictionary()
        self._told: dict[str, tuple[str, FaultyAnswer]] = {}  # by endpoint the last success that went out as it was

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._stale and await self._is_stale(scope, receive, send):
            return
        call = await read_call(scope, receive)
        if call is None:
            return
        if call.path.startswith(CONTROL) or call.path == OPENAPI:
            await self._control(call, send)
        elif len(call.body) > MAX_BODY_BYTES:
            await fail(413, "Request is too large").send(send)
        else:
            await self._serve(call, send)

    async def _control(self, call: Call, send: Send) -> None:
        if not needs_no_key(call.scope["method"], call.path) and self._known(call.key()) is None:
            await fail(401, UNAUTHORIZED).send(send)
        else:
            await self._app(call.scope, call.replay(), send)

    async def _serve(self, call: Call, send: Send) -> None:
        key = "" if is_link(call.path) else self._known(call.key())
        number = await self._service.journal.append("received", **call.described(), key_ok=key is not None)
        call.state["request_number"] = number
        if key is None:
            outcome = CallOutcome(fail(401, UNAUTHORIZED))
        else:
            outcome = await self._outcome(call, self._faults(call, key), number)
        await self._end(call, outcome, send)

    def _faults(self, call: Call, key: str) -> list[Fault]:
        plan = self._service.plan
        if not plan.rules:
            return []
        reference = call.reference() if plan.asks_for_references else ""
        return plan.faults_for(call.endpoint, reference, api_key=key)

    async def _outcome(self, call: Call, faults: list[Fault], number: int) -> CallOutcome:
        """The service's answer with the faults of the plan in it."""
        outcome = CallOutcome()
        for fault in faults:
            if fault.before:
                await self._apply(fault, outcome, call, number)
        if not outcome.decided:
            outcome.answer = await self._served(call)
        for fault in faults:
            if not fault.before:
                await self._apply(fault, outcome, call, number)
        return outcome

    async def _apply(self, fault: Fault, outcome: CallOutcome, call: Call, number: int) -> None:
        if not outcome.takes(fault):
            return
        await self._service.journal.append("fault", request=number, kind=fault.kind, before_effect=fault.before)
        if fault.kind == "delay":
            await asyncio.sleep(fault.options["seconds"])
        elif fault.kind in LABEL_KINDS:
            call.state["label_faults"] = (*call.state.get("label_faults", ()), fault.kind)
        elif fault.kind in DELIVERIES:
            outcome.delivery = fault
            if fault.before:
                outcome.decide(fail(500, UNEXPECTED))
        elif fault.kind == "late_effect":
            call.state["effect_delay_seconds"] = fault.options["seconds"]
            await self._served(call)
            outcome.decide(None if fault.options["answer"] == "drop" else fail(500, UNEXPECTED))
        elif fault.kind in ("drop_before", "drop_after"):
            outcome.decide(None)
        elif fault.kind == "swapped_answer":
            about, answer = self._told.get(call.endpoint, ("", None))
            own = outcome.answer or stand_in()
            outcome.decide(own if answer is None or about == call.reference() else answer)
        else:
            outcome.decide(fault_response(outcome.answer or stand_in(), fault, path=call.path))

    async def _end(self, call: Call, outcome: CallOutcome, send: Send) -> None:
        """Answer, or break the connection; the journal has it first."""
        journal, number = self._service.journal, call.state["request_number"]
        answer, delivery = outcome.answer, outcome.delivery
        if answer is None:
            await journal.append("dropped", request=number)
            await Connection(call.scope, call.receive, send).reset()
            return
        await journal.append("dropped" if outcome.cut else "answered", request=number, status=answer.status)
        if delivery is None:
            await answer.send(send)
            if answer.status == 200 and not outcome.decided:
                self._told[call.endpoint] = (call.reference(), answer)
            return
        connection = Connection(call.scope, call.receive, send)
        if delivery.kind == "stale_keepalive":
            self._stale[connection.transport] = number
        await connection.deliver(answer, delivery)

    async def _is_stale(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Break a connection that was to be used no more; its request counts as never received."""
        connection = Connection(scope, receive, send)
        number = self._stale.pop(connection.transport, None)
        if number is None:
            return False
        await self._service.journal.append("dropped", request=number, unread=True)
        await connection.reset()
        return True

    async def _served(self, call: Call) -> FaultyAnswer:
        """The service's own answer; an error in the service is logged and has been answered with 500."""
        answer = FaultyAnswer()
        work = asyncio.ensure_future(self._app(call.scope, call.replay(), answer.collect))
        await asyncio.wait([work])
        if work.exception() is not None:
            LOG.error("error in %s", call.endpoint, exc_info=work.exception())
        return answer

    def _known(self, key: str) -> str | None:
        """The key if it opens the service; every key is compared, in constant time."""
        given = key.encode()
        found = [hmac.compare_digest(given, known.encode()) for known in self._service.api_keys]
        return key if any(found) else None
