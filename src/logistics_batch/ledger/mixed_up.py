"""Orders that were answered with the AWB number of another one, which shows later: nothing proves that they arrived."""

from sqlalchemy import ColumnElement, Connection, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.decide import CANCELLED
from logistics_batch.ledger.guards import MIXED_UP
from logistics_batch.ledger.recording import add_evidence
from logistics_batch.ledger.schema import document, row
from logistics_batch.ledger.stale import mark_stale
from logistics_batch.model.issue import Issue


class MixedUp(Connected):
    """The one way back from accepted."""

    def give_back_number(self, awb_number: str, *, reference: str, at: str) -> list[str]:
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
        doubt = {"state": "in_doubt", "code": why.code, "values": why.values, "tainted": 1, "seen": 0}
        if numbers:
            again = document.c.id.in_(numbers)
            connection.execute(
                document.update().where(again).values(nothing | doubt | {"doubt_since": at, "checks": 0})
            )
            unchanged = row.c.document_id.in_(numbers) & (row.c.fate == "unchanged")
            connection.execute(row.update().where(unchanged).values(fate=""))
            mark_stale(connection, *numbers)
            add_evidence(connection, *numbers, at=at, kind=MIXED_UP, who="", text=why.reason)
        return [each.reference for each in found]
