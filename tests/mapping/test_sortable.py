"""Rows that say by themselves where they belong: what stood above them is in them, as the same kind of cell."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font
from support.cell_facts import cells_with
from support.result_samples import bad_phone, fates_frame, order_report, row_result

from logistics_batch.intake.readers import read_file
from logistics_batch.mapping.rows.sortable import sortable
from logistics_batch.model.report import Fate
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet

OPTIONS = ReadOptions(key=("Order",), told_apart_by=("Lot of",), filled_down=("Order", "Lot of", "Name"))
BOXES = ("No, column 2",)
HEADER: list[object] = ["Order", "Lot of", "Name", "SKU"]


FATES: dict[str, dict[str, Any]] = {
    "-": {"fate": Fate.SKIPPED, "document": ""},
    "?": {"fate": Fate.INVALID, "document": ""},
    "hidden": {"fate": Fate.SKIPPED, "document": "", "rule": "hidden row.skipped"},
}


def filled(
    tmp_path: Path,
    *rows: list[object],
    documents: str,
    wrong: str = "",
    told_of: str = "",
    struck: str = "",
    options: ReadOptions = OPTIONS,
) -> Sheet:
    """documents: of each row below the header, or one of FATES: "?" where its key cannot be read. wrong: cells.
    told_of: those of which it is told afterwards, if others."""
    book = Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    for cell in struck.split():
        book.active[cell].font = Font(strike=True)
    path = tmp_path / "orders.xlsx"
    book.save(path)
    (sheet,) = read_file(path, name=path.name, options=ReadOptions())
    fates, begins = documents.split(), len(rows) - len(documents.split())
    results = [
        row_result(begins + n, **(FATES.get(each) or {"fate": Fate.INVALID, "document": each}))
        for n, each in enumerate(fates, 1)
    ]
    issues = tuple(bad_phone(int(cell[1:]), cell[0]) for cell in wrong.split())
    report = replace(order_report(), header_row=begins, rows=fates_frame(results), issues=issues)
    found, told = sortable(sheet, report, options)
    assert sorted(each.cell for each in told) == (told_of or wrong).split()
    assert [(each.row, each.reason) for each in told] == [(int(each.cell[1:]), bad_phone(1).reason) for each in told]
    return found


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
    assert cells(sheet)[-1] == ("A2", "7", None, "S2")
    assert cells_with(sheet, CellFact.NO_VALUE) == [(len(above) + 2, 3)]  # a person says it; below another it took that


def test_a_blank_cell_takes_nothing_over_another_document_or_a_row_that_is_no_data(tmp_path: Path) -> None:
    rows: list[list[object]] = [["A1", "5", "x", "S1"], ["A2", "6", "y", "S2"], ["A1", None, "x", "S3"]]
    rows += [["Total", "9", None, "3"], ["A1", None, "x", "S4"], [None, "Total", None, None]]
    sheet = filled(tmp_path, HEADER, *rows, documents="A1 A2 A1 - A1 -")
    assert [row[1] for row in cells(sheet)[1:]] == ["5", "6", None, "9", None, "Total"]
    assert cells(sheet)[-1][0] is None


def test_what_is_wrong_is_taken_as_well_and_told_of_each_cell(tmp_path: Path) -> None:
    rows: list[list[object]] = [["A1", "x", "?", "S1"], [None, None, '"', "S2"], ["A2", None, '"', "S3"]]
    sheet = filled(tmp_path, HEADER, *rows, documents="A1 A1 A2", wrong="B2 C2 C3", told_of="B2 B3 C2 C3 C4")
    assert cells(sheet)[2:] == [("A1", "x", "?", "S2"), ("A2", None, "?", "S3")]


def test_rows_below_a_key_that_cannot_be_read_are_of_its_block(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["A1", "5", None, "S1"],
        ["9.73E+09", None, None, "S2"],
        [None, "6", None, "S3"],
        [None, None, None, "S4"],
        ["8.1E+09", None, None, "S5"],
        ["A1", None, None, "S6"],
    ]
    told: dict[str, Any] = {"wrong": "A3 A4 A5 A6", "documents": "A1 ? ? ? ? A1"}
    assert [row[:2] for row in cells(filled(tmp_path, HEADER, *rows, **told))[1:]] == [
        ("A1", "5"),
        ("9.73E+09", None),
        ("9.73E+09", "6"),
        ("9.73E+09", "6"),
        ("8.1E+09", None),
        ("A1", None),
    ]


def test_a_blank_key_with_nothing_above_counts_as_one_that_nobody_knows(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Total", None, None, "9"], [None, "5", None, "S1"], ["=1+1", None, None, "S2"]]
    sheet = filled(tmp_path, HEADER, *rows, [None, None, None, "S3"], documents="- ? ? ?")
    assert cells_with(sheet, CellFact.NO_VALUE) == [(3, 1), (4, 1), (5, 1)]
    sheet = filled(tmp_path, HEADER, *rows[1:2], documents="?", options=ReadOptions(key=("Order",)))
    assert cells_with(sheet, CellFact.NO_VALUE) == []  # it is not filled down, so that nothing is taken again


def test_a_hidden_row_ends_nothing(tmp_path: Path) -> None:
    rows: list[list[object]] = [["A1", "5", "x", "S1"], [None, None, None, "S2"], [None, None, '"', "S3"]]
    book = filled(tmp_path, HEADER, *rows, documents="A1 hidden A1")
    assert cells(book)[2:] == [("A1", "5", None, "S2"), ("A1", "5", "x", "S3")]


def test_what_is_struck_through_stays_so(tmp_path: Path) -> None:
    sheet = filled(tmp_path, HEADER, ["A1", "5", None, "S1"], [None, None, None, "S2"], documents="? ?", struck="A2")
    assert cells(sheet)[2] == ("A1", "5", None, "S2")
    assert cells_with(sheet, CellFact.STRIKETHROUGH) == [(2, 1), (3, 1)]


def test_names_over_two_rows_with_brackets_and_none_are_found(tmp_path: Path) -> None:
    sheet = filled(
        tmp_path,
        ["Order", None, "SKU", "Lot"],
        ["No", None, "Code", "(batch)"],
        ["A1", "box 1", "S1", "7"],
        [None, None, "S2", None],
        documents="A1 A1",
        options=ReadOptions(key=("Order No",), told_apart_by=BOXES, filled_down=("Order No", *BOXES)),
    )
    assert cells(sheet)[2:] == [("A1", "box 1", "S1", "7"), ("A1", "box 1", "S2", None)]
    options = ReadOptions(key=("Order No",), filled_down=("Order No",))
    sheet = filled(tmp_path, ["Order No (Ref)"], ["A1"], [""], documents="A1", options=options)
    assert cells(sheet)[0] == ("Order No (Ref)",)
