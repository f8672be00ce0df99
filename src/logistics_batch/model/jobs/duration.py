"""Lengths of time as people write them: "45s", "10m", "6h", "2d"."""

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)\s*")


def duration_seconds(text: str) -> float:
    """The seconds that a length of time stands for.

    Raises ValueError with a sentence for the person who wrote it.

    >>> duration_seconds("6h")
    21600.0
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is no length of time. Write a number and a unit, as "45s", "10m", "6h" or "2d".')
    return float(match[1]) * _SECONDS[match[2]]
