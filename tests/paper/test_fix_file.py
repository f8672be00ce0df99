"""NAME.fix.xlsx: only the rows to correct, in a plain workbook that can be dropped as it is."""

from pathlib import Path

import polars as pl
import pytest
from openpyxl.worksheet.worksheet import Worksheet
from support.issues import issue
from support.result_samples import (
    HEADER_ROW,
    HEADERS,
    SHEET,
    bad_phone,
    opened,
    order_report,
    order_workbook,
    read_again,
    read_sheet,
    row_result,
)

from logistics_batch.intake.readers import read_file
from logistics_batch.model.issue import Issue, Place
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet, facts_frame
from logistics_batch.paper.answers.fix_file import fix_file
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook

OURS = ("Reason", "What to do")


def fixed(tmp_path: Path, report: FileReport | None = None, content: bytes | None = None) -> Worksheet:
    return opened(fix_bytes(tmp_path, report, content))


def fix_bytes(tmp_path: Path, report: FileReport | None = None, content: bytes | None = None) -> bytes:
    sheets = read_again(content or order_workbook(), tmp_path, name="orders.xlsx")
    found = fix_file(report or order_report(), sheet=next(each for each in sheets if each.name == SHEET))
    assert found is not None
    return found


def rows_of(sheet: Worksheet) -> list[tuple[object, ...]]:
    return [tuple(row) for row in sheet.iter_rows(values_only=True)]


def test_only_rows_to_correct_are_in_it_with_all_rows_of_their_document(tmp_path: Path) -> None:
    fates = ((5, Fate.ACCEPTED), (6, Fate.ACCEPTED), (7, Fate.BLOCKED), (8, Fate.INVALID), (9, Fate.HELD))
    found = rows_of(fixed(tmp_path, order_report(rows=tuple(row_result(row, fate) for row, fate in fates))))
    assert found[0] == (*OURS, *HEADERS)
    assert [row[2] for row in found[1:]] == ["SO-1001", "SO-1001"]
    assert [row[7] for row in found[1:]] == [7, 8]


def test_each_row_says_first_why_and_what_to_do(tmp_path: Path) -> None:
    found = rows_of(fixed(tmp_path))
    assert [row[:3] for row in found[1:]] == [
        ("Fine itself; another row of its document has to be corrected.", "Nothing in this row.", "SO-1001"),
        ("Four digits, ten are needed.", "Write ten.", "SO-1001"),
        ("PIN 056001 is not served.", "Correct what the reason names and drop the file again.", "SO-1002"),
        ("PIN 056001 is not served.", "Correct what the reason names and drop the file again.", "SO-1002"),
    ]


def test_of_several_wrong_cells_each_is_named(tmp_path: Path) -> None:
    pin = issue(8, "pin", column="PIN", cell="D8", value="56", reason="It is no PIN.", remedy="Write six digits.")
    sheet = fixed(tmp_path, order_report(issues=(bad_phone(8), pin)))
    found = rows_of(sheet)
    assert sheet.row_dimensions[3].height == 30, "two lines have room for both"
    assert found[2][0] == "Phone: Four digits, ten are needed.\nPIN: It is no PIN."
    assert found[2][1] == "Phone: Write ten.\nPIN: Write six digits."


def test_a_wrong_value_that_stands_elsewhere_is_named(tmp_path: Path) -> None:
    column, words = "Outside the table: Expected", {"reason": "It is no date.", "remedy": "Write one."}
    below = issue(7, "date", column=column, cell="D11", value="soon", **words)
    found = rows_of(fixed(tmp_path, order_report(issues=(below,))))
    assert found[1][0] == "Outside the table: Expected: It is no date."


def test_a_row_that_belongs_to_a_wrong_one_names_it_by_its_new_number(tmp_path: Path) -> None:
    belongs = Issue.of("required.key_of", Place(8, "Order", "A8", "", "", "key"), row=7)
    rows = rows_of(fixed(tmp_path, order_report(issues=(bad_phone(7), belongs))))
    assert rows[2][:2] == (
        "The row belongs to row 2, whose key is blank or cannot be read.",
        "Correct row 2, write the key in this row, too, and drop the file again.",
    )


