"""What came back from one call, how far it got, and how long the service asks to wait."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Literal

LARGEST_BODY_BYTES = 1024 * 1024
LARGEST_LIST_BYTES = 32 * 1024 * 1024
"""Of an answer that lists what lies in a range of dates: some 20,000 ASNs, and no more memory than a night has."""

_STATUSES = (429, 503)
_LARGEST_HINT_SECONDS = 900.0  # X-RateLimit-Reset means different things in different places
_FIRST_UNIX_TIME = 1e9

Failure = Literal["", "connect", "tls", "timeout", "deadline", "reset", "protocol", "encoding", "late"]


@dataclass(frozen=True, slots=True)
class Trace:
    """How far a call got; each step is certain where it says True.

    send_started False proves that the service never saw the call. True proves nothing: the bytes may lie anywhere.
    """

    connect_started: bool = False
    send_started: bool = False
    body_sent: bool = False
    reply_started: bool = False

    @property
    def on_kept_line(self) -> bool:
        """Whether the call went out on a connection that was there before."""
        return self.send_started and not self.connect_started


@dataclass(frozen=True, slots=True)
class Reply:
    """One call's end, good or bad; `api.answers` says what it means.

    status: None if no answer came. body: as far as it came, at most what is read of such a call (then `truncated`),
    decompressed, without the API key. failure: "" or what broke; "late": the call could not leave in time and was not
    made. A status may stand beside it when only the body was cut. detail: the failure in the words of the system, for
    an operator.
    """

    endpoint: str
    trace: Trace = field(default_factory=Trace)
    status: int | None = None
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)  # holds people's names and addresses
    truncated: bool = False
    failure: Failure = ""
    detail: str = ""
    retry_after_seconds: float | None = None
    elapsed_seconds: float = 0.0


def retry_after_seconds(status: int | None, headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds to wait before the next call, from 0; None where the answer does not say.

    Retry-After holds seconds or a date. Without it X-RateLimit-Reset is a hint: seconds or a Unix time, believed up to
    15 minutes. now: seconds since 1970.
    """
    if status not in _STATUSES:
        return None
    asked = headers.get("retry-after", "").strip()
    if asked:
        seconds = _number(asked)
        return seconds if seconds is not None else _seconds_until(asked, now)
    hint = _number(headers.get("x-ratelimit-reset", "").strip())
    if hint is None:
        return None
    wait = max(0.0, hint - now) if hint >= _FIRST_UNIX_TIME else hint
    return wait if wait <= _LARGEST_HINT_SECONDS else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _seconds_until(text: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now)
