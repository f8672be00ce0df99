"""A dock that makes mistakes on order: each kind of oddity in the receipts of single lines."""

import csv
import io
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

COLUMNS = ("Invoice No", "Supplier", "Site", "Item", "Received Qty", "Condition", "Received On")
CONDITIONS = {
    "damaged": "Damaged",
    "quality": "Quality fail",
    "rejected": "Rejected",
    "hold": "On hold",
    "nonstandard_pack": "Non-standard pack",
    "strange_condition": "Seal broken, mixed lot",
}


@dataclass(frozen=True)
class Receipt:
    """One line of the receipts file with its day, and what is odd about it ("" when it is exact)."""

    invoice_number: str
    supplier: str
    site: str
    item: str
    quantity: float
    condition: str = "Good"
    oddity: str = ""
    received_on: str = ""


def exact_receipt(asn: dict[str, Any], line: dict[str, Any], *, received_on: str = "") -> Receipt:
    """The row for an announced line that came in as announced."""
    quantity = float(line["qty"])
    return Receipt(
        invoice_number=asn["invoice_number"],
        supplier=asn["supplier_name"] or asn["supplier"],
        site=asn["site_name"] or asn["site"],
        item=line["sku_name"] or line["item_desc"] or "",
        quantity=int(quantity) if quantity.is_integer() else quantity,
        received_on=received_on,
    )


