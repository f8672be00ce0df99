"""Under which AWB numbers the service has shown our orders: before that, only an answer without a name says so.

The answer to a create names no reference (API §4.6), so two answers that were exchanged on the way look sound. Fetching
the order shows both (API §4.5).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.decide import CANCELLED
from logistics_batch.ledger.recording import add_evidence
from logistics_batch.ledger.records import StoredDocument, stored_document
from logistics_batch.ledger.schema import document
from logistics_batch.ledger.sending import select_documents

_AT_ONCE = 400  # numbers in one IN (…)


@dataclass(frozen=True, slots=True)
class NamedOrder:
    """An accepted order of ours with its AWB number; seen: the service has shown that the number is the order's."""

    document_id: int
    reference: str
    awb_number: str
    seen: bool


class Seen(Connected):
    """What makes the AWB number of an order sure."""

    def orders_named(self, awb_numbers: Iterable[str]) -> dict[str, NamedOrder]:
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
                add_evidence(connection, order.document_id, at=at, kind="seen", who="", text=text)

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


def _chunks(numbers: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(numbers), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]
