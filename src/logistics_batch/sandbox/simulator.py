"""The warehouse and its vans: orders that move on, and the receipts file that comes back. Everything is seeded."""

import csv
import io
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from logistics_batch.sandbox.orders import CANCELLED
from logistics_batch.sandbox.statuses import change_status
from logistics_batch.sandbox.store import Change

PICKED_UP = ("Assigned", "Out-For-Pickup", "Picked", "At-Hub", "Out-For-Delivery")
COLUMNS = ("Invoice No", "Supplier", "Site", "Item", "Received Qty", "Condition", "Received On")


def journey(awb_number: str, *, seed: int) -> tuple[str, ...]:
    """The statuses that this order goes through after Pending, always the same for the same seed."""
    fate = random.Random(f"{seed}:{awb_number}").random()  # noqa: S311
    if fate < 0.10:
        return ("Assigned", "Out-For-Pickup", "Pickup-Failed")
    if fate < 0.20:
        return (*PICKED_UP, "Attempted", "At-Hub", "Out-For-Delivery", "Delivered")
    if fate < 0.35:
        return (*PICKED_UP, "Delivered")
    return (*PICKED_UP, "Complete")


def advance_orders(change: Change, *, seed: int, steps: int | None) -> dict[str, int]:
    """Move every open order `steps` statuses on (None: to the end of its journey); counts of the statuses reached."""
    reached: dict[str, int] = {}
    for order in change.connection.execute("SELECT * FROM orders WHERE status <> ?", (CANCELLED,)).fetchall():
        way = journey(order["awb_number"], seed=seed)
        start = _place_in(way, order)
        end = len(way) if steps is None else min(len(way), start + steps)
        for status in way[start:end]:
            change_status(change, order, status)
            reached[status] = reached.get(status, 0) + 1
        change.connection.execute("UPDATE orders SET moved = ? WHERE order_id = ?", (end, order["order_id"]))
    return reached


def _place_in(way: tuple[str, ...], order: sqlite3.Row) -> int:
    """How many statuses of its journey the order has behind it; all when somebody moved it elsewhere by hand."""
    if order["status"] in ("Pending", "New-Order"):
        return 0
    moved: int = order["moved"]
    return moved if way[:moved][-1:] == (order["status"],) else len(way)


@dataclass(frozen=True)
class Receipt:
    """One line of the receipts file, and what is odd about it ("" when it is exact)."""

    invoice_number: str
    supplier: str
    site: str
    item: str
    quantity: int
    condition: str = "Good"
    oddity: str = ""


def receipts_for(asns: list[dict[str, Any]], *, seed: int) -> list[Receipt]:
    """What the warehouse would say it received: shorts, overs, one swapped SKU, one damaged line, the rest exact."""
    lines = [_exact(asn, line) for asn in asns for line in asn["sku_lines"]]
    chance = random.Random(seed)  # noqa: S311
    order = chance.sample(range(len(lines)), len(lines))
    share = max(1, len(lines) // 12)
    oddities: list[Callable[[Receipt], list[Receipt]]] = [
        lambda line: [_swapped(line, lines)],
        _damaged,
        *[lambda line: [_short(line, chance)]] * share,
        *[lambda line: [_over(line, chance)]] * share,
    ]
    odd = dict(zip(order, oddities, strict=False))
    received: list[Receipt] = []
    for position, line in enumerate(lines):
        received.extend(odd[position](line) if position in odd else [line])
    return received


def receipts_csv(receipts: list[Receipt], *, received_on: date) -> str:
    """The receipts file as the warehouse sends it: CSV, dates as DD/MM/YYYY."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for one in receipts:
        day = received_on.strftime("%d/%m/%Y")
        writer.writerow((one.invoice_number, one.supplier, one.site, one.item, one.quantity, one.condition, day))
    return buffer.getvalue()


def _exact(asn: dict[str, Any], line: dict[str, Any]) -> Receipt:
    return Receipt(
        invoice_number=asn["invoice_number"],
        supplier=asn["supplier_name"] or asn["supplier"],
        site=asn["site_name"] or asn["site"],
        item=line["sku_name"] or line["item_desc"] or "",
        quantity=round(float(line["qty"])),
    )


def _short(line: Receipt, chance: random.Random) -> Receipt:
    missing = chance.randint(1, max(1, line.quantity // 4))
    return replace(line, quantity=max(0, line.quantity - missing), oddity="short")


def _over(line: Receipt, chance: random.Random) -> Receipt:
    return replace(line, quantity=line.quantity + chance.randint(1, max(1, line.quantity // 5)), oddity="over")


def _damaged(line: Receipt) -> list[Receipt]:
    broken = max(1, line.quantity // 10)
    whole = replace(line, quantity=line.quantity - broken)
    return [
        one for one in (whole, replace(line, quantity=broken, condition="Damaged", oddity="damaged")) if one.quantity
    ]


def _swapped(line: Receipt, lines: list[Receipt]) -> Receipt:
    """Another SKU in place of the announced one: one that this invoice does not name."""
    announced = {one.item for one in lines if one.invoice_number == line.invoice_number}
    others = sorted({one.item for one in lines} - announced)
    return replace(line, item=others[0] if others else f"{line.item}-ALT", oddity="swapped")