def receipts_csv(receipts: Iterable[Receipt], *, received_on: date) -> str:
    """The receipts file as a warehouse sends it: CSV, dates as DD/MM/YYYY; rows without a day have this one."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for one in receipts:
        day = date.fromisoformat(one.received_on) if one.received_on else received_on
        parties = (one.invoice_number, one.supplier, one.site, one.item)
        writer.writerow((*parties, one.quantity, one.condition, f"{day:%d/%m/%Y}"))
    return buffer.getvalue()


@dataclass(frozen=True)
class Oddity:
    """What was planted where. announced, quantity: units of the item on the ASN and in the receipts file.

    An oddity of a whole ASN's header has no item. other_item, other_invoice_number: where the goods went instead.
    """

    oddity: str
    invoice_number: str
    supplier: str
    site: str
    item: str = ""
    announced: float = 0
    quantity: float = 0
    condition: str = "Good"
    detail: str = ""
    other_item: str = ""
    other_invoice_number: str = ""


@dataclass
class Dock:
    """Rows and oddities so far, and what the planters need to know of the world.

    exact: the row of every announced line, by invoice number; free: invoices in which no ASN-wide oddity is planted.
    """

    chance: random.Random
    exact: Mapping[str, list[Receipt]]
    free: list[str]
    items: list[str]
    rows: dict[Receipt, list[Receipt]] = field(default_factory=dict)
    oddities: list[Oddity] = field(default_factory=list)
    without_a_line: set[str] = field(default_factory=set)
    strangers: set[tuple[str, str]] = field(
        default_factory=set
    )  # invoice number and item of rows that it does not name
    _named: dict[str, frozenset[str]] = field(default_factory=dict)

    def plant(self, line: Receipt, kind: str, rows: list[Receipt], **more: str) -> None:
        """Let `rows` stand for `line` in the file, and note it."""
        self.rows[line] = [replace(row, oddity=kind) for row in rows]
        own = (line.invoice_number, line.item)
        received = sum(row.quantity for row in rows if (row.invoice_number, row.item) == own)
        self.note(line, kind, announced=line.quantity, quantity=received, **more)

    def note(self, line: Receipt, kind: str, *, announced: float, quantity: float, **more: str) -> None:
        """Note an oddity of the item of `line`."""
        self.oddities.append(
            Oddity(
                oddity=kind,
                invoice_number=line.invoice_number,
                supplier=line.supplier,
                site=line.site,
                item=line.item,
                announced=announced,
                quantity=quantity,
                **more,
            )
        )

    def foreign_item(self, invoice_number: str) -> str:
        """An item of the world that neither this invoice names nor a row of it has yet."""
        start = self.chance.randrange(len(self.items))
        for step in range(len(self.items)):
            item = self.items[(start + step) % len(self.items)]
            if self.is_strange(invoice_number, item):
                break
        else:
            item = f"ALT-{len(self.strangers) + 1}"
        self.strangers.add((invoice_number, item))
        return item

    def is_strange(self, invoice_number: str, item: str) -> bool:
        """Whether the invoice does not name the item and no row of it has it yet."""
        if invoice_number not in self._named:
            self._named[invoice_number] = frozenset(row.item for row in self.exact.get(invoice_number, []))
        return item not in self._named[invoice_number] and (invoice_number, item) not in self.strangers

    def other_invoices(self, line: Receipt) -> list[str]:
        """Some invoices that could take a line by mistake."""
        return [one for one in self.free[:50] if one != line.invoice_number and self.is_strange(one, line.item)]


def short(dock: Dock, line: Receipt) -> None:
    """Fewer units than announced, at least one."""
    missing = dock.chance.randint(1, max(1, int(line.quantity) // 4))
    dock.plant(line, "short", [replace(line, quantity=line.quantity - missing)])


def over(dock: Dock, line: Receipt) -> None:
    """More units than announced."""
    more = dock.chance.randint(1, max(1, int(line.quantity) // 5))
    dock.plant(line, "over", [replace(line, quantity=line.quantity + more)])


def swapped(dock: Dock, line: Receipt) -> None:
    """Another SKU came, as many units, that the invoice does not name."""
    other = dock.foreign_item(line.invoice_number)
    dock.plant(line, "swapped", [replace(line, item=other)], other_item=other)


def mirrored(dock: Dock, line: Receipt) -> None:
    """Some units were counted as another SKU of the same invoice: one line is as much short as the other is over."""
    other = next(one for one in dock.exact[line.invoice_number] if one.item != line.item and one not in dock.rows)
    moved = dock.chance.randint(1, int(line.quantity) - 1)
    dock.plant(line, "mirrored", [replace(line, quantity=line.quantity - moved)], other_item=other.item)
    dock.plant(other, "mirrored", [replace(other, quantity=other.quantity + moved)], other_item=line.item)


def extra_sku(dock: Dock, line: Receipt) -> None:
    """Besides the announced line there is one that the invoice does not name."""
    extra = replace(line, item=dock.foreign_item(line.invoice_number), quantity=dock.chance.randint(1, 9))
    dock.rows[line] = [line, replace(extra, oddity="extra_sku")]
    dock.note(extra, "extra_sku", announced=0, quantity=extra.quantity)


def missing_sku(dock: Dock, line: Receipt) -> None:
    """The invoice came in without this line."""
    dock.without_a_line.add(line.invoice_number)
    dock.plant(line, "missing_sku", [])


def duplicate_line(dock: Dock, line: Receipt) -> None:
    """The same row stands twice."""
    dock.plant(line, "duplicate_line", [line, line])


def two_trucks(dock: Dock, line: Receipt) -> None:
    """All of it came, in two parts."""
    first = dock.chance.randint(1, int(line.quantity) - 1)
    parts = [replace(line, quantity=first), replace(line, quantity=line.quantity - first)]
    dock.plant(line, "two_trucks", parts, detail=f"{parts[0].quantity} + {parts[1].quantity}")


def booked_elsewhere(dock: Dock, line: Receipt) -> None:
    """The dock booked the line on another invoice."""
    number = dock.chance.choice(dock.other_invoices(line))
    dock.strangers.add((number, line.item))
    other = dock.exact[number][0]
    row = replace(line, invoice_number=number, supplier=other.supplier, site=other.site)
    dock.plant(line, "booked_elsewhere", [row], other_invoice_number=number)


def in_condition(kind: str) -> Callable[[Dock, Receipt], None]:
    """A planter: a part of the units (all of a single one) is in this condition."""

    def planter(dock: Dock, line: Receipt) -> None:
        spoiled = max(1, int(line.quantity) // 10)
        parts = [replace(line, quantity=line.quantity - spoiled)] if line.quantity > spoiled else []
        row = replace(line, quantity=spoiled, condition=CONDITIONS[kind])
        dock.plant(line, kind, [*parts, row], condition=row.condition, detail=f"{spoiled} {row.condition.lower()}")

    return planter


def _any(_dock: Dock, _line: Receipt) -> bool:
    return True


def _several(_dock: Dock, line: Receipt) -> bool:
    return line.quantity >= 2


def _beside_others(dock: Dock, line: Receipt) -> bool:
    return len(dock.exact[line.invoice_number]) > 1 and line.invoice_number not in dock.without_a_line


def _beside_a_free_line(dock: Dock, line: Receipt) -> bool:
    others = (one for one in dock.exact[line.invoice_number] if one.item != line.item)
    return line.quantity >= 2 and any(one not in dock.rows for one in others)


def _beside_other_invoices(dock: Dock, line: Receipt) -> bool:
    return bool(dock.other_invoices(line))


# Kind: how it is planted, and in which lines it can be.
LINE_KINDS: Mapping[str, tuple[Callable[[Dock, Receipt], None], Callable[[Dock, Receipt], bool]]] = {
    "mirrored": (mirrored, _beside_a_free_line),
    "booked_elsewhere": (booked_elsewhere, _beside_other_invoices),
    "missing_sku": (missing_sku, _beside_others),
    "short": (short, _several),
    "over": (over, _any),
    "swapped": (swapped, _any),
    "extra_sku": (extra_sku, _any),
    "duplicate_line": (duplicate_line, _any),
    "two_trucks": (two_trucks, _several),
    **{kind: (in_condition(kind), _any) for kind in CONDITIONS},
}
