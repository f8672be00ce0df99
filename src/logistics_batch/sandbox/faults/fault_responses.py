"""Answers that are wrong: what each kind of fault makes of the service's own answer, or puts in its place."""

import json
import math
import random
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from logistics_batch.sandbox.faults.answer import JSON, FaultyAnswer, fail, page
from logistics_batch.sandbox.faults.plan import Fault
from logistics_batch.sandbox.service import UNEXPECTED

PIECE_BYTES = 65_536
UNAUTHORIZED = "Unauthorized"

Response = Callable[[FaultyAnswer, Fault, str], FaultyAnswer]


def fault_response(answer: FaultyAnswer, fault: Fault, *, path: str) -> FaultyAnswer:
    """The answer that this fault gives in place of `answer`, the service's own one or `stand_in`."""
    if fault.kind.startswith("redirect_"):
        return _redirect(answer, fault, path)
    return _RESPONSES.get(fault.kind, _status)(answer, fault, path)


def stand_in() -> FaultyAnswer:
    """What is spoiled when the service was not asked: a success that tells nothing."""
    return FaultyAnswer(200, [JSON], [b'{"status":"PASS","message":{}}'])


def _status(_answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
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


def _rate_limited(_answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    seconds = str(math.ceil(fault.options["wait_seconds"]))
    answer = fail(429, "Too many requests")
    answer.headers += _retry_after({**fault.options, "retry_after": seconds})
    answer.headers += [
        (b"x-ratelimit-limit", f"{fault.options['per_second']:g}".encode()),
        (b"x-ratelimit-remaining", b"0"),
        (b"x-ratelimit-reset", seconds.encode()),
    ]
    return answer


def _error_500(_answer: FaultyAnswer, _fault: Fault, _path: str) -> FaultyAnswer:
    return fail(500, UNEXPECTED)


def _redirect(_answer: FaultyAnswer, fault: Fault, path: str) -> FaultyAnswer:
    status = int(fault.kind.removeprefix("redirect_"))
    answer = page(status, f"{status} {HTTPStatus(status).phrase}")
    location = str(fault.options["location"]).replace("{path}", quote(path))
    answer.headers.append((b"location", location.encode("ascii")))
    return answer


def _gateway(_answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    """The words of gateways in use: a page, or JSON in which nothing is called status."""
    status = fault.options["status"]
    title = {200: "Scheduled maintenance", 400: "400 Bad Request", 502: "502 Bad Gateway"}[status]
    if fault.options["page"]:
        return page(status, title)
    content = {"error": {"code": status, "reason": title}, "request_id": "5f0c8a5e"}
    return FaultyAnswer(status, [JSON], [json.dumps(content).encode()])


def _html(_answer: FaultyAnswer, _fault: Fault, _path: str) -> FaultyAnswer:
    return page(200, "Sign in to the network")


def _empty(_answer: FaultyAnswer, _fault: Fault, _path: str) -> FaultyAnswer:
    return FaultyAnswer(200, [JSON])


def _fail_200(_answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    return fail(200, fault.options["message"])


def _garbage(_answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    return FaultyAnswer(200, [JSON], [_random_bytes(fault)])


def _gzip_garbage(_answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    start = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"  # a proper gzip header
    return FaultyAnswer(200, [JSON, (b"content-encoding", b"gzip")], [start + _random_bytes(fault)])


def _random_bytes(fault: Fault) -> bytes:
    return random.Random(fault.draw).randbytes(fault.options["bytes"])  # noqa: S311


def _truncated(answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    body = answer.body()
    return FaultyAnswer(answer.status, answer.headers, [body[: int(len(body) * fault.options["share"])]])


def _duplicate_keys(answer: FaultyAnswer, _fault: Fault, _path: str) -> FaultyAnswer:
    return _begun_with(answer, [b'"status":"FAIL"'])


def _nan(answer: FaultyAnswer, _fault: Fault, _path: str) -> FaultyAnswer:
    return _begun_with(answer, [b'"weight":NaN'])


def _huge_integer(answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    return _begun_with(answer, [b'"order_id":', *_repeated(b"9", fault.options["digits"])])


def _deep(answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    levels = fault.options["levels"]
    return _begun_with(answer, [b'"trace":', *_repeated(b"[", levels), *_repeated(b"]", levels)])


def _oversized(answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
    return _begun_with(answer, [b'"padding":"', *_repeated(b"x", fault.options["bytes"]), b'"'])


def _begun_with(answer: FaultyAnswer, member: list[bytes]) -> FaultyAnswer:
    """The answer's object with one more member in front; what is no object is spoiled in the stand-in's place."""
    body = answer.body()
    if not body.startswith(b'{"'):
        body = stand_in().body()
    return FaultyAnswer(answer.status, answer.headers, [b"{", *member, b",", body[1:]])


def _repeated(byte: bytes, count: int) -> Iterator[bytes]:
    """So many bytes, in pieces that are one and the same object."""
    piece = byte * min(count, PIECE_BYTES)
    for _ in range(count // PIECE_BYTES):
        yield piece
    yield byte * (count % PIECE_BYTES)


def _without_awb(answer: FaultyAnswer, _fault: Fault, _path: str) -> FaultyAnswer:
    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(one) for name, one in value.items() if name not in ("awb_number", "child_awb_numbers")}
        return [bare(one) for one in value] if isinstance(value, list) else value

    return _rewritten(answer, bare)


def _wrong_types(answer: FaultyAnswer, fault: Fault, _path: str) -> FaultyAnswer:
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
        "error_500_before": _error_500,
        "error_500_after": _error_500,
        "rate_limit": _rate_limited,
        "gateway_page": _gateway,
        "html_200": _html,
        "empty_200": _empty,
        "fail_200": _fail_200,
        "pass_without_awb": _without_awb,
        "truncated_json": _truncated,
        "garbage_json": _garbage,
        "gzip_garbage": _gzip_garbage,
        "duplicate_keys": _duplicate_keys,
        "wrong_types": _wrong_types,
        "nan_json": _nan,
        "huge_integer": _huge_integer,
        "deep_json": _deep,
        "oversized": _oversized,
    }
)
