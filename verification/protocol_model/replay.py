"""A path of the model on the real program: real processes over a real ledger, killed with SIGKILL where the model says.

After each step every document in the ledger is compared with the model's.
"""

import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path as FilePath
from typing import Any

from protocol_model.lanes import is_helper
from protocol_model.outside import NEVER_SENT, SENT_AND_OPEN
from protocol_model.paths import Path
from protocol_model.played_service import (
    ACCESS,
    AT,
    KEYS,
    REFERENCE,
    VERIFIED,
    answer,
    asns,
    body_of,
    nobody_answers,
    open_played,
    order,
)
from protocol_model.played_worker import PlayedClock, Stage, Told, work
from protocol_model.states import Document, Label, State, World, first_state

from logistics_batch.api.client import Reply
from logistics_batch.flows.doubts.decisions import decide
from logistics_batch.flows.doubts.settle import due_at
from logistics_batch.flows.parts import Parts, Policy
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.ledger.failures import sqlite3

PATIENCE_SECONDS = 60
PAUSE_SECONDS = 180.0
_OVERSLEPT_SECONDS = 10.0
# Steps of the model that no process takes part in, or that only files on a server would show.
_ELSEWHERE = (
    "drop_file",
    "put_file_away",
    "cancel_elsewhere",
    "lose_request",
    "arrive_late",
)


class Diverged(AssertionError):
    """The program and the model went different ways."""


