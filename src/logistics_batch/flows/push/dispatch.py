"""Sending planned documents: intents before bytes, several calls in flight, every outcome written down.

One thread owns the ledger; worker threads only telephone. Each turn of its loop claims as many documents as fit, writes
their intents and the outcomes that came in one durable commit, hands the calls to the workers, and collects what came
back. While the service is quick and well, some intents wait for a free worker, so that none idles during a commit.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

import polars as pl

from logistics_batch.api.answers import Answer, ReplyVerdict, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.orders.awb_ownership import Look
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.health import DispatchResult, ServiceHealth
from logistics_batch.flows.push.preflight import Preflight, Told, hold_behind_open_changes
from logistics_batch.flows.push.proof import Proofs, history_is_lost
from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

INTENT_MAY_AGE_SECONDS = 5.0  # a process that slept longer between intent and first byte does not send
_LOADED_AT_ONCE = 200  # documents
_GATHER_SECONDS = 0.02  # while intents wait for the workers, a commit waits so long for more outcomes
_TURN_AHEAD_SECONDS = 0.25  # so long before its turn an intent may be written: a slow commit makes no call late
_LONGEST_NAP_SECONDS = 0.5  # how soon a waiting run notices that it was asked to end


def send_in_turn(
    parts: Parts, planned: pl.DataFrame, *, run: str, before: DispatchResult | None = None
) -> DispatchResult:
    """Send documents for a run; what is left when sending stops stays planned.

    planned: as `Ledger.planned_of` gives it. Changes of one order or ASN go out one after the other, each after the
    answer to the one before. Call while holding the ledger's sending lock, or beside others with a lease: then it may
    end before all is sent, so that lanes are shared out. before: how sending went so far.
    """
    creates = pl.col("operation").is_in([str(each) for each in Operation if each.creates])
    earlier = pl.int_range(pl.len(), dtype=pl.Int64).over("key", creates)
    rounds = planned.with_columns(round=pl.when(creates).then(0).otherwise(earlier)).partition_by("round")
    result = before or DispatchResult()
    lease = parts.ledger.attempts.lease
    for some in sorted(rounds, key=lambda some: some.item(0, "round")):
        waits = hold_behind_open_changes(parts, some.filter(~creates))
        result = Dispatcher(parts, run=run, before=result).send([each for each in some["id"] if each not in waits])
        if result.stopped or (lease is not None and lease.calls_for_sharing):
            break
    return result


@dataclass(frozen=True, slots=True)
class _Finished:
    """What a worker brings back: the reply to an intent, or what the service told before a document was sent."""

    document: StoredDocument
    reply: Reply | None = None  # None: it was too late for the call, or it was not to begin; nothing was sent
    answer: Answer | None = None  # what the reply proves
    look: Look | None = None  # what the service shows of an order that it accepted, where that was asked for
    told: Told | None = None


class Dispatcher:
    """Sends documents of one run, once; call while holding the ledger's sending lock, or a lease."""

    def __init__(self, parts: Parts, *, run: str, before: DispatchResult | None = None) -> None:
        """before: how the documents went that were sent before these; what is told of them is told with these."""
        self._parts = parts
        self._run = run
        self._lease = parts.ledger.attempts.lease  # None: nobody sends beside this
        self._health = ServiceHealth(parts, before=before or DispatchResult())
        history_lost = history_is_lost(parts)
        self._preflight = Preflight(parts, history_lost=history_lost)
        self._proofs = Proofs(parts, run=run, history_lost=history_lost)
        self._workers = ThreadPoolExecutor(parts.policy.concurrency, thread_name_prefix="send")
        self._numbers: deque[int] = deque()  # of documents that are not loaded yet
        self._queue: deque[StoredDocument] = deque()  # those that go out next
        self._under_way: set[Future[_Finished]] = set()
        self._done: SimpleQueue[Future[_Finished]] = SimpleQueue()
        self._may_begin = True  # False: what waits for a worker comes back unsent
        self._unclear: set[int] = set()  # documents with an answer that is neither yes nor no and was not looked at
        self._outcomes: list[Outcome] = []  # to be written down
        self._pause_seconds = 0.0  # until a turn may be taken, where one is waited for

    def send(self, numbers: Collection[int]) -> DispatchResult:
        """Send these documents, in order, until done, until something says to stop or lanes are to be shared out."""
        self._numbers.extend(numbers)
        self._parts.progress.start("Sending", len(numbers))
        with self._workers:
            try:
                while True:
                    self._commit(self._claims())
                    if not self._under_way and (self._health.stopped or self._next() is None):
                        break
                    self._collect()
            except BaseException:  # nothing more begins; what is under way is waited for, and its answers are written
                self._may_begin = False
                self._workers.shutdown()
                self._write_late()
                raise
            finally:
                self._may_begin = False
        self._parts.progress.done()
        return self._health.result([*self._preflight.looks.notes, *self._proofs.notes])

    def _claims(self) -> list[StoredDocument]:
        """As many documents as fit, with their turns; of some the service is asked something first, which is a call."""
        if self._parts.stop.is_set():
            self._health.stop("The program was asked to end.", "Run it again: it goes on where it stopped.")
        if self._lease is not None and self._lease.calls_for_sharing:
            self._numbers.clear()
            self._queue.clear()
        claims: list[StoredDocument] = []
        self._pause_seconds = 0.0
        pacer = self._parts.client.pacer
        ahead = _TURN_AHEAD_SECONDS if pacer.paced else 0.0
        room = self._health.calls_at_once + self._health.intents_ahead - len(self._under_way)
        while room > 0 and not self._health.stopped and (document := self._next()) is not None:
            asks = self._preflight.needed(document)
            if asks and self._preflight.looks.under_way(document):
                break
            wait = pacer.try_turn(ahead_seconds=ahead, wanted=room)
            if wait > ahead:
                self._pause_seconds = wait - ahead
                break
            self._health.note_begun()
            self._queue.popleft()
            if unfit := self._preflight.unfit(document):
                self._hold(unfit, evidence_text="Checked before sending.")
                continue
            room -= 1
            if asks:
                self._start(self._ask, document, self._preflight.begin(document))
            else:
                claims.append(document)
        return claims

    def _next(self) -> StoredDocument | None:
        """The document at the head of the queue, None if all are under way or done."""
        while not self._queue and self._numbers:
            numbers = [self._numbers.popleft() for _ in range(min(_LOADED_AT_ONCE, len(self._numbers)))]
            # What the service had before is asked anew in each run: others may have written meanwhile.
            loaded = self._parts.ledger.documents.stored(numbers)
            self._queue.extend(replace(each, baseline="") if each.baseline else each for each in loaded)
            self._preflight.looks.prepare(loaded)
            self._proofs.prepare(loaded)
        return self._queue[0] if self._queue else None

    def _commit(self, claims: Sequence[StoredDocument]) -> None:
        """Write down what came back and what goes out next, in one durable commit, and hand that to the workers.

        What is not believed of the outcomes may say to stop; then nothing more goes out.
        """
        since = self._parts.clock.monotonic()  # a commit that stalls ages its intents
        outcomes = self._proofs.believed(self._outcomes)
        self._health.note_mixed_up(sum(one is not other for one, other in zip(self._outcomes, outcomes, strict=True)))
        now = self._parts.clock.now().isoformat()
        claims = () if self._health.stopped else claims
        intents = self._parts.ledger.attempts.step(outcomes=outcomes, claim=claims, run=self._run, now=now)
        self._outcomes = []
        if intents:
            self._may_begin = True
        for intent in intents:
            self._start(self._post, intent.document, since)

    def _write_late(self) -> None:
        """Write the answers that are not written yet, if the ledger takes them; else they are doubts."""
        for call in self._under_way:
            if call.exception() is None and call.result().told is None:
                self._note(call.result())
        with suppress(LedgerRefused):  # the first failure is told
            # The commit that failed may have been done, or was done in part.
            waiting = self._parts.ledger.attempts.unanswered([each.document_id for each in self._outcomes])
            self._outcomes = [each for each in self._outcomes if each.document_id in waiting]
            self._commit(())

    # Calls, in worker threads

    def _start(self, work: Callable[..., _Finished], *arguments: object) -> None:
        """Have a worker make a call; whatever becomes of it comes back through the queue."""
        call = self._workers.submit(work, *arguments)
        self._under_way.add(call)
        call.add_done_callback(self._done.put)

    def _post(self, document: StoredDocument, since: float) -> _Finished:
        """The only place where bytes of a document leave. since: when its intent was about to be written."""
        crash_point("send.before")
        young = self._parts.clock.monotonic() - since < INTENT_MAY_AGE_SECONDS
        reply = None
        if young and self._may_begin and not self._unclear and not self._health.stopped:
            reply = self._parts.client.call(
                document.operation,
                order_id=document.order_id or None,
                body=document.body or None,
                turn_taken=True,
                may_leave=self._may_leave,
            )
        crash_point("send.after")
        if reply is None or reply.failure == "late":
            return _Finished(document)
        answer = judge(reply, operation=document.operation)
        if not answer.is_about_document:
            self._unclear.add(document.id)
        look = self._proofs.look(document, answer) if answer.meaning is ReplyVerdict.ACCEPTED else None
        return _Finished(document, reply, answer, look)

    def _may_leave(self) -> bool:
        return self._lease is None or self._lease.may_send

    @staticmethod
    def _ask(document: StoredDocument, question: Callable[[], Told]) -> _Finished:
        return _Finished(document, told=question())

    # What came back

    def _collect(self) -> None:
        """Wait for at least one call to come back, or for the next turn; then take in all that have."""
        wait = min(self._pause_seconds, _LONGEST_NAP_SECONDS) or None
        if not self._under_way:
            self._parts.clock.sleep(wait or 0.0)
        enough, until = self._health.intents_ahead // 2, 0.0
        with suppress(Empty):
            while self._under_way:
                call = self._done.get(timeout=wait)
                until = until or self._parts.clock.monotonic() + _GATHER_SECONDS  # from the first one on
                self._under_way.discard(call)
                self._take_in(call.result())
                enough -= 1
                wait = max(0.0, until - self._parts.clock.monotonic()) if enough > 0 else 0.0

    def _take_in(self, finished: _Finished) -> None:
        document, reply, answer = finished.document, finished.reply, finished.answer
        if finished.told is not None:
            self._take_told(document, finished.told)
            return
        outcome = self._note(finished)
        if reply is None or answer is None:
            self._queue.appendleft(replace(document, attempts=document.attempts + 1))
            return
        self._health.note_answer(reply)
        if outcome.state == "planned":
            self._queue.appendleft(replace(document, attempts=document.attempts + 1))
            self._health.note_unsent(document, reply, answer)
            if answer.is_about_document or answer.meaning is ReplyVerdict.MISADDRESSED:
                self._let_others_by(document)
            if not answer.is_about_document:
                self._may_begin = False  # what was handed out waits as well; a question that failed keeps none back
        else:
            lowered = self._parts.client.pacer.lowered_to
            note = outcome.state if lowered is None else f"{outcome.state}, slowed to {lowered:.3g}/s"
            self._parts.progress.advance(note=note)
            # A refusal that is not believed after a restore is no sign that the service is unwell.
            state = "refused" if answer.meaning is ReplyVerdict.REFUSED else outcome.state
            self._health.note_outcome(document, reply, answer, state=state)
        self._unclear.discard(document.id)

    def _note(self, finished: _Finished) -> Outcome:
        """What is to be written down about an attempt."""
        document, reply, answer = finished.document, finished.reply, finished.answer
        if reply is None or answer is None:
            outcome = Outcome(document.id, "planned", "not_sent", why=Issue("not_sent.yet"))
        else:
            answer = self._health.weigh(document, reply, answer)
            outcome = self._proofs.outcome(document, reply, answer, finished.look)
        self._outcomes.append(outcome)
        return outcome

    def _take_told(self, document: StoredDocument, told: Told) -> None:
        ready = self._preflight.end(document, told)
        if isinstance(ready, Outcome):
            self._hold(ready, evidence_text="Found before sending.")
            if ready.state == "accepted":
                self._health.note_shown()
        elif told.failed is None:
            self._queue.appendleft(ready)
        else:
            reply, answer = told.failed
            if self._health.weigh(document, reply, answer).meaning is ReplyVerdict.REFUSED:
                why = Issue.of("not_answered", message=answer.message or str(reply.status))
                self._hold(Outcome(document.id, "held", "held", why=why), evidence_text="Asked for before sending.")
                return
            self._queue.appendleft(document)
            self._health.note_unsent(document, reply, answer)
            if answer.meaning is not ReplyVerdict.SLOW_DOWN and reply.status is not None:
                self._let_others_by(document)

    def _let_others_by(self, document: StoredDocument) -> None:
        """One document about which the service cannot be asked keeps no others back, but those of its own order."""
        own = [each for each in self._queue if each.id == document.id or each.order_id == document.order_id != ""]
        self._queue = deque(each for each in self._queue if each not in own)
        self._numbers.extend(each.id for each in own)

    def _hold(self, outcome: Outcome, *, evidence_text: str) -> None:
        """What was found out about a planned document before anything of it was sent from here."""
        now = self._parts.clock.now().isoformat()
        self._parts.ledger.attempts.settle(outcome, expected="planned", now=now, evidence_text=evidence_text)
        self._parts.progress.advance()
