"""The receiver of order events: one path, one method, one secret; an event is durable before it is answered.

Whoever has no business here learns nothing: neither which path is right nor what was wrong.
"""

import asyncio
import hmac
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.orders.receive_event import NoEvent, event_line, read_event
from logistics_batch.ledger import NewEvent

LARGEST_BODY_BYTES = 64 << 10
_MOST_READ_BYTES = 1 << 20  # so that whoever sends a little too much can read why
_RETRY_AFTER_SECONDS = 5
_LARGEST_BATCH = 200
_QUIET_SECONDS = 10.0
_MOST_KINDS = 50  # of troubles in ten seconds; further ones are not told
_MOST_REMEMBERED, _MOST_TOLD = 50, 3  # of those who make a trouble


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


@dataclass(frozen=True)
class Surroundings:
    """The clock, the service's zone, the log (one line each), and who is told the address once it listens."""

    now: Callable[[], datetime]
    zone: tzinfo
    say: Callable[[str], None]
    on_ready: Callable[[str], None]


class NotKept(Exception):
    """An event is not known to be durable; the sender has to send it again."""


class GroupCommit:
    """Keeps events in transactions: whatever came while the last one was written goes into the next.

    keep: durable when it returns; raises LogisticsBatchError if nothing was kept. say: told why.
    patience_seconds: how long a sender waits for it.
    """

    def __init__(
        self, keep: Callable[[Sequence[NewEvent]], list[bool]], *, patience_seconds: float, say: Callable[[str], None]
    ) -> None:
        self._keep, self._patience_seconds, self._say = keep, patience_seconds, say
        self._troubles = Troubles(time.monotonic)
        self._waiting: list[tuple[NewEvent, asyncio.Future[bool]]] = []
        self._thread = ThreadPoolExecutor(1, "events")
        self._writing: asyncio.Task[None] | None = None
        self.works = True  # until the program itself fails

    async def kept(self, event: NewEvent) -> bool:
        """Wait until an event is durable; True if it is new, False if it came before. Raises NotKept."""
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append((event, answer))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        try:
            async with asyncio.timeout(self._patience_seconds):
                return bool(await answer)
        except TimeoutError:
            raise NotKept from None

    def close(self) -> None:
        """Finish what is being written."""
        self._thread.shutdown()

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting[:_LARGEST_BATCH], self._waiting[_LARGEST_BATCH:]
            batch = [(event, answer) for event, answer in batch if not answer.done()]  # else nobody waits any more
            try:
                news = await loop.run_in_executor(self._thread, self._keep, [event for event, _ in batch])
            except LogisticsBatchError as error:
                if line := self._troubles.line(f"events were not kept and have to come again: {error.message}"):
                    self._say(line)
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(NotKept())
            except Exception:
                self.works = False
                raise
            else:
                for (_, answer), is_new in zip(batch, news, strict=True):
                    if not answer.done():
                        answer.set_result(is_new)


class Receiver:
    """The ASGI application; `counts` says what came since the start. Its log lines tell nothing about a person."""

    def __init__(self, gate: Gate, commit: GroupCommit, around: Surroundings) -> None:
        self.counts = Counter(dict.fromkeys(("stored", "again", "refused", "not kept"), 0))
        self._gate = gate
        self._commit = commit
        self._around = around
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
        event = read_event(body, received_at=self._around.now(), zone=self._around.zone)
        if isinstance(event, NoEvent):
            return self._refuse(request, event.reason, 400, message=event.reason)
        try:
            is_new = await self._commit.kept(event)
        except NotKept:
            self.counts["not kept"] += 1
            answer = {"status": "FAIL", "message": "Not stored, send it again."}
            return JSONResponse(answer, 503, headers={"Retry-After": str(_RETRY_AFTER_SECONDS)})
        self.counts["stored" if is_new else "again"] += 1
        self._around.say(event_line(event, is_new=is_new))
        return JSONResponse({"status": "PASS"})

    def _refuse(self, request: Request, why: str, status: int, *, message: str = "") -> Response:
        self.counts["refused"] += 1
        peer = request.client.host if request.client else ""
        if line := self._refusals.line(f"refused {status}: {why}", peer):
            self._around.say(line)
        headers = {"Connection": "close"}  # a part of the body may still be on its way
        if message:
            return JSONResponse({"status": "FAIL", "message": message}, status, headers)
        return Response(status_code=status, headers=headers)


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


class Troubles:
    """Troubles as lines of a log that nobody can flood: neither strangers nor a disk that is full already.

    Of each kind one line in ten seconds, with how many there were, and from whom the most came. monotonic: seconds on a
    clock that never goes back.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._told_at: dict[str, float] = {}
        self._untold: dict[str, Counter[str]] = {}  # how often since, by who made it

    def line(self, kind: str, who: str = "") -> str:
        """What to say about one more of this kind, "" for nothing yet. who: the address it came from."""
        now = self._monotonic()
        if kind not in self._told_at and len(self._told_at) >= _MOST_KINDS:
            self._told_at = {each: at for each, at in self._told_at.items() if now - at < _QUIET_SECONDS}
            self._untold = {each: names for each, names in self._untold.items() if each in self._told_at}
            if len(self._told_at) >= _MOST_KINDS:
                return ""
        names = self._untold.setdefault(kind, Counter())
        names[who if who in names or len(names) < _MOST_REMEMBERED else "others"] += 1
        if kind in self._told_at and now - self._told_at[kind] < _QUIET_SECONDS:
            return ""
        self._told_at[kind] = now
        del self._untold[kind]
        times = f" ({names.total()} times)" if names.total() > 1 else ""
        known = [name for name, _ in names.most_common() if name and name != "others"]
        more = " and others" if len(names) > _MOST_TOLD else ""
        return f"{kind}{times}" + (f", from {', '.join(known[:_MOST_TOLD])}{more}" if known else "")
