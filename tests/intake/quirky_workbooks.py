"""One sheet with everything that a cell can be beyond its text, in each format of workbook.

| A        | B                    | C       | D (hidden)       |
|----------|----------------------|---------|------------------|
| Order No | Code                 | Sum     | Date             |
| A-1      | 22, shown 0000022    | #DIV/0! | 2026-11-03       |
| A-2      | 33, shown 0000033    | 7       | 2026-11-03 18:00 |  hidden by a filter
| A-3      | 44, shown ORD-044    | #N/A    |                  |
| (merged) | 55                   | formula |                  |  never calculated, where the format knows that
"""

import struct
from datetime import date, datetime
from pathlib import Path

import openpyxl
from intake.binary_workbooks import ods_parts, write_parts, write_xls, xls_record, xlsb_parts, xlsb_record, xlsb_text
from openpyxl.utils.datetime import CALENDAR_MAC_1904

HEADER: list[str | float] = ["Order No", "Code", "Sum", "Date"]
PADDED, WORDED = "0000000", '"ORD-"000'
_GENERAL, _DATE, _PADDED, _WORDED = range(4)  # the cell styles of the binary formats
_FORMATS = (0, 14, 164, 165)
_DIVISION, _NOT_AVAILABLE = 0x07, 0x2A


def day_number(*, is_1904: bool) -> int:
    """What stands for 2026-11-03 in a date cell."""
    return 44867 if is_1904 else 46329


