"""What a worker does, one durable step or one byte at a time; between any two steps it may die (see `outside`)."""

from collections.abc import Callable, Iterator

from protocol_model.lanes import (
    OVER,
    begins_to_help,
    has_its_lock,
    is_helper,
    is_sent_by_the_living,
    may_claim,
    shares_lanes,
    with_lease,
)
from protocol_model.outside import MID_CALL, NEVER_SENT, SENT_AND_OPEN
from protocol_model.states import (
    NOBODY,
    Broken,
    Document,
    Label,
    Request,
    State,
    Worker,
    World,
    spend,
    with_document,
)
from protocol_model.states import with_worker as change

Moves = Iterator[tuple[Label, State]]

SEARCHES = 3  # for an ASN in doubt, before it is held or sent again
HELD_FOR = {
    "foreign": "reference_taken",
    "cancelled": "found_cancelled",
    "several": "possible_duplicate",
}
NO_EFFECT = ("not_sent", "throttled_429", "unauthorized_401")
NOTHING_PROVEN = ("silence", "error_500", "unreadable_200")
IDLE = {
    "step": "ready",
    "document": NOBODY,
    "attempt": 0,
    "again": False,
    "tainted": False,
    "late": False,
    "heard": "",
}
GONE = IDLE | {"step": "away", "has_lock": False, "lease": ""}


def workers_act(state: State, world: World) -> Moves:
    """Every next step of every process that is awake."""
    for index, worker in enumerate(state.workers):
        if worker.suspended:
            continue
        match worker.step:
            case "away" if is_helper(index, world):
                yield from begins_to_help(state, index)
            case "away":
                yield from _start(state, index, world)
            case "locked":
                yield from _begin(state, index, world)
            case "ready":
                yield from _choose_work(state, index, world)
            case "asked":
                yield from _after_asking_first(state, index, worker, world)
            case "based" | "baselined":
                yield from _after_asking(state, index, worker, world)
            case "intent" | "looked_at_clock":
                yield from _send(state, index, worker, world)
            case "answered":
                yield from _write_outcome(state, index, worker, world)
            case "looked":
                yield from _conclude(state, index, worker, world)


def _start(state: State, index: int, world: World) -> Moves:
    if state.is_old and world.broken is not Broken.OLD_COPY_GOES_ON:
        yield Label("refuse_old_copy", index), state
        return
    taken = any(w.has_lock for w in state.workers)
    if taken and world.broken is Broken.TAKE_OVER_WITHOUT_LOCK:
        yield _take_over(state, index, world)
    if taken:
        yield Label("find_lock_taken", index), state
        return
    yield Label("start", index), change(state._replace(run_open=False), index, step="locked", has_lock=True)


def _begin(state: State, index: int, world: World) -> Moves:
    """Orphans are taken over."""
    label, after = _take_over(state, index, world)
    yield label, with_lease(after, index, step="ready") if world.helpers else change(after, index, step="ready")


def _take_over(state: State, index: int, world: World) -> tuple[Label, State]:
    """Whatever is still being sent has lost its sender."""
    documents = tuple(_orphaned(state, number, world) for number in range(len(state.documents)))
    living = "left to the living" if any(document.state == "sending" for document in documents) else ""
    found = "orphans" if documents != state.documents else living
    return Label("take_over", index, detail=found), state._replace(documents=documents)


def _orphaned(state: State, number: int, world: World) -> Document:
    document = state.documents[number]
    if document.state != "sending":
        return document
    if is_sent_by_the_living(state, number) and world.broken is not Broken.TAKE_OVER_UNDER_LEASE:
        return document
    if world.broken is Broken.TAKEN_OVER_IS_PLANNED:
        return document._replace(state="planned")
    rule = "sender_died" if _sender_is_gone(state, number) else "sender_lost"
    return document._replace(state="in_doubt", rule=rule, tainted=True, due=False)


