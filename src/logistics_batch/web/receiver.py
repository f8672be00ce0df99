"""The receiver of order events: one path, one method, one secret; an event is durable before it is answered.

Whoever has no business here learns nothing: neither which path is right nor what was wrong.
"""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from logistics_batch.flows.orders.receive_event import NoEvent, event_line, read_event
from logistics_batch.web.group_commit import GroupCommit, NotKept
from logistics_batch.web.troubles import Troubles

LARGEST_BODY_BYTES = 64 << 10
_MOST_READ_BYTES = 1 << 20  # so that whoever sends a little too much can read why
_RETRY_AFTER_SECONDS = 5


@dataclass(frozen=True)
class Gate:
    """What a sender has to know: the path, and the header with its secret."""

    path: str
    header: str
    secret: str = field(repr=False)

    def knows_path(self, path: str) -> bool:
        """Compared in constant time: a part of the path may be secret."""
        return hmac.compare_digest(path.encode("utf-8", "replace"), self.path.encode())

    def knows_secret(self, given: list[str]) -> bool:
        """Whether the header came exactly once, and right."""
        return len(given) == 1 and hmac.compare_digest(given[0].encode("latin-1"), self.secret.encode("latin-1"))


@dataclass
class Counts:
    """What came since the start."""

    stored: int = 0
    again: int = 0
    refused: int = 0
    not_kept: int = 0

    def __str__(self) -> str:
        return f"{self.stored} stored, {self.again} again, {self.refused} refused, {self.not_kept} not kept"


class Receiver:
    """The ASGI application.

    now: the wall time. say: one line for the log, without anything about a person.
    """

    def __init__(
        self, gate: Gate, commit: GroupCommit, *, now: Callable[[], datetime], zone: tzinfo, say: Callable[[str], None]
    ) -> None:
        self.counts = Counts()
        self._gate = gate
        self._commit = commit
        self._now = now
        self._zone = zone
        self._say = say
        self._refusals = Troubles(time.monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            body = await _body(request)
        except ClientDisconnect:
            self._refuse(request, "cut off before its end", 400)
            return
        answer = self._refusal(request, body) or await self._take(request, body or b"")
        await answer(scope, receive, send)

    def _refusal(self, request: Request, body: bytes | None) -> Response | None:
        if request.method != "POST":
            return self._refuse(request, "no POST", 405)
        if not self._gate.knows_path(request.scope["path"]):
            return self._refuse(request, "a path that is not served", 404)
        if not self._gate.knows_secret(request.headers.getlist(self._gate.header)):
            return self._refuse(request, "without the right secret", 401)
        if body is None:
            return self._refuse(request, f"more than {LARGEST_BODY_BYTES >> 10} kB", 413)
        return None

    async def _take(self, request: Request, body: bytes) -> Response:
        event = read_event(body, received_at=self._now(), zone=self._zone)
        if isinstance(event, NoEvent):
            return self._refuse(request, event.reason, 400, message=event.reason)
        try:
            is_new = await self._commit.kept(event)
        except NotKept:
            self.counts.not_kept += 1
            return JSONResponse(
                {"status": "FAIL", "message": "Not stored, send it again."},
                503,
                headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
            )
        self.counts.stored += is_new
        self.counts.again += not is_new
        self._say(event_line(event, is_new=is_new))
        return JSONResponse({"status": "PASS"})

    def _refuse(self, request: Request, why: str, status: int, *, message: str = "") -> Response:
        self.counts.refused += 1
        peer = request.client.host if request.client else ""
        if line := self._refusals.line(f"refused {status}: {why}", peer):
            self._say(line)
        # Closed, for a part of the body may still be on its way.
        headers = {"Connection": "close"}
        return (
            JSONResponse({"status": "FAIL", "message": message}, status, headers)
            if message
            else Response(status_code=status, headers=headers)
        )


async def _body(request: Request) -> bytes | None:
    """The body; None if it is too long, of which no more is read than it takes to say so."""
    kept, length = bytearray(), 0
    async for chunk in request.stream():
        length += len(chunk)
        if length > _MOST_READ_BYTES:
            break
        if length <= LARGEST_BODY_BYTES:
            kept += chunk
    return bytes(kept) if length <= LARGEST_BODY_BYTES else None
