"""What was accepted and came again with other content goes out as an update, where a job asks for that.

One call brings all of the change, or nothing is sent and the new version is held with the reason. A document also goes
out as an update where it comes back to what it was first, after an update was sent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Arrival, Decision, StoredDocument, kind_of
from logistics_batch.mapping.documents.changes import Accepted, CannotUpdate, asn_update, order_update
from logistics_batch.model.asn_marker import without_marker
from logistics_batch.model.document import Document, Operation
from logistics_batch.model.document_state import ENDED, NOT_TAKEN

_WAITED = ("changed_after_acceptance", "earlier_in_doubt", "earlier_held")  # versions of which nothing was sent
_CAME = ("planned", "sending", "in_doubt", "held", "accepted")  # states of updates that count
_UPDATE_OF = {Operation.ORDER_CREATE: Operation.ORDER_UPDATE, Operation.ASN_CREATE: Operation.ASN_UPDATE}


def with_updates(parts: Parts, arrival: Arrival) -> Arrival:
    """The same file, with an update in the place of each create that was accepted with other content."""
    mapped = arrival.mapped
    if mapped is None or arrival.held is not None or arrival.operation not in _UPDATE_OF:
        return arrival
    decisions = parts.ledger.planning.evaluate(arrival, mapped.documents)
    updates = _updates(parts, mapped.documents)
    documents = tuple(
        _rerouted(parts, document, decision, updates.get(document.reference, ()))
        for document, decision in zip(mapped.documents, decisions, strict=True)
    )
    return replace(arrival, mapped=replace(mapped, documents=documents))


def _updates(parts: Parts, documents: Sequence[Document]) -> dict[str, list[StoredDocument]]:
    """By reference the updates that stand for creates, oldest first."""
    found: dict[str, list[StoredDocument]] = {}
    kinds, references = list(_UPDATE_OF.values()), list({document.reference: None for document in documents})
    for update in parts.ledger.documents.select(operations=kinds, states=_CAME, references=references):
        if update.asked in _UPDATE_OF:
            found.setdefault(update.reference, []).append(update)
    return found


def _rerouted(parts: Parts, document: Document, decision: Decision, updates: Iterable[StoredDocument]) -> Document:
    if decision.rule != "changed_after_acceptance" and decision.action != "unchanged":
        return document
    created = _living(parts, document)
    if created is None:
        return document
    own = [update for update in updates if update.key in (created.awb_number, created.key)]
    if decision.action == "unchanged" and not own:
        return document
    try:
        return _update(parts, document, created, own)
    except CannotUpdate as cannot:
        return replace(document, no_update=cannot.why)


def _living(parts: Parts, document: Document) -> StoredDocument | None:
    """The version that the service has, if it is the only one that still counts."""
    history = parts.ledger.documents.generations(document.key, kind=kind_of(document.operation))
    accepted = [found for found in history if found.state == "accepted" and found.rule != "cancelled"]
    waits = [found for found in history if found.state == "held" and found.rule in _WAITED]
    settled = all(found.state in ENDED or found in waits for found in history)
    return accepted[-1] if accepted and settled else None


def _update(parts: Parts, document: Document, created: StoredDocument, updates: Sequence[StoredDocument]) -> Document:
    """The update that stands for a create. Raises CannotUpdate."""
    if not created.body or not all(update.body for update in updates):
        raise CannotUpdate(".nothing_to_compare")
    said = (without_marker(each.body, created.marker) for each in (created, *updates))
    accepted = Accepted(tuple(said), created.items)
    if document.operation is Operation.ASN_CREATE:
        return _asn_update(parts, document, accepted)
    if not created.awb_number:
        raise CannotUpdate(".awb_unknown")
    try:
        path = parts.client.path(Operation.ORDER_UPDATE, order_id=created.awb_number)
    except UsageError as error:
        raise CannotUpdate(".awb_unusable") from error
    body = order_update(document.body, accepted=accepted, lent=document.lent)
    return replace(
        document,
        key=created.awb_number,
        operation=Operation.ORDER_UPDATE,
        body=body,
        line_rows=document.line_rows if '"item_details"' in body else (),
        order_id=created.awb_number,
        path=path,
    )


def _asn_update(parts: Parts, document: Document, accepted: Accepted) -> Document:
    if not parts.policy.updates_asns:
        raise CannotUpdate(".asn_identity")
    same = parts.ledger.documents.select(operations=[Operation.ASN_CREATE], references=[document.reference])
    if any(found.key != document.key and found.state not in NOT_TAKEN for found in same):
        raise CannotUpdate(".invoice_shared")
    return replace(document, operation=Operation.ASN_UPDATE, body=asn_update(document.body, accepted=accepted))
