"""Seeded inputs: an order file with known mistakes, and a wide workbook."""

import csv
import random
from pathlib import Path

SEED = 20261103
HEADER = ("Order No", "Ship To", "Phone", "Addr 1", "City", "PIN", "Payment", "SKU", "Qty", "Price")
_NAMES = ("Asha Rao", "Imran Khan", "Meera Nair", "आशा राव", "Joseph D'Souza", "Gurpreet Singh")
_CITIES = (("Bengaluru", "560001"), ("Mumbai", "400050"), ("Kochi", "682001"), ("Delhi", "110001"))
_MISTAKES = {5: "5600", 2: "98450", 8: "two"}  # column: what stands there instead
_MISTAKE_SHARE = 0.01


def write_orders(path: Path, *, rows: int) -> None:
    """A CSV of `rows` rows, one an item, one to four rows an order; one row in a hundred has a mistake."""
    chance = random.Random(SEED)
    written = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(HEADER)
        order = 0
        while written < rows:
            order += 1
            city, pin = chance.choice(_CITIES)
            phone = f"{chance.randint(6, 9)}{chance.randint(0, 999_999_999):09d}"
            head = [f"ORD-{order:07d}", chance.choice(_NAMES), f"+91 {phone[:5]} {phone[5:]}"]
            head += [f"{chance.randint(1, 400)}, Market Road", city, pin, chance.choice(("COD", "Prepaid"))]
            for _ in range(min(chance.randint(1, 4), rows - written)):
                price = f"{chance.randint(1, 9_999)}.{chance.randint(0, 99):02d}"
                row = [*head, f"SKU-{chance.randint(1, 5_000):05d}", str(chance.randint(1, 9)), price]
                if chance.random() < _MISTAKE_SHARE:
                    column, wrong = chance.choice(sorted(_MISTAKES.items()))
                    row[column] = wrong
                sheet.writerow(row)
                written += 1


def write_workbook(path: Path, *, rows: int, columns: int) -> None:
    """An xlsx of texts and whole numbers, half of the columns each."""
    from openpyxl import Workbook

    chance = random.Random(SEED)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Orders")
    sheet.append([f"Column {number}" for number in range(1, columns + 1)])
    for row in range(1, rows + 1):
        line: list[str | int] = [f"R{row}-{chance.randint(1, 9_999)}" for _ in range(columns // 2)]
        sheet.append(line + [chance.randint(1, 99_999) for _ in range(columns - len(line))])
    book.save(path)
