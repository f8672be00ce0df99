"""One rate for everything that uses the API key (limits are not published: API §8.6).

A turn is a moment at which one call may leave (`model.turns`). Their span is a trifle longer than the rate asks, so
that a call which leaves that trifle late brings no second above the rate; one that is later gives its turn back and
gets another. A call waits before its connection is taken, and one that has to connect begins so much sooner. Processes
that share a ledger take their turns from one row of it: who is alone some at once, others what they can use just then.
"""

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from logistics_batch.errors import LedgerRefused, SettingsError
from logistics_batch.model.turns import Allowed, Turns

LONGEST_PAUSE_SECONDS = 15 * 60.0
_LONGEST_NAP_SECONDS = 0.5  # how soon a waiting thread notices that the process was asked to end
_LATE_SHARE = 0.015  # of a second, or of a longer interval: so late after its turn a call may leave
_SPAN_SHARE = 0.02  # so much longer than the rate asks: for those that leave late, and a trifle for their way
_TAKEN_AHEAD_SECONDS = 1.0  # so long before it comes one turn is taken by who waits for it
_BLOCK_SECONDS, _LONGEST_BLOCK_SECONDS = 0.2, 1.0  # turns of so long are taken at once, where they are used
_FEWEST_LEADS, _MOST_LEADS = 4, 50  # taking turns costs an eighth of the time at most, a hundredth where all are used
_ALONE_AFTER_SECONDS = 1.0  # without a turn of another process
_LONGEST_WAIT_SECONDS = 3.0  # for a turn, before a connection is taken: the call's intent grows old
_LONGEST_HELD_SECONDS = 0.5  # for a turn, with a connection at hand
_CONNECT_FADES, _UNUSED_FADES = 0.98, 0.9  # what the slowest connect took lately, each call: with a connect or without
_LONGEST_LEAD_SECONDS = 0.25
_TRIES = 10  # to find a turn for a call that missed its own
_CATCH_UP_SHARE = 0.9  # of the interval: so close turns may come while fewer than allowed were given
_MOST_IN_SPAN = 2000  # turns: more than one process can send in a second
_MOST_REMEMBERED = 1000  # departures
_SHORTEST_SPAN_SECONDS = 0.25  # a rate is not told from less
_RATE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*/\s*(s|min)")
_SECONDS = {"s": 1.0, "min": 60.0}

_FIRST_SHARE = 0.5  # of the rate so far, after the first 429
_LEAST_SHARE, _MOST_SHARE = 0.25, 0.9
_LEARNT_AFTER_SECONDS = 1.0  # what came through in less time says nothing about a rate
_ANSWERS_TO_COME_BACK = 60  # to the rate that was too high
_CLIMB_SHARE = 0.01  # of the rate that was too high, each second
_SLOWEST_PER_SECOND = 0.1
_FREE_AGAIN_AT = 2.0  # times the rate that was too high, where the operator sets none


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
    """Where turns are taken by several processes; each call raises LedgerRefused if that cannot be written."""

    def take_turns(
        self, count: int, allowed: Allowed, *, ahead_seconds: float, lead_seconds: float, unused: Sequence[float]
    ) -> tuple[list[float], float]:
        """See `Turns.take`; moments are monotonic."""

    def hold_turns(self, seconds: float) -> None:
        """Give nobody a turn for so long."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The moment at which a call may leave; connects: it has been opening a connection since `begun`."""

    moment: float
    begun: float
    connects: bool