def _choose_work(state: State, index: int, world: World) -> Moves:
    """Read a file, put one away, send what is planned, settle what is due, or end, in any order."""
    if world.helpers:
        yield from shares_lanes(state, index, world)
        label, taken_over = _take_over(state, index, world)
        if state.workers[index].has_lock and taken_over != state:
            yield label, taken_over
        if state.workers[index].lease == OVER:  # nothing is begun before there is a new one
            if not has_its_lock(state, index, world):
                yield _find_lock_gone(state, index)
            return
    for lying in "" if is_helper(index, world) else state.inbox:
        rest, content = state.inbox.replace(lying, ""), lying.upper()
        if lying == content:
            read = state._replace(inbox="".join(sorted({*rest, content.lower()})))
            yield Label("plan_file", index, detail=content), placed(read, content, world)
        if lying != content or world.broken is Broken.FILE_AWAY_FIRST:
            yield Label("put_file_away", index, detail=content), state._replace(inbox=rest)
    for number, document in enumerate(state.documents):
        if not may_claim(state, index, world) if document.state == "planned" else is_helper(index, world):
            continue
        if document.state == "planned" and world.kind == "order" and state.history_lost:
            found = _probed(state, number, world)
            asked = change(state, index, step="asked", document=number, attempt=document.attempts, heard=found)
            yield Label("ask_first", index, number, found), asked
        elif document.state == "planned" and (world.kind == "order" or world.broken is Broken.NO_BASELINE):
            yield _claim(state, index, number, world)
        elif document.state == "planned":
            there = 0 if world.blind else sum(r.shown and r.content == document.content for r in state.records)
            asked = change(state, index, step="based", document=number, attempt=document.attempts, heard=str(there))
            yield Label("ask_before", index, number, "there" if there else "not there"), asked
        elif document.state == "in_doubt" and (document.due or world.broken is Broken.SETTLE_AT_ONCE):
            heard = _searched(state, number, world) if world.kind == "asn" else _probed(state, number, world)
            for found in dict.fromkeys((heard, "unreachable")):
                label = Label("search" if world.kind == "asn" else "probe", index, number, found)
                looked = change(state, index, step="looked", document=number, attempt=document.attempts, heard=found)
                yield label, looked
        elif document.state == "refused" and state.left.retries and _may_be_retried(state, number, world):
            again = with_document(state, number, state="planned", rule="retry", of_copy=False)
            yield Label("retry", index, number), spend(again, retries=1)
    closed = state if is_helper(index, world) else state._replace(run_open=False)
    yield Label("end", index), change(closed, index, step="away", has_lock=False, lease="")


def _find_lock_gone(state: State, index: int) -> tuple[Label, State]:
    """The run ends, and with it its lease."""
    return Label("find_lock_gone", index), change(state._replace(run_open=False), index, **GONE)


def _claim(state: State, index: int, number: int, world: World, *, again: bool = False) -> tuple[Label, State]:
    """Claim and intent are one durable commit."""
    document = state.documents[number]
    attempt = document.attempts + 1
    mine = {"document": number, "attempt": attempt, "again": again, "tainted": document.tainted, "late": False}
    claimed = change(state, index, **(IDLE | mine | {"step": "intent"}))
    label = Label("claim_again" if again else "claim", index, number)
    if world.broken is Broken.BYTES_BEFORE_INTENT:
        return label, claimed
    changes = {"state": "sending", "attempts": attempt, "doubtful": document.doubtful + 1, "due": False}
    return label, with_document(claimed, number, **changes, open_attempt=True)


def _is_anothers(state: State, index: int, world: World) -> bool:
    """Somebody else was faster, or may send it now."""
    worker = state.workers[index]
    document = state.documents[worker.document]
    return (document.state, document.attempts) != ("planned", worker.attempt) or not may_claim(state, index, world)


def _after_asking_first(state: State, index: int, worker: Worker, world: World) -> Moves:
    """An order that may have been sent in the history that is lost is settled by what the service shows of it."""
    number, done = worker.document, change(state, index, **IDLE)
    if _is_anothers(state, index, world):
        yield Label("let_go", index, number), done
    elif worker.heard == "present":
        yield Label("settle_first", index, number, worker.heard), with_document(done, number, state="accepted", rule="")
    elif worker.heard in HELD_FOR:
        rule = HELD_FOR[worker.heard]
        yield Label("settle_first", index, number, rule), with_document(done, number, state="held", rule=rule)
    else:
        yield _claim(state, index, number, world)


