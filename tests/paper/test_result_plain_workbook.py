"""Input that is no .xlsx comes back as a plain workbook of the same rows, which reads as the file did."""

import io
from pathlib import Path

import polars as pl
import pytest
from openpyxl import load_workbook
from support.cell_facts import cells_with, number_format_texts, struck_cells, types_of, with_facts
from support.result_samples import (
    HEADER_ROW,
    STATUS,
    bad_phone,
    edited,
    opened,
    order_report,
    order_workbook,
    read_again,
    read_sheet,
    row_result,
)

from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import CellFact, Sheet
from logistics_batch.paper.answers.fix_file import fix_file
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook
from logistics_batch.paper.xlsx.plain import sheet_title
from logistics_batch.paper.xlsx.sheet import LAST_COLUMN


def sheet_of(
    *rows: tuple[str | None, ...], name: str = "orders", types: dict[tuple[int, int], CellFact] | None = None
) -> Sheet:
    columns = {str(index): [row[index - 1] for row in rows] for index in range(1, len(rows[0]) + 1)}
    frame = pl.DataFrame(
        {"row": range(1, len(rows) + 1), **columns},
        schema={"row": pl.UInt32, **dict.fromkeys(columns, pl.String)},
    )
    return with_facts(Sheet(name=name, frame=frame), types=[(*cell, kind) for cell, kind in (types or {}).items()])


def report_of(sheet: Sheet, fate: Fate = Fate.ACCEPTED, **more: object) -> FileReport:
    rows = tuple(row_result(int(row), fate) for row in sheet.frame["row"][1:])
    values: dict[str, object] = {"rows": rows, "issues": (), "header_row": 1, "sheet": sheet.name}
    return order_report(**values | more)


def plain(sheet: Sheet, report: FileReport | None = None) -> bytes:
    return result_workbook(report or report_of(sheet), sheet=sheet, original=None)


def test_the_same_rows_stand_at_the_same_numbers_with_their_answers() -> None:
    sheet = sheet_of(("Order", "Phone"), ("SO-1", "+919876543210"), (None, None), ("SO-2", "0012"))
    report = report_of(
        sheet, rows=(row_result(2, Fate.ACCEPTED), row_result(4, Fate.INVALID)), issues=(bad_phone(4, "B"),)
    )
    content = plain(sheet, report)
    found = opened(content, sheet="orders")
    assert [cell.value for cell in found[1]] == ["Order", "Phone", *STATUS]
    assert [cell.value for cell in found[2]][:3] == ["SO-1", "+919876543210", "accepted"]
    assert [cell.value for cell in found[4]][:3] == ["SO-2", "0012", "invalid"]
    assert found["B4"].fill.fill_type == "solid"
    assert found["B4"].comment.text == "logistics-batch:\nFour digits, ten are needed.\nWrite ten."
    assert found.freeze_panes == "A2"


def test_text_that_looks_like_a_formula_stays_text_also_when_it_is_edited() -> None:
    found = opened(plain(sheet_of(("Order",), ("=1+1",), ("@x",), ("'quoted",))), sheet="orders")
    for row, text in ((2, "=1+1"), (3, "@x"), (4, "'quoted")):
        assert found.cell(row, 1).value == text
        assert found.cell(row, 1).data_type == "s"
    assert found["A2"].quotePrefix
    assert not found["A4"].quotePrefix
    assert found["A4"].number_format == "@"


def test_numbers_dates_and_truths_stay_what_they_were(tmp_path: Path) -> None:
    types = {
        (2, 1): CellFact.NUMBER,
        (2, 2): CellFact.DATE,
        (2, 3): CellFact.DATETIME,
        (2, 4): CellFact.ERROR,
        (2, 5): CellFact.TRUTH,
        (2, 6): CellFact.TIME,
        (3, 1): CellFact.NUMBER,
        (3, 3): CellFact.DATE,
        (3, 5): CellFact.TRUTH,
        (3, 6): CellFact.TIME,
    }
    sheet = sheet_of(
        ("Qty", "Due", "At", "Rate", "SKU", "Ref"),
        ("1200.5", "2026-11-03", "2026-11-03 18:30:00", "#N/A", "TRUE", "10:05:09"),
        ("-7", "03/11/2026", "not a date", "00123", "FALSE", "30:00:00"),
        types=types,
    )
    again = read_again(plain(sheet), tmp_path)[0]
    assert again.frame.select("1", "2", "3", "4", "5", "6").rows() == sheet.frame.drop("row").rows()
    assert types_of(again) == {place: kind.value for place, kind in types.items() if place != (3, 3)}


