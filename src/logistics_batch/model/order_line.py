"""One item of an order that was sent, beside what the service shows of it now: the line of a status report."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class OrderLine:
    """Quantities are None where the service does not tell them; amounts, in INR, stand on an order's first line only.

    source: what the status's time comes from: "event", or "fetch", which is when it was first seen. item: "" for an
    order of which nothing is known. difference: what is not as it was sent, or short, in words. note: what else should
    be known. row: of the source file; 0 where no row names the item.
    """

    reference_number: str
    awb_number: str
    status: str
    status_time: str
    source: str
    asked_at: str
    sent_at: str
    days_since_sent: int
    at_end: bool
    item: str = ""
    qty_sent: Decimal | None = None
    qty_ordered: Decimal | None = None
    qty_picked: Decimal | None = None
    qty_delivered: Decimal | None = None
    cod_sent: Decimal | None = None
    cod_shown: Decimal | None = None
    difference: str = ""
    note: str = ""
    file: str = ""
    sheet: str = ""
    row: int = 0
