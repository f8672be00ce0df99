"""The way to the network: one deadline for a whole call, how far the call got, and connections that may serve again.

HTTP itself is httpcore's. Added to it are the deadline, which no byte now and then can stretch; the trace of each call,
where a request of which no byte left is proven not to have been sent; and a strict rule for connections that are kept.
Of httpcore's pool each has one connection: to look through all of them at every call would take longer than the call.
"""

import math
import re
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import certifi
import httpcore

from logistics_batch.api.reply import Failure, Trace
from logistics_batch.errors import SettingsError

KEPT_IDLE_SECONDS: Final = 1.0
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 30.0


class TooLate(httpcore.ConnectTimeout):
    """A call could not leave in time; nothing was sent."""


FAILURES: dict[type[Exception], Failure] = {
    TooLate: "late",
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

_HEAD_ENDS = re.compile(rb"\n\r?\n")  # as h11 finds it
_LENGTH = re.compile(rb"[0-9]{1,15}")


def failure_of(error: BaseException) -> Failure:
    """The failure that an exception stands for; "protocol" for one that the table does not know."""
    return next((FAILURES[kind] for kind in type(error).__mro__ if kind in FAILURES), "protocol")


class Deadline:
    """The moment at which a call ends, whatever it is doing."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._seconds = seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the call began."""
        return self._clock() - self._started

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return self.elapsed >= self._seconds

    def within(self, own: float | None, error: type[Exception]) -> float:
        """The shorter of an own limit and what is left, in seconds; raises `error` if nothing is left."""
        left = self._seconds - self.elapsed
        if left <= 0:
            raise error("the whole call took too long")
        return left if own is None else min(own, left)


class CallTrace:
    """How far one call got, as its connection sees it.

    first_byte_before: a call that has not begun to send by then (seconds from its start) does not send at all: its
    intent was written down for now, not for later. depart: called just before the first byte; says when that is, None
    if the call must not leave, which has missed its turn then. A connection waits meanwhile, so that it must be quick.
    """

    def __init__(self, deadline: Deadline, *, first_byte_before: float = math.inf) -> None:
        self.deadline = deadline
        self.depart: Callable[[], float | None] = time.monotonic
        self.departed = -math.inf
        self.missed_turn = False
        self.connect_started = self.tls_failed = self.send_started = self.body_sent = self.reply_started = False
        self._first_byte_before = first_byte_before

    def leave(self) -> None:
        """The first byte is about to leave; raises TooLate where that would be too late."""
        departed = self.depart()
        self.missed_turn = departed is None
        if departed is None or self.deadline.elapsed > self._first_byte_before:
            raise TooLate("it took too long until the call could leave; nothing was sent")
        self.departed, self.send_started = departed, True

    @property
    def steps(self) -> Trace:
        """The steps that are known to have happened."""
        return Trace(self.connect_started, self.send_started, self.body_sent, self.reply_started)


class TimedNetwork(httpcore.NetworkBackend):
    """Connects within a deadline, looking up the name and trying all its addresses included.

    deadline: of the call that goes on; each wait on its connections ends with it. secure: calls are encrypted; what is
    said in the clear, to a proxy on the way, is none. resolve: the addresses of a name. connect: what connects to one.
    """

    def __init__(
        self,
        deadline: Deadline,
        *,
        secure: bool = False,
        resolve: Callable[[str, int, Deadline], Sequence[str]] | None = None,
        connect: httpcore.NetworkBackend | None = None,
    ) -> None:
        self.secure = secure
        self._resolve = resolve or addresses_of
        self._sockets = connect or httpcore.SyncBackend()
        self.begin(CallTrace(deadline))

    def begin(self, trace: CallTrace) -> None:
        """Another call begins, with its own deadline; nothing of its answer has come in."""
        self.trace = trace
        self._head = b""
        self._head_bytes = self._came_bytes = 0

    def note(self, came: bytes) -> None:
        """Take down how much of the answer came in, and where its head ends."""
        self._came_bytes += len(came)
        if not self._head_bytes:
            self._head += came
            if end := _HEAD_ENDS.search(self._head):
                self._head_bytes = end.end()

    def ended_exactly(self, response: httpcore.Response) -> bool:
        """Whether not a byte came in beyond the length that the answer gave: no byte can pass for the next answer."""
        lengths = [value for name, value in response.headers if name.lower() == b"content-length"]
        if len(lengths) != 1 or not _LENGTH.fullmatch(lengths[0]):
            return False
        return self._came_bytes == self._head_bytes + int(lengths[0])

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        self.trace.connect_started = True
        connecting = Deadline(self.trace.deadline.within(timeout, httpcore.ConnectTimeout))
        addresses = self._resolve(host, port, connecting)
        for position, address in enumerate(addresses, start=1):
            share = connecting.within(None, httpcore.ConnectTimeout) / (len(addresses) - position + 1)
            try:
                stream = self._sockets.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if position == len(addresses):
                    raise
            else:
                return TimedStream(stream, self)
        raise httpcore.ConnectError("the name has no address")


class TimedStream(httpcore.NetworkStream):
    """A connection whose every wait ends at its network's deadline: a byte now and then gains a server nothing.

    What is written goes out once an answer is awaited: head and body in one piece.
    """

    def __init__(self, stream: httpcore.NetworkStream, network: TimedNetwork) -> None:
        self._stream = stream
        self._network = network
        self._socket: socket.socket = stream.get_extra_info("socket")
        self._unsent: list[bytes] = []
        self._write_seconds: float | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            with suppress(httpcore.WriteError):  # who refuses a request may answer before it has come in as a whole
                self._send()
        came = self._stream.read(max_bytes, self._network.trace.deadline.within(timeout, httpcore.ReadTimeout))
        self._network.note(came)
        return came

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)
        self._write_seconds = timeout

    def _send(self) -> None:
        rest, trace = memoryview(b"".join(self._unsent)), self._network.trace
        self._unsent = []
        is_call = self._network.secure == isinstance(self._socket, ssl.SSLSocket)
        if is_call:
            trace.leave()
        while rest:
            # Each time anew: small pieces that the other side takes do not have the whole time each.
            self._socket.settimeout(trace.deadline.within(self._write_seconds, httpcore.WriteTimeout))
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError as error:
                raise httpcore.WriteTimeout(str(error)) from error
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error
        trace.body_sent = is_call

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            left = self._network.trace.deadline.within(timeout, httpcore.ConnectTimeout)
            return TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._network)
        except (httpcore.ConnectError, httpcore.ConnectTimeout):
            self._network.trace.tls_failed = True
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def system_resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as the system knows them, without repeats; raises OSError if there are none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def addresses_of(
    host: str, port: int, deadline: Deadline, *, resolve: Callable[[str, int], Sequence[str]] = system_resolve
) -> Sequence[str]:
    """The addresses of a host. A look-up knows no time limit, so it runs beside us.

    Raises httpcore.ConnectTimeout if it takes too long, ConnectError if it fails.
    """
    if resolve is system_resolve and is_literal(host):
        return [host]
    found: SimpleQueue[Sequence[str] | OSError | UnicodeError] = SimpleQueue()

    def look_up() -> None:
        try:
            found.put(resolve(host, port))
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=look_up, name="look-up", daemon=True).start()
    try:
        answer = found.get(timeout=deadline.within(None, httpcore.ConnectTimeout))
    except Empty:
        raise httpcore.ConnectTimeout("looking up the host's name took too long") from None
    if isinstance(answer, OSError | UnicodeError):
        raise httpcore.ConnectError(str(answer)) from answer
    return answer