CODES = {
    '"ORD-2026-"00000': "ORD-9999-0",
    '0" Nos"': "0 Nos",
    '"SKU-"0000': "SKU-0",
    "0.00%": "0%",
    ";;;": ";",
    "0,": "0,",
}
"""Number formats that show more than the number, and what they show."""


def codes_sheet() -> Sheet:
    """Numbers that show leading zeros or words, and merged cells, as a workbook of another format had them."""
    rows = [("Order", "Code", "Rate"), ("0000123", "5", "12"), ("0000123", "7", "0.125"), (None, "8", "123457")]
    types = {(row, column): CellFact.NUMBER for row in (2, 3, 4) for column in (1, 2, 3) if (row, column) != (4, 1)}
    cells = [(row, column) for row in (2, 3, 4) for column in (2, 3)]
    formats = {
        "number_format_text": [(*cell, shown) for cell, shown in zip(cells, CODES.values(), strict=True)],
        "number_format": [(*cell, code) for cell, code in zip(cells, CODES, strict=True)],
    }
    return with_facts(sheet_of(*rows, types=types), **formats, merged=((3, 1, 4, 1),))


def test_what_number_formats_showed_and_merged_cells_come_back(tmp_path: Path) -> None:
    sheet = codes_sheet()
    again = read_again(plain(sheet), tmp_path)[0]
    assert again.frame.select("1", "2", "3").rows() == sheet.frame.drop("row").rows()
    assert number_format_texts(again) == number_format_texts(sheet)
    assert number_format_texts(again, CellFact.NUMBER_FORMAT) == number_format_texts(sheet, CellFact.NUMBER_FORMAT)
    assert again.merged_ranges == sheet.merged_ranges


def test_a_row_that_is_merged_across_the_whole_sheet_leaves_room_for_our_columns(tmp_path: Path) -> None:
    beyond = ((5, 1, 5, LAST_COLUMN), (6, 40, 6, LAST_COLUMN), (7, 3, 7, LAST_COLUMN))
    again = read_again(plain(with_facts(codes_sheet(), merged=beyond)), tmp_path)[0]
    assert again.merged_ranges == [(3, 1, 4, 1), (5, 1, 5, 3)]


def test_they_are_at_their_new_places_in_a_fix_file(tmp_path: Path) -> None:
    sheet = codes_sheet()
    report = report_of(sheet, rows=tuple(row_result(row, Fate.REFUSED, sheet=sheet.name) for row in (3, 4)))
    content = fix_file(report, sheet=sheet)
    assert content is not None
    again = read_again(content, tmp_path)[0]
    assert again.frame["3"].to_list() == ["Order", "0000123", None]
    assert [shown for _, _, shown in number_format_texts(again)] == ["SKU-0", "0%", ";", "0,"]


def test_what_was_struck_through_still_is_and_what_was_unseen_is_told_again(tmp_path: Path) -> None:
    rows = [("Order", "Qty", "Rate"), ("A-1", "12 <21", "5"), ("A-2", "x & y", "7"), ("A-3", "8", "9")]
    types = {(row, 3): CellFact.NUMBER for row in (2, 3, 4)}
    struck = ((2, 2, "12", "<21"), (3, 2, "", ""), (3, 3, "", ""))
    sheet = with_facts(
        sheet_of(*rows, types=types), strikethrough=struck, merged=((2, 3, 4, 3),), hidden_by_merge=((3, 3), (4, 3))
    )
    again = read_again(plain(sheet), tmp_path)[0]
    assert again.frame.select("1", "2", "3").rows() == sheet.frame.drop("row").rows()
    assert struck_cells(again) == struck
    assert cells_with(again, CellFact.HIDDEN_BY_MERGE) == [(3, 3), (4, 3)]

    report = report_of(sheet, rows=tuple(row_result(row, Fate.REFUSED, sheet=sheet.name) for row in (3, 4)))
    content = fix_file(report, sheet=sheet)
    assert content is not None
    assert struck_cells(read_again(content, tmp_path)[0]) == ((2, 4, "", ""), (2, 5, "", ""))


def test_a_text_that_no_cell_holds_is_cut_with_a_mark(tmp_path: Path) -> None:
    (cell,) = read_again(plain(sheet_of(("One",), ("x" * 40_000,))), tmp_path)[0].frame["1"].to_list()[1:]
    assert len(cell) == 32_767 and cell.endswith("the whole text is in the CSV result]")


