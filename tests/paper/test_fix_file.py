"""NAME.fix: only the rows to correct, in the layout they came in."""

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest
from openpyxl.worksheet.worksheet import Worksheet
from support.result_samples import (
    HEADERS,
    OWN_COLOUR,
    SHEET,
    bad_phone,
    edited,
    opened,
    order_report,
    order_workbook,
    packed,
    parts_of,
    read_again,
    row_result,
)

from logistics_batch.intake.reading import read_file
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import ReadOptions, Sheet
from logistics_batch.paper.fix_file import fix_file
from logistics_batch.paper.result_workbook import result_workbook
from logistics_batch.paper.xlsx_moved_rows import moved_formula

SHEET_PART = "xl/worksheets/sheet1.xml"


def fixed(original: bytes, report: FileReport | None = None) -> bytes:
    found = fix_file(report or order_report(), sheet=None, original=original, format="xlsx")
    assert found is not None
    assert found[0] == "xlsx"
    return found[1]


def rows_of(content: bytes, *, values: bool = False) -> list[tuple[object, ...]]:
    return [tuple(row) for row in opened(content, values=values).iter_rows(min_row=4, values_only=True)]


def test_only_rows_to_correct_are_in_it_with_all_rows_of_their_document() -> None:
    report = order_report(
        rows=tuple(
            row_result(row, fate)
            for row, fate in (
                (5, Fate.ACCEPTED),
                (6, Fate.ACCEPTED),
                (7, Fate.BLOCKED),
                (8, Fate.INVALID),
                (9, Fate.HELD),
            )
        )
    )
    found = rows_of(fixed(order_workbook(), report))
    assert found[0] == HEADERS
    assert [row[0] for row in found[1:]] == ["SO-1001", "SO-1001"]
    assert [row[5] for row in found[1:]] == [7, 8]


def test_a_file_held_as_a_whole_keeps_all_rows_of_data() -> None:
    fates = ((3, Fate.SKIPPED), (5, Fate.HELD), (6, Fate.HELD), (7, Fate.HELD), (8, Fate.INVALID), (11, Fate.SKIPPED))
    report = order_report(rows=tuple(row_result(row, fate) for row, fate in fates), reason="1 of 4 rows are invalid.")
    assert [row[0] for row in rows_of(fixed(order_workbook(), report))[1:]] == ["SO-1000"] * 2 + ["SO-1001"] * 2


def test_formats_titles_and_widths_are_those_of_the_file() -> None:
    before, after = opened(order_workbook()), opened(fixed(order_workbook()))
    assert after["A1"].value == before["A1"].value
    assert after.merged_cells.ranges == before.merged_cells.ranges
    assert [str(each.sqref) for each in after.data_validations.dataValidation] == ["F5:F100"]
    for column in range(1, 9):
        assert repr(after.cell(5, column).border) == repr(before.cell(7, column).border)
        assert after.cell(5, column).number_format == before.cell(7, column).number_format


def test_formulas_go_with_their_rows_and_keep_their_values() -> None:
    content = fixed(order_workbook())
    assert [row[7] for row in rows_of(content)[1:]] == ["=F5*G5", "=F6*G6", "=F7*G7", "=F8*G8"]
    assert [row[7] for row in rows_of(content, values=True)[1:]] == [696.5, 796.0, 895.5, 995.0]


def test_shared_formulas_are_written_out() -> None:
    def share(xml: bytes) -> bytes:
        xml = xml.replace(b"<f>F5*G5</f>", b'<f t="shared" ref="H5:H10" si="0">F5*G5</f>')
        return re.sub(rb"<f>F(?:[6-9]|10)\*G(?:[6-9]|10)</f>", b'<f t="shared" si="0"/>', xml)

    content = fixed(edited(order_workbook(), SHEET_PART, share))
    assert [row[7] for row in rows_of(content)[1:]] == ["=F5*G5", "=F6*G6", "=F7*G7", "=F8*G8"]


@pytest.mark.parametrize(
    ("formula", "moved"),
    [
        ("=F17*G17", "=F5*G5"),
        ("=$F$17*G17*$B$2", "=$F$5*G5*$B$2"),
        ("=VLOOKUP(A17,Rates!A10:B90,2,FALSE)", "=VLOOKUP(A5,Rates!A10:B90,2,FALSE)"),
        ('=IF(B17="A17","x",SUM(A:A))', '=IF(B5="A17","x",SUM(A:A))'),
        ("=Orders1[[#This Row],[Qty]]*2", "=Orders1[[#This Row],[Qty]]*2"),
        ("=A16+1", None),
        ("=SUM(F5:F16)", None),
        ("=SUM(5:17)", None),
    ],
)
def test_a_formula_that_looks_at_other_rows_gives_way_to_its_value(formula: str, moved: str | None) -> None:
    assert moved_formula(formula, moves={17: 5}, fixed_row=4) == moved


