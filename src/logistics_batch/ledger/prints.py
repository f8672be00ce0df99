"""Labels that were fetched, and every print of them."""

from collections.abc import Sequence

from sqlalchemy import func, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.records import PrintLine, StoredDocument, StoredLabel, stored_document
from logistics_batch.ledger.schema import document, label, print_line
from logistics_batch.ledger.sending import select_documents


class Prints(Connected):
    """The print ledger: who printed which label when, and why again."""

    def record_label(self, awb_number: str, *, sha256: str, pages: int, fetched_at: str) -> None:
        """Remember the content of a label, so that its link is needed once; a newer fetch replaces it."""
        with self._write() as connection:
            connection.execute(label.delete().where(label.c.awb_number == awb_number))
            connection.execute(
                label.insert().values(awb_number=awb_number, sha256=sha256, pages=pages, fetched_at=fetched_at)
            )

    def label(self, awb_number: str) -> StoredLabel | None:
        """The label that is kept for an AWB, None if none was fetched."""
        with self._read() as connection:
            record = connection.execute(select(label).where(label.c.awb_number == awb_number)).mappings().first()
            return StoredLabel(**record) if record else None

    def record_print(
        self, bundle_id: str, awb_numbers: Sequence[str], *, reason: str = "", who: str = "", at: str
    ) -> None:
        """All labels of one bundle were written for printing; each gets its next copy number."""
        with self._write() as connection:
            for awb_number in awb_numbers:
                printed = connection.execute(
                    select(func.max(print_line.c.copy)).where(print_line.c.awb_number == awb_number)
                ).scalar()
                connection.execute(
                    print_line.insert().values(
                        bundle_id=bundle_id,
                        awb_number=awb_number,
                        copy=(printed or 0) + 1,
                        reason=reason,
                        who=who,
                        at=at,
                    )
                )

    def prints(self, awb_number: str) -> list[PrintLine]:
        """Every print of one label, first copy first."""
        query = select(print_line).where(print_line.c.awb_number == awb_number).order_by(print_line.c.copy)
        fields = PrintLine.__dataclass_fields__
        with self._read() as connection:
            return [
                PrintLine(**{name: record[name] for name in fields}) for record in connection.execute(query).mappings()
            ]

    def unprinted_orders(self) -> list[StoredDocument]:
        """Accepted orders that were not cancelled and of which no label was printed."""
        printed = select(print_line.c.awb_number)
        query = select_documents().where(
            document.c.account == self.account,
            document.c.operation == "order.create",
            document.c.state == "accepted",
            document.c.rule != "cancelled",
            (document.c.awb_number == "") | document.c.awb_number.not_in(printed),
        )
        with self._read() as connection:
            return [stored_document(record) for record in connection.execute(query.order_by(document.c.id)).mappings()]
