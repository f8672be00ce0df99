"""One deadline for a whole call: looking up the name, connecting, each write and each read end with it.

A limit for each single wait does not do: a server that sends a byte now and then would stretch a call without end.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any

import httpcore


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


class TimedStream(httpcore.NetworkStream):
    """A connection whose every wait ends at the backend's deadline: a byte now and then gains a server nothing."""

    def __init__(self, stream: httpcore.NetworkStream, backend: "TimedBackend") -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._backend.deadline.within(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # Not by the stream's own write: that gives each small piece which the other side takes the whole time anew.
        connection: socket.socket = self._stream.get_extra_info("socket")
        rest = memoryview(buffer)
        while rest:
            connection.settimeout(self._backend.deadline.within(timeout, httpcore.WriteTimeout))
            try:
                rest = rest[connection.send(rest) :]
            except TimeoutError as error:
                raise httpcore.WriteTimeout(str(error)) from error
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._backend.deadline.within(timeout, httpcore.ConnectTimeout)
        return TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class TimedBackend(httpcore.NetworkBackend):
    """Connects within the deadline: looking up the name and trying all its addresses included."""

    def __init__(self, deadline: Deadline) -> None:
        self._sockets = httpcore.SyncBackend()
        self.deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        connecting = Deadline(self.deadline.within(timeout, httpcore.ConnectTimeout))
        addresses = _addresses(host, port, connecting)
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


def _addresses(host: str, port: int, deadline: Deadline) -> list[str]:
    """The addresses of a host. The system's look-up knows no time limit, so it runs beside us."""
    found: SimpleQueue[list[str] | OSError | UnicodeError] = SimpleQueue()

    def look_up() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            found.put(error)
        else:
            found.put(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))

    if is_literal(host):
        return [host]
    threading.Thread(target=look_up, name="look-up", daemon=True).start()
    try:
        answer = found.get(timeout=deadline.within(None, httpcore.ConnectTimeout))
    except Empty:
        raise httpcore.ConnectTimeout("looking up the host's name took too long") from None
    if not isinstance(answer, list):
        raise httpcore.ConnectError(str(answer)) from answer
    return answer


def is_literal(host: str) -> bool:
    """Whether a host is an address rather than a name."""
    return ":" in host or host.replace(".", "").isdigit()
