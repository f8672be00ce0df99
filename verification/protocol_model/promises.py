"""What must hold in every state and on every transition, by name."""

from collections.abc import Callable

from protocol_model.lanes import LASTS, OVER
from protocol_model.outside import MID_CALL, SENT_AND_OPEN
from protocol_model.states import NOBODY, Label, Record, Request, State, World

from logistics_batch.model.document import TRANSITIONS

FINAL = ("accepted", "superseded", "abandoned")


def one_live_order(state: State, world: World) -> bool:
    """At most one live order for a reference is ours."""
    return world.kind == "asn" or len(_ours_alive(state)) <= 1


def order_created_once(state: State, world: World) -> bool:
    """A generation is created once, and once more for each time that a person decided to send it again."""
    if world.kind == "asn":
        return True
    return all(len(_made_by(state, i)) <= 1 + d.releases for i, d in enumerate(state.documents))


def asn_never_twice(state: State, world: World) -> bool:
    """Nothing makes ASNs unique at the service, so it must be us."""
    return world.kind == "order" or len(_ours_alive(state)) <= 1


def accepted_has_proof(state: State, world: World) -> bool:
    """What is called accepted was made at the service, by this very generation."""
    return all(_made_by(state, i) for i, d in enumerate(state.documents) if d.state == "accepted")


def refused_is_true(state: State, world: World) -> bool:
    """What is called refused does not live at the service."""
    refused = [i for i, d in enumerate(state.documents) if d.state == "refused" and not (d.of_copy or state.is_old)]
    return not any(record.live for number in refused for record in _made_by(state, number))


def every_doubt_is_listed(state: State, world: World) -> bool:
    """Whatever of ours is, or may come to be, at the service stands in the ledger as more than "not sent"."""
    possible = {r.document for r in state.network} | {r.document for r in _ours_alive(state)}
    return all(_is_listed(state, number) for number in possible)


def _is_listed(state: State, number: int) -> bool:
    document = state.documents[number]
    if state.is_old or document.of_copy:  # who lets a restored copy go on has been told how many may be there
        return True
    released = document.state == "planned" and document.released and document.tainted
    # Who drops a version has been told that it may be there.
    return released or document.state in (*SENT_AND_OPEN, "held", "accepted", "abandoned")


def intent_before_bytes(state: State, world: World) -> bool:
    """No request is on its way without its attempt in the ledger."""
    written = [state.documents[r.document].attempts >= r.attempt for r in state.network if not _forgotten(state, r)]
    return all(written)


def _forgotten(state: State, request: Request) -> bool:
    """It was sent before a copy took the ledger's place."""
    return state.is_old or state.documents[request.document].of_copy


def nothing_is_lost(state: State, world: World) -> bool:
    """Every content that came lies in the inbox or is in the ledger."""
    known = {d.content for d in state.documents}
    return all(content in known or content in state.inbox for content in state.arrived)


def one_sender(state: State, world: World) -> bool:
    """While the kernel keeps the lock, one process works with the ledger."""
    return world.lock != "kernel" or sum(w.step != "away" for w in state.workers) <= 1


def states_change_as_allowed(before: State, label: Label, after: State) -> bool:
    """Every change of a document's state is one that the ledger's own guards let through; what is final stays."""
    if label.kind == "restore_copy":
        return True
    if len(after.documents) < len(before.documents):
        return False
    changed = [(old.state, new.state) for old, new in zip(before.documents, after.documents, strict=False)]
    return all(new == old or (old not in FINAL and new in TRANSITIONS[old]) for old, new in changed)


def a_live_sender_keeps_its_document(before: State, label: Label, after: State) -> bool:
    """Nobody takes over what a process with the lock, or with a lease that lasts, is sending."""
    holders = [w for w in before.workers if (w.has_lock or w.lease == LASTS) and w.step in MID_CALL]
    return label.kind != "take_over" or all(
        after.documents[w.document].state == before.documents[w.document].state for w in holders
    )


def no_byte_after_the_lease(before: State, label: Label, after: State) -> bool:
    """Whose lease ended sends nothing more, also who slept meanwhile."""
    return label.kind != "send" or before.workers[label.worker].lease != OVER


def _ours_alive(state: State) -> list[Record]:
    return [r for r in state.records if r.live and r.document != NOBODY]


def _made_by(state: State, number: int) -> list[Record]:
    return [r for r in state.records if r.document == number]


OF_STATES: tuple[Callable[[State, World], bool], ...] = (
    intent_before_bytes,
    one_live_order,
    order_created_once,
    asn_never_twice,
    accepted_has_proof,
    refused_is_true,
    every_doubt_is_listed,
    nothing_is_lost,
    one_sender,
)
OF_TRANSITIONS: tuple[Callable[[State, Label, State], bool], ...] = (
    states_change_as_allowed,
    a_live_sender_keeps_its_document,
    no_byte_after_the_lease,
)


def is_an_end(state: State) -> bool:
    """Everything is known, or waits for a person; nothing is on its way, nobody works."""
    resting = all(d.state in (*FINAL, "refused", "held") for d in state.documents)
    return resting and not state.network and not state.inbox and all(w.step == "away" for w in state.workers)
