"""One call to the service: the request as the contract has it, and a `Reply` whatever happens.

Redirects are not followed, proxies and certificates of the environment are not used, nothing is repeated.
"""

import math
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.metadata import version
from urllib.parse import quote, urlencode, urlsplit

import httpcore

from logistics_batch.api.endpoints import Endpoint, ServiceAccess, fill_path, find_endpoint
from logistics_batch.api.pacing import Pacer, Turn
from logistics_batch.api.reply import Failure, Reply, Trace, retry_after_seconds
from logistics_batch.api.secret import Redactor
from logistics_batch.api.transport import (
    CONNECT_SECONDS,
    FAILURES,
    KEPT_IDLE_SECONDS,
    READ_SECONDS,
    CallTrace,
    Connections,
    Deadline,
    TooLate,
    failure_of,
)
from logistics_batch.errors import UsageError

__all__ = ["Client", "Reply", "ServiceAccess", "Trace"]

_KEY_NAME = b"API_KEY"  # API §5, in this spelling
_PAUSE_AFTER_429_SECONDS = 1.0
_REQUEST_TIMEOUT = 408  # what some services say on a connection that they are about to close
_SHORTEST_KEY_TO_REDACT = 8  # a shorter one may be an ordinary word of an answer
_LONGEST_DETAIL = 200
_NEVER = threading.Event()  # that nobody sets
_PORTS = {"https": 443, "http": 80}
_SAFE_IN_PATH = "/%:@!$&'()*+,;="
_ZLIB_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Client:
    """Calls the service; one for all threads.

    kept_line_broke: whether a call on a kept connection had no whole answer; from then on each call has its own.
    """

    def __init__(
        self,
        settings: ServiceAccess,
        *,
        pacer: Pacer | None = None,
        wall_clock: Callable[[], float] = time.time,
        kept_idle_seconds: float = KEPT_IDLE_SECONDS,
    ) -> None:
        """Raises SettingsError if the file of certificate authorities cannot be used.

        pacer: the rate of everything that uses this key; by default one call a second. kept_idle_seconds: for how long
        a connection may be idle and still take another call; 0: each call has its own.
        """
        self.settings = settings
        self.pacer = pacer or Pacer("1/s")
        self._wall_clock = wall_clock
        key = settings.api_key
        self._redactor = Redactor([key] if len(key.reveal()) >= _SHORTEST_KEY_TO_REDACT else [])
        self._connections = Connections(ca_file=settings.ca_file, proxy=settings.proxy, idle_seconds=kept_idle_seconds)
        self.kept_line_broke = False
        self._headers = [
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
            (b"User-Agent", f"logistics-batch/{version('logistics-batch')}".encode("ascii")),
        ]

    def path(self, endpoint: str, *, order_id: str | None = None) -> str:
        """The path of a call below base_url, as it is sent; raises UsageError for a caller's mistake."""
        return fill_path(self.settings.template(find_endpoint(endpoint)), order_id=order_id)

    @staticmethod
    def method(endpoint: str) -> str:
        """The HTTP method of a call; raises UsageError if there is no such call."""
        return find_endpoint(endpoint).method

    def call(
        self,
        endpoint: str,
        *,
        order_id: str | None = None,
        body: str | bytes | None = None,
        query: Mapping[str, str] | None = None,
        turn_taken: bool = False,
        finishes: bool = False,
        may_leave: Callable[[], bool] = lambda: True,
    ) -> Reply:
        """Make one call and say what came of it; the network never raises.

        turn_taken: the caller has its turn from `pacer` already; otherwise the call waits for one first, and for
        another where the service asks for a pause before it has left. finishes: it belongs to what is under way, and is
        made also when the program was asked to end, if it has its turn at once. may_leave: asked just before the first
        byte; a call that must not leave fails as one that is late.

        Raises:
            UsageError: there is no such call, or it does not take this id or body.
        """
        found = find_endpoint(endpoint)
        if body is not None and found.method == "GET":
            raise UsageError(f"The call “{endpoint}” takes no body.")
        url = self.settings.base_url.rstrip("/") + self.path(endpoint, order_id=order_id)
        if query:
            url += "?" + urlencode(query, quote_via=quote)
        content = body.encode() if isinstance(body, str) else body
        while turn_taken or self.pacer.wait_turn(stop=_NEVER if finishes else None):
            reply, missed_turn = self._exchange(found, url, content, may_leave)
            if turn_taken or not missed_turn or (finishes and self.pacer.is_ending):
                return reply
        return Reply(endpoint, detail="the program was asked to end before the call had its turn")

    def close(self) -> None:
        """End the client; calls under way end by themselves."""
        self._connections.close()

    def _heed(self, reply: Reply, departed: float) -> None:
        """What the answer says about the rate and about kept connections."""
        if reply.trace.on_kept_line and (reply.failure or reply.status == _REQUEST_TIMEOUT):
            self.kept_line_broke = True
            self._connections.close()
        if reply.status == 429:
            self.pacer.refused(departed, pause_seconds=reply.retry_after_seconds or _PAUSE_AFTER_429_SECONDS)
        elif reply.status == 503 and reply.retry_after_seconds:
            self.pacer.slow_down(reply.retry_after_seconds)
        elif reply.status is not None and reply.status < 500:
            self.pacer.answered(departed)

    def _exchange(
        self, endpoint: Endpoint, url: str, body: bytes | None, may_leave: Callable[[], bool]
    ) -> tuple[Reply, bool]:
        """What came of a call that has its turn, and whether it missed it, so that nothing was sent."""
        seconds = self.settings.create_deadline_seconds if endpoint.creates else self.settings.deadline_seconds
        deadline = Deadline(seconds)
        trace = CallTrace(deadline, first_byte_before=CONNECT_SECONDS)
        largest = self.settings.largest_bytes(endpoint)
        received = _Received(largest)
        failure: Failure = ""
        detail = ""
        alone = endpoint.name == "asn.create" or not self._connections.keeps
        try:
            request = self._request(endpoint, url, body, alone=alone)
            # A create may keep us waiting up to its own deadline without a sign of life.
            read = seconds if endpoint.creates else READ_SECONDS
            turn = self.pacer.approach(kept_until=-math.inf if alone else self._connections.kept_until)
            if turn is None:
                trace.missed_turn = True
                raise TooLate("there was no turn soon; nothing was sent")
            trace.depart = partial(self._depart, turn, may_leave)
            with self._connections.exchange(request, trace=trace, read_seconds=read, alone=alone) as response:
                received.read(response)
        except tuple(FAILURES) as error:
            failure, detail = _named(error, deadline, trace), _system_words(error)
        decoded = _decoded(bytes(received.raw), received.encoding, largest_bytes=largest)
        if decoded is None and not failure:
            failure, detail = "encoding", "the body's compression cannot be undone"
        content = decoded or b""
        reply = Reply(
            endpoint=endpoint.name,
            trace=trace.steps,
            status=received.status,
            content_type=self._redactor.text(received.headers.get("content-type", ""))[:_LONGEST_DETAIL],
            body=self._redactor.body(content[:largest]),
            truncated=received.truncated or len(content) > largest,
            failure=failure,
            detail=self._redactor.text(detail or received.redirect)[:_LONGEST_DETAIL],
            retry_after_seconds=retry_after_seconds(received.status, received.headers, now=self._wall_clock()),
            elapsed_seconds=deadline.elapsed,
        )
        self._heed(reply, trace.departed)
        return reply, trace.missed_turn

    def _depart(self, turn: Turn, may_leave: Callable[[], bool]) -> float | None:
        departed = self.pacer.depart(turn)
        return departed if may_leave() else None

    def _request(self, endpoint: Endpoint, url: str, body: bytes | None, *, alone: bool) -> httpcore.Request:
        """The request as it goes over the wire, with the key: in the query (API §4.4) or in a header (API §5)."""
        address, host = _address(url)
        headers = [(b"Host", host), *self._headers]
        if alone:
            headers.append((b"Connection", b"close"))
        if body is not None:
            headers.append((b"Content-Type", b"application/json"))
        if endpoint.method != "GET":
            headers.append((b"Content-Length", b"%d" % len(body or b"")))
        key, target = self.settings.api_key.reveal(), address.target
        if endpoint.key_in_query:
            sign = b"&" if b"?" in target else b"?"
            target += sign + _KEY_NAME + b"=" + quote(key, safe="").encode("ascii")
        else:
            headers.append((_KEY_NAME, key.encode("ascii")))
        wanted = httpcore.URL(scheme=address.scheme, host=address.host, port=address.port, target=target)
        return httpcore.Request(endpoint.method.encode("ascii"), wanted, headers=headers, content=body or b"")


