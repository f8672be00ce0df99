"""Ways through a world: a set that takes every kind of transition, and others by seed."""

import random
from collections import Counter, deque
from collections.abc import Sequence

from protocol_model.search import successors
from protocol_model.states import Label, State, World, first_state

Step = tuple[Label, State]
Path = tuple[Step, ...]


def covering_paths(worlds: Sequence[World]) -> list[tuple[World, Path]]:
    """Shortest ways that together take each kind of transition of these worlds at least once."""
    ways: dict[tuple[str, str, str], tuple[World, Path]] = {}
    for world in worlds:
        came, first = _searched(world)
        for kind, (before, step) in first.items():
            if (world.kind, *kind) not in ways:
                ways[world.kind, *kind] = world, _way(came, before, step)
    covered: set[tuple[str, str, str]] = set()
    chosen = []
    for world, way in sorted(ways.values(), key=lambda each: len(each[1]), reverse=True):
        kinds = {(world.kind, *kind_of(label)) for label, _ in way}
        if not kinds <= covered:
            covered |= kinds
            chosen.append((world, way))
    return chosen


def kind_of(label: Label) -> tuple[str, str]:
    """What a transition is, whoever makes it."""
    return label.kind, label.detail


def walk(world: World, *, seed: int, steps_at_most: int = 60) -> Path:
    """A way by chance; steps that change nothing are left out, and what happened often already happens less."""
    chance = random.Random(f"{world.name} {seed}")
    state = first_state(world)
    way: list[Step] = []
    times: Counter[tuple[str, str]] = Counter()
    while len(way) < steps_at_most:
        steps = [step for step in successors(state, world) if step[1] != state]
        if not steps:
            break
        (step,) = chance.choices(steps, [0.3 ** times[kind_of(label)] for label, _ in steps])
        times[kind_of(step[0])] += 1
        way.append(step)
        state = step[1]
    return tuple(way)


def told(world: World, *labels: str) -> Path:
    """The way that is told by what its steps are called."""
    state, way = first_state(world), []
    for label in labels:
        way.append(next(step for step in successors(state, world) if str(step[0]) == label))
        state = way[-1][1]
    return tuple(way)


def _searched(
    world: World,
) -> tuple[dict[State, tuple[State, Step] | None], dict[tuple[str, str], tuple[State, Step]]]:
    start = first_state(world)
    came: dict[State, tuple[State, Step] | None] = {start: None}
    first: dict[tuple[str, str], tuple[State, Step]] = {}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for step in successors(state, world):
            first.setdefault(kind_of(step[0]), (state, step))
            if step[1] not in came:
                came[step[1]] = state, step
                waiting.append(step[1])
    return came, first


def _way(came: dict[State, tuple[State, Step] | None], state: State, last: Step) -> Path:
    steps = [last]
    while (before := came[state]) is not None:
        state, step = before
        steps.append(step)
    return tuple(reversed(steps))
