"""Workbooks of two sheets, counted again in plain Python: each row has one fate, and each order its own lines."""

import json
import random
from collections import Counter, defaultdict

import pytest
from campaigns.scale import size
from mapping.sheets import mapping_of, run, sheet_of

MAPPING = """
operation: order.create
key: [Order No]
sheet: {skip_rows_where: {Status: Cancelled}}
lines_sheet: {name: Items, key: [Order]}
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer, required: true}
"""
FILES = size(30, 700)

Rows = list[list[str]]
Fates = dict[tuple[str, int], str]


def written(chance: random.Random) -> tuple[Rows, Rows]:
    """The rows of orders and those of items, with mistakes of every kind among them."""
    keys = [f"A{number}" for number in range(chance.randint(1, 8))]
    orders, items = Rows(), Rows()
    for key in keys:
        for _ in range(chance.choices((0, 1, 2), (2, 20, 1))[0]):
            phone = chance.choices(("9876543210", "98", ""), (20, 1, 1))[0]
            status = chance.choices(("Ready", "Cancelled"), (12, 1))[0]
            orders.append([key, phone, "12 MG Road", status])
        for _ in range(chance.choices((0, 1, 2, 3), (1, 6, 4, 3))[0]):
            items.append([key, chance.choice(("tea", "rice")), chance.choices(("2", "two", ""), (20, 1, 1))[0]])
    orders += [["", "", "", ""], ["", "9876543210", "7 MG Road", "Ready"]][: chance.randint(0, 2)]
    items += [["", "", ""], ["", "salt", "1"], ["TOTAL", "", "9"]][: chance.randint(0, 3)]
    chance.shuffle(items)
    chance.shuffle(orders)
    return orders, items


def counted(orders: Rows, items: Rows) -> tuple[Fates, dict[str, list[tuple[str, int]]]]:
    """The fate of each row by sheet and number, and the lines of each order that goes out."""
    fates, rows_of, lines_of = Fates(), defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    passed = set[str]()
    for row, (key, phone, _, status) in enumerate(orders, 2):
        if status in ("", "Cancelled"):
            fates["", row] = "skipped"
            passed |= {key} if key else set()
        elif not key:
            fates["", row] = "invalid"
        else:
            fates["", row] = "invalid" if phone != "9876543210" or rows_of[key] else "ready"
            rows_of[key].append(row)
    above, below = "", set[str]()  # the order of the last line, and those below whose lines one without a key stands
    for row, (key, _, quantity) in enumerate(items, 2):
        if (not key and not quantity) or key == "TOTAL":
            fates["Items", row] = "skipped"
            continue
        above, below = key or above, below | ({above} if not key else set())
        if not rows_of.get(key):
            fates["Items", row] = "skipped" if key in passed else "invalid"
        else:
            fates["Items", row] = "ready" if quantity == "2" else "invalid"
            lines_of[key].append(row)
    for key, rows in rows_of.items():
        phones = [orders[row - 2][1] for row in rows]
        if any(phones) and not phones[0]:  # a blank beside a value disagrees with it
            fates["", rows[0]] = "blocked"
        lines = [tuple(items[row - 2]) for row in lines_of[key]]
        if rows and (len(set(lines)) < len(lines) or key in below):  # pasted twice, or half: the order is to blame
            fates["", rows[0]] = "invalid"
    sent: dict[str, list[tuple[str, int]]] = {}
    for key, rows in rows_of.items():
        if rows and not lines_of[key]:
            fates["", rows[0]] = "invalid"
        places = [("", row) for row in rows] + [("Items", row) for row in lines_of[key]]
        if any(fates[place] == "invalid" for place in places):
            fates |= {place: "blocked" for place in places if fates[place] == "ready"}
        elif rows:
            sent[key] = [(items[row - 2][1], 2) for row in lines_of[key]]
    return fates, sent


@pytest.mark.slow
def test_a_plain_count_of_both_sheets_finds_the_same_fates_and_lines() -> None:
    mapping, seen = mapping_of(MAPPING), Counter[tuple[str, str]]()
    for seed in range(FILES):
        orders, items = written(random.Random(seed))
        found = run(
            mapping,
            sheet_of([["Order No", "Phone", "Address", "Status"], *orders], name="Orders"),
            sheet_of([["Order", "SKU", "Qty"], *items], name="Items"),
        )
        fates, sent = counted(orders, items)
        rows = found.rows.select("sheet", "row", "state").rows()
        assert len(rows) == len(orders) + len(items) == found.rows.height, seed
        assert {(sheet, row): state for sheet, row, state in rows} == fates, seed
        bodies = [json.loads(document.body) for document in found.documents]
        lines = {body["reference_number"]: body["item_details"] for body in bodies}
        assert {
            key: [(line["item_name"], line["item_quantity"]) for line in its] for key, its in lines.items()
        } == sent, seed
        assert {(issue.sheet, issue.row) for issue in found.issues} == {
            place for place, state in fates.items() if state == "invalid"
        }, seed
        seen.update((sheet, state) for (sheet, _), state in fates.items())
    assert {state for sheet, state in seen if sheet} == {state for sheet, state in seen if not sheet}
    assert len(seen) == 8, "every fate is met on both sheets"
