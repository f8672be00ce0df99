"""One call, one deadline: the way to the network, with evidence of how far each call got.

Calls follow each other on connections that were idle for a second at most (see `lines`). Each new ASN has a connection
of its own: a kept one may have been closed by the other side, and then breaks for a request that was never seen but
looks sent, and an ASN is not sent again by itself.
"""

import math
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import certifi
import httpcore

from logistics_batch.api.deadline import Deadline, TimedBackend
from logistics_batch.api.lines import Answered, KeptLines, Line, Message, Waits
from logistics_batch.api.reply import Failure, Trace
from logistics_batch.api.secret import Secret
from logistics_batch.errors import SettingsError

__all__ = ["FAILURES", "Credential", "Deadline", "DeadlineTransport", "Evidence", "failure_of", "proxy_of", "verifying"]

KEPT_IDLE_SECONDS = 1.0
_KEY_NAME = b"API_KEY"  # API §5, in this spelling

FAILURES: dict[type[Exception], Failure] = {
    httpcore.ConnectTimeout: "timeout",
    httpcore.TimeoutException: "timeout",
    httpcore.ConnectError: "connect",
    httpcore.ProxyError: "connect",
    httpcore.UnsupportedProtocol: "connect",
    httpcore.ConnectionNotAvailable: "connect",
    httpcore.NetworkError: "reset",
    httpcore.ProtocolError: "protocol",
    OSError: "reset",
}
"""What each exception of the network means; the nearest base class counts."""


def failure_of(error: BaseException) -> Failure:
    """The failure that an exception stands for; "protocol" for one that the table does not know."""
    for kind in type(error).__mro__:
        if kind in FAILURES:
            return FAILURES[kind]
    return "protocol"


class Evidence:
    """Listens to the steps of one call, or to httpcore's trace of it; `trace` says how far the call got.

    first_byte_before: a call that has not begun to send by then (seconds from its start) does not send at all: its
    intent was written down for now, not for later. depart: called just before the first byte; says when that is.
    """

    def __init__(
        self, deadline: Deadline, *, first_byte_before: float, depart: Callable[[], float] = time.monotonic
    ) -> None:
        self.departed = -math.inf
        self._deadline = deadline
        self._first_byte_before = first_byte_before
        self._depart = depart
        self._seen: set[str] = set()
        self._to_proxy = False

    def __call__(self, event: str, info: dict[str, Any]) -> None:
        step = event.partition(".")[2]
        if step == "send_request_headers.started":
            # What is said to a proxy to reach the service is not the call itself.
            self._to_proxy = info["request"].method == b"CONNECT"
            if not self._to_proxy:
                self.depart()
        if not self._to_proxy:
            self.reached(step)

    def depart(self) -> None:
        """The first byte is about to leave; raises httpcore.ConnectTimeout if it is too late for it."""
        self.departed = self._depart()
        if self._deadline.elapsed > self._first_byte_before:
            raise httpcore.ConnectTimeout("connecting took too long; nothing was sent")

    def reached(self, step: str) -> None:
        """A step was taken, in httpcore's words for it."""
        self._seen.add(step)

    @property
    def tls_failed(self) -> bool:
        """Whether the encrypted connection could not be made."""
        return "start_tls.failed" in self._seen

    @property
    def trace(self) -> Trace:
        """The steps that are known to have happened."""
        return Trace(
            connect_started="connect_tcp.started" in self._seen,
            send_started="send_request_headers.started" in self._seen,
            body_sent="send_request_body.complete" in self._seen,
            reply_started="receive_response_headers.complete" in self._seen,
        )


@dataclass(frozen=True)
class Credential:
    """The API key, and whether it goes into the query (API §4.4) instead of the header (API §5)."""

    key: Secret
    in_query: bool = False

    def add_to(self, target: bytes, headers: list[tuple[bytes, bytes]]) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """Target and headers as they go over the wire."""
        if not self.in_query:
            return target, [*headers, (_KEY_NAME, self.key.reveal().encode("ascii"))]
        sign = b"&" if b"?" in target else b"?"
        return target + sign + _KEY_NAME + b"=" + quote(self.key.reveal(), safe="").encode("ascii"), headers


class DeadlineTransport:
    """The connections of one client. Raises httpcore's exceptions; `failure_of` knows them."""

    def __init__(self, *, ca_file: str | None, proxy: str | None = None, idle_seconds: float = 0.0) -> None:
        """idle_seconds: for how long a connection is kept without a call; 0: not at all. A proxy's never is.

        Raises SettingsError if the file of certificate authorities cannot be used.
        """
        self._ca_file = ca_file
        self._ssl_context: ssl.SSLContext | None = None
        if ca_file:
            self._tls()
        self._proxy = proxy_of(proxy) if proxy else None
        self._kept = KeptLines(0.0 if proxy else idle_seconds)

    def _tls(self) -> ssl.SSLContext:
        """How certificates are verified; the public authorities are read for the first call, not for a dry run."""
        if self._ssl_context is None:
            context = verifying(self._ca_file)
            context.set_alpn_protocols(["http/1.1"])
            self._ssl_context = context
        return self._ssl_context

    @property
    def keeps(self) -> bool:
        """Whether connections are kept."""
        return self._kept.idle_seconds > 0

    @contextmanager
    def answered(self, message: Message, *, waits: Waits, evidence: Evidence, alone: bool) -> Iterator[Answered]:
        """Send one request over a connection that nothing else uses meanwhile; its answer is read within the block.

        alone: on a connection of its own.
        """
        if self._proxy is not None:
            asked = message.for_httpcore()
            asked.extensions = {"timeout": waits.as_dict(), "trace": evidence}
            with self._pool(self._proxy, waits.deadline) as pool:
                response = pool.handle_request(asked)
                yield Answered(response.status, response.headers, response.iter_stream())
                response.close()
            return
        line = (None if alone else self._kept.take(message.origin)) or Line(message.origin, self._tls)
        try:
            yield line.send(message, waits=waits, witness=evidence)
        except BaseException:
            line.close()
            raise
        self._kept.give_back(line)

    def close(self) -> None:
        """End the connections that are kept; from now on each request has its own."""
        self._kept.close()

    def _pool(self, proxy: httpcore.Proxy, deadline: Deadline) -> httpcore.ConnectionPool:
        """A pool of one connection, only for what it knows about proxies."""
        return httpcore.ConnectionPool(
            ssl_context=self._tls(),
            proxy=proxy,
            max_connections=1,
            max_keepalive_connections=0,
            network_backend=TimedBackend(deadline),
        )


def proxy_of(address: str) -> httpcore.Proxy:
    """The proxy at http://host:port, perhaps with user:password@ in front of the host."""
    parts = urlsplit(address)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username is not None else None
    return httpcore.Proxy(f"http://{host}:{parts.port}", auth=auth)


def verifying(ca_file: str | None) -> ssl.SSLContext:
    """TLS that verifies certificates and host names, always; the environment is not asked.

    ca_file: the authorities to trust instead of the public ones. Raises SettingsError if the file cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cafile=ca_file or certifi.where())
    except OSError as error:  # ssl.SSLError is one
        raise SettingsError(
            f"The file of certificate authorities {ca_file} cannot be used: {error.strerror or error}.",
            remedy="Name a readable PEM file in service.ca_file, or leave the key out.",
        ) from error
    return context
