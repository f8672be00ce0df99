"""Small workbooks made of parts of a large one, for the general reader: it is asked about odd cells only."""

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Final

from logistics_batch.intake.xlsx_lines import NotPlain, decoded
from logistics_batch.intake.xlsx_parts import TEXTS_PART

_BOOK_PARTS: Final = (
    "[Content_Types].xml",
    "_rels/.rels",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/styles.xml",
)
FIRST_ROW: Final = 2
"""The row of the first odd cell; the one above it is empty."""

# One cell from behind its address to its end: nothing in it may reach into another one.
_NAMED: Final = r' [A-Za-z][A-Za-z0-9:]{0,40}="[^"<>]*"'
_FORMULA: Final = rf"<f(?:{_NAMED})*(?:/>|>[^<>]*</f>)"
_VALUE: Final = r"<v>[^<]*</v>|<v/>"
_TEXT: Final = r'<is><t(?: xml:space="preserve")?>[^<]*</t></is>|<is><t/></is>'
_CELL: Final = re.compile(rf'"(?:{_NAMED})*(?:/>|>(?:(?:{_FORMULA})?(?:{_VALUE})?|{_TEXT})</c>)')


def small_book(archive: zipfile.ZipFile) -> io.BytesIO:
    """A workbook without sheets and texts: enough to know which sheets there are."""
    return _packed(archive, {})


def style_book(archive: zipfile.ZipFile, part: str, count: int) -> io.BytesIO:
    """A workbook whose sheet has a 1 in each of its first styles, one below the other from the first row."""
    cells = "".join(
        f'<row r="{row}"><c r="A{row}" s="{style}"><v>1</v></c></row>' for row, style in enumerate(range(count), 1)
    )
    sheet = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    return _packed(archive, {part: f"{sheet}{cells}</sheetData></worksheet>".encode()})


def odd_book(
    archive: zipfile.ZipFile, part: str, *, around: tuple[bytes, bytes], spelt: Sequence[str], texts: bytes | None
) -> io.BytesIO:
    """A workbook whose sheet has these cells, each in a row of its own from FIRST_ROW, and all else that it had.

    spelt: how each is written behind its address, coded. texts: the part with the texts that cells share.
    Raises NotPlain for what is not one whole cell.
    """
    rows = ['<row r="1"></row>']
    for row, each in enumerate(spelt, FIRST_ROW):
        cell = decoded(each)
        if not _CELL.fullmatch(cell):
            raise NotPlain
        rows.append(f'<row r="{row}"><c r="A{row}{cell}</row>')
    before, behind = around
    sheet = b"".join([before, b"<sheetData>", "".join(rows).encode(), b"</sheetData>", behind])
    shared = {} if texts is None else {TEXTS_PART: texts}
    return _packed(archive, {part: sheet, **shared})


def _packed(archive: zipfile.ZipFile, parts: dict[str, bytes]) -> io.BytesIO:
    """The parts that every workbook has, and these."""
    target = io.BytesIO()
    known = set(archive.namelist())
    with zipfile.ZipFile(target, "w") as small:
        for name in _BOOK_PARTS:
            if name in known:
                small.writestr(name, archive.read(name))
        for name, content in parts.items():
            small.writestr(name, content)
    target.seek(0)
    return target
