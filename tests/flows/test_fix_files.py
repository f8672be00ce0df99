"""Of a fix file only what was corrected is sent, sorted or not: what else was wrong in the file is wrong in it."""

import io
from copy import copy
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from logistics_batch.flows.files.foreign_files import answer_files, map_file
from logistics_batch.mapping import Mapping, RunValues, load_mapping
from logistics_batch.model.document import MappedFile
from logistics_batch.model.report import FATES, FileReport

MAPPING = """
operation: order.create
key: [Order]
sheet: {fill_down: [Order, Rate, Address], hidden_rows: skip}
fields:
  reference_number: {from: Order}
  customer_mobile: {first: Phone}
  delivery_address: {from: Address}
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}, item_price_per_each: {from: Rate}}
"""
OURS = 2  # columns before the user's
HEADER = ["Order", "Phone", "Address", "SKU", "Qty", "Rate"]
GOOD: list[Any] = ["X1", "98765", "9 Lake", "apple", 1, 10]  # but for its telephone number


CORRECTED = {"98765": "9876500001", "1234": "9876500002", "9.73E+09": "W9", "abc": "100"}  # each in one cell


def mapped(path: Path, mapping: Mapping) -> MappedFile:
    values = RunValues(file_name=path.name, business_date=date(2026, 12, 1), timezone="Asia/Kolkata")
    found = map_file(path, mapping, name=path.name, run_values=values).mapped
    assert found is not None
    return found


def fix_file(path: Path, mapping: Mapping) -> bytes:
    """The fix file of a file of which nothing was sent."""
    found = mapped(path, mapping)
    assert not list(found.documents)
    rows = found.rows.with_columns(fate="state", document=pl.col("key").fill_null(""), **{"sheet": pl.lit(found.sheet)})
    rows = rows.with_columns(pl.lit("").alias(name) for name in FATES if name not in rows.columns)
    told = FileReport(
        path.name,
        *("", 0, "20261201-P1", "orders", ""),
        sheet=found.sheet,
        header_row=found.header_row,
        rows_read=rows.height,
        rows=rows.select(pl.col(name).fill_null("") if name != "row" else name for name in FATES),
        issues=found.issues,
    )
    options = mapping.read_options
    return answer_files(told, path, name=path.name, kind="xlsx", options=options, formats=("xlsx",))[0]["fix.xlsx"]


def by_sku(sheet: Worksheet) -> None:
    """Sort as spreadsheet programs do: what is hidden stays where it is."""
    places = [number for number in range(2, sheet.max_row + 1) if not sheet.row_dimensions[number].hidden]
    rows = [[(cell.value, cell.number_format, copy(cell.font)) for cell in sheet[number]] for number in places]
    rows.sort(key=lambda row: str(row[OURS + HEADER.index("SKU")][0]))
    for number, row in zip(places, rows, strict=True):
        for cell, (value, shown, font) in zip(sheet[number], row, strict=True):
            cell.value, cell.number_format, cell.font = value, shown, font  # type: ignore[assignment]


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize(
    ("rows", "hidden"),
    [
        ([GOOD, ["N1", "9876543210", "12 MG", "tea", "=1+4", 30], [None, None, None, "rice", 2, 30]], 0),
        ([GOOD, ["N2", "9876543210", "12 MG", "tea", 1, "=2*50"], [None, None, None, "rice", 2, None]], 0),
        ([['="NK"&2', "9876543210", "12 MG", "tea", 1, 30], [None, None, None, "butter", 2, 30], GOOD], 0),
        ([["9.73E+09", "9876543210", "12 MG", "tea", 1, 30], [None, None, None, "butter", 2, 30], GOOD], 0),
        ([GOOD, ["TOTAL", None, None, None, 9, None], [None, "9876543210", "12 MG", "butter", 2, 30]], 0),
        ([GOOD, ["TOTAL", None, None, None, 9, None], ["D1", "9876543210", '"', "tea", 2, 30]], 0),
        ([["L1", "9876543210", "12 MG", "tea", 1, "abc"], [None, None, None, "aloe", 2, None], GOOD], 0),
        ([["H2", "1234", "12 MG", "tea", 2, 10], [None, None, None, "rice", 1, 10], GOOD], 3),
        (
            [
                ["H1", "9876543210", "12 MG", "tea", 2, 10],
                [None, None, None, "rice", 1, 10],
                [None, None, None, "dal", 1, 10],
                GOOD,
            ],
            3,
        ),
    ],
)
def test_what_nobody_corrected_is_not_sent(rows: list[list[Any]], hidden: int, is_sorted: bool, tmp_path: Path) -> None:
    book = Workbook()
    assert book.active is not None
    for row in [HEADER, *rows]:
        book.active.append(row)
    if hidden:
        book.active.row_dimensions[hidden].hidden = True
    book.save(tmp_path / "orders.xlsx")
    mapping = load_mapping(MAPPING, path="orders.yaml", read_lookup=str)
    content = fix_file(tmp_path / "orders.xlsx", mapping)

    workbook = load_workbook(io.BytesIO(content))
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    for wrong, right in CORRECTED.items():
        for cell in [each for line in sheet.iter_rows(min_col=OURS + 1) for each in line if each.value == wrong][:1]:
            cell.value = right
    if is_sorted:
        by_sku(sheet)
    workbook.save(tmp_path / "orders.fix.xlsx")
    found = mapped(tmp_path / "orders.fix.xlsx", mapping)
    assert {document.key for document in found.documents} <= {"X1", "W9"}
    assert all(len(document.rows) == 1 for document in found.documents)