def _after_asking(state: State, index: int, worker: Worker, world: World) -> Moves:
    """What the service had before an ASN is kept, then the ASN is claimed; one that is there already is held."""
    number, document = worker.document, state.documents[worker.document]
    if _is_anothers(state, index, world):
        yield Label("let_go", index, number), change(state, index, **IDLE)
    elif worker.step == "baselined":
        yield _claim(state, index, number, world)
    elif int(worker.heard) and not document.released:
        held = with_document(state, number, state="held", rule="already_present")
        yield Label("hold_present", index, number), change(held, index, **IDLE)
    else:
        kept = with_document(state, number, before=int(worker.heard))
        yield Label("keep_baseline", index, number), change(kept, index, step="baselined")


def _send(state: State, index: int, worker: Worker, world: World) -> Moves:
    """The only place where bytes leave; between the look at the clock and the first of them a process may sleep."""
    if world.sleeps_after_look and worker.step == "intent" and not worker.late:
        yield Label("look_at_clock", index, worker.document), change(state, index, step="looked_at_clock")
        return
    too_late = worker.late and world.broken is not Broken.NO_AGE_CHECK
    too_late = too_late or (worker.lease == OVER and world.broken is not Broken.LEASE_UNSEEN)
    if worker.step == "intent" and too_late:
        label = Label("find_intent_too_old", index, worker.document, "" if worker.late else "its lease ended")
        yield label, change(state, index, step="answered", heard="not_sent")
        return
    request = Request(worker.document, worker.attempt, index)
    sent = state._replace(network=tuple(sorted((*state.network, request))))
    yield Label("send", index, worker.document), change(sent, index, step="waiting")


def _write_outcome(state: State, index: int, worker: Worker, world: World) -> Moves:
    """One durable commit; it counts only while the very attempt is under way."""
    number, document = worker.document, state.documents[worker.document]
    unwritten = world.broken is Broken.BYTES_BEFORE_INTENT and document.state == "planned"
    same = document.attempts == worker.attempt or world.broken is Broken.OUTCOME_OF_ANY_ATTEMPT
    if not unwritten and not (document.state == "sending" and same):
        yield (
            Label("outcome_comes_too_late", index, number),
            change(state, index, **(IDLE if is_helper(index, world) else GONE)),
        )
        return
    if worker.heard == "silence" and world.broken is Broken.RETRY_IN_TRANSPORT:
        yield Label("send", index, number, "again by the transport"), change(state, index, step="intent")
        return
    attempts = max(document.attempts, worker.attempt)
    changes = outcome(state, document, worker, world) | {"attempts": attempts, "open_attempt": False}
    label = Label("write_outcome", index, number, f"{worker.heard}: {changes['state']}")
    written = change(with_document(state, number, **changes), index, **IDLE)
    yield label, decided_anew(written, world) if worker.again else written
    if state.left.full_ledgers:
        lost = with_document(spend(state, full_ledgers=1), number, due=False)
        yield Label("ledger_is_full", index, number), change(lost, index, **GONE)


def outcome(state: State, document: Document, worker: Worker, world: World) -> dict[str, object]:
    """What one answer proves."""
    heard, broken = worker.heard, world.broken
    if heard == "pass" and _shows_another(state, document, world):
        return {"state": "in_doubt", "rule": "in_doubt", "tainted": True, "due": False}
    if heard == "pass" or (heard == "unreadable_200" and broken is Broken.FAIL_IS_ACCEPTANCE):
        return {"state": "accepted", "rule": "", "released": False}
    if heard in NO_EFFECT and worker.again:  # the earlier doubt stands as it was
        return {"state": "in_doubt", "doubtful": document.doubtful - 1, "due": True}
    if heard in NO_EFFECT:
        return {"state": "planned", "rule": "not_sent", "doubtful": document.doubtful - 1}
    if heard in ("refuse_400", "taken_400"):
        told = {"released": False, "doubtful": document.doubtful - 1}
        shown = _probed(state, worker.document, world) if _looks_again(worker, world) else "unknown"
        if shown == "present":
            return told | {"state": "accepted", "rule": "settled"}
        if shown == "absent":
            return told | {"state": "refused", "rule": "refused"}
        return told | _refused(worker, world, is_taken=heard == "taken_400" and world.verified)
    if heard == "error_500" and broken is Broken.ERROR_IS_REFUSAL and not worker.again:
        return {"state": "refused", "rule": "refused"}
    if heard == "silence" and broken is Broken.RETRY_AFTER_TIMEOUT:
        return {"state": "planned", "rule": "not_sent"}
    return {"state": "in_doubt", "rule": "in_doubt", "tainted": True, "due": False}


