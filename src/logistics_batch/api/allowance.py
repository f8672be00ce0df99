"""What the service takes, learnt from its answers: fewer calls after a 429, a little more with each good answer."""

import math

_LEARNT_AFTER_SECONDS = 1.0  # what came through in less time says nothing about a rate
_FIRST_SHARE = 0.5  # of the rate so far, where nothing better is known
_LEAST_SHARE, _MOST_SHARE = 0.25, 0.9
_RARE = ((60, 0.93), (30, 0.88))  # good answers since it came down last, and what is left at least: it may be chance
_ANSWERS_TO_COME_BACK = 110  # to the rate that was too high: under a real limit, about one call in so many is refused
_DOUBLED_BY = 15  # good answers beyond that rate: by how much it climbs with each
_BELOW_WHAT_CAME_THROUGH = 0.95
_CLIMB_SHARE = 0.01  # of the rate that was too high, each second
_SLOWEST_PER_SECOND = 0.1
_FREE_AGAIN_AT = 2.0  # times the rate that was too high once


class Allowance:
    """How close calls may follow each other; never closer than the operator said.

    It comes down by a factor once for all calls that were under way together, towards what came through since it came
    down last, but only a little where many calls came through: then the 429 may be chance. It climbs by equal steps in
    time or in answers, whichever is quicker, and ever faster beyond where it came down from. Not safe for threads by
    itself.
    """

    def __init__(self, interval_seconds: float) -> None:
        self._interval = interval_seconds
        self._rate = math.inf  # calls a second that the service seems to take
        self._came_down = -math.inf
        self._good = 0  # answers since then
        self._step = 0.0  # each second
        self._step_of_answer = 0.0
        self._too_high = math.inf
        self.refusals = 0

    @property
    def interval_seconds(self) -> float:
        """The least time between two calls now; 0 if there is no rate to keep."""
        return max(self._interval, 1 / self._rate)

    @property
    def operators_seconds(self) -> float:
        """The least time between two calls that the operator asks for; 0 if there is no rate to keep."""
        return self._interval

    @property
    def lowered(self) -> bool:
        """Whether the service takes less than the operator allows."""
        return self._rate < math.inf

    def refused(self, departed: float, *, now: float, recent_rate: float) -> None:
        """A call that left at `departed` was one too many; recent_rate: of the last second."""
        self.refusals += 1
        if departed < self._came_down:
            return
        # A rate that was not used was not too high.
        was = min(recent_rate, 1 / self.interval_seconds) if self.interval_seconds else recent_rate
        since = now - self._came_down
        share = _FIRST_SHARE
        if _LEARNT_AFTER_SECONDS <= since < math.inf:
            share = min(max(self._good / since * _BELOW_WHAT_CAME_THROUGH / was, _LEAST_SHARE), _MOST_SHARE)
            share = max(share, next((left for answers, left in _RARE if self._good >= answers), 0.0))
        self._rate = max(was * share, min(was, _SLOWEST_PER_SECOND))
        self._step, self._step_of_answer = was * _CLIMB_SHARE, (was - self._rate) / _ANSWERS_TO_COME_BACK
        self._too_high = was
        self._came_down, self._good = now, 0

    def answered(self, departed: float) -> None:
        """A call that left at `departed` was taken by the service."""
        if departed < self._came_down:
            return
        self._good += 1
        if not self.lowered:
            return
        self._rate += max(self._step / self._rate, self._step_of_answer)
        if self._rate > self._too_high:
            self._step_of_answer *= 2 ** (1 / _DOUBLED_BY)
        top = 1 / self._interval if self._interval else self._too_high * _FREE_AGAIN_AT
        if self._rate >= top:
            self._rate = math.inf
