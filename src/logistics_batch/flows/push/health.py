"""What the answers of a run say about the service: how many calls it takes at once, when to pause, when to stop."""

import math
from collections.abc import Iterator

from logistics_batch.api.answers import Answer, ReplyVerdict
from logistics_batch.api.client import Reply
from logistics_batch.flows.asns.baseline import UnconfirmedCreates
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import stop_reason
from logistics_batch.ledger import StoredDocument
from logistics_batch.model.issue import Issue

DOUBTS_UNTIL_STOP = 5
FAILURES_UNTIL_STOP = 3
SLOW_DOWNS_UNTIL_STOP = 30
_OVERLOADED = (429, 503)
_QUICK_SECONDS = 1.0  # an intent that waits longer for a free worker may grow too old
_LONGEST_PAUSE_SECONDS = 15 * 60.0


class ServiceHealth:
    """Counts of doubts, failures and calls that were too many, each in a row, and what follows from them.

    stopped: why nothing more is to begin, "" if it may; remedy: what to do about it; doubts: in a row.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._pacer = parts.client.pacer
        self._refusals_before = self._pacer.refusals
        self._unconfirmed = UnconfirmedCreates(parts)
        self._proven = False  # some create of this run was answered by the service itself
        self._quick = False  # the last answer came soon
        self._at_once = float(parts.policy.concurrency)
        self._slowest = math.inf  # calls a second
        self._failures = self._slow_downs = self._mixed_up = 0
        self.doubts = 0
        self.stopped = self.remedy = ""

    @property
    def calls_at_once(self) -> int:
        """How many calls may be in flight; the first create of a run goes alone."""
        return int(self._at_once) if self._proven else 1

    @property
    def intents_ahead(self) -> int:
        """How many intents more may wait for a worker, so that none idles during a commit; none while it is unwell."""
        well = self._proven and self._quick and not self.doubts and not self._pacer.paced
        return self.calls_at_once // 2 if well else 0

    def note_answer(self, reply: Reply) -> None:
        """Allow half as many calls at once to a service that is overloaded (429, 503), more again while it answers."""
        self._quick = reply.elapsed_seconds < _QUICK_SECONDS
        if reply.status in _OVERLOADED:
            self._at_once = max(1.0, self._at_once / 2)
            self._slowest = min(self._slowest, self._pacer.lowered_to or math.inf)
        elif reply.status is not None and reply.status < 500:
            self._at_once = min(float(self._parts.policy.concurrency), self._at_once + 1 / self._at_once)

    def note_outcome(self, document: StoredDocument, reply: Reply, answer: Answer, *, state: str) -> None:
        """A call had an outcome, or may have had one: five doubts in a row stop sending."""
        if answer.meaning is ReplyVerdict.MISADDRESSED:  # a redirect, which is in doubt
            self._stop_misaddressed(reply)
        if state != "in_doubt":
            self._proven, self.doubts, self._failures, self._slow_downs = True, 0, 0, 0
            return
        self.doubts += 1
        self._unconfirmed.note(document, reply, answer)
        if answer.looks_like_html and not self._proven:
            self.stop(
                "A web page came back instead of an answer of the service.",
                "Check service.base_url: it points to something else than the API.",
            )
        if self.doubts >= DOUBTS_UNTIL_STOP and self._unconfirmed.is_confirmed():
            self._proven, self.doubts = True, 0
        elif self.doubts >= DOUBTS_UNTIL_STOP:
            self.stop(
                f"{self.doubts} calls in a row had no trustworthy answer.",
                "Find out what is wrong with the service; run the job again later, doubts are settled first.",
            )

    def note_unsent(self, reply: Reply, answer: Answer) -> None:
        """A call certainly had no effect: pause, or stop where that does not help."""
        if answer.meaning is ReplyVerdict.UNAUTHORIZED:
            self.stop(
                "The service does not accept the API key (401).",
                "Check service.api_key: a wrong or expired key, one still in base64 form, or a proxy that drops the "
                "header API_KEY.",
            )
        elif answer.meaning is ReplyVerdict.MISADDRESSED:
            self._stop_misaddressed(reply)
        elif answer.meaning is ReplyVerdict.SLOW_DOWN:
            self._slow_downs += 1
            self._pause(reply.retry_after_seconds or 2.0 ** min(self._slow_downs - 1, 6))
            if self._slow_downs >= SLOW_DOWNS_UNTIL_STOP:
                self.stop("The service keeps asking to slow down (429).", "Lower service.rate, then run again.")
        else:
            self._failures += 1
            self._pause(2.0 ** (self._failures - 1))
            if self._failures >= FAILURES_UNTIL_STOP:
                self.stop(
                    f"Nothing could be sent: {stop_reason(reply, answer)}",
                    "Check the network and service.base_url, then run the job again.",
                )

    def note_mixed_up(self, answers: int) -> None:
        """So many answers more carried the AWB numbers of other orders."""
        self._mixed_up += answers
        if self._mixed_up >= DOUBTS_UNTIL_STOP:
            self.stop(
                f"{self._mixed_up} answers carried the AWB numbers of other orders.",
                "Find out what mixes them up, a cache or a proxy in between; run the job again later: doubts are "
                "settled first.",
            )

    def stop(self, reason: str, remedy: str) -> None:
        """Nothing more is to begin; the first reason counts."""
        if not self.stopped:
            self.stopped, self.remedy = reason, remedy

    def notes(self) -> Iterator[Issue]:
        """What the operator should know about it."""
        refusals = self._pacer.refusals - self._refusals_before
        if refusals:
            now = self._pacer.lowered_to
            slowed = self._slowest < math.inf
            came = (".calls_came_down", {"rate": f"{self._slowest:.3g}"}) if slowed else (".calls_waited", {})
            then = [] if now is None else [(".calls_at_the_end", {"rate": f"{now:.3g}"})]
            yield Issue.of("sending.slowed", times=refusals, came=[came], then=then)

    def _stop_misaddressed(self, reply: Reply) -> None:
        self.stop(
            f"The service's address or path is wrong: it answered {reply.status}.",
            "Check service.base_url and service.paths.",
        )

    def _pause(self, seconds: float) -> None:
        self._pacer.slow_down(min(seconds, _LONGEST_PAUSE_SECONDS))