class Pacer:
    """Hands out turns, one call each, never more in any second than the rate allows; one for all threads.

    While the service asks to slow down (429, 503), there are none for a while, and then fewer: see `_Allowance`.
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
        self._interval_seconds = interval_seconds(rate)
        self._allowance = _Allowance(self._interval_seconds)
        self._clock = clock
        self._sleep = sleep
        self._stop = stop
        self._taking = threading.Lock()  # held by the one thread that takes turns for all; before that of the state
        self._state = threading.RLock()
        self._next_at = -math.inf  # no turn can be had before
        self._resumes = -math.inf  # the end of a pause
        self._connect_seconds = 0.0  # so much before its turn a call begins to connect
        self._lead_seconds = 0.0  # a shared turn that came before would have passed when it is known
        self._wanted = 0  # so many turns are asked for and not taken yet
        self._block: deque[float] = deque()  # turns of this process
        self._took, self._at_once = -math.inf, 1  # when turns were taken last, and how many
        self._others_took = -math.inf  # when another process was last seen to have taken some
        self._taken: deque[float] = deque()  # turns of calls that have not left yet: whichever leaves next has the next
        self._unused: list[float] = []  # turns that passed without a call
        self._own = Turns()  # for whom nobody shares the rate, or while the ledger takes nothing
        self._shared: list[SharedTurns] = []
        self._left: deque[float] = deque(maxlen=_MOST_REMEMBERED)  # when the last calls left

    @property
    def paced(self) -> bool:
        """Whether there is a rate to keep."""
        return self._allowance.interval_seconds > 0

    @property
    def rate(self) -> str:
        """The operator's, in one spelling: "0.5/s", or "none"."""
        return f"{1 / self._interval_seconds:.6g}/s" if self._interval_seconds else "none"

    def turns_in(self, seconds: float) -> float:
        """How many turns come in so long; infinity if there is no rate to keep."""
        with self._state:
            return seconds / self._allowance.spacing_seconds if self.paced else math.inf

    @property
    def is_shared(self) -> bool:
        """Whether other processes took turns of this rate a moment ago."""
        with self._state:
            return self._clock() - self._others_took <= _ALONE_AFTER_SECONDS

    @property
    def lowered_to(self) -> float | None:
        """Calls a second, if the service takes less than the operator allows."""
        with self._state:
            return 1 / self._allowance.interval_seconds if self._allowance.lowered else None

    @property
    def refusals(self) -> int:
        """How many calls were one too many for the service (429) so far."""
        return self._allowance.refusals

    def try_turn(self, *, ahead_seconds: float = 0.0, wanted: int = 1) -> float:
        """The seconds until the call of the next turn begins, without waiting.

        The turn is taken if that is no more than `ahead_seconds`. wanted: so many the caller can use, one by one and
        all soon; where several processes share the rate, they are had at once.
        """
        with self._state:
            if not self.paced:
                return max(0.0, self._resumes - self._clock())
            ahead_seconds += self._connect_seconds
        if self._lacks(ahead_seconds):
            with self._wanting(wanted), self._taking:  # not that of the state: who leaves does not wait for the ledger
                if self._lacks(ahead_seconds):  # else another one took some meanwhile
                    self._take(ahead_seconds=ahead_seconds)
        with self._state:
            wait = max(0.0, (self._block[0] if self._block else self._next_at) - self._clock())
            if self._block and wait <= ahead_seconds:
                self._taken.append(self._block.popleft())
            return max(0.0, wait - self._connect_seconds)

    def _lacks(self, ahead_seconds: float) -> bool:
        """Whether no turn is at hand for a call that is not written down yet, though one can be had so soon."""
        with self._state:
            now = self._clock()
            while self._block and now - self._block[0] > self._allowance.late_seconds / 2:
                self._unused.append(self._block.popleft())
            return not self._block and self._next_at - now <= ahead_seconds

    @contextmanager
    def _wanting(self, turns: int) -> Iterator[None]:
        """While the block runs, so many more are taken by whoever takes some."""
        with self._state:
            self._wanted += turns
        try:
            yield
        finally:
            with self._state:
                self._wanted -= turns

    def _block_size(self, now: float) -> int:
        """How many turns to take at once, where nobody else wants any: to ask for each would take time.

        They are twice as many as were used of the last ones where that was a moment ago.
        """
        fewest = 1 + int(self.turns_in(_FEWEST_LEADS * self._lead_seconds))
        longest = min(_MOST_LEADS * self._lead_seconds, _LONGEST_BLOCK_SECONDS)
        most = 1 + int(self.turns_in(max(_BLOCK_SECONDS, longest)))
        soon = max(_BLOCK_SECONDS, 2 * self._at_once * self._allowance.spacing_seconds)
        used = self._at_once - len(self._unused) if now - self._took < soon else 0
        return min(max(2 * used, fewest), most)

    def _take(self, *, ahead_seconds: float, not_before: float = -math.inf) -> None:
        """Take the next turns, of this process or of all that share them, if the first comes so soon."""
        with self._state:
            if not self.paced:  # any more: an answer that came meanwhile said so
                return
            now, allowed = self._clock(), self._allowance.allowed
            wanted = min(self._wanted, 1 + int(self.turns_in(ahead_seconds)))  # later ones others may need sooner
            self._at_once = max(wanted, 0 if self.is_shared else self._block_size(now))
            self._took, count = now, self._at_once
            unused, self._unused = self._unused, []
            self._own.give_back(unused)
            shared = self._shared[-1] if self._shared else None
            lead = max(self._lead_seconds if shared else 0.0, not_before - now)
        if shared is not None:
            with suppress(LedgerRefused):  # the rate of this process holds then; what is sent must be written anyway
                taken, next_at = shared.take_turns(
                    count, allowed, ahead_seconds=ahead_seconds, lead_seconds=lead, unused=unused
                )
                with self._state:
                    done = self._clock()
                    self._lead_seconds = min(2 * (done - now), _LONGEST_LEAD_SECONDS)
                    alone_at = max(self._next_at, done + lead) + self._allowance.spacing_seconds / 2
                    if (taken[0] if taken else next_at) > alone_at:
                        self._others_took = done
                    self._own.note(taken)
                    self._have(taken, next_at)
                return
        with self._state:
            self._have(*self._own.take(count, allowed, now=now, ahead_seconds=ahead_seconds, lead_seconds=lead))

    def _have(self, taken: Sequence[float], next_at: float) -> None:
        self._block.extend(turn for turn in taken if turn >= self._resumes)  # a pause may have begun meanwhile
        self._next_at = max(next_at, self._resumes)

    @contextmanager
    def sharing(self, turns: SharedTurns) -> Iterator[None]:
        """While the block runs, keep one rate with all that take their turns in the same place."""
        with self._state:
            self._shared.append(turns)
        try:
            yield
        finally:
            with self._state:
                self._shared.remove(turns)

    @property
    def is_ending(self) -> bool:
        """Whether the process was asked to end."""
        return self._stop is not None and self._stop.is_set()

    def wait_turn(self, *, stop: threading.Event | None = None) -> bool:
        """Wait until a turn can be taken and take it; False, soon, if `stop` (or the pacer's own) is set instead.

        The turn is taken up to a second before it comes, for which the call waits where it leaves: who only waited for
        it would find that another took it, each time.
        """
        stop = stop or self._stop
        while stop is None or not stop.is_set():
            ahead = _TAKEN_AHEAD_SECONDS if self.paced else 0.0
            wait = self.try_turn(ahead_seconds=ahead) - ahead
            if wait <= 0:
                return True
            self._sleep(wait if stop is None else min(wait, _LONGEST_NAP_SECONDS))
        return False

    def approach(self, *, kept_until: float = math.inf) -> Turn | None:
        """Wait for the turn of a call, before its connection is taken; None: there is none soon, or all is to end.

        kept_until: how long a kept connection is at hand; a call that leaves later begins earlier.
        """
        with self._state:
            moment = self._taken.popleft() if self._taken else -math.inf
        found = self._await(moment, longest=_LONGEST_WAIT_SECONDS, kept_until=kept_until)
        return None if found is None else Turn(found, self._clock(), found > kept_until)

    def depart(self, turn: Turn) -> float | None:
        """The moment at which a call leaves, asked just before its first byte; None: it must not leave.

        It waits a trifle at most: what a connect took less than another one lately.
        """
        with self._state:
            took = self._clock() - turn.begun if turn.connects else 0.0
            faded = (_CONNECT_FADES if turn.connects else _UNUSED_FADES) * self._connect_seconds
            self._connect_seconds = min(max(took, faded), _LONGEST_HELD_SECONDS)
        if self._await(turn.moment, longest=_LONGEST_HELD_SECONDS) is None:
            return None
        left = self._clock()
        self._left.append(left)
        return left

    def _await(self, moment: float, *, longest: float, kept_until: float = math.inf) -> float | None:
        """Wait for this turn of a call, or for another one where it has passed; gives the one that has come."""
        if not self.paced and (now := self._clock()) >= self._resumes:
            return now
        until = self._clock() + longest
        found: float | None = moment
        for _ in range(_TRIES):
            if not self._holds(moment):
                found = self._another(moment, ahead_seconds=until - self._clock())
            if found is None or found > until:
                return None
            moment = found
            begin = moment - (self._connect_seconds if moment > kept_until else 0.0)
            while (early := begin - self._clock()) > 0:
                if self._stop is not None and self._stop.is_set():
                    return None
                self._sleep(early if self._stop is None else min(early, _LONGEST_NAP_SECONDS))
            if self._holds(moment):
                return moment
        return None

    def _holds(self, moment: float) -> bool:
        """Whether a turn has neither passed nor fallen into a pause."""
        return moment >= self._resumes and self._clock() - moment <= self._allowance.late_seconds

    def _another(self, missed: float, *, ahead_seconds: float) -> float | None:
        """A turn for a call that missed its own; None if none comes so soon.

        Whichever call of this process leaves next has its next turn.
        """
        with self._state:
            if self.paced and missed > -math.inf:
                self._unused.append(missed)
            if self._at_hand():
                return self._next_at_hand(ahead_seconds)
            first = max(self._resumes, self._clock())
            if first - self._clock() > ahead_seconds:
                return None
            if not self.paced:
                return first
        with self._wanting(1), self._taking:
            if not self._at_hand():  # else another call took some meanwhile
                self._take(ahead_seconds=ahead_seconds, not_before=first)
            with self._state:
                return self._next_at_hand(ahead_seconds)

    def _at_hand(self) -> bool:
        """Whether this process has a turn that has not passed."""
        with self._state:
            for turns in (self._taken, self._block):
                while turns and not self._holds(turns[0]):
                    self._unused.append(turns.popleft())
            return bool(self._taken or self._block)

    def _next_at_hand(self, ahead_seconds: float) -> float | None:
        with self._state:
            turns = self._taken or self._block
            return turns.popleft() if turns and turns[0] - self._clock() <= ahead_seconds else None

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
        """Give no turn for so long, at most 15 minutes: the service asked for it (Retry-After).

        Turns that calls have already are void.
        """
        if not seconds > 0:
            return
        pause = min(seconds, LONGEST_PAUSE_SECONDS)
        with self._state:
            self._block.clear()
            self._taken.clear()
            self._resumes = max(self._resumes, self._clock() + pause)
            self._next_at = max(self._next_at, self._resumes)
            self._own.hold(self._resumes)
            shared = self._shared[-1] if self._shared else None
        if shared is not None:
            with suppress(LedgerRefused):
                shared.hold_turns(pause)

    def seconds_for(self, calls: int) -> float:
        """How long so many calls take at this rate from now on, as far as the rate decides it."""
        with self._state:
            return max(0.0, self._resumes - self._clock()) + self._allowance.interval_seconds * max(0, calls - 1)


