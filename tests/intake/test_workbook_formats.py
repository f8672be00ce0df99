"""What a cell is beyond its text is told alike by every format of workbook."""

import struct
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from intake.binary_workbooks import ods_parts, write_parts, write_xls, xls_record
from intake.quirky_workbooks import write_quirky_ods, write_quirky_xls, write_quirky_xlsb, write_xlsx
from intake.test_excel import with_sheet_xml
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from support.cell_facts import cells_with, number_format_texts, struck_cells
from support.issues import notes_of
from support.libreoffice import converted

from logistics_batch.intake.readers import read_file
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet

WRITERS: dict[str, Callable[..., Path]] = {
    "xlsx": write_xlsx,
    "xls": write_quirky_xls,
    "xlsb": write_quirky_xlsb,
    "ods": write_quirky_ods,
}
KNOW_UNCALCULATED = ("xlsx", "ods")
SEES_FORMATS = ("xlsx",)
VALUES_ALONE = ("xls", "xlsb", "ods")


def read(path: Path, ending: str, **options: str) -> Sheet:
    (sheet,) = read_file(path, name=f"orders.{ending}", options=ReadOptions(**options))  # type: ignore[arg-type]
    return sheet


@pytest.fixture(params=WRITERS)
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sheet(ending: str, tmp_path: Path) -> Sheet:
    return read(WRITERS[ending](tmp_path / "file"), ending)


def test_error_cells_show_their_word(sheet: Sheet) -> None:
    assert sheet.frame["3"].to_list()[:4] == ["Sum", "#DIV/0!", "7", "#N/A"]
    assert cells_with(sheet, CellFact.ERROR) == [(2, 3), (4, 3)]


@pytest.mark.parametrize("ending", KNOW_UNCALCULATED, indirect=True)
def test_a_formula_that_was_never_calculated_is_told(sheet: Sheet) -> None:
    assert cells_with(sheet, CellFact.NO_VALUE) == [(5, 3)]


@pytest.mark.parametrize("ending", SEES_FORMATS, indirect=True)
def test_leading_zeros_and_words_of_number_formats(sheet: Sheet) -> None:
    assert sheet.frame["2"].to_list() == ["Code", "0000022", "0000033", "44", "55"]
    assert number_format_texts(sheet) == ((4, 2, "ORD-0"),)
    assert notes_of(sheet)["leading_zeros"] == {"columns": ["B"]}


@pytest.mark.parametrize("ending", VALUES_ALONE, indirect=True)
def test_what_is_not_seen_of_a_format_is_told_in_one_note(sheet: Sheet, ending: str) -> None:
    assert sheet.frame["2"].to_list() == ["Code", "22", "33", "44", "55"]
    assert number_format_texts(sheet) == ()
    assert notes_of(sheet)["values_alone"] == {"format": ending}


def test_hidden_rows_are_listed(sheet: Sheet) -> None:
    assert sheet.hidden_rows == (3,)
    assert notes_of(sheet)["hidden_rows.read"] == {"rows": "3"}


@pytest.mark.parametrize("ending", SEES_FORMATS, indirect=True)
def test_hidden_columns_and_filters_are_listed(sheet: Sheet) -> None:
    assert notes_of(sheet)["hidden_columns"] == {"columns": ["D"]}
    assert "filter_set" in notes_of(sheet)


def test_hidden_rows_stay_for_the_mapping_to_answer(ending: str, tmp_path: Path) -> None:
    sheet = read(WRITERS[ending](tmp_path / "file"), ending, hidden_rows="skip")
    assert sheet.frame.height == 5
    assert notes_of(sheet)["hidden_rows.skipped"] == {"rows": "3"}


def test_merged_cells_are_told(sheet: Sheet) -> None:
    assert sheet.merged_ranges == [(4, 1, 5, 1)]
    assert sheet.frame["1"].to_list() == ["Order No", "A-1", "A-2", "A-3", None]
    assert notes_of(sheet)["merged_cells"] == {"ranges": "A4:A5"}


@pytest.mark.parametrize("is_1904", [False, True])
def test_dates_in_both_date_systems(ending: str, tmp_path: Path, is_1904: bool) -> None:
    sheet = read(WRITERS[ending](tmp_path / "file", is_1904=is_1904), ending)
    assert sheet.frame["4"].to_list() == ["Date", "2026-11-03", "2026-11-03 18:00:00", None, None]
    assert cells_with(sheet, CellFact.DATE) == [(2, 4)] and cells_with(sheet, CellFact.DATETIME) == [(3, 4)]


def test_truths_and_lengths_of_time_in_an_ods_are_what_the_cells_show(tmp_path: Path) -> None:
    """LibreOffice keeps a truth that came from Excel as a number."""
    cells = '<table:table-cell office:value-type="float" office:value="1"><text:p>TRUE</text:p></table:table-cell>'
    lasting = 'office:value-type="time" office:time-value="PT30H05M00S"'
    cells += f"<table:table-cell {lasting}><text:p>30:05:00</text:p></table:table-cell>"
    sheet = read_ods_row(cells, tmp_path)
    assert sheet.frame.rows() == [(1, "TRUE", "30:05:00")]
    assert (cells_with(sheet, CellFact.TRUTH), cells_with(sheet, CellFact.TIME)) == ([(1, 1)], [(1, 2)])


