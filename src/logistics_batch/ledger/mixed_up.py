"""Orders that were answered with the AWB number of another one, which shows later: nothing proves that they arrived."""

from sqlalchemy import select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.guards import MIXED_UP
from logistics_batch.ledger.recording import add_evidence
from logistics_batch.ledger.schema import document, row
from logistics_batch.ledger.sending import CHECKED_LATER
from logistics_batch.ledger.stale import mark_stale


class MixedUp(Connected):
    """The one way back from accepted."""

    def give_back_number(self, awb_number: str, *, reference: str, at: str) -> list[str]:
        """The service shows an AWB number with this reference: orders of others that have it got another's answer.

        It was all that proved that they arrived, so they are in doubt again. Gives their references.
        """
        mixed_up = (
            (document.c.account == self.account)
            & (document.c.operation == "order.create")
            & (document.c.state == "accepted")
            & (document.c.awb_number == awb_number)
            & (document.c.reference != reference)
        )
        reason = (
            f"The answer to it, with AWB number {awb_number}, was that of the order {reference}; use no label of that "
            "number for it. It may or may not have arrived."
        )
        nothing = {"awb_number": "", "order_id": "", "child_awb_numbers": "[]", "accepted_run": "", "settled_at": ""}
        doubt = {"state": "in_doubt", "rule": MIXED_UP, "reason": reason, "fix": CHECKED_LATER, "tainted": 1}
        with self._write() as connection:
            others = connection.execute(select(document.c.id, document.c.reference).where(mixed_up)).all()
            numbers = [other.id for other in others]
            if numbers:
                again = document.c.id.in_(numbers)
                connection.execute(
                    document.update().where(again).values(nothing | doubt | {"doubt_since": at, "checks": 0})
                )
                unchanged = row.c.document_id.in_(numbers) & (row.c.fate == "unchanged")
                connection.execute(row.update().where(unchanged).values(fate=""))
                mark_stale(connection, *numbers)
                add_evidence(connection, *numbers, at=at, kind=MIXED_UP, who="", text=reason)
        return [other.reference for other in others]