def _shows_another(state: State, document: Document, world: World) -> bool:
    """A first answer may have been repeated: one look at the order under its AWB number, which everybody can have."""
    if world.kind == "asn" or world.duplicate != "replay" or world.broken is Broken.ACCEPTANCE_UNSEEN:
        return False
    return any(record.live and record.content != document.content for record in state.records)


def _looks_again(worker: Worker, world: World) -> bool:
    """After a refusal of an order that was not there just before, it is looked for once more."""
    return worker.again and world.kind == "order" and world.readable


def _refused(worker: Worker, world: World, *, is_taken: bool) -> dict[str, object]:
    """A refusal counts on a clean attempt only; "taken" says that some attempt arrived, or that there was none."""
    clean = not (worker.again or worker.tainted)
    if is_taken and (not clean or world.broken is Broken.TAKEN_IS_OURS):
        return {"state": "accepted", "rule": "settled"}
    if is_taken:
        return {"state": "held", "rule": "reference_taken"}
    if clean or world.broken is Broken.SECOND_REFUSAL_COUNTS:
        return {"state": "refused", "rule": "refused"}
    return {"state": "held", "rule": "refused_after_doubt"}


def _probed(state: State, number: int, world: World) -> str:
    """What asking for the order by its reference shows, and what that proves."""
    document = state.documents[number]
    seen = sorted((r for r in state.records if r.shown), key=lambda r: r.live)
    if not world.readable or not seen:
        trusted = world.readable or world.broken is Broken.ABSENCE_WITHOUT_CALIBRATION
        return "absent" if trusted else "unknown"
    shown = seen[-1]
    if shown.content != document.content and world.broken is not Broken.ANY_CONTENT_IS_OURS:
        return "foreign"
    return "present" if shown.live else "cancelled"


def _searched(state: State, number: int, world: World) -> str:
    """How many new ASNs with this content a search shows; "unsure": there are more pages than could be read."""
    document = state.documents[number]
    alike = sum(r.shown and r.content == document.content for r in state.records)
    if world.hidden_page:
        return "none" if world.broken is Broken.FIRST_PAGE_ONLY else "unsure"
    fresh = 0 if world.blind else alike - max(document.before, 0)
    return "none" if fresh <= 0 else "one" if fresh == 1 else "several"


def _conclude(state: State, index: int, worker: Worker, world: World) -> Moves:
    """What a probe or a search leads to; what waited for that is decided anew in the same round."""
    for label, after in _concluded(state, index, worker, world):
        if label.kind == "claim_again" and state.documents[worker.document].attempts != worker.attempt:
            yield Label("let_go", index, worker.document), change(state, index, **IDLE)  # somebody else was faster
            continue
        if label.kind == "claim_again" and not has_its_lock(state, index, world):
            yield _find_lock_gone(state, index)
            continue
        in_one_round = label.kind not in ("let_go", "claim_again")
        yield label, decided_anew(after, world) if in_one_round else after


