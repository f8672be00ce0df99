"""Workbooks and archives put together by hand, with the same bytes each time."""

import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

ZERO_MEGABYTES = bytes(1 << 20)  # times a number
HEADER = ["Order No", "Name", "Phone", "Address", "SKU", "Qty"]
ROW = ["A-1", "Asha", "9876543210", "12 MG Road", "tea", "2"]
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
_XML = '<?xml version="1.0" encoding="UTF-8"?>'


def sheet_xml(rows: str, *, dimension: str = "A1:F2") -> bytes:
    """A sheet's part around its rows."""
    return (
        f'{_XML}<worksheet {_MAIN}><dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    ).encode()


def row_xml(number: int, cells: list[str]) -> str:
    """A row of texts."""
    inner = "".join(
        f'<c r="{"ABCDEFGHIJ"[at]}{number}" t="inlineStr"><is><t>{text}</t></is></c>' for at, text in enumerate(cells)
    )
    return f'<row r="{number}">{inner}</row>'


def good_rows() -> str:
    """A header and one order."""
    return row_xml(1, HEADER) + row_xml(2, ROW)


def workbook_parts(
    rows: str | None = None, *, dimension: str = "A1:F2", more: Mapping[str, bytes] | None = None
) -> dict[str, bytes]:
    """The parts of an .xlsx workbook with one sheet; more: parts to add or replace."""
    return {
        "[Content_Types].xml": f"{_XML}<Types/>".encode(),
        "_rels/.rels": (
            f'{_XML}<Relationships {_PACKAGE}><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>'
        ).encode(),
        "xl/workbook.xml": (
            f'{_XML}<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets><sheet name="Orders" sheetId="1" r:id="rId1"/>'
            "</sheets></workbook>"
        ).encode(),
        "xl/_rels/workbook.xml.rels": (
            f'{_XML}<Relationships {_PACKAGE}><Relationship Id="rId1" Type="{_OFFICE}/worksheet" '
            f'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{_OFFICE}/sharedStrings" '
            f'Target="sharedStrings.xml"/><Relationship Id="rId3" Type="{_OFFICE}/styles" Target="styles.xml"/>'
            "</Relationships>"
        ).encode(),
        "xl/sharedStrings.xml": f"{_XML}<sst {_MAIN}><si><t>shared</t></si></sst>".encode(),
        "xl/styles.xml": f"{_XML}<styleSheet {_MAIN}><cellXfs><xf numFmtId='14'/></cellXfs></styleSheet>".encode(),
        "xl/worksheets/sheet1.xml": sheet_xml(good_rows() if rows is None else rows, dimension=dimension),
        **(more or {}),
    }


def packed(content: bytes) -> tuple[bytes, int, int]:
    """A part's deflated bytes, its size and checksum: to be stored several times and packed once."""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    return pack.compress(content) + pack.flush(), len(content), zlib.crc32(content)


def write_zip(
    path: Path,
    parts: Mapping[str, bytes],
    *,
    twice: Mapping[str, bytes] | None = None,
    ready: Mapping[str, tuple[bytes, int, int]] | None = None,
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """An archive without dates; `twice` are written after the others under names that may be taken."""
    entries: list[tuple[str, bytes, int, int, int]] = []
    for name, content in [*parts.items(), *(twice or {}).items()]:
        if method == zipfile.ZIP_LZMA:
            with zipfile.ZipFile(path, "w", method) as archive:
                archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
                entry = archive.infolist()[0]
            start = 30 + len(name)
            body = path.read_bytes()[start : start + entry.compress_size]
            entries.append((name, body, len(content), zlib.crc32(content), method))
        else:
            entries.append((name, *packed(content), zipfile.ZIP_DEFLATED))
    entries += [(name, *each, zipfile.ZIP_DEFLATED) for name, each in (ready or {}).items()]
    directory, offset = b"", 0
    with path.open("wb") as file:
        for name, body, size, crc, how in entries:
            raw = name.encode()
            fixed = struct.pack("<HHHHHIIIHH", 20, 0, how, 0, 33, crc, len(body), size, len(raw), 0)
            file.write(b"PK\3\4" + fixed + raw + body)
            directory += b"PK\1\2" + struct.pack("<H", 20) + fixed + struct.pack("<HHHII", 0, 0, 0, 0, offset) + raw
            offset += 30 + len(raw) + len(body)
        count = len(entries)
        file.write(directory + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), offset, 0))
    return path
