"""Connections that cannot hold anything up: one deadline for a whole exchange, and the slowest make room.

uvicorn alone waits for ever for the end of a header or a body.
"""

import asyncio
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

EXCHANGE_SECONDS = 10.0
MOST_CONNECTIONS = 512


class Connection(H11Protocol):
    """One connection; from its opening, or the first byte of a further request, an exchange has ten seconds."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it in; if there are too many, the one that has kept us waiting longest is closed."""
        if len(self._open) >= MOST_CONNECTIONS:
            slowest = next(iter(self._open))
            del self._open[slowest]
            slowest.transport.abort()
        super().connection_made(transport)
        # Head and body of an answer are two writes: without this the second waits for an acknowledgement.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request."""
        if self._deadline is None:
            self._begin()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """The exchange is over once its answer has left; a request that came with it begins the next."""
        if not self.transport.is_closing():
            self._end()
        super().on_response_complete()
        if not self.cycle.response_complete:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, from whichever side."""
        self._end()
        self._open.pop(self, None)
        super().connection_lost(exc)

    @property
    def _open(self) -> dict["Connection", None]:
        """Every open connection of this server, the one whose exchange began first in front."""
        found: dict[Connection, None] = self.app_state.setdefault("open", {})
        return found

    def _begin(self) -> None:
        self._end()
        self._open.pop(self, None)
        self._open[self] = None
        self._deadline = self.loop.call_later(EXCHANGE_SECONDS, self.transport.abort)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
