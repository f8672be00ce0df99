"""Files of many kinds, read again by a second reader in plain Python: each row has one fate, and totals balance."""

import csv
import io
import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from campaigns.scale import size
from mapping.sheets import DAY, mapping_of

from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile, RowState

FILES_OF_A_KIND = size(25, 700)

HEADER = ["Order No", "Name", "Phone", "Address", "City", "PIN", "Payment", "SKU", "Qty", "Price", "Status"]
MAPPING = """
operation: order.create
sheet: {skip_rows_where: {Status: Cancelled}%(fill_down)s}
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Name}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {join: [Address, City], with: ", "}
  delivery_postal_code: {from: PIN, read: pincode}
  is_cod: {from: Payment, read: {lookup: {COD: "true", Prepaid: "false"}}, default: "false"}
  cash_on_delivery: {sum: Price, times: Qty, when: {Payment: COD}}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer, required: true}
  item_price_per_each: {from: Price, read: money}
"""
KINDS = {
    "whole rows": MAPPING % {"fill_down": ""},
    "filled down": MAPPING % {"fill_down": ", fill_down: [Name, Phone, Address, City, PIN, Payment]"},
    "decimal comma": (MAPPING % {"fill_down": ', decimal: ","'}),
}

# What a cell may hold and what it says to this reader: a value, None where it says nothing, WRONG where it is wrong.
WRONG = "wrong"
CELLS: dict[str, dict[str, str | None]] = {
    "Name": {"Asha Rao": "Asha Rao", '  Mr "X" \\ ': 'Mr "X" \\', "": None, "आशा": "आशा"},
    "Phone": {"9876543210": "9876543210", "+91 98765-43210": "9876543210", "98450": WRONG, "": None},
    "Address": {"12 MG Road": "12 MG Road", "Flat 3, Tower 2": "Flat 3, Tower 2", "": None},
    "City": {"Kochi": "Kochi", "Pune": "Pune", "": None},
    "PIN": {"682001": "682001", "682 001": "682001", "5600": WRONG, "": None},
    "Payment": {"COD": "true", " cod": "true", "Prepaid": "false", "barter": WRONG, "": None},
    "SKU": {"tea": "tea", "cup": "cup", "SKU-1": "SKU-1", "": None},
    "Qty": {"1": "1", "2": "2", "1,200": "1200", "two": WRONG, "0": WRONG, "": None},
    "Price": {"100": "100", "1,499.50": "1499.50", "₹20": "20", "free": WRONG, "": None},
    "Status": {"": None, "Ready": "Ready", "Cancelled": "Cancelled"},
}
COMMA = {"Qty": {"1.200": "1200"}, "Price": {"1.499,50": "1499.50", "99,5": "99.5", "2.5": WRONG}}
USUAL = {name: next(iter(cells)) for name, cells in CELLS.items()} | {"Payment": "Prepaid"}
HEADER_CELLS = ("Name", "Phone", "Address", "City", "PIN", "Payment")
Line = tuple[int, dict[str, str | None]]  # a row's number, and what its cells say
Cells = tuple[str, ...]


@dataclass
class Count:
    """What the plain reader makes of a file: the fate of each physical row, and the bodies by their keys."""

    fates: dict[int, RowState] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)


def written(kind: str, seed: int) -> str:
    """A CSV file with mistakes, gaps, rows that are no data, and orders whose rows lie apart."""
    chance = random.Random(f"{kind} {seed}")
    share = chance.choice((0.0, 0.03, 0.15))
    text = io.StringIO()
    sheet = csv.writer(text, delimiter=";" if kind == "decimal comma" else ",")
    sheet.writerow(HEADER)
    keys = [f"A{number}" for number in range(chance.choice((1, 4, 12)))]
    heads = {key: [_cell(chance, kind, name, share) for name in HEADER_CELLS] for key in keys}
    for _ in range(chance.choice((0, 1, 5, 25))):
        if chance.random() < 0.05:
            sheet.writerow(chance.choice(([], [""] * len(HEADER), HEADER, ["; note"], ["TOTAL", *[""] * 7, "9"])))
        key = chance.choice(keys)
        blank_head = kind == "filled down" and chance.random() < 0.3
        head = [""] * len(HEADER_CELLS) if blank_head or chance.random() < share / 3 else heads[key]
        items = [_cell(chance, kind, name, share) for name in ("SKU", "Qty", "Price", "Status")]
        sheet.writerow(["" if chance.random() < share / 3 else key, *head, *items])
    return text.getvalue()


