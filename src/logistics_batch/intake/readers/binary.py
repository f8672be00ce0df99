"""The records of .xls and .xlsb workbooks, walked before the workbook is opened [MS-XLS] [MS-XLSB].

The library that reads these formats unfolds every sheet as far as its last cell, and gives blanks for error cells. The
records tell how far that is, and which cells these are.
"""

import struct
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from logistics_batch.intake.readers.cells import Address, Shown
from logistics_batch.intake.readers.xlsx_book import relation_targets
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
_NO_VALUE: Shown = ("", CellFact.NO_VALUE)

_SECTOR_BYTES = (512, 4096)
_SHORT_SECTOR_BYTES, _SHORT_BELOW = 64, 4096  # short streams share sectors of their own
_FREE = 0xFFFFFFFA  # and all above: no sector
_XLS_BEGIN, _XLS_END, _XLS_SHEET = 0x809, 0x0A, 0x85
_XLS_ROW, _XLS_NUMBERS_IN_ROW, _XLS_FORMULA, _XLS_TRUTH_OR_ERROR = 0x208, 0xBD, 0x06, 0x205
_XLS_CELLS = (0x203, 0x27E, 0x204, 0xFD, 0xD6, _XLS_FORMULA, _XLS_TRUTH_OR_ERROR)
_XLS_HIDDEN = 0x20
_XLS_VERSION = 0x600  # of 1997 and later
_IS_NO_NUMBER, _IS_ERROR = 0xFFFF, 2
_CALCULATE_ON_OPENING = 2  # of a formula's flags; libraries set it that write 0 and leave the rest to the next program

_XLSB_ROW, _XLSB_CELLS, _XLSB_RICH_TEXT_CELL, _XLSB_ERROR_CELLS = 0, range(2, 12), 62, (3, 11)
_XLSB_SHARED_TEXT_CELL, _XLSB_TEXT_CELLS = 7, (6, 8)
_XLSB_SHEET, _XLSB_MERGE, _XLSB_SHARED_TEXT, _XLSB_SHARED_TEXTS = 156, 176, 19, 159
_XLSB_HIDDEN = 0x10  # of the second byte of a row's flags
_MOST_RECORD_BYTES = 1 << 20
_MOST_ROWS = 1_048_576


@dataclass(slots=True)
class BinarySheet:
    """What the records of a sheet tell. gap: the first filled row below the most empty ones, and how many these are.
    special: cells that the library takes for others. characters: of all texts."""

    last_row: int = 0
    last_column: int = 0
    cells: int = 0
    characters: int = 0
    gap: Address = (0, 0)
    special: dict[Address, Shown] = field(default_factory=dict)
    hidden_rows: list[int] = field(default_factory=list)
    merged: list[CellRange] = field(default_factory=list)

    def take(self, row: int, column: int) -> None:
        """Count a cell in which something stands."""
        self.cells += 1
        self.last_row = max(self.last_row, row)
        self.last_column = max(self.last_column, column)

    def note_error(self, row: int, column: int, code: int) -> None:
        """Put down an error cell by the number of the error."""
        self.special[row, column] = _ERRORS.get(code, "#VALUE!"), CellFact.ERROR

    def note_gaps(self, rows: Iterable[int], *, after: int = 0) -> None:
        """Keep the largest gap between filled rows, which come in order; after: the filled row before them."""
        for row in rows:
            if row - after - 1 > self.gap[1]:
                self.gap = row, row - after - 1
            after = row


def walk_xls(path: Path) -> dict[str, BinarySheet] | None:
    """The sheets of an .xls workbook by their names; None for one of a program before 1997.

    Raises ValueError, IndexError or struct.error for what is damaged.
    """
    stream = _stream(path.read_bytes(), "Workbook")
    if stream is None or struct.unpack_from("<HHH", stream)[::2] != (_XLS_BEGIN, _XLS_VERSION):
        return None
    sheets = [data for kind, data in _xls_records(stream, 0) if kind == _XLS_SHEET]
    return {_short_text(data, 6): _walk_xls_sheet(stream, struct.unpack_from("<I", data)[0]) for data in sheets}