def test_wrong_cells_are_coloured_and_commented_at_their_new_places(tmp_path: Path) -> None:
    sheet = fixed(tmp_path)
    assert sheet["E3"].fill.fill_type == "solid"
    assert sheet["E3"].comment.text == "logistics-batch:\nFour digits, ten are needed.\nWrite ten."
    assert sheet["E2"].fill.fill_type is None  # blocked: fine itself
    assert sheet.freeze_panes == "A2"


def test_a_wrong_cell_that_is_empty_is_coloured_too(tmp_path: Path) -> None:
    sheet = Sheet("orders", frame_of(("Order", "Phone"), ("SO-1", None)))
    report = order_report(
        sheet="orders",
        header_row=1,
        rows=(row_result(2, Fate.INVALID, sheet="orders"),),
        issues=(bad_phone(2, "B"),),
    )
    content = fix_file(report, sheet=sheet)
    assert content is not None
    cell = opened(content, sheet="orders")["D2"]
    assert (cell.value, cell.fill.fill_type) == (None, "solid")
    assert "Four digits" in cell.comment.text


def test_a_file_held_as_a_whole_keeps_all_rows_of_data(tmp_path: Path) -> None:
    fates = ((3, Fate.SKIPPED), (5, Fate.HELD), (6, Fate.HELD), (7, Fate.HELD), (8, Fate.INVALID), (11, Fate.SKIPPED))
    report = order_report(rows=tuple(row_result(row, fate) for row, fate in fates), reason="1 of 4 rows are invalid.")
    found = rows_of(fixed(tmp_path, report))
    assert [row[2] for row in found[1:]] == ["SO-1000"] * 2 + ["SO-1001"] * 2
    assert found[1][0] == "1 of 4 rows are invalid."


def test_numbers_stay_numbers_and_texts_texts(tmp_path: Path) -> None:
    sheet = Sheet(
        "orders",
        frame_of(("Code", "Qty", "Due", "Note"), ("0012", "7", "2026-11-03", "=1+1")),
        facts=facts_frame([(2, 2, CellFact.NUMBER, None), (2, 3, CellFact.DATE, None)]),
    )
    report = order_report(sheet="orders", header_row=1, rows=(row_result(2, Fate.REFUSED, sheet="orders"),), issues=())
    content = fix_file(report, sheet=sheet)
    assert content is not None
    line = opened(content, sheet="orders")[2]
    assert [cell.value for cell in line[2:4]] == ["0012", 7]
    assert (line[4].is_date, line[5].value, line[5].data_type, line[5].quotePrefix) == (True, "=1+1", "s", True)


def test_a_column_is_as_wide_as_what_its_number_format_shows(tmp_path: Path) -> None:
    code = '"BOX20-2026-"000'
    facts = [(2, 1, CellFact.NUMBER, None), (2, 1, CellFact.NUMBER_FORMAT, code)]
    sheet = Sheet("orders", frame_of(("Code", "Note"), ("7", "x")), facts=facts_frame(facts))
    report = order_report(sheet="orders", header_row=1, rows=(row_result(2, Fate.REFUSED, sheet="orders"),), issues=())
    content = fix_file(report, sheet=sheet)
    assert content is not None
    found = opened(content, sheet="orders")
    assert found["C2"].number_format == code
    assert found.column_dimensions["C"].width >= len("BOX20-2026-007")


def test_what_is_typed_into_a_wrong_cell_of_true_dates_is_one(tmp_path: Path) -> None:
    rows = [("Code", "Due"), ("A", "2026-12-11"), ("B", "soon"), ("C", None), ("D", "=1+1"), *[("E", "2026-12-12")] * 2]
    facts = [(row, 2, CellFact.DATE, None) for row in (2, 6, 7)]
    sheet = Sheet("orders", frame_of(*rows), facts=facts_frame(facts))
    fates = [row_result(row, Fate.INVALID, sheet="orders", document=str(row)) for row in (3, 4, 5)]
    issues = tuple(bad_phone(row, "B") for row in (3, 4, 5))
    content = fix_file(order_report(sheet="orders", header_row=1, rows=fates, issues=issues), sheet=sheet)
    assert content is not None
    soon, blank, formula = (cell for (cell,) in opened(content, sheet="orders")["D2:D4"])
    assert (soon.value, blank.value, soon.number_format) == ("soon", None, blank.number_format)
    assert "yy" in soon.number_format and soon.fill.fill_type == blank.fill.fill_type == "solid"
    assert (formula.value, formula.number_format, formula.quotePrefix) == ("=1+1", "@", True)


