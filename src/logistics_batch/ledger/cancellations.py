"""Orders that were cancelled: written down at the order where it is one of ours, else kept by the number used."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.decide import CANCELLED
from logistics_batch.ledger.recording import add_evidence
from logistics_batch.ledger.records import Outcome
from logistics_batch.ledger.schema import cancelled_number, document
from logistics_batch.model.issue import Issue

FOUND_CANCELLED = "found_cancelled"
"""The rule of an order in doubt that is held because it reached the service and was cancelled there."""

NOT_FROM_HERE = Issue("cancelled.elsewhere")
"""Of an accepted order that others cancelled."""


class Cancellations(Connected):
    """Short transactions of their own, without the lock of a sending run."""

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
            add_evidence(connection, found, at=at, kind="by_hand", who="", text=text)
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
                add_evidence(connection, document_id, at=at, kind="found", who="", text=why.reason)

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


def keep_numbers(connection: Connection, outcomes: Sequence[Outcome], *, account: str, at: str) -> None:
    """Keep under which numbers orders in doubt were found cancelled."""
    found = [
        {"account": account, "number": each.awb_number, "document_id": each.document_id, "at": at}
        for each in outcomes
        if each.rule == FOUND_CANCELLED and each.awb_number
    ]
    if found:
        connection.execute(cancelled_number.insert(), found)
