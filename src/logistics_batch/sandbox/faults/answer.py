"""An HTTP answer, held back as a whole until the journal has it."""

import json
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.types import Message, Send

JSON = (b"content-type", b"application/json")
HTML = (b"content-type", b"text/html; charset=utf-8")


@dataclass
class FaultyAnswer:
    """Status, headers and body; where pieces of a large body are equal they are one and the same object."""

    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)

    async def collect(self, message: Message) -> None:
        """Take one ASGI message of the service."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message.get("headers", []))
        elif message.get("body"):
            body = message["body"]
            again = bool(self.pieces) and body == self.pieces[-1]
            self.pieces.append(self.pieces[-1] if again else body)

    async def send(self, send: Send) -> None:
        """Give the whole answer to the client."""
        await self.send_head(send)
        for piece in self.pieces[:-1]:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": self.pieces[-1] if self.pieces else b""})

    async def send_head(self, send: Send) -> None:
        """Give status and headers, which announce the length of the whole body."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.framed_headers()})

    def framed_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers with the length of the body as it is now."""
        length = (b"content-length", b"%d" % self.length())
        return [*(one for one in self.headers if one[0].lower() != b"content-length"), length]

    def length(self) -> int:
        """Bytes of the body."""
        return sum(map(len, self.pieces))

    def body(self) -> bytes:
        """The body in one piece."""
        return self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)

    def head(self) -> bytes:
        """Status line and headers as they go over the wire, for a connection that ends with this answer."""
        headers = [*self.framed_headers(), (b"connection", b"close")]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        return f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n".encode() + lines + b"\r\n"


def fail(status: int, message: str) -> FaultyAnswer:
    """The FAIL envelope (API §7)."""
    return FaultyAnswer(status, [JSON], [json.dumps({"status": "FAIL", "message": message}).encode()])


def page(status: int, title: str) -> FaultyAnswer:
    """A web page for people, such as proxies give."""
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return FaultyAnswer(status, [HTML], [text.encode()])
