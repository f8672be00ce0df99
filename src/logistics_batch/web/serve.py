"""Listen until asked to stop; what is under way then is finished."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.flows.orders.receive_event import EventStore
from logistics_batch.web.receiver import Gate, GroupCommit, Receiver, Surroundings

# Together less than the ten seconds in which it has to end: for open requests, and in the last write for other writers.
_FINISH_SECONDS = 4
_PATIENCE_SECONDS = 3.0  # for other writers of the ledger; a sender waits as long, and a little for the write itself
_BACKLOG = 1024

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class ListeningPlace:
    """Where to listen; port 0: any free one."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def shown(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host


def receive(place: ListeningPlace, gate: Gate, store: EventStore, around: Surroundings, *, stop: Event) -> str:
    """Store events until `stop` is set; gives the counts in words.

    Raises UsageError if the port is not to be had, LedgerRefused if nothing can be stored any more.
    """
    with listening(place) as listener:
        commit = GroupCommit(
            lambda events: store.keep(events, patience_seconds=_PATIENCE_SECONDS),
            patience_seconds=_PATIENCE_SECONDS + 1,
            say=around.say,
        )
        receiver = Receiver(gate, commit, around)
        address = f"http://{place.shown}:{listener.getsockname()[1]}"
        serve_until(
            listener,
            receiver,
            on_ready=lambda: around.on_ready(address),
            must_end=lambda: stop.is_set() or not commit.works,
        )
    if not commit.works:
        raise LedgerRefused("The part of the program that stores events failed.", remedy="Report this; start it again.")
    commit.close()
    return ", ".join(f"{number} {what}" for what, number in receiver.counts.items())


def listening(place: ListeningPlace) -> socket.socket:
    """A socket that listens. Raises UsageError if the port is not to be had."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        return socket.create_server((place.host, place.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise UsageError(
            f"Nothing can listen on {place.host}, port {place.port}: {error.strerror or error}.",
            remedy="Choose another port with --port, or change host and port under [receive].",
        ) from error


def serve_until(
    listener: socket.socket,
    application: Application,
    *,
    on_ready: Callable[[], None],
    must_end: Callable[[], bool],
    certificate: tuple[Path, Path | None] | None = None,
    patiently: bool = False,
) -> None:
    """Answer requests until `must_end`; certificate: the files of certificate and key, for TLS.

    patiently: an answer may take longer than an exchange has else.
    """
    config = _config(application, certificate, PatientConnection if patiently else Connection)
    _Server(config, on_ready=on_ready, must_end=must_end).run(sockets=[listener])


def _config(
    application: Application, certificate: tuple[Path, Path | None] | None, connection: type["Connection"]
) -> uvicorn.Config:
    cert, key = certificate or (None, None)
    return uvicorn.Config(
        application,
        http=connection,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_FINISH_SECONDS,
        ssl_certfile=cert,
        ssl_keyfile=key,
    )


class _Server(uvicorn.Server):
    """Says when it listens, and ends when it is told to rather than by signals of its own."""

    def __init__(self, config: uvicorn.Config, *, on_ready: Callable[[], None], must_end: Callable[[], bool]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._must_end = must_end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._must_end()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


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


ANSWER_SECONDS = 120.0


class PatientConnection(Connection):
    """The same, but a request that is there as a whole has two minutes for its answer."""

    def data_received(self, data: bytes) -> None:
        """Bytes of a request."""
        super().data_received(data)
        if self._deadline is not None and self.cycle is not None and not self.cycle.more_body:
            self._end()
            self._deadline = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)
