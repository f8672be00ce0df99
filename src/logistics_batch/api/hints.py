"""How long a service asks us to wait."""

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_STATUSES = (429, 503)
_LARGEST_HINT_SECONDS = 900.0  # X-RateLimit-Reset means different things in different places
_FIRST_UNIX_TIME = 1e9


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