@pytest.mark.parametrize(
    ("formula", "moved"),
    [
        ("=SUM(M6:M7)", "=SUM(M5:M6)"),
        ("=M9+$M$6", "=M7+$M$5"),
        ("=SUM(M7:M9)", None),  # both are kept, the row between them is not
        ("=SUM(M$4:M7)", None),  # the header, and rows that were under it
    ],
)
def test_a_formula_over_rows_that_stay_together_goes_with_them(formula: str, moved: str | None) -> None:
    assert moved_formula(formula, moves={6: 5, 7: 6, 9: 7}, fixed_row=4) == moved


def test_a_cell_that_lost_its_formula_says_so() -> None:
    def over_rows(xml: bytes) -> bytes:
        return xml.replace(b"<f>F7*G7</f>", b"<f>SUM(F7:F8)</f>").replace(b"<f>F8*G8</f>", b"<f>SUM(F5:F8)</f>")

    content = fixed(edited(order_workbook(), SHEET_PART, over_rows))
    assert [row[7] for row in rows_of(content)[1:3]] == ["=SUM(F5:F6)", 796.0]
    sheet = opened(content)
    assert sheet["H5"].comment is None
    assert "A formula stood here." in sheet["H6"].comment.text
    assert sheet["H6"].fill.fill_type is None


def test_a_failing_cell_that_lost_its_formula_says_both() -> None:
    original = edited(order_workbook(), SHEET_PART, lambda xml: xml.replace(b"<f>F8*G8</f>", b"<f>H5+1</f>"))
    sheet = opened(fixed(original, order_report(issues=(bad_phone(8, "H"),))))
    assert sheet["H6"].comment.text.startswith("logistics-batch:\nFour digits, ten are needed.\nWrite ten.\nA formula")


def test_failing_cells_are_coloured_and_commented_at_their_new_places() -> None:
    sheet = opened(fixed(order_workbook()))
    assert sheet["C6"].fill.fill_type == "solid"
    assert sheet["C6"].comment.text == "logistics-batch:\nFour digits, ten are needed.\nWrite ten."
    assert "PIN 056001 is not served." in sheet["D7"].comment.text
    assert "PIN 056001 is not served." in sheet["A8"].comment.text  # the service named no cell
    assert sheet["C5"].fill.fill_type is None  # blocked: fine itself
    assert sheet["B6"].comment is None  # that comment belonged to a row that is not here


def test_a_users_comment_goes_with_its_row() -> None:
    rows = tuple(row_result(row, Fate.REFUSED, reason="No.") for row in (6, 7))
    sheet = opened(fixed(order_workbook(), order_report(rows=rows, issues=())))
    assert sheet["B5"].comment.text == "VIP customer"
    assert sheet["D5"].fill.fgColor.rgb == OWN_COLOUR


def test_an_earlier_rounds_columns_are_not_in_it() -> None:
    first = result_workbook(order_report(), sheet=None, original=order_workbook(), format="xlsx")
    found = rows_of(fixed(first))
    assert found[0] == HEADERS
    assert parts_of(fixed(first))["xl/sharedStrings.xml"] == parts_of(first)["xl/sharedStrings.xml"]


def test_hidden_rows_are_shown_and_filters_dropped() -> None:
    def filtered(sheet: Worksheet) -> None:
        sheet.auto_filter.ref = "A4:H11"
        sheet.row_dimensions[8].hidden = True

    sheet = opened(fixed(order_workbook(filtered)))
    assert not any(sheet.row_dimensions[row].hidden for row in range(5, 9))
    assert sheet.auto_filter.ref is None


def test_merged_cells_go_with_their_rows() -> None:
    def merged(sheet: Worksheet) -> None:
        sheet.merge_cells("A7:A8")
        sheet.merge_cells("B5:B6")

    after = opened(fixed(order_workbook(merged)))
    assert sorted(str(area) for area in after.merged_cells.ranges) == ["A1:H1", "A5:A6"]