def is_literal(host: str) -> bool:
    """Whether a host is an address rather than a name."""
    return ":" in host or host.replace(".", "").isdigit()


class _Line:
    """One of httpcore's connections, and the network that it is made in."""

    def __init__(
        self,
        origin: httpcore.Origin,
        ssl_context: ssl.SSLContext | None,
        proxy: httpcore.Proxy | None,
        idle_seconds: float,
    ) -> None:
        self.network = TimedNetwork(Deadline(0), secure=origin.scheme == b"https")
        self.kept_until = -math.inf
        pool = httpcore.ConnectionPool(
            ssl_context=ssl_context, proxy=proxy, keepalive_expiry=idle_seconds, network_backend=self.network
        )
        self.connection = pool.create_connection(origin)


class Connections:
    """The connections of one client, each for one call at a time; safe for threads."""

    def __init__(self, *, ca_file: str | None, proxy: str | None = None, idle_seconds: float = 0.0) -> None:
        """idle_seconds: for how long a connection is kept without a call; 0: not at all. A proxy's never is.

        Raises SettingsError if the file of certificate authorities cannot be used.
        """
        self._ca_file = ca_file
        self._ssl_context: ssl.SSLContext | None = None
        if ca_file:
            self._tls()
        self._proxy = proxy_of(proxy) if proxy else None
        self._idle_seconds = 0.0 if proxy else idle_seconds
        self._idle: deque[_Line] = deque()  # the one that was used last is taken first

    @property
    def keeps(self) -> bool:
        """Whether connections are kept."""
        return self._idle_seconds > 0

    @property
    def kept_until(self) -> float:
        """The moment until which a kept connection is at hand for the next call; in the past if there is none."""
        try:
            return self._idle[-1].kept_until
        except IndexError:
            return -math.inf

    @contextmanager
    def exchange(
        self, request: httpcore.Request, *, trace: CallTrace, read_seconds: float, alone: bool
    ) -> Iterator[httpcore.Response]:
        """Send one request over a connection that nothing else uses meanwhile; its answer is read within the block.

        read_seconds: for how long no byte of it may come. alone: on a connection of its own. Raises httpcore's
        exceptions; `failure_of` knows them.
        """
        request.extensions = {"timeout": {"connect": CONNECT_SECONDS, "write": READ_SECONDS, "read": read_seconds}}
        line = self._taken(request.url.origin, alone=alone)
        line.network.begin(trace)
        kept = False
        try:
            response = line.connection.handle_request(request)
            trace.reply_started = True
            try:
                yield response
            finally:
                response.close()
            # After an answer that said so, httpcore has closed it.
            kept = self.keeps and not alone and line.network.ended_exactly(response) and line.connection.is_available()
        finally:
            if kept:
                line.kept_until = time.monotonic() + self._idle_seconds
                self._idle.append(line)
            else:
                line.connection.close()

    def _taken(self, origin: httpcore.Origin, *, alone: bool) -> _Line:
        while not alone and self._idle:
            with suppress(IndexError):
                line = self._idle.pop()
                if not line.connection.has_expired():
                    return line
                line.connection.close()
        secure = self._tls() if origin.scheme == b"https" else None
        return _Line(origin, secure, self._proxy, 0.0 if alone else self._idle_seconds)

    def _tls(self) -> ssl.SSLContext:
        """How certificates are verified; the public authorities are read for the first call, not for a dry run."""
        if self._ssl_context is None:
            self._ssl_context = verifying(self._ca_file)
            self._ssl_context.set_alpn_protocols(["http/1.1"])
        return self._ssl_context

    def close(self) -> None:
        """End the connections that are kept; from now on each request has its own."""
        self._idle_seconds = 0.0
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().connection.close()


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
