"""Workbooks (.xlsx) whose XML attacks its reader, or whose cells stand where none should or hold what they cannot."""

from pathlib import Path

from hostile.catalogue import hostile
from hostile.workbook_parts import HEADER, ROW, good_rows, row_xml, sheet_xml, workbook_parts, write_zip
from intake.binary_workbooks import write_ole, write_xls

SHEET = "xl/worksheets/sheet1.xml"


def _book(path: Path, rows: str | None = None, **more: bytes) -> None:
    """more: parts by their names with `/` and `.` as `__` and `_`, which only the makers below use."""
    write_zip(path, workbook_parts(rows, more=more))


def _with(path: Path, part: str, content: str | bytes) -> None:
    write_zip(path, workbook_parts(more={part: content.encode() if isinstance(content, str) else content}))


@hostile("orders.xlsx", "document type")
def billion_laughs(path: Path) -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    _with(path, "xl/sharedStrings.xml", f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY l0 "ha">{entities}]><s>&l9;</s>')


@hostile("orders.xlsx", "document type")
def quadratic_entities(path: Path) -> None:
    text = "x" * 50_000
    _with(path, SHEET, f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY a "{text}">]><s>{"&a;" * 50_000}</s>')


@hostile("orders.xlsx", "document type")
def outside_entity(path: Path) -> None:
    _with(path, "xl/workbook.xml", '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><workbook>&x;</workbook>')


@hostile("orders.xlsx", "document type")
def outside_document_type(path: Path) -> None:
    _with(path, "xl/styles.xml", '<!DOCTYPE styleSheet SYSTEM "http://localhost:9/evil.dtd"><styleSheet/>')


