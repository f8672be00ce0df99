"""Files that wait for a person's approval: one word for all that would go out, bound to its exact content."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Outcome, StoredDocument
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


def dropped(document: StoredDocument, why: Issue, *, number: str = "") -> Outcome:
    """What becomes of a document that is not wanted any more, and how that is taken back."""
    why = Issue.of(DROPPED, number=number or str(document.id), **why.given)
    return Outcome(document.id, "abandoned", "decided", why=why)


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
        Outcome(each.id, "planned", "decided", why=why) if decision == "approve" else dropped(each, why, number=wanted)
        for each in found.documents
    ]
    evidence = f"{decision} {wanted}: {reason}"
    if not parts.ledger.attempts.settle_documents(
        outcomes, expected="held", now=now.isoformat(), evidence_text=evidence, who="operator"
    ):
        raise UsageError("What would go out has changed meanwhile.", remedy="Look at “held list” again.")
    return found