@dataclass
class _Actor:
    """A process as it is seen from outside: where it waits, and what was asked there."""

    process: ForkServerProcess
    pipe: Connection
    place: str = ""
    detail: str = ""
    heard: Reply | None = None  # the answer to a read, fixed when it was made
    suspended: bool = False
    asleep: float = 0.0  # for how long, all in all
    not_renewed: float = 0.0  # for how long it could not renew its leases, all in all

    def wait(self) -> str:
        """Wait until it stands somewhere."""
        if not self.pipe.poll(PATIENCE_SECONDS):
            raise Diverged(f"the process does not come on from {self.place}")
        self.place, self.detail = self.pipe.recv()
        return self.place

    def signal(self, number: int) -> None:
        """Have the kernel suspend it, or let it go on."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class _AnswersAtOnce:
    """The service for a person at the command line."""

    settings = ACCESS

    def __init__(self, state: State | None, *, readable: bool) -> None:
        self._records = state.records if state else ()
        self._readable = readable

    def call(self, endpoint: str, *, order_id: str = "", **_given: object) -> Reply:
        return order(order_id, self._records, readable=self._readable)


class Replay:
    """One path under way. seconds: what has passed since its beginning, on every clock."""

    def __init__(self, world: World, folder: FilePath, *, url: str = "", life: Callable[..., None] = work) -> None:
        """url: of a ledger on PostgreSQL. life: what a process does."""
        self.world, self.folder, self.url, self.life = world, folder, url, life
        self.policy = Policy(
            concurrency=1,
            settle_after_seconds=PAUSE_SECONDS,
            asn_resend="after_absent" if world.resend_asns else "never",
        )
        self.ledger = open_played(folder, url=url)
        if world.verified:
            repeated = replace(VERIFIED, duplicate="repeated", duplicate_form="")
            self.ledger.facts.keep(repeated if world.duplicate == "replay" else VERIFIED)
        self.seconds = 0.0
        self.actors: dict[int, _Actor] = {}
        self.drops = 0

    def run(self, path: Path) -> None:
        """Take every step, and compare after each.

        Raises:
            Diverged: names the step, what the model expects and what the ledger holds.
        """
        state = first_state(self.world)
        try:
            for number, (label, after) in enumerate(path):
                following = [step for step, _ in path[number + 1 :]]
                try:
                    self._take(label, state, after, following)
                    self._compare(after)
                except Diverged as error:
                    story = "\n".join(f"  {n}. {step}" for n, (step, _) in enumerate(path[: number + 1], 1))
                    raise Diverged(f"{self.world.name}:\n{story}\n{error}") from None
                state = after
        finally:
            self.close()

    def close(self) -> None:
        """Nothing of it goes on."""
        for actor in self.actors.values():
            actor.kill()
        self.ledger.close()

    def _take(self, label: Label, before: State, after: State, following: list[Label]) -> None:
        if label.kind in _ELSEWHERE or self._is_only_the_services(label, before, after):
            return
        step: Callable[..., None] = getattr(self, f"_{label.kind}")
        step(label, before, after, following)

    def _is_only_the_services(self, label: Label, before: State, after: State) -> bool:
        """Whether the step changes nothing for the process that waits for an answer."""
        telling = ("answer", "lose_answer", "spoil_answer", "no_effect")
        return label.kind in telling and before.workers[label.worker].step == after.workers[label.worker].step

    # What a process does

    def _start(self, label: Label, *_: object) -> None:
        self._launched(label.worker, "locked")

    def _suspend(self, label: Label, *_: object) -> None:
        actor = self.actors[label.worker]
        actor.suspended = True
        actor.signal(signal.SIGSTOP)

    def _resume(self, label: Label, *_: object) -> None:
        actor = self.actors[label.worker]
        actor.suspended = False
        actor.signal(signal.SIGCONT)

    def _find_lock_taken(self, label: Label, *_: object) -> None:
        self._launched(label.worker, "LedgerBusy")
        self._gone(label.worker)

    def _refuse_old_copy(self, label: Label, *_: object) -> None:
        self._launched(label.worker, "LedgerRefused")
        self._gone(label.worker)

    def _take_over(self, label: Label, *_: object) -> None:
        self._on(label.worker, "ready")

    def _plan_file(self, label: Label, *_: object) -> None:
        self.drops += 1
        wanted = ("plan", self.world.kind, label.detail, f"drop-{self.drops}.csv")
        self._on(label.worker, "ready", wanted=wanted)

    def _retry(self, label: Label, *_: object) -> None:
        self._on(label.worker, "ready", wanted=("retry",))

    def _end(self, label: Label, *_: object) -> None:
        self._on(label.worker, "ended", wanted=("end",))
        self._gone(label.worker)

    def _ask_before(self, label: Label, before: State, *_: object) -> None:
        self._on(label.worker, "call asn.fetch", wanted=("send", self._number(label.document)))
        self.actors[label.worker].heard = self._asns(before)

    def _keep_baseline(self, label: Label, *_: object) -> None:
        self._on(label.worker, "intent.before_commit", reply=self.actors[label.worker].heard)

    def _hold_present(self, label: Label, *_: object) -> None:
        self._on(label.worker, "ready", reply=self.actors[label.worker].heard)

    def _ask_first(self, label: Label, before: State, *_: object) -> None:
        self._on(label.worker, "call order.fetch", wanted=("send", self._number(label.document)))
        self.actors[label.worker].heard = self._order(REFERENCE, before)

    def _settle_first(self, label: Label, *_: object) -> None:
        self._on(label.worker, "ready", reply=self.actors[label.worker].heard)

    def _claim(self, label: Label, before: State, *_: object) -> None:
        if before.workers[label.worker].step == "asked":
            self._on(label.worker, "intent.before_commit", reply=self.actors[label.worker].heard)
        elif self.world.kind == "order":
            self._on(label.worker, "intent.before_commit", wanted=("send", self._number(label.document)))
        self._on(label.worker, "intent.after_commit")

    def _claim_again(self, label: Label, before: State, *_: object) -> None:
        self._hear(label.worker, "intent.before_commit", before)
        self._on(label.worker, "intent.after_commit")

    def _send(self, label: Label, *_: object) -> None:
        self._on(label.worker, f"call {self.world.kind}.create")

    def _find_intent_too_old(self, label: Label, before: State, *_: object) -> None:
        self._on(label.worker, "resend.after" if before.workers[label.worker].again else "send.after")

    def _write_outcome(self, label: Label, before: State, *_: object) -> None:
        self._borne_out(label.worker, "ready", before)

    def _ledger_is_full(self, label: Label, before: State, *_: object) -> None:
        self._borne_out(label.worker, "LedgerRefused", before, full=True)
        self._gone(label.worker)

    def _borne_out(self, worker: int, place: str, before: State, **told: Any) -> None:
        """Behind an answer an order may be looked at: an acceptance, or a refusal of what was not there."""
        reached = self._on(worker, None, **told)
        while reached == "call order.fetch":
            reached = self._on(worker, None, reply=self._order(self.actors[worker].detail, before))
        if reached != place:
            raise Diverged(f"the process is at “{reached}”, the model expects “{place}”")

    def _probe(self, label: Label, before: State, after: State, following: list[Label]) -> None:
        mine = (step for step in following if step.worker == label.worker)
        gives_up = next(mine, label).kind == "settle_held"
        place = self._on(label.worker, None, wanted=("settle", gives_up))
        while place == "call order.fetch" and self.actors[label.worker].detail != REFERENCE:  # the controls
            place = self._on(label.worker, None, reply=self._order(self.actors[label.worker].detail, before))
        if place != "call order.fetch":
            raise Diverged(f"the order is not asked for; the process is at {place}")
        silent = label.detail == "unreachable"
        self.actors[label.worker].heard = nobody_answers() if silent else self._order(REFERENCE, before)

    def _search(self, label: Label, before: State, *_: object) -> None:
        self._on(label.worker, "call asn.fetch", wanted=("settle", False))
        silent = label.detail == "unreachable"
        self.actors[label.worker].heard = nobody_answers() if silent else self._asns(before)

    def _concluded(self, label: Label, before: State, *_: object) -> None:
        self._hear(label.worker, "ready", before)

    def _hear(self, worker: int, place: str, before: State) -> None:
        """A search is answered, and then the one for an ASN that is known to be there, if it comes to that."""
        reached = self._on(worker, None, reply=self.actors[worker].heard)
        if reached == "call asn.fetch":
            self._on(worker, place, reply=self._asns(before, asked=self.actors[worker].detail))
        elif reached != place:
            raise Diverged(f"the process is at “{reached}”, the model expects “{place}”")

    _settle_accepted = _settle_held = _search_later = _leave_open = _make_way = _concluded

    # What the network and the machine do to it

    def _answer(self, label: Label, _before: State, after: State, *_: object) -> None:
        self._tell(label.worker, label.detail, after)

    _no_effect = _answer

    def _spoil_answer(self, label: Label, _before: State, after: State, *_: object) -> None:
        self._tell(label.worker, label.detail.rpartition(" becomes ")[2], after)

    def _time_out(self, label: Label, _before: State, after: State, *_: object) -> None:
        self._tell(label.worker, "silence", after)

    _overtake = _time_out

    def _lose_answer(self, label: Label, *_: object) -> None:
        """Nothing comes; the process goes on waiting."""

    def _crash(self, label: Label, *_: object) -> None:
        if label.worker in self.actors:
            self.actors.pop(label.worker).kill()

    def _oversleep(self, label: Label, *_: object) -> None:
        self.actors[label.worker].asleep += _OVERSLEPT_SECONDS

    def _settle_after_passes(self, *_: object) -> None:
        """Just long enough, also for what lies in the copy: an ASN is searched for at growing distances."""
        copy = [open_played(self.folder, "copy")] if (self.folder / "copy.db").exists() else []
        stored = [each for ledger in (self.ledger, *copy) for each in self._stored(ledger)]
        for ledger in copy:
            ledger.close()
        due = [due_at(self._parts(), each) for each in stored if each.state in SENT_AND_OPEN]
        self.seconds += max((max(due, default=self._now()) - self._now()).total_seconds() + 1, _OVERSLEPT_SECONDS)

    # What people do

    def _decided(self, label: Label, before: State, decision: str) -> None:
        number = self._number(label.document)
        decide(self._parts(before), number, decision=decision, reason="seen", reissue=True)

    def _decide_accept(self, label: Label, before: State, *_: object) -> None:
        self._decided(label, before, "accept")

    def _decide_drop(self, label: Label, before: State, *_: object) -> None:
        self._decided(label, before, "drop")

    def _decide_send_again(self, label: Label, before: State, *_: object) -> None:
        self._decided(label, before, "send-again")

    def _cancel_by_hand(self, *_: object) -> None:
        at = self._now().isoformat()
        self.ledger.awb_numbers.record_by_hand(reference_or_awb=REFERENCE, at=at, text="cancelled", cancelled=True)

    def _copy_ledger(self, *_: object) -> None:
        with sqlite3.connect(self.folder / "ledger.db") as source, sqlite3.connect(self.folder / "copy.db") as copy:
            source.backup(copy)

    def _restore_copy(self, *_: object) -> None:
        self.ledger.close()
        for name in ("ledger.db-wal", "ledger.db-shm", "ledger.db-journal"):
            (self.folder / name).unlink(missing_ok=True)
        shutil.copyfile(self.folder / "copy.db", self.folder / "ledger.db")
        self.ledger = open_played(self.folder)

    def _accept_restored(self, *_: object) -> None:
        self.ledger.itself.accept_restored(reason="the disk broke", now=self._now().isoformat())

    # By which means

    def _launched(self, worker: int, place: str) -> None:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("forkserver").Process(
            target=self.life,
            args=(theirs, self.folder, self.policy, self._url_of(worker), is_helper(worker, self.world)),
        )
        process.start()
        theirs.close()
        self.actors[worker] = _Actor(process, ours)
        self._arrived(worker, place)

    def _url_of(self, worker: int) -> str:
        return self.url

    def _gone(self, worker: int) -> None:
        actor = self.actors.pop(worker)
        actor.process.join(PATIENCE_SECONDS)
        actor.kill()

    def _on(self, worker: int, place: str | None, **told: Any) -> str:
        """Let a process go on, and wait until it stands at `place` (None: anywhere).

        One that is suspended takes in what came before it does anything else once it goes on.
        """
        actor = self.actors[worker]
        if actor.suspended:
            actor.signal(signal.SIGCONT)
        actor.pipe.send(Told(self.seconds, actor.asleep, actor.not_renewed, **told))
        reached = self._arrived(worker, place)
        if actor.suspended:
            actor.signal(signal.SIGSTOP)
        return reached

    def _arrived(self, worker: int, place: str | None) -> str:
        actor = self.actors[worker]
        try:
            reached = actor.wait()
        except EOFError:
            raise Diverged(f"the process died after {actor.place}") from None
        if place is not None and reached != place:
            raise Diverged(f"the process is at “{reached}” ({actor.detail}), the model expects “{place}”")
        return reached

    def _tell(self, worker: int, said: str, after: State) -> None:
        if self.actors[worker].place != f"call {self.world.kind}.create":
            raise Diverged(f"the process waits at {self.actors[worker].place} for an answer")
        self._on(worker, None, reply=answer(self.world.kind, said, after.records))
        if self.actors[worker].place not in ("send.after", "resend.after"):
            raise Diverged(f"the process is at {self.actors[worker].place} after its answer")

    def _asns(self, state: State, *, asked: str = REFERENCE) -> Reply:
        return asns(asked, state.records, hidden_page=self.world.hidden_page, blind=self.world.blind)

    def _order(self, asked: str, state: State) -> Reply:
        return order(asked, state.records, readable=self.world.readable)

    def _parts(self, state: State | None = None) -> Parts:
        """For a person at the command line, to whom the service answers at once."""
        clock = PlayedClock(Stage(None, self.seconds))  # type: ignore[arg-type]
        client = _AnswersAtOnce(state, readable=self.world.readable)
        return Parts(self.ledger, client, None, None, self.folder, self.folder, clock, self.policy)  # type: ignore[arg-type]

    def _number(self, generation: int) -> int:
        """The ledger's number of a generation."""
        return self._stored()[generation].id

    def _now(self) -> datetime:
        return datetime.fromisoformat(AT) + timedelta(seconds=self.seconds)

    def _stored(self, ledger: Ledger | None = None) -> list[StoredDocument]:
        return (ledger or self.ledger).documents.generations(KEYS[self.world.kind], kind=self.world.kind)

    def _compare(self, state: State) -> None:
        expected = [_facts_of_model(document, self.world) for document in state.documents]
        found = [self._facts(document) for document in self._stored()]
        if found != expected:
            raise Diverged(f"model:  {expected}\nledger: {found}")

    def _facts(self, stored: StoredDocument) -> dict[str, object]:
        asn = self.world.kind == "asn"
        facts: dict[str, object] = {
            "content": next(c for c in "ABX" if body_of(self.world.kind, c) == _body(stored)),
            "state": stored.state,
            "attempts": stored.attempts,
            "tainted": stored.may_exist,
        }
        if stored.state == "in_doubt":
            facts |= {"due": due_at(self._parts(), stored) <= self._now()}
            facts["doubtful"] = sum(each.may_have_arrived for each in self.ledger.attempts.of(stored.id))
            facts |= {"checks": stored.checks} if asn else {}
        if stored.state == "planned":
            facts["released"] = stored.send_approved
        if stored.state == "held":
            facts["never_sent"] = stored.rule in NEVER_SENT
        return facts


def _body(stored: StoredDocument) -> object:
    return json.loads(stored.body)


def _facts_of_model(document: Document, world: World) -> dict[str, object]:
    facts: dict[str, object] = {name: getattr(document, name) for name in ("content", "state", "attempts", "tainted")}
    if document.state == "in_doubt":
        facts |= {"due": document.due, "doubtful": document.doubtful}
        facts |= {"checks": document.checks} if world.kind == "asn" else {}
    if document.state == "planned":
        facts["released"] = document.released
    if document.state == "held":
        facts["never_sent"] = document.rule in NEVER_SENT
    return facts
