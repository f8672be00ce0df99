"""Turns of a rate: moments at which one call may leave, never more of them in any span than the rate allows.

A turn that nobody used is made up for while its span lasts: the next ones come a little quicker until the span is full.
"""

import bisect
import math
from collections.abc import Iterable
from dataclasses import dataclass

_KEPT_SECONDS = 1.6  # longer than the longest span of several turns, and than what of its end is given back
_SAME_SECONDS = 0.005  # two readings of the clock that all share differ a trifle


@dataclass(frozen=True, slots=True)
class Allowed:
    """So many turns in any span of so many seconds, no two closer together than `apart_seconds`."""

    turns: int
    span_seconds: float
    apart_seconds: float


class Turns:
    """The turns that were given lately, by one clock, oldest first."""

    def __init__(self, given: Iterable[float] = (), *, held_until: float = -math.inf) -> None:
        self.given = list(given)
        self.held_until = held_until

    def take(
        self,
        count: int,
        allowed: Allowed,
        *,
        now: float,
        ahead_seconds: float,
        lead_seconds: float = 0.0,
        unused: Iterable[float] = (),
    ) -> tuple[list[float], float]:
        """The next turns, if the first comes so soon, and the moment of the one behind them; else none, and the first.

        lead_seconds: no turn comes before, and so much later may the first come. unused: turns that passed without a
        call; they count no longer.
        """
        self.give_back(unused)
        first = self._next(allowed, now + lead_seconds)
        if first - now > ahead_seconds + lead_seconds:
            return [], first
        taken: list[float] = []
        for _ in range(count):
            taken.append(self._next(allowed, first))
            self.given.append(taken[-1])
        self._forget()
        return taken, self._next(allowed, first)

    def _next(self, allowed: Allowed, not_before: float) -> float:
        moment = max(not_before, self.held_until)
        if self.given:
            moment = max(moment, self.given[-1] + allowed.apart_seconds)
        if len(self.given) >= allowed.turns:
            moment = max(moment, self.given[-allowed.turns] + allowed.span_seconds)
        return moment

    def note(self, given: Iterable[float]) -> None:
        """These turns were given elsewhere."""
        self.given = sorted([*self.given, *given])
        self._forget()

    def _forget(self) -> None:
        oldest = self.given[-1] - _KEPT_SECONDS if self.given else 0.0
        self.given = [turn for turn in self.given if turn >= oldest]

    def give_back(self, unused: Iterable[float]) -> None:
        """These turns passed without a call."""
        gone = set[int]()
        for turn in unused:
            place = bisect.bisect_left(self.given, turn)
            near = {at: abs(self.given[at] - turn) for at in (place - 1, place) if 0 <= at < len(self.given)}
            free = [at for at in near if at not in gone]
            if free and near[nearest := min(free, key=near.__getitem__)] <= _SAME_SECONDS:
                gone.add(nearest)
        if gone:
            self.given = [turn for at, turn in enumerate(self.given) if at not in gone]

    def hold(self, until: float) -> None:
        """Give no turn before; a longer hold stays."""
        self.held_until = max(self.held_until, until)
