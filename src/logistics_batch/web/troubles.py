"""Troubles as lines of a log that nobody can flood: neither strangers nor a disk that is full already."""

from collections import Counter
from collections.abc import Callable

_QUIET_SECONDS = 10.0
_MOST_KINDS = 50  # in ten seconds; further ones are not told
_MOST_REMEMBERED, _MOST_TOLD = 50, 3


class Troubles:
    """Of each kind of trouble one line in ten seconds, with how many there were, and from whom the most came.

    monotonic: seconds on a clock that never goes back.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._last: dict[str, float] = {}
        self._untold: dict[str, int] = {}
        self._from: dict[str, Counter[str]] = {}

    def line(self, kind: str, who: str = "") -> str:
        """What to say about one more of this kind, "" for nothing yet. who: the address it came from."""
        now = self._monotonic()
        if kind not in self._last and len(self._last) >= _MOST_KINDS:
            self._last = {each: at for each, at in self._last.items() if now - at < _QUIET_SECONDS}
            self._untold = {each: number for each, number in self._untold.items() if each in self._last}
            self._from = {each: names for each, names in self._from.items() if each in self._last}
            if len(self._last) >= _MOST_KINDS:
                return ""
        untold = self._untold.get(kind, 0) + 1
        names = self._from.setdefault(kind, Counter())
        if who:
            names[who if who in names or len(names) < _MOST_REMEMBERED else "others"] += 1
        if kind in self._last and now - self._last[kind] < _QUIET_SECONDS:
            self._untold[kind] = untold
            return ""
        self._last[kind], self._untold[kind] = now, 0
        words = [kind if untold == 1 else f"{kind} ({untold} times)"]
        most = [name for name, _ in names.most_common(_MOST_TOLD)]
        if most:
            more = "" if len(names) <= _MOST_TOLD else " and others"
            words.append(f"from {', '.join(each for each in most if each != 'others' or not more)}{more}")
        names.clear()
        return ", ".join(words)
