"""Sheets with one thing wrong in a row, so that each message about rows is said once as a clerk sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import polars as pl
from mapping.sheets import sheet_of
from support.cell_facts import with_facts

from logistics_batch.mapping import load_mapping
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact

DAY = date(2026, 11, 3)
ORDERS = """
operation: order.create
key: [{key}]
fields:
  reference_number: {{from: Order No, required: true}}
  customer_name: {{from: Name, required: true}}
  customer_mobile: {{from: Phone, read: mobile}}
  delivery_address: {{from: Address}}
{fields}
lines:
  item_name: {{from: {item}, required: true}}
  item_quantity: {{from: {quantity}, read: integer}}
{lines}
{rest}
"""
ROW = {
    "Order No": "A-1",
    "Name": "Asha",
    "Phone": "9876543210",
    "Address": "12 MG Road",
    "SKU": "TEA",
    "Qty": "2",
}


@dataclass(frozen=True, slots=True)
class WrongRow:
    """Orders in which something is wrong in the first row or between rows.

    cells: what differs from a good row, and further columns. more: further rows, as what differs from the first.
    above: lines above the header. counts, hidden: as a sheet has them; facts: as `with_facts` takes them.
    kind: what the first of `cells` is to a spreadsheet program. fields, lines, rest: what the mapping says besides.
    item, quantity: the names that the two are read from.
    """

    cells: dict[str, str] = field(default_factory=dict)
    more: Sequence[dict[str, str]] = ()
    above: Sequence[str] = ()
    counts: Sequence[int] = ()
    hidden: tuple[int, ...] = ()
    facts: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    kind: CellFact | None = None
    fields: str = ""
    lines: str = ""
    rest: str = ""
    item: str = "SKU"
    quantity: str = "Qty"
    key: str = "Order No"

    def mapped(self) -> MappedFile:
        """What the mapping makes of the sheet; FileHeld if it is refused as a whole."""
        first = ROW | self.cells
        header = list(first)
        above = [[text] for text in self.above]
        rows = [*above, header, list(first.values()), *(list((first | each).values()) for each in self.more)]
        types = [(2, header.index(next(iter(self.cells))) + 1, self.kind)] if self.kind else ()
        indented = {name: "\n".join(f"  {line}" for line in text.splitlines()) for name, text in self._more_fields()}
        text = ORDERS.format(**indented, rest=self.rest, item=self.item, quantity=self.quantity, key=self.key)
        mapping = load_mapping(text, path="orders.yaml", read_lookup=lambda _: "")
        run = RunValues(file_name="orders.csv", business_date=DAY, timezone="Asia/Kolkata")
        counts = pl.Series(self.counts, dtype=pl.UInt32) if self.counts else None
        sheet = with_facts(sheet_of(rows, types=types), **self.facts)
        sheet = replace(sheet, cell_counts=counts, hidden_rows=self.hidden)
        return apply_mapping(mapping, [sheet], run_values=run)

    def _more_fields(self) -> list[tuple[str, str]]:
        return [("fields", self.fields), ("lines", self.lines)]


_PAYMENT = (
    'is_cod: {from: Payment, read: {lookup: {COD: "true", Prepaid: "false"}}}\n'
    "cash_on_delivery: {from: Amount, read: money}"
)
_DATE = 'expected_delivery_time: {from: Deliver by, read: {date: ["%d/%m/%Y"]}}'

INVALID: dict[str, WrongRow] = {
    "required": WrongRow({"Name": ""}),
    "key|required": WrongRow({"Order No": ""}),
    "mobile": WrongRow({"Phone": "98765 4321"}),
    "pincode": WrongRow({"PIN": "56001"}, fields="delivery_postal_code: {from: PIN, read: pincode}"),
    "integer": WrongRow({"Qty": "two"}),
    "quantity": WrongRow({"Qty": "0"}),
    "decimal": WrongRow({"Height": "tall"}, lines="length: {from: Height, read: decimal}"),
    "percent": WrongRow({"Share": "half"}, lines="length: {from: Share, read: percent}"),
    "money": WrongRow({"Payment": "COD", "Amount": "on request"}, fields=_PAYMENT),
    "cartons": WrongRow({"Qty": "10", "Ctn": "A-B"}, quantity="Qty, cartons: Ctn"),
    "decimal_mark": WrongRow({"Payment": "COD", "Amount": "1.200"}, fields=_PAYMENT),
    "negative": WrongRow({"Payment": "Prepaid", "Amount": "-250.00"}, fields=_PAYMENT),
    "unit": WrongRow({"Weight": "2 lb"}, fields="weight: {from: Weight, read: {unit: g -> kg}}"),
    "date": WrongRow({"Deliver by": "soon"}, fields=_DATE),
    "expected_delivery_time|date": WrongRow({"Deliver by": "31/11/2026"}, fields=_DATE),
    "date_window": WrongRow({"Deliver by": "03/11/2062"}, fields=_DATE),
    "lookup": WrongRow({"Payment": "Credit", "Amount": ""}, fields=_PAYMENT),
    "cod": WrongRow({"Payment": "COD", "Amount": "0"}, fields=_PAYMENT),
    "sum": WrongRow(
        {"Payment": "COD", "Amount": "half"},
        fields=_PAYMENT.replace("{from: Amount, read: money}", "{sum: Amount}"),
    ),
    "line_total": WrongRow(
        {"Rate": "100.00", "Total": "300.00"},
        lines="total_item_price: {from: Rate, read: money}",
        rest="keep: {total: {from: Total}}\n"
        'checks: {line_total: {quantity: Qty, price: Rate, total: Total, tolerance: "1.00"}}',
    ),
    "sample": WrongRow({"Name": "John Doe"}, rest="checks: {sample_values: true}"),
    "placeholder": WrongRow({"SKU": "N/A"}),
    "several_values": WrongRow({"Phone": "9876543210\n9812345678"}),
    "control": WrongRow({"SKU": "TE\x07A"}),
    "scientific": WrongRow({"Phone": "9.87E+09"}),
    "error_value": WrongRow({"SKU": "#REF!"}, kind=CellFact.ERROR),
    "no_value": WrongRow({"SKU": ""}, kind=CellFact.NO_VALUE),
    "imprecise": WrongRow({"Order No": "12345678901234567890"}, kind=CellFact.IMPRECISE),
    "pattern": WrongRow(
        {"SKU": "TEA twice"},
        item="code",
        quantity="pieces",
        rest='lines_from: {split: SKU, on: ["|"], pattern: "{code} x {pieces}"}\nignore: [Qty]',
    ),
    "pieces": WrongRow({"SKU": "TEA|MILK", "Qty": "2"}, rest='lines_from: {split: [SKU, Qty], on: ["|"]}'),
    "half_filled": WrongRow(
        {"SKU 1": "TEA", "Qty 1": "2", "SKU 2": "MILK", "Qty 2": ""},
        item='"SKU {n}"',
        quantity='"Qty {n}"',
        rest='lines_from: {columns: ["SKU {n}", "Qty {n}"]}\nignore: [SKU, Qty]',
    ),
    "no_column": WrongRow(
        {"SKU 1": "TEA", "Qty 1": "2", "SKU 2": "MILK"},
        item='"SKU {n}"',
        quantity='"Qty {n}"',
        rest='lines_from: {columns: ["SKU {n}", "Qty {n}"]}\nignore: [SKU, Qty]',
    ),
    "blank_inside": WrongRow({"AWB": "SH - 22T70ZX"}, fields="awb_number: {from: AWB}"),
    "cells": WrongRow({"Remarks": "fragile", "": "call first"}, counts=(7, 8), rest="ignore: [Remarks]"),
    "ditto": WrongRow({"SKU": "-do-"}),
    "date_cell": WrongRow({"SKU": "2026-03-01"}, kind=CellFact.DATE),
    "decimal_code": WrongRow({"SKU": "1001.1"}, kind=CellFact.NUMBER),
    "truth_cell": WrongRow({"SKU": "TRUE"}, kind=CellFact.TRUTH),
    "number_format": WrongRow({"SKU": "17"}, facts={"number_format_text": [(2, 5, "0-0")]}),
    "item_quantity|struck_through": WrongRow({"Qty": "1221"}, facts={"strikethrough": [(2, 6, "12", "21")]}),
    "item_name|struck_through": WrongRow(facts={"strikethrough": [(2, 5, "", "")]}),
    "struck_through": WrongRow(facts={"strikethrough": [(2, column, "", "") for column in range(1, 7)]}),
    "covered": WrongRow({"Qty": "7"}, facts={"hidden_by_merge": [(2, 6)]}),
}

BLOCKED: dict[str, WrongRow] = {
    "sibling": WrongRow({"SKU": ""}, more=[{"SKU": "MILK"}]),
    "disagree": WrongRow(more=[{"Address": "7 Park Street"}]),
    "duplicate": WrongRow(
        {"Site": "BLR"}, more=[{"Site": "CCU"}], key="Order No, Site", rest="keep: {site: {from: Site}}"
    ),
    "equal rows": WrongRow(more=[{}]),
    "half document": WrongRow(
        {"State": "Ready"},
        more=[{"Address": "", "SKU": "MILK", "State": ""}],
        rest="sheet: {only_rows_where: {State: [Ready]}}\nkeep: {state: {from: State}}",
    ),
    "hidden row": WrongRow(more=[{"SKU": "MILK"}], hidden=(3,), rest="sheet: {hidden_rows: skip}"),
}

SKIPPED: dict[str, WrongRow] = {
    "blank": WrongRow(more=[dict.fromkeys(ROW, "")]),
    "title": WrongRow(above=["Orders of Tuesday"]),
    "repeated header": WrongRow(more=[{name: name for name in ROW}]),
    "comment": WrongRow(more=[dict.fromkeys(ROW, "") | {"Order No": "; second page"}]),
    "total": WrongRow(more=[dict.fromkeys(ROW, "") | {"Name": "Total", "Qty": "2"}]),
    "skip_rows_where": WrongRow(more=[{"Order No": "VOID 7"}], rest='sheet: {skip_rows_where: {Order No: ["VOID*"]}}'),
    "only_rows_where": WrongRow(
        {"State": "Ready"},
        more=[{"State": "Draft"}],
        rest="sheet: {only_rows_where: {State: [Ready]}}\nkeep: {state: {from: State}}",
    ),
    "hidden": WrongRow(more=[{"Order No": "A-2"}], hidden=(3,), rest="sheet: {hidden_rows: skip}"),
}

HELD: dict[str, WrongRow] = {
    "mixed_dates": WrongRow(
        {"Deliver by": "2026-11-03"},
        more=[{"Order No": "A-2", "Deliver by": "04/11/2026"}],
        kind=CellFact.DATE,
        fields=_DATE,
    ),
    "swapped_dates": WrongRow(
        {"Deliver by": "11/24/2026"},
        more=[{"Order No": "A-2", "Deliver by": "05/06/2027"}],
        fields=_DATE,
    ),
    "header": WrongRow(rest="keep: {route: {from: Route}}", fields="division: {from: Division, required: true}"),
    "control_total": WrongRow(
        more=[dict.fromkeys(ROW, "") | {"Order No": "TOTAL", "Qty": "3"}],
        rest='sheet: {skip_rows_where: {Order No: ["TOTAL*"]}}\n'
        'checks: {control_total: {column: Qty, row_where: {Order No: "TOTAL*"}}}',
    ),
}
