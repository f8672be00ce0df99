"""One rate for everything that uses the API key (limits are not published: API §8.6)."""

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from logistics_batch.api.allowance import Allowance
from logistics_batch.errors import LedgerRefused, SettingsError

LONGEST_PAUSE_SECONDS = 15 * 60.0
_LONGEST_NAP_SECONDS = 0.5  # how soon a waiting thread notices that the process was asked to end
_SPACING_OF_PLANNED = 1.003  # the network brings some calls nearer: a service must not count one more in a second
_WINDOW = 1.002  # the same, for as many calls as the rate allows in a second
_WINDOW_OF_ONE = 1.004  # of several processes, where calls are few; what is more than 1 is how late one may wake
_FEWEST_TO_CATCH_UP = 3  # calls in a second; below, none ever follows closer than the rate
_MOST_REMEMBERED = 1000  # departures
_SHORTEST_SPAN_SECONDS = 0.25  # a rate is not told from less
_LATE_SECONDS = 0.5  # a turn that is so late was held up, one that is later was not wanted
_LEAD_SECONDS = 0.002  # a departure is written down so long before it, at first
_LONGEST_LEAD_SECONDS = 0.25
_TRIES = 10
_RATE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*/\s*(s|min)")
_SECONDS = {"s": 1.0, "min": 60.0}


def interval_seconds(rate: str) -> float:
    """The least time between two calls, in seconds; 0 for "none".

    >>> interval_seconds("30/min")
    2.0

    Raises:
        SettingsError: the text is no rate.
    """
    text = rate.strip().lower()
    if text == "none":
        return 0.0
    found = _RATE.fullmatch(text)
    if found is None or float(found[1]) == 0:
        raise SettingsError(
            f"The rate “{rate}” cannot be read.",
            remedy="Write how many calls in a second or a minute, such as 1/s or 30/min, or none.",
        )
    return _SECONDS[found[2]] / float(found[1])


class SharedTurns(Protocol):
    """Where turns are claimed by several processes; each call raises LedgerRefused if that cannot be written."""

    def take_turn(self, interval_seconds: float, *, ahead_seconds: float = 0.0, late_seconds: float = 0.0) -> float:
        """The seconds until the next turn, which is taken if that is no more than `ahead_seconds`.

        late_seconds: one that is taken no later than that does not push those behind it.
        """

    def leave(
        self, *, at_most: int, in_seconds: float, lead_seconds: float, instead_of: float | None = None
    ) -> tuple[float, float]:
        """Write down that a call leaves as soon as no more than `at_most` do so `in_seconds`, after `lead_seconds`.

        Gives that moment (monotonic), and a mark under which it stands. instead_of: the mark of an earlier one of the
        same call, which did not leave then.
        """

    def hold_turns(self, seconds: float) -> None:
        """Give nobody a turn for so long."""


