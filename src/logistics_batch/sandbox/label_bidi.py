"""The order of letters on a line in which some scripts run from right to left (Unicode annex 9, without embeddings)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
_STRONG = {"L": False, "R": True, "AL": True}


def runs_leftward(text: str) -> bool:
    """Whether the first letter with a direction of its own belongs to a script that runs from right to left."""
    if not _RIGHT_TO_LEFT.search(text):
        return False
    return next((_STRONG[kind] for kind in map(unicodedata.bidirectional, text) if kind in _STRONG), False)


def levels(text: str, *, leftward: bool) -> list[int]:
    """The level of each letter: even ones run to the right, odd ones to the left.

    leftward: the direction of the paragraph.
    """
    if not leftward and not _RIGHT_TO_LEFT.search(text):
        return [0] * len(text)
    kinds = _neutral(_numbers([unicodedata.bidirectional(letter) for letter in text], leftward), leftward)
    bottom = int(leftward)
    found = []
    for kind in kinds:
        if bottom % 2:
            found.append(bottom + (kind != "R"))
        else:
            found.append(bottom + {"L": 0, "R": 1}.get(kind, 2))
    return found


def in_visual_order(levels_of_runs: Sequence[int]) -> list[int]:
    """Indices of the runs of a line from left to right (rule L2)."""
    order = list(range(len(levels_of_runs)))
    for level in range(max(levels_of_runs, default=0), 0, -1):
        for start, end in _stretches(order, levels_of_runs, level):
            order[start:end] = reversed(order[start:end])
    return order


def _stretches(order: list[int], levels_of_runs: Sequence[int], level: int) -> Iterator[tuple[int, int]]:
    start = None
    for place, run in enumerate([*order, -1]):
        inside = run >= 0 and levels_of_runs[run] >= level
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            yield start, place
            start = None


def _numbers(kinds: list[str], leftward: bool) -> list[str]:
    """Rules W1 to W7: marks follow their letter, digits and their signs stay together."""
    strong = before = "R" if leftward else "L"
    for place, given in enumerate(kinds):
        kind = before if given in ("NSM", "BN") else given
        if kind in _STRONG:
            strong = kind
        kinds[place] = before = "AN" if kind == "EN" and strong == "AL" else kind
    for place in range(1, len(kinds) - 1):
        one, sign, other = kinds[place - 1 : place + 2]
        if one == other and ((sign == "CS" and one in ("EN", "AN")) or (sign == "ES" and one == "EN")):
            kinds[place] = one
    for order in (range(1, len(kinds)), range(len(kinds) - 2, -1, -1)):
        for place in order:
            if kinds[place] == "ET" and kinds[place - order.step] == "EN":
                kinds[place] = "EN"
    strong = "R" if leftward else "L"
    for place, kind in enumerate(kinds):
        if kind in _STRONG:
            strong = kinds[place] = "R" if _STRONG[kind] else "L"
        elif kind == "EN" and strong == "L":
            kinds[place] = "L"
    return kinds


def _neutral(kinds: list[str], leftward: bool) -> list[str]:
    """Rules N1 and N2: what has no direction takes that of both its neighbours, else the paragraph's."""
    around = "R" if leftward else "L"
    place = 0
    while place < len(kinds):
        end = place
        while end < len(kinds) and kinds[end] not in ("L", "R", "EN", "AN"):
            end += 1
        if end > place:
            before = _side(kinds[place - 1]) if place else around
            after = _side(kinds[end]) if end < len(kinds) else around
            kinds[place:end] = [before if before == after else around] * (end - place)
        place = end + 1
    return kinds


def _side(kind: str) -> str:
    return "L" if kind == "L" else "R"
