"""Named places where a test can kill the process, as `kill -9` or a power cut would.

Each durable write and each byte that leaves has a point before and after it. Unarmed, a point costs one comparison.
"""

import os
import signal
from dataclasses import dataclass


@dataclass
class _Armed:
    name: str = ""
    hits_left: int = 0


_armed = _Armed()


def arm(target: str) -> None:
    """Arm one point: `name` or `name:n` kills at the n-th time the point is passed (1 by default); "" disarms."""
    name, _, count = target.partition(":")
    _armed.name = name
    _armed.hits_left = int(count or 1)


def crash_point(name: str) -> None:
    """Die here without any clean-up if a test armed this point."""
    if name != _armed.name:
        return
    _armed.hits_left -= 1
    if _armed.hits_left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