def write_xlsx(path: Path, *, is_1904: bool = False) -> Path:
    """As openpyxl writes it."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Orders"
    book.epoch = CALENDAR_MAC_1904 if is_1904 else book.epoch
    rows = [["A-1", 22, "#DIV/0!", date(2026, 11, 3)], ["A-2", 33, 7, datetime.fromisoformat("2026-11-03 18:00")]]
    for row in [HEADER, *rows, ["A-3", 44, "#N/A"], [None, 55, "=1+1"]]:
        sheet.append(row)
    for cell, code in {"B2": PADDED, "B3": PADDED, "B4": WORDED}.items():
        sheet[cell].number_format = code
    sheet["C2"].data_type = sheet["C4"].data_type = "e"
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["D"].hidden = True
    sheet.merge_cells("A4:A5")
    sheet.auto_filter.ref = "A1:D5"
    sheet.auto_filter.add_filter_column(0, ["A-1"])
    book.save(path)
    return path


def write_quirky_xls(path: Path, *, is_1904: bool = False) -> Path:
    """As Excel wrote it from 1997 to 2003."""
    formats = (_xls_text_record(0x41E, 164, PADDED), _xls_text_record(0x41E, 165, WORDED))
    styles = (xls_record(0xE0, struct.pack("<HH", 0, code) + bytes(16)) for code in _FORMATS)
    begin = xls_record(0x22, struct.pack("<H", is_1904)) + b"".join((*formats, *styles))
    day = day_number(is_1904=is_1904)
    cells = [
        _xls_row(2, is_hidden=True),
        xls_record(0x7D, struct.pack("<HHHHHH", 3, 3, 2304, 0, 1, 0)),
        xls_record(0x9B, b""),
        _xls_number(1, 1, _PADDED, 22),
        _xls_formula_error(1, 2, _DIVISION),
        _xls_number(1, 3, _DATE, day),
        _xls_small_numbers(2, 1, [(_PADDED, 33), (_GENERAL, 7)]),
        _xls_number(2, 3, _DATE, day + 0.75),
        _xls_number(3, 1, _WORDED, 44),
        xls_record(0x205, struct.pack("<HHHBB", 3, 2, 0, _NOT_AVAILABLE, 1)),
        _xls_number(4, 1, _GENERAL, 55),
        xls_record(0xE5, struct.pack("<HHHHH", 1, 3, 4, 0, 0)),
    ]
    texts: list[list[str | float]] = [HEADER, ["A-1"], ["A-2"], ["A-3"]]
    return write_xls(path, texts, globals_more=begin, more=b"".join(cells))


def _xls_text_record(kind: int, number: int, text: str) -> bytes:
    return xls_record(kind, struct.pack("<HHB", number, len(text), 0) + text.encode("latin-1"))


def _xls_row(row: int, *, is_hidden: bool) -> bytes:
    return xls_record(0x208, struct.pack("<HHHHHHHH", row, 0, 4, 255, 0, 0, 0x20 * is_hidden, 0))


def _xls_number(row: int, column: int, style: int, value: float) -> bytes:
    return xls_record(0x203, struct.pack("<HHHd", row, column, style, value))


def _xls_formula_error(row: int, column: int, error: int) -> bytes:
    result = struct.pack("<BBBBHH", 2, 0, error, 0, 0, 0xFFFF)
    return xls_record(0x06, struct.pack("<HHH", row, column, 0) + result + struct.pack("<HIH", 0, 0, 0))


def _xls_small_numbers(row: int, first: int, cells: list[tuple[int, int]]) -> bytes:
    """Whole numbers side by side, packed into one record."""
    packed = b"".join(struct.pack("<HI", style, value << 2 | 2) for style, value in cells)
    return xls_record(0xBD, struct.pack("<HH", row, first) + packed + struct.pack("<H", first + len(cells) - 1))


def write_quirky_xlsb(path: Path, *, is_1904: bool = False) -> Path:
    """As Excel writes its binary format."""
    day = day_number(is_1904=is_1904)
    rows = [
        _xlsb_row(0) + b"".join(_xlsb_text(column, str(text)) for column, text in enumerate(HEADER)),
        _xlsb_row(1) + _xlsb_text(0, "A-1") + _xlsb_number(1, _PADDED, 22) + _xlsb_error(2, 11, _DIVISION),
        _xlsb_number(3, _DATE, day),
        _xlsb_row(2, is_hidden=True) + _xlsb_text(0, "A-2") + _xlsb_number(1, _PADDED, 33) + _xlsb_number(2, 0, 7),
        _xlsb_number(3, _DATE, day + 0.75),
        _xlsb_row(3) + _xlsb_text(0, "A-3") + _xlsb_number(1, _WORDED, 44) + _xlsb_error(2, 3, _NOT_AVAILABLE),
        _xlsb_row(4) + _xlsb_number(1, _GENERAL, 55),
    ]
    hidden = xlsb_record(390) + xlsb_record(60, struct.pack("<IIIIH", 3, 3, 2304, 0, 1)) + xlsb_record(391)
    extent = xlsb_record(148, struct.pack("<IIII", 0, 4, 0, 3))
    below = xlsb_record(161, bytes(16)) + xlsb_record(163, bytes(6)) + xlsb_record(164) + xlsb_record(162)
    below += (
        xlsb_record(177, struct.pack("<I", 1)) + xlsb_record(176, struct.pack("<IIII", 3, 4, 0, 0)) + xlsb_record(178)
    )
    cells = xlsb_record(145) + b"".join(rows) + xlsb_record(146)
    parts = xlsb_parts([HEADER])
    parts["xl/worksheets/sheet1.bin"] = xlsb_record(129) + extent + hidden + cells + below + xlsb_record(130)
    date_system = xlsb_record(153, struct.pack("<III", is_1904, 0, 0))
    parts["xl/workbook.bin"] = parts["xl/workbook.bin"].replace(xlsb_record(131), xlsb_record(131) + date_system, 1)
    return write_parts(path, {**parts, "xl/styles.bin": _xlsb_styles()})


def _xlsb_styles() -> bytes:
    codes = ((164, PADDED), (165, WORDED))
    formats = b"".join(xlsb_record(44, struct.pack("<H", number) + xlsb_text(code)) for number, code in codes)
    styles = b"".join(xlsb_record(47, struct.pack("<HH", 0, code) + bytes(12)) for code in _FORMATS)
    formats = xlsb_record(615, struct.pack("<I", len(codes))) + formats + xlsb_record(616)
    styles = xlsb_record(617, struct.pack("<I", len(_FORMATS))) + styles + xlsb_record(618)
    return xlsb_record(278) + formats + styles + xlsb_record(279)


def _xlsb_row(row: int, *, is_hidden: bool = False) -> bytes:
    return xlsb_record(0, struct.pack("<IIHBBBI", row, 0, 300, 0, 0x10 * is_hidden, 0, 0))


def _xlsb_text(column: int, text: str) -> bytes:
    return xlsb_record(6, struct.pack("<II", column, 0) + xlsb_text(text))


def _xlsb_number(column: int, style: int, value: float) -> bytes:
    return xlsb_record(5, struct.pack("<IId", column, style, value))


def _xlsb_error(column: int, kind: int, error: int) -> bytes:
    formula = struct.pack("<HII", 0, 0, 0) if kind == 11 else b""
    return xlsb_record(kind, struct.pack("<IIB", column, 0, error) + formula)


def write_quirky_ods(path: Path, *, is_1904: bool = False) -> Path:
    """As LibreOffice writes it; dates are texts there, whatever the date system is."""
    header = "".join(_ods_cell("string", text=str(text)) for text in HEADER)
    first = _ods_cell("string", text="A-1") + _ods_number(22, "0000022")
    first += _ods_cell("float", value="0", more='table:formula="of:=1/0" calcext:value-type="error" ', text="#DIV/0!")
    first += _ods_cell("date", more='office:date-value="2026-11-03" ', text="03/11/26")
    second = _ods_cell("string", text="A-2") + _ods_number(33, "0000033") + _ods_number(7, "7")
    second += _ods_cell("date", more='office:date-value="2026-11-03T18:00:00" ', text="03/11/26 18:00")
    merged = 'table:number-rows-spanned="2" table:number-columns-spanned="1" '
    third = _ods_cell("string", more=merged, text="A-3") + _ods_number(44, "ORD-044")
    third += _ods_cell("string", more='table:formula="of:=NA()" calcext:value-type="error" ', text="#N/A")
    last = "<table:covered-table-cell/>" + _ods_number(55, "55") + '<table:table-cell table:formula="of:=1+1"/>'
    columns = '<table:table-column table:number-columns-repeated="3"/><table:table-column table:visibility="collapse"/>'
    rows = [f"<table:table-row>{cells}</table:table-row>" for cells in (header, first, second, third, last)]
    rows[2] = rows[2].replace("<table:table-row>", '<table:table-row table:visibility="filter">')
    parts = ods_parts([])
    dates = "<table:calculation-settings><table:null-date table:date-value='1904-01-01'/></table:calculation-settings>"
    content = parts["content.xml"].decode().replace("</table:table>", f"{columns}{''.join(rows)}</table:table>")
    content = content.replace("<office:spreadsheet>", f"<office:spreadsheet>{dates}") if is_1904 else content
    namespace = ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
    content = content.replace(" office:version", f"{namespace} office:version", 1)
    return write_parts(path, {**parts, "content.xml": content.encode()})


def _ods_number(value: int, shown: str) -> str:
    return _ods_cell("float", value=str(value), text=shown)


def _ods_cell(kind: str, *, text: str, value: str = "", more: str = "") -> str:
    value = f'office:value="{value}" ' if value else ""
    return f'<table:table-cell {more}{value}office:value-type="{kind}"><text:p>{text}</text:p></table:table-cell>'
