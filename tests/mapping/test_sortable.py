"""Rows that say by themselves where they belong: what stood above them is in them, as the same kind of cell."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook
from support.result_samples import bad_phone, fates_frame, order_report, row_result

from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.rows.sortable import sortable
from logistics_batch.model.report import Fate
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet

OPTIONS = ReadOptions(told_apart_by=("Order", "Lot of"), filled_down=("Order", "Lot of", "Name"))
HEADER: list[object] = ["Order", "Lot of", "Name", "SKU"]


def filled(
    tmp_path: Path, *rows: list[object], documents: str, wrong: tuple[str, ...] = (), options: ReadOptions = OPTIONS
) -> Sheet:
    """documents: of each row below the header, "-" for none."""
    book = Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    path = tmp_path / "orders.xlsx"
    book.save(path)
    (sheet,) = read_file(path, name=path.name, options=ReadOptions())
    keys, begins = documents.split(), len(rows) - len(documents.split())
    fates = [row_result(begins + n, Fate.INVALID, document=key.strip("-")) for n, key in enumerate(keys, 1)]
    issues = tuple(bad_phone(int(cell[1:]), cell[0]) for cell in wrong)
    return sortable(sheet, replace(order_report(), header_row=begins, rows=fates_frame(fates), issues=issues), options)


def cells(sheet: Sheet) -> list[tuple[object, ...]]:
    return sheet.frame.drop("row").rows()


def test_keys_and_what_tells_lines_apart_are_filled_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    sheet = filled(
        tmp_path,
        HEADER,
        [1001, date(2026, 12, 5), "Asha", "S1"],
        [None, None, None, "S2"],
        [1002, "ditto", '"', "S3"],
        [None, date(2026, 12, 6), "", "S4"],
        documents="1001 1001 1002 1002",
    )
    assert cells(sheet)[1:] == [
        ("1001", "2026-12-05", "Asha", "S1"),
        ("1001", "2026-12-05", None, "S2"),
        ("1002", "2026-12-05", "Asha", "S3"),
        ("1002", "2026-12-06", None, "S4"),
    ]
    dates = sheet.facts_of(CellFact.DATE).sort("row")
    assert dates.select("row", "column").rows() == [(2, 2), (3, 2), (4, 2), (5, 2)]
    assert sheet.facts_of(CellFact.NUMBER).filter(column=1).sort("row")["row"].to_list() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("above", "documents"),
    [
        ([], "A2"),  # the header
        ([["Total", None, "99 Road", "9"]], "- A2"),
        ([["A1", "5", None, "S1"]], "A1 A2"),  # a blank, which a person may fill
    ],
)
def test_a_mark_takes_nothing_that_mapping_would_not_give_it(
    tmp_path: Path, above: list[list[object]], documents: str
) -> None:
    sheet = filled(tmp_path, HEADER, *above, ["A2", "7", '"', "S2"], documents=documents)
    assert cells(sheet)[-1] == ("A2", "7", '"', "S2")


def test_a_blank_cell_takes_nothing_over_another_document_or_a_row_that_is_no_data(tmp_path: Path) -> None:
    rows: list[list[object]] = [["A1", "5", "x", "S1"], ["A2", "6", "y", "S2"], ["A1", None, "x", "S3"]]
    rows += [["Total", "9", None, "3"], ["A1", None, "x", "S4"], [None, "Total", None, None]]
    sheet = filled(tmp_path, HEADER, *rows, documents="A1 A2 A1 - A1 -")
    assert [row[1] for row in cells(sheet)[1:]] == ["5", "6", None, "9", None, "Total"]
    assert cells(sheet)[-1][0] is None


def test_a_wrong_cell_stays_as_it_is(tmp_path: Path) -> None:
    rows: list[list[object]] = [["A1", "5", "x", "S1"], [None, None, '"', "S2"]]
    sheet = filled(tmp_path, HEADER, *rows, documents="A1 A1", wrong=("B3", "C3"))
    assert cells(sheet)[2] == ("A1", None, '"', "S2")


def test_names_over_two_rows_with_brackets_and_none_are_found(tmp_path: Path) -> None:
    sheet = filled(
        tmp_path,
        ["Order", None, "SKU", "Lot"],
        ["No", None, "Code", "(batch)"],
        ["A1", "box 1", "S1", "7"],
        [None, None, "S2", None],
        documents="A1 A1",
        options=ReadOptions(told_apart_by=("Order No", "No, column 2")),
    )
    assert cells(sheet)[2:] == [("A1", "box 1", "S1", "7"), ("A1", "box 1", "S2", None)]
    options = ReadOptions(told_apart_by=("Order No",))
    sheet = filled(tmp_path, ["Order No (Ref)"], ["A1"], [""], documents="A1", options=options)
    assert cells(sheet)[0] == ("Order No (Ref)",)
