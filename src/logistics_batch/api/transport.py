"""The way to the network: one deadline for a whole call, how far the call got, and connections that may serve again.

What HTTP/1.1 means is h11's, which knows no sockets. The sockets are ours, and with them three things: the deadline,
which no byte now and then can stretch; the trace of each call, where a request of which no byte left is proven not to
have been sent; and a strict rule for connections that are kept.
"""

import base64
import math
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import h11

from logistics_batch.api.reply import Failure, Trace
from logistics_batch.errors import SettingsError

KEPT_IDLE_SECONDS: Final = 1.0
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 30.0
_LARGEST_HEAD_BYTES = 100 * 1024
_PIECE_BYTES = 64 * 1024
PORTS: Final = {"https": 443, "http": 80}
_SAFE_IN_PATH = "/%:@!$&'()*+,;="

Headers = list[tuple[bytes, bytes]]


class CallFailed(Exception):
    """A call has no whole answer. failure: what broke; the text says it in the words of the system."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure


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

    def within(self, own: float = math.inf) -> float:
        """The shorter of an own limit and what is left, in seconds; raises CallFailed if nothing is left."""
        left = self._seconds - self.elapsed
        if left <= 0:
            raise CallFailed("deadline", "the whole call took too long")
        return min(own, left)

    def missed(self, error: BaseException) -> CallFailed:
        """What a wait that took too long means: the end of the call, or of this wait alone."""
        return CallFailed("deadline" if self.elapsed >= self._seconds else "timeout", _words(error))


class CallTrace:
    """How far one call got.

    first_byte_before: a call that has not begun to send by then (seconds from its start) does not send at all: its
    intent was written down for now, not for later. depart: called just before the first byte; says when that is, None
    if the call must not leave. A connection waits meanwhile, so that it must be quick.
    """

    def __init__(self, deadline: Deadline, *, first_byte_before: float = math.inf) -> None:
        self.deadline = deadline
        self.depart: Callable[[], float | None] = time.monotonic
        self.departed = -math.inf
        self.connect_started = self.send_started = self.body_sent = self.reply_started = False
        self._first_byte_before = first_byte_before

    def leave(self) -> None:
        """The first byte is about to leave; raises CallFailed where that would be too late."""
        departed = self.depart()
        if departed is None or self.deadline.elapsed > self._first_byte_before:
            raise CallFailed("late", "it took too long until the call could leave; nothing was sent")
        self.departed, self.send_started = departed, True

    @property
    def steps(self) -> Trace:
        """The steps that are known to have happened."""
        return Trace(self.connect_started, self.send_started, self.body_sent, self.reply_started)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a call goes. host: in ASCII, an address of IPv6 without brackets. target: path and query, quoted."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def shown_host(self) -> str:
        """The host as it stands in an address, with its port where that is not the usual one."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"


def address_of(url: str) -> Address:
    """The parts of an address that was checked before."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("idna").decode("ascii")
    target = quote(parts.path or "/", safe=_SAFE_IN_PATH) + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme, host, parts.port or PORTS[parts.scheme], target)


@dataclass(slots=True)
class Received:
    """What has come in of an answer so far, up to `largest_bytes`; it stays when the connection breaks."""

    largest_bytes: int
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)  # names in small letters
    body: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def head(self, response: h11.Response) -> None:
        """Take in status and headers."""
        self.status = response.status_code
        for name, value in response.headers:
            known, text = name.decode("latin-1"), _header_text(value)
            self.headers[known] = f"{self.headers[known]}, {text}" if known in self.headers else text


def _header_text(value: bytes) -> str:
    """A header's value; old services write other letters than those of ASCII as Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


