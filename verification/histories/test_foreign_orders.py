"""Orders of others under our references, with our very goods: none is ever taken for ours."""

from itertools import product
from pathlib import Path

import pytest
from campaigns.scale import FULL, report
from histories.playing import History, Step, World
from histories.service import Habits
from histories.test_histories import played, template

__all__ = ["template"]

OTHERS = ("X", "Y")  # another customer; the same one at another address
FAULTS = ("", "lose_request", "lose_answer", "error_500", "spoil_500", "late")
SETTLED: tuple[Step, ...] = (("wait", 61.0), ("settle",), ("wait", 61.0), ("run", "order"), ("settle",))
KNOWN: tuple[Step, ...] = (("drop", "order", "first.csv", (("R-0", "A"),)), ("run", "order"))
"""An order of ours that the service has: it shows how the service answers."""


def fault(kind: str) -> tuple[Step, ...]:
    return (("fault", "order.create", kind, 1),) if kind else ()


def send(content: str, name: str = "a.csv") -> tuple[Step, ...]:
    return ("drop", "order", name, (("R-1", content),)), ("run", "order")


STORIES = {
    "it was there before": lambda other, kind: (("foreign", "R-1", other), *fault(kind), *send("A"), *SETTLED),
    "it came while ours was in doubt": lambda other, kind: (
        *fault(kind),
        *send("A"),
        ("foreign", "R-1", other),
        *SETTLED,
    ),
    "it was there when the key changed hands": lambda other, kind: (
        *send("A"),
        ("cancel", "R-1"),
        ("foreign", "R-1", other),
        *fault(kind),
        *send("B", "b.csv"),
        ("decide", "send-again"),
        ("run", "order"),
        *SETTLED,
    ),
    "ours was dropped unseen, and its address corrected": lambda other, kind: (
        *(("fault", "order.fetch", "lose_request", 9),),
        *fault(kind),
        *send("A"),
        *(("drop_unseen",), ("cure",)),
        *send("C" if other == "X" else "Y", "b.csv"),
        *SETTLED,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("duplicate", ["refuse", "replay", "error"])
def test_nobody_elses_order_is_taken_for_ours(duplicate: str, readable: bool, template: Path) -> None:
    found = []
    cases = list(product(STORIES, OTHERS if FULL else OTHERS[1:], FAULTS if FULL else FAULTS[:2]))
    for story, other, kind in cases:
        steps = KNOWN + STORIES[story](other, kind)
        done = played(template, History(steps, World(Habits(duplicate=duplicate, readable=readable))))
        if done.broken:
            found.append(f"{story}, others’ order {other}, {kind or 'no fault'}: {done.broken}")
    report("foreign orders", duplicate=duplicate, readable=readable, histories=len(cases), broken=len(found))
    assert not found, "\n".join(found)
