"""Steps of a history, as data, and what each does on the stage."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histories.judging import Broken, Judge, Kept
from histories.service import ACCOUNT, Habits
from histories.stage import DAY, KINDS, Stage, file_of, job_of, order_body

from logistics_batch.errors import UsageError
from logistics_batch.flows.doubts.decisions import decide_held, reopen
from logistics_batch.flows.doubts.held import held_documents
from logistics_batch.flows.doubts.retry import REFUSED, retry_run
from logistics_batch.flows.parts import Parts, Policy
from logistics_batch.flows.push.push import run_push_job
from logistics_batch.ledger import StoredDocument, open_ledger
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.operate.run_job import settle_now

Step = tuple[Any, ...]
"""A word and what belongs to it; see `Play`."""

FOLDERS = tuple(
    f"{place}/{kind}" for place in ("inbound", "archive", "quarantine", "results") for kind in KINDS.values()
)
LONGEST_WAIT_SECONDS = 3600.0  # of `settle --wait`
QUIET_ROUNDS = 6
"""So many runs, with pauses between them, end all that ends without a person; with the last, doubts are given up."""


@dataclass(frozen=True)
class World:
    """What holds for a whole history. resend, marker: settings for ASNs. settle_after: in seconds."""

    habits: Habits = field(default_factory=Habits)
    concurrency: int = 1
    resend: str = "never"
    marker: bool = False
    settle_after: float = 60.0

    def stage(self, root: Path, url: str = "") -> Stage:
        """A stage for it. url: of a PostgreSQL database."""
        policy = Policy(
            concurrency=self.concurrency,
            asn_resend=self.resend,
            marks_asns=self.marker,
            settle_after_seconds=self.settle_after,
        )
        return Stage(root, self.habits, policy, url)

    def on(self, root: Path, url: str = "") -> "Play":
        """A history that has not begun, in a new workspace."""
        stage = self.stage(root, url)
        return Play(stage, Judge(stage))


@dataclass
class Play:
    """A history while it is played. told: what each step came to, in words. broken: the promise that did not hold.
    ended: the documents after the quiet end.

    Steps: ("drop", kind, name, lines), ("drop_again", which), ("run", kind), ("settle",), ("retry", kind),
    ("decide", choice), ("reopen",), ("fault", endpoint, fault, times), ("ail", reference, fault), ("cure",),
    ("wait", seconds), ("kill", point, times), ("doze", point, seconds), ("meanwhile", step), ("cancel", reference),
    ("foreign", reference, content), ("copy",), ("restore",).
    """

    stage: Stage
    judge: Judge
    told: list[str] = field(default_factory=list)
    broken: Broken | None = None
    ended: list[Kept] = field(default_factory=list)

    def step(self, step: Step) -> None:
        """Do one step, then look whether every promise holds."""
        came = getattr(self, f"_{step[0]}")(*step[1:]) or ""
        self.told.append(f"{step}: {came}" if came else f"{step}")
        self.judge.look(step)

    def _drop(self, kind: str, name: str, lines: Sequence[tuple[str, str]]) -> None:
        self.stage.drop(file_of(kind, name, lines))

    def _drop_again(self, which: int) -> None:
        if self.stage.dropped:
            file = self.stage.dropped[which % len(self.stage.dropped)]
            self.stage.drop(file)

    def _run(self, kind: str, *, queues: bool = True) -> str:
        return self.stage.do(
            lambda parts: run_push_job(parts, job_of(kind), business_date=DAY, dry_run=False, wait_for_ledger=queues)
        )

    def _settle(self, *, wait: bool = False) -> str:
        self.stage.clock.until = self.stage.clock.seconds + LONGEST_WAIT_SECONDS if wait else float("inf")
        ended = self.stage.do(lambda parts: settle_now(parts, run=None, wait=wait))
        self.stage.clock.until = float("inf")
        return ended

    def _retry(self, kind: str) -> str:
        def retry(parts: Parts) -> None:
            with suppress(UsageError):
                retry_run(parts, KINDS[kind], only=REFUSED)

        return self.stage.do(retry)

    def _drop_unseen(self) -> str:
        """Settling gives up, and a person drops what is held without having looked."""
        self._wait(self.stage.policy.settle_after_seconds + 1)
        self._settle(wait=True)
        return self._decide(HeldDecision.DROP, looks=False)

    def _decide(self, choice: str, *, looks: bool = True) -> str:
        """A person who has looked at the service decides about all that this fits; without a look, about all."""

        def decide(parts: Parts) -> None:
            for document in held_documents(parts):
                if not looks or self._fits(document, HeldDecision(choice)):
                    again = choice == HeldDecision.SEND_AGAIN
                    with suppress(UsageError):
                        decide_held(parts, document.id, decision=choice, reason="looked", reissue=again)
                        self.judge.decided(document, choice)

        return self.stage.do(decide)

    def _fits(self, document: StoredDocument, choice: HeldDecision) -> bool:
        """Whether somebody who sees the service, and knows that nothing is on its way, would decide so."""
        if choice not in reason_of(document.why.code).choices or self.stage.service.late:
            return False
        kind = document.operation.partition(".")[0]
        there = [each for each in self.stage.service.alive(kind, document.reference) if each.ours]
        if choice is HeldDecision.ACCEPT:
            return any(self.judge.is_of(document, record) for record in there)
        return not there and not (kind == "order" and self.stage.service.alive(kind, document.reference))

    def _reopen(self) -> str:
        def undo(parts: Parts) -> None:
            for document in parts.ledger.documents.select(states=["abandoned"]):
                with suppress(UsageError):
                    reopen(parts, document.id, reason="looked again")
                    self.judge.reopened(document)

        return self.stage.do(undo)

    def _fault(self, endpoint: str, fault: str, times: int) -> None:
        self.stage.service.plan.setdefault(endpoint, []).extend([fault] * times)

    def _ail(self, reference: str, fault: str) -> None:
        self.stage.service.ailing[reference] = fault

    def _cure(self) -> None:
        self.stage.service.ailing.clear()
        self.stage.service.plan.clear()

    def _wait(self, seconds: float) -> None:
        self.stage.clock.sleep(seconds)
        self.stage.service.time_passed()

    def _kill(self, point: str, times: int) -> None:
        self.stage.kill_at = point, times

    def _doze(self, point: str, seconds: float) -> None:
        self.stage.dozes.append((point, seconds))

    def _meanwhile(self, step: Step) -> None:
        self.stage.service.meanwhile.append(lambda: self.told.append(f"meanwhile {step}: {self._do_other(step)}"))

    def _do_other(self, step: Step) -> object:
        alone = {"queues": False} if step[0] == "run" else {}  # it would wait for itself
        return getattr(self, f"_{step[0]}")(*step[1:], **alone)

    def _cancel(self, reference: str) -> None:
        for record in self.stage.service.alive("order", reference):
            record.live = False

    def _foreign(self, reference: str, content: str) -> None:
        self.stage.service.create("order", order_body(reference, content), ours=False)

    def _copy(self) -> None:
        if not self.stage.url:
            self.stage.copy_ledger()

    def _restore(self) -> str:
        """The copy takes the ledger's place, and a person who has looked lets it go on; files lie as they lay."""
        if self.stage.url or not (self.stage.root / "copy.db").exists():
            return "no copy"
        self.stage.restore_copy()
        self._wait(self.stage.policy.settle_after_seconds)
        self.judge.restored()

        def accept(parts: Parts) -> None:
            parts.ledger.itself.accept_restored(reason="it is lost", now=parts.clock.now().isoformat())

        return self.stage.do(accept)

    def quiet_end(self) -> None:
        """No more faults: runs and pauses until everything has ended that ends without a person."""
        self._cure()
        self.stage.kill_at, self.stage.dozes, self.stage.service.meanwhile[:] = ("", 0), [], []
        for number in range(QUIET_ROUNDS):
            for kind in KINDS:
                self._run(kind)
            self._settle(wait=number == QUIET_ROUNDS - 1)
            if not self.judge.open_documents() and not self.lying():
                break
            self._wait(self.stage.policy.settle_after_seconds * (1 + number))
        self.told.append("the end")
        self.ended = self.judge.documents()
        self.judge.look(("end",))
        self.judge.end(self.lying())

    def lying(self) -> list[Path]:
        """Files that still lie where they were dropped."""
        return [path for kind in KINDS.values() for path in (self.stage.root / "inbound" / kind).glob("*.csv")]


def new_workspace(root: Path, url: str = "") -> None:
    """Folders and an empty ledger, to be copied for each history."""
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    (root / "var/files").mkdir(parents=True, mode=0o700)
    marks = (root / "var/ledger.mark", root / "reports/.ledger.mark")
    open_ledger(url or f"sqlite:///{root}/var/ledger.db", account=ACCOUNT, marks=marks).close()


@dataclass(frozen=True)
class History:
    """Steps in a world."""

    steps: Sequence[Step]
    world: World = field(default_factory=World)

    def play(self, root: Path, url: str = "") -> Play:
        """Play it in a new workspace to its quiet end, or until a promise is broken. url: of a PostgreSQL database."""
        played = self.world.on(root, url)
        with played.stage.set_up():
            try:
                for step in self.steps:
                    played.step(step)
                played.quiet_end()
            except Broken as broken:
                played.broken = broken
        return played
