"""The contract's last word on a document, before any byte of it leaves."""

from typing import Any

from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.mapping.documents.documents import body_complaints
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import Complaint, LongitudeName


def broken_contract(document: StoredDocument, *, longitude: LongitudeName) -> Outcome | None:
    """What to write down about a document whose body the contract's model refuses; None where it accepts it.

    Mapping lets no such document pass, by rules for whole columns; this is the same contract by other means, once for
    each document that is sent.
    """
    complaints = body_complaints(document.body, Operation(document.operation), longitude=longitude)
    if not complaints:
        return None
    return Outcome(document.id, "held", "held", why=Issue.of("contract", said=[*map(_said, complaints)]))


def _said(complaint: Complaint) -> tuple[str, dict[str, Any]]:
    said = complaint.code, complaint.values
    return (".of_field", {"field": complaint.field, "said": [said]}) if complaint.field else said