def test_an_earlier_rounds_columns_are_not_in_it(tmp_path: Path) -> None:
    first = result_workbook(
        order_report(), sheet=read_sheet(order_workbook()), original=inert_workbook(order_workbook())
    )
    assert rows_of(fixed(tmp_path, content=first))[0] == (*OURS, *HEADERS)


def test_it_is_dropped_again_and_its_own_fix_file_has_our_columns_once(tmp_path: Path) -> None:
    (again,) = read_again(fix_bytes(tmp_path), tmp_path)
    report = order_report(header_row=1, rows=(row_result(3, Fate.INVALID),), issues=(bad_phone(3, "E"),))
    content = fix_file(report, sheet=again)
    assert content is not None
    found = rows_of(opened(content))
    assert found[0] == (*OURS, *HEADERS)
    assert found[1][:3] == ("Four digits, ten are needed.", "Write ten.", "SO-1001")
    assert "Four digits" in opened(content)["E2"].comment.text


def test_rows_above_the_header_stay_in_their_place_where_the_mapping_needs_them(tmp_path: Path) -> None:
    (sheet, *_) = read_again(order_workbook(), tmp_path, name="orders.xlsx")
    content = fix_file(order_report(), sheet=sheet, options=ReadOptions(needs_above=True))
    assert content is not None
    kept = opened(content)
    above = sheet.frame.filter(pl.col("row") < HEADER_ROW).drop("row").rows()
    assert [tuple(row[2:]) for row in rows_of(kept)[: HEADER_ROW - 1]] == above
    assert rows_of(kept)[HEADER_ROW - 1] == (*OURS, *HEADERS)
    assert (kept["E6"].fill.fill_type, kept.freeze_panes) == ("solid", f"A{HEADER_ROW + 1}")


def test_our_own_intake_reads_the_rows_as_it_read_them_first(tmp_path: Path) -> None:
    before = read_again(order_workbook(), tmp_path, name="before.xlsx")[0].frame
    (after,) = read_again(fix_bytes(tmp_path), tmp_path)
    assert (
        after.frame.filter(pl.col("row") > 1).drop("row", "1", "2").rows()
        == before.filter(pl.col("row").is_between(7, 10)).drop("row").rows()
    )


def test_nothing_to_correct_gives_no_file(tmp_path: Path) -> None:
    (sheet, *_) = read_again(order_workbook(), tmp_path)
    rows = tuple(row_result(row, fate) for row, fate in ((5, Fate.ACCEPTED), (6, Fate.HELD), (7, Fate.IN_DOUBT)))
    assert fix_file(order_report(rows=rows, issues=()), sheet=sheet) is None
    assert fix_file(order_report(rows=(), header_row=0, reason="encrypted"), sheet=None) is None
    assert fix_file(order_report(), sheet=None) is None  # the original is not at hand


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_of_a_text_file_it_is_a_workbook_as_well(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("Order;Phone;Rate\nSO-1;Zoë;1.234,50\nSO-2;x;1\n", encoding=encoding)
    (sheet,) = read_file(path, name=path.name, options=ReadOptions(delimiter=";", encoding=encoding))
    rows = (row_result(2, Fate.INVALID, sheet=sheet.name),)
    content = fix_file(order_report(sheet=sheet.name, rows=rows, issues=(), header_row=1), sheet=sheet)
    assert content is not None
    found = rows_of(opened(content, sheet="Sheet1"))
    assert [row[2:] for row in found] == [("Order", "Phone", "Rate"), ("SO-1", "Zoë", "1.234,50")]


def frame_of(*rows: tuple[str | None, ...]) -> pl.DataFrame:
    columns = {str(index): [row[index - 1] for row in rows] for index in range(1, len(rows[0]) + 1)}
    schema = {"row": pl.UInt32, **dict.fromkeys(columns, pl.String)}
    return pl.DataFrame({"row": range(1, len(rows) + 1), **columns}, schema=schema)
