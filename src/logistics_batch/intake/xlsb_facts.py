"""What an .xlsb workbook says about its cells beyond their values, by a bounded scan of its records [MS-XLSB]."""

import struct
import zipfile
from collections.abc import Iterator
from typing import IO

from logistics_batch.intake.binary_cells import BinaryFacts, NumberFormats, error_word
from logistics_batch.intake.xlsx_parts import relation_targets

_ROW, _LAST_CELL, _RICH_TEXT_CELL, _FORMULA_TEXT_CELL = 0, 11, 62, 8
_TEXT_CELL, _SHARED_TEXT_CELL, _BLANK_CELL = 6, 7, 1
_ERROR_CELLS = (3, 11)
_NUMBER_CELLS = (2, 5, 9)
_FORMAT, _CELL_STYLE, _STYLES_BEGIN, _STYLES_END, _FONT = 44, 47, 617, 618, 43
_STRIKES = 0x08
_SHEET, _SHARED_TEXT, _MERGE = 156, 19, 176
_COLUMNS, _FILTERED_COLUMN = 60, 163
_HIDDEN = 0x10  # of the second byte of a row's flags
_MOST_RECORD_BYTES = 1 << 20
_MOST_ROWS = 1_048_576


def scan_xlsb(archive: zipfile.ZipFile, *, most_cells: int) -> dict[str, BinaryFacts]:
    """The facts of each sheet by its name. Raises ValueError, KeyError or struct.error for what is damaged."""
    targets = relation_targets(archive, "xl/_rels/workbook.bin.rels")
    formats = _formats(archive)
    longest = _longest_shared_text(archive)
    facts = {}
    for kind, data in _records(archive, "xl/workbook.bin"):
        if kind == _SHEET:
            identifier, at = _wide(data, 8)
            name, _ = _wide(data, at)
            if targets.get(identifier, "") in archive.namelist():
                facts[name] = _scan_sheet(archive, targets[identifier], formats, longest, most_cells)
    return facts


def _scan_sheet(
    archive: zipfile.ZipFile, part: str, formats: NumberFormats, longest: int, most_cells: int
) -> BinaryFacts:
    facts = BinaryFacts()
    row = 0
    for kind, data in _records(archive, part):
        if kind == _ROW:
            row = struct.unpack_from("<I", data)[0] + 1
            if data[11] & _HIDDEN:
                facts.hidden_rows.append(row)
        elif kind == _COLUMNS:
            first, last, _, _, flags = struct.unpack_from("<IIIIH", data)
            facts.hidden_columns += [(first + 1, last + 1)] if flags & 1 else []
        elif kind == _FILTERED_COLUMN:
            facts.is_filtered = True
        elif kind == _MERGE:
            first, last, left, right = struct.unpack_from("<IIII", data)
            facts.merges.append((first + 1, left + 1, last + 1, right + 1))
        elif _BLANK_CELL < kind <= _LAST_CELL or kind == _RICH_TEXT_CELL:
            column, style = struct.unpack_from("<II", data)
            facts.note_gaps([row], after=facts.last_row)
            facts.take(row, column + 1)
            formats.note_struck(facts, row, column + 1, style & 0xFFFFFF)
            if kind in _ERROR_CELLS:
                facts.errors[row, column + 1] = error_word(data[8])
            elif kind in _NUMBER_CELLS:
                formats.note(facts, row, column + 1, style & 0xFFFFFF)
            elif kind == _SHARED_TEXT_CELL:
                facts.characters += longest
            elif kind in (_TEXT_CELL, _FORMULA_TEXT_CELL):
                facts.characters += len(_wide(data, 8)[0])
            if row > _MOST_ROWS or facts.cells > most_cells:
                break  # too far or too many: the limits will say so
    return facts


def _formats(archive: zipfile.ZipFile) -> NumberFormats:
    formats = NumberFormats()
    is_cell_style = False
    if "xl/styles.bin" in archive.namelist():
        for kind, data in _records(archive, "xl/styles.bin"):
            if kind == _FORMAT:
                formats.codes[struct.unpack_from("<H", data)[0]] = _wide(data, 2)[0]
            elif kind in (_STYLES_BEGIN, _STYLES_END):
                is_cell_style = kind == _STYLES_BEGIN
            elif kind == _CELL_STYLE and is_cell_style:
                _, code, font = struct.unpack_from("<HHH", data)
                formats.styles.append(code)
                formats.fonts.append(font)
            elif kind == _FONT:
                formats.strikes.append(bool(data[2] & _STRIKES))
    return formats


def _longest_shared_text(archive: zipfile.ZipFile) -> int:
    if "xl/sharedStrings.bin" not in archive.namelist():
        return 0
    longest = count = 0
    for kind, data in _records(archive, "xl/sharedStrings.bin"):
        if kind == _SHARED_TEXT:
            count += 1
            longest = max(longest, struct.unpack_from("<I", data, 1)[0])
        elif kind == 159 and struct.unpack_from("<II", data)[1] > archive.getinfo("xl/sharedStrings.bin").file_size:
            raise ValueError("more shared texts are announced than there can be")
    return longest


def _records(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[int, bytes]]:
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


def _wide(data: bytes, at: int) -> tuple[str, int]:
    """A text with its length before it, and where it ends."""
    length = struct.unpack_from("<I", data, at)[0]
    end = at + 4 + 2 * length
    if end > len(data):
        raise ValueError("a text is longer than its record")
    return data[at + 4 : end].decode("utf-16-le", "replace"), end