def test_tabs_and_line_breaks_of_an_ods_part_its_words_and_comments_are_no_part_of_the_cell(tmp_path: Path) -> None:
    """The fast reader drops the first: a quantity of 1 and 2 in one cell would be 12."""
    comment = "<office:annotation><text:p>was 5<text:tab/></text:p></office:annotation>"
    text, number = '<table:table-cell office:value-type="string">', '<table:table-cell office:value-type="float" '
    cells = f"{text}{comment}<text:p>1<text:tab/>2</text:p></table:table-cell>"
    cells += (
        f'{text}<text:p>12<text:s text:c="2"/>MG</text:p><text:p>Road<text:line-break/>Pune</text:p></table:table-cell>'
    )
    cells += f'{number}office:value="3">{comment}<text:p>3</text:p></table:table-cell>'
    cells += f"{text}{comment}<text:p>A-1</text:p></table:table-cell>"
    sheet = read_ods_row(cells, tmp_path)
    assert sheet.frame.rows() == [(1, "1\t2", "12  MG\nRoad\nPune", "3", "A-1")]
    assert number_format_texts(sheet) == ()


def read_ods_row(cells: str, folder: Path) -> Sheet:
    parts = ods_parts([])
    rows = f"<table:table-row>{cells}</table:table-row></table:table>"
    content = parts["content.xml"].decode().replace("</table:table>", rows)
    return read(write_parts(folder / "file", {**parts, "content.xml": content.encode()}), "ods")


def test_a_plain_workbook_needs_no_notes(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Order No"])  # type: ignore[union-attr]
    book.save(tmp_path / "file")
    assert read(tmp_path / "file", "xlsx").notes == ()


@pytest.mark.real
@pytest.mark.slow
def test_what_is_struck_through_in_libreoffice_is_told(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Order No", CellRichText(TextBlock(InlineFont(strike=True), "12"), " 21")])
    sheet.append(["A-1", 5])
    sheet["B2"].font = Font(strike=True)
    book.save(tmp_path / "orders.xlsx")
    told = {
        (row, column): left
        for path in converted([tmp_path / "orders.xlsx"], "xlsx")
        for row, column, _, left in struck_cells(read(path, "xlsx"))
    }
    assert told == {(1, 2): "21", (2, 2): ""}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("to", ["xls", "ods", "xlsx"])
def test_what_libreoffice_makes_of_it_is_read_alike(tmp_path: Path, to: str) -> None:
    """Whichever year its dates are counted from."""
    made = [
        write_xlsx(tmp_path / f"from_{1904 if is_1904 else 1900}.xlsx", is_1904=is_1904) for is_1904 in (False, True)
    ]
    paths = converted(made, to)
    assert len(paths) == 2
    for path in paths:
        is_read_alike(read(path, to), sees_formats=to in SEES_FORMATS)


def is_read_alike(sheet: Sheet, *, sees_formats: bool) -> None:
    assert sheet.frame.rows() == [
        (1, "Order No", "Code", "Sum", "Date"),
        (2, "A-1", "0000022" if sees_formats else "22", "#DIV/0!", "2026-11-03"),
        (3, "A-2", "0000033" if sees_formats else "33", "7", "2026-11-03 18:00:00"),
        (4, "A-3", "44", "#N/A", None),
        (5, None, "55", "2", None),
    ]
    assert cells_with(sheet, CellFact.ERROR) == [(2, 3), (4, 3)]
    assert (sheet.hidden_rows, sheet.merged_ranges) == ((3,), [(4, 1, 5, 1)])
    assert number_format_texts(sheet) == (((4, 2, "ORD-0"),) if sees_formats else ())
    assert ("hidden_columns" in notes_of(sheet)) == sees_formats


def test_a_formula_left_at_nought_for_the_next_program_to_calculate_has_no_value(tmp_path: Path) -> None:
    """Some libraries write 0 for each formula and ask Excel to calculate when it opens the file."""
    xlsxwriter_like = tmp_path / "file"
    book = openpyxl.Workbook()
    book.active.append(["Qty", "=1+1", "=2+2", 0])  # type: ignore[union-attr]
    book.save(xlsxwriter_like)

    def calculated(xml: str) -> str:
        for cell in ("<v></v>", "<v/>", "<v />"):
            xml = xml.replace(f"<f>1+1</f>{cell}", "<f>1+1</f><v>0</v>")
            xml = xml.replace(f"<f>2+2</f>{cell}", "<f>2+2</f><v>4</v>")
        return xml

    with_sheet_xml(xlsxwriter_like, calculated)
    sheet = read(xlsxwriter_like, "xlsx")
    assert sheet.frame.rows() == [(1, "Qty", None, "4", "0")]
    assert cells_with(sheet, CellFact.NO_VALUE) == [(1, 2)]
    with_sheet_xml(xlsxwriter_like, lambda xml: xml.replace('fullCalcOnLoad="1"', ""), part="xl/workbook.xml")
    assert read(xlsxwriter_like, "xlsx").frame.rows() == [(1, "Qty", "0", "4", "0")]


def test_a_formula_of_an_old_workbook_left_at_nought_for_the_next_program_has_no_value(tmp_path: Path) -> None:
    """Libraries that write .xls say of such a formula that it is to be calculated on opening."""
    formulas = [(0.0, 2), (4.0, 2), (0.0, 0), (0.0, 1)]  # value and flags; the last is one that changes by itself
    cells = [
        xls_record(0x06, struct.pack("<HHHdHIH", 0, column, 0, value, flags, 0, 0))
        for column, (value, flags) in enumerate(formulas, start=1)
    ]
    sheet = read(write_xls(tmp_path / "file", [["Qty"]], more=b"".join(cells)), "xls")
    assert sheet.frame.rows() == [(1, "Qty", None, "4", "0", "0")]
    assert cells_with(sheet, CellFact.NO_VALUE) == [(1, 2)]
