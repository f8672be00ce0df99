"""Whether an accepted order is ours: where a service may repeat its first answer, one look (API §4.5) proves it.

A service that answers the second create of a reference with the first answer again accepts an order of somebody else
under our reference, or an earlier version of ours, in the same words as a new one. Where test orders showed that it
refuses the second one (`doctor --staging`), nothing is looked at. Elsewhere each order is looked at whose reference was
sent before from here, and of the others the first ones of a run; if one of these is not ours, all that follow.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

from logistics_batch.api.answers import Answer
from logistics_batch.api.content_match import same_order
from logistics_batch.flows.orders.awb_ownership import Look, look_under
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.known_facts import facts_of
from logistics_batch.flows.push.outcomes import not_believed
from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.order_state import CANCELLED, status_word
from logistics_batch.model.spelling import folded

LOOKS_IN_A_RUN = 25  # at orders whose references are new: half a minute at one call a second
_FRUITLESS_UNTIL_STOP = 3  # in a row: the service does not show orders under their AWB numbers


def may_repeat(parts: Parts) -> bool:
    """Whether the service repeats its first answer for a reference, as far as test orders have not ruled that out."""
    facts = facts_of(parts)
    return facts is None or facts.duplicate != "refused"


def sent_before(parts: Parts, documents: Sequence[StoredDocument]) -> set[int]:
    """Those of these orders under whose reference another document went out from here, whatever became of it."""
    creates = [each.id for each in documents if each.operation == Operation.ORDER_CREATE]
    return parts.ledger.attempts.sent_before(creates) if creates else set()


class AcceptanceProofs:
    """The looks of one run; `look` runs in worker threads, all else where the ledger is owned."""

    def __init__(self, parts: Parts, *, history_lost: bool) -> None:
        self._parts = parts
        self._wanted = may_repeat(parts)
        self._all = history_lost  # of no reference it is known whether it was sent before
        self._sent_before: set[int] = set()
        self._left = LOOKS_IN_A_RUN
        self._fruitless = 0
        self._lock = Lock()

    def prepare(self, documents: Sequence[StoredDocument]) -> None:
        """Look up in the ledger which of these were sent before; call before their calls begin."""
        if self._wanted:
            self._sent_before |= sent_before(self._parts, documents)

    def look(self, document: StoredDocument, answer: Answer) -> Look | None:
        """What the service shows of an order that it has just accepted; None where its word is enough."""
        if not self._wanted or document.operation != Operation.ORDER_CREATE:
            return None
        with self._lock:
            if not self._all and document.id not in self._sent_before:
                if not self._left or self._fruitless >= _FRUITLESS_UNTIL_STOP:
                    return None
                self._left -= 1
        look = look_under(self._parts.client, answer.awb_number or document.reference)
        with self._lock:
            self._fruitless = 0 if look.order is not None else self._fruitless + 1
        return look

    def judged(self, document: StoredDocument, outcome: Outcome, look: Look | None) -> Outcome:
        """The outcome as a look bears it out."""
        if look is None or outcome.state != "accepted":
            return outcome
        proven = borne_out(document, outcome, look, sent_before=document.id in self._sent_before)
        self._all = self._all or (look.order is not None and proven.state != "accepted")
        return proven


def borne_out(document: StoredDocument, outcome: Outcome, look: Look, *, sent_before: bool) -> Outcome:
    """Accepted if the service shows this order, and in doubt if it shows another one, or a cancelled one.

    sent_before: its reference was sent before, so that what is not shown is in doubt, too.
    """
    order = look.order
    if order is None:
        return not_believed(outcome, ".acceptance_not_shown") if sent_before else outcome
    if order.reference_number and folded(order.reference_number) != folded(document.reference):
        return not_believed(outcome, ".others_order")
    if status_word(order.status) == CANCELLED:  # the answer to an earlier attempt, or it was cancelled at once
        return not_believed(outcome, ".cancelled_order")
    if not document.purged and not same_order(document.body, order):
        return not_believed(outcome, ".other_content")
    return replace(outcome, seen=outcome.seen or order.reference_number == document.reference)
