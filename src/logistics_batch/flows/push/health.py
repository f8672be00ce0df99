"""What the answers of a run say about the service: how many calls it takes at once, when to wait, when to stop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from logistics_batch.api.answers import Answer, ReplyVerdict
from logistics_batch.api.client import Reply
from logistics_batch.api.pacing import LONGEST_PAUSE_SECONDS
from logistics_batch.flows.asns.search import UnconfirmedCreates
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import REDIRECTS, stop_reason
from logistics_batch.ledger import StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

DOUBTS_UNTIL_PAUSE = 5
SLOW_DOWNS_UNTIL_STOP = 30  # it is there, and says when it may be called again
_PROBES_UNTIL_STOP = 5  # pauses of 31 s in all
_FIRST_PROBES_UNTIL_STOP = 3  # … of 7 s, where nobody has answered yet: the address may be wrong
_LONGEST_DOUBLED_SECONDS = 64.0
_MIXED_UP_UNTIL_STOP = 5
_FIRST_DECLINED_UNTIL_STOP = 5  # documents in a row, where none was ever accepted: it is the address, not they
_DECLINED_UNTIL_DOUBTED = 25  # … elsewhere: none is refused before another one was answered
_OVERLOADED = (429, 503)
_ERRORS, _GATEWAY_ERRORS = 400, 500  # a page with the latter is that of a service which is away
_COMMIT_SECONDS = 0.04  # about so long a commit takes, outcomes gathered before it included
_QUICK_SECONDS = 1.0  # an intent that waits longer for a free worker may grow too old


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """How sending ended: `stopped` says why documents were left pending, "" if none were; notes: what else to tell.

    lasting: no waiting mends what stopped it. pauses, paused_seconds: how often and how long it waited for the service.
    """

    stopped: str = ""
    remedy: str = ""
    lasting: bool = False
    doubts: int = 0
    pauses: int = 0
    paused_seconds: float = 0.0
    notes: tuple[Issue, ...] = ()


class ServiceHealth:
    """What goes wrong in a row, and what follows: a pause, then one call as a probe, which ends it or doubles the next.

    stopped: why nothing more is to begin, "" if it may. doubts: in a row.
    """

    def __init__(self, parts: Parts, *, before: DispatchResult) -> None:
        """before: how sending went so far in this run."""
        self._before = before
        self._parts = parts
        self._pacer = parts.client.pacer
        self._refusals_before = self._pacer.refusals
        self._proven = False  # some create of this run was answered by the service itself
        self._quick = False  # the last answer came soon
        self._at_once = float(parts.policy.concurrency)
        self._slowest = math.inf  # calls a second
        self._in_vain = 0  # pauses and their probes in a row
        self._pausing = False  # until the probe begins
        self._mixed_up = 0
        self.doubts = self._pauses = 0
        self._paused_seconds = 0.0
        self._aside: set[int] = set()  # documents that are tried once more at the end of the run
        self._declined_in_a_row = 0  # when they were tried first
        self.stopped = self._remedy = ""
        self._lasting = False

    @cached_property
    def _unconfirmed(self) -> UnconfirmedCreates:
        return UnconfirmedCreates(self._parts)

    def result(self, notes: Sequence[Issue]) -> DispatchResult:
        """How sending ended, with notes on it, and what is told of what went before."""
        before, refusals = self._before, self._pacer.refusals - self._refusals_before
        slowed: list[Issue] = []
        if refusals:
            now = self._pacer.lowered_to
            rate = (".calls_came_down", {"rate": f"{self._slowest:.3g}"})
            came = rate if self._slowest < math.inf else (".calls_waited", {})
            then = [] if now is None else [(".calls_at_the_end", {"rate": f"{now:.3g}"})]
            slowed.append(Issue.of("sending.slowed", times=refusals, came=[came], then=then))
        return DispatchResult(
            stopped=self.stopped,
            remedy=self._remedy,
            lasting=self._lasting,
            doubts=before.doubts + self.doubts,
            pauses=before.pauses + self._pauses,
            paused_seconds=before.paused_seconds + self._paused_seconds,
            notes=(*before.notes, *slowed, *notes),
        )

    @property
    def calls_at_once(self) -> int:
        """How many calls may be in flight; the first create of a run goes alone, and so does a probe."""
        return int(self._at_once) if self._proven and not self._in_vain else 1

    @property
    def intents_ahead(self) -> int:
        """How many intents more may wait for a worker, so that none idles during a commit; none while it is unwell.

        No more than have their turns during a commit: others would miss theirs while workers wait for those of looks.
        None where the rate is shared: a turn that is missed is one that another process could have had.
        """
        busy = self.calls_at_once == self._parts.policy.concurrency  # fewer calls leave workers idle
        most = 0 if self._pacer.is_shared else min(self.calls_at_once - 1, self._pacer.turns_in(_COMMIT_SECONDS))
        return int(most) if busy and self._proven and self._quick and not self.doubts else 0

    def note_answer(self, reply: Reply) -> None:
        """Allow half as many calls at once to a service that is overloaded (429, 503), more again while it answers."""
        self._quick = reply.elapsed_seconds < _QUICK_SECONDS
        if reply.status in _OVERLOADED:
            self._at_once = max(1.0, self._at_once / 2)
            self._slowest = min(self._slowest, self._pacer.lowered_to or math.inf)
        elif reply.status is not None and reply.status < 500:
            self._at_once = min(float(self._parts.policy.concurrency), self._at_once + 1 / self._at_once)

    def note_begun(self) -> None:
        """A call begins: what comes back from now on says how the service is after the pause."""
        self._pausing = False

    def weigh(self, document: StoredDocument, reply: Reply, answer: Answer) -> Answer:
        """The answer as it counts now: the second no to one document is a refusal where the service answers others.

        So is the second failure of a question before it is sent. One of a few that come alone is, too, where a document
        like it was accepted in an earlier run. The second answer as from a wrong address proves nothing.
        """
        if document.id not in self._aside:
            return answer
        few = len(self._aside) < _FIRST_DECLINED_UNTIL_STOP
        declined = answer.meaning is ReplyVerdict.DECLINED
        answers_others = self._proven and self._declined_in_a_row < _DECLINED_UNTIL_DOUBTED
        refused = declined and (answers_others or (few and self._accepted_before(document)))
        unheard = answer.meaning in (ReplyVerdict.NOT_SENT, ReplyVerdict.MISADDRESSED) and reply.status is not None
        asked = reply.endpoint != document.operation
        if refused or (unheard and asked and self._proven and not self._in_vain):
            return replace(answer, meaning=ReplyVerdict.REFUSED)
        if unheard and not asked and self._is_known(document):
            return replace(answer, meaning=ReplyVerdict.UNKNOWN)
        return answer

    def _is_known(self, document: StoredDocument) -> bool:
        """Whether the address is right: the service has answered in this run, or took one like it in an earlier one."""
        return self._proven or self._accepted_before(document)

    def _accepted_before(self, document: StoredDocument) -> bool:
        return self._parts.ledger.documents.last_accepted(Operation(document.operation)) is not None

    def note_outcome(self, document: StoredDocument, reply: Reply, answer: Answer, *, state: str) -> None:
        """A call had an outcome, or may have had one: five doubts in a row, or that of a probe, make a pause."""
        if reply.status in REDIRECTS:
            self._stop_misaddressed(reply)
        if state != "in_doubt":
            self._proven, self.doubts, self._in_vain, self._declined_in_a_row = True, 0, 0, 0
            return
        self.doubts += 1
        self._unconfirmed.note(document, reply, answer)
        errors = _ERRORS if self._is_known(document) else _GATEWAY_ERRORS
        if answer.looks_like_html and not self._proven and (reply.status or 0) < errors:
            self.stop(
                "A web page came back instead of an answer of the service.",
                "Check service.base_url: it points to something else than the API.",
                lasting=True,
            )
        if self.doubts < DOUBTS_UNTIL_PAUSE and self._proven and not self._in_vain:
            return
        if self._unconfirmed.is_confirmed():
            self._proven, self.doubts, self._in_vain = True, 0, 0
            return
        self._pause(
            reply,
            f"{self.doubts} calls in a row had no trustworthy answer."
            if self.doubts > 1
            else "A call had no trustworthy answer.",
            "Find out what is wrong with the service. The next run settles doubts first, then sends what is left.",
        )

    def note_shown(self) -> None:
        """The service shows an order of ours before it was sent: it is the right one."""
        self._proven = True

    def note_unsent(self, document: StoredDocument, reply: Reply, answer: Answer) -> None:
        """A call certainly had no effect: pause, or stop where that does not help."""
        if answer.meaning is ReplyVerdict.UNAUTHORIZED:
            self.stop(
                "The service does not accept the API key (401).",
                "Check service.api_key: a wrong or expired key, one still in base64 form, or a proxy that drops the "
                "header API_KEY.",
                lasting=True,
            )
        elif answer.meaning is ReplyVerdict.MISADDRESSED and not self._is_known(document):
            self._stop_misaddressed(reply)
        elif answer.meaning is ReplyVerdict.DECLINED:
            again = document.id in self._aside
            self._aside.add(document.id)
            self._in_vain = 0
            self._declined_in_a_row += 1
            first = self._declined_in_a_row >= _FIRST_DECLINED_UNTIL_STOP and not self._is_known(document)
            if again and self._is_known(document):
                self.stop(
                    f"The service declined {self._declined_in_a_row} calls in a row, the last one with {reply.status}.",
                    "It took others before, so its address is right. Ask the service's operator why; the next run "
                    "tries these again.",
                )
            elif again or first:
                self._stop_misaddressed(reply)
        elif answer.meaning is ReplyVerdict.SLOW_DOWN:
            words = "The service keeps asking to slow down (429).", "Lower service.rate, then run again."
            self._pause(reply, *words, calls=SLOW_DOWNS_UNTIL_STOP)
        else:
            self._aside.add(document.id)
            self._pause(
                reply,
                f"Nothing could be sent: {stop_reason(reply, answer)}",
                "Check the network and service.base_url. The next run sends what is left.",
            )

    def note_mixed_up(self, answers: int) -> None:
        """So many answers more carried the AWB numbers of other orders."""
        self._mixed_up += answers
        if self._mixed_up >= _MIXED_UP_UNTIL_STOP:
            self.stop(
                f"{self._mixed_up} answers carried the AWB numbers of other orders.",
                "Find out what mixes them up, a cache or a proxy in between. The next run settles doubts first, then "
                "sends what is left.",
            )

    def stop(self, reason: str, remedy: str, *, lasting: bool = False) -> None:
        """Nothing more is to begin; the first reason counts."""
        if not self.stopped:
            self.stopped, self._remedy, self._lasting = reason, remedy, lasting

    def _stop_misaddressed(self, reply: Reply) -> None:
        self.stop(
            f"The service's address or path is wrong: it answered {reply.status}.",
            "Check service.base_url and service.paths.",
            lasting=True,
        )

    def _pause(self, reply: Reply, reason: str, remedy: str, *, calls: int = 0) -> None:
        """Begin nothing for twice as long as the last time, or as the service says; then one call is the probe.

        calls: so many in vain, the first one too, end the sending.
        """
        if self._pausing:  # a call from before it came back
            return
        calls = calls or 1 + (_PROBES_UNTIL_STOP if self._proven else _FIRST_PROBES_UNTIL_STOP)
        if self._in_vain + 1 >= calls:
            self.stop(reason, remedy)
            return
        doubled = min(2.0**self._in_vain, _LONGEST_DOUBLED_SECONDS)
        seconds = min(reply.retry_after_seconds or doubled, LONGEST_PAUSE_SECONDS)
        self._in_vain += 1
        self._pausing = True
        self._pauses += 1
        self._paused_seconds += seconds
        self._pacer.slow_down(seconds)
        until = self._parts.clock.now() + timedelta(seconds=seconds)
        self._parts.progress.advance(0, note=f"waits until {until:%H:%M:%S}: {reason}")
