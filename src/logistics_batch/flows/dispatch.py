"""Sending planned documents: intents before bytes, several calls in flight, every outcome written down.

One thread owns the ledger: it claims, commits and judges. Worker threads only telephone. Each turn of the loop makes
one durable commit, which holds the outcomes that came in and the intents of the calls that go out next. Where calls are
quick and many, a few intents are written ahead: they queue for the worker threads, so that a line that becomes free
does not wait for a commit.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from queue import Empty, SimpleQueue

from logistics_batch.api.answers import Answer, Meaning, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.dispatch_state import DispatchResult, Finished, SendingState
from logistics_batch.flows.first_questions import FirstQuestions, Told
from logistics_batch.flows.gate_of_sending import SendGate
from logistics_batch.flows.known_facts import OF_ANOTHER_KEY, RUN_IT_AGAIN, facts_of, tie_facts
from logistics_batch.flows.outcomes import (
    is_own_number,
    outcome_of,
    stop_reason,
    unless_sent_before,
    without_others_numbers,
)
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.silent_answers import SilentAnswers
from logistics_batch.ledger import Intent, Outcome, StoredDocument
from logistics_batch.model.document import Operation

INTENT_MAY_AGE_SECONDS = 5.0  # a process that slept longer between intent and first byte does not send
DOUBTS_UNTIL_STOP = 5
FAILURES_UNTIL_STOP = 3
SLOW_DOWNS_UNTIL_STOP = 30
_OVERLOADED = (429, 503)
_CLEAR = (Meaning.ACCEPTED, Meaning.REFUSED)
_LINES_FOR_ONE_AHEAD = 2
_GATHER_SECONDS = 0.01  # while intents lie ahead for the lines, a commit waits so long for more outcomes
_TURN_AHEAD_SECONDS = 0.1  # so long before its turn an intent may be written, so that the call leaves in time
_QUICK_SECONDS = 1.0  # an intent that waits longer for a free line may grow too old
_LONGEST_PAUSE_SECONDS = 15 * 60.0
_HISTORY_LOST_FOR = timedelta(days=7)  # after an older copy of the ledger was taken up
_LONGEST_NAP_SECONDS = 0.5  # how soon a waiting run notices that it was asked to end


class Dispatcher:
    """Sends the documents of one run; call while holding the ledger's sending lock."""

    def __init__(self, parts: Parts, *, run: str) -> None:
        self._parts = parts
        self._run = run
        self._done: SimpleQueue[Future[Finished]] = SimpleQueue()
        self._gate = SendGate(patience_seconds=INTENT_MAY_AGE_SECONDS)
        self._silent = SilentAnswers(parts)
        tie_facts(parts)
        self._facts = facts_of(parts)
        lately = (parts.clock.now() - _HISTORY_LOST_FOR).isoformat()
        self._history_lost = any(str(each["at"]) >= lately for each in parts.ledger.restorations())

    def send(self, documents: Sequence[StoredDocument]) -> DispatchResult:
        """Send all, in order, until done or until something says to stop."""
        # What the service had before is asked anew in each run: others may have written meanwhile.
        queue = deque(replace(each, baseline="") if each.baseline else each for each in documents)
        state = SendingState(queue, FirstQuestions(self._parts, queue))
        self._parts.progress.start("Sending", len(documents))
        refusals = self._parts.client.pacer.refusals
        workers = ThreadPoolExecutor(self._parts.policy.concurrency, thread_name_prefix="send")
        with self._kept_lines(), workers:
            try:
                self._send_all(state, workers)
            except LedgerRefused:  # it takes nothing more: nothing more begins, and what is under way is waited for
                self._gate.shut()
                workers.shutdown()
                self._save_late(state)
                raise
            finally:
                self._gate.shut()
            notes = tuple(self._notes(state, self._parts.client.pacer.refusals - refusals))
        self._parts.progress.done()
        return DispatchResult(state.stopped, state.remedy, state.doubts, notes)

    @contextmanager
    def _kept_lines(self) -> Iterator[None]:
        """Creates follow each other on kept connections only if test orders showed that they are answered there."""
        seconds = self._facts.reuse_seconds if self._facts else 0.0
        if not seconds or self._parts.policy.reuse_connections == "never":
            yield
            return
        self._parts.client.keep_lines(seconds)
        try:
            yield
        finally:
            self._parts.client.keep_lines(0.0)

    def _notes(self, state: SendingState, refusals: int) -> Iterator[str]:
        """What the operator should know about how it went."""
        if refusals:
            now = self._parts.client.pacer.lowered_to
            came = f"calls came down to {state.slowest:.3g} a second" if state.slowest < math.inf else "calls waited"
            then = "" if now is None else f" and were at {now:.3g} a second at the end"
            yield f"The service asked {refusals} times to slow down (429): {came}{then}; nothing was lost by that."
        if self._facts and self._facts.reuse_seconds and self._parts.client.kept_line_broke:
            yield "A connection that was kept for several calls broke; from then on each call had one of its own."
        yield from state.first.notes
        if self._facts is None and self._parts.ledger.facts() is not None:
            yield f"{OF_ANOTHER_KEY} {RUN_IT_AGAIN}"

    def _send_all(self, state: SendingState, workers: ThreadPoolExecutor) -> None:
        while True:
            self._call_back(state)
            self._commit(state, self._next_claims(state, workers), workers)
            if not state.handed and not state.outcomes and (state.stopped or not state.queue):
                return
            self._collect(state)

    def _next_claims(self, state: SendingState, workers: ThreadPoolExecutor) -> list[StoredDocument]:
        """What may go out now; of some the service is asked something first, which is a call of its own."""
        if self._parts.stop.is_set():
            state.stop("The program was asked to end.", "Run the job again: it goes on where it stopped.")
        claim: list[StoredDocument] = []
        lines = self._lines(state)
        most = lines + self._ahead(state)
        while state.queue and not state.stopped and len(state.handed) + len(claim) < most:
            asks = state.first.needed(state.queue[0])
            if asks and (len(state.handed) + len(claim) >= lines or state.first.under_way(state.queue[0])):
                break
            if (turn := self._take_turn(state)) is None:
                break
            document = state.queue.popleft()
            if unfit := state.first.unfit(document):
                self._hold(unfit, evidence_text="Checked before sending.")
            elif asks:
                self._start(state, workers.submit(self._ask_before, document, state.first.begin(document), turn))
            else:
                claim.append(document)
                state.turns[document.id] = turn
        return claim

    def _lines(self, state: SendingState) -> int:
        """How many calls may be in flight; the first create of a run goes alone."""
        return min(self._parts.policy.concurrency, int(state.lines)) if state.proven else 1

    def _ahead(self, state: SendingState) -> int:
        """How many intents more may be durable; none while the service or the network seems unwell."""
        if not (state.proven and state.quick) or state.doubts or self._parts.client.pacer.paced:
            return 0
        return self._lines(state) // _LINES_FOR_ONE_AHEAD

    def _call_back(self, state: SendingState) -> None:
        """What may not go out now and has not begun is put back, for nothing of it left."""
        if not state.stopped and self._parts.clock.monotonic() >= state.paused_until:
            return
        for call, intent in reversed(state.handed.items()):
            if intent is not None and call.cancel():
                self._put_back(state, intent)
        state.handed = {call: intent for call, intent in state.handed.items() if not call.cancelled()}

    def _put_back(self, state: SendingState, intent: Intent) -> None:
        document = intent.document
        state.outcomes.append(Outcome(document.id, "planned", "not_sent", rule="not_sent"))
        state.queue.appendleft(replace(document, attempts=intent.n))

    def _take_turn(self, state: SendingState) -> float | None:
        """When the next call may leave (monotonic), if that is soon; else None."""
        now = self._parts.clock.monotonic()
        if now < state.not_before:
            return None
        wait = self._parts.client.pacer.try_turn(ahead_seconds=_TURN_AHEAD_SECONDS)
        if wait > _TURN_AHEAD_SECONDS:
            state.not_before = now + wait - _TURN_AHEAD_SECONDS
            return None
        return now + wait

    def _commit(self, state: SendingState, claim: Sequence[StoredDocument], workers: ThreadPoolExecutor) -> None:
        since = self._parts.clock.monotonic()  # a commit that stalls ages its intents
        intents = self._write(state, claim)
        if intents:
            self._gate.open()
        for intent in intents:
            turn = state.turns[intent.document.id]
            self._start(state, workers.submit(self._post, intent, since, turn), intent)
        state.turns.clear()

    def _write(self, state: SendingState, claim: Sequence[StoredDocument]) -> list[Intent]:
        """What came back, and what goes out next; answers that the ledger does not take are kept beside it."""
        now = self._parts.clock.now().isoformat()
        came, state.outcomes = state.outcomes, []
        try:
            outcomes = self._believed(state, came)
        except LedgerRefused as error:
            kept = self._parts.ledger.keep_answers(came, now=now)
            raise LedgerRefused(error.message, remedy=f"{error.remedy} {kept}".strip()) from error
        return self._parts.ledger.step(outcomes=outcomes, claim=claim, run=self._run, now=now)

    def _save_late(self, state: SendingState) -> None:
        """Answers that came while the ledger failed: written if it goes again, else kept beside it."""
        for call, intent in state.handed.items():
            if intent is not None and not call.cancelled() and call.exception() is None:
                finished = call.result()
                if finished.reply is None or finished.answer is None:
                    self._put_back(state, intent)
                else:
                    self._note_outcome(state, finished.document, finished.reply, finished.answer)
        with suppress(LedgerRefused):  # the first failure is told; these answers are kept
            self._write(state, ())

    def _start(self, state: SendingState, call: Future[Finished], intent: Intent | None = None) -> None:
        """Whatever becomes of a call that a worker makes comes back through the queue."""
        state.handed[call] = intent
        call.add_done_callback(self._done.put)

    def _post(self, intent: Intent, since: float, turn: float) -> Finished:
        """In a worker thread: the only place where bytes of a document leave."""
        self._parts.client.pacer.wait_until(turn)
        crash_point("send.before")
        document, reply, answer = intent.document, None, None
        if self._gate.may_begin() and self._parts.clock.monotonic() - since < INTENT_MAY_AGE_SECONDS:
            reply = self._parts.client.call(
                document.operation, order_id=document.order_id or None, body=document.body or None, turn_taken=True
            )
        crash_point("send.after")
        if reply is not None:
            answer = judge(reply, operation=document.operation)
            if answer.meaning not in _CLEAR:
                self._gate.close()
        return Finished(document, intent, reply, answer)

    def _ask_before(self, document: StoredDocument, question: Callable[[], Told], turn: float) -> Finished:
        self._parts.client.pacer.wait_until(turn)
        return Finished(document, told=question())

    def _collect(self, state: SendingState) -> None:
        """Wait for at least one call to come back, or for the next turn; then take all that have."""
        wait = None
        pause = state.not_before - self._parts.clock.monotonic()
        if state.queue and not state.stopped and pause > 0:
            wait = min(pause, _LONGEST_NAP_SECONDS)
        call = self._back(wait) if state.handed else None
        if call is None and not state.handed and wait:
            self._parts.clock.sleep(wait)
        enough, until = self._ahead(state) // 2, self._parts.clock.monotonic() + _GATHER_SECONDS
        while call is not None:
            if not call.cancelled():
                del state.handed[call]
                self._take_in(state, call.result())
            enough -= 1
            call = self._back(until - self._parts.clock.monotonic() if enough > 0 and state.handed else 0)

    def _back(self, wait: float | None) -> Future[Finished] | None:
        """The next call that came back, within so many seconds; None if there is none."""
        try:
            return self._done.get(timeout=wait) if wait is None or wait > 0 else self._done.get_nowait()
        except Empty:
            return None

    def _take_in(self, state: SendingState, finished: Finished) -> None:
        document, intent, reply, answer = finished.document, finished.intent, finished.reply, finished.answer
        if finished.told is not None:
            self._take_told(state, document, finished.told)
        elif intent is not None and (reply is None or answer is None):
            self._put_back(state, intent)
        elif intent is not None and reply is not None and answer is not None:
            state.quick = reply.elapsed_seconds < _QUICK_SECONDS
            self._adapt(state, reply)
            outcome = self._note_outcome(state, document, reply, answer)
            self._react(state, intent, reply, answer, outcome.state)
            if answer.meaning not in _CLEAR:
                self._gate.looked_at(go_on=not state.stopped and self._parts.clock.monotonic() >= state.paused_until)

    def _note_outcome(self, state: SendingState, document: StoredDocument, reply: Reply, answer: Answer) -> Outcome:
        outcome = outcome_of(document, reply, answer, run=self._run, facts=self._facts)
        if self._history_lost:
            outcome = unless_sent_before(outcome, document, facts=self._facts)
        if document.operation == Operation.ORDER_CREATE and outcome.state == "accepted":
            if is_own_number(document, outcome):
                outcome = replace(outcome, seen=True)
            else:
                state.created.add(document.id)
        state.outcomes.append(outcome)
        return outcome

    def _believed(self, state: SendingState, came: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes to write down: of answers that carry another order's AWB number, nothing is believed."""
        orders, state.created = state.created, set()
        believed = without_others_numbers(came, orders=orders, owners=self._parts.ledger.owners_of)
        state.mixed += sum(one is not other for one, other in zip(came, believed, strict=True))
        if state.mixed >= DOUBTS_UNTIL_STOP:
            state.stop(
                f"{state.mixed} answers carried the AWB numbers of other orders.",
                "Find out what mixes them up, a cache or a proxy in between; run the job again later: doubts are "
                "settled first.",
            )
        return believed

    def _adapt(self, state: SendingState, reply: Reply) -> None:
        """Fewer calls at once for a service that is overloaded (429, 503), more again while it answers."""
        most = float(self._parts.policy.concurrency)
        if reply.status in _OVERLOADED:
            state.lines = max(1.0, min(state.lines, most) / 2)
            state.slowest = min(state.slowest, self._parts.client.pacer.lowered_to or math.inf)
        elif reply.status is not None and reply.status < 500:
            state.lines = min(most, state.lines + 1 / state.lines)

    def _take_told(self, state: SendingState, document: StoredDocument, told: Told) -> None:
        ready = state.first.end(document, told)
        if isinstance(ready, Outcome):
            self._hold(ready, evidence_text="Found before sending.")
        elif told.failed is not None:
            reply, answer = told.failed
            self._count(state, document, reply, answer)
            if reply.status is not None and reply.status >= 500:
                state.let_others_by(document)
        else:
            state.queue.appendleft(ready)

    def _hold(self, outcome: Outcome, *, evidence_text: str) -> None:
        """A person decides about a planned document, of which nothing was sent."""
        now = self._parts.clock.now().isoformat()
        self._parts.ledger.settle_document(outcome, expected="planned", now=now, evidence_text=evidence_text)
        self._parts.progress.advance()

    def _react(self, state: SendingState, intent: Intent, reply: Reply, answer: Answer, written: str) -> None:
        if written == "planned":
            self._count(state, replace(intent.document, attempts=intent.n), reply, answer)
            return
        lowered = self._parts.client.pacer.lowered_to
        self._parts.progress.advance(note=written if lowered is None else f"{written}, slowed to {lowered:.3g}/s")
        if answer.meaning is Meaning.MISADDRESSED:  # a redirect, which is in doubt
            self._stop_misaddressed(state, reply)
        if written != "in_doubt":
            state.proven, state.doubts, state.failures, state.slow_downs = True, 0, 0, 0
            return
        state.doubts += 1
        self._silent.note(intent.document, reply, answer)
        if answer.looks_like_html and not state.proven:
            state.stop(
                "A web page came back instead of an answer of the service.",
                "Check service.base_url: it points to something else than the API.",
            )
        if state.doubts >= DOUBTS_UNTIL_STOP and self._silent.mean_yes():
            state.proven, state.doubts = True, 0
        elif state.doubts >= DOUBTS_UNTIL_STOP:
            state.stop(
                f"{state.doubts} calls in a row had no trustworthy answer.",
                "Find out what is wrong with the service; run the job again later, doubts are settled first.",
            )

    def _count(self, state: SendingState, document: StoredDocument, reply: Reply, answer: Answer) -> None:
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

    def _stop_misaddressed(self, state: SendingState, reply: Reply) -> None:
        state.stop(
            f"The service's address or path is wrong: it answered {reply.status}.",
            "Check service.base_url and service.paths.",
        )

    def _pause(self, state: SendingState, seconds: float) -> None:
        pause = min(seconds, _LONGEST_PAUSE_SECONDS)
        state.paused_until = self._parts.clock.monotonic() + pause
        state.not_before = max(state.not_before, state.paused_until)
        self._parts.client.pacer.slow_down(pause)
