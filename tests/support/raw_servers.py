"""Small servers on loopback that misbehave on purpose: each connection is played by a function over a bare socket."""

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RawRequest:
    """A request as it came over the wire, names and values untouched."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header spelt exactly so."""
        return dict(self.headers).get(name)


def read_request(connection: socket.socket, *, already: bytes = b"") -> RawRequest | None:
    """One whole request; None if the other side hung up first."""
    data = already
    while b"\r\n\r\n" not in data:
        if not (piece := connection.recv(65536)):
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    while len(body) < length:
        if not (piece := connection.recv(65536)):
            return None
        body += piece
    method, target, _ = lines[0].split(" ", 2)
    return RawRequest(method, target, headers, body)


Play = Callable[[socket.socket, "RawServer"], None]


@dataclass
class RawServer:
    """Plays `play` for each connection in a thread of its own, and keeps what it was asked."""

    play: Play
    tls: ssl.SSLContext | None = None
    requests: list[RawRequest] = field(default_factory=list)
    connections: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def request(self, connection: socket.socket) -> RawRequest | None:
        """Read one request and keep it."""
        found = read_request(connection)
        if found is not None:
            self.requests.append(found)
        return found

    def close(self) -> None:
        """Let waiting plays end, and listen no more."""
        self.stop.set()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            if self.tls is not None:
                with self.tls.wrap_socket(connection, server_side=True) as secured:
                    self.play(secured, self)
            else:
                self.play(connection, self)


@contextlib.contextmanager
def serving(play: Play, *, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """A server for the length of a block."""
    server = RawServer(play, tls)
    try:
        yield server
    finally:
        server.close()


def http_bytes(
    status: int, body: bytes = b"", *, headers: dict[str, str] | None = None, content_type: str = "application/json"
) -> bytes:
    """An ordinary answer with its length."""
    fields = {"Content-Type": content_type, "Content-Length": str(len(body))} | (headers or {})
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Reason\r\n{head}\r\n".encode("latin-1") + body


def answering(status: int, body: object = None, **options: object) -> Play:
    """Answers every request on a connection alike; a body that is not bytes becomes JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = http_bytes(status, content, **options)  # type: ignore[arg-type]

    def play(connection: socket.socket, server: RawServer) -> None:
        while server.request(connection) is not None:
            connection.sendall(answer)

    return play


def after_request(*pieces: bytes) -> Play:
    """Reads the request, sends the pieces, hangs up."""

    def play(connection: socket.socket, server: RawServer) -> None:
        server.request(connection)
        for piece in pieces:
            connection.sendall(piece)

    return play


def dripping(start: bytes, drop: bytes, *, every_seconds: float) -> Play:
    """Reads the request, sends the start, and then a hundred drops, one now and then."""

    def play(connection: socket.socket, server: RawServer) -> None:
        server.request(connection)
        connection.sendall(start)
        for _ in range(100):
            if server.stop.wait(every_seconds):
                return
            connection.sendall(drop)

    return play


def silent(connection: socket.socket, server: RawServer) -> None:
    """Reads the request and never answers."""
    server.request(connection)
    server.stop.wait(30)


def resetting(connection: socket.socket, server: RawServer) -> None:
    """Reads the request and breaks the connection."""
    server.request(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def tunnelling(*, to_port: int = 0) -> Play:
    """A proxy that takes CONNECT and leads to the port that was asked for, or always to this one of this machine."""

    def play(connection: socket.socket, server: RawServer) -> None:
        request = server.request(connection)
        assert request is not None
        host, _, port = request.target.rpartition(":")
        with socket.create_connection(("127.0.0.1", to_port) if to_port else (host, int(port))) as onward:
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=_pump, args=(onward, connection), daemon=True)
            back.start()
            _pump(connection, onward)
            back.join(5)

    return play


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
