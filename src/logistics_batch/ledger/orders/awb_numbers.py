"""Whose AWB numbers are: orders that have one, answers that carried another order's, and numbers of cancelled orders.

The answer to a create names no reference (API §4.6), so two answers that were exchanged on the way look sound. Fetching
the order shows both (API §4.5): until then only an answer without a name says whose its number is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, bindparam, literal, select, union_all

from logistics_batch.ledger.bulk import execute_plain
from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.documents.decide import CANCELLED
from logistics_batch.ledger.documents.guards import MIXED_UP
from logistics_batch.ledger.documents.recording import add_evidence
from logistics_batch.ledger.documents.stale import mark_stale
from logistics_batch.ledger.records import Outcome, StoredDocument, in_state, select_documents, stored_document
from logistics_batch.ledger.schema import cancelled_number, document, row
from logistics_batch.model.issue import Issue

_AT_ONCE = 400  # numbers in one IN (…)
FOUND_CANCELLED = "found_cancelled"
"""The rule of an order in doubt that is held because it reached the service and was cancelled there."""
NOT_FROM_HERE = Issue("cancelled.elsewhere")
"""Of an accepted order that others cancelled."""

# By the number alone: with more to choose from, SQLite goes through all orders of the account.
_OWNERS_PLAIN = (
    "SELECT awb_number, id, account, operation FROM document WHERE awb_number IN (SELECT value FROM json_each(?1)) "
    "UNION ALL SELECT number, 0, account, 'order.create' FROM cancelled_number "
    "WHERE document_id IS NOT NULL AND number IN (SELECT value FROM json_each(?1))"
)

_OWNERS = union_all(
    select(document.c.awb_number, document.c.id, document.c.account, document.c.operation).where(
        document.c.awb_number.in_(bindparam("numbers", expanding=True))
    ),
    select(cancelled_number.c.number, literal(0), cancelled_number.c.account, literal("order.create")).where(
        cancelled_number.c.document_id.is_not(None),
        cancelled_number.c.number.in_(bindparam("numbers", expanding=True)),
    ),
)


@dataclass(frozen=True, slots=True)
class NamedOrder:
    """An accepted order of ours with its AWB number; seen: the service has shown that the number is the order's."""

    document_id: int
    reference: str
    awb_number: str
    seen: bool


