"""The statements that move documents and complete attempts, for many documents at once.

What an order costs here is paid for every order sent, so one statement serves many of them (see `bulk`). Each change
names the state that it starts from, and says whether it found it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, select

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import Change, among, insert_all, update_found
from logistics_batch.ledger.connection import digest, dump
from logistics_batch.ledger.records import Decided, Outcome, StoredDocument
from logistics_batch.ledger.schema import Answered, attempt, cancelled_number, decision, document, evidence, file, row
from logistics_batch.messages import packed
from logistics_batch.messages.documents import reason_of
from logistics_batch.model.document import DocumentState
from logistics_batch.model.issue import Issue

FOUND_CANCELLED: Final = "found_cancelled"
"""The rule of an order in doubt that is held because it reached the service and was cancelled there."""
_SHOWN: Final = (Answered.FRESH, Answered.IN_WRITING)


@dataclass(frozen=True, slots=True)
class Intent:
    """A claimed document and the number of the attempt that may now send it."""

    document: StoredDocument
    n: int


class StateConflict(Exception):
    """A document is not in the state that was expected; nothing of the transaction counts."""

    def __init__(self, document_id: int) -> None:
        super().__init__(document_id)
        self.document_id = document_id


def in_state(state: str, why: Issue) -> dict[str, Any]:
    """The columns of a document that comes into a state: what its reason says, and whether it may exist."""
    reason = reason_of(why.code)
    values = {"state": str(state), "code": why.code, "values": why.values, "waits_for": str(reason.waits_for)}
    return values | ({"may_exist": 1} if reason.may_exist or state == DocumentState.IN_DOUBT else {})


def mark_stale(connection: Connection, *document_ids: int) -> None:
    """Every file with a row of these documents has to be answered again: its results no longer show what is known."""
    asking = select(row.c.file_id).where(among(connection, row.c.document_id, document_ids))
    connection.execute(
        file.update().where(file.c.id.in_(asking), file.c.stale.in_(_SHOWN)).values(stale=Answered.STALE)
    )


def claim_all(
    connection: Connection, wanted: Sequence[StoredDocument], *, by: Mapping[str, Any], now: str, expected: str
) -> list[Intent]:
    """Claim the documents that are still in state `expected`, and open an attempt of each.

    by: who sends them, and for which run, as attempts hold it.
    """
    changes = [
        Change(
            {"id": each.id, "state": expected, "attempts": each.attempts},
            {"state": "sending", "attempts": each.attempts + 1, "doubt_since": now},
        )
        for each in wanted
    ]
    claimed = {number for (number,) in update_found(connection, document, changes, told=("id",))}
    intents = [Intent(each, each.attempts + 1) for each in wanted if each.id in claimed]
    opened = [
        {
            "document_id": intent.document.id,
            "n": intent.n,
            "intent_at": now,
            "request_sha256": digest(intent.document.body),
            **by,
        }
        for intent in intents
    ]
    insert_all(connection, attempt, opened)
    return intents


def record_all(
    connection: Connection, outcomes: Sequence[Outcome], *, attempts: Mapping[int, int], now: str, expected: str
) -> None:
    """Write down what came of attempts; whoever slept while another made the next one has nothing to say of it.

    attempts: the number of the attempt, by document. Raises LedgerRefused if a document is no longer there.
    """
    try:
        move_all(connection, outcomes, attempts=attempts, expected=expected, now=now)
    except StateConflict as conflict:
        raise LedgerRefused(
            f"Document {conflict.document_id} was changed by somebody else while it was being sent.",
            remedy="It is in doubt there, and is settled as such. “logistics-batch ledger verify” looks at the ledger.",
        ) from conflict
    told = ("trace", "status", "failure", "meaning", "message", "reply")
    finished = [
        Change(
            {"document_id": outcome.document_id, "n": attempts.get(outcome.document_id, 0)},
            {name: getattr(outcome, name) for name in told} | {"finished_at": now},
        )
        for outcome in outcomes
    ]
    if len(update_found(connection, attempt, finished, told=("n",))) < len(finished):
        raise LedgerRefused(
            "Not all attempts that ended were found in the ledger.",
            remedy="Run “logistics-batch ledger verify”; only one program may send with a ledger.",
        )


def move_all(
    connection: Connection,
    outcomes: Sequence[Outcome],
    *,
    expected: str,
    now: str,
    attempts: Mapping[int, int] | None = None,
) -> None:
    """Move documents out of the state `expected`, and only while the given attempts are their last.

    Raises StateConflict if one of them is no longer there.
    """
    alike: defaultdict[tuple[str, ...], list[Change]] = defaultdict(list)
    for outcome in outcomes:
        found: dict[str, Any] = {"id": outcome.document_id, "state": expected}
        if attempts is not None:
            found["attempts"] = attempts.get(outcome.document_id, 0)
        values = _document_values(outcome, now=now)
        if (expected, outcome.state) == ("sending", "planned"):
            del values["waits_for"]  # what any run takes along stays so
        alike[tuple(values)].append(Change(found, values))
    operations: dict[int, str] = {}
    for changes in alike.values():
        operations |= dict(update_found(connection, document, changes, told=("id", "operation")))
    for outcome in outcomes:
        if outcome.document_id not in operations:
            raise StateConflict(outcome.document_id)
    if operations:
        mark_stale(connection, *operations)
    accepted = [outcome.document_id for outcome in outcomes if outcome.state == "accepted"]
    if cancellations := [number for number in accepted if operations[number] == "order.cancel"]:
        _note_cancelled(connection, cancellations)


def _document_values(outcome: Outcome, *, now: str) -> dict[str, Any]:
    values = in_state(outcome.state, outcome.why)
    if outcome.state == "in_doubt":
        values |= {"doubt_since": outcome.doubt_since or now}
    elif outcome.state != "planned":
        values |= {"settled_at": now, "send_approved": 0}
    elif outcome.meaning == "decided":
        values |= {"send_approved": 1, "checks": 0}
    if outcome.state == "accepted":
        told = {
            "awb_number": outcome.awb_number,
            "order_id": outcome.order_id,
            "delivery_hub": outcome.delivery_hub,
            "items": outcome.items and dump(outcome.items),
            "child_awb_numbers": outcome.child_awb_numbers and dump(outcome.child_awb_numbers),
        }
        # What the answer does not tell stays: a change knows from the start which order it is about.
        values |= {name: value for name, value in told.items() if value} | {"accepted_run": outcome.accepted_run}
        if outcome.seen and outcome.awb_number:
            values["seen"] = 1
    return values


def _note_cancelled(connection: Connection, cancellations: Sequence[int]) -> None:
    """An accepted cancellation makes the order's reference free again (API §8.4): the created order knows it."""
    query = select(document.c.account, document.c.order_id, file.c.name).join(file, document.c.file_id == file.c.id)
    for cancelled in connection.execute(query.where(among(connection, document.c.id, cancellations))).all():
        created = (
            document.c.account == cancelled.account,
            document.c.operation == "order.create",
            document.c.state == "accepted",
            document.c.awb_number == cancelled.order_id,
        )
        by_file = {"code": "cancelled.by_file", "values": packed({"file": cancelled.name})}
        connection.execute(document.update().where(*created).values(by_file))


def add_evidence(connection: Connection, *document_ids: int, at: str, kind: str, text: str) -> None:
    """Keep what was seen of documents; it is never changed."""
    seen = [{"document_id": number, "at": at, "kind": kind, "text": text} for number in document_ids]
    insert_all(connection, evidence, seen)


def add_decisions(connection: Connection, document_ids: Sequence[int], decided: Decided, *, at: str) -> None:
    """Keep what a person decides about documents, with the reasons that these have now."""
    made = {"at": at, "who": decided.who, "what": str(decided.what), "why": decided.why}
    standing = select(document.c.id, document.c.code).where(among(connection, document.c.id, document_ids))
    lines = [made | {"document_id": each.id, "code": each.code} for each in connection.execute(standing)]
    insert_all(connection, decision, lines)


def keep_cancelled_numbers(connection: Connection, outcomes: Sequence[Outcome], *, account: str, at: str) -> None:
    """Keep under which numbers orders in doubt were found cancelled."""
    found = [
        {"account": account, "number": each.awb_number, "document_id": each.document_id, "at": at}
        for each in outcomes
        if each.rule == FOUND_CANCELLED and each.awb_number
    ]
    insert_all(connection, cancelled_number, found)
