"""Several senders (PostgreSQL): one runs the job under the lock, helpers only send; one key is one lane.

A lease lasts by the server's clock until it ends; a process whose lease ended may not know it before it looks. Who is
gone holds nothing.
"""

from collections.abc import Iterator

from protocol_model.outside import MID_CALL
from protocol_model.states import NOBODY, Label, State, World
from protocol_model.states import with_worker as change

Moves = Iterator[tuple[Label, State]]

LASTS, OVER = "lasts", "over"


def is_helper(index: int, world: World) -> bool:
    """The last workers of a world help the first."""
    return index >= world.workers - world.helpers


def begins_to_help(state: State, index: int) -> Moves:
    """A helper takes a lease, and no lane yet."""
    yield Label("help", index), change(state, index, step="ready", lease=LASTS)


def shares_lanes(state: State, index: int) -> Moves:
    """Between calls a sender takes the lane if nobody living holds it, gives it up, or takes a new lease."""
    if state.workers[index].lease == OVER:
        yield Label("take_new_lease", index), change(state, index, lease=LASTS)
    elif state.lane == index:
        yield Label("give_lane_up", index), state._replace(lane=NOBODY)
    elif state.lane == NOBODY or state.workers[state.lane].lease != LASTS:
        yield Label("take_lane", index), state._replace(lane=index)


def may_claim(state: State, index: int, world: World) -> bool:
    """Whether the lane is this worker's by a lease that lasts, while the run is open."""
    if not world.helpers or not world.guarded:
        return True
    is_open = any(worker.has_lock and worker.lease == LASTS for worker in state.workers)
    return is_open and state.lane == index and state.workers[index].lease == LASTS


def is_sent_by_the_living(state: State, number: int) -> bool:
    """Whether a process whose lease lasts is in the middle of a document's last attempt."""
    attempt = state.documents[number].attempts
    senders = [worker for worker in state.workers if (worker.document, worker.attempt) == (number, attempt)]
    return any(worker.step in MID_CALL and worker.lease == LASTS for worker in senders)


def leases_end(state: State, world: World) -> Moves:
    """A suspended process renews nothing, nor does a helper whose connection broke."""
    for index, worker in enumerate(state.workers):
        if worker.lease != LASTS:
            continue
        if worker.suspended:
            yield Label("lease_ends", index), change(state, index, lease=OVER)
        elif state.left.pauses and is_helper(index, world):
            left = state.left._replace(pauses=state.left.pauses - 1)
            yield Label("lose_connection", index), change(state._replace(left=left), index, lease=OVER)