class AwbNumbers(Repository):
    """The numbers under which the service has our orders."""

    def named(self, awb_numbers: Iterable[str]) -> dict[str, NamedOrder]:
        """The accepted orders with these AWB numbers; of several with one number, the living one that came last."""
        wanted = sorted({*awb_numbers} - {""})
        found: dict[str, NamedOrder] = {}
        query = (
            select(document.c.id, document.c.reference, document.c.awb_number, document.c.seen)
            .where(document.c.account == self.account, document.c.operation == "order.create")
            .where(document.c.state == "accepted")
            .order_by(document.c.code.not_in(CANCELLED), document.c.id)
        )
        with self._read() as connection:
            for some in _chunks(wanted):
                for each in connection.execute(query.where(document.c.awb_number.in_(some))):
                    found[each.awb_number] = NamedOrder(each.id, each.reference, each.awb_number, bool(each.seen))
        return found

    def note_seen(self, order: NamedOrder, *, at: str) -> None:
        """The service has shown this order under its AWB number; what has another number by now stays unseen."""
        with self._write() as connection:
            shown = connection.execute(
                document.update()
                .where(document.c.id == order.document_id, document.c.awb_number == order.awb_number)
                .where(document.c.state == "accepted", document.c.seen == 0)
                .values(seen=1)
            )
            if shown.rowcount:
                text = f"The service shows it under AWB number {order.awb_number}."
                add_evidence(connection, order.document_id, at=at, kind="seen", text=text)

    def owners(self, awb_numbers: Sequence[str]) -> dict[str, int]:
        """Which of our orders have these AWB numbers; 0 stands for an attempt that was found cancelled.

        A number is issued once (API §2.3): also that of a cancelled order is no other order's.
        """
        with self._read(one_statement=True) as connection:
            if connection.dialect.name == "sqlite":
                found = execute_plain(connection, _OWNERS_PLAIN, (dump(list(awb_numbers)),)).fetchall()
            else:
                found = [tuple(each) for each in connection.execute(_OWNERS, {"numbers": list(awb_numbers)})]
        ours = (self.account, "order.create")
        return {number: owner for number, owner, *of in found if tuple(of) == ours}

    def give_back(self, awb_number: str, *, reference: str, at: str) -> list[str]:
        """The service shows an AWB number with this reference: who has one without the other got another's answer.

        That answer was all that proved that they arrived, so they are in doubt again: orders of another reference with
        the number, and the living order of the reference with another number (one is issued for each, API §2.3).
        Gives their references.
        """
        others = (document.c.awb_number == awb_number) & (document.c.reference != reference)
        itself = (document.c.reference == reference) & document.c.awb_number.not_in(("", awb_number))
        itself &= document.c.code.not_in(CANCELLED)  # an earlier order under the reference had a number of its own
        taken = Issue.of(MIXED_UP, awb_number=awb_number, reference=reference)
        shown = Issue.of(f"{MIXED_UP}.shown", awb_number=awb_number)
        with self._write() as connection:
            return [
                *self._doubt_again(connection, others, why=taken, at=at),
                *(self._doubt_again(connection, itself, why=shown, at=at) if awb_number and reference else ()),
            ]

    def _doubt_again(self, connection: Connection, which: ColumnElement[bool], *, why: Issue, at: str) -> list[str]:
        accepted = (
            (document.c.account == self.account)
            & (document.c.operation == "order.create")
            & (document.c.state == "accepted")
        )
        found = connection.execute(select(document.c.id, document.c.reference).where(accepted, which)).all()
        numbers = [each.id for each in found]
        nothing = {"awb_number": "", "order_id": "", "child_awb_numbers": "[]", "accepted_run": "", "settled_at": ""}
        nothing |= {"items": "{}", "delivery_hub": ""}  # the other order's as well
        doubt = in_state("in_doubt", why) | {"seen": 0}
        if numbers:
            again = document.c.id.in_(numbers)
            connection.execute(
                document.update().where(again).values(nothing | doubt | {"doubt_since": at, "checks": 0})
            )
            unchanged = row.c.document_id.in_(numbers) & (row.c.fate == "unchanged")
            connection.execute(row.update().where(unchanged).values(fate=""))
            mark_stale(connection, *numbers)
            add_evidence(connection, *numbers, at=at, kind=MIXED_UP, text=why.reason)
        return [each.reference for each in found]

    def missing(self, *, since: str, at_most: int) -> list[StoredDocument]:
        """Created orders that were accepted since then and not cancelled, and whose AWB number is not known."""
        query = (
            select_documents()
            .where(document.c.account == self.account, document.c.state == "accepted", document.c.awb_number == "")
            .where(document.c.operation == "order.create", document.c.code.not_in(CANCELLED))
            .where(document.c.settled_at >= since)
        )
        with self._read() as connection:
            found = connection.execute(query.order_by(document.c.id.desc()).limit(at_most))
            return [stored_document(record) for record in found.mappings()]

    def fill_in(self, document_id: int, awb_number: str, *, order_id: str, now: str, seen: bool = False) -> None:
        """Write down the AWB number of an accepted order that has none yet; its results have to be written again.

        seen: the service shows our reference with it.
        """
        told: dict[str, object] = {"awb_number": awb_number, "code": "", "values": "", "seen": int(seen)}
        told |= {"order_id": order_id} if order_id else {}
        with self._write() as connection:
            filled = connection.execute(
                document.update().where(document.c.id == document_id, document.c.awb_number == "").values(told)
            )
            if filled.rowcount:
                mark_stale(connection, document_id)
                text = f"The service shows it with AWB number {awb_number}."
                add_evidence(connection, document_id, at=now, kind="found", text=text)

    def record_by_hand(self, *, reference_or_awb: str, at: str, text: str, cancelled: bool) -> bool:
        """Keep what a person did to an order of ours by hand; False if the ledger does not know the order."""
        with self._write() as connection:
            found = connection.execute(
                select(document.c.id)
                .where(
                    document.c.account == self.account,
                    document.c.kind == "order",
                    document.c.state == "accepted",
                    (document.c.reference == reference_or_awb)
                    | (document.c.awb_number == reference_or_awb)
                    | (document.c.order_id == reference_or_awb),
                )
                .order_by(document.c.id.desc())
                .limit(1)
            ).scalar()
            if found is None:
                return False
            if cancelled:
                connection.execute(
                    document.update().where(document.c.id == found).values({"code": "cancelled.by_hand", "values": ""})
                )
            add_evidence(connection, found, at=at, kind="by_hand", text=text)
        return True

    def found_cancelled(self, document_id: int, *, at: str, why: Issue = NOT_FROM_HERE) -> None:
        """An accepted order of ours is cancelled at the service; if that was known here, nothing changes."""
        with self._write() as connection:
            changed = connection.execute(
                document.update()
                .where(document.c.id == document_id, document.c.operation == "order.create")
                .where(document.c.state == "accepted", document.c.code.not_in(CANCELLED))
                .values({"code": why.code, "values": why.values})
            )
            if changed.rowcount:
                add_evidence(connection, document_id, at=at, kind="found", text=why.reason)

    def note_asked(self, number: str, *, at: str) -> None:
        """Keep that a person asks to cancel an order by a number that is not known here, before it is asked for."""
        with self._write() as connection:
            connection.execute(cancelled_number.insert().values(account=self.account, number=number, at=at))

    def asked_since(self, moment: str) -> list[str]:
        """The numbers, unknown here, by which people asked to cancel orders since then, oldest first."""
        query = (
            select(cancelled_number.c.number)
            .where(cancelled_number.c.account == self.account, cancelled_number.c.document_id.is_(None))
            .where(cancelled_number.c.at >= moment)
        )
        with self._read() as connection:
            return list(connection.execute(query.order_by(cancelled_number.c.id)).scalars())

    def cancelled_before(self, document_id: int) -> set[str]:
        """The AWB numbers of earlier attempts of an order, which were found cancelled: they prove nothing of the last.

        It was held for each of them, so whatever was sent since is something else.
        """
        query = select(cancelled_number.c.number).where(cancelled_number.c.document_id == document_id)
        with self._read() as connection:
            return set(connection.execute(query).scalars())

    def cancelled_by_unknown_numbers(self, *, since: str, at_most: int) -> list[StoredDocument]:
        """Cancellations accepted since then, the newest first, whose number was no AWB number known here.

        It may be the service's own id of an order of ours (API §4.10). Those that `note_whose` closed are left out.
        """
        query = (
            select_documents()
            .where(document.c.account == self.account, document.c.operation == "order.cancel")
            .where(document.c.state == "accepted", document.c.settled_at >= since, document.c.seen == 0)
            .where(document.c.reference == document.c.order_id)
        )
        with self._read() as connection:
            found = connection.execute(query.order_by(document.c.id.desc()).limit(at_most))
            return [stored_document(record) for record in found.mappings()]

    def note_whose(self, cancellation_id: int) -> None:
        """Whose order a cancellation was about is known by now."""
        with self._write() as connection:
            connection.execute(document.update().where(document.c.id == cancellation_id).values(seen=1))


def keep_numbers(connection: Connection, outcomes: Sequence[Outcome], *, account: str, at: str) -> None:
    """Keep under which numbers orders in doubt were found cancelled."""
    found = [
        {"account": account, "number": each.awb_number, "document_id": each.document_id, "at": at}
        for each in outcomes
        if each.rule == FOUND_CANCELLED and each.awb_number
    ]
    if found:
        connection.execute(cancelled_number.insert(), found)


def _chunks(numbers: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(numbers), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]