def _cell(chance: random.Random, kind: str, name: str, share: float) -> str:
    return chance.choice(list(_meanings(kind, name))) if chance.random() < share else USUAL[name]


def _meanings(kind: str, name: str) -> dict[str, str | None]:
    """The cells of a column; where the decimal mark is a comma, those with a full stop mean something else."""
    if kind != "decimal comma" or name not in COMMA:
        return CELLS[name]
    return {text: said for text, said in CELLS[name].items() if "," not in text} | COMMA[name]


def counted(kind: str, text: str) -> Count:
    """Every row's fate and every payload, row by row."""
    count = Count()
    orders: defaultdict[str, list[Line]] = defaultdict(list)
    typed: defaultdict[str, list[Cells]] = defaultdict(list)
    half: set[str] = set()  # the orders below which goods without a key stand that may be theirs
    last: tuple[str, dict[str, str]] = ("", {})  # the row with a key above, and its order unless another lost its key
    keyed: list[tuple[int, dict[str, str], dict[str, str]]] = []  # rows with a key: their cells, and with those above
    heads: dict[tuple[str, str], str] = {}  # what the first row of an order says that says it
    above: dict[str, str] = {}  # where cells are filled down: the last ones of this block, its key among them
    rows = csv.reader(io.StringIO(text), delimiter=";" if kind == "decimal comma" else ",")
    next(rows)
    for number, row in enumerate(rows, 2):
        cells = dict(zip(HEADER, [cell.strip() for cell in row], strict=False))
        if not any(cells.values()) or row == HEADER or row[0] in ("TOTAL", "; note") or cells["Status"] == "Cancelled":
            count.fates[number], above = RowState.SKIPPED, {}
            continue
        if kind != "filled down" or cells["Order No"] not in ("", above.get("Order No")):
            above = {}
        above |= {name: cell for name, cell in cells.items() if cell and name in ("Order No", *HEADER_CELLS)}
        if not cells["Order No"]:
            count.fates[number] = RowState.INVALID
        key, their = last
        if cells["Order No"]:
            last = (cells["Order No"], cells)
        elif cells["SKU"] and cells["Qty"]:
            is_another = any(cells[name] not in ("", their.get(name)) for name in HEADER_CELLS)
            last = ("" if is_another else key, their)
            half |= set() if is_another else {key}
        if cells["Order No"]:
            keyed.append((number, cells, cells | above))
            for name in HEADER_CELLS if kind == "filled down" else ():
                heads.setdefault((cells["Order No"], name), "")
                heads[cells["Order No"], name] = heads[cells["Order No"], name] or (cells | above)[name]
    for number, cells, whole in keyed:
        key = cells["Order No"]  # where cells are filled down, any row of an order may say what holds for all
        whole |= {name: heads.get((key, name), "") for name in HEADER_CELLS if not whole[name]}
        own, said = _said(kind, cells), _said(kind, whole)
        unpriced = not own["Price"] and said["Payment"] == "true"
        if WRONG in own.values() or not own["SKU"] or not own["Qty"] or unpriced:
            count.fates[number] = RowState.INVALID
        orders[key].append((number, said))
        typed[key].append(tuple(whole.values()))
    for key, lines in orders.items():
        _judge(count, key, lines, is_odd=len(set(typed[key])) < len(lines) or key in half)
    return count


