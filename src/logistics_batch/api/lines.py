"""Connections that serve one call after the other, for a service that was shown to answer on them.

A kept connection is used again only if nothing about it is odd: the last answer ended exactly where its length says,
nothing has come in since, and it was not idle for long. What breaks on it all the same is a doubt, as anywhere.
"""

import ssl
import time
from collections import deque
from threading import Lock

import httpcore

from logistics_batch.api.deadline import Deadline, TimedBackend


class Line:
    """One connection, which opens with its first request."""

    def __init__(self, origin: httpcore.Origin, ssl_context: ssl.SSLContext, *, deadline: Deadline) -> None:
        self.origin = origin
        self._backend = TimedBackend(deadline)
        self._connection = httpcore.HTTPConnection(origin, ssl_context=ssl_context, network_backend=self._backend)
        self._body_length: int | None = None

    def send(self, request: httpcore.Request, *, deadline: Deadline) -> httpcore.Response:
        """Send a request; every wait, also for the body of the answer, ends with its deadline."""
        self._backend.begin(deadline)
        self._body_length = None
        response = self._connection.handle_request(request)
        lengths = [value for name, value in response.headers if name.lower() == b"content-length"]
        self._body_length = int(lengths[0]) if len(lengths) == 1 and lengths[0].isdigit() else None
        return response

    @property
    def is_sound(self) -> bool:
        """Whether the last answer is over, and was no byte shorter or longer than it said."""
        head = self._backend.head_length
        exact = head and self._body_length is not None and self._backend.bytes_heard == head + self._body_length
        return bool(exact) and self._connection.is_idle() and not self._connection.has_expired()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class KeptLines:
    """Connections between two calls; safe for threads."""

    def __init__(self) -> None:
        self.idle_seconds = 0.0
        self._lock = Lock()
        self._idle: deque[tuple[float, Line]] = deque()  # since when, the longest first

    def keep(self, idle_seconds: float) -> None:
        """Keep connections that were idle no longer than that; 0: none."""
        with self._lock:
            self.idle_seconds = idle_seconds
            self._close_old()

    def take(self, origin: httpcore.Origin) -> Line | None:
        """The connection that was used last and can be used again; None if there is none."""
        with self._lock:
            self._close_old()
            while self._idle:
                _, line = self._idle.pop()
                if line.origin == origin and line.is_sound:
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
