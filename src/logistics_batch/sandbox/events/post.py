"""One event over HTTP: a POST, and what became of it. No redirect is followed, nothing is kept of the answer's body."""

import asyncio
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_MOST_HEAD_BYTES = 65_536


@dataclass(frozen=True)
class Attempt:
    """How one POST ended: the status of the answer, or the error; elapsed_seconds from the first step to that."""

    elapsed_seconds: float
    answer: str = ""
    error: str = ""

    @property
    def taken(self) -> bool:
        """Whether the receiver said that it has the event."""
        return self.answer.startswith("2")


async def post_event(url: str, *, headers: Mapping[str, str], payload: bytes, timeout_seconds: float) -> Attempt:
    """POST one event, all of it within `timeout_seconds`."""
    started = time.monotonic()
    answer = error = ""
    try:
        async with asyncio.timeout(timeout_seconds):
            answer = await _status_of_post(urlsplit(url), headers, payload)
    except TimeoutError:
        error = f"no answer within {timeout_seconds:g} s"
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as failure:
        error = type(failure).__name__
    return Attempt(round(time.monotonic() - started, 6), answer, error)


async def _status_of_post(target: SplitResult, headers: Mapping[str, str], payload: bytes) -> str:
    secure = ssl.create_default_context() if target.scheme == "https" else None
    if not target.hostname:
        raise ValueError("the URL names no host")
    port = target.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(target.hostname, port, ssl=secure, limit=_MOST_HEAD_BYTES)
    try:
        writer.write(_request(target, headers, payload))
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.transport.abort()
    status = re.match(rb"HTTP/1\.[01] (\d{3})\b", head)
    if status is None:
        raise ValueError("the answer is not HTTP")
    return status[1].decode()


def _request(target: SplitResult, headers: Mapping[str, str], payload: bytes) -> bytes:
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    own = {"Host": target.netloc.rpartition("@")[2], "Content-Type": "application/json"}
    own |= {"Content-Length": str(len(payload)), "Connection": "close"}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (own | dict(headers)).items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + payload
