"""What is asked or looked up before a document goes out for the first time, and whether it may go out then."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import polars as pl

from logistics_batch.flows.asns.search import Baseline, EmptySearches, take_baseline
from logistics_batch.flows.orders.awb_ownership import Look, OrderLooks, believe, look_at, look_under
from logistics_batch.flows.orders.search import OrderSearch, Presence
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.outcomes import cancelled_in_doubt
from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.mapping.documents.documents import body_complaints
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import LongitudeName

Told = Baseline | Look


class Preflight:
    """The questions of one run: what the service has like a new ASN, and whose the number of a changed order is.

    Where the ledger lost its latest history, each order is asked for, too: it may have been sent unknown to it.
    The thread that owns the ledger calls all of this; what `begin` gives may run in any other.
    """

    def __init__(self, parts: Parts, *, history_lost: bool) -> None:
        self._parts = parts
        self.looks = OrderLooks(parts)
        self._first: StoredDocument | None = None  # an ASN of this run that went out when none was known to be there
        self._history_lost = history_lost
        self._asked: set[int] = set()  # orders

    @cached_property
    def _empty(self) -> EmptySearches:
        return EmptySearches(self._parts.client)

    def unfit(self, document: StoredDocument) -> Outcome | None:
        """What to write down about a document that must not go out, as far as that can be told without asking."""
        broken = validate_body(document, longitude=self._parts.policy.longitude)
        return broken or self.looks.without_number(document)

    def needed(self, document: StoredDocument) -> bool:
        """Whether the service has to be asked, which is a call of its own."""
        return self._of_asn(document) or self._may_be_there(document) or self.looks.needed(document)

    def begin(self, document: StoredDocument) -> Callable[[], Told]:
        """The question; the turn for its call is taken."""
        client = self._parts.client
        if self._of_asn(document):
            known = self._parts.ledger.documents.last_accepted(Operation.ASN_CREATE) or self._first
            empty = self._empty  # one for all threads
            return lambda: take_baseline(client, document, empty=empty, known=known)
        if self._may_be_there(document):
            return lambda: look_under(client, document.reference, turn_taken=True)
        order = self.looks.begin(document)
        return lambda: look_at(client, order, turn_taken=True)

    def end(self, document: StoredDocument, told: Told) -> StoredDocument | Outcome:
        """The document as it may go out now, or what to write down about it if it must not."""
        if isinstance(told, Look) and self._may_be_there(document):
            return self._there(document, told) if told.failed is None else document
        if isinstance(told, Look):
            return self.looks.end(document, told) or document
        if told.failed is not None and document.send_approved and told.failed[1].is_about_document:
            told = Baseline(whole=False)  # a person has looked where the service does not let us
        if told.failed is not None:
            return document
        if told.already_there and not document.send_approved:  # a person who released it has seen what is there
            return Outcome(document.id, "held", "held", why=Issue("already_present"))
        self._first = self._first or document
        self._parts.ledger.attempts.set_baseline(document.id, told.text)
        return replace(document, baseline=told.text)

    def _may_be_there(self, document: StoredDocument) -> bool:
        """Whether this order may have been sent in the history that is lost, and was not asked for yet."""
        creates = document.operation == Operation.ORDER_CREATE
        return self._history_lost and creates and document.id not in self._asked

    def _there(self, document: StoredDocument, look: Look) -> StoredDocument | Outcome:
        """What the service shows under the reference of an order settles it; what it does not show goes out."""
        self._asked.add(document.id)
        if look.order is None:
            return document
        probe = OrderSearch(self._parts.client, self._parts.ledger, [document]).judge(document, look.order)
        believe(self._parts, document, probe)
        match probe.presence:
            case Presence.PRESENT:
                found = Outcome(document.id, "accepted", "accepted", why=Issue("settled"), accepted_run=document.run)
                return replace(found, awb_number=probe.awb_number, order_id=probe.order_id, seen=probe.named)
            case Presence.CANCELLED:
                return cancelled_in_doubt(document, probe.awb_number)
            case Presence.FOREIGN:
                return Outcome(document.id, "held", "held", why=Issue("reference_taken.other_content"))
        return document

    def _of_asn(self, document: StoredDocument) -> bool:
        return document.operation == Operation.ASN_CREATE and not document.baseline


def hold_behind_open_changes(parts: Parts, changes: pl.DataFrame) -> set[int]:
    """Hold the changes before which another one of the same order has no end yet; gives their numbers.

    Whether an item is there is not known then, and an update that arrives late would undo the one behind it. changes:
    PLANNED.
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
        parts.ledger.attempts.settle(outcome, expected="planned", now=now, evidence_text=outcome.why.reason)
    return set(waits)


def validate_body(document: StoredDocument, *, longitude: LongitudeName) -> Outcome | None:
    """What to write down about a document whose body the contract's model refuses; None where it accepts it.

    Mapping lets no such document pass, by rules for whole columns; this is the same contract by other means, once for
    each document that is sent.
    """
    complaints = body_complaints(document.body, Operation(document.operation), longitude=longitude)
    if not complaints:
        return None
    said: list[tuple[str, dict[str, Any]]] = [
        (".of_field", {"field": each.field, "said": [(each.code, each.values)]})
        if each.field
        else (each.code, each.values)
        for each in complaints
    ]
    return Outcome(document.id, "held", "held", why=Issue.of("contract", said=said))
