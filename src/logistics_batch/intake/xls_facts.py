"""What an .xls workbook says about its cells beyond their values, by a bounded scan of its records [MS-XLS].

Only of the version that every spreadsheet program has written since 1997; of older ones nothing is told.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from logistics_batch.intake.binary_cells import BinaryFacts, NumberFormats, error_word

_SECTOR_BYTES = (512, 4096)
_SHORT_SECTOR_BYTES, _SHORT_BELOW = 64, 4096  # short streams share sectors of their own
_FREE = 0xFFFFFFFA  # and all above: no sector
_BEGIN, _END, _SHEET, _FORMAT, _STYLE, _FONT = 0x809, 0x0A, 0x85, 0x41E, 0xE0, 0x31
_STRIKES, _NO_FONT = 0x08, 4  # the fifth font has no record
_ROW, _FORMULA, _MERGES, _NUMBERS_IN_ROW, _TRUTH_OR_ERROR = 0x208, 0x06, 0xE5, 0xBD, 0x205
_NUMBERS = (0x203, 0x27E)
_TEXTS = (0x204, 0xFD, 0xD6)
_CELLS = (*_NUMBERS, *_TEXTS, _FORMULA, _TRUTH_OR_ERROR)
_COLUMNS, _FILTERED = 0x7D, 0x9B
_HIDDEN = 0x20
_VERSION_8 = 0x600
_IS_NO_NUMBER, _IS_ERROR = 0xFFFF, 2
_CALCULATE_ON_OPENING = 2  # of a formula's flags; libraries set it that write 0 and leave the rest to the next program


def scan_xls(content: bytes) -> dict[str, BinaryFacts] | None:
    """The facts of each sheet by its name; None for a workbook of an older kind.

    Raises ValueError, IndexError or struct.error for what is damaged.
    """
    stream = _stream(content, "Workbook")
    if stream is None or struct.unpack_from("<HHH", stream)[::2] != (_BEGIN, _VERSION_8):
        return None
    formats = NumberFormats()
    sheets = {}
    for kind, data in _records(stream, 0):
        if kind == _SHEET:
            sheets[_short_text(data, 6)] = struct.unpack_from("<I", data)[0]
        elif kind == _FORMAT:
            formats.codes[struct.unpack_from("<H", data)[0]] = _text(data, 2)
        elif kind == _STYLE:
            font, code = struct.unpack_from("<HH", data)
            formats.styles.append(code)
            formats.fonts.append(font - (font > _NO_FONT))
        elif kind == _FONT:
            formats.strikes.append(bool(data[2] & _STRIKES))
    return {name: _scan_sheet(stream, place, formats) for name, place in sheets.items()}


def _scan_sheet(stream: bytes, place: int, formats: NumberFormats) -> BinaryFacts:
    facts = BinaryFacts()
    rows: set[int] = set()  # in whatever order they come
    for kind, data in _records(stream, place):
        if kind in (*_CELLS, _NUMBERS_IN_ROW):
            rows.add(struct.unpack_from("<H", data)[0] + 1)
        if kind in _CELLS:
            row, column, style = struct.unpack_from("<HHH", data)
            _take(facts, kind, data, (row + 1, column + 1))
            if kind in _NUMBERS or kind == _FORMULA:
                formats.note(facts, row + 1, column + 1, style)
            formats.note_struck(facts, row + 1, column + 1, style)
        elif kind == _FILTERED:
            facts.is_filtered = True
        elif kind == _NUMBERS_IN_ROW:
            row, first = struct.unpack_from("<HH", data)
            for number in range((len(data) - 6) // 6):
                facts.take(row + 1, first + number + 1)
                style = struct.unpack_from("<H", data, 4 + 6 * number)[0]
                formats.note(facts, row + 1, first + number + 1, style)
                formats.note_struck(facts, row + 1, first + number + 1, style)
        elif kind == _ROW:
            if struct.unpack_from("<H", data, 12)[0] & _HIDDEN:
                facts.hidden_rows.append(struct.unpack_from("<H", data)[0] + 1)
        elif kind == _COLUMNS:
            first, last, _, _, flags = struct.unpack_from("<HHHHH", data)
            facts.hidden_columns += [(first + 1, last + 1)] if flags & 1 else []
        elif kind == _MERGES:
            for number in range(struct.unpack_from("<H", data)[0]):
                first, last, left, right = struct.unpack_from("<HHHH", data, 2 + 8 * number)
                facts.merges.append((first + 1, left + 1, last + 1, right + 1))
    facts.note_gaps(sorted(rows))
    return facts


def _take(facts: BinaryFacts, kind: int, data: bytes, address: tuple[int, int]) -> None:
    facts.take(*address)
    if kind == _TRUTH_OR_ERROR and data[7]:
        facts.errors[address] = error_word(data[6])
    elif kind == _FORMULA and struct.unpack_from("<H", data, 12)[0] == _IS_NO_NUMBER and data[6] == _IS_ERROR:
        facts.errors[address] = error_word(data[8])
    elif kind == _FORMULA and data[6:14] == bytes(8) and struct.unpack_from("<H", data, 14)[0] & _CALCULATE_ON_OPENING:
        facts.without_value.add(address)


def _records(stream: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """The records of one part of the stream, to its end."""
    depth = 0
    while True:
        kind, length = struct.unpack_from("<HH", stream, place)
        data = stream[place + 4 : place + 4 + length]
        if len(data) < length:
            raise ValueError("a record breaks off")
        depth += (kind == _BEGIN) - (kind == _END)
        if depth <= 0:
            return
        if depth == 1:  # a chart within the sheet has records of its own
            yield kind, data
        place += 4 + length


def _text(data: bytes, at: int) -> str:
    return _characters(data, at + 3, struct.unpack_from("<H", data, at)[0], is_wide=data[at + 2] & 1)


def _short_text(data: bytes, at: int) -> str:
    return _characters(data, at + 2, data[at], is_wide=data[at + 1] & 1)


def _characters(data: bytes, at: int, length: int, *, is_wide: int) -> str:
    if is_wide:
        return data[at : at + 2 * length].decode("utf-16-le", "replace")
    return data[at : at + length].decode("latin-1")


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