def _walk_xls_sheet(stream: bytes, place: int) -> BinarySheet:
    sheet = BinarySheet()
    rows: set[int] = set()  # in whatever order they come
    for kind, data in _xls_records(stream, place):
        if kind in _XLS_CELLS:
            row, column = struct.unpack_from("<HH", data)
            rows.add(row + 1)
            sheet.take(row + 1, column + 1)
            if kind == _XLS_TRUTH_OR_ERROR and data[7]:
                sheet.note_error(row + 1, column + 1, data[6])
            elif kind == _XLS_FORMULA:
                ending, flags = struct.unpack_from("<HH", data, 12)
                if ending == _IS_NO_NUMBER and data[6] == _IS_ERROR:
                    sheet.note_error(row + 1, column + 1, data[8])
                elif data[6:14] == bytes(8) and flags & _CALCULATE_ON_OPENING:
                    sheet.special[row + 1, column + 1] = _NO_VALUE
        elif kind == _XLS_NUMBERS_IN_ROW:
            row, first = struct.unpack_from("<HH", data)
            rows.add(row + 1)
            sheet.take(row + 1, first + (len(data) - 6) // 6)
        elif kind == _XLS_ROW and struct.unpack_from("<H", data, 12)[0] & _XLS_HIDDEN:
            sheet.hidden_rows.append(struct.unpack_from("<H", data)[0] + 1)
    sheet.note_gaps(sorted(rows))
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


def _short_text(data: bytes, at: int) -> str:
    length, is_wide = data[at], data[at + 1] & 1
    raw = data[at + 2 : at + 2 + (length << is_wide)]
    return raw.decode("utf-16-le" if is_wide else "latin-1", "replace")


def _stream(content: bytes, name: str) -> bytes | None:
    """One stream of a compound file; None if it has none of that name."""
    size = 1 << struct.unpack_from("<H", content, 30)[0]
    if size not in _SECTOR_BYTES:
        raise ValueError(f"sectors of {size} bytes")
    large = _Sectors(content, size, _sector_table(content, size), first=1)
    directory = large.chained(struct.unpack_from("<I", content, 48)[0])
    entries = [directory[at : at + 128] for at in range(0, len(directory) - 127, 128)]
    for entry in entries:
        name_bytes = struct.unpack_from("<H", entry, 64)[0]
        if entry[66] == 2 and entry[: max(name_bytes - 2, 0)].decode("utf-16-le", "replace") == name:
            start, length = struct.unpack_from("<II", entry, 116)
            if length >= _SHORT_BELOW:
                return large.chained(start)[:length]
            all_short = large.chained(struct.unpack_from("<I", entries[0], 116)[0])
            table = large.chained(struct.unpack_from("<I", content, 60)[0])
            short_table = list(struct.unpack(f"<{len(table) // 4}I", table[: len(table) // 4 * 4]))
            return _Sectors(all_short, _SHORT_SECTOR_BYTES, short_table, first=0).chained(start)[:length]
    return None


def _sector_table(content: bytes, size: int) -> list[int]:
    """For each sector the next one of its chain."""
    sectors = [each for each in struct.unpack_from("<109I", content, 76) if each < _FREE]
    following, most = struct.unpack_from("<II", content, 68)
    for _ in range(min(most, len(content) // size + 1)):
        if following >= _FREE:
            break
        more = struct.unpack_from(f"<{size // 4}I", content, (following + 1) * size)
        sectors += [each for each in more[:-1] if each < _FREE]
        following = more[-1]
    table: list[int] = []
    for sector in sectors[: len(content) // size + 1]:
        table += struct.unpack_from(f"<{size // 4}I", content, (sector + 1) * size)
    return table


@dataclass(frozen=True, slots=True)
class _Sectors:
    """The sectors of a file, or of the stream that holds all short streams. first: how many stand before number 0."""

    content: bytes
    size: int
    table: list[int]
    first: int

    def chained(self, sector: int) -> bytes:
        """The sectors of a chain; one that is longer than the file runs in a circle."""
        parts: list[bytes] = []
        while sector < _FREE:
            if len(parts) > len(self.content) // self.size:
                raise ValueError("a chain of sectors runs in a circle")
            at = (sector + self.first) * self.size
            parts.append(self.content[at : at + self.size])
            sector = self.table[sector]
        return b"".join(parts)


def walk_xlsb(path: Path, *, most_cells: int) -> dict[str, BinarySheet]:
    """The sheets of an .xlsb workbook by their names.

    Raises ValueError, KeyError or struct.error for what is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        targets = relation_targets(archive, "xl/_rels/workbook.bin.rels")
        longest = _longest_shared_text(archive)
        sheets = {}
        for kind, data in _xlsb_records(archive, "xl/workbook.bin"):
            if kind == _XLSB_SHEET:
                identifier, at = _wide_text(data, 8)
                name, _ = _wide_text(data, at)
                if (part := targets.get(identifier, "")) in archive.namelist():
                    sheets[name] = _walk_xlsb_sheet(archive, part, longest=longest, most_cells=most_cells)
    return sheets


def _walk_xlsb_sheet(archive: zipfile.ZipFile, part: str, *, longest: int, most_cells: int) -> BinarySheet:
    sheet = BinarySheet()
    row = 0
    for kind, data in _xlsb_records(archive, part):
        if kind == _XLSB_ROW:
            row = struct.unpack_from("<I", data)[0] + 1
            if data[11] & _XLSB_HIDDEN:
                sheet.hidden_rows.append(row)
        elif kind == _XLSB_MERGE:
            first, last, left, right = struct.unpack_from("<IIII", data)
            sheet.merged.append((first + 1, left + 1, last + 1, right + 1))
        elif kind in _XLSB_CELLS or kind == _XLSB_RICH_TEXT_CELL:
            column = struct.unpack_from("<I", data)[0] + 1
            sheet.note_gaps([row], after=sheet.last_row)
            sheet.take(row, column)
            if kind in _XLSB_ERROR_CELLS:
                sheet.note_error(row, column, data[8])
            elif kind == _XLSB_SHARED_TEXT_CELL:
                sheet.characters += longest
            elif kind in _XLSB_TEXT_CELLS:
                sheet.characters += len(_wide_text(data, 8)[0])
            if row > _MOST_ROWS or sheet.cells > most_cells:
                break  # too far or too many: the limits will say so
    return sheet


def _longest_shared_text(archive: zipfile.ZipFile) -> int:
    part = "xl/sharedStrings.bin"
    if part not in archive.namelist():
        return 0
    longest = 0
    for kind, data in _xlsb_records(archive, part):
        if kind == _XLSB_SHARED_TEXT:
            longest = max(longest, struct.unpack_from("<I", data, 1)[0])
        elif kind == _XLSB_SHARED_TEXTS and struct.unpack_from("<II", data)[1] > archive.getinfo(part).file_size:
            raise ValueError("more shared texts are announced than there can be")
    return longest


def _xlsb_records(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[int, bytes]]:
    """The records of a part as kind and data."""
    with archive.open(part) as stream:
        while head := stream.read(1):
            kind = head[0]
            if kind & 0x80:
                kind = kind & 0x7F | (_byte(stream) << 7)
            length = 0
            for shift in (0, 7, 14, 21):
                byte = _byte(stream)
                length |= (byte & 0x7F) << shift
                if not byte & 0x80:
                    break
            if length > _MOST_RECORD_BYTES:
                raise ValueError(f"a record of {length} bytes")
            data = stream.read(length)
            if len(data) < length:
                raise ValueError("a record breaks off")
            yield kind, data


def _byte(stream: IO[bytes]) -> int:
    read = stream.read(1)
    if not read:
        raise ValueError("a record breaks off")
    return read[0]


def _wide_text(data: bytes, at: int) -> tuple[str, int]:
    """A text with its length before it, and where it ends."""
    length = struct.unpack_from("<I", data, at)[0]
    end = at + 4 + 2 * length
    if end > len(data):
        raise ValueError("a text is longer than its record")
    return data[at + 4 : end].decode("utf-16-le", "replace"), end
