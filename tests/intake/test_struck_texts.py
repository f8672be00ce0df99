"""What somebody has struck through is told, however a program wrote it: a part of a cell, or the whole of it."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from hostile.workbook_parts import write_zip
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet
from support.cell_facts import cells_with, struck_cells

from logistics_batch.intake.readers import read_file
from logistics_batch.model.sheet import CellFact, ReadOptions, Sheet

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
Build = Callable[[Worksheet], None]


def read(path: Path) -> Sheet:
    return read_file(path, name="orders.xlsx", options=ReadOptions())[0]


def built(build: Build, path: Path) -> Sheet:
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    build(sheet)
    book.save(path)
    return read(path)


def partly(struck: str, left: str) -> CellRichText:
    return CellRichText(TextBlock(InlineFont(strike=True), struck), left)


def with_shared_texts(path: Path, *items: str) -> Path:
    """A workbook whose column B shares these texts, as Excel writes them."""
    built(lambda sheet: sheet.append(["Order No", "Qty"]), path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rows = "".join(
        f'<row r="{row}"><c r="A{row}"><v>{row}</v></c><c r="B{row}" t="s"><v>{row - 1}</v></c></row>'
        for row in range(1, len(items) + 1)
    )
    parts["xl/worksheets/sheet1.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'.encode()
    texts = "".join(f"<si>{item}</si>" for item in items)
    parts["xl/sharedStrings.xml"] = f'<?xml version="1.0"?><sst xmlns="{MAIN}">{texts}</sst>'.encode()
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    relation = f'<Relationship Id="rT" Type="{RELATION}" Target="sharedStrings.xml"/></Relationships>'
    for part, end, instead in (
        ("[Content_Types].xml", b"</Types>", override),
        ("xl/_rels/workbook.xml.rels", b"</Relationships>", relation),
    ):
        parts[part] = parts[part].replace(end, instead.encode())
    write_zip(path, parts)
    return path


def test_a_text_of_which_a_part_is_struck_through_is_told_with_both_parts(tmp_path: Path) -> None:
    def build(sheet: Worksheet) -> None:
        sheet.append(["Order No", "Qty"])
        sheet.append(["A-1", partly("12", " 21")])
        sheet.append(["A-2", CellRichText(TextBlock(InlineFont(b=True), "12"), " and 21")])
        sheet.append(["A-3", CellRichText(TextBlock(InlineFont(strike=False), "12"), " 21")])

    sheet = built(build, tmp_path / "file")
    assert sheet.frame["2"][1] == "12 21"
    assert struck_cells(sheet) == ((2, 2, "12", "21"),)


@pytest.mark.parametrize(
    ("item", "struck"),
    [
        ("<r><rPr><strike/><sz val='11'/></rPr><t>12</t></r><r><t> 21</t></r>", [("12", "21")]),
        ('<r><t>12 </t></r><r><rPr><strike val="1"/></rPr><t>21</t></r>', [("21", "12")]),
        ('<r><rPr><strike val="true"/></rPr><t>12</t></r>', [("", "")]),
        ('<r><rPr><strike val="0"/></rPr><t>12</t></r><r><t> 21</t></r>', []),
        ('<r><rPr><strike/></rPr><t xml:space="preserve"> </t></r><r><t>21</t></r>', []),
        ("<r><rPr><strike/></rPr><t>1 &amp; 2</t></r><r><t>3</t></r>", [("1 & 2", "3")]),
        ('<r><rPr><strike/></rPr><t>12</t></r><r><t>21</t></r><rPh sb="0" eb="1"><t>twelve</t></rPh>', [("12", "21")]),
        ("<t>Three strikes</t>", []),
    ],
)
def test_shared_texts_are_told_in_every_cell_that_has_them(
    tmp_path: Path, item: str, struck: list[tuple[str, str]]
) -> None:
    sheet = read(with_shared_texts(tmp_path / "file", "<t>Qty</t>", item, "<t>12 21</t>"))
    assert [told[2:] for told in struck_cells(sheet)] == struck
    assert {told[:2] for told in struck_cells(sheet)} <= {(2, 2)}


def test_prefixes_make_no_difference(tmp_path: Path) -> None:
    item = "<x:r><x:rPr><x:strike/></x:rPr><x:t>12</x:t></x:r><x:r><x:t> 21</x:t></x:r>"
    path = with_shared_texts(tmp_path / "file", "<x:t>Qty</x:t>", item)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    texts = parts["xl/sharedStrings.xml"].replace(b"<sst xmlns=", b"<x:sst xmlns:x=").replace(b"</sst>", b"</x:sst>")
    parts["xl/sharedStrings.xml"] = texts.replace(b"<si>", b"<x:si>").replace(b"</si>", b"</x:si>")
    write_zip(path, parts)
    assert struck_cells(read(path)) == ((2, 2, "12", "21"),)


def test_cells_that_their_style_strikes_through_are_told_where_something_stands_in_them(tmp_path: Path) -> None:
    def build(sheet: Worksheet) -> None:
        sheet.append(["Order No", "Qty", "Code"])
        sheet.append(["A-1", 5, "x & y"])
        sheet.append(["A-2", 5, "TEA", None])
        for cell in (*sheet[2], sheet["B3"], sheet["D3"]):
            cell.font = Font(strike=True)
        sheet["C3"].font = Font(b=True)
        sheet["C3"].number_format = "00"

    assert struck_cells(built(build, tmp_path / "file")) == (
        (2, 1, "", ""),
        (2, 2, "", ""),
        (2, 3, "", ""),
        (3, 2, "", ""),
    )


def test_a_part_that_is_struck_through_goes_before_the_style_of_the_cell(tmp_path: Path) -> None:
    def build(sheet: Worksheet) -> None:
        sheet.append(["Order No", partly("12", " 21")])
        sheet["B1"].font = Font(strike=True)

    assert struck_cells(built(build, tmp_path / "file")) == ((1, 2, "12", "21"),)


def test_a_workbook_without_any_has_none_and_many_sheets_each_their_own(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Order No", "Striker"])  # type: ignore[union-attr]
    book.create_sheet("Second").append([partly("a", "b")])
    book.save(tmp_path / "file")
    sheets = read_file(tmp_path / "file", name="orders.xlsx", options=ReadOptions())
    assert [struck_cells(sheet) for sheet in sheets] == [(), ((1, 1, "a", "b"),)]


def test_another_value_under_merged_cells_is_told(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    for row in (["Order No", "Qty"], ["A-1", 5], ["A-2", 5], [" A-1 ", 7], [None, 8]):
        sheet.append(row)
    book.save(tmp_path / "plain")
    with zipfile.ZipFile(tmp_path / "plain") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    merges = b'</sheetData><mergeCells count="2"><mergeCell ref="A2:A5"/><mergeCell ref="B2:B4"/></mergeCells>'
    part = "xl/worksheets/sheet1.xml"
    parts[part] = parts[part].replace(b"</sheetData>", merges)
    write_zip(tmp_path / "file", parts)
    found = read(tmp_path / "file")
    assert found.frame["1"].to_list() == ["Order No", "A-1", "A-2", " A-1 ", None]
    assert cells_with(found, CellFact.HIDDEN_BY_MERGE) == [(3, 1), (4, 2)]
