"""Files that wait for a person's approval: one word for all that would go out, bound to its exact content."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Outcome, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

RULE = "approval"
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


def decided_words(parts: Parts, reason: str) -> Issue:
    """What a row is told of a person's decision."""
    return Issue.of("decided", at=parts.clock.now().isoformat(" ", "minutes")[:16], reason=reason)


def dropped(parts: Parts, document: StoredDocument, why: Issue, *, number: str = "") -> Outcome:
    """What becomes of a document that is not wanted any more, how that is taken back, and what the service still has.

    number: under which it was dropped; "" is its own.
    """
    alive, variant = _alive_beside(parts, document), ""
    if alive is not None:
        is_order = alive.operation == Operation.ORDER_CREATE
        variant = ".asn_stays" if not is_order else ".order_ships" if alive.awb_number else ".order_ships_numberless"
    given = why.given | {"number": number or str(document.id), "awb_number": alive.awb_number if alive else ""}
    return Outcome(document.id, "abandoned", "decided", why=Issue.of(DROPPED + variant, **given))


def _alive_beside(parts: Parts, document: StoredDocument) -> StoredDocument | None:
    """The accepted order or ASN of which this is another version; None if there is none, or it was cancelled."""
    if not Operation(document.asked).creates:
        return None
    found = parts.ledger.documents.select(
        operations=[document.asked], states=["accepted"], references=[document.reference or document.key]
    )
    same = [each for each in found if document.operation != document.asked or each.key == document.key]
    return same[-1] if same and same[-1].rule != "cancelled" else None


def previews(parts: Parts) -> list[Preview]:
    """What waits for an approval, a file at a time, oldest first."""
    by_file: dict[tuple[str, str], list[StoredDocument]] = {}
    for document in parts.ledger.documents.select(states=["held"]):
        if document.rule == RULE:
            by_file.setdefault((document.run, document.file_name), []).append(document)
    return [Preview(preview_id(map(_call, documents)), tuple(documents)) for documents in by_file.values()]


def _call(document: StoredDocument) -> tuple[str, str, str, str, str]:
    return document.method, document.path, document.operation, document.key, document.body


def decide_preview(parts: Parts, wanted: str, *, decision: str, reason: str) -> Preview:
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
    if decision not in ("approve", "drop"):
        raise UsageError(f"“{decision}” does not fit a file that waits for approval.", remedy="Decide approve or drop.")
    now, why = parts.clock.now(), decided_words(parts, reason)
    outcomes = [
        Outcome(each.id, "planned", "decided", why=why)
        if decision == "approve"
        else dropped(parts, each, why, number=wanted)
        for each in found.documents
    ]
    evidence = f"{decision} {wanted}: {reason}"
    if not parts.ledger.attempts.settle_documents(
        outcomes, expected="held", now=now.isoformat(), evidence_text=evidence, who="operator"
    ):
        raise UsageError("What would go out has changed meanwhile.", remedy="Look at “held list” again.")
    return found
