"""The values in a rule of a fault plan, each with its form and limits."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

LARGEST_BODY_BYTES = 100_000_000
LONGEST_SECONDS = 86_400.0
SHORTEST_KEY_END = 4

# The keys that choose requests; every kind takes them.
CHOOSING: Mapping[str, str] = MappingProxyType(
    {
        "endpoint": "a pattern such as `order.*`, or a list of them; every endpoint without it",
        "reference": "a reference, AWB or invoice number as the request names it, or the id in its path; or a list",
        "api_key": "the end of an API key, at least 4 characters: only requests with this key",
        "requests": "a number or a list: the first matching request is 1",
        "every": "every so many matching requests",
        "from": "from this matching request on",
        "to": "up to this one",
        "probability": "the share of the matching requests, 0 to 1, drawn by `seed`",
        "seed": "a whole number; the same seed spoils the same requests (0 without it)",
        "times": "at most so many faults",
    }
)


def read_value(name: str, value: object) -> Any:
    """The value of one key in its proper form; ValueError says what is expected."""
    return _READERS[name](name, value)


def check_seconds(name: str, value: object) -> None:
    """ValueError unless the value is a number of seconds."""
    _number(0, LONGEST_SECONDS)(name, value)


def _whole(least: int, most: float = math.inf) -> Callable[[str, object], int]:
    def read(name: str, value: object) -> int:
        if isinstance(value, str) and value.strip().removeprefix("-").isdecimal():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            limits = f"at least {least}" if most == math.inf else f"{least} to {most:.0f}"
            raise ValueError(f"{name} is a whole number, {limits}; not {value!r}")
        return value

    return read


def _number(least: float, most: float) -> Callable[[str, object], float]:
    def read(name: str, value: object) -> float:
        try:
            number = math.nan if isinstance(value, bool) else float(str(value))
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise ValueError(f"{name} is a number, {least:g} to {most:g}; not {value!r}")
        return number

    return read


def _one_of(*words: str) -> Callable[[str, object], str]:
    def read(name: str, value: object) -> str:
        text = "null" if value is None else str(value)
        if text not in words:
            raise ValueError(f"{name} is {' or '.join(words)}; not {text!r}")
        return text

    return read


def _text(name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} is a text; not {value!r}")
    return str(value)


def _header(name: str, value: object) -> str:
    text = _text(name, value)
    if not text.isascii() or not text.isprintable():
        raise ValueError(f"{name} goes into a header and is plain text; not {value!r}")
    return text


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is true or false; not {value!r}")
    return value


def _gateway_status(name: str, value: object) -> int:
    if value not in (200, 400, 502):
        raise ValueError(f"{name} is 200, 400 or 502; not {value!r}")
    return int(str(value))


def _texts(name: str, value: object) -> tuple[str, ...]:
    texts = tuple(_text(name, one) for one in (value if isinstance(value, list) else [value]))
    if not all(texts):
        raise ValueError(f"{name} is empty")
    return texts


def _key_end(name: str, value: object) -> str:
    text = _text(name, value)
    if len(text) < SHORTEST_KEY_END:
        raise ValueError(f"{name} is the end of an API key, at least {SHORTEST_KEY_END} characters; not {value!r}")
    return text


def _numbers(name: str, value: object) -> frozenset[int]:
    read = _whole(1)
    return frozenset(read(name, one) for one in (value if isinstance(value, list) else [value]))


_READERS: Mapping[str, Callable[[str, object], Any]] = MappingProxyType(
    {
        "kind": _text,
        "phase": _one_of("before", "after"),
        "endpoint": _texts,
        "reference": _texts,
        "api_key": _key_end,
        "requests": _numbers,
        **dict.fromkeys(("every", "from", "to", "times"), _whole(1)),
        "seed": _whole(-(2**63), 2**63),
        "probability": _number(0, 1),
        "seconds": _number(0, LONGEST_SECONDS),
        "message": _text,
        "retry_after": _header,
        "retry_after_as": _one_of("seconds", "date"),
        "page": _flag,
        "status": _gateway_status,
        "location": _header,
        "answer": _one_of("drop", "error_500"),
        "part": _one_of("body", "head"),
        "share": _number(0, 0.999),
        "bytes_per_second": _number(0.1, 1_000_000),
        "bytes": _whole(1, LARGEST_BODY_BYTES),
        "digits": _whole(1, LARGEST_BODY_BYTES),
        "levels": _whole(1, LARGEST_BODY_BYTES),
        "as": _one_of("numbers", "array", "null"),
        "per_second": _number(0.0001, 100_000),
        "burst": _whole(1),
    }
)
