"""Several senders (PostgreSQL): one runs the job under the lock, helpers only send; one key is one lane.

A lease lasts by the server's clock until it ends; a process whose lease ended may not know it before it looks. Who is
gone holds no lane, but its run stays open for others until its lease ends, or is seen to be that of one who is gone.
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
    yield Label("help", index), with_lease(state, index, step="ready")


def with_lease(state: State, index: int, **changes: str) -> State:
    """The state with a new lease, which holds no lane; that of who runs the job opens the run."""
    lane = NOBODY if state.lane == index else state.lane
    open_ = state.run_open or state.workers[index].has_lock
    return change(state._replace(lane=lane, run_open=open_), index, lease=LASTS, **changes)


def shares_lanes(state: State, index: int, world: World) -> Moves:
    """Between calls a sender takes the lane if nobody living holds it, gives it up, or takes a new lease."""
    if state.workers[index].lease == OVER:
        if has_its_lock(state, index, world):
            yield Label("take_new_lease", index), with_lease(state, index)
        return
    # Who looks who sends puts away the leases of those that are seen to be gone.
    shared = state._replace(run_open=state.run_open and not _opener_is_gone(state, world))
    if state.lane == index:
        yield Label("give_lane_up", index), shared._replace(lane=NOBODY)
    elif state.lane == NOBODY or state.workers[state.lane].lease != LASTS:
        yield Label("take_lane", index), shared._replace(lane=index)


def may_claim(state: State, index: int, world: World) -> bool:
    """Whether the lane is this worker's by a lease that lasts, while the run is open."""
    if not world.helpers or not world.guarded:
        return True
    own = state.lane == index and state.workers[index].lease == LASTS
    return state.run_open and own and has_its_lock(state, index, world)


def has_its_lock(state: State, index: int, world: World) -> bool:
    """Whoever runs the job beside helpers claims nothing more, and opens no run, once its lock is gone."""
    return not world.helpers or is_helper(index, world) or state.workers[index].has_lock


def is_sent_by_the_living(state: State, number: int) -> bool:
    """Whether a process whose lease lasts is in the middle of a document's last attempt."""
    attempt = state.documents[number].attempts
    senders = [worker for worker in state.workers if (worker.document, worker.attempt) == (number, attempt)]
    return any(worker.step in MID_CALL and worker.lease == LASTS for worker in senders)


def leases_end(state: State, world: World) -> Moves:
    """A suspended process renews nothing, nor does a helper whose connection broke, nor who is gone."""
    closed = state._replace(run_open=False)
    if state.run_open and _opener_is_gone(state, world):
        yield Label("lease_ends", detail="of a run whose program is gone"), closed
    for index, worker in enumerate(state.workers):
        if worker.lease != LASTS:
            continue
        if worker.suspended:
            ended = state if is_helper(index, world) else closed
            yield Label("lease_ends", index), change(ended, index, lease=OVER)
        elif state.left.pauses and is_helper(index, world):
            left = state.left._replace(pauses=state.left.pauses - 1)
            yield Label("lose_connection", index), change(state._replace(left=left), index, lease=OVER)


def _opener_is_gone(state: State, world: World) -> bool:
    return not any(worker.lease and not is_helper(index, world) for index, worker in enumerate(state.workers))
