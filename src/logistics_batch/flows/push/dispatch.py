"""Sending planned documents: intents before bytes, several calls in flight, every outcome written down.

One thread owns the ledger: it claims, commits and judges. Worker threads only telephone. Each turn of the loop makes
one durable commit, which holds the outcomes that came in and the intents of the calls that go out next. While the
service is quick and well, some intents wait for a free worker, so that no line stands idle during a commit.
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from queue import Empty, SimpleQueue

import polars as pl

from logistics_batch.api.answers import Answer, Meaning, judge
from logistics_batch.api.client import Reply
from logistics_batch.crash_points import crash_point
from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.doubts.silent_answers import SilentAnswers
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.first_questions import FirstQuestions, Told
from logistics_batch.flows.push.known_facts import facts_of
from logistics_batch.flows.push.outcomes import (
    is_own_number,
    outcome_of,
    stop_reason,
    unless_sent_before,
    without_others_numbers,
)
from logistics_batch.ledger import Intent, Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

INTENT_MAY_AGE_SECONDS = 5.0  # a process that slept longer between intent and first byte does not send
DOUBTS_UNTIL_STOP = 5
FAILURES_UNTIL_STOP = 3
SLOW_DOWNS_UNTIL_STOP = 30
_OVERLOADED = (429, 503)
_CLEAR = (Meaning.ACCEPTED, Meaning.REFUSED)
_LOADED_AT_ONCE = 200  # documents
_LINES_FOR_ONE_AHEAD = 2
_GATHER_SECONDS = 0.01  # while intents wait for the workers, a commit waits so long for more outcomes
_TURN_AHEAD_SECONDS = 0.02  # so long before its turn, and a commit, an intent may be written
_LONGEST_COMMIT_SECONDS = 0.1  # of those that are expected
_QUICK_SECONDS = 1.0  # an intent that waits longer for a free worker may grow too old
_LONGEST_PAUSE_SECONDS = 15 * 60.0
_HISTORY_LOST_FOR = timedelta(days=7)  # after an older copy of the ledger was taken up
_LONGEST_NAP_SECONDS = 0.5  # how soon a waiting run notices that it was asked to end


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """How sending ended: `stopped` says why documents were left pending, "" if none were; notes: what else to tell."""

    stopped: str = ""
    remedy: str = ""
    doubts: int = 0
    notes: tuple[Issue, ...] = ()


def send_in_turn(parts: Parts, planned: pl.DataFrame, *, run: str) -> DispatchResult:
    """Send documents for a run; what is left when sending stops stays planned.

    planned: as `Ledger.planned_of` gives it. Changes of one order or ASN go out one after the other, each after the
    answer to the one before. Call while holding the ledger's sending lock.
    """
    creates = pl.col("operation").is_in([str(each) for each in Operation if each.creates])
    earlier = pl.int_range(pl.len(), dtype=pl.Int64).over("key", creates)
    rounds = planned.with_columns(round=pl.when(creates).then(0).otherwise(earlier)).partition_by("round")
    result = DispatchResult()
    for some in sorted(rounds, key=lambda some: some.item(0, "round")) or [planned]:
        sent = Dispatcher(parts, run=run).send(_free(parts, some.filter(~creates), some))
        doubts, notes = result.doubts + sent.doubts, result.notes + sent.notes
        result = replace(sent, doubts=doubts, notes=notes)
        if result.stopped:
            break
    return result


def _free(parts: Parts, changes: pl.DataFrame, planned: pl.DataFrame) -> list[int]:
    """The documents but for changes before which another one of the same order has no end yet: these are held.

    Whether an item is there is not known then, and an update that arrives late would undo the one behind it.
    """
    before = parts.ledger.documents.open_changes(set(changes["key"])) if changes.height else {}
    waits: dict[int, str] = {}
    for number, key in changes.select("id", "key").iter_rows():
        earlier, state = before.get(key, (0, ""))
        if 0 < earlier < number:
            waits[number] = "earlier_held" if state == "held" else "earlier_in_doubt"
    for number, rule in waits.items():
        outcome = Outcome(number, "held", "waits", why=Issue(rule))
        now = parts.clock.now().isoformat()
        parts.ledger.attempts.settle_document(outcome, expected="planned", now=now, evidence_text=outcome.why.reason)
    return [number for number in planned["id"] if number not in waits]


@dataclass(frozen=True, slots=True)
class _Finished:
    """A call that came back: a reply to an intent, or what the service told before a document was sent."""

    document: StoredDocument
    intent: Intent | None = None
    reply: Reply | None = None  # None: it was too late for the call, or it was not to begin; nothing was sent
    answer: Answer | None = None  # what the reply proves
    told: Told | None = None


class Dispatcher:
    """Sends documents of one run, once; call while holding the ledger's sending lock."""

    def __init__(self, parts: Parts, *, run: str) -> None:
        self._parts = parts
        self._run = run
        self._pacer = parts.client.pacer
        self._first = FirstQuestions(parts)
        self._silent = SilentAnswers(parts)
        self._facts = facts_of(parts)
        lately = (parts.clock.now() - _HISTORY_LOST_FOR).isoformat()
        self._history_lost = any(str(each["at"]) >= lately for each in parts.ledger.itself.restorations())
        self._numbers: deque[int] = deque()  # of documents that are not loaded yet
        self._queue: deque[StoredDocument] = deque()  # those that go out next
        self._handed: dict[Future[_Finished], Intent | None] = {}  # to workers, and not yet back
        self._done: SimpleQueue[Future[_Finished]] = SimpleQueue()
        self._may_begin = True  # False: what waits for a worker comes back unsent
        self._unclear: set[int] = set()  # documents with an answer that is neither yes nor no and was not looked at
        self._outcomes: list[Outcome] = []  # to be written down
        self._created: set[int] = set()  # accepted orders among these
        self._doubts = self._failures = self._slow_downs = 0  # each in a row
        self._mixed = 0  # answers with another order's AWB number
        self._lines = 64.0  # calls that the service seems to take at once, if it is fewer than the operator allows
        self._slowest = math.inf  # calls a second
        self._quick = False  # the last answer came soon
        self._proven = False  # some create of this run was answered by the service itself
        self._not_before = 0.0  # monotonic; no turn is taken earlier
        self._commit_seconds = 0.0  # that the last one took
        self._stopped = self._remedy = ""

    def send(self, numbers: Collection[int]) -> DispatchResult:
        """Send these documents, in order, until done or until something says to stop."""
        self._numbers.extend(numbers)
        self._parts.progress.start("Sending", len(numbers))
        refusals = self._pacer.refusals
        with ThreadPoolExecutor(self._parts.policy.concurrency, thread_name_prefix="send") as workers:
            try:
                while True:
                    self._commit(self._claims(workers), workers)
                    if not self._handed and not self._outcomes and (self._stopped or self._next() is None):
                        break
                    self._collect()
            except LedgerRefused:  # it takes nothing more: nothing more begins, and what is under way is waited for
                self._may_begin = False
                workers.shutdown()
                self._save_late()
                raise
            finally:
                self._may_begin = False
        self._parts.progress.done()
        notes = tuple(self._notes(self._pacer.refusals - refusals))
        return DispatchResult(self._stopped, self._remedy, self._doubts, notes)

    def _notes(self, refusals: int) -> Iterator[Issue]:
        """What the operator should know about how it went."""
        if refusals:
            now = self._pacer.lowered_to
            slowed = self._slowest < math.inf
            came = (".calls_came_down", {"rate": f"{self._slowest:.3g}"}) if slowed else (".calls_waited", {})
            then = [] if now is None else [(".calls_at_the_end", {"rate": f"{now:.3g}"})]
            yield Issue.of("sending.slowed", times=refusals, came=[came], then=then)
        yield from self._first.notes
        if self._facts is None and self._parts.ledger.facts.verified() is not None:
            yield Issue("sending.other_key")

    # Claims and intents

    def _claims(self, workers: ThreadPoolExecutor) -> list[StoredDocument]:
        """What may go out now, with turns taken; of some the service is asked something first, which is a call."""
        if self._parts.stop.is_set():
            self._stop("The program was asked to end.", "Run the job again: it goes on where it stopped.")
        claims: list[StoredDocument] = []
        room = self._lines_now() + self._ahead() - len(self._handed)
        while room > 0 and not self._stopped and (document := self._next()) is not None:
            asks = self._first.needed(document)
            if (asks and self._first.under_way(document)) or not self._turn():
                break
            self._queue.popleft()
            if unfit := self._first.unfit(document):
                self._hold(unfit, evidence_text="Checked before sending.")
                continue
            room -= 1
            if asks:
                self._start(workers.submit(self._ask, document, self._first.begin(document)))
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
            self._first.prepare(loaded)
        return self._queue[0] if self._queue else None

    def _lines_now(self) -> int:
        """How many calls may be in flight; the first create of a run goes alone."""
        return min(self._parts.policy.concurrency, int(self._lines)) if self._proven else 1

    def _ahead(self) -> int:
        """How many intents more may wait for a worker; none while the service or the network seems unwell."""
        if not (self._proven and self._quick) or self._doubts or self._pacer.paced:
            return 0
        return self._lines_now() // _LINES_FOR_ONE_AHEAD

    def _turn(self) -> bool:
        """Take a turn, if there is one soon."""
        now = self._parts.clock.monotonic()
        if now < self._not_before:
            return False
        ahead = _TURN_AHEAD_SECONDS + self._commit_seconds
        wait = self._pacer.try_turn(ahead_seconds=ahead)
        if wait > ahead:
            self._not_before = now + wait - ahead
        return wait <= ahead

    def _commit(self, claims: Sequence[StoredDocument], workers: ThreadPoolExecutor) -> None:
        """Write down what came back and what goes out next, and hand that to the workers."""
        since = self._parts.clock.monotonic()  # a commit that stalls ages its intents
        intents = self._write(claims)
        if intents:
            self._may_begin = True
            self._commit_seconds = min(self._parts.clock.monotonic() - since, _LONGEST_COMMIT_SECONDS)
        for intent in intents:
            self._start(workers.submit(self._post, intent, since), intent)

    def _write(self, claim: Sequence[StoredDocument]) -> list[Intent]:
        """One commit; answers that the ledger does not take are kept beside it."""
        now = self._parts.clock.now().isoformat()
        came, self._outcomes = self._outcomes, []
        try:
            outcomes = self._believed(came)
        except LedgerRefused as error:
            kept = self._parts.ledger.attempts.keep_answers(came, now=now)
            raise LedgerRefused(error.message, remedy=f"{error.remedy} {kept}".strip()) from error
        # What was just believed may have been the last that was needed to stop: then nothing more goes out.
        return self._parts.ledger.attempts.step(
            outcomes=outcomes, claim=() if self._stopped else claim, run=self._run, now=now
        )

    def _believed(self, came: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes to write down: of answers that carry another order's AWB number, nothing is believed."""
        orders, self._created = self._created, set()
        believed = without_others_numbers(came, orders=orders, owners=self._parts.ledger.attempts.owners_of)
        self._mixed += sum(one is not other for one, other in zip(came, believed, strict=True))
        if self._mixed >= DOUBTS_UNTIL_STOP:
            self._stop(
                f"{self._mixed} answers carried the AWB numbers of other orders.",
                "Find out what mixes them up, a cache or a proxy in between; run the job again later: doubts are "
                "settled first.",
            )
        return believed

    def _save_late(self) -> None:
        """Answers that came while the ledger failed: written if it goes again, else kept beside it."""
        for call, intent in self._handed.items():
            if intent is not None and call.exception() is None:
                self._note(call.result())
        with suppress(LedgerRefused):  # the first failure is told; these answers are kept
            self._write(())

    # Calls, in worker threads

    def _start(self, call: Future[_Finished], intent: Intent | None = None) -> None:
        """Whatever becomes of a call that a worker makes comes back through the queue."""
        self._handed[call] = intent
        call.add_done_callback(self._done.put)

    def _post(self, intent: Intent, since: float) -> _Finished:
        """The only place where bytes of a document leave."""
        crash_point("send.before")
        document, reply, answer = intent.document, None, None
        young = self._parts.clock.monotonic() - since < INTENT_MAY_AGE_SECONDS
        if young and self._may_begin and not self._unclear:
            reply = self._parts.client.call(
                document.operation, order_id=document.order_id or None, body=document.body or None, turn_taken=True
            )
        crash_point("send.after")
        if reply is not None and reply.failure == "late":
            reply = None
        if reply is not None:
            answer = judge(reply, operation=document.operation)
            if answer.meaning not in _CLEAR:
                self._unclear.add(document.id)
        return _Finished(document, intent, reply, answer)

    def _ask(self, document: StoredDocument, question: Callable[[], Told]) -> _Finished:
        return _Finished(document, told=question())

    # What came back

    def _collect(self) -> None:
        """Wait for at least one call to come back, or for the next turn; then take all that have."""
        pause = self._not_before - self._parts.clock.monotonic()
        wait = min(pause, _LONGEST_NAP_SECONDS) if pause > 0 and not self._stopped and self._next() else None
        call = self._back(wait) if self._handed else None
        if call is None and not self._handed and wait:
            self._parts.clock.sleep(wait)
        enough, until = self._ahead() // 2, self._parts.clock.monotonic() + _GATHER_SECONDS
        while call is not None:
            del self._handed[call]
            self._take_in(call.result())
            enough -= 1
            call = self._back(until - self._parts.clock.monotonic() if enough > 0 and self._handed else 0)

    def _back(self, wait: float | None) -> Future[_Finished] | None:
        """The next call that came back, within so many seconds; None if there is none."""
        try:
            return self._done.get(timeout=wait) if wait is None or wait > 0 else self._done.get_nowait()
        except Empty:
            return None

    def _take_in(self, finished: _Finished) -> None:
        document, reply, answer = finished.document, finished.reply, finished.answer
        if finished.told is not None:
            self._take_told(document, finished.told)
            return
        outcome = self._note(finished)
        if reply is None or answer is None or finished.intent is None:
            self._queue.appendleft(replace(document, attempts=document.attempts + 1))
            return
        self._quick = reply.elapsed_seconds < _QUICK_SECONDS
        self._adapt(reply)
        if outcome.state == "planned":
            self._count(replace(document, attempts=document.attempts + 1), reply, answer)
            self._may_begin = False  # what was handed out waits as well; a question that failed keeps none back
        else:
            self._react(document, reply, answer, outcome.state)
        self._unclear.discard(document.id)

    def _note(self, finished: _Finished) -> Outcome:
        """What is to be written down about an attempt."""
        document, reply, answer = finished.document, finished.reply, finished.answer
        if reply is None or answer is None:
            outcome = Outcome(document.id, "planned", "not_sent", why=Issue("not_sent.yet"))
        else:
            outcome = outcome_of(document, reply, answer, run=self._run, facts=self._facts)
            if self._history_lost:
                outcome = unless_sent_before(outcome, document, facts=self._facts)
        if document.operation == Operation.ORDER_CREATE and outcome.state == "accepted":
            if is_own_number(document, outcome):
                outcome = replace(outcome, seen=True)
            else:
                self._created.add(document.id)
        self._outcomes.append(outcome)
        return outcome

    def _adapt(self, reply: Reply) -> None:
        """Fewer calls at once for a service that is overloaded (429, 503), more again while it answers."""
        most = float(self._parts.policy.concurrency)
        if reply.status in _OVERLOADED:
            self._lines = max(1.0, min(self._lines, most) / 2)
            self._slowest = min(self._slowest, self._pacer.lowered_to or math.inf)
        elif reply.status is not None and reply.status < 500:
            self._lines = min(most, self._lines + 1 / self._lines)

    def _take_told(self, document: StoredDocument, told: Told) -> None:
        ready = self._first.end(document, told)
        if isinstance(ready, Outcome):
            self._hold(ready, evidence_text="Found before sending.")
        elif told.failed is not None:
            reply, answer = told.failed
            self._count(document, reply, answer)
            if reply.status is not None and reply.status >= 500:
                self._let_others_by(document)
        else:
            self._queue.appendleft(ready)

    def _let_others_by(self, document: StoredDocument) -> None:
        """One document about which the service cannot be asked keeps no others back, but those of its own order."""
        own = [each for each in self._queue if each.id == document.id or each.order_id == document.order_id != ""]
        self._queue = deque(each for each in self._queue if each not in own)
        self._numbers.extend(each.id for each in own)

    def _hold(self, outcome: Outcome, *, evidence_text: str) -> None:
        """A person decides about a planned document, of which nothing was sent."""
        now = self._parts.clock.now().isoformat()
        self._parts.ledger.attempts.settle_document(outcome, expected="planned", now=now, evidence_text=evidence_text)
        self._parts.progress.advance()

    def _react(self, document: StoredDocument, reply: Reply, answer: Answer, written: str) -> None:
        lowered = self._pacer.lowered_to
        self._parts.progress.advance(note=written if lowered is None else f"{written}, slowed to {lowered:.3g}/s")
        if answer.meaning is Meaning.MISADDRESSED:  # a redirect, which is in doubt
            self._stop_misaddressed(reply)
        if written != "in_doubt":
            self._proven, self._doubts, self._failures, self._slow_downs = True, 0, 0, 0
            return
        self._doubts += 1
        self._silent.note(document, reply, answer)
        if answer.looks_like_html and not self._proven:
            self._stop(
                "A web page came back instead of an answer of the service.",
                "Check service.base_url: it points to something else than the API.",
            )
        if self._doubts >= DOUBTS_UNTIL_STOP and self._silent.mean_yes():
            self._proven, self._doubts = True, 0
        elif self._doubts >= DOUBTS_UNTIL_STOP:
            self._stop(
                f"{self._doubts} calls in a row had no trustworthy answer.",
                "Find out what is wrong with the service; run the job again later, doubts are settled first.",
            )

    def _count(self, document: StoredDocument, reply: Reply, answer: Answer) -> None:
        """A call that certainly had no effect: put the document back, then pause or stop."""
        self._queue.appendleft(document)
        if answer.meaning is Meaning.UNAUTHORIZED:
            self._stop(
                "The service does not accept the API key (401).",
                "Check service.api_key: a wrong or expired key, one still in base64 form, or a proxy that drops the "
                "header API_KEY.",
            )
        elif answer.meaning is Meaning.MISADDRESSED:
            self._stop_misaddressed(reply)
        elif answer.meaning is Meaning.SLOW_DOWN:
            self._slow_downs += 1
            self._pause(reply.retry_after_seconds or 2.0 ** min(self._slow_downs - 1, 6))
            if self._slow_downs >= SLOW_DOWNS_UNTIL_STOP:
                self._stop("The service keeps asking to slow down (429).", "Lower service.rate, then run again.")
        else:
            self._failures += 1
            self._pause(2.0 ** (self._failures - 1))
            if self._failures >= FAILURES_UNTIL_STOP:
                self._stop(
                    f"Nothing could be sent: {stop_reason(reply, answer)}",
                    "Check the network and service.base_url, then run the job again.",
                )

    def _stop_misaddressed(self, reply: Reply) -> None:
        self._stop(
            f"The service's address or path is wrong: it answered {reply.status}.",
            "Check service.base_url and service.paths.",
        )

    def _stop(self, reason: str, remedy: str) -> None:
        """Nothing more is to begin; the first reason counts."""
        self._may_begin = False
        if not self._stopped:
            self._stopped, self._remedy = reason, remedy

    def _pause(self, seconds: float) -> None:
        """No turn is taken for so long."""
        pause = min(seconds, _LONGEST_PAUSE_SECONDS)
        self._not_before = max(self._not_before, self._parts.clock.monotonic() + pause)
        self._pacer.slow_down(pause)
