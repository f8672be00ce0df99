"""Labels that were fetched, and every print of them."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import func, select

from logistics_batch.ledger.bulk import among, insert_all
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.documents.decide import CANCELLED
from logistics_batch.ledger.records import PrintLine, StoredDocument, StoredLabel, select_documents
from logistics_batch.ledger.schema import document, label, print_line


class Labels(Repository):
    """The print ledger: who printed which label when, and why again."""

    def record_labels(self, labels: Sequence[StoredLabel]) -> None:
        """Remember the contents of labels, so that their links are needed once; a newer fetch replaces an older one."""
        latest = {each.awb_number: asdict(each) for each in labels}
        with self._write() as connection:
            connection.execute(label.delete().where(among(connection, label.c.awb_number, latest)))
            insert_all(connection, label, list(latest.values()))

    def of_orders(self, awb_numbers: Sequence[str]) -> dict[str, StoredLabel]:
        """The labels that are kept for these AWBs."""
        query = select(label).where(self._among(label.c.awb_number, awb_numbers))
        return {each.awb_number: each for each in self._values(StoredLabel, query)}

    def record_print(
        self, bundle_id: str, awb_numbers: Sequence[str], *, reason: str = "", who: str = "", at: str
    ) -> None:
        """All labels of one bundle were written for printing; each gets its next copy number."""
        with self._write() as connection:
            query = select(print_line.c.awb_number, func.max(print_line.c.copy)).group_by(print_line.c.awb_number)
            query = query.where(among(connection, print_line.c.awb_number, awb_numbers))
            copies = dict(map(tuple, connection.execute(query)))
            said = {"bundle_id": bundle_id, "reason": reason, "who": who, "at": at}
            lines = [
                said | {"awb_number": awb_number, "copy": copies.get(awb_number, 0) + 1}
                for awb_number in dict.fromkeys(awb_numbers)
            ]
            insert_all(connection, print_line, lines)

    def copies(self, awb_numbers: Sequence[str]) -> dict[str, int]:
        """How often each of these labels was printed; those never printed are left out."""
        return {awb_number: line.copy for awb_number, line in self.last_prints(awb_numbers).items()}

    def last_prints(self, awb_numbers: Sequence[str]) -> dict[str, PrintLine]:
        """The last print of each of these labels; those never printed are left out."""
        return {line.awb_number: line for line in self.prints(awb_numbers)}

    def prints(self, awb_numbers: Sequence[str]) -> list[PrintLine]:
        """Every print of these labels, first copies first."""
        query = select(print_line).where(self._among(print_line.c.awb_number, awb_numbers))
        return self._values(PrintLine, query.order_by(print_line.c.copy))

    def unprinted_orders(self) -> list[StoredDocument]:
        """Accepted orders that were not cancelled and of which no label was printed."""
        query = select_documents().where(
            document.c.account == self.account,
            document.c.operation == "order.create",
            document.c.state == "accepted",
            document.c.code.not_in(CANCELLED),
            document.c.awb_number.not_in(select(print_line.c.awb_number)),
        )
        return self._values(StoredDocument, query.order_by(document.c.id))