def _concluded(state: State, index: int, worker: Worker, world: World) -> Moves:
    number, document, heard = worker.document, state.documents[worker.document], worker.heard
    done = change(state, index, **IDLE)
    if document.state != "in_doubt":
        yield Label("let_go", index, number), done
    elif heard in ("present", "one"):
        yield Label("settle_accepted", index, number, heard), with_document(done, number, state="accepted", rule="")
    elif heard in HELD_FOR:
        yield _held(done, index, number, HELD_FOR[heard])
    elif heard == "unreachable":
        yield Label("leave_open", index, number, heard), done
    elif heard == "unknown" and world.verified and _may_send_again(state, number, world):
        yield _claim(done, index, number, world, again=True)
    elif heard == "unknown":  # orders are not shown by their reference: asking again does not help
        yield _held(done, index, number, "unknown")
    elif heard == "absent" and (way := decided_anew(done, world, absent=number)) != done:
        yield Label("make_way", index, number), way
    elif heard == "absent" and _may_send_again(state, number, world, patiently=True):
        yield _claim(done, index, number, world, again=True)
        if not _may_send_again(state, number, world):  # whoever waits beside it is told so
            yield _held(done, index, number, "not_found")
    elif world.kind == "asn" and document.checks + 1 < SEARCHES and world.broken is not Broken.SETTLE_AT_ONCE:
        later = with_document(done, number, checks=document.checks + 1, due=False)
        yield Label("search_later", index, number), later
    elif heard != "unsure" and _may_send_again(state, number, world) and _absence_counts(world):
        if (way := decided_anew(done, world, absent=number)) != done:
            yield Label("make_way", index, number), way
            return
        yield _claim(done, index, number, world, again=True)
    else:
        yield _held(done, index, number, "not_found")


def _may_send_again(state: State, number: int, world: World, *, patiently: bool = False) -> bool:
    """However often what certainly is not there and is unique, anything else a few times.

    Not while whoever sent it last may only sleep, nor in a restored copy; for ASNs it takes the setting, too.
    """
    document = state.documents[number]
    if document.rule == "restored" and world.broken is not Broken.DOUBT_OUTLIVES_COPY:
        return False
    gone = document.rule != "sender_lost" or world.broken is Broken.SENDER_MAY_LIVE
    if world.broken is Broken.SENDER_LOOKED_FOR_LATE:
        gone = _sender_is_gone(state, number)
    allowed = world.kind == "order" or world.resend_asns
    return allowed and gone and (patiently or document.doubtful < world.attempts_at_most)


def _sender_is_gone(state: State, number: int) -> bool:
    """Nobody is in the middle of the last attempt; where the lock does not prove it, the process is looked for."""
    attempt = state.documents[number].attempts
    mine = [w for w in state.workers if (w.document, w.attempt) == (number, attempt)]
    return not any(w.step in MID_CALL for w in mine)


def _may_be_retried(state: State, number: int, world: World) -> bool:
    """A person asks to send a refused version again: not beside or behind anything that came after it."""
    others = [(i, d) for i, d in enumerate(state.documents) if i != number]
    if world.broken is Broken.RETRY_BESIDE_OTHERS:
        return True
    if any(d.state in (*SENT_AND_OPEN, "planned") for _, d in others):
        return False
    if any(i > number and d.state not in ("superseded", "abandoned") for i, d in others):
        return False
    return not any(d.state == "accepted" and d.rule != "cancelled" for _, d in others)


def _absence_counts(world: World) -> bool:
    """An ASN is only absent where a search for one that was accepted shows that one."""
    shown = world.known_asn and not world.blind
    return world.kind == "order" or shown or world.broken is Broken.ABSENCE_WITHOUT_CONTROL


def _held(state: State, index: int, number: int, rule: str) -> tuple[Label, State]:
    return Label("settle_held", index, number, rule), with_document(state, number, state="held", rule=rule)


_FOR_SOMETHING_ELSE = ("earlier_in_doubt", "earlier_held")  # and not for a word about itself


def placed(state: State, content: str, world: World) -> State:
    """A file in the ledger, in one transaction: the oldest open question under its key counts first."""
    of = _Newest(state.documents)
    if of.is_dropped(content):
        return state
    doubt = None if world.broken is Broken.CORRECTION_BESIDE_DOUBT else of(*SENT_AND_OPEN)
    if doubt is None and world.broken is not Broken.CORRECTION_REPLACES_RELEASED:
        doubt = of.released_doubt()
    waiting = of.held(never_sent=True)
    for older, rule in ((doubt, "earlier_in_doubt"), (of.held(never_sent=False), "earlier_held")):
        if older is not None:
            return _beside(state, older, waiting, content, rule)
    planned, accepted, ended = of("planned"), of("accepted"), of("refused", "abandoned")
    if planned is not None and accepted is not None:
        return _beside(state, planned, waiting, content, "changed_after_acceptance")
    if planned is not None:
        return state if state.documents[planned].content == content else _added(state, content, "", planned)
    if accepted is not None:
        return _after_acceptance(state, accepted, waiting, content)
    if ended is not None and state.documents[ended].content == content:
        return state
    if waiting is not None and _waits_for_a_word(state.documents[waiting], content):
        return state
    return _added(state, content, "", waiting)


