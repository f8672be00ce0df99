"""Workbooks that are read by their values: what the library does not tell of .xls and .xlsb, and all of .ods.

Of .xls and .xlsb it gives blanks for error cells, and unfolds every sheet as far as its last cell; the records tell
which cells these are, and how far that is [MS-XLS] [MS-XLSB]. Of .ods it gives 0 for an error cell and drops tabs. A
few bytes of its XML can stand for millions of cells, as rows and cells say how often they are repeated; so each is
judged before it is unfolded.
"""

import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element

from logistics_batch.intake.names import held
from logistics_batch.intake.readers.cells import Address, Cell, Shown
from logistics_batch.intake.readers.limits import ReadBudget
from logistics_batch.intake.readers.xlsx_book import relations
from logistics_batch.intake.readers.xml_trees import read_tree
from logistics_batch.model.sheet import CellFact, CellRange

_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}
_SHORT_SECTOR_BYTES, _SHORT_BELOW = 64, 4096  # short streams share sectors of their own
_FREE = 0xFFFFFFFA  # and all above: no sector
_XLS_STREAMS = ("Workbook", "Book")  # the second before 1997
_XLS_BEGIN, _XLS_END, _XLS_PASSWORD, _XLS_SHEET = 0x809, 0x0A, 0x2F, 0x85
_XLS_FORMULA, _XLS_TRUTH_OR_ERROR = 0x06, 0x205
_XLS_CELLS = (0x203, 0x27E, 0x204, 0xFD, 0xD6, _XLS_FORMULA, _XLS_TRUTH_OR_ERROR)
_XLS_ROW, _XLS_NUMBERS_IN_ROW = 0x208, 0xBD
_XLS_HIDDEN, _XLSB_HIDDEN = 0x20, 0x10  # of a row's flags
_IS_NO_NUMBER, _IS_ERROR = 0xFFFF, 2
_CALCULATE_ON_OPENING = 2  # of a formula's flags; libraries set it that write 0 and leave the rest to the next program
_XLSB_ROW, _XLSB_SHEET, _XLSB_MERGE, _XLSB_ERROR_CELLS = 0, 156, 176, (3, 11)
_XLSB_CELLS = (*range(2, 12), 62)
_MOST_RECORD_BYTES = 1 << 20
_TABLE = ["document-content", "body", "spreadsheet", "table"]
_CELLS = ("table-cell", "covered-table-cell")
_BLANKS = {"tab": "\t", "line-break": "\n"}
_NUMBERS = ("float", "percentage", "currency")
_TRUTHS = ("TRUE", "FALSE")  # also shown by numbers: so LibreOffice keeps what came from Excel
_ERROR_SIGNS = ("#", "Err:")
_LASTING = re.compile(r"PT(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,7}(?:\.\d{0,9})?)S)?")


@dataclass(slots=True)
class BinarySheet:
    """What the records of a sheet tell. rows: those with cells. special: cells that the library takes for others."""

    name: str
    rows: set[int] = field(default_factory=set)
    last_column: int = 0
    special: dict[Address, Shown] = field(default_factory=dict)
    hidden_rows: list[int] = field(default_factory=list)
    merged: list[CellRange] = field(default_factory=list)  # of .xlsb; those of .xls the library tells

    def take(self, row: int, column: int, *, error: int | None = None) -> None:
        """Note a cell in which something stands; error: its number, if it is one."""
        self.rows.add(row)
        self.last_column = max(self.last_column, column)
        if error is not None:
            self.special[row, column] = _ERRORS.get(error, "#VALUE!"), CellFact.ERROR


class Encrypted(Exception):
    """A workbook has a password."""


def walk_xls(path: Path) -> list[BinarySheet]:
    """The sheets of an .xls workbook. Raises Encrypted; ValueError, IndexError or struct.error for what is damaged."""
    stream = _workbook_stream(path.read_bytes())
    begin = list(_xls_records(stream, 0))
    if any(kind == _XLS_PASSWORD for kind, _ in begin):
        raise Encrypted
    return [_walk_xls_sheet(stream, data) for kind, data in begin if kind == _XLS_SHEET]


