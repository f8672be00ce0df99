"""The old and the less usual workbook formats, written byte by byte as far as the tests need them."""

import struct
import zipfile
from pathlib import Path

Row = list[str | float]

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def write_ole(path: Path, streams: dict[str, bytes]) -> Path:
    """A compound file with some streams, as .xls and protected .xlsx files are."""
    table = [_FAT, _END]  # sector 0 is the table itself, sector 1 the directory
    entries = [_directory_entry("Root Entry", kind=5, child=1, start=_END, size=0)]
    body = b""
    for number, (name, content) in enumerate(streams.items(), start=1):
        padded = content.ljust(4096, b"\0")  # shorter ones would live in a table of their own
        padded += b"\0" * (-len(padded) % 512)
        start = len(table)
        table += [*range(start + 1, start + len(padded) // 512), _END]
        following = number + 1 if number < len(streams) else _FREE
        entries.append(_directory_entry(name, kind=2, right=following, start=start, size=len(padded)))
        body += padded
    assert len(table) <= 128 and len(entries) <= 4
    fat = struct.pack("<128I", *table, *[_FREE] * (128 - len(table)))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, _END, 0, _END, 0) + struct.pack("<109I", 0, *[_FREE] * 108)
    path.write_bytes(head + fat + b"".join(entries).ljust(512, b"\0") + body)
    return path


def _directory_entry(name: str, *, kind: int, start: int, size: int, child: int = _FREE, right: int = _FREE) -> bytes:
    text = name.encode("utf-16-le")
    head = text.ljust(64, b"\0") + struct.pack("<HBB", len(text) + 2, kind, 1)
    return head + struct.pack("<III", _FREE, right, child) + bytes(36) + struct.pack("<IQ", start, size)


def write_xls(
    path: Path,
    rows: list[Row],
    *,
    extra_streams: dict[str, bytes] | None = None,
    protected: bool = False,
    more: bytes = b"",
    globals_more: bytes = b"",
) -> Path:
    """A .xls workbook with one sheet of texts and numbers; more: records at the end of the sheet or globals."""
    sheet = xls_record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 1997, 0, 0))
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            place = struct.pack("<HHH", row, column, 0)
            if isinstance(value, str):
                text = value.encode("utf-16-le")
                sheet += xls_record(0x204, place + struct.pack("<HB", len(value), 1) + text)
            else:
                sheet += xls_record(0x203, place + struct.pack("<d", value))
    sheet += more + xls_record(0x0A, b"")
    begin = xls_record(0x809, struct.pack("<HHHHII", 0x600, 0x05, 0, 1997, 0, 0)) + xls_record(
        0x42, struct.pack("<H", 1200)
    )
    begin += (xls_record(0x2F, bytes(54)) if protected else b"") + globals_more
    name = struct.pack("<BB", 6, 0) + b"Orders"
    offset = len(begin) + 4 + 6 + len(name) + 4
    stream = begin + xls_record(0x85, struct.pack("<IBB", offset, 0, 0) + name) + xls_record(0x0A, b"") + sheet
    return write_ole(path, {"Workbook": stream, **(extra_streams or {})})


def xls_record(kind: int, data: bytes) -> bytes:
    """One record of an .xls stream."""
    return struct.pack("<HH", kind, len(data)) + data


def write_xlsb(path: Path, rows: list[Row]) -> Path:
    """A .xlsb workbook with one sheet of texts and numbers."""
    return write_parts(path, xlsb_parts(rows))


def xlsb_parts(rows: list[Row]) -> dict[str, bytes]:
    """The parts of a .xlsb workbook."""
    extent = struct.pack("<IIII", 0, len(rows) - 1, 0, max(map(len, rows)) - 1)
    sheet = xlsb_record(129) + xlsb_record(148, extent) + xlsb_record(145)
    for row, cells in enumerate(rows):
        sheet += xlsb_record(0, struct.pack("<IIHBBBI", row, 0, 300, 0, 0, 0, 0))
        for column, value in enumerate(cells):
            place = struct.pack("<II", column, 0)
            sheet += (
                xlsb_record(6, place + xlsb_text(value))
                if isinstance(value, str)
                else xlsb_record(5, place + struct.pack("<d", value))
            )
    sheet += xlsb_record(146) + xlsb_record(130)
    book = (
        xlsb_record(131)
        + xlsb_record(143)
        + xlsb_record(156, struct.pack("<II", 0, 1) + xlsb_text("rId1") + xlsb_text("Orders"))
    )
    book += xlsb_record(144) + xlsb_record(132)
    relations = (
        '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet1.bin"/></Relationships>'
    )
    return {
        "[Content_Types].xml": b"<Types/>",
        "xl/workbook.bin": book,
        "xl/_rels/workbook.bin.rels": relations.encode(),
        "xl/worksheets/sheet1.bin": sheet,
    }


def write_parts(path: Path, parts: dict[str, bytes]) -> Path:
    """An archive of these parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return path


def xlsb_record(kind: int, data: bytes = b"") -> bytes:
    """One record of an .xlsb part."""
    number = bytes([kind]) if kind < 128 else bytes([(kind & 0x7F) | 0x80, kind >> 7])
    size, length = len(data), b""
    while True:
        size, seven = size >> 7, size & 0x7F
        length += bytes([seven | 0x80 if size else seven])
        if not size:
            return number + length + data


def xlsb_text(text: str) -> bytes:
    """A text with its length before it."""
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def write_ods(path: Path, rows: list[Row]) -> Path:
    """An .ods spreadsheet with one sheet of texts and numbers."""
    return write_parts(path, ods_parts(rows))


def ods_parts(rows: list[Row]) -> dict[str, bytes]:
    """The parts of an .ods spreadsheet."""
    lines = "".join(f"<table:table-row>{''.join(map(_ods_cell, cells))}</table:table-row>" for cells in rows)
    content = (
        '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="Orders">{lines}</table:table></office:spreadsheet>'
        "</office:body></office:document-content>"
    )
    return {
        "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": b"<manifest/>",
        "content.xml": content.encode(),
    }


def _ods_cell(value: str | float) -> str:
    if isinstance(value, str):
        kind = f'office:value-type="string"><text:p>{value}</text:p>' if value else ">"
    else:
        kind = f'office:value-type="float" office:value="{value}"><text:p>{value}</text:p>'
    return f"<table:table-cell {kind}</table:table-cell>"