def decided_anew(state: State, world: World, *, absent: int = NOBODY) -> State:
    """What waits for an earlier version is placed once more; what is absent counts as never sent for it."""
    for number, waits in enumerate(state.documents):
        if waits.state != "held" or waits.rule not in _FOR_SOMETHING_ELSE:
            continue
        if any(d.state == "abandoned" and d.tainted for d in state.documents):
            continue  # it may be there all the same: a person says whether this one is wanted
        without = with_document(state, number, state="superseded")
        if absent != NOBODY:
            without = with_document(without, absent, state="planned", tainted=False)
        after = placed(without, waits.content, world).documents
        if len(after) == len(without.documents) or after[-1].rule == waits.rule:
            continue
        documents = list(state.documents)
        for older, (before, now) in enumerate(zip(without.documents, after, strict=False)):
            if now != before:
                documents[older] = documents[older]._replace(state=now.state, rule=now.rule)
        documents[number] = waits._replace(state=after[-1].state, rule=after[-1].rule)
        state = state._replace(documents=tuple(documents))
    return state


class _Newest:
    """The newest generation of a kind, as its number; None if there is none."""

    def __init__(self, documents: tuple[Document, ...]) -> None:
        self._documents = documents

    def __call__(self, *states: str) -> int | None:
        return self._first(lambda document: document.state in states)

    def is_dropped(self, content: str) -> bool:
        """A person dropped this very content, and nothing of that came since."""
        same = self._first(lambda document: document.content == content)
        return same is not None and self._documents[same].state == "abandoned"

    def held(self, *, never_sent: bool) -> int | None:
        """Held before anything of it was sent, or after; in an older copy that goes on nobody knows."""
        return self._first(lambda d: d.state == "held" and (d.rule in NEVER_SENT and not d.tainted) is never_sent)

    def released_doubt(self) -> int | None:
        """Planned again by a person after some attempt may have arrived."""
        return self._first(lambda planned: planned.state == "planned" and planned.tainted)

    def _first(self, fits: Callable[[Document], bool]) -> int | None:
        return next((i for i in reversed(range(len(self._documents))) if fits(self._documents[i])), None)


def _after_acceptance(state: State, accepted: int, waiting: int | None, content: str) -> State:
    document = state.documents[accepted]
    if document.rule == "cancelled":
        return _followed_or_held(state, waiting, content, "cancelled")
    if document.content == content:
        return _superseded(state, waiting)
    return _beside(state, accepted, waiting, content, "changed_after_acceptance")


def _beside(state: State, older: int, waiting: int | None, content: str, rule: str) -> State:
    """The same content follows what is known; any other waits in its place."""
    if state.documents[older].content == content:
        return _superseded(state, waiting)
    return _followed_or_held(state, waiting, content, rule)


def _followed_or_held(state: State, waiting: int | None, content: str, rule: str) -> State:
    """The same content follows what waits, unless that waited for something which has ended since."""
    if waiting is not None and state.documents[waiting].content == content:
        held = state.documents[waiting]
        if held.rule == rule or _waits_for_a_word(held, content):
            return state
    return _added(state, content, rule, waiting)


def _waits_for_a_word(held: Document, content: str) -> bool:
    return held.content == content and held.rule not in _FOR_SOMETHING_ELSE


def _added(state: State, content: str, rule: str, superseded: int | None) -> State:
    state = _superseded(state, superseded)
    new = Document(content, "held" if rule else "planned", rule)
    return state._replace(documents=(*state.documents, new))


def _superseded(state: State, number: int | None) -> State:
    return state if number is None else with_document(state, number, state="superseded", rule="superseded")
