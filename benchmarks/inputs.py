"""Seeded inputs: an order file with known mistakes, and a wide workbook."""

import csv
import random
from pathlib import Path

SEED = 20261103
HEADER = (
    *("Order No", "Order Date", "Ship To", "Phone", "Email", "Addr 1", "Addr 2", "City", "State", "PIN", "Payment"),
    *("Deliver by", "Prio", "Route", "SKU", "Description", "Category", "Brand", "Qty", "Price", "Weight (g)", "Bin"),
    "Remarks",
)
ROWS_PER_ORDER = 4  # on average; from 1 to 7
_NAMES = ("Asha Rao", "Imran Khan", "Meera Nair", "आशा राव", "Joseph D'Souza", "Gurpreet Singh")
_CITIES = (
    *(("Bengaluru", "Karnataka", "560001"), ("Mumbai", "Maharashtra", "400050")),
    *(("Kochi", "Kerala", "682001"), ("Delhi", "Delhi", "110001")),
)
_CATEGORIES = ("Grocery", "Home", "Beauty", "Toys")
_BRANDS = ("Acme", "Himal", "Zen", "Nila")
_MISTAKES = {"PIN": "5600", "Phone": "98450", "Qty": "two"}  # what stands there instead
_MISTAKE_SHARE = 0.01
PADDED = "0000000"


def write_orders(path: Path, *, rows: int) -> None:
    """A CSV of `rows` rows, one an item, four rows an order on average; one row in a hundred has a mistake."""
    chance = random.Random(SEED)
    mistakes = [(HEADER.index(name), wrong) for name, wrong in sorted(_MISTAKES.items())]
    written = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(HEADER)
        order = 0
        while written < rows:
            order += 1
            head = _order_cells(chance, order)
            for _ in range(min(chance.randint(1, 2 * ROWS_PER_ORDER - 1), rows - written)):
                row = [*head, *_item_cells(chance)]
                if chance.random() < _MISTAKE_SHARE:
                    column, wrong = chance.choice(mistakes)
                    row[column] = wrong
                sheet.writerow(row)
                written += 1


def _order_cells(chance: random.Random, order: int) -> list[str]:
    city, state, pin = chance.choice(_CITIES)
    phone = f"{chance.randint(6, 9)}{chance.randint(0, 999_999_999):09d}"
    floor = chance.choice(("", "", f"Floor {chance.randint(1, 30)}, Tower {chance.choice('ABC')}"))
    return [
        f"ORD-{order:07d}",
        "01/11/2026",
        chance.choice(_NAMES),
        f"+91 {phone[:5]} {phone[5:]}",
        f"customer{chance.randint(1, 99_999)}@example.com",
        f"{chance.randint(1, 400)}, Market Road",
        floor,
        *(city, state, pin),
        chance.choice(("COD", "Prepaid")),
        f"{chance.randint(4, 28):02d}/11/2026",
        chance.choice(("1", "2", "")),
        f"R{chance.randint(1, 40)}",
    ]


def _item_cells(chance: random.Random) -> list[str]:
    sku = chance.randint(1, 5_000)
    return [
        f"SKU-{sku:05d}",
        f"Article number {sku}",
        chance.choice(_CATEGORIES),
        chance.choice(_BRANDS),
        str(chance.randint(1, 9)),
        f"{chance.randint(1, 9_999)}.{chance.randint(0, 99):02d}",
        str(chance.randint(50, 9_999)),
        f"{chance.choice('ABCD')}-{chance.randint(1, 99):02d}",
        "",
    ]


def write_workbook(path: Path, *, rows: int, columns: int) -> None:
    """An xlsx of texts and whole numbers, half of the columns each. The last column shows leading zeros; every
    thousandth row is hidden, and the one after it has an error cell."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    chance = random.Random(SEED)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Orders")
    sheet.append([f"Column {number}" for number in range(1, columns + 1)])
    for row in range(1, rows + 1):
        line: list[object] = [f"R{row}-{chance.randint(1, 9_999)}" for _ in range(columns // 2)]
        line += [chance.randint(1, 99_999) for _ in range(columns - len(line) - 1)]
        last = WriteOnlyCell(sheet, chance.randint(1, 99_999))
        last.number_format = PADDED
        if row % 1_000 == 1:
            last = WriteOnlyCell(sheet, "#N/A")
            last.data_type = "e"
        sheet.row_dimensions[row + 1].hidden = row % 1_000 == 0
        sheet.append([*line, last])
    book.save(path)
