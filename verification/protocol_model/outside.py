"""What happens around the program: files, people, time, the network, the service, and death."""

from collections.abc import Iterator

from protocol_model.states import (
    NOBODY,
    Broken,
    Document,
    Label,
    Record,
    Request,
    State,
    Worker,
    World,
    spend,
    with_document,
)
from protocol_model.states import with_worker as change

Moves = Iterator[tuple[Label, State]]

MID_CALL = ("intent", "looked_at_clock", "waiting", "answered")
SENT_AND_OPEN = ("sending", "in_doubt")
SECOND_CREATE = {"refuse": "taken_400", "replay": "pass", "error": "error_500"}
NEVER_SENT = ("earlier_in_doubt", "earlier_held", "changed_after_acceptance", "cancelled")


def files_come(state: State, world: World) -> Moves:
    """Somebody drops a file, or the same once more."""
    if state.left.arrivals:
        for content in world.contents:
            inbox = "".join(sorted({*state.inbox, content}))
            arrived = "".join(sorted({*state.arrived, content}))
            yield (
                Label("drop_file", detail=content),
                spend(state._replace(inbox=inbox, arrived=arrived), arrivals=1),
            )


def time_passes(state: State, world: World) -> Moves:
    """The pause after which the service no longer acts on what it got (`settle_after`) is over.

    Nothing is on its way any more by then, no live process is in the middle of a call, and reads show what was written.
    """
    busy = any(not w.suspended and w.step not in ("away", "ready") for w in state.workers)
    if busy or (state.network and not world.late_after_pause):
        return
    documents = _doubts_are_due(state.documents)
    copy = None if state.copy is None else _doubts_are_due(state.copy)  # time passes for what lies in it as well
    records = tuple(r._replace(shown=not world.reads_lag) for r in state.records)
    workers = tuple(w._replace(late=True) if w.suspended and w.step == "intent" else w for w in state.workers)
    later = state._replace(documents=documents, copy=copy, records=records, workers=workers)
    if later != state:
        yield Label("settle_after_passes"), later


