"""A client that sees what goes over the wire: every byte of an answer, and how the connection ended."""

import json
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from support.sandbox_process import RunningSandbox

PATIENCE_SECONDS = 10.0


@dataclass(frozen=True)
class Wire:
    """What came, and whether the connection was ``closed``, ``reset`` or is still ``open``."""

    received: bytes
    end: str

    @property
    def head(self) -> bytes:
        """Status line and headers, as far as they came."""
        return self.received.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        """What came behind the headers."""
        return self.received.partition(b"\r\n\r\n")[2]

    def header(self, name: str) -> str | None:
        """The value of a header, by its name in small letters."""
        lines = (line.partition(b":") for line in self.head.split(b"\r\n")[1:])
        return {key.decode().lower(): value.strip().decode() for key, _, value in lines}.get(name)


class RawConnection:
    """One connection to the sandbox, for one request after another."""

    def __init__(self, sandbox: RunningSandbox) -> None:
        place = urlsplit(sandbox.url)
        self._key = sandbox.api_key
        self._socket = socket.create_connection((place.hostname, place.port or 80), timeout=PATIENCE_SECONDS)

    def send(self, method: str, path: str, content: object = None) -> None:
        """Send one request with the right key; the connection shall be kept."""
        body = b"" if content is None else json.dumps(content).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: sandbox\r\nAPI_KEY: {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._socket.sendall(head.encode() + body)

    def read_some(self) -> bytes:
        """The next bytes that come."""
        return self._socket.recv(65536)

    def read_answer(self, received: bytes = b"") -> Wire:
        """One whole answer, as long as it says it is; `received`: what was read of it already."""
        while True:
            wire = Wire(received, "open")
            length = wire.header("content-length")
            if b"\r\n\r\n" in received and length is not None and len(wire.body) >= int(length):
                return wire
            piece = self.read_some()
            if not piece:
                return Wire(received, "closed")
            received += piece

    def read_to_end(self) -> Wire:
        """Everything until the connection ends."""
        received = b""
        try:
            while piece := self.read_some():
                received += piece
        except ConnectionResetError:
            return Wire(received, "reset")
        return Wire(received, "closed")

    def close(self) -> None:
        """End the connection."""
        self._socket.close()
