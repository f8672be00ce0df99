"""Connections, each for one call after the other.

A request leaves in one piece, and an answer in plain form (HTTP/1.1, one length, nothing odd) is read here, in as few
steps as can be: with many threads on the telephone, each wait that begins is a wait for the interpreter when it ends.
Any other answer is left to httpcore, from its first byte.

A kept connection is used again only if nothing about it is odd: the last answer was plain and ended exactly where its
length says, nothing has come in since, and it was not idle for long. What breaks on it all the same is a doubt, as
anywhere.
"""

import re
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

import httpcore

from logistics_batch.api.deadline import Deadline, TimedBackend

_PIECE_BYTES = 1 << 16
_HEAD = re.compile(
    rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [\t -~\x80-\xff]*)?\r\n"
    rb"((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*)\r\n"
)
_WITHOUT_BODY = (204, 304)
_LENGTH = re.compile(rb"[0-9]{1,15}")
_HTTPS = b"https"


class Witness(Protocol):
    """Who is told how far a call got; `depart` may raise to keep the first byte back."""

    def depart(self) -> None:
        """The first byte is about to leave."""

    def reached(self, step: str) -> None:
        """A step was taken, in httpcore's words for it."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long one call may take: as a whole, to connect, to write a piece, and for the next sign of life (seconds)."""

    deadline: Deadline
    connect: float
    write: float
    read: float

    def as_dict(self) -> dict[str, float]:
        """The same but for the deadline, as httpcore takes it."""
        return {"connect": self.connect, "write": self.write, "read": self.read}


@dataclass(frozen=True, slots=True)
class Message:
    """A request as it goes over the wire, with the key."""

    method: bytes
    target: bytes
    headers: list[tuple[bytes, bytes]] = field(repr=False)
    body: bytes = field(repr=False)
    origin: httpcore.Origin

    def as_bytes(self) -> bytes:
        """All of it."""
        head = b"".join([b"%b: %b\r\n" % each for each in self.headers])
        return b"%b %b HTTP/1.1\r\n%b\r\n%b" % (self.method, self.target, head, self.body)

    def for_httpcore(self) -> httpcore.Request:
        """The same in httpcore's form."""
        scheme, host, port = self.origin.scheme, self.origin.host, self.origin.port
        url = httpcore.URL(scheme=scheme, host=host, port=port, target=self.target)
        return httpcore.Request(self.method, url, headers=self.headers, content=self.body)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer whose head has come in; its body comes in pieces while its connection is open."""

    status: int
    headers: list[tuple[bytes, bytes]]
    pieces: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class _Plain:
    """An answer's head in plain form. length: of its head and body in bytes. kept: whether the connection stays."""

    status: int
    headers: list[tuple[bytes, bytes]]
    head_bytes: int
    body_bytes: int
    kept: bool


class Line:
    """One connection, which opens with its first request."""

    def __init__(self, origin: httpcore.Origin, tls: Callable[[], ssl.SSLContext]) -> None:
        self.origin = origin
        self._tls = tls
        self._stream: httpcore.NetworkStream | None = None
        self._socket: socket.socket | None = None
        self._whole = False  # the last answer came in to its last byte, and no byte more

    def send(self, request: Message, *, waits: Waits, witness: Witness) -> Answered:
        """Send a request; every wait, also for the body of the answer, ends with its deadline.

        Raises httpcore's exceptions.
        """
        self._whole = False
        line = self._socket or self._connect(waits, witness)
        witness.depart()
        witness.reached("send_request_headers.started")
        try:
            _write(line, request.as_bytes(), waits)
        except httpcore.WriteError:
            pass  # the service may have answered already, and hung up on what it did not want to hear
        else:
            witness.reached("send_request_body.complete")
        heard = _read(line, waits)
        plain = _plain(heard)
        if plain is None:
            rest = _Rest(heard, lambda: _read(line, waits), self.close)
            response = httpcore.HTTP11Connection(self.origin, rest).handle_request(request.for_httpcore())
            answered = Answered(response.status, response.headers, response.iter_stream())
        else:
            answered = Answered(plain.status, plain.headers, self._body(line, plain, heard, waits))
        witness.reached("receive_response_headers.complete")
        return answered

    def _connect(self, waits: Waits, witness: Witness) -> socket.socket:
        host = self.origin.host.decode("ascii")
        witness.reached("connect_tcp.started")
        stream = TimedBackend(waits.deadline).connect_tcp(host, self.origin.port, waits.connect)
        if self.origin.scheme == _HTTPS:
            try:
                stream = stream.start_tls(self._tls(), host, waits.connect)
            except BaseException:
                witness.reached("start_tls.failed")
                raise
        self._stream, connected = stream, stream.get_extra_info("socket")
        assert isinstance(connected, socket.socket)
        connected.setblocking(True)
        self._socket = connected
        return connected

    def _body(self, line: socket.socket, plain: _Plain, heard: bytes, waits: Waits) -> Iterator[bytes]:
        piece, missing = heard[plain.head_bytes :], plain.body_bytes
        while len(piece) < missing:
            if piece:
                yield piece
            missing -= len(piece)
            piece = _read(line, waits)
            if not piece:
                raise httpcore.RemoteProtocolError(f"the connection was closed {missing} bytes before the answer's end")
        self._whole = plain.kept and len(piece) == missing
        if missing:
            yield piece[:missing]

    @property
    def is_sound(self) -> bool:
        """Whether the last answer is over, and was no byte shorter or longer than it said."""
        return self._whole and self._stream is not None

    @property
    def is_silent(self) -> bool:
        """Whether nothing has come in since, not even the connection's end."""
        return self._stream is not None and not self._stream.get_extra_info("is_readable")

    def close(self) -> None:
        """End the connection."""
        if self._stream is not None:
            self._stream.close()
        self._stream = self._socket = None


