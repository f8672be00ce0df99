"""A small world of notices, service records and receipts, written down as a test reads best."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from logistics_batch.reconciliation import (
    ANNOUNCED_LINES,
    ANNOUNCED_NOTICES,
    ORDERED_LINES,
    RECEIVED_LINES,
    RETURNED_LINES,
    RETURNED_NOTICES,
    UNREAD_ROWS,
    UNSENT_ROWS,
    Legs,
)

DUE = "2026-11-01"


def frame(schema: dict[str, Any], rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame; what a row does not say is null."""
    return pl.DataFrame([[row.get(name) for name in schema] for row in rows], schema=schema, orient="row")


@dataclass
class World:
    """Three legs in the making. Lines are (sku, qty, price, retail price, discount, percentage), or begin so."""

    announced: list[dict[str, Any]] = field(default_factory=list)
    announced_lines: list[dict[str, Any]] = field(default_factory=list)
    returned: list[dict[str, Any]] = field(default_factory=list)
    returned_lines: list[dict[str, Any]] = field(default_factory=list)
    receipts: list[dict[str, Any]] | None = None
    unsent: list[dict[str, Any]] = field(default_factory=list)
    orders: list[dict[str, Any]] | None = None
    unread: list[dict[str, Any]] = field(default_factory=list)

    def announce(self, invoice: str, *lines: tuple[str, ...], **header: Any) -> None:
        """An ASN that a file announced, accepted by the service unless said otherwise."""
        notice = len(self.announced)
        usual = {"supplier": "S-1", "site": "BHI", "delivery_date": DUE, "in_window": True, "accepted": True}
        place = {"state": "accepted", "file_name": "asn.xlsx", "sheet": "Sheet1", "run": "run-1"}
        self.announced.append({"notice": notice, "invoice_number": invoice, **usual, **place, **header})
        rows = [line | {"row": 2 + nth} for nth, line in enumerate(_lines(notice, lines))]
        self.announced_lines.extend(rows)

    def serve(self, invoice: str, *lines: tuple[str, ...], **header: Any) -> None:
        """An ASN that the service returns."""
        notice = len(self.returned)
        usual = {"supplier": "S-1", "site": "BHI", "delivery_date": DUE, "in_window": True, "status": "Received"}
        self.returned.append(
            {"notice": notice, "invoice_number": invoice, **usual, "record_id": str(100 + notice), **header}
        )
        self.returned_lines.extend(_lines(notice, lines))

    def both(self, invoice: str, *lines: tuple[str, ...], **header: Any) -> None:
        """An ASN that stands alike in file and service."""
        self.announce(invoice, *lines, **header)
        self.serve(invoice, *lines, **header)

    def receive(self, invoice: str, sku: str, qty: str, **more: Any) -> None:
        """One line of a receipts file."""
        self.receipts = self.receipts or []
        usual = {"file_name": "receipts.csv", "sheet": "", "row": 2 + len(self.receipts), "condition": ""}
        self.receipts.append({"invoice_number": invoice, "sku_name": sku, "qty": qty, **usual, **more})

    def receive_unreadably(self, **legible: str) -> None:
        """One line of a receipts file that cannot be read, but for what is given."""
        self.no_receipts_came()
        where = f'receipts.csv row {90 + len(self.unread)}, cell D{90 + len(self.unread)} "10 pcs": no whole number'
        self.unread.append({"spot": where, **legible})

    def order(self, number: str, sku: str, qty: str, **more: Any) -> None:
        """One line of a purchase-order file."""
        self.orders = self.orders or []
        usual = {"file_name": "orders.csv", "sheet": "", "row": 2 + len(self.orders), "delivery_date": DUE}
        self.orders.append({"po_number": number, "sku_name": sku, "qty": qty, "supplier_name": "S-1", **usual, **more})

    def no_receipts_came(self) -> None:
        """A receipts file that holds nothing."""
        self.receipts = self.receipts or []

    def legs(self) -> Legs:
        """The frames."""
        return Legs(
            announced_notices=frame(ANNOUNCED_NOTICES, self.announced),
            announced_lines=frame(ANNOUNCED_LINES, self.announced_lines),
            returned_notices=frame(RETURNED_NOTICES, self.returned),
            returned_lines=frame(RETURNED_LINES, self.returned_lines),
            received=None if self.receipts is None else frame(RECEIVED_LINES, self.receipts),
            unsent_rows=frame(UNSENT_ROWS, self.unsent),
            unread=frame(UNREAD_ROWS, self.unread),
            ordered=None if self.orders is None else frame(ORDERED_LINES, self.orders),
        )


def _lines(notice: int, lines: tuple[tuple[str, ...], ...]) -> list[dict[str, Any]]:
    names = ("sku_name", "qty", "price", "mrp", "discount", "discount_percentage")
    return [{"notice": notice} | dict(zip(names, line, strict=False)) for line in lines]
