"""A first look over a sheet's rows: where its columns end, and where an earlier result of ours stands in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from xml.etree.ElementTree import Element

from logistics_batch.model.answers.answer_columns import ANSWER_COLUMNS, earlier_columns
from logistics_batch.paper.xlsx.column_widths import ColumnWidths
from logistics_batch.paper.xlsx.package import Package
from logistics_batch.paper.xlsx.parts import parsed, relationships, target_part
from logistics_batch.paper.xlsx.rows import Cell, RowReader
from logistics_batch.paper.xlsx.sheet import Area, SheetPart
from logistics_batch.paper.xlsx.xml_bytes import NotPatchable, attribute, element_pattern, opening_tag

_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
_PARTS_OF_A_PIXEL = 9_525
_LOWEST_ROW_PIXELS = 15


@dataclass(frozen=True, slots=True)
class Survey:
    """What a sheet's rows look like.

    first_column, last_column: the user's columns, by the header row and by every cell with a value, from 1; our own of
    an earlier round do not count. earlier: those. last_row: the last row with an element of its own.
    """

    first_column: int
    last_column: int
    last_row: int
    earlier: frozenset[int] = frozenset()


def survey(reader: RowReader, *, header_row: int, own_words: dict[bytes, str]) -> Survey:
    """Looks at every row once. `own_words` are the shared strings that hold our headers' words, by their index."""
    header = next((row for row in reader.rows() if row.number == header_row), None)
    if header is None:
        raise NotPatchable(f"the sheet has no row {header_row}")
    cells, _ = reader.cells(header)
    earlier = _earlier(reader, cells, own_words)
    last_column = last_row = 0
    for row in reader.rows():
        last_row = row.number
        last_column = max(last_column, reader.last_used_column(row, ignoring=earlier))
    used = [cell.column for cell in cells if cell.column not in earlier]
    return Survey(min(used, default=1), last_column, last_row, earlier)


def _earlier(reader: RowReader, cells: Sequence[Cell], own_words: dict[bytes, str]) -> frozenset[int]:
    texts: dict[int, str] = {cell.column: _text(reader, cell, own_words) for cell in cells}
    line = [texts.get(column, "") for column in range(1, max(texts, default=0) + 1)]
    return frozenset(position + 1 for position in earlier_columns(line))


def _text(reader: RowReader, cell: Cell, own_words: dict[bytes, str]) -> str:
    if attribute(opening_tag(cell.xml), b"t") == b"s":
        value = element_pattern(reader.prefix + b"v").search(cell.xml)
        return own_words.get(value[2], "") if value is not None and value[2] else ""
    return inline_text(cell.xml, reader.prefix)


def inline_text(xml: bytes, prefix: bytes) -> str:
    """The text of an inline or shared string, of all its runs."""
    texts = element_pattern(prefix + b"t").finditer(xml)
    return unescape(b"".join(found[2] or b"" for found in texts).decode("utf-8", "replace"))


def own_words(package: Package, part: str | None) -> dict[bytes, str]:
    """Which shared strings are headers of ours, by their index as cells name it."""
    xml = package.read(part) if part is not None and part in package else b""
    if not any(name.encode() in xml for name in ANSWER_COLUMNS[2:4]):  # those that users hardly write themselves
        return {}
    found: dict[bytes, str] = {}
    prefix = re.search(rb"<([\w.-]+:)?sst[\s>]", xml)
    tag = ((prefix[1] or b"") if prefix is not None else b"") + b"si"
    for index, item in enumerate(element_pattern(tag).finditer(xml)):
        text = inline_text(item[0], tag[:-2])
        if text in ANSWER_COLUMNS:
            found[str(index).encode()] = text
    return found


def place_for(width: int, *, sheet: SheetPart, found: Survey, header_row: int, drawings: Sequence[Area]) -> int:
    """The first of `width` columns, right of everything the user has beside and under the header row.

    Merged cells above the header row do not count; charts and pictures do, for they would hide our columns.
    """
    merged = [area.right for area in sheet.merged_areas() if area.bottom >= header_row]
    first = max([found.last_column, *merged]) + 1
    for area in sorted(drawings, key=lambda area: area.left):
        if area.left < first + width and area.right >= first and area.bottom >= header_row:
            first = area.right + 1
    return first


def drawn_areas(package: Package, sheet: str, part: SheetPart) -> list[Area]:
    """The cells that a sheet's charts, pictures and text boxes lie over."""
    relation = part.relation("drawing")
    target = next((line.target for line in relationships(package, sheet) if line.id == relation), None)
    if target is None or target_part(sheet, target) not in package:
        return []
    drawing = target_part(sheet, target)
    widths = ColumnWidths(part)
    areas = (_area(anchor, widths) for anchor in parsed(package.read(drawing), part=drawing))
    return [area for area in areas if area is not None]


def _area(anchor: Element, widths: ColumnWidths) -> Area | None:
    """Where a drawing lies: between two cells, or so large from one cell, or from the sheet's corner, on."""
    start, end, size, place = (anchor.find(f"{{{_DRAWING}}}{name}") for name in ("from", "to", "ext", "pos"))
    if start is not None and end is not None:
        return Area(*_corner(start), *_corner(end))
    if size is None:
        return None
    top, left = _corner(start) if start is not None else (1, 1)
    across, down = _pixels(size, "cx"), _pixels(size, "cy")
    if start is None and place is not None:
        across, down = across + _pixels(place, "x"), down + _pixels(place, "y")
    return Area(top, left, top + down // _LOWEST_ROW_PIXELS + 1, widths.last_under(left, across))


def _pixels(element: Element, name: str) -> int:
    """A length of a drawing, which is written in parts of a pixel."""
    value = element.get(name, "0")
    return int(value) // _PARTS_OF_A_PIXEL if value.isdecimal() and len(value) < 16 else 0


def _corner(corner: Element) -> tuple[int, int]:
    row, column = (corner.findtext(f"{{{_DRAWING}}}{name}", "") for name in ("row", "col"))
    if not (row.isdecimal() and column.isdecimal()):
        raise NotPatchable("a drawing of the sheet has no sound place")
    return int(row) + 1, int(column) + 1