class _Rest(httpcore.NetworkStream):
    """What httpcore is given for a connection on which a request was sent and an answer has begun."""

    def __init__(self, heard: bytes, read_more: Callable[[], bytes], close: Callable[[], None]) -> None:
        self._heard = heard
        self._read_more = read_more
        self._close = close

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        heard, self._heard = self._heard[:max_bytes], self._heard[max_bytes:]
        return heard or self._read_more()

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """The request has left already."""

    def close(self) -> None:
        self._close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ARG002
        return None


def _write(line: socket.socket, message: bytes, waits: Waits) -> None:
    rest = memoryview(message)
    while rest:
        _limit(line, socket.SO_SNDTIMEO, waits.deadline.within(waits.write, httpcore.WriteTimeout))
        try:
            rest = rest[line.send(rest) :]
        except (TimeoutError, BlockingIOError) as error:
            raise httpcore.WriteTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error


def _read(line: socket.socket, waits: Waits) -> bytes:
    _limit(line, socket.SO_RCVTIMEO, waits.deadline.within(waits.read, httpcore.ReadTimeout))
    try:
        return line.recv(_PIECE_BYTES)
    except (TimeoutError, BlockingIOError) as error:
        raise httpcore.ReadTimeout(str(error)) from error
    except OSError as error:
        raise httpcore.ReadError(str(error)) from error


def _limit(line: socket.socket, option: int, seconds: float) -> None:
    """The next wait on a connection ends after so long: by the system, where Python's limit costs three steps more."""
    if isinstance(line, ssl.SSLSocket):
        line.settimeout(seconds)
    else:
        whole = int(seconds)
        line.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", whole, max(1, int((seconds - whole) * 1e6))))


def _plain(heard: bytes) -> _Plain | None:
    """The head of an answer; None where it is not whole, or in any way unusual."""
    head = _HEAD.match(heard)
    if head is None or (status := int(head[1])) in _WITHOUT_BODY:
        return None
    headers, lengths, kept = [], [], True
    for line in head[2].split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        value, lower = value.strip(b" \t"), name.lower()
        headers.append((name, value))
        if lower == b"content-length":
            lengths.append(value)
        elif lower == b"transfer-encoding":
            return None
        elif lower == b"connection":
            kept = kept and value.lower() == b"keep-alive"
    if len(lengths) != 1 or not _LENGTH.fullmatch(lengths[0]):
        return None
    return _Plain(status, headers, head.end(), int(lengths[0]), kept)


class KeptLines:
    """Connections between two calls; safe for threads."""

    def __init__(self, idle_seconds: float) -> None:
        """idle_seconds: for how long a connection is kept without a call; 0: not at all."""
        self.idle_seconds = idle_seconds
        self._lock = Lock()
        self._idle: deque[tuple[float, Line]] = deque()  # since when, the longest first

    def close(self) -> None:
        """End those that are kept; from now on none is."""
        with self._lock:
            self.idle_seconds = 0.0
            self._close_old()

    def take(self, origin: httpcore.Origin) -> Line | None:
        """The connection that was used last and can be used again; None if there is none."""
        while self.idle_seconds:
            with self._lock:
                self._close_old()
                if not self._idle:
                    return None
                _, line = self._idle.pop()
            if line.origin == origin and line.is_silent:
                return line
            line.close()
        return None

    def give_back(self, line: Line) -> None:
        """A call on a connection is over; it ends unless it is kept."""
        if self.idle_seconds and line.is_sound:
            with self._lock:
                self._idle.append((time.monotonic(), line))
                self._close_old()
        else:
            line.close()

    def _close_old(self) -> None:
        oldest = time.monotonic() - self.idle_seconds
        while self._idle and (not self.idle_seconds or self._idle[0][0] < oldest):
            self._idle.popleft()[1].close()
