"""A person's word about what is held, about one document or a whole file, checked against all else under its key."""

from collections.abc import Sequence
from dataclasses import replace

from logistics_batch.errors import UsageError
from logistics_batch.flows.asns.search import end_alarm, has_alarm
from logistics_batch.flows.doubts.held import DROPPED, HeldId, HeldLine, choices_of, everything_held, held_under
from logistics_batch.flows.files.waiting_files import close_held_file
from logistics_batch.flows.orders.search import Calibration, Presence, probe_order
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import FOUND_CANCELLED, OTHER_SPELLING, REOPENED, Decided, Outcome, StoredDocument, kind_of
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.model.counting import counted
from logistics_batch.model.document import UNANSWERED, DocumentState, Operation
from logistics_batch.model.issue import Issue

_LOOK_AGAIN = "Look at “held list” again."


def decide_held(
    parts: Parts, held_id: HeldId, *, decision: str, reason: str, reissue: bool, dry_run: bool = False
) -> str:
    """A person's word about anything that is held, written down with the reason; what became of it, in words.

    dry_run: it is looked at whether that can be decided, and nothing is written.

    Raises UsageError: nothing of that number is held, or the decision does not fit what is known about it.
    """
    name = str(held_id)
    if name.startswith("file-"):
        file = close_held_file(parts, name, decision=decision, reason=reason, dry_run=dry_run)
        return f"{file.name} of run {file.run} is no longer waited for."
    if name.startswith("http"):
        gone = _drop_elsewhere(parts, name, decision=decision, reason=reason, dry_run=dry_run)
        return f"{counted(len(gone), 'document')} planned for {name}: dropped."
    if decision == HeldDecision.REOPEN:
        again = counted(len(reopen(parts, held_id, reason=reason, dry_run=dry_run)), "document")
        return f"{again} reopened: drop the file again, and it is looked at as if nothing had been decided."
    if isinstance(held_id, str):
        preview = _decide_preview(parts, held_id, decision=decision, reason=reason, dry_run=dry_run)
        end = "goes out with the next run" if decision == HeldDecision.APPROVE else "is dropped"
        return f"{preview.file_name}, {counted(len(preview.documents), 'document')}: {end}."
    document = decide(parts, held_id, decision=decision, reason=reason, reissue=reissue, dry_run=dry_run)
    ends = {DocumentState.PLANNED: "goes out with the next run", DocumentState.ABANDONED: "is dropped"}
    now = ends.get(DocumentState(document.state), f"is now {document.state}")
    return f"{document.reference} ({document.operation}) {now}."


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
    choices = choices_of(document)
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
    if not dry_run and not _write_choice(parts, [document], choice, reason, expected="held"):
        raise UsageError(f"Document {document_id} is no longer held.", remedy=_LOOK_AGAIN)
    return parts.ledger.documents.get(document_id) or document


def _decide_preview(parts: Parts, wanted: str, *, decision: str, reason: str, dry_run: bool) -> HeldLine:
    """A person's word about all that would go out of a file, if that is still what was looked at."""
    found = next((each for each in everything_held(parts) if each.id == wanted), None)
    if found is None:
        raise UsageError(
            f"Nothing waits under the number {wanted}.",
            remedy="It was decided, or what would go out has changed since: look at “held list” again.",
        )
    choice = HeldDecision(decision)
    if choice not in (HeldDecision.APPROVE, HeldDecision.DROP):
        raise UsageError(f"“{decision}” does not fit a file that waits for approval.", remedy="Decide approve or drop.")
    if not dry_run and not _write_choice(parts, found.documents, choice, reason, expected="held", number=wanted):
        raise UsageError("What would go out has changed meanwhile.", remedy=_LOOK_AGAIN)
    return found


def _drop_elsewhere(
    parts: Parts, address: str, *, decision: str, reason: str, dry_run: bool
) -> Sequence[StoredDocument]:
    """Close what was planned for another address of the service; what may have arrived there stays as it is."""
    found = held_under(parts, address)
    if HeldDecision.DROP not in reason_of(found.why.code).choices:
        raise UsageError(f"{address} accepted others, so it is not mistyped.", remedy=found.fix)
    if decision != HeldDecision.DROP:
        raise UsageError(
            f"“{decision}” does not fit what was planned for another address of the service.",
            remedy="Write service.base_url so again to send it, or decide “drop”.",
        )
    for state in {document.state for document in found.documents}:
        some = [each for each in found.documents if each.state == state]
        if not dry_run and not _write_choice(parts, some, HeldDecision.DROP, reason, expected=state):
            raise UsageError("What was planned there has changed meanwhile.", remedy=_LOOK_AGAIN)
    return found.documents


