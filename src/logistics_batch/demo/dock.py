"""The dock of the demo's warehouse: the list of what it says it received, one row an item of an invoice."""

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import date
from typing import Any

COLUMNS = ("Invoice No", "Supplier", "Site", "Item", "Received Qty", "Condition", "Received On")


@dataclass(frozen=True, slots=True)
class Receipt:
    """One line of the list."""

    invoice_number: str
    supplier: str
    site: str
    item: str
    quantity: float
    condition: str = "Good"


def usual_receipts(asns: list[dict[str, Any]], *, seed: int) -> list[Receipt]:
    """An ordinary day: shorts, overs, one swapped SKU, one damaged line, the rest exact."""
    lines = [_exact(asn, line) for asn in asns for line in asn["sku_lines"]]
    chance = random.Random(seed)  # noqa: S311
    order = chance.sample(range(len(lines)), len(lines))
    share = max(1, len(lines) // 12)
    oddities = dict(zip(order, ("swapped", "damaged", *["short"] * share, *["over"] * share), strict=False))
    received: list[Receipt] = []
    for position, line in enumerate(lines):
        match oddities.get(position):
            case "swapped":  # another SKU, one that this invoice does not name
                announced = {one.item for one in lines if one.invoice_number == line.invoice_number}
                others = sorted({one.item for one in lines} - announced)
                received.append(replace(line, item=others[0] if others else f"{line.item}-ALT"))
            case "damaged":
                broken = max(1, int(line.quantity) // 10)
                parts = (
                    replace(line, quantity=line.quantity - broken),
                    replace(line, quantity=broken, condition="Damaged"),
                )
                received += [one for one in parts if one.quantity > 0]
            case "short":
                missing = chance.randint(1, max(1, int(line.quantity) // 4))
                received.append(replace(line, quantity=max(0, line.quantity - missing)))
            case "over":
                more = chance.randint(1, max(1, int(line.quantity) // 5))
                received.append(replace(line, quantity=line.quantity + more))
            case _:
                received.append(line)
    return received


def _exact(asn: dict[str, Any], line: dict[str, Any]) -> Receipt:
    """The row for an announced line that came in as announced."""
    quantity = float(line["qty"])
    return Receipt(
        invoice_number=asn["invoice_number"],
        supplier=asn["supplier_name"] or asn["supplier"],
        site=asn["site_name"] or asn["site"],
        item=line["sku_name"] or line["item_desc"] or "",
        quantity=int(quantity) if quantity.is_integer() else quantity,
    )


def receipts_csv(receipts: Sequence[Receipt], *, received_on: date) -> str:
    """The list as the warehouse sends it: CSV, dates as DD/MM/YYYY."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    writer.writerows((*astuple(one), f"{received_on:%d/%m/%Y}") for one in receipts)
    return buffer.getvalue()
