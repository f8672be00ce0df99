"""The user's own workbook comes back: with our answers, and with everything else as it was."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from openpyxl import load_workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.table import Table
from openpyxl.worksheet.worksheet import Worksheet
from support.issues import own
from support.libreoffice import converted
from support.result_samples import (
    HEADER_ROW,
    HEADERS,
    ORDER_ROWS,
    OWN_COLOUR,
    SHEET,
    STATUS,
    TEXT_BOX,
    bad_phone,
    edited,
    opened,
    order_report,
    order_workbook,
    packed,
    parts_of,
    read_again,
    read_sheet,
    row_result,
    saved,
    with_shared_strings,
)

from logistics_batch import messages
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook

SHEET_PART = "xl/worksheets/sheet1.xml"


def result(original: bytes, report: FileReport | None = None) -> bytes:
    return result_workbook(report or order_report(), sheet=read_sheet(original), original=inert_workbook(original))


def status_of(content: bytes, row: int, first: int = 9, **more: bool) -> tuple[object, ...]:
    sheet = opened(content, **more)
    return tuple(sheet.cell(row, column).value for column in range(first, first + 5))


def fill_of(content: bytes, cell: str) -> str | None:
    fill = opened(content)[cell].fill
    return str(fill.fgColor.rgb) if fill.fill_type else None


def with_text_box(content: bytes, *, left: int, top: int, right: int, bottom: int) -> bytes:
    """Puts a text box on the sheet of the orders, as Excel writes it and openpyxl cannot."""
    parts = parts_of(content)
    box = TEXT_BOX.format(left=left, top=top, right=right, bottom=bottom)
    parts["xl/drawings/drawing9.xml"] = box.encode()
    rels = "xl/worksheets/_rels/sheet1.xml.rels"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    line = f'<Relationship Id="rIdBox" Type="{kind}/drawing" Target="/xl/drawings/drawing9.xml"/></Relationships>'
    parts[rels] = parts[rels].replace(b"</Relationships>", line.encode())
    drawing = f'<drawing xmlns:r="{kind}" r:id="rIdBox"/><legacyDrawing'.encode()
    parts[SHEET_PART] = parts[SHEET_PART].replace(b"<legacyDrawing", drawing)
    types = (
        b'<Override PartName="/xl/drawings/drawing9.xml" '
        b'ContentType="application/vnd.openxmlformats-officedocument.drawing+xml"/></Types>'
    )
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", types)
    return packed(parts)


# -- everything else stays --------------------------------------------------------------------------------------------


def test_our_own_intake_reads_the_users_cells_as_before(tmp_path: Path) -> None:
    original = order_workbook()
    before = read_again(original, tmp_path, name="before.xlsx")[0]
    after = next(sheet for sheet in read_again(result(original), tmp_path) if sheet.name == SHEET)
    assert after.frame.select(before.frame.columns).equals(before.frame)
    assert after.facts.filter(pl.col("column") <= 8).equals(before.facts)


# -- what is added ----------------------------------------------------------------------------------------------------


def test_each_row_has_its_answer_beside_it() -> None:
    changed = result(order_workbook())
    assert status_of(changed, HEADER_ROW) == STATUS
    assert status_of(changed, 5) == ("accepted", None, None, "SH-22T70ZX", "run-1")
    assert status_of(changed, 8) == ("invalid", "C8: Four digits, ten are needed.", "Write ten.", "SO-1001", "run-1")
    assert status_of(changed, 7)[0:2] == (
        "blocked",
        "The document is not sent: row 8 is invalid.",
    )
    words = {row["row"]: row["fate"] for row in ORDER_ROWS}
    assert {row: status_of(changed, row)[0] for row in words} == words


def test_several_issues_of_a_row_are_all_told() -> None:
    values = messages.packed({"reason": "Never begins with 0.", "remedy": "Write six digits."})
    issues = (bad_phone(8), replace(bad_phone(8, "D"), values=values))
    changed = result(order_workbook(), order_report(issues=issues))
    _, reason, to_do, _, _ = status_of(changed, 8)
    assert reason == "C8: Four digits, ten are needed.\nD8: Never begins with 0."
    assert to_do == "C8: Write ten.\nD8: Write six digits."


def test_failing_cells_are_coloured_and_say_what_is_wrong_in_a_comment() -> None:
    changed = result(order_workbook())
    sheet = opened(changed)
    assert fill_of(changed, "C8") is not None
    assert fill_of(changed, "C7") is None
    assert sheet["C8"].comment.text == "logistics-batch:\nFour digits, ten are needed.\nWrite ten."
    assert sheet["C8"].number_format == "@"
    assert sheet["B6"].comment.text == "VIP customer"


def test_the_cell_that_a_held_files_reason_names_is_coloured() -> None:
    rows = tuple(row_result(row, Fate.HELD) for row in range(5, 11))
    words = "All 6 rows fail alike: Four digits. See cell C5."
    held = Issue.of(own("alike"), reason=words, remedy="", place=[5, "C5"])
    report = order_report(rows=rows, issues=(), held=held)
    changed = result(order_workbook(), report)
    assert fill_of(changed, "C5") is not None
    assert fill_of(changed, "C6") is None
    assert "All 6 rows fail alike" in opened(changed)["C5"].comment.text


def test_a_cell_that_is_said_to_fail_in_our_columns_leaves_the_row_sound() -> None:
    xml = parts_of(result(order_workbook(), order_report(issues=(bad_phone(8, "K"),))))[SHEET_PART]
    row = re.search(rb'<row r="8".*?</row>', xml, re.DOTALL)
    assert row is not None
    letters = re.findall(rb'<c r="([A-Z]+)8"', row[0])
    assert letters == sorted(set(letters))


def test_a_comment_keeps_what_looks_like_an_escape() -> None:
    values = messages.packed({"reason": "Write _x0042_ as it is.", "remedy": ""})
    changed = result(order_workbook(), order_report(issues=(replace(bad_phone(8), values=values),)))
    comments = next(
        content for name, content in parts_of(changed).items() if "comments" in name and b"x0042_" in content
    )
    assert b"_x005F_x0042_" in comments


def test_an_empty_failing_cell_is_coloured_too() -> None:
    original = edited(order_workbook(), SHEET_PART, lambda xml: re.sub(rb'<c r="C8".*?</c>', b"", xml, flags=re.DOTALL))
    assert b'"C8"' not in parts_of(original)[SHEET_PART]
    assert fill_of(result(original), "C8") is not None


def test_the_legend_hangs_on_the_status_header() -> None:
    text = opened(result(order_workbook())).cell(HEADER_ROW, 9).comment.text
    assert "2 accepted (1 document): the service took it" in text
    assert "1 invalid" in text


def test_the_legend_asks_for_no_decision_where_the_whole_file_is_held() -> None:
    rows = tuple(row_result(row, Fate.HELD) for row in (5, 6))
    for reason, said in (("A column is missing.", "the whole file was held"), ("", "ask the operator")):
        report = order_report(rows=rows, issues=(), reason=reason)
        text = opened(result(order_workbook(), report)).cell(HEADER_ROW, 9).comment.text
        assert said in text
        assert ("ask the operator" in text) is (not reason)


def test_a_users_comment_on_a_failing_cell_stays() -> None:
    original = order_workbook(lambda sheet: setattr(sheet["C8"], "comment", Comment("ask Ravi", "Meena")))
    sheet = opened(result(original))
    assert sheet["C8"].comment.text == "ask Ravi"


def test_the_header_is_frozen_and_filtered_where_the_user_has_neither() -> None:
    sheet = opened(result(order_workbook()))
    assert sheet.freeze_panes == "A5"
    assert sheet.auto_filter.ref == "A4:M11"


def own_view(sheet: Worksheet) -> None:
    sheet.freeze_panes = "C5"
    sheet.auto_filter.ref = "A4:H11"
    sheet.auto_filter.add_filter_column(1, ["SKU-1"])


def test_what_the_user_froze_stays_and_the_own_filter_takes_in_our_columns() -> None:
    sheet = opened(result(order_workbook(own_view)))
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("C5", "A4:M11")
    assert [(each.colId, each.filters.filter) for each in sheet.auto_filter.filterColumn] == [(1, ["SKU-1"])]
    elsewhere = opened(result(order_workbook(lambda sheet: setattr(sheet.auto_filter, "ref", "A1:B3"))))
    assert elsewhere.auto_filter.ref == "A1:B3", "it is no filter of these rows"


@pytest.mark.parametrize(
    ("panes", "view", "pane"),
    [(None, "I1", "I5"), ("C5", "A1", "I5"), ("A5", "I1", "I5")],
    ids=["nothing", "columns and rows", "rows"],
)
def test_a_sheet_that_is_wider_than_a_screen_opens_at_our_columns(panes: str | None, view: str, pane: str) -> None:
    def wide(sheet: Worksheet) -> None:
        sheet.freeze_panes = panes
        for letter in "CDEFGH":
            sheet.column_dimensions[letter].width = 40

    shown = opened(result(order_workbook(wide))).sheet_view
    assert shown.pane is not None
    assert (shown.topLeftCell or "A1", shown.pane.topLeftCell) == (view, pane)
    narrow = opened(result(order_workbook(lambda sheet: setattr(sheet, "freeze_panes", panes)))).sheet_view
    assert not (narrow.pane and narrow.pane.topLeftCell.startswith("I"))


def test_the_cells_in_which_rows_of_a_document_disagree_are_coloured(tmp_path: Path) -> None:
    torn = {"code": "disagree", "values": messages.packed({"names": [HEADERS[3]], "rows": [7, 8]})}
    rows = (row_result(5, Fate.ACCEPTED), row_result(6, Fate.ACCEPTED))
    rows += tuple(row_result(row, Fate.BLOCKED, **torn) for row in (7, 8))
    original = order_workbook()
    sheet = next(each for each in read_again(original, tmp_path) if each.name == SHEET)
    content = result_workbook(order_report(rows=rows, issues=()), sheet=sheet, original=inert_workbook(original))
    cells = [f"D{row}" for row in (5, 6, 7, 8)]
    assert [opened(content)[cell].comment is not None for cell in cells] == [False, False, True, True]
    assert fill_of(content, "D7") is not None
    assert "differs between the rows 7-8" in opened(content)["D7"].comment.text
    legend = opened(content).cell(HEADER_ROW, 9).comment.text
    assert "2 blocked (1 document): not sent: another row of its document is wrong, or says otherwise" in legend


def test_a_table_keeps_its_own_filter_alone() -> None:
    original = order_workbook(lambda sheet: sheet.add_table(Table(displayName="Orders1", ref="A4:H10")))
    changed = result(original)
    assert opened(changed).auto_filter.ref is None
    assert parts_of(changed)["xl/tables/table1.xml"] == parts_of(original)["xl/tables/table1.xml"]


def test_our_columns_have_widths_and_the_users_keep_theirs() -> None:
    widths = (
        b'<cols><col min="1" max="2" width="20" customWidth="1"/><col min="3" max="16384" width="11" style="0"/></cols>'
    )
    original = edited(order_workbook(), SHEET_PART, lambda xml: xml.replace(b"<sheetData>", widths + b"<sheetData>"))
    written = re.findall(
        rb'<col min="(\d+)" max="(\d+)" width="([\d.]+)"',
        _with_sorted_attributes(parts_of(result(original))[SHEET_PART]),
    )
    ranges = [(int(low), int(high)) for low, high, _ in written]
    assert ranges == [(1, 2), (3, 8), *((column, column) for column in range(9, 14)), (14, 16384)]


def _with_sorted_attributes(xml: bytes) -> bytes:
    def ordered(found: re.Match[bytes]) -> bytes:
        values = dict(re.findall(rb'(\w+)="([^"]*)"', found[0]))
        return b'<col min="%s" max="%s" width="%s"/>' % (values[b"min"], values[b"max"], values[b"width"])

    return re.sub(rb"<col [^>]*/>", ordered, xml)


def test_a_chart_or_text_box_beside_the_rows_does_not_hide_our_columns() -> None:
    beside = result(with_text_box(order_workbook(), left=9, top=4, right=12, bottom=9))
    assert status_of(beside, HEADER_ROW, first=14) == STATUS
    above = result(with_text_box(order_workbook(), left=9, top=0, right=12, bottom=1))
    assert status_of(above, HEADER_ROW) == STATUS


def test_a_merged_title_over_our_columns_is_left_alone() -> None:
    def wide_title(sheet: Worksheet) -> None:
        sheet.unmerge_cells("A1:H1")
        sheet.merge_cells("A1:P1")

    changed = result(order_workbook(wide_title))
    assert status_of(changed, HEADER_ROW) == STATUS
    assert b'r="I1"' not in re.sub(rb'<c r="I1"[^>]*/>', b"", parts_of(changed)[SHEET_PART])


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+919876543210",
        'a<b & "c" > d',
        "bell \x07 here",
        "अनीता\nशर्मा",
        "_x0041_",
        "😀",
        "x" * 40_000,
        "'quoted",
    ],
)
def test_any_text_can_stand_in_our_columns(text: str) -> None:
    rows = (row_result(5, Fate.REFUSED, reason=text),)
    changed = result(order_workbook(), order_report(rows=rows, issues=()))
    cell = opened(changed).cell(5, 10)
    assert cell.data_type == "s" or cell.data_type == "inlineStr"
    assert bool(cell.quotePrefix) == text.startswith(("=", "+"))  # it stays text also when somebody edits it
    expected = text.replace("\x07", "\\x07").replace("_x0041_", "_x005F_x0041_")
    if len(text) > 32_767:
        assert len(str(cell.value)) == 32_767
        assert str(cell.value).endswith("the whole text is in the CSV result]")
    else:
        assert cell.value in (expected, text)


# -- the second round -------------------------------------------------------------------------------------------------


def corrected_report() -> FileReport:
    rows = tuple(
        row | {"fate": "accepted", "code": "", "values": ""} if 7 <= int(str(row["row"])) <= 10 else row
        for row in ORDER_ROWS
    )
    return order_report(rows=rows, issues=(), run="run-2")


def test_marks_of_an_earlier_round_are_replaced() -> None:
    first = result(order_workbook())
    second = result(first, corrected_report())
    assert status_of(second, HEADER_ROW) == STATUS
    assert status_of(second, HEADER_ROW, first=14) == (None,) * 5
    assert status_of(second, 8) == ("accepted", None, None, "SO-1001", "run-2")
    sheet = opened(second)
    assert fill_of(second, "C8") is None
    assert sheet["C8"].comment is None
    assert sheet["B6"].comment.text == "VIP customer"
    assert opened(second)["C8"]._style == opened(order_workbook())["C8"]._style


def with_a_row_more(content: bytes) -> bytes:
    """The workbook with a row under the last, as somebody adds one to a result."""

    def longer(xml: bytes) -> bytes:
        row = b'<row r="12"><c r="A12" t="inlineStr"><is><t>SO-1003</t></is></c></row>'
        return xml.replace(b"</sheetData>", row + b"</sheetData>")

    return edited(content, SHEET_PART, longer)


def test_the_filter_of_an_earlier_round_takes_in_new_rows() -> None:
    second = result(with_a_row_more(result(order_workbook())), corrected_report())
    assert opened(second).auto_filter.ref == "A4:M12"


def test_the_name_that_repeats_the_filter_is_widened_with_it() -> None:
    names = '<definedNames>{0}0">Orders!$A$4:$M${1}</definedName>{0}1">Summary!$A$1:$B$9</definedName></definedNames>'
    start = '<definedName name="_xlnm._FilterDatabase" hidden="1" localSheetId="'

    def named(xml: bytes) -> bytes:
        assert b"<definedNames/>" in xml or b"<definedNames />" in xml or b"<definedNames" not in xml
        return re.sub(rb"<definedNames ?/>|(?=<calcPr)", names.format(start, 11).encode(), xml, count=1)

    first = edited(with_a_row_more(result(order_workbook())), "xl/workbook.xml", named)
    after = parts_of(result(first, corrected_report()))["xl/workbook.xml"]
    assert names.format(start, 12).encode() in after


def test_a_filter_of_an_earlier_round_that_hides_rows_stays() -> None:
    criteria = b'<autoFilter ref="A4:M11"><filterColumn colId="8"><filters><filter val="invalid"/></filters>'
    criteria += b"</filterColumn></autoFilter>"
    first = edited(
        with_a_row_more(result(order_workbook())),
        SHEET_PART,
        lambda xml: xml.replace(b'<autoFilter ref="A4:M11"/>', criteria),
    )
    assert criteria in parts_of(first)[SHEET_PART]
    assert criteria in parts_of(result(first, corrected_report()))[SHEET_PART]


def test_a_colour_of_the_users_own_comes_back_when_the_cell_is_right() -> None:
    failing = order_report(issues=(bad_phone(6, "D"),), rows=(row_result(6, Fate.INVALID),))
    first = result(order_workbook(), failing)
    assert fill_of(first, "D6") not in (None, OWN_COLOUR)
    assert fill_of(result(first, corrected_report()), "D6") == OWN_COLOUR


def test_marks_are_known_again_after_another_program_saved_the_file() -> None:
    def save_elsewhere(content: bytes) -> bytes:
        return with_shared_strings(saved(load_workbook(io.BytesIO(content))))

    first = save_elsewhere(result(order_workbook()))
    assert b"AWB / reference" in parts_of(first)["xl/sharedStrings.xml"]
    second = result(first, corrected_report())
    assert status_of(second, HEADER_ROW) == STATUS
    assert status_of(second, HEADER_ROW, first=14) == (None,) * 5
    assert fill_of(second, "C8") is None
    assert opened(second)["C8"].comment is None


@pytest.mark.real
def test_marks_are_known_again_after_libreoffice_saved_the_file(tmp_path: Path) -> None:
    (tmp_path / "result.xlsx").write_bytes(result(order_workbook()))
    (saved_there,) = converted([tmp_path / "result.xlsx"], "xlsx")
    second = result(saved_there.read_bytes(), corrected_report())
    assert status_of(second, HEADER_ROW) == STATUS
    assert status_of(second, HEADER_ROW, first=14) == (None,) * 5
    assert fill_of(second, "C8") is None
    assert fill_of(second, "D6") == OWN_COLOUR
    sheet = opened(second)
    comments = {cell.coordinate for line in sheet.iter_rows() for cell in line if cell.comment}
    assert comments == {"B6", "I4"}
    assert sheet["H7"].value == "=F7*G7"


def test_a_users_column_of_the_same_name_is_not_taken_for_ours() -> None:
    def own_status(sheet: Worksheet) -> None:
        sheet.cell(HEADER_ROW, 9, "Status")
        sheet.cell(5, 9, "Ready")

    original = order_workbook(own_status)
    twice = result(result(original), corrected_report())
    assert opened(twice).cell(5, 9).value == "Ready"
    assert status_of(twice, HEADER_ROW, first=10) == STATUS


@pytest.mark.parametrize("address", ['r="I5"', ""])
def test_a_users_formula_that_shows_nothing_stays_where_it_is(address: str) -> None:
    formula = b't="str"><f>IF(H3="","","late")</f><v></v></c>'
    behind = re.compile(rb'(<row r="5".*?)(</row>)', re.DOTALL)
    parts = parts_of(order_workbook())
    parts[SHEET_PART] = behind.sub(rb"\1<c %s %s\2" % (address.encode(), formula), parts[SHEET_PART], count=1)
    answered = result(packed(parts))
    assert formula in parts_of(answered)[SHEET_PART]
    assert status_of(answered, HEADER_ROW, first=10)[0] == "Status"


def test_our_columns_move_to_the_end_when_the_user_adds_one_behind_them() -> None:
    first = load_workbook(io.BytesIO(result(order_workbook())))
    first[SHEET].cell(HEADER_ROW, 14, "Dock")
    first[SHEET].cell(5, 14, "D4")
    second = result(saved(first), corrected_report())
    assert status_of(second, HEADER_ROW, first=15) == STATUS
    assert opened(second).cell(5, 14).value == "D4"
    assert opened(second).cell(5, 9).value is None


# -- sheets as other programs write them ------------------------------------------------------------------------------


def with_prefix(xml: bytes) -> bytes:
    named = re.sub(rb"<(/?)(?=[A-Za-z])(?![\w.-]+:)", rb"<\1x:", xml)
    return named.replace(b"xmlns=", b"xmlns:x=", 1)


def without_addresses(xml: bytes) -> bytes:
    return re.sub(rb'<(row|c) r="[A-Z0-9]+"', rb"<\1", xml)


def pretty(xml: bytes) -> bytes:
    return xml.replace(b"<row", b"\n  <row").replace(b"<c ", b"\n    <c ").replace(b"</row>", b"\n  </row>")


def with_single_quotes(xml: bytes) -> bytes:
    data = xml.index(b"<sheetData")
    return xml[:data] + re.sub(rb'="([^"<>]*)"', rb"='\1'", xml[data:])


def with_spans(xml: bytes) -> bytes:
    return re.sub(rb'<row r="(\d+)"[^>]*>', rb'<row r="\1" spans="1:8" ht="15">', xml)


@pytest.mark.parametrize("form", [with_prefix, without_addresses, pretty, with_single_quotes, with_spans])
def test_every_lawful_form_of_a_sheet_is_understood(form: Callable[[bytes], bytes], tmp_path: Path) -> None:
    def dense(sheet: Worksheet) -> None:  # addresses can be left out only where no row and no cell is missing
        sheet["A3"] = "on"

    usual = order_workbook(dense)
    unusual = edited(usual, SHEET_PART, form)
    assert parts_of(unusual)[SHEET_PART] != parts_of(usual)[SHEET_PART]
    changed = result(unusual)
    assert "plain copy" not in opened(changed).cell(HEADER_ROW, 9).comment.text
    assert status_of(changed, HEADER_ROW) == STATUS
    assert status_of(changed, 8)[0] == "invalid"
    assert fill_of(changed, "C8") is not None
    assert b"spans" not in parts_of(changed)[SHEET_PART] or form is not with_spans
    again = result(changed, corrected_report())
    assert status_of(again, 8)[0] == "accepted"
    assert fill_of(again, "C8") is None
    sheets = [sheet for sheet in read_again(again, tmp_path) if sheet.name == SHEET]
    assert sheets[0].frame["3"].to_list()[4] == "+919876543205"


def test_missing_rows_and_rows_without_cells_get_their_answers() -> None:
    def empty_rows(xml: bytes) -> bytes:
        xml = re.sub(rb'<row r="7".*?</row>', b"", xml, flags=re.DOTALL)
        return re.sub(rb'<row r="8".*?</row>', b'<row r="8"/>', xml, flags=re.DOTALL)

    changed = result(edited(order_workbook(), SHEET_PART, empty_rows))
    assert status_of(changed, 7)[0] == "blocked"
    assert status_of(changed, 8)[0] == "invalid"
    assert fill_of(changed, "C8") is not None
    assert status_of(changed, 9)[0] == "refused"


def test_absolute_and_relative_targets_of_parts_are_followed() -> None:
    def relative(xml: bytes) -> bytes:
        return xml.replace(b'Target="/xl/', b'Target="')

    original = edited(order_workbook(), "xl/_rels/workbook.xml.rels", relative)
    assert status_of(result(original), 5)[0] == "accepted"
    assert status_of(result(order_workbook()), 5)[0] == "accepted"


def test_shared_and_inline_strings_may_stand_side_by_side() -> None:
    inline = (
        b'<c r="A5" t="inlineStr"><is><r><rPr><color rgb="FF00FF00"/></rPr><t>SO-</t></r><r><t>1000</t></r></is></c>'
    )
    original = edited(
        order_workbook(), SHEET_PART, lambda xml: re.sub(rb'<c r="A5"[^>]*>.*?</c>', inline, xml, flags=re.DOTALL)
    )
    sheet = opened(result(original))
    assert (sheet["A5"].value, sheet["A6"].value) == ("SO-1000", "SO-1000")


def test_a_row_that_the_sheet_did_not_have_is_as_high_as_its_answer() -> None:
    reason = "The reason is told in so many words that they take more than one line of the cell beside the row."
    rows = (*ORDER_ROWS, row_result(14, Fate.REFUSED, reason=reason))
    found = opened(result(order_workbook(), order_report(rows=rows, rows_read=len(rows))))
    assert found.row_dimensions[14].height == 2 * 15


def test_a_row_that_the_user_made_low_stays_low_and_others_grow_with_the_reason() -> None:
    def fixed_height(sheet: Worksheet) -> None:
        sheet.row_dimensions[9].height = 12

    long = "The service answered: " + "the pincode is not served by any courier today, " * 4
    rows = tuple(
        row | {"values": messages.packed({"reason": long, "remedy": ""})} if row["fate"] == "refused" else row
        for row in ORDER_ROWS
    )
    sheet = opened(result(order_workbook(fixed_height), order_report(rows=rows)))
    assert sheet.row_dimensions[9].height == 12
    assert (sheet.row_dimensions[10].height or 0) >= 45


def as_libreoffice_saves(xml: bytes) -> bytes:
    """The sheet with every attribute spelt out, as LibreOffice writes its rows and its view."""
    pane = b'<selection pane="topLeft" activeCell="A1" activeCellId="0" sqref="A1"/>'
    view = b'<sheetView view="normal" topLeftCell="A1" workbookViewId="0">' + pane + b"</sheetView>"
    row = b'<row customFormat="false" ht="15" hidden="false" customHeight="false" outlineLevel="0" collapsed="false"'
    xml = re.sub(rb"<sheetView\b.*?</sheetView>", view, xml, flags=re.DOTALL)
    return re.sub(rb"<row(?= )", row, xml)


def test_a_sheet_as_libreoffice_saves_it_gets_high_rows_and_a_frozen_header() -> None:
    long = "The service answered: " + "the pincode is not served by any courier today, " * 4
    rows = tuple(
        row | {"values": messages.packed({"reason": long, "remedy": ""})} if row["fate"] == "refused" else row
        for row in ORDER_ROWS
    )
    original = edited(order_workbook(), SHEET_PART, as_libreoffice_saves)
    sheet = opened(result(original, order_report(rows=rows)))
    assert (sheet.row_dimensions[10].height or 0) >= 45
    assert sheet.freeze_panes == "A5"


# -- where the package cannot be patched ------------------------------------------------------------------------------


def strict(content: bytes) -> bytes:
    def to_strict(part: bytes) -> bytes:
        return part.replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        ).replace(
            b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
            b"http://purl.oclc.org/ooxml/spreadsheetml/main",
        )

    return packed({name: to_strict(part) for name, part in parts_of(content).items()})


def without_styles(content: bytes) -> bytes:
    parts = parts_of(content)
    del parts["xl/styles.xml"]
    return packed(parts)


@pytest.mark.parametrize(
    "spoil",
    [
        strict,
        without_styles,
        lambda content: content[: len(content) // 2],
        lambda content: edited(content, SHEET_PART, lambda xml: xml.replace(b"<sheetData>", b"<!-- x --><sheetData>")),
        lambda content: edited(content, SHEET_PART, lambda xml: xml.replace(b'<row r="6"', b'<row r="5"')),
        lambda content: edited(content, SHEET_PART, lambda xml: xml.replace(b"</worksheet>", b"")),
        lambda content: edited(content, "xl/workbook.xml", lambda xml: xml.replace(b'name="Orders"', b'name="Other"')),
    ],
    ids=["strict", "no styles", "cut off", "comment", "rows twice", "not closed", "renamed"],
)
def test_what_cannot_be_patched_gives_a_plain_copy_that_says_so(
    spoil: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    original = order_workbook()
    sheet = read_again(original, tmp_path)[0]
    changed = result_workbook(order_report(), sheet=sheet, original=inert_workbook(spoil(original)))
    assert "plain copy" in opened(changed).cell(HEADER_ROW, 9).comment.text
    assert status_of(changed, 8) == ("invalid", "C8: Four digits, ten are needed.", "Write ten.", "SO-1001", "run-1")
    assert fill_of(changed, "C8") is not None
    assert opened(changed).cell(8, 3).value == "+919876543208"


def test_a_password_of_a_sheet_or_many_colours_do_no_harm() -> None:
    def many(sheet: Worksheet) -> None:
        sheet.protection.enable()
        for column in range(1, 9):
            for row in range(5, 11):
                sheet.cell(row, column).fill = PatternFill("solid", fgColor=f"FF{row:02}{column:02}99")
                sheet.cell(row, column).font = Font(size=row)

    original = order_workbook(many)
    issues = tuple(bad_phone(row, "ABCDEFGH"[column]) for row in range(5, 11) for column in range(8))
    rows = tuple(row_result(row, Fate.INVALID) for row in range(5, 11))
    first = result(original, order_report(rows=rows, issues=issues))
    second = result(first, corrected_report())
    before, after = opened(original), opened(second)
    for line in before.iter_rows(min_row=5, max_row=10, max_col=8):
        for cell in line:
            assert after[cell.coordinate].fill.fgColor.rgb == cell.fill.fgColor.rgb
            assert repr(after[cell.coordinate].font) == repr(cell.font)
    assert HEADERS[0] == after.cell(HEADER_ROW, 1).value