@hostile("orders.xlsx", "document type")
def document_type_in_utf16(path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>'
    _with(path, "xl/_rels/workbook.xml.rels", text.encode("utf-16"))


@hostile("orders.xlsx", "unusual encoding")
def document_type_in_an_encoding_of_mainframes(path: Path) -> None:
    text = '<?xml version="1.0" encoding="cp037"?><!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>'
    _with(path, "xl/_rels/workbook.xml.rels", text.encode("cp037"))


@hostile("orders.xlsx", "nested")
def elements_nested_a_million_deep(path: Path) -> None:
    _with(path, "xl/styles.xml", "<styleSheet>" + "<a>" * 1_000_000 + "</a>" * 1_000_000 + "</styleSheet>")


@hostile("orders.xlsx", "column XFD")
def cell_in_the_last_corner(path: Path) -> None:
    _book(path, good_rows() + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')


@hostile("orders.xlsx", "999,999,999")
def cell_in_row_999999999(path: Path) -> None:
    _book(path, good_rows() + '<row r="999999999"><c r="A999999999"><v>1</v></c></row>')


@hostile("orders.xlsx", "row 900,000,000")
def cell_far_below_its_own_row(path: Path) -> None:
    _book(path, good_rows() + '<row r="3"><c r="A900000000"><v>1</v></c></row>')


@hostile("orders.xlsx", "row 900,000,000")
def cell_far_below_behind_odd_blanks(path: Path) -> None:
    _book(path, good_rows() + "<row\tr='3'><c\nr='A900000000'><v>1</v></c></row>")


@hostile("orders.xlsx", "column ZZZ")
def cell_in_column_18278(path: Path) -> None:
    _book(path, good_rows() + '<row r="3"><c r="ZZZ3"><v>1</v></c></row>')


@hostile("orders.xlsx", "column XFD")
def far_cell_under_a_small_dimension(path: Path) -> None:
    parts = workbook_parts(good_rows() + '<row r="3"><c r="XFD3"><v>1</v></c></row>', dimension="A1")
    write_zip(path, parts)


@hostile("orders.xlsx", "row 1,000,003")
def row_below_a_million_empty_ones(path: Path) -> None:
    empty = "".join(f'<row r="{number}"/>' for number in range(3, 250_003))
    far = row_xml(1_000_003, ["A-2", *HEADER[1:]])
    _book(path, good_rows() + empty + far)


@hostile("orders.xlsx", "rows above it are empty")
def row_below_many_empty_ones(path: Path) -> None:
    _book(path, good_rows() + row_xml(100_000, ["A-2", "Asha", "9876543210", "12 MG Road", "tea", "2"]))


@hostile("orders.xlsx", "at most 512 columns and 200,000 rows")
def many_rows_within_little_xml(path: Path) -> None:
    _book(path, good_rows() + "<row><c><v>1</v></c></row>" * 250_000)


@hostile("orders.xlsx", "damaged")
def shared_text_that_is_not_there(path: Path) -> None:
    _book(path, good_rows() + '<row r="3"><c r="A3" t="s"><v>4000000000</v></c></row>')


@hostile("orders.xlsx", "F3 one The cell is not a whole number")
def text_that_is_said_to_be_a_number(path: Path) -> None:
    _book(path, good_rows() + row_xml(3, ["A-2", *ROW[1:5]]).replace("</row>", '<c r="F3"><v>one</v></c></row>'))


@hostile("orders.xlsx", "F3 #NUM!")
def number_without_end(path: Path) -> None:
    _book(path, good_rows() + row_xml(3, ["A-2", *ROW[1:5]]).replace("</row>", '<c r="F3"><v>1e999</v></c></row>'))


@hostile("orders.xlsx", "damaged")
def cell_without_a_place(path: Path) -> None:
    _book(path, good_rows() + '<row r="0"><c r="A0"><v>1</v></c></row>')


@hostile("orders.xlsx", "longer than 32,767 characters")
def cell_of_nine_megabytes(path: Path) -> None:
    _book(path, good_rows() + row_xml(3, ["x" * (9 << 20)]))


@hostile("orders.xlsx", "longer than 32,767 characters")
def shared_text_of_eight_megabytes_in_many_cells(path: Path) -> None:
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(3, 5_003))
    shared = f"<sst><si><t>{'x' * (8 << 20)}</t></si></sst>".encode()
    write_zip(path, workbook_parts(good_rows() + cells, more={"xl/sharedStrings.xml": shared}))


def _ends_never(path: Path, piece: str, *, before_rows: bool = False) -> None:
    """What patterns look at over and over again if they are careless."""
    sheet = sheet_xml(good_rows()).decode()
    place = "<sheetData>" if before_rows else "</sheetData>"
    endless = piece * (600_000 // len(piece))
    _with(
        path, SHEET, sheet.replace(place, f"{endless}{place}" if before_rows else f"<row r='3'>{endless}</row>{place}")
    )


@hostile("orders.xlsx", "damaged")
def attribute_that_never_ends(path: Path) -> None:
    _ends_never(path, '<cols><col hidden="1" ' + "x" * 599_000 + ' min="4"/></cols>', before_rows=True)


@hostile("orders.xlsx", "damaged")
def error_cells_that_never_end(path: Path) -> None:
    _ends_never(path, '<c r="A3" t="e">')


@hostile("orders.xlsx", "damaged")
def formulas_that_never_end(path: Path) -> None:
    _ends_never(path, '<c r="A3"><f>')


@hostile("orders.xlsx", "damaged")
def ends_of_formulas_without_a_beginning(path: Path) -> None:
    _ends_never(path, "</f></c>")


@hostile("orders.xlsx", "The formula in this cell has no stored value")
def blanks_behind_a_formula(path: Path) -> None:
    _ends_never(path, '<c r="A3"><f>1</f>' + " " * 599_000 + "<x/></c>")


@hostile("orders.xlsx", "damaged")
def tags_that_are_never_closed(path: Path) -> None:
    _ends_never(path, '<c r="A3" s="1" hidden= <row r="3" ht="0 ')


@hostile("orders.xlsx", "order")
def number_format_of_brackets(path: Path) -> None:
    code = "[" * 600_000
    _with(
        path,
        "xl/styles.xml",
        f'<styleSheet><numFmts><numFmt numFmtId="170" formatCode="{code}"/></numFmts>'
        '<cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>',
    )


@hostile("orders.xlsx", "damaged")
def sheet_that_ends_in_a_row(path: Path) -> None:
    _with(path, SHEET, sheet_xml(good_rows())[:-40])


@hostile("orders.xlsx", "damaged")
def sheet_that_is_missing(path: Path) -> None:
    parts = workbook_parts()
    del parts[SHEET]
    write_zip(path, parts)


@hostile("orders.xlsx", "a workbook without any sheet")
def workbook_without_sheets(path: Path) -> None:
    _with(path, "xl/workbook.xml", "<workbook><sheets/></workbook>")


@hostile("orders.xlsx", "(hidden)")
def workbook_whose_sheets_are_all_hidden(path: Path) -> None:
    book = workbook_parts()["xl/workbook.xml"].replace(b'name="Orders"', b'name="Orders" state="veryHidden"')
    _with(path, "xl/workbook.xml", book)


@hostile("orders.xlsx", "formula")
def formulas_without_values(path: Path) -> None:
    cells = "".join(f'<c r="{column}2"><f>1+1</f></c>' for column in "ABCDEF")
    _book(path, row_xml(1, HEADER) + f'<row r="2">{cells}</row>')


@hostile("orders.xlsx", "#REF!")
def error_cells_everywhere(path: Path) -> None:
    cells = "".join(f'<c r="{column}2" t="e"><v>#REF!</v></c>' for column in "ABCDEF")
    _book(path, row_xml(1, HEADER) + f'<row r="2">{cells}</row>')


@hostile("orders.xlsx", "macros")
def workbook_with_macros(path: Path) -> None:
    write_zip(path, workbook_parts(more={"xl/vbaProject.bin": b"x"}))


@hostile("orders.xlsx", "password")
def workbook_with_a_password(path: Path) -> None:
    write_ole(path, {"EncryptedPackage": b"x", "EncryptionInfo": b"x"})


@hostile("orders.xls", "password")
def old_workbook_with_a_password(path: Path) -> None:
    write_xls(path, [list(HEADER)], protected=True)


@hostile("orders.xls", "macros")
def old_workbook_with_macros(path: Path) -> None:
    write_xls(path, [list(HEADER)], extra_streams={"_VBA_PROJECT_CUR": b""})


@hostile("orders.xls", "no workbook")
def letter_named_xls(path: Path) -> None:
    write_ole(path, {"WordDocument": b"x"})


@hostile("orders.xlsx", "no workbook")
def new_letter_named_xlsx(path: Path) -> None:
    write_zip(path, {"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<document/>"})


@hostile("orders.csv", ".xlsx workbook")
def workbook_named_csv(path: Path) -> None:
    write_zip(path, workbook_parts())


@hostile("orders.xls", ".xlsx")
def workbook_named_xls(path: Path) -> None:
    write_zip(path, workbook_parts())