def _said(kind: str, cells: dict[str, str]) -> dict[str, str | None]:
    """What the cells of a row say."""
    meanings = {name: {text.strip(): said for text, said in _meanings(kind, name).items()} for name in CELLS}
    return {name: meanings[name][cells[name]] for name in CELLS}


def _judge(count: Count, key: str, lines: list[Line], *, is_odd: bool) -> None:
    """An order is sent if its rows are fine, differ, agree and are all of it, and what the service wants is there."""
    heads = {_head(said) for _, said in lines}
    wrong = any(number in count.fates or WRONG in said.values() for number, said in lines)
    name, mobile, address, pin, is_cod = heads.pop()
    amounts = [Decimal(said["Price"]) * Decimal(said["Qty"]) for _, said in lines if said["Price"] and not wrong]
    due = f"{sum(amounts):.2f}" if is_cod == "true" else None
    if heads or wrong or is_odd or not mobile or not address or (due is not None and Decimal(due) <= 0):
        count.fates |= {number: RowState.BLOCKED for number, _ in lines if number not in count.fates}
        return
    count.fates |= {number: RowState.READY for number, _ in lines}
    payload = {
        "reference_number": key,
        "customer_name": name,
        "customer_mobile": mobile,
        "delivery_address": address,
        "delivery_postal_code": pin,
        "is_cod": is_cod,
        "cash_on_delivery": due,
        "item_details": [_item(said) for _, said in lines],
    }
    count.bodies[key] = _compact(payload)


def _head(said: dict[str, str | None]) -> tuple[str | None, ...]:
    address = ", ".join(filter(None, (said["Address"], said["City"])))
    return said["Name"], said["Phone"], address, said["PIN"], said["Payment"] or "false"


def _item(said: dict[str, str | None]) -> dict[str, object]:
    price = f"{Decimal(said['Price']):.2f}" if said["Price"] else None
    item = {"item_name": said["SKU"], "item_quantity": int(said["Qty"] or 0), "item_price_per_each": price}
    return {name: value for name, value in item.items() if value is not None}


def _compact(payload: dict[str, object]) -> str:
    filled = {name: value for name, value in payload.items() if value is not None}
    return json.dumps(filled, ensure_ascii=False, separators=(",", ":"))


def assert_same(mapped: MappedFile, count: Count, text: str) -> None:
    """The mapping says what the plain reader says; a row of an order that is not sent may be blocked or invalid."""
    found = dict(zip(mapped.rows["row"].to_list(), map(RowState, mapped.rows["state"]), strict=True))
    expected = dict(sorted(count.fates.items()))
    assert mapped.rows.height == len(found) == text.count("\n") - 1
    assert list(found) == list(expected)
    for row, state in expected.items():
        held_back = (RowState.BLOCKED, RowState.INVALID)
        assert found[row] in (held_back if state is RowState.BLOCKED else (state,)), row
    assert {document.key: document.body for document in mapped.documents} == count.bodies
    sent = [row for document in mapped.documents for row in document.rows]
    assert sorted(sent) == [row for row, state in found.items() if state is RowState.READY]
    assert {issue.row for issue in mapped.issues} == {row for row, state in found.items() if state is RowState.INVALID}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_plain_reader_finds_the_same_fates_totals_and_payloads(kind: str, tmp_path: Path) -> None:
    mapping = mapping_of(KINDS[kind])
    for seed in range(FILES_OF_A_KIND):
        text = written(kind, seed)
        path = tmp_path / f"{seed}.csv"
        path.write_text(text, encoding="utf-8", newline="")
        sheets = read_file(path, name=path.name, options=mapping.read_options)
        mapped = apply_mapping(mapping, sheets, run_values=RunValues(path.name, DAY, "Asia/Kolkata"))
        assert_same(mapped, counted(kind, text), text)