def test_the_list_of_formulas_is_left_out_for_excel_to_make_anew() -> None:
    parts = parts_of(order_workbook())
    parts["xl/calcChain.xml"] = (
        b'<calcChain xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><c r="H9"/></calcChain>'
    )
    rels, kind = "xl/_rels/workbook.xml.rels", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    line = f'<Relationship Id="rIdChain" Type="{kind}/calcChain" Target="calcChain.xml"/></Relationships>'
    parts[rels] = parts[rels].replace(b"</Relationships>", line.encode())
    after = parts_of(fixed(packed(parts)))
    assert "xl/calcChain.xml" not in after
    assert b"calcChain" not in after[rels]


def test_our_own_intake_reads_the_fix_file_as_it_read_the_rows(tmp_path: Path) -> None:
    original = order_workbook()
    before = read_again(original, tmp_path, name="before.xlsx")[0].frame
    after = next(sheet for sheet in read_again(fixed(original), tmp_path) if sheet.name == SHEET).frame
    assert (
        after.filter(pl.col("row") > 4).drop("row").rows()
        == before.filter(pl.col("row").is_between(7, 10)).drop("row").rows()
    )


def test_nothing_to_correct_gives_no_file() -> None:
    rows = tuple(row_result(row, fate) for row, fate in ((5, Fate.ACCEPTED), (6, Fate.HELD), (7, Fate.IN_DOUBT)))
    assert fix_file(order_report(rows=rows, issues=()), sheet=None, original=order_workbook(), format="xlsx") is None
    refused = order_report(rows=(), header_row=0, reason="encrypted")
    assert fix_file(refused, sheet=None, original=b"", format="xlsx") is None


def csv_sheet() -> Sheet:
    columns = {
        "1": [None, "Order", "SO-1", "SO-1", "SO-2"],
        "2": ["Title", "Phone", "+91", "=1", "0012"],
    }
    schema = {"row": pl.UInt32, "1": pl.String, "2": pl.String}
    return Sheet("orders", pl.DataFrame({"row": range(1, 6), **columns}, schema=schema))


def test_a_csv_gets_a_csv_of_the_same_columns() -> None:
    rows = tuple(row_result(row, fate) for row, fate in ((3, Fate.BLOCKED), (4, Fate.INVALID), (5, Fate.ACCEPTED)))
    found = fix_file(order_report(rows=rows, issues=(), header_row=2), sheet=csv_sheet(), original=b"", format="csv")
    assert found is not None
    assert found[0] == "csv"
    lines = list(csv.reader(io.StringIO(found[1].decode("utf-8-sig"))))
    assert lines == [["Order", "Phone"], ["SO-1", "'+91"], ["SO-1", "'=1"]]


@pytest.mark.parametrize(
    ("delimiter", "encoding"),
    [(";", "cp1252"), ("tab", "utf-16"), ("|", "auto"), ("^", "utf-8"), ("¦", "iso-8859-1"), ("auto", "auto")],
)
def test_a_corrected_csv_is_read_again_as_its_mapping_reads_the_first(
    delimiter: str, encoding: str, tmp_path: Path
) -> None:
    mark = {"tab": "\t", "auto": ";"}.get(delimiter, delimiter)
    lines = [
        mark.join(cells) for cells in (["Order", "Phone", "Rate"], ["SO-1", "Zoë", "1.234,50"], ["SO-2", "x", "1"])
    ]
    path = tmp_path / "orders.csv"
    path.write_text(
        "\n".join([*lines, f'SO-3{mark}"a{mark}b, c;d"{mark}2']), encoding=encoding.replace("auto", "cp1252")
    )
    options = ReadOptions(delimiter=delimiter, encoding=encoding)
    (sheet,) = read_file(path, name=path.name, options=options)
    rows = tuple(row_result(row, Fate.INVALID) for row in (2, 4))
    fix = fix_file(order_report(rows=rows, issues=(), header_row=1), sheet=sheet, original=b"", format="csv")
    assert fix is not None
    path.write_bytes(fix[1])
    (again,) = read_file(path, name=path.name, options=options)
    assert again.frame.drop("row").rows() == [sheet.frame.drop("row").row(place) for place in (0, 1, 3)]
    assert mark in fix[1].decode("utf-8-sig" if encoding == "auto" else encoding)


def test_other_workbooks_get_a_plain_one_with_comments() -> None:
    rows = (row_result(4, Fate.REFUSED, reason="No.", cell="B4"),)
    found = fix_file(order_report(rows=rows, issues=(), header_row=2), sheet=csv_sheet(), original=b"", format="ods")
    assert found is not None
    sheet = opened(found[1], sheet="orders")
    assert [[cell.value for cell in line] for line in sheet.iter_rows()] == [["Order", "Phone"], ["SO-1", "=1"]]
    assert sheet["B2"].comment.text.startswith("logistics-batch:\nNo.")
