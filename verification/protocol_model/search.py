"""All states that a world can come to, breadth first, so that the first broken promise has the shortest story."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from protocol_model.lanes import leases_end
from protocol_model.outside import files_come, network_and_service, people_act, processes_die_and_sleep, time_passes
from protocol_model.program import workers_act
from protocol_model.promises import OF_STATES, OF_TRANSITIONS, is_an_end
from protocol_model.states import Label, State, World, first_state

AN_END_IS_REACHABLE = "an_end_is_reachable"


def successors(state: State, world: World) -> Iterator[tuple[Label, State]]:
    """Everything that may happen next."""
    yield from workers_act(state, world)
    yield from network_and_service(state, world)
    yield from processes_die_and_sleep(state, world)
    yield from leases_end(state, world)
    yield from time_passes(state, world)
    yield from people_act(state, world)
    yield from files_come(state, world)


@dataclass
class Found:
    """What a search came to. broken: the promise that was broken first, "" if none; story: how it came to that."""

    world: World
    states: int = 0
    transitions: int = 0
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: str = ""
    story: tuple[Label, ...] = ()

    def told(self) -> str:
        """The story in words, one step a line."""
        lines = [
            f"{self.world.name}: {self.broken or 'holds'}",
            *(f"  {n}. {step}" for n, step in enumerate(self.story, 1)),
        ]
        return "\n".join(lines)


def explore(world: World, *, ends: bool = True) -> Found:
    """Visit every state; stop at the first broken promise.

    ends: also show that from every state an end can be reached.
    """
    first = first_state(world)
    came: dict[State, tuple[State, Label] | None] = {first: None}
    back: dict[State, list[State]] = {}
    found = Found(world)
    waiting = deque([first])
    while waiting:
        state = waiting.popleft()
        for label, after in successors(state, world):
            found.transitions += 1
            found.kinds[label.kind, label.detail] += 1
            if ends:
                back.setdefault(after, []).append(state)
            broken = _broken_by(state, label, after, world, is_new=after not in came)
            came_now = after not in came
            if came_now:
                came[after] = (state, label)
                waiting.append(after)
            if broken:
                found.states, found.broken = len(came), broken
                found.story = (*_story(came, state), label)
                return found
    found.states = len(came)
    if ends:
        _check_ends(came, back, found)
    return found


def _broken_by(before: State, label: Label, after: State, world: World, *, is_new: bool) -> str:
    for of_transition in OF_TRANSITIONS:
        if not of_transition(before, label, after):
            return of_transition.__name__
    if is_new:
        for of_state in OF_STATES:
            if not of_state(after, world):
                return of_state.__name__
    return ""


def _story(came: dict[State, tuple[State, Label] | None], state: State) -> tuple[Label, ...]:
    steps = []
    while (step := came[state]) is not None:
        state, label = step
        steps.append(label)
    return tuple(reversed(steps))


def _check_ends(came: dict[State, tuple[State, Label] | None], back: dict[State, list[State]], found: Found) -> None:
    """From every state some end can be reached: nothing waits for ever."""
    good = {state for state in came if is_an_end(state)}
    waiting = deque(good)
    while waiting:
        for before in back.get(waiting.popleft(), ()):
            if before not in good:
                good.add(before)
                waiting.append(before)
    stuck = next((state for state in came if state not in good), None)
    if stuck is not None:
        found.broken, found.story = AN_END_IS_REACHABLE, _story(came, stuck)
