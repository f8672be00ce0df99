"""The statements that move documents and complete attempts, for many documents at once.

What an order costs here is paid for every order sent, so one statement serves many of them (see `bulk`). Each change
names the state that it starts from, and says whether it found it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import Change, insert_all, update_all, update_found
from logistics_batch.ledger.connection import digest, dump
from logistics_batch.ledger.documents.stale import mark_stale
from logistics_batch.ledger.records import Decided, Outcome, StoredDocument, in_state
from logistics_batch.ledger.schema import attempt, decision, document, evidence, file
from logistics_batch.messages import packed

_CHUNK = 400  # numbers in one IN (…)

_CANCELLING = (
    select(document.c.account, document.c.order_id, file.c.name)
    .join(file, document.c.file_id == file.c.id)
    .where(document.c.id.in_(bindparam("documents", expanding=True)))
)


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


def claim_all(
    connection: Connection, wanted: Sequence[StoredDocument], *, run: str, owner: str, now: str, expected: str
) -> list[Intent]:
    """Claim the documents that are still in state `expected`, and open an attempt of each."""
    if not wanted:
        return []
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
            "run_id": run,
            "owner": owner,
            "intent_at": now,
            "request_sha256": digest(intent.document.body),
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
            remedy="Run “logistics-batch ledger verify”; only one program may send with a ledger.",
        ) from conflict
    finished = [
        Change(
            {"document_id": outcome.document_id, "n": attempts.get(outcome.document_id, 0)},
            {
                "trace": outcome.trace,
                "status": outcome.status,
                "failure": outcome.failure,
                "meaning": outcome.meaning,
                "message": outcome.message,
                "reply": outcome.reply,
                "finished_at": now,
            },
        )
        for outcome in outcomes
    ]
    update_all(connection, attempt, finished)


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
    mark_stale(connection, *operations)
    accepted = [outcome.document_id for outcome in outcomes if outcome.state == "accepted"]
    _note_cancelled(connection, [number for number in accepted if operations[number] == "order.cancel"])


def add_evidence(connection: Connection, *document_ids: int, at: str, kind: str, text: str) -> None:
    """Keep what was seen of documents; it is never changed."""
    seen = [{"document_id": number, "at": at, "kind": kind, "text": text} for number in document_ids]
    if seen:
        connection.execute(evidence.insert(), seen)


def add_decisions(connection: Connection, document_ids: Sequence[int], decided: Decided, *, at: str) -> None:
    """Keep what a person decides about documents, with the reasons that these have now."""
    made = {"at": at, "who": decided.who, "what": str(decided.what), "why": decided.why}
    for some in _chunks(document_ids):
        standing = connection.execute(select(document.c.id, document.c.code).where(document.c.id.in_(some)))
        lines = [made | {"document_id": each.id, "code": each.code} for each in standing]
        if lines:
            connection.execute(decision.insert(), lines)


def _chunks(numbers: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(numbers), _CHUNK):
        yield list(numbers[start : start + _CHUNK])


def _document_values(outcome: Outcome, *, now: str) -> dict[str, object]:
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
    for some in _chunks(cancellations):
        for cancelled in connection.execute(_CANCELLING, {"documents": some}).all():
            connection.execute(
                document.update()
                .where(
                    document.c.account == cancelled.account,
                    document.c.operation == "order.create",
                    document.c.state == "accepted",
                    document.c.awb_number == cancelled.order_id,
                )
                .values({"code": "cancelled.by_file", "values": packed({"file": cancelled.name})})
            )
