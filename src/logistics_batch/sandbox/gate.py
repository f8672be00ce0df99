"""The gate before the service: the key, the journal, and the faults of the plan."""

import asyncio
import hmac
import json
import logging
import socket
import struct
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logistics_batch.sandbox.endpoints import (
    LABEL_CREATE,
    LABEL_DOWNLOAD,
    endpoint_of,
    is_link,
    reference_in,
)
from logistics_batch.sandbox.faults import Fault
from logistics_batch.sandbox.pages_access import is_control, is_open
from logistics_batch.sandbox.service import UNEXPECTED, Service

LOG = logging.getLogger(__name__)
MAX_BODY_BYTES = 5_000_000
UNAUTHORIZED = "Unauthorized"
PROXY_PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Welcome to the network</h1></body></html>"
)


@dataclass
class Answer:
    """A whole answer, held back until the journal has it."""

    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    complete: bool = False

    async def collect(self, message: Message) -> None:
        """Take one ASGI message of the service."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", []))
        else:
            self.body += message.get("body", b"")
            self.complete = not message.get("more_body", False)

    async def send(self, send: Send) -> None:
        """Give the answer to the client."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


@dataclass(frozen=True)
class Call:
    """One request as it stands at the gate."""

    scope: Scope
    receive: Receive
    endpoint: str
    path_id: str
    query: dict[str, str]
    body: bytes

    def key(self) -> str:
        """The API key: a query parameter for label requests, else the header API_KEY (API §5)."""
        if self.endpoint == LABEL_CREATE:
            return self.query.get("API_KEY", "")
        header: bytes = dict(self.scope["headers"]).get(b"api_key", b"")
        return header.decode("latin-1")


class Gate:
    """ASGI application around the service."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        call = await _read_call(scope, receive)
        if call is None:
            return
        if is_control(scope["path"]):
            await self._control(call, send)
        elif len(call.body) > MAX_BODY_BYTES:
            await _fail(413, "Request is too large").send(send)
        else:
            await self._serve(call, send)

    async def _control(self, call: Call, send: Send) -> None:
        if not is_open(call.scope["method"], call.scope["path"]) and not self._knows(call.key()):
            await _fail(401, UNAUTHORIZED).send(send)
        else:
            await self._app(call.scope, _replay(call.body), send)

    async def _serve(self, call: Call, send: Send) -> None:
        service = self._service
        key_ok = is_link(call.scope["path"]) or self._knows(call.key())
        number = await service.journal.append("received", **_described(call), key_ok=key_ok)
        call.scope.setdefault("state", {})["request_number"] = number
        answer: Answer | None = None
        if not key_ok:
            answer = _fail(401, UNAUTHORIZED)
        else:
            reference = call.path_id or reference_in(call.body)
            faults = service.plan.faults_for(call.endpoint, reference)
            answer = await self._answer(call, faults, number)
        if answer is None:
            await service.journal.append("dropped", request=number)
            await _drop(call)
            return
        await service.journal.append("answered", request=number, status=answer.status)
        await answer.send(send)

    async def _answer(self, call: Call, faults: list[Fault], number: int) -> Answer | None:
        """The answer with the faults of the plan in it; None to drop the connection."""
        for fault in (one for one in faults if one.before):
            await self._service.journal.append("fault", request=number, kind=fault.kind, before_effect=True)
            if fault.kind == "delay":
                await asyncio.sleep(fault.seconds)
            else:
                return _spoiled(fault)
        answer = await self._served(call)
        for fault in (one for one in faults if not one.before):
            await self._service.journal.append("fault", request=number, kind=fault.kind, before_effect=False)
            if fault.kind == "delay":
                await asyncio.sleep(fault.seconds)
            else:
                return _spoiled(fault)
        return answer

    async def _served(self, call: Call) -> Answer:
        """The service's own answer; an error in the service is logged and has been answered with 500."""
        answer = Answer()
        work = asyncio.ensure_future(self._app(call.scope, _replay(call.body), answer.collect))
        await asyncio.wait([work])
        if work.exception() is not None:
            LOG.error("error in %s", call.endpoint, exc_info=work.exception())
        return answer

    def _knows(self, key: str) -> bool:
        return any(hmac.compare_digest(key.encode(), known.encode()) for known in self._service.api_keys)


async def _read_call(scope: Scope, receive: Receive) -> Call | None:
    """The whole request; None when the client went away before its end: such a request has no effect."""
    endpoint, path_id = endpoint_of(scope["method"], scope["path"])
    body = b""
    more = True
    while more and len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return Call(scope, receive, endpoint, path_id, query, body)


def _described(call: Call) -> dict[str, Any]:
    """What the journal keeps of a request: no key, no secret of a link, no header of a webhook."""
    query = (
        {}
        if call.endpoint == LABEL_DOWNLOAD
        else {name: value for name, value in call.query.items() if name != "API_KEY"}
    )
    described: dict[str, Any] = {"endpoint": call.endpoint, "method": call.scope["method"], "path": call.scope["path"]}
    if query:
        described["query"] = query
    if call.body:
        described["body"] = _readable(call.body)
    return described


def _readable(body: bytes) -> Any:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return body[:2_000].decode("utf-8", "replace")
    if isinstance(content, dict) and isinstance(content.get("headers"), dict):
        content["headers"] = dict.fromkeys(content["headers"], "[hidden]")
    return content


def _replay(body: bytes) -> Receive:
    """A receive channel that gives the body again."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _spoiled(fault: Fault) -> Answer | None:
    if fault.kind.startswith("drop"):
        return None
    if fault.kind == "html_200":
        return Answer(200, [(b"content-type", b"text/html; charset=utf-8")], PROXY_PAGE, complete=True)
    if fault.kind == "status_400":
        return _fail(400, fault.message)
    if fault.kind == "status_401":
        return _fail(401, UNAUTHORIZED)
    if fault.kind == "status_429":
        answer = _fail(429, "Too many requests")
        answer.headers.append((b"retry-after", fault.retry_after.encode()))
        return answer
    return _fail(500, UNEXPECTED)


def _fail(status: int, message: str) -> Answer:
    body = json.dumps({"status": "FAIL", "message": message}).encode()
    return Answer(status, [(b"content-type", b"application/json")], body, complete=True)


async def _drop(call: Call) -> None:
    """Reset the connection under the request: the client sees it break, not close."""
    transport: asyncio.Transport = call.scope["state"]["transport"]
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    while (await call.receive())["type"] != "http.disconnect":
        pass