class Pacer:
    """Hands out turns, one call each, never more than the rate allows; one for all threads.

    Turns that are taken when they have come are spaced from that moment: a thread that wakes late makes the rate a
    trifle lower, never higher, in whatever window one looks. Turns that are taken ahead follow a plan, so that what
    has to be done before a call leaves costs nothing, and one that is late does not push the others: then some follow
    each other closer than the plan, but no second holds more departures than the rate allows.

    Turns are a plan: connecting, a disk or a thread holds some calls up, so what keeps the rate is when they leave.
    Where several processes share their turns, each departure is written down for all of them before it.

    While the service asks to slow down (429), the rate is lower: see `Allowance`.
    """

    def __init__(
        self,
        rate: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        stop: threading.Event | None = None,
    ) -> None:
        """Raises SettingsError if the rate cannot be read.

        stop: set when the process was asked to end; then nobody waits any longer.
        """
        self._allowance = Allowance(interval_seconds(rate))
        self._clock = clock
        self._sleep = sleep
        self._stop = stop
        self._queue = threading.Lock()  # held by the one thread that waits for the next turn
        self._state = threading.Lock()
        self._not_before = -math.inf
        self._shared: list[SharedTurns] = []
        self._departures = threading.Lock()
        self._lead_seconds = _LEAD_SECONDS
        # When the last calls left; where turns are shared, when they could have as far as this process goes.
        self._left: deque[float] = deque(maxlen=_MOST_REMEMBERED)

    @property
    def paced(self) -> bool:
        """Whether there is a rate to keep."""
        return self._allowance.interval_seconds > 0

    @property
    def lowered_to(self) -> float | None:
        """Calls a second, if the service takes less than the operator allows."""
        return 1 / self._allowance.interval_seconds if self._allowance.lowered else None

    @property
    def refusals(self) -> int:
        """How many calls were one too many for the service (429) so far."""
        return self._allowance.refusals

    def try_turn(self, *, ahead_seconds: float = 0.0) -> float:
        """The seconds until the next turn, without waiting; it is taken if that is no more than `ahead_seconds`."""
        spacing, late = self._allowance.interval_seconds, 0.0
        if ahead_seconds:
            spacing, late = spacing * _SPACING_OF_PLANNED, _LATE_SECONDS
        with self._state:
            now = self._clock()
            due = self._not_before if now - self._not_before < late else max(self._not_before, now)
            wait = max(0.0, due - now, self._earliest() - now if ahead_seconds else 0.0)
            if wait > ahead_seconds:
                return wait
            following = self._not_before = due + spacing
            shared = self._shared[-1] if self._shared and spacing else None
        if shared is None:
            return wait
        with suppress(LedgerRefused):  # the rate of this process holds then; what is sent must be written anyway
            among_all = shared.take_turn(spacing, ahead_seconds=ahead_seconds, late_seconds=late)
            with self._state:
                if self._not_before == following:  # nobody asked to slow down meanwhile
                    self._not_before = now + among_all + (spacing if among_all <= ahead_seconds else 0.0)
            return among_all if among_all > ahead_seconds else max(wait, among_all)
        return wait

    def wait_until(self, moment: float) -> None:
        """Wait for the moment of a turn that was taken ahead."""
        wait = moment - self._clock()
        if wait > 0:
            self._sleep(wait)

    @contextmanager
    def sharing(self, turns: SharedTurns) -> Iterator[None]:
        """While the block runs, keep one rate with all that claim their turns in the same place."""
        with self._state:
            self._shared.append(turns)
        try:
            yield
        finally:
            with self._state:
                self._shared.remove(turns)

    def wait_turn(self, *, stop: threading.Event | None = None) -> bool:
        """Wait for a turn and take it; False, soon, if `stop` (or the pacer's own) is set instead."""
        stop = stop or self._stop
        with self._queue:
            while stop is None or not stop.is_set():
                wait = self.try_turn()
                if wait <= 0:
                    return True
                self._sleep(wait if stop is None else min(wait, _LONGEST_NAP_SECONDS))
            return False

    def depart(self) -> float:
        """Called just before the first byte: waits the trifle by which it would be too early, and says when it leaves.

        Between its turn and its departure a call may be held up by a disk or a thread: turns alone do not keep the
        rate.
        """
        with self._state:
            shared = self._shared[-1] if self._shared and self._allowance.operators_seconds else None
        with self._departures:
            earliest = max(self._earliest(), self._clock())
            if shared is None:
                self.wait_until(earliest)
            moment = self._clock() if shared is None else earliest
            self._left.append(moment)
        return moment if shared is None else self._leave_among_all(shared, earliest)

    def _leave_among_all(self, shared: SharedTurns, earliest: float) -> float:
        """Wait until a call may leave among those of all processes, for which it is written down; says when that is.

        One that wakes too late for the moment that was written down is written down anew.
        """
        interval = self._allowance.operators_seconds
        calls, window, mark = self._in_a_second(interval), _WINDOW, None
        if calls < _FEWEST_TO_CATCH_UP:
            calls, window = 1, _WINDOW_OF_ONE
        seconds = calls * interval
        with suppress(LedgerRefused):  # the rate of this process holds then
            for _ in range(_TRIES):
                asked = self._clock()
                lead = max(self._lead_seconds, earliest - asked)
                moment, mark = shared.leave(
                    at_most=calls, in_seconds=seconds * window, lead_seconds=lead, instead_of=mark
                )
                took = self._clock() - asked
                self.wait_until(moment)
                if (now := self._clock()) - moment <= seconds * (window - 1):
                    self._lead_seconds = max(_LEAD_SECONDS, 2 * took)
                    return now
                if took > lead:
                    self._lead_seconds = min(2 * took, _LONGEST_LEAD_SECONDS)
        self.wait_until(earliest)
        return self._clock()

    @staticmethod
    def _in_a_second(interval: float) -> int:
        """How many calls the rate allows in a second."""
        return min(int(1 / interval + 1e-6), _MOST_REMEMBERED)

    def _earliest(self) -> float:
        """When the next call may leave, after those that have left."""
        interval = self._allowance.interval_seconds
        if not interval or not self._left:
            return -math.inf
        in_a_second = self._in_a_second(interval)
        if in_a_second < _FEWEST_TO_CATCH_UP or self._allowance.lowered:
            return self._left[-1] + interval
        nearest = self._left[-1] + interval / 2
        if len(self._left) < in_a_second:
            return nearest
        return max(nearest, self._left[-in_a_second] + in_a_second * interval * _WINDOW)

    def refused(self, departed: float, *, pause_seconds: float) -> None:
        """The service said 429 to a call that left then: nobody has a turn for so long, and turns come slower."""
        now = self._clock()
        recent = [moment for moment in tuple(self._left) if now - moment <= 1.0]
        span = recent[-1] - recent[0] if recent else 0.0
        rate = max(len(recent) - 1, 1) / max(span, _SHORTEST_SPAN_SECONDS)
        if self.paced and span < _SHORTEST_SPAN_SECONDS:
            rate = math.inf  # not known
        with self._state:
            self._allowance.refused(departed, now=now, recent_rate=rate)
        self.slow_down(pause_seconds)

    def answered(self, departed: float) -> None:
        """The service took a call that left then: turns that had become slower may come a little quicker."""
        with self._state:
            self._allowance.answered(departed)

    def slow_down(self, seconds: float) -> None:
        """Give no turn for so long, at most 15 minutes: the service asked for it (Retry-After)."""
        if not seconds > 0:
            return
        pause = min(seconds, LONGEST_PAUSE_SECONDS)
        with self._state:
            self._not_before = max(self._not_before, self._clock() + pause)
            shared = self._shared[-1] if self._shared else None
        if shared is not None:
            with suppress(LedgerRefused):
                shared.hold_turns(pause)

    def seconds_for(self, calls: int) -> float:
        """How long so many calls take at this rate from now on, as far as the rate decides it."""
        with self._state:
            return max(0.0, self._not_before - self._clock()) + self._allowance.interval_seconds * max(0, calls - 1)
