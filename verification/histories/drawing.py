"""Drawing histories by number, and shrinking one that breaks a promise to the few steps that matter."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from histories.judging import Broken
from histories.playing import History, Step, World
from histories.service import FAULTS, Habits

REFERENCES = ("R-1", "R-2", "R-3", "R-4")
POINTS = (
    "file.fetched",
    "file.before_commit",
    "file.after_commit",
    "intent.before_commit",
    "intent.after_commit",
    "send.before",
    "send.after",
    "outcome.before_commit",
    "outcome.after_commit",
    "settle.before_commit",
    "settle.after_commit",
    "resend.before",
    "resend.after",
    "report.before",
    "report.after",
    "archive.before",
    "archive.after",
)
SLEEPS = ("send.before", "resend.before", "intent.before_commit", "file.after_commit", "archive.before")
READS = ("lose_request", "refuse_connection", "error_500", "error_503", "slow_down_429", "spoil_502", "spoil_page_200")
_LONGEST = 24


def draw_world(dice: random.Random) -> World:
    """What holds for one history."""
    habits = Habits(
        duplicate=dice.choice(("refuse", "refuse", "error", "replay")),
        readable=dice.random() < 0.75,
        absent=dice.choice((400, 404)),
        asn_ids=dice.random() < 0.7,
        none_found=dice.choice((200, 200, 400, 404)),
    )
    return World(
        habits,
        concurrency=dice.choice((1, 1, 4)),
        resend=dice.choice(("never", "after_absent")),
        marker=dice.random() < 0.4,
    )


def draw_history(seed: int, number: int) -> History:
    """The history of that number."""
    dice = random.Random(f"{seed}-{number}")
    world = draw_world(dice)
    return History(tuple(draw_steps(dice, world)), world)


def draw_steps(dice: random.Random, world: World) -> list[Step]:
    """The steps of one history: files and what befalls them, in any order."""
    steps: list[Step] = [_file(dice, 0)]
    length = dice.randint(4, _LONGEST)
    while len(steps) < length:
        steps.append(_draw(dice, world, number=len(steps)))
        if dice.random() < 0.6:
            steps.append(_program(dice))
    return steps


def _draw(dice: random.Random, world: World, *, number: int) -> Step:
    kinds: Sequence[tuple[int, Callable[[], Step]]] = (
        (6, lambda: _file(dice, number)),
        (1, lambda: ("drop_again", dice.randrange(8))),
        (6, lambda: _program(dice)),
        (
            6,
            lambda: (
                "fault",
                dice.choice(("order.create", "asn.create")),
                dice.choice(FAULTS),
                dice.choice((1, 1, 2, 6)),
            ),
        ),
        (2, lambda: ("fault", dice.choice(("order.fetch", "asn.fetch")), dice.choice(READS), dice.choice((1, 2, 6)))),
        (1, lambda: ("ail", dice.choice(REFERENCES), dice.choice(FAULTS))),
        (1, lambda: ("cure",)),
        (4, lambda: ("wait", dice.choice((1.0, 30.0, 61.0, 200.0, 400.0, 4000.0)))),
        (4, lambda: ("kill", dice.choice(POINTS), dice.choice((1, 1, 2, 3)))),
        (1, lambda: ("doze", dice.choice(SLEEPS), dice.choice((10.0, 100.0)))),
        (2, lambda: ("meanwhile", _other(dice, number))),
        (2, lambda: _outside(dice, world)),
        (1, lambda: dice.choice((("copy",), ("restore",)))),
    )
    return dice.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()


def _file(dice: random.Random, number: int) -> Step:
    kind = dice.choice(("order", "order", "asn"))
    contents = "AAABC!"
    lines = [(reference, dice.choice(contents)) for reference in dice.sample(REFERENCES, dice.randint(1, 3))]
    name = dice.choice((f"{kind}-{number}.csv", f"{kind}.csv"))
    return "drop", kind, name, tuple(lines)


def _program(dice: random.Random) -> Step:
    words: tuple[Any, ...] = (
        *[("run", "order")] * 5,
        *[("run", "asn")] * 3,
        *[("settle",)] * 3,
        ("retry", dice.choice(("order", "asn"))),
        *[("decide", dice.choice(("accept", "send-again", "drop")))] * 2,
        ("reopen",),
    )
    return dice.choice(words)  # type: ignore[no-any-return]


def _other(dice: random.Random, number: int) -> Step:
    """What somebody else does while a call is under way."""
    return dice.choice((_program(dice), _program(dice), _file(dice, 100 + number), ("cancel", dice.choice(REFERENCES))))


def _outside(dice: random.Random, world: World) -> Step:
    """Others at the service. Where it repeats its first answer, orders of others are a campaign of their own."""
    if world.habits.duplicate != "replay" and dice.random() < 0.5:
        return "foreign", dice.choice(REFERENCES), "X"
    return "cancel", dice.choice(REFERENCES)


def shrunk(history: History, broken_by: Callable[[History], Broken | None], broken: Broken) -> History:
    """The history with the fewest of its steps that still breaks this promise: large pieces are left out first."""
    left = list(history.steps)
    size = len(left) // 2
    while size:
        start = 0
        while start < len(left):
            fewer = left[:start] + left[start + size :]
            found = broken_by(replace(history, steps=fewer)) if fewer else None
            if found is not None and found.promise == broken.promise:
                left = fewer
            else:
                start += size
        size //= 2
    return replace(history, steps=left)


def as_test(history: History, broken: Broken) -> str:
    """A history as a test to keep."""
    steps = "".join(f"            {step!r},\n" for step in history.steps)
    return (
        f"def test_{broken.promise}(template: Path) -> None:\n    history = History(\n        (\n{steps}        ),\n"
        f"        {history.world!r},\n    )\n    assert played(template, history).broken is None\n"
    )
