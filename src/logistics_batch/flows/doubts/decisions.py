"""A person's word about what is held, about one document or a whole file, checked against all else under its key."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from logistics_batch.errors import UsageError
from logistics_batch.flows.asns.markers import end_alarm, has_alarm
from logistics_batch.flows.orders.search import Calibration, Presence, probe_order
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import FOUND_CANCELLED, OTHER_SPELLING, REOPENED, Decided, Outcome, StoredDocument, kind_of
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import OF_WHAT_IS_HELD, UNSENT, HeldDecision, WaitsFor
from logistics_batch.model.document import Operation
from logistics_batch.model.document_state import UNANSWERED, DocumentState
from logistics_batch.model.issue import Issue

DROPPED = "dropped"
_MARK = "preview-"
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Preview:
    """What would go out of one file; id: a digest of all of it, so that an approval of anything else does not fit."""

    id: str
    documents: tuple[StoredDocument, ...]

    @property
    def file_name(self) -> str:
        """The file that all of it came in."""
        return self.documents[0].file_name


def preview_id(calls: Iterable[tuple[str, str, str, str, str]]) -> str:
    """The number under which exactly these calls can be approved: method, path, operation, key and body of each."""
    calls = sorted(calls)
    return _MARK + hashlib.sha256(repr(calls).encode()).hexdigest()[:_DIGITS]


def previews(parts: Parts) -> list[Preview]:
    """What waits for an approval, a file at a time, oldest first."""
    by_file: dict[tuple[str, str], list[StoredDocument]] = {}
    for document in held_documents(parts):
        if document.waits_for == WaitsFor.APPROVAL:
            by_file.setdefault((document.run, document.file_name), []).append(document)
    return [
        Preview(preview_id((e.method, e.path, e.operation, e.key, e.body) for e in documents), tuple(documents))
        for documents in by_file.values()
    ]


def held_documents(parts: Parts) -> list[StoredDocument]:
    """What waits for a person, oldest first."""
    return parts.ledger.documents.select(states=["held"])


def decide(
    parts: Parts, document_id: int, *, decision: str, reason: str, reissue: bool = False, dry_run: bool = False
) -> StoredDocument:
    """A person's word about one held document, written down with the reason; returns the document as it is now.

    approve, send-again: it goes out with the next run. accept: the service has it; of an accepted ASN that stood more
    than once at the service, it has it once again. drop: it is not wanted any more. dry_run: it is looked at whether
    that can be decided, and nothing is written.

    Raises:
        UsageError: no such held document, or the decision does not fit what is known about it.
    """
    document, choice = parts.ledger.documents.get(document_id), HeldDecision(decision)
    closed = document is not None and (document.state, choice) == ("accepted", HeldDecision.ACCEPT)
    if document is not None and closed and has_alarm(parts, document):
        if not dry_run:
            end_alarm(parts, document, why=_decided(parts, reason))
        return parts.ledger.documents.get(document_id) or document
    if document is None or document.state != "held":
        raise UsageError(f"Nothing with the number {document_id} is held.", remedy="See “held list”.")
    if document.account != parts.ledger.account:
        raise UsageError(
            f"Document {document_id} is held for {document.account}, another address of the service.",
            remedy="Write service.base_url so again, and decide there.",
        )
    choices = reason_of(document.why.code).choices
    if document.may_exist and choices == UNSENT:  # as all that was open in an older copy of the ledger
        choices = OF_WHAT_IS_HELD
    if choices == (HeldDecision.DROP,) and choice is not HeldDecision.DROP:
        raise UsageError(
            f"{document.order_id} is not the AWB number of the order {document.reference}; nothing was sent to it.",
            remedy="Decide “drop”, and drop the file again when the order is settled.",
        )
    if choice not in choices:
        fitting = ", ".join(each for each in choices if each is not HeldDecision.APPROVE)
        remedy = f"Decide {' or '.join(fitting.rsplit(', ', 1))}."
        raise UsageError(f"“{decision}” does not fit what is held here.", remedy=remedy)
    if choice is HeldDecision.SEND_AGAIN:
        _require_free(parts, document, reissue=reissue, dry_run=dry_run)
    if not dry_run and not write_choice(parts, [document], choice, reason, expected="held"):
        raise UsageError(f"Document {document_id} is no longer held.", remedy="Look at “held list” again.")
    return parts.ledger.documents.get(document_id) or document


def decide_preview(parts: Parts, wanted: str, *, decision: str, reason: str, dry_run: bool = False) -> Preview:
    """A person's word about a whole file, written down with the reason. approve: it goes out with the next run.

    Raises:
        UsageError: nothing like that waits, it has changed since it was looked at, or the decision does not fit.
    """
    found = next((preview for preview in previews(parts) if preview.id == wanted), None)
    if found is None:
        raise UsageError(
            f"Nothing waits under the number {wanted}.",
            remedy="It was decided, or what would go out has changed since: look at “held list” again.",
        )
    choice = HeldDecision(decision)
    if choice not in (HeldDecision.APPROVE, HeldDecision.DROP):
        raise UsageError(f"“{decision}” does not fit a file that waits for approval.", remedy="Decide approve or drop.")
    if not dry_run and not write_choice(parts, found.documents, choice, reason, expected="held", number=wanted):
        raise UsageError("What would go out has changed meanwhile.", remedy="Look at “held list” again.")
    return found


def reopen(parts: Parts, wanted: int | str, *, reason: str, dry_run: bool = False) -> list[StoredDocument]:
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
    if not dry_run and not write_choice(parts, gone, HeldDecision.REOPEN, reason, expected="abandoned"):
        raise UsageError(
            f"What was dropped under the number {wanted} has changed meanwhile.",
            remedy="Look at the answers of the file again.",
        )
    return [parts.ledger.documents.get(each.id) or each for each in gone]


def write_choice(
    parts: Parts,
    documents: Sequence[StoredDocument],
    choice: HeldDecision,
    reason: str,
    *,
    expected: str,
    number: str = "",
) -> bool:
    """Write down what a person decided about all of these documents; False if one is no longer in state `expected`.

    number: under which a drop is taken back, that of a preview; "" is each document's own.
    """
    now = parts.clock.now().isoformat()
    outcomes = [_outcome(parts, each, choice, reason, number=number or str(each.id)) for each in documents]
    decided = Decided(choice, reason)
    return parts.ledger.attempts.settle_documents(outcomes, expected=expected, now=now, decided=decided)


def _decided(parts: Parts, reason: str) -> Issue:
    """What a row is told of a person's decision."""
    return Issue.of("decided", at=parts.clock.now().isoformat(" ", "minutes")[:16], reason=reason)


