"""One request as it stands at the gate: read whole, named, and described for the journal."""

import asyncio
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Message, Receive, Scope

from logistics_batch.sandbox.endpoints import LABEL_CREATE, LABEL_DOWNLOAD, endpoint_of, reference_in

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
        """What the gate tells the service about this request."""
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