def _walk_xls_sheet(stream: bytes, begin: bytes) -> BinarySheet:
    place, length = struct.unpack_from("<IxxB", begin)
    name = begin[7:] if len(begin) == 7 + length else begin[8:]  # before 1997 the characters follow their number
    sheet = BinarySheet(name.decode("utf-16-le" if len(name) == 2 * length else "latin-1", "replace"))
    for kind, data in _xls_records(stream, place):
        if kind in _XLS_CELLS:
            row, column = (number + 1 for number in struct.unpack_from("<HH", data))
            error = None
            if kind == _XLS_TRUTH_OR_ERROR and data[7]:
                error = data[6]
            elif kind == _XLS_FORMULA:
                ending, flags = struct.unpack_from("<HH", data, 12)
                if ending == _IS_NO_NUMBER and data[6] == _IS_ERROR:
                    error = data[8]
                elif data[6:14] == bytes(8) and flags & _CALCULATE_ON_OPENING:
                    sheet.special[row, column] = "", CellFact.NO_VALUE
            sheet.take(row, column, error=error)
        elif kind == _XLS_NUMBERS_IN_ROW:
            row, first = struct.unpack_from("<HH", data)
            sheet.take(row + 1, first + (len(data) - 6) // 6)
        elif kind == _XLS_ROW and struct.unpack_from("<H", data, 12)[0] & _XLS_HIDDEN:
            sheet.hidden_rows.append(struct.unpack_from("<H", data)[0] + 1)
    return sheet


def _xls_records(stream: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """The records of one part of the stream, to its end."""
    depth = 0
    while True:
        kind, length = struct.unpack_from("<HH", stream, place)
        data = stream[place + 4 : place + 4 + length]
        if len(data) < length:
            raise ValueError("a record breaks off")
        depth += (kind == _XLS_BEGIN) - (kind == _XLS_END)
        if depth <= 0:
            return
        if depth == 1:  # a chart within the sheet has records of its own
            yield kind, data
        place += 4 + length


def _workbook_stream(content: bytes) -> bytes:
    """The stream of a compound file that holds the workbook."""
    size = 1 << struct.unpack_from("<H", content, 30)[0]
    sectors = [content[at : at + size] for at in range(size, len(content), size)]
    places = [*struct.unpack_from("<109I", content, 76)]
    (more,) = struct.unpack_from("<I", content, 68)
    while more < _FREE and len(places) <= len(sectors) + 109:
        *others, more = _numbers(sectors[more])
        places += others
    table = _numbers(b"".join(sectors[place] for place in places if place < _FREE))
    directory = _chained(sectors, table, struct.unpack_from("<I", content, 48)[0])
    entries = [directory[at : at + 128] for at in range(0, len(directory) - 127, 128)]
    for entry in entries:
        if entry[:64].decode("utf-16-le", "replace").rstrip("\0") in _XLS_STREAMS:
            start, length = struct.unpack_from("<II", entry, 116)
            if length < _SHORT_BELOW:
                short = _chained(sectors, table, struct.unpack_from("<I", entries[0], 116)[0])
                table = _numbers(_chained(sectors, table, struct.unpack_from("<I", content, 60)[0]))
                sectors = [short[at : at + _SHORT_SECTOR_BYTES] for at in range(0, len(short), _SHORT_SECTOR_BYTES)]
            return _chained(sectors, table, start)[:length]
    raise ValueError("there is no workbook in it")


def _numbers(sector: bytes) -> list[int]:
    return [*struct.unpack_from(f"<{len(sector) // 4}I", sector)]


def _chained(sectors: list[bytes], table: list[int], place: int) -> bytes:
    """The sectors of a chain; one that is longer than the file runs in a circle."""
    parts: list[bytes] = []
    while place < _FREE:
        if len(parts) > len(sectors):
            raise ValueError("a chain of sectors runs in a circle")
        parts.append(sectors[place])
        place = table[place]
    return b"".join(parts)


def walk_xlsb(path: Path) -> list[BinarySheet]:
    """The sheets of an .xlsb workbook. Raises ValueError, KeyError or struct.error for what is damaged."""
    with zipfile.ZipFile(path) as archive:
        targets = relations(archive, "xl/_rels/workbook.bin.rels")
        sheets = []
        for kind, data in _xlsb_records(archive, "xl/workbook.bin"):
            if kind == _XLSB_SHEET:
                identifier, at = _wide_text(data, 8)
                sheets.append(_walk_xlsb_sheet(archive, targets[identifier][1], _wide_text(data, at)[0]))
    return sheets


def _walk_xlsb_sheet(archive: zipfile.ZipFile, part: str, name: str) -> BinarySheet:
    sheet = BinarySheet(name)
    row = 0
    for kind, data in _xlsb_records(archive, part):
        if kind == _XLSB_ROW:
            row = struct.unpack_from("<I", data)[0] + 1
            if data[11] & _XLSB_HIDDEN:
                sheet.hidden_rows.append(row)
        elif kind == _XLSB_MERGE:
            first, last, left, right = struct.unpack_from("<IIII", data)
            sheet.merged.append((first + 1, left + 1, last + 1, right + 1))
        elif kind in _XLSB_CELLS:
            error = data[8] if kind in _XLSB_ERROR_CELLS else None
            sheet.take(row, struct.unpack_from("<I", data)[0] + 1, error=error)
    return sheet


def _xlsb_records(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[int, bytes]]:
    """The records of a part as kind and data."""
    with archive.open(part) as stream:
        while head := stream.read(1):
            kind = head[0]
            if kind & 0x80:
                kind = kind & 0x7F | (_read(stream, 1)[0] << 7)
            length = 0
            for shift in (0, 7, 14, 21):
                byte = _read(stream, 1)[0]
                length |= (byte & 0x7F) << shift
                if not byte & 0x80:
                    break
            if length > _MOST_RECORD_BYTES:
                raise ValueError(f"a record of {length} bytes")
            yield kind, _read(stream, length)


def _read(stream: IO[bytes], length: int) -> bytes:
    read = stream.read(length)
    if len(read) < length:
        raise ValueError("a record breaks off")
    return read


def _wide_text(data: bytes, at: int) -> tuple[str, int]:
    """A text with its length before it, and where it ends."""
    (length,) = struct.unpack_from("<I", data, at)
    end = at + 4 + 2 * length
    return data[at + 4 : end].decode("utf-16-le", "replace"), end


@dataclass(slots=True)
class OdsSheet:
    """A sheet; rows: their cells, all rows from the first to the last filled one, none longer than it is filled.
    last_row: also of the empty ones. characters: of all texts."""

    name: str
    is_visible: bool
    rows: list[list[Cell]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    merged: list[CellRange] = field(default_factory=list)
    last_row: int = 0
    characters: int = 0


def read_ods(path: Path, budget: ReadBudget) -> list[OdsSheet]:
    """All sheets. Raises ValueError for XML that is damaged or unsafe, FileHeld for more than is read."""
    sheets: list[OdsSheet] = []
    hidden_styles: set[str] = set()  # of sheets

    def start(path: list[str], element: Element) -> None:
        if path == _TABLE:
            is_visible = element.get("table:style-name", "") not in hidden_styles
            sheets.append(OdsSheet(element.get("table:name", ""), is_visible))

    def end(path: list[str], element: Element) -> None:
        name = path[-1]
        if name == "style" and any(each.get("table:display") == "false" for each in element.iter("table-properties")):
            hidden_styles.add(element.get("style:name", ""))
        elif path[:4] == _TABLE and name == "table-row" and path.count(name) == 1:  # else it is a part of a cell
            _take_row(sheets[-1], element, budget)
            element.clear()

    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as content:
        read_tree(content, start=start, end=end)
    return sheets


def _take_row(sheet: OdsSheet, row: Element, budget: ReadBudget) -> None:
    """Put down the filled cells of a row, with all their repetitions and its own."""
    above, repeats = sheet.last_row, _count(row, "table:number-rows-repeated")
    sheet.last_row += repeats
    cells: list[Cell] = []
    column = 0
    for element in row:
        if element.tag not in _CELLS:
            continue
        left, times = column, _count(element, "table:number-columns-repeated")
        column += times
        if (cell := _value(element)) == "":
            continue
        budget.check(sheet.name, sheet.last_row, column)
        sheet.characters += len(cell) * times * repeats if isinstance(cell, str) else 0
        budget.check_texts(sheet.name, sheet.characters)
        cells += [""] * (left - len(cells)) + [cell] * times
        down, across = (_count(element, f"table:number-{way}-spanned") for way in ("rows", "columns"))
        if down > 1 or across > 1:
            sheet.merged.append((above + 1, left + 1, above + down, left + across))
    if cells:
        if (empty := above - len(sheet.rows)) > budget.limits.max_gap_rows:
            raise held("sheet|gap", budget.sheet(sheet.name), row=above + 1, count=empty)
        sheet.rows += [[]] * (above - len(sheet.rows)) + [cells] * repeats
        if row.get("table:visibility") in ("collapse", "filter"):
            sheet.hidden_rows += range(above + 1, sheet.last_row + 1)


def _value(cell: Element) -> Cell:
    """What a cell holds. Raises ValueError for a number that is none."""
    kind = cell.get("calcext:value-type") or cell.get("office:value-type", "")
    paragraphs = [each for place in cell.iter() if place.tag in _CELLS for each in place.iterfind("p")]
    shown = "\n".join(map(_said, paragraphs))
    if not (kind or paragraphs):
        return ("", CellFact.NO_VALUE) if "table:formula" in cell.attrib else ""
    if kind == "error" or (kind not in ("", "string") and shown.startswith(_ERROR_SIGNS)):
        return shown or "#VALUE!", CellFact.ERROR
    if kind in (*_NUMBERS, "boolean") and shown.upper() in _TRUTHS:
        return shown.upper() == "TRUE"
    if kind in _NUMBERS:
        return float(cell.get("office:value", ""))
    if kind == "boolean":
        return cell.get("office:boolean-value") == "true"
    if kind == "time" and (lasting := _LASTING.fullmatch(cell.get("office:time-value", ""))):
        hours, minutes, seconds = (float(number or 0) for number in lasting.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if kind == "date":
        try:
            moment = datetime.fromisoformat(cell.get("office:date-value", "")).replace(tzinfo=None)
        except ValueError:
            return shown
        return moment if moment.time() != datetime.min.time() else moment.date()
    return cell.get("office:string-value", shown) if kind == "string" else shown


def _said(element: Element) -> str:
    """The text of a paragraph, or of what stands in it."""
    blanks = " " * _count(element, "text:c") if element.tag == "s" else _BLANKS.get(element.tag, "")
    return blanks + (element.text or "") + "".join(_said(each) + (each.tail or "") for each in element)


def _count(element: Element, name: str) -> int:
    return max(int(element.get(name, "1")), 1)


def widened(rows: Iterable[Sequence[Cell]], *, left: int, special: dict[Address, Shown]) -> Iterator[list[Cell]]:
    """Rows with `left` empty cells before each, and with what the parser took for something else in its place."""
    by_row: dict[int, list[tuple[int, Shown]]] = {}
    for (row, column), value in special.items():
        by_row.setdefault(row, []).append((column, value))
    number = 0
    for number, cells in enumerate(rows, start=1):
        yield _with([*[""] * left, *cells], by_row.pop(number, ()))
    for below in range(number + 1, max(by_row, default=0) + 1):
        yield _with([], by_row.pop(below, ()))


def _with(cells: list[Cell], special: Iterable[tuple[int, Shown]]) -> list[Cell]:
    for column, value in special:
        cells += [""] * (column - len(cells))
        cells[column - 1] = value
    return cells
