"""Troubles as lines of a log that nobody can flood: neither strangers nor a disk that is full already."""

from collections.abc import Callable

_QUIET_SECONDS = 10.0


class Troubles:
    """Of each kind of trouble one line in ten seconds, with how many there were.

    monotonic: seconds on a clock that never goes back.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._last: dict[str, float] = {}
        self._untold: dict[str, int] = {}

    def line(self, kind: str) -> str:
        """What to say about one more of this kind, "" for nothing yet."""
        now = self._monotonic()
        untold = self._untold.get(kind, 0) + 1
        if kind in self._last and now - self._last[kind] < _QUIET_SECONDS:
            self._untold[kind] = untold
            return ""
        self._last[kind], self._untold[kind] = now, 0
        return kind if untold == 1 else f"{kind} ({untold} times)"
