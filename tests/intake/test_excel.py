"""Workbooks as they are dropped: text cells at their true places, and what a cell is beyond its text."""

import io
import re
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pytest
from hostile.workbook_parts import good_rows, workbook_parts, write_zip
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.worksheet.worksheet import Worksheet
from support.cell_facts import number_format_texts, types_of
from support.issues import notes_of

from logistics_batch.errors import FileHeld
from logistics_batch.intake.readers import Limits, read_file
from logistics_batch.intake.readers.cells import number_text
from logistics_batch.model.issue import column_letters
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet

Build = Callable[[openpyxl.Workbook, Worksheet], None]


def workbook(build: Build, *, path: Path) -> Path:
    """A workbook as openpyxl writes it."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = "Orders"
    build(book, sheet)
    book.save(path)
    return path


def with_sheet_xml(path: Path, change: Callable[[str], str], *, part: str = "xl/worksheets/sheet1.xml") -> Path:
    """The workbook with the XML of one part changed by hand."""
    parts = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            parts[entry.filename] = archive.read(entry)
    parts[part] = change(parts[part].decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def read(tmp_path: Path):
    """Builds a workbook and reads it."""

    def read(build: Build, *, limits: Limits | None = None, **options: object) -> tuple[Sheet, ...]:
        path = workbook(build, path=tmp_path / "file")
        return read_file(path, name="orders.xlsx", options=ReadOptions(**options), limits=limits)  # type: ignore[arg-type]

    return read


def held(action: Callable[[], object], rule: str) -> str:
    with pytest.raises(FileHeld) as caught:
        action()
    assert caught.value.rule == rule and caught.value.remedy
    return caught.value.message


def test_cells_are_text_at_their_true_places(read):
    def build(book, sheet):
        sheet["B3"] = "Ref"
        sheet["D3"] = "Qty"
        sheet["B5"] = "  00123 "
        sheet["D5"] = "=1"
        sheet["D5"].data_type = "s"

    (sheet,) = read(build)
    assert sheet.name == "Orders"
    assert sheet.frame.rows() == [
        (1, None, None, None, None),
        (2, None, None, None, None),
        (3, None, "Ref", None, "Qty"),
        (4, None, None, None, None),
        (5, None, "  00123 ", None, "=1"),
    ]
    assert types_of(sheet) == {}


NUMBERS = [
    (9876543210, "9876543210", CellFact.NUMBER),
    (9876543210.0, "9876543210", CellFact.NUMBER),
    (-5, "-5", CellFact.NUMBER),
    (0.1, "0.1", CellFact.NUMBER),
    (12.340000000000001, "12.34", CellFact.NUMBER),
    (1.5e-7, "0.00000015", CellFact.NUMBER),
    (123456.789012345, "123456.789012345", CellFact.NUMBER),
    (999999999999999, "999999999999999", CellFact.NUMBER),
    (10**15, "1000000000000000", CellFact.IMPRECISE),
    (8901234567890123456, "8901234567890123776", CellFact.IMPRECISE),
    (1e20, "100000000000000000000", CellFact.IMPRECISE),
]


def test_numbers_are_plain_decimals_and_marked(read):
    def build(book, sheet):
        for row, (number, _, _) in enumerate(NUMBERS, start=1):
            sheet.cell(row, 1, number)

    (sheet,) = read(build)
    assert sheet.frame["1"].to_list()[:9] == [text for _, text, _ in NUMBERS[:9]]
    assert [types_of(sheet)[row, 1] for row in range(1, len(NUMBERS) + 1)] == [mark for _, _, mark in NUMBERS]
    assert not any("e" in text.lower() or text.endswith(".0") for text in sheet.frame["1"])


def test_a_column_of_whole_numbers_alone_has_no_points(read):
    def build(book, sheet):
        for number in (9876543210, 7, 560001):
            sheet.append([number])

    assert read(build)[0].frame["1"].to_list() == ["9876543210", "7", "560001"]


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0"), (-0.0, "0"), (0.1 + 0.2, "0.3"), (2.5, "2.5"), (1 / 3, "0.333333333333333")]
)
def test_a_number_has_the_digits_that_a_spreadsheet_keeps(number, text):
    assert number_text(number) == text


@pytest.mark.parametrize("system_1904", [False, True])
def test_dates_and_times_in_both_date_systems(read, system_1904):
    def build(book, sheet):
        if system_1904:
            book.epoch = CALENDAR_MAC_1904
        cells = [
            date(2026, 11, 3),
            datetime.fromisoformat("2026-11-03T18:05:59"),
            datetime.fromisoformat("2026-11-03"),
            time(9, 30),
            timedelta(hours=30),
        ]
        for column, value in enumerate(cells, start=1):
            sheet.cell(1, column, value)

    (sheet,) = read(build)
    assert sheet.frame.rows()[0][1:] == ("2026-11-03", "2026-11-03 18:05:59", "2026-11-03", "09:30:00", "30:00:00")
    kinds = [CellFact.DATE, CellFact.DATETIME, CellFact.DATE, CellFact.TIME, CellFact.TIME]
    assert types_of(sheet) == {(1, column): mark for column, mark in enumerate(kinds, start=1)}


def test_booleans_are_words(read):
    def build(book, sheet):
        sheet.append([True, False])

    (sheet,) = read(build)
    assert sheet.frame.rows() == [(1, "TRUE", "FALSE")]
    assert types_of(sheet) == dict.fromkeys([(1, 1), (1, 2)], CellFact.TRUTH)


ERRORS = ["#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!"]


def test_formulas_without_a_value_are_not_blanks(read, tmp_path):
    def build(book, sheet):
        sheet["A1"] = "Ref"
        sheet["B2"] = "=A1&1"
        sheet["C4"] = "=SUM(A1:A2)"  # below and right of everything else

    (sheet,) = read(build)
    assert sheet.frame.height == 4 and sheet.width == 3
    assert types_of(sheet) == {(2, 2): CellFact.NO_VALUE, (4, 3): CellFact.NO_VALUE}


SHARED_TEXTS = (
    '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>x</t></si><si><t>A1</t></si></sst>'
)


@pytest.mark.parametrize(
    ("is_written", "instead"),
    [
        ('<row r="3"', '<row r="2"'),
        ('<c r="B3"', '<c r="A3"'),
        ('t="inlineStr"><is><t>A1</t></is>', 't="s"><v>1.0</v>'),
        ('t="inlineStr"><is><t>A1</t></is>', 't="s"><v> 1 </v>'),
        ('t="inlineStr"><is><t>A1</t></is>', 't="s"><v>-1</v>'),
    ],
)
def test_cells_of_which_one_value_would_be_lost_or_misread_hold_the_file(tmp_path, is_written, instead):
    def build(book, sheet):
        for row in (["Order", "Qty"], ["A1", 7], ["A2", 25]):
            sheet.append(row)

    def change(xml: str) -> str:
        assert is_written in xml
        return xml.replace(is_written, instead)

    path = with_sheet_xml(workbook(build, path=tmp_path / "file"), change)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", SHARED_TEXTS)
    assert "damaged" in held(lambda: read_file(path, name="a.xlsx", options=ReadOptions()), "file|damaged")


@pytest.mark.parametrize(
    ("is_written", "instead"),
    [
        ('<row r="1">', '<row r="9223372036854775808">'),
        ('<row r="1"><c r="A1"', '<row r="1"><c r="A0"'),
        ('<c r="A1"', '<c r="A1" s="99999999999"'),
        ("<sheetData>", "<sheetData><row r='x'/>"),
    ],
)
def test_places_and_styles_beyond_all_numbers_hold_the_file(tmp_path, is_written, instead):
    path = workbook(lambda book, sheet: sheet.append(["Qty", 25]), path=tmp_path / "file")

    def change(xml: str) -> str:
        assert is_written in xml
        return xml.replace(is_written, instead)

    with_sheet_xml(path, change)
    assert "damaged" in held(lambda: read_file(path, name="a.xlsx", options=ReadOptions()), "file|damaged")


def test_a_comment_within_a_value_is_no_part_of_it(tmp_path):
    path = workbook(lambda book, sheet: sheet.append(["Qty", 25]), path=tmp_path / "file")
    with_sheet_xml(path, lambda xml: xml.replace("<v>25</v>", "<v>2<!-- x -->5</v>"))
    (sheet,) = read_file(path, name="a.xlsx", options=ReadOptions())
    assert sheet.frame.rows() == [(1, "Qty", "25")]


def test_formulas_with_a_value_are_that_value(tmp_path):
    path = workbook(lambda book, sheet: sheet.append(["a", "=1+1", "=X()", '=""']), path=tmp_path / "file")

    def calculated(xml: str) -> str:
        cells = xml.replace("<f>1+1</f><v></v>", "<f>1+1</f><v>2</v>").replace("<f>1+1</f><v/>", "<f>1+1</f><v>2</v>")
        cells = cells.replace('<c r="C1"><f>X()</f><v></v>', '<c r="C1" t="e"><f>X()</f><v>#NAME?</v>')
        cells = cells.replace('<c r="C1"><f>X()</f><v/>', '<c r="C1" t="e"><f>X()</f><v>#NAME?</v>')
        return cells.replace('<c r="D1">', '<c r="D1" t="str">')

    (sheet,) = read_file(with_sheet_xml(path, calculated), name="a.xlsx", options=ReadOptions())
    assert sheet.frame.rows() == [(1, "a", "2", "#NAME?")]
    assert types_of(sheet) == {(1, 2): CellFact.NUMBER, (1, 3): CellFact.ERROR}


@pytest.mark.parametrize("code", ["0000000", "0000000;-0000000", "0000000_)", "[$-409]0000000"])
def test_leading_zeros_that_the_cell_shows_are_put_back(read, code):
    def build(book, sheet):
        sheet["A1"], sheet["B1"] = 123, 123
        sheet["A1"].number_format = code
        sheet["A2"] = "0012"
        sheet["A2"].number_format = code
        sheet["A3"] = 123456789
        sheet["A3"].number_format = code
        sheet["A4"] = 1.5
        sheet["A4"].number_format = code

    (sheet,) = read(build)
    assert sheet.frame["1"].to_list() == ["0000123", "0012", "123456789", "1.5"]
    assert sheet.frame["2"].to_list()[0] == "123"
    assert notes_of(sheet)["leading_zeros"] == {"columns": ["A"]}


SHOWS_MORE = {
    '"ORD-"000': "ORD-0",
    "00000-00000": "0-0",
    "\\A\\-0": "A-0",
    "000\\-000": "0-0",  # as Excel itself stores 000-000
    '000"-"000': "0-0",
    "00\\/0000": "0/0",
    "000\\.000": "0·0",
    "000\\ 000": "0 0",
    "\\-0": "-0",
    "0\\%": "0%",
    "0.00%": "0%",  # built in: a workbook has its number only
    "0,": "0,",
    '0.0,,"M"': "0,,M",
    "# ?/?": "0 0/0",
    ";;;": ";",
    '0 "doz"': "0 doz",
    '0" x 12"': "0 x 99",
    '0"00"': "099",
    "[$$-409]#,##0.00": "$0",
    "[$USD] 0.00": "USD 0",
    '0.00" Cr"': "0 Cr",
    'General" g"': "0 g",
}
SHOWS_THE_NUMBER = [
    '"₹" 0.00',
    '"Rs." 0',
    '"रु." 0',
    '0"/-"',
    "[$₹-4009]\\ #,##0.00;[Red]\\-[$₹-4009]\\ #,##0.00",
    '_ [$₹-4009]\\ * #,##0.00_ ;_ [$₹-4009]\\ * \\-#,##0.00_ ;_ [$₹-4009]\\ * "-"??_ ;_ @_ ',
    '"₹"#,##0.00;("₹"#,##0.00)',
    "[$₹-en-IN] 0",
    "[$-409]0",
    "[>=10000000]##\\,##\\,##\\,##0;[>=100000]##\\,##\\,##0;##,##0",
    "[<=-100000]\\-##\\,##\\,##0;##,##0",
    "0000",
    "#,##0.00",
    "0.00E+00",
    "General",
    "@",
]


def test_numbers_that_show_words_are_told(read):
    codes = [*SHOWS_MORE, *SHOWS_THE_NUMBER]

    def build(book, sheet):
        for column, code in enumerate(codes, start=1):
            sheet.cell(1, column, 13).number_format = code
            sheet.cell(2, column, "13").number_format = code

    (sheet,) = read(build)
    assert [shown for _, _, shown in number_format_texts(sheet)] == list(SHOWS_MORE.values())
    assert [column for _, column, _ in number_format_texts(sheet)] == list(range(1, len(SHOWS_MORE) + 1))
    padded = column_letters(codes.index("0000") + 1)
    assert notes_of(sheet)["leading_zeros"] == {"columns": [padded]}


def test_hidden_rows_are_listed_and_never_dropped(tmp_path):
    def build(book, sheet):
        for row in range(1, 9):
            sheet.append([f"row {row}", row])
        for row in (3, 4, 6, 40):
            sheet.row_dimensions[row].hidden = True
        sheet.row_dimensions[7].height = 1

    path = workbook(build, path=tmp_path / "file")
    with_sheet_xml(path, lambda xml: xml.replace('ht="1"', 'ht="0"'))  # too low to be seen
    (sheet,) = read_file(path, name="a.xlsx", options=ReadOptions())
    assert sheet.hidden_rows == (3, 4, 6, 7)
    assert sheet.frame.height == 8
    assert notes_of(sheet)["hidden_rows.read"] == {"rows": "3-4, 6-7"}
    (sheet,) = read_file(path, name="a.xlsx", options=ReadOptions(hidden_rows="skip"))
    assert sheet.hidden_rows == (3, 4, 6, 7)
    assert sheet.frame.height == 8  # the mapping answers for each of them
    assert notes_of(sheet)["hidden_rows.skipped"] == {"rows": "3-4, 6-7"}


def several_sheets(book, sheet):
    sheet.append(["first"])
    for name, state in (("Orders May", "visible"), ("Old", "hidden"), ("Older", "veryHidden"), ("Notes", "visible")):
        added = book.create_sheet(name)
        added.append([name])
        added.sheet_state = state
    book.create_sheet("Blank")


def test_visible_filled_sheets_are_candidates(read):
    taken = read(several_sheets)
    assert [sheet.name for sheet in taken] == ["Orders", "Orders May", "Notes"]
    assert notes_of(taken[0]) == {"sheets_not_taken": {"sheets": '"Old" (hidden), "Older" (hidden)'}}
    assert [sheet.name for sheet in read(several_sheets, name="orders*")] == ["Orders", "Orders May"]
    assert '"Notes" (another name)' in str(notes_of(read(several_sheets, name="orders*")[0]))
    assert [sheet.frame.row(0)[1] for sheet in read(several_sheets, name=" notes ")] == ["Notes"]


def test_without_a_candidate_the_file_is_held_and_its_sheets_are_named(read):
    for pattern in ("Old*", "Blank", "Invoice"):
        told = held(lambda pattern=pattern: read(several_sheets, name=pattern), "sheet|none")
        assert f'named "{pattern}"' in told
        assert '"Old" (hidden)' in told and '"Older" (hidden)' in told and '"Notes"' in told
    assert '"Orders" (empty)' in held(lambda: read(lambda book, sheet: None), "sheet|none")


def test_empty_rows_and_columns_at_the_end_are_no_rows(read):
    def build(book, sheet):
        sheet["A1"] = "x"
        sheet["Z900"].number_format = "0.00"

    (sheet,) = read(build)
    assert sheet.frame.rows() == [(1, "x")]


def test_a_false_declared_dimension_is_not_believed(tmp_path):
    path = workbook(lambda book, sheet: sheet.append(["a", "b"]), path=tmp_path / "file")
    with_sheet_xml(path, lambda xml: xml.replace('ref="A1:B1"', 'ref="A1:XFD1048576"'))
    (sheet,) = read_file(path, name="a.xlsx", options=ReadOptions())
    assert sheet.frame.rows() == [(1, "a", "b")]


def test_limits_count_over_all_sheets_and_gaps_hold(read):
    def build(book, sheet):
        for number in range(6):
            sheet.append([number])
        other = book.create_sheet("Other")
        for number in range(6):
            other.append([number])

    assert '"Other"' in held(lambda: read(build, limits=Limits(max_workbook_rows=10)), "sheet|too_large")
    assert len(read(build, limits=Limits(max_workbook_rows=12))) == 2

    def gap(book, sheet):
        sheet["A1"], sheet["A1500"] = "x", "y"

    assert "row 1,500 holds something, but 1,498 rows above it are empty" in held(lambda: read(gap), "sheet|gap")


def quirky(xml: str) -> str:
    """As some programs write it: no addresses, single quotes, a prefix."""
    for address in ("A1", "B1", "A2", "B2", "B3"):
        xml = xml.replace(f'<c r="{address}"', "<c")
    xml = xml.replace('<row r="1">', "<row>").replace('<row r="2">', "<row>").replace('t="e"', "t='e'")
    return xml.replace('<row r="3" hidden="1">', "<row hidden='1' r='3'>")


@pytest.mark.parametrize("prefixed", [False, True])
def test_sheets_without_addresses_or_with_prefixes_are_understood(tmp_path, prefixed):
    def build(book, sheet):
        sheet.append(["a", "b"])
        sheet.append(["c", "#N/A"])
        sheet["B2"].data_type = "e"
        sheet.append([None, "=1+1"])
        sheet.row_dimensions[3].hidden = True

    def change(xml: str) -> str:
        if not prefixed:
            # The third row begins with its second cell, so it keeps the address.
            return quirky(xml).replace("<c><f>", '<c r="B3"><f>')
        xml = xml.replace('xmlns="', 'xmlns:x="')
        return re.sub(r"<(/?)(?!\?)(\w+)", r"<\1x:\2", xml)

    path = with_sheet_xml(workbook(build, path=tmp_path / "file"), change)
    (sheet,) = read_file(path, name="a.xlsx", options=ReadOptions())
    assert sheet.frame.rows() == [(1, "a", "b"), (2, "c", "#N/A"), (3, None, None)]
    assert types_of(sheet) == {(2, 2): CellFact.ERROR, (3, 2): CellFact.NO_VALUE}
    assert sheet.hidden_rows == (3,)


def test_a_large_sheet_keeps_its_numbers_over_all_blocks(tmp_path):
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Orders")
    for number in range(1, 20_001):
        sheet.append([f"R{number}", number, *("some filling text",) * 8])
    book.save(tmp_path / "file")

    def change(xml: str) -> str:
        xml = xml.replace('<row r="19999"', '<row r="19999" hidden="1"')
        return xml.replace('<c r="B15000" t="n"><v>15000</v>', '<c r="B15000" t="e"><v>#REF!</v>')

    with_sheet_xml(tmp_path / "file", change)
    (read,) = read_file(tmp_path / "file", name="a.xlsx", options=ReadOptions())
    assert read.frame.height == 20_000
    assert read.frame.filter(f"R{0}" != read.frame["1"])["1"].to_list() == [f"R{number}" for number in range(1, 20_001)]
    assert read.frame.row(14_999)[:3] == (15_000, "R15000", "#REF!")
    assert read.hidden_rows == (19_999,)
    assert types_of(read)[15_000, 2] == CellFact.ERROR


def test_a_workbook_cut_off_anywhere_is_held(tmp_path):
    whole = workbook(lambda book, sheet: sheet.append(["a"]), path=tmp_path / "whole").read_bytes()
    for share in (0.1, 0.5, 0.9, 0.99):
        (tmp_path / "cut").write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(FileHeld) as caught:
            read_file(tmp_path / "cut", name="orders.xlsx", options=ReadOptions())
        assert caught.value.rule == "file|damaged"
        assert "did not arrive completely" in caught.value.message
        assert caught.value.remedy.startswith("Send it again")


def test_xml_that_does_not_parse_is_held(tmp_path):
    path = workbook(lambda book, sheet: sheet.append(["a"]), path=tmp_path / "file")
    for part in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml", "xl/_rels/workbook.xml.rels"):
        broken = tmp_path / "broken"
        broken.write_bytes(path.read_bytes())
        with_sheet_xml(broken, lambda xml: xml[: len(xml) // 2], part=part)
        held(lambda broken=broken: read_file(broken, name="a.xlsx", options=ReadOptions()), "file|damaged")


def test_reading_is_a_function_of_the_bytes(tmp_path):
    """The name tells the format; the path on this machine tells nothing."""
    content = io.BytesIO()
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.save(content)
    for path in (tmp_path / "a.csv", tmp_path / "0a1b2c", tmp_path / "x.xls"):
        path.write_bytes(content.getvalue())
        assert read_file(path, name="orders.XLSX", options=ReadOptions())[0].frame.rows() == [(1, "x")]


def test_more_sheets_than_anybody_means_are_not_looked_into(read):
    def build(book, sheet):
        sheet.append(["a"])
        for number in range(2):
            book.create_sheet(f"More {number}").append(["b"])

    limits = Limits(max_sheets=2)
    assert [each.name for each in read(build, limits=limits, name="More*")] == ["More 0", "More 1"]
    message = held(lambda: read(build, limits=limits), "sheet|too_many")
    assert "has 3 visible sheets; at most 2 are looked into" in message


_MAIN_AGAIN = ' xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


@pytest.mark.parametrize(
    "row",
    [
        f'<row{_MAIN_AGAIN} r="3"><c r="A3"><v>7</v></c></row>',
        f'<row r="3"><c{_MAIN_AGAIN} r="A3"><v>7</v></c></row>',
        f'<row r="3"><c r="A3"><v{_MAIN_AGAIN}>7</v></c></row>',
        f'<row r="3"><c r="A3" t="inlineStr"><is{_MAIN_AGAIN}><t>7</t></is></c></row>',
        f'<row r="3"><c r="A3" t="inlineStr"><is><t{_MAIN_AGAIN}>7</t></is></c></row>',
    ],
)
def test_an_element_that_repeats_the_namespace_of_all_is_one_of_them(tmp_path, row):
    write_zip(tmp_path / "file", workbook_parts(good_rows() + row))
    (sheet,) = read_file(tmp_path / "file", name="a.xlsx", options=ReadOptions())
    assert sheet.frame["1"].to_list() == ["Order No", "A-1", "7"]


@pytest.mark.parametrize("texts", [f"<si{_MAIN_AGAIN}><t>7</t></si>", f"<si><r><t{_MAIN_AGAIN}>7</t></r></si>"])
def test_so_is_a_text_that_cells_share(tmp_path, texts):
    shared = f'<?xml version="1.0"?><sst{_MAIN_AGAIN}>{texts}</sst>'.encode()
    rows = good_rows() + '<row r="3"><c r="A3" t="s"><v>0</v></c></row>'
    write_zip(tmp_path / "file", workbook_parts(rows, more={"xl/sharedStrings.xml": shared}))
    (sheet,) = read_file(tmp_path / "file", name="a.xlsx", options=ReadOptions())
    assert sheet.frame["1"].to_list() == ["Order No", "A-1", "7"]
