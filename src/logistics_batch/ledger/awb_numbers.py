"""Whose AWB numbers are: orders that have one, answers that carried another order's, and numbers of cancelled orders.

The answer to a create names no reference (API §4.6), so two answers that were exchanged on the way look sound. Fetching
the order shows both (API §4.5): until then only an answer without a name says whose its number is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    Connection,
    bindparam,
    func,
    literal,
    or_,
    select,
    union_all,
)

from logistics_batch.ledger.bulk import as_one
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.documents.recording import add_evidence, in_state, mark_stale
from logistics_batch.ledger.records import CANCELLED, StoredDocument
from logistics_batch.ledger.schema import MIXED_UP, cancelled_number, document, row
from logistics_batch.model.issue import Issue

NOT_FROM_HERE = Issue("cancelled.elsewhere")
"""Of an accepted order that others cancelled."""
_ACCEPTED = (document.c.operation == "order.create") & (document.c.state == "accepted")
_NEWEST_FIRST = (document.c.id.desc(),)


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
        # By the number alone: with more to choose from, SQLite goes through all orders of the account.
        columns = document.c["id", "reference", "awb_number", "seen", "account", "operation", "state"]
        query = select(*columns).where(self._among(document.c.awb_number, {*awb_numbers} - {""}))
        found = self._rows(query.order_by(document.c.code.not_in(CANCELLED), document.c.id))
        return {
            number: NamedOrder(id_, reference, number, bool(seen))
            for id_, reference, number, seen, *of in found
            if of == [self.account, "order.create", "accepted"]
        }

    def note_seen(self, order: NamedOrder, *, at: str) -> None:
        """The service has shown this order under its AWB number; what has another number by now stays unseen."""
        mine = (document.c.id == order.document_id) & (document.c.awb_number == order.awb_number)
        unseen = document.update().where(mine, document.c.state == "accepted", document.c.seen == 0)
        with self._write() as connection:
            if connection.execute(unseen.values(seen=1)).rowcount:
                text = f"The service shows it under AWB number {order.awb_number}."
                add_evidence(connection, order.document_id, at=at, kind="seen", text=text)

    def owners(self, awb_numbers: Sequence[str]) -> dict[str, int]:
        """Which of our orders have these AWB numbers; 0 stands for an attempt that was found cancelled.

        A number is issued once (API §2.3): also that of a cancelled order is no other order's.
        """
        given = as_one(self._connection.engine, awb_numbers)
        with self._read(one_statement=True) as connection:
            found = connection.execute(self._owners, {"numbers": given}).all()
        return {number: owner for number, owner, *of in found if of == [self.account, "order.create"]}

    @cached_property
    def _owners(self) -> CompoundSelect[Any]:
        """The question of `owners`, made once: it is asked before each commit of answers."""
        numbers: BindParameter[Any] = bindparam("numbers")
        ours = select(*document.c["awb_number", "id", "account", "operation"])
        cancelled = select(cancelled_number.c.number, literal(0), cancelled_number.c.account, literal("order.create"))
        return union_all(
            ours.where(self._among(document.c.awb_number, numbers)),
            cancelled.where(
                cancelled_number.c.document_id.is_not(None), self._among(cancelled_number.c.number, numbers)
            ),
        )

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

    def doubt_shared(self, run: str, *, at: str) -> None:
        """Orders that a run had accepted under one AWB number are in doubt again, but for what the service has shown.

        Each of several senders looks whose a number is before it writes it down, and two may do so at one moment.
        """
        mine = _ACCEPTED & (document.c.account == self.account) & (document.c.accepted_run == run)
        numbered = select(document.c.awb_number).where(mine, document.c.awb_number != "")
        shared = numbered.group_by(document.c.awb_number).having(func.count() > 1)
        columns = select(*document.c["id", "reference", "awb_number", "seen"]).where(mine)
        with self._write() as connection:
            found = connection.execute(columns.where(document.c.awb_number.in_(shared)).order_by(document.c.id)).all()
            for each in (order for order in found if not order.seen):
                other = next(one for one in found if one.awb_number == each.awb_number and one.id != each.id)
                why = Issue.of(MIXED_UP, awb_number=each.awb_number, reference=other.reference)
                self._doubt_again(connection, document.c.id == each.id, why=why, at=at)

    def _doubt_again(self, connection: Connection, which: ColumnElement[bool], *, why: Issue, at: str) -> list[str]:
        accepted = select(document.c.id, document.c.reference).where(document.c.account == self.account, _ACCEPTED)
        found = connection.execute(accepted.where(which)).all()
        numbers = [each.id for each in found]
        nothing = {"awb_number": "", "order_id": "", "child_awb_numbers": "[]", "accepted_run": "", "settled_at": ""}
        nothing |= {"items": "{}", "delivery_hub": ""}  # the other order's as well
        doubt = nothing | in_state("in_doubt", why) | {"seen": 0, "doubt_since": at, "checks": 0}
        if numbers:
            connection.execute(document.update().where(self._among(document.c.id, numbers)).values(doubt))
            unchanged = self._among(row.c.document_id, numbers) & (row.c.fate == "unchanged")
            connection.execute(row.update().where(unchanged).values(fate=""))
            mark_stale(connection, *numbers)
            add_evidence(connection, *numbers, at=at, kind=MIXED_UP, text=why.reason)
        return [each.reference for each in found]

    def missing(self, *, since: str, at_most: int) -> list[StoredDocument]:
        """Created orders that were accepted since then and not cancelled, and whose AWB number is not known."""
        nameless = _ACCEPTED & (document.c.awb_number == "") & document.c.code.not_in(CANCELLED)
        return self._documents(nameless, document.c.settled_at >= since, by=_NEWEST_FIRST, at_most=at_most)

    def fill_in(self, document_id: int, awb_number: str, *, order_id: str, now: str, seen: bool = False) -> None:
        """Write down the AWB number of an accepted order that has none yet; its results have to be written again.

        seen: the service shows our reference with it.
        """
        told: dict[str, object] = {"awb_number": awb_number, "code": "", "values": "", "seen": int(seen)}
        told |= {"order_id": order_id} if order_id else {}
        nameless = document.update().where(document.c.id == document_id, document.c.awb_number == "")
        with self._write() as connection:
            if connection.execute(nameless.values(told)).rowcount:
                mark_stale(connection, document_id)
                text = f"The service shows it with AWB number {awb_number}."
                add_evidence(connection, document_id, at=now, kind="found", text=text)

    def record_by_hand(self, *, reference_or_awb: str, at: str, text: str, cancelled: bool) -> bool:
        """Keep what a person did to an order of ours by hand; False if the ledger does not know the order."""
        names = (document.c.reference, document.c.awb_number, document.c.order_id)
        mine = document.c.account == self.account, document.c.kind == "order", document.c.state == "accepted"
        named = select(document.c.id).where(*mine, or_(*(name == reference_or_awb for name in names)))
        with self._write() as connection:
            found = connection.execute(named.order_by(*_NEWEST_FIRST).limit(1)).scalar()
            if found is None:
                return False
            if cancelled:
                by_hand = {"code": "cancelled.by_hand", "values": ""}
                connection.execute(document.update().where(document.c.id == found).values(by_hand))
            add_evidence(connection, found, at=at, kind="by_hand", text=text)
        return True

    def found_cancelled(self, document_id: int, *, at: str, why: Issue = NOT_FROM_HERE) -> None:
        """An accepted order of ours is cancelled at the service; if that was known here, nothing changes."""
        living = _ACCEPTED & (document.c.id == document_id) & document.c.code.not_in(CANCELLED)
        with self._write() as connection:
            cancelled = document.update().where(living).values({"code": why.code, "values": why.values})
            if connection.execute(cancelled).rowcount:
                add_evidence(connection, document_id, at=at, kind="found", text=why.reason)

    def note_asked(self, number: str, *, at: str) -> None:
        """Keep that a person asks to cancel an order by a number that is not known here, before it is asked for."""
        self._execute(cancelled_number.insert().values(account=self.account, number=number, at=at))

    def asked_since(self, moment: str) -> list[str]:
        """The numbers, unknown here, by which people asked to cancel orders since then, oldest first."""
        asked = (cancelled_number.c.account == self.account) & cancelled_number.c.document_id.is_(None)
        query = select(cancelled_number.c.number).where(asked, cancelled_number.c.at >= moment)
        return self._column(query.order_by(cancelled_number.c.id))

    def cancelled_before(self, document_id: int) -> set[str]:
        """The AWB numbers of earlier attempts of an order, which were found cancelled: they prove nothing of the last.

        It was held for each of them, so whatever was sent since is something else.
        """
        query = select(cancelled_number.c.number).where(cancelled_number.c.document_id == document_id)
        return set(self._column(query))

    def cancelled_by_unknown_numbers(self, *, since: str, at_most: int) -> list[StoredDocument]:
        """Cancellations accepted since then, the newest first, whose number was no AWB number known here.

        It may be the service's own id of an order of ours (API §4.10). Those that `note_whose` closed are left out.
        """
        unknown = (
            document.c.operation == "order.cancel",
            document.c.state == "accepted",
            document.c.settled_at >= since,
            document.c.seen == 0,
            document.c.reference == document.c.order_id,
        )
        return self._documents(*unknown, by=_NEWEST_FIRST, at_most=at_most)

    def note_whose(self, cancellation_id: int) -> None:
        """Whose order a cancellation was about is known by now."""
        self._execute(document.update().where(document.c.id == cancellation_id).values(seen=1))