def test_emoji_count_twice_as_spreadsheet_programs_count() -> None:
    content = plain(sheet_of(("One",), ("😀" * 20_000,)))
    cell = load_workbook(io.BytesIO(content))["orders"]["A2"].value
    assert isinstance(cell, str)
    assert len(cell.encode("utf-16-le")) // 2 <= 32_767 and cell.endswith("the whole text is in the CSV result]")


def test_an_earlier_results_columns_are_not_repeated() -> None:
    sheet = sheet_of(("Order", *STATUS), ("SO-1", "invalid", "bad", "mend", "SO-1", "run-0"))
    found = opened(plain(sheet), sheet="orders")
    assert [cell.value for cell in found[1]] == ["Order", *STATUS]
    assert [cell.value for cell in found[2]] == ["SO-1", "accepted", None, None, None, "run-1"]


def test_a_file_refused_before_it_has_rows_gives_a_sheet_that_says_why() -> None:
    report = order_report(
        rows=(),
        rows_read=0,
        header_row=0,
        sheet="",
        reason="The file is encrypted.",
        remedy="Save it without a password.",
    )
    workbook = load_workbook(io.BytesIO(result_workbook(report, sheet=None, original=inert_workbook(b"x"))))
    texts = {cell.value for line in workbook.worksheets[0].iter_rows() for cell in line}
    assert {"Nothing of this file was sent", "The file is encrypted.", "Save it without a password."} <= texts


def test_the_time_of_a_refused_file_is_written_for_people() -> None:
    report = order_report(rows=(), header_row=0, reason="No.", received_at="2026-11-21T22:33:11.075135+05:30")
    workbook = load_workbook(io.BytesIO(result_workbook(report, sheet=None, original=inert_workbook(b"x"))))
    assert "2026-11-21 22:33:11+05:30" in {cell.value for cell in workbook.worksheets[0]["B"]}


def test_a_row_whose_answer_takes_several_lines_stands_on_one_height() -> None:
    sheet = sheet_of(("Order", "Phone"), ("SO-1", "12"))
    reason = "The reason is told in so many words that they take more than one line of the cell beside the row."
    rows = (row_result(2, Fate.REFUSED, reason=reason),)
    found = opened(plain(sheet, report_of(sheet, rows=rows)), sheet="orders")
    assert {cell.alignment.vertical for cell in found[2] if cell.value} == {"center"}


def test_a_held_file_with_a_header_comes_back_with_the_reason_on_every_row() -> None:
    rows = tuple(row_result(row, Fate.HELD) for row in range(5, 12))
    report = order_report(rows=rows, issues=(), reason="Half of the rows are invalid.", remedy="Look at the mapping.")
    original = order_workbook()
    found = opened(result_workbook(report, sheet=read_sheet(original), original=inert_workbook(original)))
    assert [found.cell(6, column).value for column in (9, 10, 11)] == [
        "held",
        "Half of the rows are invalid.",
        "Look at the mapping.",
    ]


def test_answers_are_not_lost_when_the_file_itself_is_gone() -> None:
    found = opened(result_workbook(order_report(), sheet=None, original=inert_workbook(b"")))
    assert (found.cell(HEADER_ROW, 1).value, found.cell(8, 1).value, found.cell(8, 2).value) == (
        "Document",
        "SO-1001",
        "invalid",
    )


@pytest.mark.parametrize("name", ["", "orders: [new]/2026", "a" * 40, "'quoted'", "\x07bell", "History"])
def test_any_name_gives_a_sheet(name: str) -> None:
    sheet = sheet_of(("Order",), ("SO-1",), name=name)
    workbook = load_workbook(io.BytesIO(plain(sheet)))
    assert workbook.sheetnames == [sheet_title(name)]


def test_a_sheet_too_long_for_a_workbook_points_to_the_csv() -> None:
    sheet = sheet_of(("Order",), ("SO-1",))
    long = Sheet("orders", sheet.frame.with_columns(pl.Series("row", [1, 1_048_577], dtype=pl.UInt32)))
    workbook = load_workbook(io.BytesIO(plain(long, report_of(long))))
    texts = [str(cell.value) for line in workbook.worksheets[0].iter_rows() for cell in line if cell.value]
    assert any("NAME.result.csv" in text for text in texts)
    assert "Nothing of this file was sent" not in texts


def test_a_broken_style_of_one_cell_does_not_cost_the_result(tmp_path: Path) -> None:
    original = order_workbook()
    sheet = read_again(original, tmp_path)[0]
    spoilt = edited(
        original, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b'<c r="C8" s="', b'<c r="C8" s="999')
    )
    found = opened(result_workbook(order_report(), sheet=sheet, original=inert_workbook(spoilt)))
    assert found.cell(8, 9).value == "invalid"
