"""Waiting of the program, ten times as short: between two tries, and while the service asks to slow down.

What it tells of its waits keeps its length, and the clock goes on as ever.
"""

from collections.abc import Callable

from logistics_batch.api.pacing import Pacer
from logistics_batch.flows.parts import Clock

_TIMES = 10


def hurry(put: Callable[[object, str, object], None] = setattr) -> None:
    """From now on in this process; put: sets the two attributes."""
    wait, pause = Clock.sleep, Pacer.slow_down
    put(Clock, "sleep", lambda clock, seconds: wait(clock, seconds / _TIMES))
    put(Pacer, "slow_down", lambda pacer, seconds: pause(pacer, seconds / _TIMES))
