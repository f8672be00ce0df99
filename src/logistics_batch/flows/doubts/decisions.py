"""A person's word about what is held, checked against everything else that is known about the same key."""

from dataclasses import replace

from logistics_batch.errors import UsageError
from logistics_batch.flows.asns.markers import end_alarm
from logistics_batch.flows.doubts.approval import DROPPED, RULE, decided_words, dropped, previews
from logistics_batch.flows.doubts.probe import Calibration, Presence, probe_order
from logistics_batch.flows.orders.looks import ANOTHERS_NUMBER
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import OTHER_SPELLING, REOPENED, Outcome, StoredDocument, kind_of
from logistics_batch.model.document import Operation

SENT_BESIDE = "sent_beside"
"""The kind of evidence of a decision that says that two spellings are two, and both wanted."""


def held_documents(parts: Parts) -> list[StoredDocument]:
    """What waits for a person, oldest first."""
    return parts.ledger.documents.select(states=["held"])


def what_would_go_out(parts: Parts, held_id: int | str) -> list[StoredDocument]:
    """The held document of this number, or all of a file that waits for approval. Raises UsageError: there is none."""
    found = [document for preview in previews(parts) if preview.id == held_id for document in preview.documents] or [
        document for document in held_documents(parts) if document.id == held_id
    ]
    if not found:
        raise UsageError(f"Nothing with the number {held_id} is held.", remedy="See “held list”.")
    return found


def decide(parts: Parts, document_id: int, *, decision: str, reason: str, reissue: bool = False) -> StoredDocument:
    """A person's word about one held document, written down with the reason; returns the document as it is now.

    approve, send-again: it goes out with the next run. accept: the service has it; of an accepted ASN that stood more
    than once at the service, it has it once again. drop: it is not wanted any more.

    Raises:
        UsageError: no such held document, or the decision does not fit what is known about it.
    """
    document = parts.ledger.documents.get(document_id)
    closed = document is not None and (document.state, decision) == ("accepted", "accept")
    if document is not None and closed and end_alarm(parts, document, why=decided_words(parts, reason)):
        return parts.ledger.documents.get(document_id) or document
    if document is None or document.state != "held":
        raise UsageError(f"Nothing with the number {document_id} is held.", remedy="See “held list”.")
    outcome = _decided(parts, document, decision, reason, reissue=reissue)
    beside = decision == "send-again" and document.rule == OTHER_SPELLING
    now, kind = parts.clock.now().isoformat(), SENT_BESIDE if beside else "decision"
    if not parts.ledger.attempts.settle_document(
        outcome, expected="held", now=now, evidence_text=f"{decision}: {reason}", who="operator", kind=kind
    ):
        raise UsageError(f"Document {document_id} is no longer held.", remedy="Look at “held list” again.")
    return parts.ledger.documents.get(document_id) or document


def reopen(parts: Parts, wanted: int | str, *, reason: str) -> list[StoredDocument]:
    """Take a drop back: the file that comes once more is looked at as if that had never been said.

    wanted: the number of a document, or that of a preview, for all of it. Nothing goes out by this alone, and what may
    have arrived before it was dropped is held again. Returns the documents as they are now.

    Raises:
        UsageError: nothing was dropped under this number, it was reopened already, or it changed meanwhile.
    """
    if isinstance(wanted, str):
        found = parts.ledger.documents.dropped_under(wanted)
    else:
        found = [document for document in [parts.ledger.documents.get(wanted)] if document is not None]
    gone = [document for document in found if (document.state, document.rule) == ("abandoned", DROPPED)]
    if not gone:
        raise UsageError(
            f"Nothing that was dropped has the number {wanted}.",
            remedy="Only a drop can be taken back; its number stands in the answers of the file, under “What to do”.",
        )
    why = replace(decided_words(parts, reason), code=f"{REOPENED}.drop")
    outcomes = [Outcome(each.id, "abandoned", "decided", why=why) for each in gone]
    now = parts.clock.now().isoformat()
    if not parts.ledger.attempts.settle_documents(
        outcomes, expected="abandoned", now=now, evidence_text=f"reopen: {reason}", who="operator"
    ):
        raise UsageError(
            f"What was dropped under the number {wanted} has changed meanwhile.",
            remedy="Look at the answers of the file again.",
        )
    return [parts.ledger.documents.get(each.id) or each for each in gone]


def _decided(parts: Parts, document: StoredDocument, decision: str, reason: str, *, reissue: bool) -> Outcome:
    why = decided_words(parts, reason)
    if document.rule == ANOTHERS_NUMBER and decision != "drop":
        raise UsageError(
            f"{document.order_id} is not the AWB number of the order {document.reference}; nothing was sent to it.",
            remedy="Decide “drop”, and drop the file again when the order is settled.",
        )
    if decision == "drop":
        return dropped(parts, document, why)
    if decision == "accept":
        return Outcome(document.id, "accepted", "decided", why=why, accepted_run=document.run)
    if decision == "approve" and document.rule == RULE:
        return Outcome(document.id, "planned", "decided", why=why)
    if decision == "send-again":
        _require_free(parts, document, reissue=reissue)
        return Outcome(document.id, "planned", "decided", why=why)
    raise UsageError(f"“{decision}” does not fit what is held here.", remedy="Decide send-again, accept or drop.")


def _require_free(parts: Parts, document: StoredDocument, *, reissue: bool) -> None:
    """Nothing else under this key may be on its way, undecided or alive before it is sent (again).

    Raises:
        UsageError: says what has to happen first.
    """
    kind = kind_of(document.operation)
    others = [found for found in parts.ledger.documents.generations(document.key, kind=kind) if found.id != document.id]
    if any(found.state in ("sending", "in_doubt", "planned") for found in others):
        raise UsageError(
            "Another version under this key was sent without an answer, or is about to be sent.",
            remedy="Run “settle --wait” and look at “held list” again.",
        )
    if any(found.state == "held" and found.generation < document.generation for found in others):
        raise UsageError("An earlier version is held, too.", remedy="Decide about the earlier version first.")
    if not Operation(document.operation).creates:
        return  # a change may be made as often as it is wanted
    elsewhere = "" if document.rule == OTHER_SPELLING else parts.ledger.planning.spelt_otherwise(document)
    if elsewhere:
        raise UsageError(elsewhere, remedy="If they are one, decide “drop”; else give this one another reference.")
    accepted = [found for found in others if found.state == "accepted"]
    if (accepted or document.rule == "found_cancelled") and not reissue:
        raise UsageError(
            "The service has or had an order under this reference; a second one goes out only with --reissue.",
            remedy="Cancel the earlier order first, then repeat with --reissue.",
        )
    if accepted:
        _require_cancelled(parts, accepted[-1])


def _require_cancelled(parts: Parts, earlier: StoredDocument) -> None:
    if earlier.operation != "order.create":
        raise UsageError(
            "An accepted ASN is not sent a second time.", remedy="Change it at the service, or drop this version."
        )
    if earlier.rule == "cancelled":
        return
    if probe_order(parts.client, earlier, Calibration(False)).presence is not Presence.CANCELLED:
        raise UsageError(
            "The accepted order is not known to be cancelled, so its reference cannot be used again (API §8.4).",
            remedy=f"Cancel it first: logistics-batch order cancel {earlier.awb_number or earlier.reference}",
        )
    parts.ledger.orders.found_cancelled(earlier.id, at=parts.clock.now().isoformat())
