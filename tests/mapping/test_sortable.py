"""Rows that say by themselves where they belong: what stood above them is in them, as the same kind of cell."""

from datetime import date
from pathlib import Path

import polars as pl
from openpyxl import Workbook

from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.rows.sortable import sortable
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet


def filled(tmp_path: Path, *rows: list[object], documents: dict[int, str], **options: tuple[str, ...]) -> Sheet:
    book = Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    path = tmp_path / "orders.xlsx"
    book.save(path)
    (sheet,) = read_file(path, name=path.name, options=ReadOptions())
    known = pl.DataFrame([*documents.items()], schema={"row": pl.UInt32, "document": pl.String}, orient="row")
    return sortable(sheet, len(rows) - len(documents), known, ReadOptions(**options))  # type: ignore[arg-type]


def test_keys_and_what_tells_lines_apart_are_filled_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    sheet = filled(
        tmp_path,
        ["Order", "Lot of", "Name", "SKU"],
        [1001, date(2026, 12, 5), "Asha", "S1"],
        [None, None, None, "S2"],
        [1002, "ditto", '"', "S3"],
        [None, date(2026, 12, 6), "", "S4"],
        documents={2: "1001", 3: "1001", 4: "1002", 5: "1002"},
        told_apart_by=("Order", "Lot of"),
        filled_down=("Order", "Lot of", "Name"),
    )
    assert sheet.frame.drop("row").rows()[1:] == [
        ("1001", "2026-12-05", "Asha", "S1"),
        ("1001", "2026-12-05", None, "S2"),
        ("1002", "2026-12-05", "Asha", "S3"),
        ("1002", "2026-12-06", None, "S4"),
    ]
    dates = sheet.facts_of(CellFact.DATE).sort("row")
    assert dates.select("row", "column").rows() == [(2, 2), (3, 2), (4, 2), (5, 2)]
    assert sheet.facts_of(CellFact.NUMBER).filter(column=1).sort("row")["row"].to_list() == [2, 3, 4, 5]


def test_names_over_two_rows_and_columns_without_one_are_found(tmp_path: Path) -> None:
    sheet = filled(
        tmp_path,
        ["Order", None, "SKU"],
        ["No", None, "Code"],
        ["A1", "box 1", "S1"],
        [None, None, "S2"],
        documents={3: "A1", 4: "A1"},
        told_apart_by=("Order No", "No, column 2"),
    )
    assert sheet.frame.drop("row").rows()[2:] == [("A1", "box 1", "S1"), ("A1", "box 1", "S2")]


def test_a_row_of_no_document_takes_nothing(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Order", "SKU"], ["A1", "S1"], [None, "Total"]]
    sheet = filled(tmp_path, *rows, documents={2: "A1", 3: ""}, told_apart_by=("Order",))
    assert sheet.frame.drop("row").rows()[2] == (None, "Total")
