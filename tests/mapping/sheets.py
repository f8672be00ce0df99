"""Sheets and mappings for tests, written as they look."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import polars as pl

from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.messages import rule_of
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact, Sheet, facts_frame

SHIPPED = Path(__file__).parents[2] / "mappings"
DAY = date(2026, 11, 3)

ORDERS = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: [Order No, "Order Id", "#"], required: true}
  customer_name: {from: Name}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
"""
HEADER = ["Order No", "Name", "Phone", "Address", "SKU", "Qty"]
ROW = ["A1", "Asha", "9876543210", "12 MG Road", "tea", "2"]


def sheet_of(
    rows: Sequence[Sequence[str | None]], *, name: str = "", types: Sequence[tuple[int, int, CellFact]] = ()
) -> Sheet:
    """A sheet from rows of cells; "" is a blank cell; types are (row, column, what the cell is)."""
    width = max((len(row) for row in rows), default=0)
    cells = {
        str(number + 1): pl.Series(
            [row[number] or None if number < len(row) else None for row in rows], dtype=pl.String
        )
        for number in range(width)
    }
    numbers = pl.Series("row", range(1, len(rows) + 1), dtype=pl.UInt32)
    facts = facts_frame((*each, None) for each in types)
    return Sheet(name, pl.DataFrame({"row": numbers, **cells}), facts=facts)


def mapping_of(text: str, **files: str) -> Mapping:
    """A loaded mapping; lookup files by their names without `.csv`."""

    def read(name: str) -> str:
        if name.removesuffix(".csv") not in files:
            raise FileNotFoundError(name)
        return files[name.removesuffix(".csv")]

    return load_mapping(text, path="test.yaml", read_lookup=read)


def run(mapping: Mapping | str, *sheets: Sheet, day: date = DAY, zone: str = "Asia/Kolkata", **more: str) -> MappedFile:
    """Apply a mapping to sheets on a day."""
    loaded = mapping_of(mapping) if isinstance(mapping, str) else mapping
    values = RunValues(file_name="drop.csv", business_date=day, timezone=zone)
    return apply_mapping(loaded, sheets, run_values=values, **more)  # type: ignore[arg-type]


def orders(*rows: Sequence[str | None], mapping: str = ORDERS, header: Sequence[str] = HEADER) -> MappedFile:
    """The file of a header and rows, mapped."""
    return run(mapping, sheet_of([header, *rows]))


def order(**cells: str) -> list[str]:
    """A good row with some cells changed: `order(Phone="x")`; blanks in names as underscores."""
    changed = {name.replace("_", " "): text for name, text in cells.items()}
    return [changed.get(name, text) for name, text in zip(HEADER, ROW, strict=True)]


def states(mapped: MappedFile) -> dict[int, str]:
    """The state of each row; with the rule where there is one."""
    return {
        row: f"{state} {rule_of(code)}" if code else state
        for row, state, code in mapped.rows.select("row", "state", "code").iter_rows()
    }


def rules(mapped: MappedFile) -> list[tuple[str, str]]:
    """Cell and rule of each issue."""
    return [(issue.cell, issue.rule) for issue in mapped.issues]


def notes_in(mapped: MappedFile) -> tuple[str, ...]:
    """The notes on a file, in words."""
    return tuple(note.reason for note in mapped.notes)
