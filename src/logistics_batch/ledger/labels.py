"""Labels that were fetched, and every print of them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from sqlalchemy import Connection, RowMapping, func, select

from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.documents.decide import CANCELLED
from logistics_batch.ledger.documents.documents import select_documents
from logistics_batch.ledger.records import PrintLine, StoredDocument, StoredLabel, stored_document
from logistics_batch.ledger.schema import document, label, print_line

_AT_ONCE = 500  # names in one question to the database


class Labels(Repository):
    """The print ledger: who printed which label when, and why again."""

    def record_labels(self, labels: Sequence[StoredLabel]) -> None:
        """Remember the contents of labels, so that their links are needed once; a newer fetch replaces an older one."""
        latest = {each.awb_number: asdict(each) for each in labels}
        with self._write() as connection:
            for some in _some(list(latest)):
                connection.execute(label.delete().where(label.c.awb_number.in_(some)))
            if latest:
                connection.execute(label.insert(), list(latest.values()))

    def record_label(self, awb_number: str, *, sha256: str, pages: int, fetched_at: str) -> None:
        """Remember one label, as `record_labels` does."""
        self.record_labels([StoredLabel(awb_number, sha256, pages, fetched_at)])

    def get(self, awb_number: str) -> StoredLabel | None:
        """The label that is kept for an AWB, None if none was fetched."""
        with self._read() as connection:
            record = connection.execute(select(label).where(label.c.awb_number == awb_number)).mappings().first()
            return StoredLabel(**record) if record else None

    def record_print(
        self, bundle_id: str, awb_numbers: Sequence[str], *, reason: str = "", who: str = "", at: str
    ) -> None:
        """All labels of one bundle were written for printing; each gets its next copy number."""
        with self._write() as connection:
            copies = _copies(connection, awb_numbers)
            lines = [
                {
                    "bundle_id": bundle_id,
                    "awb_number": awb_number,
                    "copy": copies.get(awb_number, 0) + 1,
                    "reason": reason,
                    "who": who,
                    "at": at,
                }
                for awb_number in dict.fromkeys(awb_numbers)
            ]
            if lines:
                connection.execute(print_line.insert(), lines)

    def of_orders(self, awb_numbers: Sequence[str]) -> dict[str, StoredLabel]:
        """The labels that are kept for these AWBs."""
        found: dict[str, StoredLabel] = {}
        with self._read() as connection:
            for some in _some(awb_numbers):
                query = select(label).where(label.c.awb_number.in_(some))
                found |= {one["awb_number"]: StoredLabel(**one) for one in connection.execute(query).mappings()}
        return found

    def copies(self, awb_numbers: Sequence[str]) -> dict[str, int]:
        """How often each of these labels was printed; those never printed are left out."""
        with self._read() as connection:
            return _copies(connection, awb_numbers)

    def last_prints(self, awb_numbers: Sequence[str]) -> dict[str, PrintLine]:
        """The last print of each of these labels; those never printed are left out."""
        found: dict[str, PrintLine] = {}
        with self._read() as connection:
            for some in _some(awb_numbers):
                query = select(print_line).where(print_line.c.awb_number.in_(some)).order_by(print_line.c.copy)
                found |= {one["awb_number"]: _print_line(one) for one in connection.execute(query).mappings()}
        return found

    def prints(self, awb_number: str) -> list[PrintLine]:
        """Every print of one label, first copy first."""
        query = select(print_line).where(print_line.c.awb_number == awb_number).order_by(print_line.c.copy)
        with self._read() as connection:
            return [_print_line(record) for record in connection.execute(query).mappings()]

    def unprinted_orders(self) -> list[StoredDocument]:
        """Accepted orders that were not cancelled and of which no label was printed."""
        printed = select(print_line.c.awb_number)
        query = select_documents().where(
            document.c.account == self.account,
            document.c.operation == "order.create",
            document.c.state == "accepted",
            document.c.code.not_in(CANCELLED),
            (document.c.awb_number == "") | document.c.awb_number.not_in(printed),
        )
        with self._read() as connection:
            return [stored_document(record) for record in connection.execute(query.order_by(document.c.id)).mappings()]


def _some(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _AT_ONCE):
        yield names[start : start + _AT_ONCE]


def _print_line(record: RowMapping) -> PrintLine:
    return PrintLine(**{name: record[name] for name in PrintLine.__dataclass_fields__})


def _copies(connection: Connection, awb_numbers: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for some in _some(awb_numbers):
        query = (
            select(print_line.c.awb_number, func.max(print_line.c.copy).label("copies"))
            .where(print_line.c.awb_number.in_(some))
            .group_by(print_line.c.awb_number)
        )
        found |= {one.awb_number: one.copies for one in connection.execute(query)}
    return found
