"""Changes of one order or ASN go out one after the other, each after the answer to the one before."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from logistics_batch.flows.dispatch import Dispatcher
from logistics_batch.flows.dispatch_state import DispatchResult
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Outcome, StoredDocument, said_of
from logistics_batch.model.document import Operation


def send_in_turn(parts: Parts, documents: Sequence[StoredDocument], *, run: str) -> DispatchResult:
    """Send documents for a run; what is left when sending stops stays planned.

    Call while holding the ledger's sending lock.
    """
    doubts = 0
    notes: list[str] = []
    result = DispatchResult("", "", 0)
    for each in _rounds(documents):
        result = Dispatcher(parts, run=run).send(_unless_open_before(parts, each))
        doubts += result.doubts
        notes += result.notes
        if result.stopped:
            break
    return replace(result, doubts=doubts, notes=tuple(notes))


def _rounds(documents: Sequence[StoredDocument]) -> list[list[StoredDocument]]:
    """The documents in their order, parted so that no round has two changes of one order or ASN."""
    parted: list[list[StoredDocument]] = [[]]
    earlier: Counter[str] = Counter()
    for document in documents:
        turn = 0
        if not Operation(document.operation).creates:
            turn, earlier[document.key] = earlier[document.key], earlier[document.key] + 1
        while len(parted) <= turn:
            parted.append([])
        parted[turn].append(document)
    return parted


def _unless_open_before(parts: Parts, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Without the changes before which another one of the same order has no end yet: these are held for a person.

    Whether an item is there is not known then, and an update that arrives late would undo the one behind it.
    """
    changes = [document for document in documents if not Operation(document.operation).creates]
    before = parts.ledger.open_changes({change.key for change in changes}) if changes else {}
    free = []
    for document in documents:
        number, state = before.get(document.key, (0, "")) if document in changes else (0, "")
        if not 0 < number < document.id:
            free.append(document)
        else:
            _let_wait(parts, document, rule="earlier_held" if state == "held" else "earlier_in_doubt")
    return free


def _let_wait(parts: Parts, document: StoredDocument, *, rule: str) -> None:
    reason, fix = said_of(rule)
    outcome = Outcome(document.id, "held", "waits", rule=rule, reason=reason, fix=fix)
    now = parts.clock.now().isoformat()
    parts.ledger.settle_document(outcome, expected="planned", now=now, evidence_text=reason)
