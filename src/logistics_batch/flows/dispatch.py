"""Sending planned documents: intents before bytes, several calls in flight, every outcome written down.

One thread owns the ledger: it claims, commits and judges. Worker threads only telephone. Each turn of the loop makes
one durable commit, which holds the outcomes that came in and the intents of the calls that go out next. Where calls are
quick and many, a few intents are written ahead, so that a line that becomes free does not wait for a commit.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue

from logistics_batch.api.answers import Answer, Meaning, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.flows.baseline import Baseline, take_baseline
from logistics_batch.flows.last_look import broken_contract
from logistics_batch.flows.outcomes import outcome_of, stop_reason
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Intent, Outcome, StoredDocument

INTENT_MAY_AGE_SECONDS = 5.0  # a process that slept longer between intent and first byte does not send
DOUBTS_UNTIL_STOP = 5
FAILURES_UNTIL_STOP = 3
SLOW_DOWNS_UNTIL_STOP = 30
_LINES_FOR_ONE_AHEAD = 6
_QUICK_SECONDS = 1.0  # an intent that waits longer for a free line may grow too old
_LONGEST_PAUSE_SECONDS = 15 * 60.0
_LONGEST_NAP_SECONDS = 0.5  # how soon a waiting run notices that it was asked to end


@dataclass(frozen=True, slots=True)
class Finished:
    """A call that came back: a reply to an intent, or what the service had before an ASN was sent."""

    document: StoredDocument | None = None
    intent: Intent | None = None
    reply: Reply | None = None  # None: the intent grew too old, and nothing was sent
    baseline: Baseline | None = None
    error: BaseException | None = None  # the call itself broke down: a fault of this program


@dataclass
class _State:
    queue: deque[StoredDocument]
    ready: deque[tuple[Intent, float]] = field(default_factory=deque)  # durable since (monotonic), and not begun
    in_flight: int = 0
    doubts: int = 0  # in a row
    failures: int = 0  # in a row
    slow_downs: int = 0  # in a row
    quick: bool = False  # the last answer came soon
    proven: bool = False  # some create of this run was answered by the service itself
    not_before: float = 0.0  # monotonic; no turn is taken earlier
    paused_until: float = 0.0  # monotonic; nothing begins earlier
    stopped: str = ""
    remedy: str = ""
    outcomes: list[Outcome] = field(default_factory=list)

    def stop(self, reason: str, remedy: str) -> None:
        if not self.stopped:
            self.stopped, self.remedy = reason, remedy


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """How sending ended: `stopped` says why documents were left pending, "" if none were."""

    stopped: str
    remedy: str
    doubts: int


class Dispatcher:
    """Sends the documents of one run; call while holding the ledger's sending lock."""

    def __init__(self, parts: Parts, *, run: str) -> None:
        self._parts = parts
        self._run = run
        self._done: SimpleQueue[Finished] = SimpleQueue()
        self._facts = parts.ledger.facts()

    def send(self, documents: Sequence[StoredDocument]) -> DispatchResult:
        """Send all, in order, until done or until something says to stop."""
        # What the service had before is asked anew in each run: others may have written meanwhile.
        state = _State(deque(replace(each, baseline="") if each.baseline else each for each in documents))
        self._parts.progress.start("Sending", len(documents))
        with ThreadPoolExecutor(self._parts.policy.concurrency, thread_name_prefix="send") as workers:
            while True:
                self._start_ready(state, workers)
                self._commit(state, self._next_claims(state, workers))
                self._start_ready(state, workers)
                if not state.in_flight and not state.outcomes and (state.stopped or not state.queue):
                    break
                self._collect(state)
        self._parts.progress.done()
        return DispatchResult(state.stopped, state.remedy, state.doubts)

    def _next_claims(self, state: _State, workers: ThreadPoolExecutor) -> list[StoredDocument]:
        """What may go out now; ASNs are first asked after, which is a call of its own."""
        if self._parts.stop.is_set():
            state.stop("The program was asked to end.", "Run the job again: it goes on where it stopped.")
        claim: list[StoredDocument] = []
        lines = self._lines(state)
        most = lines + self._ahead(state)
        while state.queue and not state.stopped and state.in_flight + len(state.ready) + len(claim) < most:
            asks = state.queue[0].operation == "asn.create" and not state.queue[0].baseline
            if (asks and state.in_flight + len(state.ready) + len(claim) >= lines) or not self._take_turn(state):
                break
            document = state.queue.popleft()
            if broken := broken_contract(document, longitude=self._parts.policy.longitude):
                self._hold(broken, evidence_text="Checked before sending.")
            elif asks:
                self._start(state, workers, self._ask_before, document)
            else:
                claim.append(document)
        return claim

    def _lines(self, state: _State) -> int:
        """How many calls may be in flight; the first create of a run goes alone."""
        return self._parts.policy.concurrency if state.proven else 1

    def _ahead(self, state: _State) -> int:
        """How many intents more may be durable: with the doubts so far never more than stop the run anyway."""
        if not (state.proven and state.quick) or self._parts.client.pacer.paced:
            return 0
        return max(0, min(DOUBTS_UNTIL_STOP - state.doubts, self._parts.policy.concurrency // _LINES_FOR_ONE_AHEAD))

    def _start_ready(self, state: _State, workers: ThreadPoolExecutor) -> None:
        """Begin what is durable while lines are free; what may not go out now is put back, for nothing of it left."""
        now = self._parts.clock.monotonic()
        if state.stopped or now < state.paused_until:
            while state.ready:
                self._put_back(state, state.ready.pop()[0])
        while state.ready and state.in_flight < self._lines(state):
            self._start(state, workers, self._post, *state.ready.popleft())

    def _put_back(self, state: _State, intent: Intent) -> None:
        document = intent.document
        state.outcomes.append(Outcome(document.id, "planned", "not_sent", rule="not_sent"))
        state.queue.appendleft(replace(document, attempts=intent.n))

    def _take_turn(self, state: _State) -> bool:
        now = self._parts.clock.monotonic()
        if now < state.not_before:
            return False
        wait = self._parts.client.pacer.try_turn()
        if wait > 0:
            state.not_before = now + wait
        return wait <= 0

    def _commit(self, state: _State, claim: Sequence[StoredDocument]) -> None:
        outcomes, state.outcomes = state.outcomes, []
        since = self._parts.clock.monotonic()  # a commit that stalls ages its intents
        now = self._parts.clock.now().isoformat()
        intents = self._parts.ledger.step(outcomes=outcomes, claim=claim, run=self._run, now=now)
        state.ready.extend((intent, since) for intent in intents)

    def _start(self, state: _State, workers: ThreadPoolExecutor, call: Callable[..., Finished], *given: object) -> None:
        """Let a worker make a call; whatever becomes of it comes back through the queue."""
        state.in_flight += 1
        workers.submit(call, *given).add_done_callback(self._came_back)

    def _came_back(self, call: Future[Finished]) -> None:
        error = call.exception()
        self._done.put(Finished(error=error) if error else call.result())

    def _post(self, intent: Intent, since: float) -> Finished:
        """In a worker thread: the only place where bytes of a document leave."""
        crash_point("send.before")
        document, reply = intent.document, None
        if self._parts.clock.monotonic() - since < INTENT_MAY_AGE_SECONDS:
            reply = self._parts.client.call(
                document.operation, order_id=document.order_id or None, body=document.body or None, turn_taken=True
            )
        crash_point("send.after")
        return Finished(document, intent, reply)

    def _ask_before(self, document: StoredDocument) -> Finished:
        return Finished(document, baseline=take_baseline(self._parts.client, document))

    def _collect(self, state: _State) -> None:
        """Wait for at least one call to come back, or for the next turn; then take all that have."""
        wait = None
        pause = state.not_before - self._parts.clock.monotonic()
        if state.queue and not state.stopped and pause > 0:
            wait = min(pause, _LONGEST_NAP_SECONDS)
        try:
            finished = self._done.get(timeout=wait) if state.in_flight else None
        except Empty:
            finished = None
        if finished is None and not state.in_flight and wait:
            self._parts.clock.sleep(wait)
        while finished is not None:
            state.in_flight -= 1
            self._take_in(state, finished)
            finished = self._done.get_nowait() if not self._done.empty() else None

    def _take_in(self, state: _State, finished: Finished) -> None:
        document, intent, reply = finished.document, finished.intent, finished.reply
        if finished.error is not None or document is None:
            raise finished.error or RuntimeError("a call came back without its document")
        if finished.baseline is not None:
            self._take_baseline(state, document, finished.baseline)
        elif intent is not None and reply is None:
            self._put_back(state, intent)
        elif intent is not None and reply is not None:
            state.quick = reply.elapsed_seconds < _QUICK_SECONDS
            answer = judge(reply, operation=document.operation)
            outcome = outcome_of(document, reply, answer, run=self._run, facts=self._facts)
            state.outcomes.append(outcome)
            self._react(state, intent, reply, answer, outcome.state)

    def _take_baseline(self, state: _State, document: StoredDocument, baseline: Baseline) -> None:
        if baseline.failed is not None:
            reply, answer = baseline.failed
            self._count(state, document, reply, answer)
            return
        if baseline.already_there and not document.released:  # a person who released it has seen what is there
            self._hold_present(document)
            return
        self._parts.ledger.set_baseline(document.id, baseline.text)
        state.queue.appendleft(replace(document, baseline=baseline.text))

    def _hold_present(self, document: StoredDocument) -> None:
        outcome = Outcome(
            document.id,
            "held",
            "held",
            rule="already_present",
            reason="The service already has an ASN with this invoice number and content.",
            fix="If it is this one, decide “accept”; if another one is wanted, decide “send-again”.",
        )
        self._hold(outcome, evidence_text="Found before sending.")

    def _hold(self, outcome: Outcome, *, evidence_text: str) -> None:
        """A person decides about a planned document, of which nothing was sent."""
        now = self._parts.clock.now().isoformat()
        self._parts.ledger.settle_document(outcome, expected="planned", now=now, evidence_text=evidence_text)
        self._parts.progress.advance()

    def _react(self, state: _State, intent: Intent, reply: Reply, answer: Answer, written: str) -> None:
        if written == "planned":
            self._count(state, replace(intent.document, attempts=intent.n), reply, answer)
            return
        self._parts.progress.advance(note=written)
        if answer.meaning is Meaning.MISADDRESSED:  # a redirect, which is in doubt
            self._stop_misaddressed(state, reply)
        if written != "in_doubt":
            state.proven, state.doubts, state.failures, state.slow_downs = True, 0, 0, 0
            return
        state.doubts += 1
        if answer.looks_like_html and not state.proven:
            state.stop(
                "A web page came back instead of an answer of the service.",
                "Check service.base_url: it points to something else than the API.",
            )
        if state.doubts >= DOUBTS_UNTIL_STOP:
            state.stop(
                f"{state.doubts} calls in a row had no trustworthy answer.",
                "Find out what is wrong with the service; run the job again later, doubts are settled first.",
            )

    def _count(self, state: _State, document: StoredDocument, reply: Reply, answer: Answer) -> None:
        """A call that certainly had no effect: put the document back, then pause or stop."""
        state.queue.appendleft(document)
        if answer.meaning is Meaning.UNAUTHORIZED:
            state.stop(
                "The service does not accept the API key (401).",
                "Check service.api_key: a wrong or expired key, one still in base64 form, or a proxy that drops the "
                "header API_KEY.",
            )
        elif answer.meaning is Meaning.MISADDRESSED:
            self._stop_misaddressed(state, reply)
        elif answer.meaning is Meaning.SLOW_DOWN:
            state.slow_downs += 1
            self._pause(state, reply.retry_after_seconds or 2.0 ** min(state.slow_downs - 1, 6))
            if state.slow_downs >= SLOW_DOWNS_UNTIL_STOP:
                state.stop("The service keeps asking to slow down (429).", "Lower service.rate, then run again.")
        else:
            state.failures += 1
            self._pause(state, 2.0 ** (state.failures - 1))
            if state.failures >= FAILURES_UNTIL_STOP:
                state.stop(
                    f"Nothing could be sent: {stop_reason(reply, answer)}",
                    "Check the network and service.base_url, then run the job again.",
                )

    def _stop_misaddressed(self, state: _State, reply: Reply) -> None:
        state.stop(
            f"The service's address or path is wrong: it answered {reply.status}.",
            "Check service.base_url and service.paths.",
        )

    def _pause(self, state: _State, seconds: float) -> None:
        pause = min(seconds, _LONGEST_PAUSE_SECONDS)
        state.paused_until = self._parts.clock.monotonic() + pause
        state.not_before = max(state.not_before, state.paused_until)
        self._parts.client.pacer.slow_down(pause)
