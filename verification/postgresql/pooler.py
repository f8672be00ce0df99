"""A pooler of PostgreSQL connections, as PgBouncer with pool_mode = transaction: after each one, the next is served."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

_NO_TLS, _ASKS_FOR_TLS = b"N", 80877103
_READY, _SYNC, _QUERY, _END = b"Z", b"S", b"Q", b"X"


class Gone(Exception):
    """The other side hung up."""


def _exactly(line: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        piece = line.recv(length - len(found))
        if not piece:
            raise Gone
        found += piece
    return found


def _message(line: socket.socket) -> bytes:
    """One message: its kind, its length, its content."""
    head = _exactly(line, 5)
    return head + _exactly(line, struct.unpack("!I", head[1:])[0] - 4)


def _start(line: socket.socket) -> bytes:
    """A client's first message, without TLS."""
    while True:
        length = _exactly(line, 4)
        rest = _exactly(line, struct.unpack("!I", length)[0] - 4)
        if struct.unpack("!I", rest[:4])[0] != _ASKS_FOR_TLS:
            return length + rest
        line.sendall(_NO_TLS)


class _Pooler:
    def __init__(self, server: str) -> None:
        self._server = server
        self._idle: list[socket.socket] = []  # connections to the server on which no transaction is open
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(Gone, OSError):
            backend: socket.socket | None = socket.socket(socket.AF_UNIX)
            assert backend is not None
            backend.connect(self._server)
            backend.sendall(_start(client))
            backend = self._answer(backend, client)
            while (message := _message(client))[:1] != _END:
                backend = backend or self._idle.pop()
                backend.sendall(message)
                if message[:1] in (_SYNC, _QUERY):
                    backend = self._answer(backend, client)

    def _answer(self, backend: socket.socket, client: socket.socket) -> socket.socket | None:
        """All that the server says until it is ready; None if it is free for anybody then."""
        while (message := _message(backend))[:1] != _READY:
            client.sendall(message)
        in_transaction = message[5:] != b"I"
        if not in_transaction:
            self._idle.append(backend)
        client.sendall(message)
        return backend if in_transaction else None

    def close(self) -> None:
        """End it; its connections to the server go with it."""
        self._listener.close()
        for backend in self._idle:
            backend.close()


@contextmanager
def pooling(url: str) -> Iterator[str]:
    """The address of the same database behind a pooler, while the block runs; `url`: of a server on a local socket."""
    parts = urlsplit(url)
    pooler = _Pooler(f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432")
    try:
        yield f"{parts.scheme}://{parts.username}@127.0.0.1:{pooler.port}{parts.path}"
    finally:
        pooler.close()
