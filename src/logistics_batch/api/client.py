"""One call to the service: the request as the contract has it, and a `Reply` whatever happens.

Redirects are not followed, proxies and certificates of the environment are not used, nothing is repeated.
"""

import math
import time
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib.metadata import version
from urllib.parse import quote, urlencode

from logistics_batch.api.endpoints import Endpoint, ServiceAccess, fill_path, find_endpoint
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.reply import Reply, Trace, retry_after_seconds
from logistics_batch.api.secret import Redactor
from logistics_batch.api.transport import (
    CONNECT_SECONDS,
    KEPT_IDLE_SECONDS,
    READ_SECONDS,
    Address,
    CallFailed,
    CallTrace,
    Connections,
    Deadline,
    Received,
    address_of,
)
from logistics_batch.errors import UsageError

__all__ = ["Client", "Reply", "ServiceAccess", "Trace", "send_event"]

_KEY_NAME = "API_KEY"  # API §5, in this spelling
_PAUSE_AFTER_429_SECONDS = 1.0
_REQUEST_TIMEOUT = 408  # what some services say on a connection that they are about to close
_SHORTEST_KEY_TO_REDACT = 8  # a shorter one may be an ordinary word of an answer
_LONGEST_DETAIL = 200
_ZLIB_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_EVENT_SECONDS = 15.0
_LARGEST_EVENT_ANSWER = 64 * 1024


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
    ) -> Reply:
        """Make one call and say what came of it; the network never raises.

        turn_taken: the caller has its turn from `pacer` already; otherwise the call waits for one first.

        Raises:
            UsageError: there is no such call, or it does not take this id or body.
        """
        found = find_endpoint(endpoint)
        if body is not None and found.method == "GET":
            raise UsageError(f"The call “{endpoint}” takes no body.")
        target = self.path(endpoint, order_id=order_id)
        wanted = dict(query or {})
        if found.key_in_query:  # API §4.4
            wanted[_KEY_NAME] = self.settings.api_key.reveal()
        if wanted:
            target += "?" + urlencode(wanted, quote_via=quote, safe="")
        if not turn_taken and not self.pacer.wait_turn():
            return Reply(endpoint, detail="the program was asked to end before the call had its turn")
        to = _address(self.settings.base_url.rstrip("/") + target)
        return self._exchange(found, to, body.encode() if isinstance(body, str) else body)

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

    def _exchange(self, endpoint: Endpoint, to: Address, body: bytes | None) -> Reply:
        seconds = self.settings.create_deadline_seconds if endpoint.creates else self.settings.deadline_seconds
        trace = CallTrace(Deadline(seconds), first_byte_before=CONNECT_SECONDS)
        largest = self.settings.largest_bytes(endpoint)
        received = Received(largest)
        alone = endpoint.name == "asn.create" or not self._connections.keeps
        failed: CallFailed | None = None
        try:
            turn = self.pacer.approach(kept_until=-math.inf if alone else self._connections.kept_until)
            if turn is None:
                raise CallFailed("late", "there was no turn soon; nothing was sent")
            trace.depart = partial(self.pacer.depart, turn)
            self._connections.exchange(
                endpoint.method,
                to,
                self._request_headers(endpoint, to, body, alone=alone),
                body or b"",
                trace=trace,
                received=received,
                # A create may keep us waiting up to its own deadline without a sign of life.
                read_seconds=seconds if endpoint.creates else READ_SECONDS,
                alone=alone,
            )
        except CallFailed as error:
            failed = error
        content = _decoded(bytes(received.body), received.headers.get("content-encoding", ""), largest_bytes=largest)
        if content is None:
            failed = failed or CallFailed("encoding", "the body's compression cannot be undone")
            content = b""
        location = received.headers.get("location", "").partition("?")[0]
        detail = str(failed) if failed else f"redirects to {location}" if location else ""
        reply = Reply(
            endpoint=endpoint.name,
            trace=trace.steps,
            status=received.status,
            content_type=self._redactor.text(received.headers.get("content-type", ""))[:_LONGEST_DETAIL],
            body=self._redactor.body(content[:largest]),
            truncated=received.truncated or len(content) > largest,
            failure=failed.failure if failed else "",
            detail=self._redactor.text(detail)[:_LONGEST_DETAIL],
            retry_after_seconds=retry_after_seconds(received.status, received.headers, now=self._wall_clock()),
            elapsed_seconds=trace.deadline.elapsed,
        )
        self._heed(reply, trace.departed)
        return reply

    def _request_headers(
        self, endpoint: Endpoint, to: Address, body: bytes | None, *, alone: bool
    ) -> list[tuple[bytes, bytes]]:
        """The headers, with the key (API §5) where it does not stand in the query."""
        headers = [(b"Host", to.shown_host.encode("ascii")), *self._headers]
        if alone:
            headers.append((b"Connection", b"close"))
        if body is not None:
            headers.append((b"Content-Type", b"application/json"))
        if endpoint.method != "GET":
            headers.append((b"Content-Length", b"%d" % len(body or b"")))
        if not endpoint.key_in_query:
            headers.append((_KEY_NAME.encode(), self.settings.api_key.reveal().encode("ascii")))
        return headers


_address = lru_cache(maxsize=16)(address_of)  # all creates go to the same one


def send_event(url: str, body: bytes, *, headers: Mapping[str, str], ca_file: str | None = None) -> int | str:
    """Send one event to our own receiver by the address that the service would use, as the service would.

    Gives the status of the answer, or in words why there is none; nothing of the environment plays a part. Raises
    SettingsError if the file of certificate authorities cannot be used.
    """
    received = Received(_LARGEST_EVENT_ANSWER)
    try:
        to = address_of(url)
        sent = {"Host": to.shown_host, "Content-Type": "application/json", "Content-Length": str(len(body))}
        Connections(ca_file=ca_file).exchange(
            "POST",
            to,
            [(name.encode(), value.encode()) for name, value in (sent | dict(headers)).items()],
            body,
            trace=CallTrace(Deadline(_EVENT_SECONDS)),
            received=received,
        )
    except CallFailed as error:
        late = error.failure in ("timeout", "deadline")
        return f"no answer within {_EVENT_SECONDS:g} s" if late else str(error)
    except (ValueError, LookupError) as error:
        return " ".join(str(error).split()) or "this is no address"
    return received.status or "no answer"


def _decoded(raw: bytes, encoding: str, *, largest_bytes: int) -> bytes | None:
    """The body without its compression, one byte longer than the limit if it is longer; None if it is damaged."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity") or not raw:
        return raw
    if encoding not in _ZLIB_WINDOWS:
        return None
    unpacker = zlib.decompressobj(_ZLIB_WINDOWS[encoding])
    try:
        content = unpacker.decompress(raw, largest_bytes + 1)
    except zlib.error:
        return None
    return content if unpacker.eof or len(content) > largest_bytes else None
