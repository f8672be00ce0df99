"""The same attacks in the clothes of .ods, .xlsb and .xls."""

import struct
from pathlib import Path

from hostile.catalogue import hostile
from hostile.workbook_parts import HEADER, ROW, ZERO_MEGABYTES, write_zip
from intake.binary_workbooks import ods_parts, write_xls, xls_record, xlsb_parts, xlsb_record


def _ods_table(path: Path, rows: str) -> None:
    parts = ods_parts([list(HEADER), list(ROW)])
    content = parts["content.xml"].replace(b"</table:table>", rows.encode() + b"</table:table>")
    write_zip(path, {**parts, "content.xml": content})


_CELL = '<table:table-cell office:value-type="string"{}><text:p>x</text:p></table:table-cell>'


@hostile("orders.ods", "a cell in row 1,048,578")
def ods_row_repeated_a_million_times(path: Path) -> None:
    cell = _CELL.format("")
    _ods_table(path, f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>')


@hostile("orders.ods", "column XFD")
def ods_cell_repeated_to_the_last_column(path: Path) -> None:
    cell = _CELL.format(' table:number-columns-repeated="16384"')
    _ods_table(path, f"<table:table-row>{cell}</table:table-row>")


@hostile("orders.ods", "a cell in row 2,000,000,003")
def ods_cell_below_two_thousand_million_rows(path: Path) -> None:
    empty = '<table:table-row table:number-rows-repeated="2000000000"><table:table-cell/></table:table-row>'
    _ods_table(path, f"{empty}<table:table-row>{_CELL.format('')}</table:table-row>")


@hostile("orders.ods", "cells")
def ods_square_of_repeated_cells(path: Path) -> None:
    cell = _CELL.format(' table:number-columns-repeated="500"')
    _ods_table(path, f'<table:table-row table:number-rows-repeated="190000">{cell}</table:table-row>')


@hostile("orders.ods", "times its size")
def ods_bomb(path: Path) -> None:
    parts = ods_parts([list(HEADER), list(ROW)])
    write_zip(path, {**parts, "content.xml": parts["content.xml"] + b" " * (60 << 20)})


@hostile("orders.ods", "document type")
def ods_billion_laughs(path: Path) -> None:
    parts = ods_parts([list(HEADER), list(ROW)])
    laughs = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><office:document-content'
    write_zip(path, {**parts, "content.xml": parts["content.xml"].replace(b"<office:document-content", laughs, 1)})


@hostile("orders.ods", "password")
def ods_with_a_password(path: Path) -> None:
    manifest = (
        b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        b'<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'
        b"</manifest:manifest>"
    )
    parts = ods_parts([list(HEADER), list(ROW)])
    write_zip(path, {**parts, "META-INF/manifest.xml": manifest, "content.xml": bytes(range(256))})


@hostile("orders.ods", "damaged")
def ods_cut_off(path: Path) -> None:
    write_zip(path, ods_parts([list(HEADER), list(ROW)] * 50))
    path.write_bytes(path.read_bytes()[:-60])


@hostile("orders.xlsb", "times its size")
def xlsb_bomb(path: Path) -> None:
    parts = xlsb_parts([list(HEADER), list(ROW)])
    write_zip(path, {**parts, "xl/media/zeros.bin": ZERO_MEGABYTES * 60})


def _xlsb_sheet(path: Path, records: bytes, **more: bytes) -> None:
    parts = xlsb_parts([list(HEADER), list(ROW)])
    sheet = parts["xl/worksheets/sheet1.bin"]
    end = xlsb_record(146) + xlsb_record(130)
    changed = sheet.removesuffix(end) + records + end
    write_zip(path, {**parts, "xl/worksheets/sheet1.bin": changed, **more})


def _xlsb_row(row: int) -> bytes:
    return xlsb_record(0, struct.pack("<IIHBBBI", row, 0, 300, 0, 0, 0, 0))


@hostile("orders.xlsb", "a cell in row 4,000,000,001")
def xlsb_cell_in_row_4000000001(path: Path) -> None:
    _xlsb_sheet(path, _xlsb_row(4_000_000_000) + xlsb_record(5, struct.pack("<IId", 0, 0, 1.0)))


@hostile("orders.xlsb", "column XFD")
def xlsb_cell_in_the_last_corner(path: Path) -> None:
    _xlsb_sheet(path, _xlsb_row(1_048_575) + xlsb_record(5, struct.pack("<IId", 16_383, 0, 1.0)))


@hostile("orders.xlsb", "damaged")
def xlsb_record_longer_than_its_sheet(path: Path) -> None:
    _xlsb_sheet(path, _xlsb_row(2) + b"\x06\xff\xff\xff\x7f")


@hostile("orders.xlsb", "damaged")
def xlsb_text_longer_than_its_record(path: Path) -> None:
    _xlsb_sheet(path, _xlsb_row(2) + xlsb_record(6, struct.pack("<III", 0, 0, 0x7FFFFFFF) + b"x\0"))


@hostile("orders.xlsb", "damaged")
def xlsb_with_four_thousand_million_shared_texts(path: Path) -> None:
    shared = xlsb_record(159, struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF))
    _xlsb_sheet(path, b"", **{"xl/sharedStrings.bin": shared})


@hostile("orders.xls", "65,533 rows above it are empty")
def xls_cell_in_the_last_corner(path: Path) -> None:
    far = xls_record(0x203, struct.pack("<HHHd", 65_535, 255, 0, 1.0))
    write_xls(path, [list(HEADER), list(ROW)], more=far)


@hostile("orders.xls", "column")
def xls_cell_in_column_65536(path: Path) -> None:
    far = xls_record(0x203, struct.pack("<HHHd", 5, 65_535, 0, 1.0))
    write_xls(path, [list(HEADER), list(ROW)], more=far)


@hostile("orders.xls", "1 order read")
def xls_with_four_thousand_million_shared_texts(path: Path) -> None:
    """It only says so: none of its cells has one."""
    shared = xls_record(0xFC, struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF))
    write_xls(path, [list(HEADER), list(ROW)], globals_more=shared)


@hostile("orders.xls", "damaged")
def xls_whose_sectors_run_in_a_circle(path: Path) -> None:
    write_xls(path, [list(HEADER), list(ROW)] * 60)
    content = bytearray(path.read_bytes())
    last = max(at for at in range(4, 128) if struct.unpack_from("<I", content, 512 + 4 * at)[0] == 0xFFFFFFFE)
    struct.pack_into("<I", content, 512 + 4 * last, 2)  # from the end of the stream back to its beginning
    path.write_bytes(content)


@hostile("orders.xls", "damaged")
def xls_cut_off(path: Path) -> None:
    write_xls(path, [list(HEADER), list(ROW)] * 100)
    path.write_bytes(path.read_bytes()[:2_500])
