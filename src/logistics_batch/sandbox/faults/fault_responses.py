"""HTTP answers, held back as a whole until the journal has them, and what each kind of fault makes of one."""

import json
import math
import random
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from starlette.types import Message, Send

from logistics_batch.sandbox.faults.plan import Fault
from logistics_batch.sandbox.service import UNEXPECTED

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


PIECE_BYTES = 65_536
UNAUTHORIZED = "Unauthorized"
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
_GATEWAY_TITLES = {200: "Scheduled maintenance", 400: "400 Bad Request", 502: "502 Bad Gateway"}

Response = Callable[[FaultyAnswer, Fault], FaultyAnswer]


def fault_response(answer: FaultyAnswer, fault: Fault, *, path: str) -> FaultyAnswer:
    """The answer that this fault gives in place of `answer`, the service's own one or `stand_in`."""
    if fault.kind.startswith("redirect_"):
        status = int(fault.kind.removeprefix("redirect_"))
        moved = page(status, f"{status} {HTTPStatus(status).phrase}")
        location = str(fault.options["location"]).replace("{path}", quote(path))
        moved.headers.append((b"location", location.encode("ascii")))
        return moved
    return _RESPONSES.get(fault.kind, _status)(answer, fault)


def stand_in() -> FaultyAnswer:
    """What is spoiled when the service was not asked: a success that tells nothing."""
    return FaultyAnswer(200, [JSON], [b'{"status":"PASS","message":{}}'])


def _status(_answer: FaultyAnswer, fault: Fault) -> FaultyAnswer:
    """A status of HTTP, as JSON or as the page of a proxy, and when to come back."""
    status = int(fault.kind.removeprefix("status_"))
    phrase = HTTPStatus(status).phrase
    message = str(fault.options.get("message", UNAUTHORIZED if status == 401 else phrase))
    answer = page(status, f"{status} {phrase}") if fault.options.get("page") else fail(status, message)
    answer.headers += _retry_after(fault.options)
    return answer


def _retry_after(options: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    text = str(options.get("retry_after", "none"))
    if text == "none":
        return []
    if options["retry_after_as"] == "date":
        text = formatdate(math.ceil(time.time() + float(text)), usegmt=True)
    return [(b"retry-after", text.encode("ascii"))]


def _rate_limited(_answer: FaultyAnswer, fault: Fault) -> FaultyAnswer:
    seconds = str(math.ceil(fault.options["wait_seconds"]))
    answer = fail(429, "Too many requests")
    answer.headers += _retry_after({**fault.options, "retry_after": seconds})
    answer.headers += [
        (b"x-ratelimit-limit", f"{fault.options['per_second']:g}".encode()),
        (b"x-ratelimit-remaining", b"0"),
        (b"x-ratelimit-reset", seconds.encode()),
    ]
    return answer


def _gateway(_answer: FaultyAnswer, fault: Fault) -> FaultyAnswer:
    """The words of gateways in use: a page, or JSON in which nothing is called status."""
    status = fault.options["status"]
    if fault.options["page"]:
        return page(status, _GATEWAY_TITLES[status])
    content = {"error": {"code": status, "reason": _GATEWAY_TITLES[status]}, "request_id": "5f0c8a5e"}
    return FaultyAnswer(status, [JSON], [json.dumps(content).encode()])


def _random_bytes(fault: Fault) -> bytes:
    return random.Random(fault.draw).randbytes(fault.options["bytes"])  # noqa: S311


def _truncated(answer: FaultyAnswer, fault: Fault) -> FaultyAnswer:
    body = answer.body()
    return FaultyAnswer(answer.status, answer.headers, [body[: int(len(body) * fault.options["share"])]])


def _begun_with(member: Callable[[Mapping[str, Any]], list[bytes]]) -> Response:
    """The answer's object with one more member in front; what is no object is spoiled in the stand-in's place."""

    def begun(answer: FaultyAnswer, fault: Fault) -> FaultyAnswer:
        body = answer.body()
        if not body.startswith(b'{"'):
            body = stand_in().body()
        return FaultyAnswer(answer.status, answer.headers, [b"{", *member(fault.options), b",", body[1:]])

    return begun


def _repeated(byte: bytes, count: int) -> Iterator[bytes]:
    """So many bytes, in pieces that are one and the same object."""
    piece = byte * min(count, PIECE_BYTES)
    for _ in range(count // PIECE_BYTES):
        yield piece
    yield byte * (count % PIECE_BYTES)


def _without_awb(answer: FaultyAnswer, _fault: Fault) -> FaultyAnswer:
    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(one) for name, one in value.items() if name not in ("awb_number", "child_awb_numbers")}
        return [bare(one) for one in value] if isinstance(value, list) else value

    return _rewritten(answer, bare)


def _wrong_types(answer: FaultyAnswer, fault: Fault) -> FaultyAnswer:
    def message_as(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        message = value.get("message")
        return {**value, "message": [message] if fault.options["as"] == "array" else None}

    return _rewritten(answer, _as_numbers if fault.options["as"] == "numbers" else message_as)


def _as_numbers(value: Any) -> Any:
    """Every text as a number, those without digits as some number of their own."""
    if isinstance(value, dict):
        return {name: _as_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_numbers(one) for one in value]
    if not isinstance(value, str):
        return value
    return int(value) if value.isdecimal() and len(value) < 100 else zlib.crc32(value.encode(errors="replace"))


def _rewritten(answer: FaultyAnswer, change: Callable[[Any], Any]) -> FaultyAnswer:
    try:
        content = json.loads(answer.body())
    except ValueError:
        return answer  # no JSON: a label, or an answer that another rule has spoiled
    text = json.dumps(change(content), ensure_ascii=False, separators=(",", ":"))
    return FaultyAnswer(answer.status, answer.headers, [text.encode()])


_RESPONSES: Mapping[str, Response] = MappingProxyType(
    {
        "error_500_before": lambda _answer, _fault: fail(500, UNEXPECTED),
        "error_500_after": lambda _answer, _fault: fail(500, UNEXPECTED),
        "rate_limit": _rate_limited,
        "gateway_page": _gateway,
        "html_200": lambda _answer, _fault: page(200, "Sign in to the network"),
        "empty_200": lambda _answer, _fault: FaultyAnswer(200, [JSON]),
        "fail_200": lambda _answer, fault: fail(200, fault.options["message"]),
        "pass_without_awb": _without_awb,
        "truncated_json": _truncated,
        "garbage_json": lambda _answer, fault: FaultyAnswer(200, [JSON], [_random_bytes(fault)]),
        "gzip_garbage": lambda _answer, fault: FaultyAnswer(
            200, [JSON, (b"content-encoding", b"gzip")], [_GZIP_HEADER + _random_bytes(fault)]
        ),
        "duplicate_keys": _begun_with(lambda _options: [b'"status":"FAIL"']),
        "wrong_types": _wrong_types,
        "nan_json": _begun_with(lambda _options: [b'"weight":NaN']),
        "huge_integer": _begun_with(lambda options: [b'"order_id":', *_repeated(b"9", options["digits"])]),
        "deep_json": _begun_with(
            lambda options: [b'"trace":', *_repeated(b"[", options["levels"]), *_repeated(b"]", options["levels"])]
        ),
        "oversized": _begun_with(lambda options: [b'"padding":"', *_repeated(b"x", options["bytes"]), b'"']),
    }
)