class _Allowance:
    """How close calls may follow each other, as learnt from the answers; never closer than the operator said.

    A 429 halves the rate, or brings it down to what came through since the last one, once for all calls that were under
    way together. It climbs by equal steps in time or in answers, whichever is quicker. Not safe for threads by itself.
    """

    def __init__(self, interval_seconds: float) -> None:
        self._interval = interval_seconds
        self._rate = math.inf  # calls a second that the service seems to take
        self._came_down = -math.inf
        self._good = 0  # answers since then
        self._too_high = math.inf
        self._step_of_answer = 0.0
        self.refusals = 0

    @property
    def interval_seconds(self) -> float:
        """The least time between two calls now; 0 if there is no rate to keep."""
        return max(self._interval, 1 / self._rate)

    @property
    def spacing_seconds(self) -> float:
        """How far turns are apart on average, so that no second sees one call more though some leave late."""
        return self.interval_seconds * (1 + _SPAN_SHARE)

    @property
    def allowed(self) -> Allowed:
        """The turns of a second, made up for within it; one after the other where a second has one, or fewer are taken
        by the service than the operator allows.
        """
        turns = 1 if self.lowered else min(max(1, int(1 / self.interval_seconds + 1e-6)), _MOST_IN_SPAN)
        apart = self.spacing_seconds if turns == 1 else self.interval_seconds * _CATCH_UP_SHARE
        return Allowed(turns, turns * self.spacing_seconds, apart)

    @property
    def late_seconds(self) -> float:
        """How late after its turn a call may leave."""
        return _LATE_SHARE * max(1.0, self.interval_seconds)

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
        since, share = now - self._came_down, _FIRST_SHARE
        if _LEARNT_AFTER_SECONDS <= since < math.inf:
            share = min(max(self._good / since / was, _LEAST_SHARE), _MOST_SHARE)
        self._rate = max(was * share, min(was, _SLOWEST_PER_SECOND))
        self._too_high, self._step_of_answer = was, (was - self._rate) / _ANSWERS_TO_COME_BACK
        self._came_down, self._good = now, 0

    def answered(self, departed: float) -> None:
        """A call that left at `departed` was taken by the service."""
        if departed < self._came_down:
            return
        self._good += 1
        if not self.lowered:
            return
        self._rate += max(self._too_high * _CLIMB_SHARE / self._rate, self._step_of_answer)
        if self._rate >= (1 / self._interval if self._interval else self._too_high * _FREE_AGAIN_AT):
            self._rate = math.inf
