"""Small files as the mapping would hand them to the ledger."""

import hashlib

import polars as pl
from support.issues import issue

from logistics_batch.errors import FileHeld
from logistics_batch.ledger import Arrival, Decision, Ledger, StoredDocument
from logistics_batch.model.document import ROWS_SCHEMA, Document, MappedFile, Operation
from logistics_batch.model.sheet import SourceFile

CALLS = {"order.create": ("POST", "/orders/shipment"), "asn.create": ("POST", "/wms/advance-shipping-notice")}


def arrival(
    orders: dict[str, str],
    *,
    name: str = "orders.csv",
    invalid: tuple[int, ...] = (),
    held: FileHeld | None = None,
    at: str = "2026-11-21T21:15:00+05:30",
) -> Arrival:
    """One row an order from row 2 on, then the invalid rows; `orders` maps reference to body."""
    documents = tuple(
        Document(key, Operation.ORDER_CREATE, (row,), body, key, (row,), {"bin": f"B{row}"})
        for row, (key, body) in enumerate(orders.items(), 2)
    )
    lines = [
        (document.rows[0], "ready", None, index, document.key, None, "") for index, document in enumerate(documents)
    ]
    lines += [(row, "invalid", None, None, "", None, "") for row in invalid]
    content = f"{name}{orders}{invalid}".encode()
    return Arrival(
        source=SourceFile(name, len(content), hashlib.sha256(repr(orders).encode()).hexdigest(), "csv"),
        mapping="orders",
        mapping_digest="d" * 64,
        operation="order.create",
        received_at=at,
        mapped=MappedFile(
            sheet="orders",
            header_row=1,
            columns=("Order No",),
            rows=pl.DataFrame(lines, schema=ROWS_SCHEMA, orient="row"),
            documents=documents,
            issues=tuple(
                issue(
                    row,
                    "customer_mobile|mobile",
                    column="Phone",
                    cell=f"B{row}",
                    value="12",
                    reason="Too short.",
                    remedy="Write ten digits.",
                )
                for row in invalid
            ),
        ),
        held=held,
        calls=CALLS,
    )


def evaluated(ledger: Ledger, file: Arrival) -> list[Decision]:
    """What would become of the documents of a file."""
    assert file.mapped is not None
    return list(ledger.planning.evaluate(file, file.mapped.documents))


def planned(ledger: Ledger, run: str = "R1") -> list[StoredDocument]:
    """What a run has to send."""
    return ledger.documents.stored(ledger.documents.planned_of(run)["id"])