def reopen(parts: Parts, wanted: HeldId, *, reason: str, dry_run: bool = False) -> list[StoredDocument]:
    """Take a drop back: the file that comes once more is looked at as if that had never been said.

    wanted: the number of a document, or that of a preview, for all of it. Nothing goes out by this alone, and what may
    have arrived before it was dropped is held again. Returns the documents as they are now.

    Raises:
        UsageError: nothing was dropped under this number, it was reopened already, or it changed meanwhile.
    """
    documents = parts.ledger.documents
    found = documents.dropped_under(wanted) if isinstance(wanted, str) else [documents.get(wanted)]
    gone = [each for each in found if each is not None and (each.state, each.rule) == ("abandoned", DROPPED)]
    if not gone:
        raise UsageError(
            f"Nothing that was dropped has the number {wanted}.",
            remedy="Only a drop can be taken back; its number stands in the answers of the file, under “What to do”.",
        )
    if not dry_run and not _write_choice(parts, gone, HeldDecision.REOPEN, reason, expected="abandoned"):
        raise UsageError(
            f"What was dropped under the number {wanted} has changed meanwhile.",
            remedy="Look at the answers of the file again.",
        )
    return [documents.get(each.id) or each for each in gone]


def _write_choice(
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
    why = _decided(parts, reason)
    outcomes = []
    for each in documents:
        match choice:
            case HeldDecision.ACCEPT:
                outcome = Outcome(each.id, "accepted", "decided", why=why, accepted_run=each.run)
            case HeldDecision.DROP:
                told = _told_of_drop(parts, each, why, number=number or str(each.id))
                outcome = Outcome(each.id, "abandoned", "decided", why=told)
            case HeldDecision.REOPEN:
                outcome = Outcome(each.id, "abandoned", "decided", why=replace(why, code=f"{REOPENED}.drop"))
            case _:
                outcome = Outcome(each.id, "planned", "decided", why=why)
        outcomes.append(outcome)
    decided = Decided(choice, reason, parts.person)
    return parts.ledger.attempts.settle(*outcomes, expected=expected, now=parts.now, decided=decided)


def _decided(parts: Parts, reason: str) -> Issue:
    """What a row is told of a person's decision."""
    return Issue.of("decided", at=parts.now, reason=reason)


def _told_of_drop(parts: Parts, document: StoredDocument, why: Issue, *, number: str) -> Issue:
    """What is told of a document that is not wanted any more: how that is taken back, what the service still has.

    It has the accepted order or ASN of which this is another version, unless that was cancelled.
    """
    same: list[StoredDocument] = []
    if Operation(document.asked).creates:
        names = [document.reference or document.key]
        found = parts.ledger.documents.select(operations=[document.asked], states=["accepted"], references=names)
        same = [each for each in found if document.operation != document.asked or each.key == document.key]
    alive, variant = (same[-1] if same and same[-1].rule != "cancelled" else None), ""
    if alive is not None:
        is_order = alive.operation == Operation.ORDER_CREATE
        variant = ".asn_stays" if not is_order else ".order_ships" if alive.awb_number else ".order_ships_numberless"
    given = why.given | {"number": number, "awb_number": alive.awb_number if alive else ""}
    return Issue.of(DROPPED + variant, **given)


def _require_free(parts: Parts, document: StoredDocument, *, reissue: bool, dry_run: bool) -> None:
    """Nothing else under this key may be on its way, undecided or alive before it is sent (again).

    Raises:
        UsageError: says what has to happen first.
    """
    generations = parts.ledger.documents.generations(document.key, kind=kind_of(document.operation))
    others = [found for found in generations if found.id != document.id]
    if any(found.state == DocumentState.PLANNED for found in others):
        raise UsageError(
            "Another version under this key is about to be sent.",
            remedy="It goes out with the next run of its job; decide after that.",
        )
    if any(found.state in UNANSWERED for found in others):
        raise UsageError(
            "Another version under this key was sent without an answer.",
            remedy="Run “settle --wait” and look at “held list” again.",
        )
    if any(found.state == "held" and found.generation < document.generation for found in others):
        raise UsageError("An earlier version is held, too.", remedy="Decide about the earlier version first.")
    if not Operation(document.operation).creates:
        return  # a change may be made as often as it is wanted
    if parts.ledger.planning.is_waited_for(document):
        raise UsageError(
            "A newer version waits for the end of this one, which it was to replace.",
            remedy="Decide “drop” about this one, then what becomes of the newer version.",
        )
    elsewhere = "" if document.rule == OTHER_SPELLING else parts.ledger.planning.spelt_otherwise(document)
    if elsewhere:
        raise UsageError(elsewhere, remedy="If they are one, decide “drop”; else give this one another reference.")
    accepted = [found for found in others if found.state == "accepted"]
    if (accepted or document.rule == FOUND_CANCELLED) and not reissue:
        raise UsageError(
            "The service has or had an order under this reference; a second one goes out only with --reissue.",
            remedy="Cancel the earlier order first, then repeat with --reissue.",
        )
    if not accepted:
        return
    earlier = accepted[-1]
    if earlier.operation != Operation.ORDER_CREATE:
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
        parts.ledger.awb_numbers.found_cancelled(earlier.id, at=parts.now)