@lru_cache(maxsize=16)
def _address(url: str) -> tuple[httpcore.URL, bytes]:
    """The address, parsed, and the header Host: it was checked before, and the rest is quoted.

    All creates go to the same one.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("idna")
    port = parts.port or _PORTS[parts.scheme]
    shown = b"[%b]" % host if b":" in host else host
    if port != _PORTS[parts.scheme]:
        shown += b":%d" % port
    target = quote(parts.path or "/", safe=_SAFE_IN_PATH) + (f"?{parts.query}" if parts.query else "")
    return httpcore.URL(scheme=parts.scheme.encode(), host=host, port=port, target=target.encode("ascii")), shown


@dataclass
class _Received:
    """What has come in so far; it stays when the connection breaks."""

    largest_bytes: int
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)  # names in small letters
    raw: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def read(self, response: httpcore.Response) -> None:
        """Take in status and headers, then the body up to its limit."""
        self.status = response.status
        for name, value in response.headers:
            known, text = name.lower().decode("latin-1"), _text(value)
            self.headers[known] = f"{self.headers[known]}, {text}" if known in self.headers else text
        for piece in response.iter_stream():
            self.raw += piece
            if len(self.raw) > self.largest_bytes:
                self.truncated = True
                break

    @property
    def redirect(self) -> str:
        """Where the answer redirects to, "" if it does not."""
        location = self.headers.get("location", "")
        return f"redirects to {location.partition('?')[0]}" if location else ""

    @property
    def encoding(self) -> str:
        """The compression that the answer names, "" if none."""
        named = self.headers.get("content-encoding", "").strip().lower()
        return "" if named == "identity" else named


def _text(value: bytes) -> str:
    """A header's value; old services write other letters than those of ASCII as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _named(error: BaseException, deadline: Deadline, trace: CallTrace) -> Failure:
    """The failure's name, told more exactly by the clock and by the step that failed."""
    if trace.tls_failed:
        return "tls"
    failure = failure_of(error)
    return "deadline" if failure == "timeout" and deadline.passed else failure


def _system_words(error: BaseException) -> str:
    """What the system said, on one line; a cause knows more than what was made of it."""
    innermost = error
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    return " ".join(str(innermost).split()) or type(innermost).__name__


def _decoded(raw: bytes, encoding: str, *, largest_bytes: int) -> bytes | None:
    """The body without its compression, one byte longer than the limit if it is longer; None if it is damaged."""
    if not encoding or not raw:
        return raw
    if encoding not in _ZLIB_WINDOWS:
        return None
    unpacker = zlib.decompressobj(_ZLIB_WINDOWS[encoding])
    try:
        content = unpacker.decompress(raw, largest_bytes + 1)
    except zlib.error:
        return None
    return content if unpacker.eof or len(content) > largest_bytes else None
