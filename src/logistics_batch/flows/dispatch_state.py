"""What a run of sending knows from turn to turn: what waits, what is under way, what came back, how well it goes."""

import math
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from logistics_batch.api.answers import Answer
from logistics_batch.api.client import Reply
from logistics_batch.flows.first_questions import FirstQuestions, Told
from logistics_batch.ledger import Intent, Outcome, StoredDocument


@dataclass(frozen=True, slots=True)
class Finished:
    """A call that came back: a reply to an intent, or what the service told before a document was sent."""

    document: StoredDocument
    intent: Intent | None = None
    reply: Reply | None = None  # None: the intent grew too old, or a doubt came first; nothing was sent
    answer: Answer | None = None  # what the reply proves
    told: Told | None = None


@dataclass
class SendingState:
    queue: deque[StoredDocument]
    first: FirstQuestions
    handed: dict[Future[Finished], Intent | None] = field(default_factory=dict)  # to workers, in order; not yet back
    doubts: int = 0  # in a row
    created: set[int] = field(default_factory=set)  # accepted orders among the outcomes
    mixed: int = 0  # answers with another order's AWB number
    failures: int = 0  # in a row
    slow_downs: int = 0  # in a row
    lines: float = 64.0  # calls that the service seems to take at once, if it is fewer than the operator allows
    slowest: float = math.inf  # calls a second
    quick: bool = False  # the last answer came soon
    proven: bool = False  # some create of this run was answered by the service itself
    turns: dict[int, float] = field(default_factory=dict)  # of what is claimed next: when it leaves (monotonic)
    not_before: float = 0.0  # monotonic; no turn is taken earlier
    paused_until: float = 0.0  # monotonic; nothing begins earlier
    stopped: str = ""
    remedy: str = ""
    outcomes: list[Outcome] = field(default_factory=list)

    def let_others_by(self, document: StoredDocument) -> None:
        """One document about which the service cannot be asked keeps no others back, but those of its own order."""
        own = [each for each in self.queue if each.id == document.id or each.order_id == document.order_id != ""]
        self.queue = deque([*(each for each in self.queue if each not in own), *own])

    def stop(self, reason: str, remedy: str) -> None:
        """Nothing more is to begin; the first reason counts."""
        if not self.stopped:
            self.stopped, self.remedy = reason, remedy


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """How sending ended: `stopped` says why documents were left pending, "" if none were; notes: what else to tell."""

    stopped: str
    remedy: str
    doubts: int
    notes: tuple[str, ...] = ()