def _doubts_are_due(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    """Also for what is still called sending: in a copy that goes on it is a doubt since its intent."""
    return tuple(d._replace(due=True) if d.state in SENT_AND_OPEN else d for d in documents)


def processes_die_and_sleep(state: State, world: World) -> Moves:
    """kill -9 at any step; SIGSTOP and SIGCONT; a database session that breaks while its owner lives."""
    for index, worker in enumerate(state.workers):
        if worker.step == "away":
            continue
        if state.left.crashes:
            yield Label("crash", index, worker.document, worker.step), spend(_dead(state, index, world), crashes=1)
        if worker.suspended:
            yield Label("resume", index, detail=worker.step), change(state, index, suspended=False)
            if worker.step == "intent" and not worker.late:
                yield Label("oversleep", index, worker.document), change(state, index, late=True)
        elif state.left.pauses and worker.step in MID_CALL:
            lock = worker.has_lock and world.broken is not Broken.LOCK_ENDS_IN_PAUSE
            yield (
                Label("suspend", index, worker.document, worker.step),
                spend(change(state, index, suspended=True, has_lock=lock), pauses=1),
            )
        if world.lock == "session" and worker.has_lock and worker.suspended:
            yield Label("lose_session", index), change(state, index, has_lock=False)


def _dead(state: State, index: int, world: World) -> State:
    worker, workers = state.workers[index], list(state.workers)
    if world.disk_lies and worker.step in MID_CALL:  # the intent is gone with the power
        before = state.documents[worker.document]
        state = with_document(state, worker.document, state="planned", attempts=before.attempts - 1, open_attempt=False)
    workers[index] = Worker()
    network = tuple(r._replace(worker=NOBODY) if r.worker == index else r for r in state.network)
    return state._replace(workers=tuple(workers), network=network)


def network_and_service(state: State, world: World) -> Moves:
    """Requests get lost, arrive, arrive late; answers come, get lost, or are worth nothing."""
    for request in state.network:
        rest = tuple(r for r in state.network if r is not request)
        gone = state._replace(network=rest)
        yield from _arrive(state, gone, request, world)
        if state.left.faults and request.worker != NOBODY:
            lost = spend(gone, faults=1)
            if world.acts_despite_401:
                acted = _made(lost, request)
                yield Label("act", request.worker, request.document), _tell(acted, request, "unauthorized_401")
            yield Label("lose_request", request.worker, request.document), lost
            for answer in ("error_500", "unreadable_200", "throttled_429", "unauthorized_401"):
                yield Label("no_effect", request.worker, request.document, answer), _tell(lost, request, answer)
        elif request.worker == NOBODY:  # nobody will ever know
            yield Label("lose_request", NOBODY, request.document), gone
    for index, worker in enumerate(state.workers):
        if worker.step == "waiting":
            yield from _give_up_waiting(state, index, worker)


def _give_up_waiting(state: State, index: int, worker: Worker) -> Moves:
    waiting = [r for r in state.network if r.worker == index]
    if not waiting:  # the request or its answer was lost
        yield Label("time_out", index, worker.document), change(state, index, step="answered", heard="silence")
    elif state.left.faults:  # the request is only late
        network = tuple(r._replace(worker=NOBODY) if r.worker == index else r for r in state.network)
        late = spend(state._replace(network=network), faults=1)
        yield Label("overtake", index, worker.document), change(late, index, step="answered", heard="silence")


def _arrive(state: State, gone: State, request: Request, world: World) -> Moves:
    """The service has the whole request: it does something, and says something about it."""
    alive = [r for r in state.records if r.live]
    made = _made(gone, request)
    if world.proxy_repeats and state.left.faults:
        again = spend(made._replace(network=(*made.network, request._replace(worker=NOBODY))), faults=1)
        yield Label("repeat_by_proxy", request.worker, request.document), _tell(again, request, "pass")
    if state.left.refusals:
        yield from _say(spend(gone, refusals=1), request, "refuse_400")
    if world.kind == "asn" or not alive or not world.unique:
        yield from _say(made, request, "pass")
    else:
        yield from _say(gone, request, SECOND_CREATE[world.duplicate])


def _made(state: State, request: Request) -> State:
    record = Record(request.document, state.documents[request.document].content)
    return state._replace(records=(*state.records, record))


def _say(state: State, request: Request, answer: str) -> Moves:
    if request.worker == NOBODY:
        yield Label("arrive_late", NOBODY, request.document, answer), state
        return
    yield Label("answer", request.worker, request.document, answer), _tell(state, request, answer)
    if state.left.faults:
        spoiled = spend(state, faults=1)
        yield Label("lose_answer", request.worker, request.document, answer), spoiled
        for instead in ("error_500", "unreadable_200"):
            if instead != answer:
                label = Label("spoil_answer", request.worker, request.document, f"{answer} becomes {instead}")
                yield label, _tell(spoiled, request, instead)


def _tell(state: State, request: Request, answer: str) -> State:
    if request.worker == NOBODY or state.workers[request.worker].step != "waiting":
        return state
    return change(state, request.worker, step="answered", heard=answer)


def people_act(state: State, world: World) -> Moves:
    """Decisions about what is held, and cancellations."""
    for index, document in enumerate(state.documents):
        if document.state != "held" or not state.left.decisions:
            continue
        mine = [r for r in state.records if r.document == index]
        there = any(r.live for r in mine)
        if there:
            yield Label("decide_accept", document=index), _decided(state, index, "accepted", document)
        if not there or not world.informed:
            yield Label("decide_drop", document=index), _decided(state, index, "abandoned", document)
        if _may_be_released(state, index, world):
            changes = {"state": "planned", "rule": "", "released": True, "checks": 0}
            released = with_document(state, index, **changes, releases=document.releases + 1)
            yield Label("decide_send_again", document=index), spend(released, decisions=1)
    if state.left.cancels:
        yield from _cancellations(state, world)
    yield from _copies(state, world)


def _decided(state: State, index: int, outcome: str, document: object) -> State:
    return spend(with_document(state, index, state=outcome, rule="", released=False), decisions=1)


def _may_be_released(state: State, index: int, world: World) -> bool:
    """Nothing else under the key may be on its way, undecided or alive."""
    if world.kind == "asn" and any(r.document == index and r.live for r in state.records) and world.informed:
        return False  # whoever looks sees that it is there
    if world.broken is Broken.DECISION_WITHOUT_CHECKS:
        return True
    others = [(i, d) for i, d in enumerate(state.documents) if i != index]
    if any(d.state in (*SENT_AND_OPEN, "planned") or (d.state == "held" and i < index) for i, d in others):
        return False
    accepted = [i for i, d in others if d.state == "accepted"]
    if not accepted:
        return True
    last = state.documents[accepted[-1]]
    cancelled = any(r.document == accepted[-1] and not r.live and r.shown for r in state.records)
    return world.kind == "order" and (last.rule == "cancelled" or (cancelled and world.readable))


def _copies(state: State, world: World) -> Moves:
    """The ledger is copied; the copy is put in its place while nobody works; a person lets it go on."""
    if state.left.restores and state.copy is None and state.documents:
        yield Label("copy_ledger"), spend(state._replace(copy=state.documents), restores=1)
    if state.copy is not None and state.copy != state.documents:
        known = all(r.document < len(state.copy) for r in state.network)
        if known and all(w.step == "away" for w in state.workers):
            yield Label("restore_copy"), _restored(state, state.copy)
    looked = not state.network and all(r.shown for r in state.records)
    if state.is_old and (looked or not world.informed):
        yield Label("accept_restored"), _let_go_on(state, world)


def _restored(state: State, copy: tuple[Document, ...]) -> State:
    """What came after the copy is forgotten: at the service it stands as if others had entered it."""
    records = tuple(r if r.document < len(copy) else r._replace(document=NOBODY) for r in state.records)
    arrived = "".join(content for content in state.arrived if content in {d.content for d in copy})
    inbox = "".join(sorted({lying.upper() for lying in state.inbox}))  # none of these was put away
    return state._replace(documents=copy, records=records, arrived=arrived, inbox=inbox, copy=None, is_old=True)


def _let_go_on(state: State, world: World) -> State:
    """The history that is lost may have sent what the copy takes for never sent, and ended what it calls a doubt."""
    if world.broken is Broken.OLD_COPY_IS_BELIEVED:
        return state._replace(is_old=False)
    documents = list(state.documents)
    for number, document in enumerate(documents):
        if document.state in ("planned", "refused", "held"):
            changed = document._replace(tainted=True, releases=document.releases + 1, of_copy=True)
            if document.released and world.broken is not Broken.RELEASE_OUTLIVES_COPY:
                changed = changed._replace(state="held", rule="restored", released=False)
            documents[number] = changed
        elif document.state in SENT_AND_OPEN:
            documents[number] = document._replace(state="in_doubt", rule="restored", tainted=True)
    return state._replace(documents=tuple(documents), is_old=False, history_lost=True)


def _cancellations(state: State, world: World) -> Moves:
    for place, record in enumerate(state.records):
        if not record.live or record.document == NOBODY:
            continue
        records = (*state.records[:place], record._replace(live=False), *state.records[place + 1 :])
        cancelled = spend(state._replace(records=records), cancels=1)
        if world.cancels_elsewhere:
            yield Label("cancel_elsewhere", document=record.document), cancelled
        if state.documents[record.document].state == "accepted":
            yield (
                Label("cancel_by_hand", document=record.document),
                with_document(cancelled, record.document, rule="cancelled"),
            )
