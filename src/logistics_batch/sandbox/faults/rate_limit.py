"""A rate limit that counts honestly: so many calls a second, and so many at once after a rest."""

import time
from collections.abc import Callable


class RateLimit:
    """One limit for each client; kept as the time at which all that was let through is paid off.

    In any `t` seconds a client gets at most ``burst + per_second * t`` calls through.
    """

    def __init__(self, per_second: float, burst: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = 1 / per_second
        self._credit = self._interval * (burst - 1)
        self._clock = clock
        self._paid_at: dict[str, float] = {}

    def wait_seconds(self, client: str) -> float:
        """0 and the call counts, or the seconds until there is room for it, and it does not count."""
        now = self._clock()
        paid_at = max(self._paid_at.get(client, now), now)
        wait = paid_at - now - self._credit
        if wait > 0:
            return wait
        self._paid_at[client] = paid_at + self._interval
        return 0.0
