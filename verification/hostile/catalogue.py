"""What a hostile file is in these tests, and the list to which each module of makers adds its own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Make = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Hostile:
    """One named file: how to write it, as what it is dropped, and words that its sender must be told."""

    name: str
    file_name: str
    words: str
    make: Make


FILES: dict[str, Hostile] = {}


def hostile(file_name: str, words: str) -> Callable[[Make], Make]:
    """Adds a maker to the list, under its own name."""

    def add(make: Make) -> Make:
        name = make.__name__  # type: ignore[attr-defined]
        assert name not in FILES, name
        FILES[name] = Hostile(name, file_name, words, make)
        return make

    return add
