"""The dock of the demo: an ordinary day has shorts, overs, one swapped SKU and one damaged line."""

import csv
import io
from collections import Counter
from datetime import date
from typing import Any

import pytest

from logistics_batch.demo.play import COLUMNS, receipts_csv, usual_receipts

DAY = date(2026, 11, 20)


def asns(count: int = 6, lines: int = 4) -> list[dict[str, Any]]:
    """ASNs as the service shows them."""
    parties = {"supplier": "SUP-1", "supplier_name": "Acme", "site": "S1", "site_name": None}
    return [
        parties
        | {
            "invoice_number": f"INV-{number}",
            "sku_lines": [
                {"sku_name": f"SKU-{number}-{place}", "item_desc": None, "qty": str(40 + place)}
                for place in range(lines)
            ],
        }
        for number in range(1, count + 1)
    ]


def test_an_ordinary_day_differs_in_few_lines() -> None:
    expected = {
        (asn["invoice_number"], line["sku_name"]): int(line["qty"]) for asn in asns() for line in asn["sku_lines"]
    }
    received = usual_receipts(asns(), seed=3)
    counted: Counter[tuple[str, str]] = Counter()
    for line in received:
        counted[line.invoice_number, line.item] += int(line.quantity)
    differences = {key for key in expected | counted if expected.get(key, 0) != counted.get(key, 0)}
    assert len(differences) == 2 + 2 + 2  # shorts, overs, both SKUs of the swap
    assert [line.condition for line in received].count("Damaged") == 1
    assert usual_receipts(asns(), seed=3) == received != usual_receipts(asns(), seed=4)


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_few_lines_are_enough(lines: int) -> None:
    assert len(usual_receipts(asns(1, lines), seed=1)) >= lines


def test_the_list_is_what_a_warehouse_sends() -> None:
    rows = list(csv.DictReader(io.StringIO(receipts_csv(usual_receipts(asns(1, 3), seed=1), received_on=DAY))))
    assert tuple(rows[0]) == COLUMNS
    assert {row["Received On"] for row in rows} == {"20/11/2026"}
    assert {(row["Supplier"], row["Site"]) for row in rows} == {("Acme", "S1")}