def _outcome(parts: Parts, document: StoredDocument, choice: HeldDecision, reason: str, *, number: str) -> Outcome:
    why = _decided(parts, reason)
    match choice:
        case HeldDecision.ACCEPT:
            return Outcome(document.id, "accepted", "decided", why=why, accepted_run=document.run)
        case HeldDecision.DROP:
            return Outcome(document.id, "abandoned", "decided", why=_dropped(parts, document, why, number=number))
        case HeldDecision.REOPEN:
            return Outcome(document.id, "abandoned", "decided", why=replace(why, code=f"{REOPENED}.drop"))
        case _:
            return Outcome(document.id, "planned", "decided", why=why)


def _dropped(parts: Parts, document: StoredDocument, why: Issue, *, number: str) -> Issue:
    """What is told of a document that is not wanted any more: how that is taken back, what the service still has."""
    alive, variant = _alive_beside(parts, document), ""
    if alive is not None:
        is_order = alive.operation == Operation.ORDER_CREATE
        variant = ".asn_stays" if not is_order else ".order_ships" if alive.awb_number else ".order_ships_numberless"
    given = why.given | {"number": number, "awb_number": alive.awb_number if alive else ""}
    return Issue.of(DROPPED + variant, **given)


def _alive_beside(parts: Parts, document: StoredDocument) -> StoredDocument | None:
    """The accepted order or ASN of which this is another version; None if there is none, or it was cancelled."""
    if not Operation(document.asked).creates:
        return None
    found = parts.ledger.documents.select(
        operations=[document.asked], states=["accepted"], references=[document.reference or document.key]
    )
    same = [each for each in found if document.operation != document.asked or each.key == document.key]
    return same[-1] if same and same[-1].rule != "cancelled" else None


def _require_free(parts: Parts, document: StoredDocument, *, reissue: bool, dry_run: bool) -> None:
    """Nothing else under this key may be on its way, undecided or alive before it is sent (again).

    Raises:
        UsageError: says what has to happen first.
    """
    kind = kind_of(document.operation)
    others = [found for found in parts.ledger.documents.generations(document.key, kind=kind) if found.id != document.id]
    if any(found.state in (*UNANSWERED, DocumentState.PLANNED) for found in others):
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
    if (accepted or document.rule == FOUND_CANCELLED) and not reissue:
        raise UsageError(
            "The service has or had an order under this reference; a second one goes out only with --reissue.",
            remedy="Cancel the earlier order first, then repeat with --reissue.",
        )
    if accepted:
        _require_cancelled(parts, accepted[-1], dry_run=dry_run)


def _require_cancelled(parts: Parts, earlier: StoredDocument, *, dry_run: bool) -> None:
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
    if not dry_run:
        parts.ledger.awb_numbers.found_cancelled(earlier.id, at=parts.clock.now().isoformat())