class Network:
    """How names are looked up and sockets opened; a call may lead to other addresses than its name's."""

    def resolve(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host as the system knows them, without repeats; raises OSError if there are none."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(address[0]) for *_, address in found))

    def connect(self, address: str, port: int, seconds: float) -> socket.socket:
        """A connection to an address."""
        opened = socket.create_connection((address, port), seconds)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def secure(self, plain: socket.socket, context: ssl.SSLContext, name: str) -> socket.socket:
        """The same connection, encrypted, once the other side has proven its name."""
        return context.wrap_socket(plain, server_hostname=name)

    def addresses(self, host: str, port: int, deadline: Deadline) -> Sequence[str]:
        """The addresses of a host. A look-up knows no time limit, so it runs beside us.

        Raises CallFailed if it takes too long or fails.
        """
        if is_literal(host):
            return [host]
        found: SimpleQueue[Sequence[str] | OSError | UnicodeError] = SimpleQueue()

        def look_up() -> None:
            try:
                found.put(self.resolve(host, port))
            except (OSError, UnicodeError) as error:
                found.put(error)

        threading.Thread(target=look_up, name="look-up", daemon=True).start()
        try:
            answer = found.get(timeout=deadline.within())
        except Empty:
            raise CallFailed("timeout", "looking up the host's name took too long") from None
        if isinstance(answer, OSError | UnicodeError):
            raise CallFailed("connect", _words(answer)) from answer
        return answer


def is_literal(host: str) -> bool:
    """Whether a host is an address rather than a name."""
    return ":" in host or host.replace(".", "").isdigit()


@lru_cache(maxsize=512)
def _request(method: str, target: str, headers: tuple[tuple[bytes, bytes], ...]) -> h11.Request:
    """The checked head of a request; creates of the same length have the same one."""
    return h11.Request(method=method, target=target, headers=list(headers))


class _Connection:
    """One connection, for one call at a time, and what h11 knows of the talk on it."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self._talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD_BYTES)
        self.kept_until = -math.inf

    def ask(self, method: str, target: str, headers: Headers, body: bytes, *, trace: CallTrace) -> None:
        """Send a request in one piece.

        Who refuses a request may answer before it has come in as a whole: what breaks then is seen when the answer is
        read.
        """
        parts = [self._talk.send(_request(method, target, tuple(headers)))]
        if body:
            parts.append(self._talk.send(h11.Data(data=body)))
        parts.append(self._talk.send(h11.EndOfMessage()))
        rest = memoryview(b"".join(part for part in parts if part))
        trace.leave()
        with suppress(OSError):
            while rest:
                # Each time anew: small pieces that the other side takes do not have the whole time each.
                self._socket.settimeout(trace.deadline.within(READ_SECONDS))
                try:
                    rest = rest[self._socket.send(rest) :]
                except TimeoutError as error:
                    raise trace.deadline.missed(error) from error
            trace.body_sent = True

    def read(self, received: Received, *, trace: CallTrace, seconds: float) -> bool:
        """Read the answer; whether not a byte came beside it that could pass for the answer to the next call.

        seconds: for how long no byte of it may come. What it gives is false, too, where more came than is read.
        """
        plain = True
        while True:
            event = self._talk.next_event()
            if event is h11.NEED_DATA:
                self._talk.receive_data(self._piece(trace.deadline, seconds))
            elif isinstance(event, h11.Response):
                received.head(event)
                trace.reply_started = True
                if self._talk.their_state is h11.SWITCHED_PROTOCOL:  # a tunnel is open
                    return False
            elif isinstance(event, h11.Data):
                received.body += event.data
                if len(received.body) > received.largest_bytes:
                    received.truncated = True
                    return False
            elif isinstance(event, h11.EndOfMessage):
                break
            elif isinstance(event, h11.InformationalResponse):
                plain = False
            else:
                raise CallFailed("protocol", "the connection was closed without an answer")
        gave_length = "content-length" in received.headers and "transfer-encoding" not in received.headers
        if not (plain and gave_length) or self._talk.trailing_data != (b"", False):
            return False
        if self._talk.our_state is not h11.DONE or self._talk.their_state is not h11.DONE:
            return False
        self._talk.start_next_cycle()
        return True

    def _piece(self, deadline: Deadline, seconds: float) -> bytes:
        self._socket.settimeout(deadline.within(seconds))
        try:
            return self._socket.recv(_PIECE_BYTES)
        except TimeoutError as error:
            raise deadline.missed(error) from error
        except OSError as error:
            raise CallFailed("reset", _words(error)) from error

    @property
    def is_fresh(self) -> bool:
        """Whether it may take another call: it was not idle for too long, and nothing has come in since."""
        if time.monotonic() >= self.kept_until:
            return False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def tunnel(self, to: Address, headers: Headers, trace: CallTrace) -> socket.socket:
        """The socket, from now on a tunnel through a proxy; raises CallFailed if the proxy opens none."""
        place = f"[{to.host}]:{to.port}" if ":" in to.host else f"{to.host}:{to.port}"
        received = Received(0)
        self.ask("CONNECT", place, [(b"Host", place.encode()), *headers], b"", trace=trace)
        self.read(received, trace=trace, seconds=CONNECT_SECONDS)
        if self._talk.their_state is not h11.SWITCHED_PROTOCOL:
            raise CallFailed("connect", f"the proxy answered {received.status}")
        return self._socket

    def close(self) -> None:
        """End it."""
        with suppress(OSError):
            self._socket.close()


class Connections:
    """The connections of one client, each for one call at a time; safe for threads."""

    def __init__(
        self,
        *,
        ca_file: str | None,
        proxy: str | None = None,
        idle_seconds: float = 0.0,
        network: Network | None = None,
        addresses: Sequence[str] = (),
    ) -> None:
        """idle_seconds: for how long a connection is kept without a call; 0: not at all. A proxy's never is.

        addresses: where to connect to, instead of the addresses of the name.

        Raises SettingsError if the file of certificate authorities cannot be used.
        """
        self._ca_file = ca_file
        self._context: ssl.SSLContext | None = None
        if ca_file:
            self._tls()
        self._proxy = urlsplit(proxy) if proxy else None
        self._idle_seconds = 0.0 if proxy else idle_seconds
        self._network = network or Network()
        self._addresses = addresses
        self._idle: deque[_Connection] = deque()  # the one that was used last is taken first

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

    def exchange(
        self,
        method: str,
        to: Address,
        headers: Headers,
        body: bytes,
        *,
        trace: CallTrace,
        received: Received,
        read_seconds: float = READ_SECONDS,
        alone: bool = True,
    ) -> None:
        """Send one request over a connection that nothing else uses meanwhile, and read its answer into `received`.

        read_seconds: for how long no byte of it may come. alone: on a connection of its own. Raises CallFailed.
        """
        connection = None if alone else self._kept()
        if connection is None:
            connection = self._opened(to, trace)
        kept, target = False, to.target
        if self._proxy is not None and to.scheme == "http":
            target, headers = f"http://{to.shown_host}{to.target}", [*self._proxy_headers(), *headers]
        try:
            connection.ask(method, target, headers, body, trace=trace)
            kept = connection.read(received, trace=trace, seconds=read_seconds) and self.keeps and not alone
        except h11.ProtocolError as error:
            raise CallFailed("protocol", _words(error)) from error
        finally:
            if kept:
                connection.kept_until = time.monotonic() + self._idle_seconds
                self._idle.append(connection)
            else:
                connection.close()

    def _kept(self) -> _Connection | None:
        while self._idle:
            with suppress(IndexError):
                connection = self._idle.pop()
                if connection.is_fresh:
                    return connection
                connection.close()
        return None

    def _opened(self, to: Address, trace: CallTrace) -> _Connection:
        """A new connection; looking up the name, trying all its addresses and encrypting have ten seconds in all."""
        trace.connect_started = True
        connecting = Deadline(trace.deadline.within(CONNECT_SECONDS))
        if self._proxy is None:
            opened = self._connected(to.host, to.port, connecting)
        else:
            opened = self._connected(self._proxy.hostname or "", self._proxy.port or 0, connecting)
        try:
            if to.scheme == "https":
                if self._proxy is not None:
                    before = CallTrace(connecting)  # what is said to a proxy is not the call
                    opened = _Connection(opened).tunnel(to, self._proxy_headers(), before)
                opened.settimeout(connecting.within())
                opened = self._network.secure(opened, self._tls(), to.host)
        except h11.ProtocolError as error:
            opened.close()
            raise CallFailed("connect", f"the proxy broke off: {_words(error)}") from error
        except OSError as error:
            opened.close()
            raise CallFailed("tls", _words(error)) from error
        except BaseException:
            opened.close()
            raise
        return _Connection(opened)

    def _connected(self, host: str, port: int, connecting: Deadline) -> socket.socket:
        addresses = self._addresses or self._network.addresses(host, port, connecting)
        failed = CallFailed("connect", "the name has no address")
        for left in range(len(addresses), 0, -1):
            try:
                return self._network.connect(addresses[-left], port, connecting.within() / left)
            except TimeoutError as error:
                failed = CallFailed("timeout", _words(error))
            except OSError as error:
                failed = CallFailed("connect", _words(error))
        raise failed

    def _proxy_headers(self) -> Headers:
        if self._proxy is None or self._proxy.username is None:
            return []
        known = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}"
        return [(b"Proxy-Authorization", b"Basic " + base64.b64encode(known.encode()))]

    def _tls(self) -> ssl.SSLContext:
        """How certificates are verified; the public authorities are read for the first call, not for a dry run."""
        if self._context is None:
            self._context = verifying(self._ca_file)
        return self._context

    def close(self) -> None:
        """End the connections that are kept; from now on each request has its own."""
        self._idle_seconds = 0.0
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()


def verifying(ca_file: str | None) -> ssl.SSLContext:
    """TLS that verifies certificates and host names, always; the environment is not asked.

    ca_file: the authorities to trust instead of the public ones. Raises SettingsError if the file cannot be used.
    """
    import certifi

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_verify_locations(cafile=ca_file or certifi.where())
    except OSError as error:  # ssl.SSLError is one
        raise SettingsError(
            f"The file of certificate authorities {ca_file} cannot be used: {error.strerror or error}.",
            remedy="Name a readable PEM file in service.ca_file, or leave the key out.",
        ) from error
    return context


def _words(error: BaseException) -> str:
    """What the system said, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
