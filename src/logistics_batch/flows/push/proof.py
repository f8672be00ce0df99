"""What an answer proves in this run beyond its words: who was sent before, what the service shows, whose number it is.

A service that answers the second create of a reference with the first answer again accepts an order of somebody else
under our reference, or an earlier version of ours, in the same words as a new one. Where test orders showed that it
refuses the second one (`doctor --staging`), nothing is looked at. Elsewhere each order is looked at (API §4.5) whose
reference was sent before from here, and of the others the first ones of a run; if one of these is not ours, all that
follow.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from threading import Lock

from logistics_batch.api.answers import Answer
from logistics_batch.api.client import Reply
from logistics_batch.api.content_match import same_order
from logistics_batch.api.key_print import is_print_of
from logistics_batch.flows.orders.awb_ownership import Look, look_under
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import (
    is_own_number,
    not_believed,
    outcome_of,
    unless_sent_before,
    without_others_numbers,
)
from logistics_batch.ledger import Outcome, ServiceFacts, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.order_state import CANCELLED, status_word
from logistics_batch.model.spelling import folded

_FRUITLESS_UNTIL_STOP = 3  # in a row: the service does not show orders under their AWB numbers
_HISTORY_LOST_FOR = timedelta(days=7)  # after an older copy of the ledger was taken up


def facts_of(parts: Parts) -> ServiceFacts | None:
    """What test orders showed with the API key of today; None if nothing was: another key may be another account's."""
    facts = parts.ledger.facts.verified()
    return facts if facts is not None and is_of_this_key(parts, facts) else None


def is_of_this_key(parts: Parts, facts: ServiceFacts) -> bool:
    """Whether facts were seen with the API key of today."""
    return is_print_of(facts.key_print, parts.client.settings)


def history_is_lost(parts: Parts) -> bool:
    """Whether documents may have been sent that the ledger does not know of: an older copy was taken up lately."""
    lately = (parts.clock.now() - _HISTORY_LOST_FOR).isoformat()
    return any(str(each["at"]) >= lately for each in parts.ledger.itself.restorations())


def may_repeat(parts: Parts) -> bool:
    """Whether the service repeats its first answer for a reference, as far as test orders have not ruled that out."""
    facts = facts_of(parts)
    return facts is None or facts.duplicate != "refused"


def sent_before(parts: Parts, documents: Sequence[StoredDocument]) -> set[int]:
    """Those of these orders under whose reference another document went out from here, whatever became of it."""
    creates = {each.id: each.reference for each in documents if each.operation == Operation.ORDER_CREATE}
    if not creates:
        return set()
    sent = parts.ledger.attempts.sent_under(set(creates.values()), operation=Operation.ORDER_CREATE)
    return {number for number, reference in creates.items() if sent.get(reference, set()) - {number}}


class Proofs:
    """From answers to outcomes in one run; `look` runs in worker threads, all else where the ledger is owned."""

    def __init__(self, parts: Parts, *, run: str, history_lost: bool) -> None:
        self._parts = parts
        self._run = run
        self._facts = facts_of(parts)
        self._history_lost = history_lost
        self._looks = may_repeat(parts)
        self._at_all = history_lost  # of no reference it is known whether it was sent before
        self._sent_before: set[int] = set()
        self._numbered: set[int] = set()  # accepted orders to which the service gave an AWB number
        self._fruitless = 0
        self._lock = Lock()

    @property
    def notes(self) -> list[Issue]:
        """What the operator should know about it."""
        unknown = self._facts is None and self._parts.ledger.facts.verified() is not None
        return [Issue("sending.other_key")] if unknown else []

    def prepare(self, documents: Sequence[StoredDocument]) -> None:
        """Look up in the ledger which of these were sent before; call before their calls begin."""
        if self._looks:
            self._sent_before |= sent_before(self._parts, documents)

    def look(self, document: StoredDocument, answer: Answer) -> Look | None:
        """What the service shows of an order that it has just accepted; None where its word is enough."""
        if not self._looks or document.operation != Operation.ORDER_CREATE:
            return None
        with self._lock:
            is_new = not self._at_all and document.id not in self._sent_before
            if is_new and self._fruitless >= _FRUITLESS_UNTIL_STOP:
                return None
        look = look_under(self._parts.client, answer.awb_number or document.reference, finishes=True)
        if look.failed is None:
            with self._lock:
                self._fruitless = 0 if look.order is not None else self._fruitless + 1
        return look

    def outcome(self, document: StoredDocument, reply: Reply, answer: Answer, look: Look | None) -> Outcome:
        """What to write down about an attempt, as far as a look at the order bears it out."""
        outcome = outcome_of(document, reply, answer, run=self._run, facts=self._facts)
        if self._history_lost:
            outcome = unless_sent_before(outcome, document, facts=self._facts)
        if look is not None and outcome.state == "accepted":
            outcome = borne_out(document, outcome, look, sent_before=document.id in self._sent_before)
            self._at_all = self._at_all or (look.order is not None and outcome.state != "accepted")
        if document.operation == Operation.ORDER_CREATE and outcome.state == "accepted":
            if is_own_number(document, outcome):
                return replace(outcome, seen=True)
            self._numbered.add(document.id)
        return outcome

    def believed(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes that are written next; in doubt are orders that got the AWB number of another one."""
        return without_others_numbers(outcomes, orders=self._numbered, owners=self._parts.ledger.awb_numbers.owners)


def borne_out(document: StoredDocument, outcome: Outcome, look: Look, *, sent_before: bool) -> Outcome:
    """Accepted if the service shows this order; in doubt if it shows another one, a cancelled one, or cannot be asked.

    sent_before: its reference was sent before, so that what is not shown is in doubt, too.
    """
    order = look.order
    if look.failed is not None:
        return not_believed(outcome, ".not_looked_at", awb_number=outcome.awb_number)
    if order is None:
        return not_believed(outcome, ".acceptance_not_shown") if sent_before else outcome
    if order.reference_number and folded(order.reference_number) != folded(document.reference):
        return not_believed(outcome, ".others_order")
    if status_word(order.status) == CANCELLED:  # the answer to an earlier attempt, or it was cancelled at once
        return not_believed(outcome, ".cancelled_order")
    if not document.purged and not same_order(document.body, order):
        return not_believed(outcome, ".other_content")
    return replace(outcome, seen=outcome.seen or order.reference_number == document.reference)
