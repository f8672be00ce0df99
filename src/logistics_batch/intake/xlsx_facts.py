"""What an .xlsx workbook says about its cells beyond their values, by a bounded scan of its XML.

The fast reader turns error cells and formulas without a value into blanks, and knows neither hidden rows nor number
formats. The scan finds just those cells, in blocks, and the true extent of a sheet before it is unfolded in memory.
"""

import re
import zipfile
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import sub

from logistics_batch.intake.guards import part_blocks
from logistics_batch.intake.sheet_facts import Address, SheetFacts
from logistics_batch.intake.struck_texts import shared_struck, struck_cells
from logistics_batch.intake.xlsx_parts import TEXTS_PART, CellStyles

# Hostile XML is scanned before anything else has judged it: no pattern may look at the same bytes again and again.
_ROW_BEGIN, _ROW_END = b"<row ", b"</row>"
_CELL_ADDRESS = re.compile(rb'\br="([A-Za-z]{1,3})(\d{1,10})"')
_FILLED_CELL = re.compile(rb'<c r="([A-Za-z]+)(\d+)"[^<>]*(?<!/)>(?!</c>)')
_ROW = re.compile(rb'<row r="(\d{1,10})"([^<>]*)')
_IS_HIDDEN = re.compile(rb'\bhidden="(?:1|true)"|\bht="0(?:\.0*)?"')
_BEYOND_Z = re.compile(rb'<c r="[A-Za-z]{2}')
_PREFIXED = re.compile(rb"<\w+:(?:row|c)\b")
_UNADDRESSED = re.compile(rb'<(?:c|row)(?:>|/>|[\t\r\n]| (?!r="))')
_ERROR_CELL = re.compile(rb'<c ([^<>]*\bt="e"[^<>]*)(?<!/)>(?:(?!</?c\b).)*?<v>([^<]*)</v>', re.DOTALL)
_ERROR_SIGN = b't="e"'
_HAS_FORMULA = re.compile(rb"<f\b").search
_FORMULA = rb"<c ([^<>]*)>\s*<f\b(?:[^<>]*/>|[^<>]*>[^<]*</f>)\s*(?:(<v>\s*%s</v>|<v\s*/>)\s*)?</c>"
_UNCALCULATED = re.compile(_FORMULA % b"")
_STALE = re.compile(_FORMULA % rb"(?:0(?:\.0*)?\s*)?")
_PLACES = re.compile(rb'<c r="([A-Z]{1,3}\d{1,7})"')
# The fast reader takes the first shared text where no number stands, and breaks off at a comment within a value.
_NO_INDEX = re.compile(rb't="s"[^<>]{0,200}>\s{0,9}<v>(?!\d{1,9}</v>)').search
_COMMENT_IN_VALUE = re.compile(rb"<[vt](?: [^<>]{0,200})?>[^<]{0,32767}<!--").search
_COLUMNS = re.compile(rb"<(?:\w+:)?col\b([^<>]*)>")
_NO_WIDTH = re.compile(rb"0(?:\.0*)?")
_TAG = re.compile(rb"<(row|c)\b([^<>]*?)(/?)>")
_ATTRIBUTE = re.compile(rb"""(?<![\w:])([\w:]{1,60})\s{0,9}=\s{0,9}(?:"([^"<]*)"|'([^'<]*)')""")

_ORDINARY_COLUMNS, _MANY_COLUMNS = 26, 16_384
_MANY_ROWS = 100  # so many without an element are worth a closer look


def scan_sheet(archive: zipfile.ZipFile, part: str, *, styles: CellStyles, is_stale: bool, max_rows: int) -> SheetFacts:
    """Go through one sheet's XML once; memory stays at some megabytes. Raises ValueError for XML that breaks off, and
    for rows or cells that stand there twice or in a way that would be misread.

    is_stale: see `Book`. It ends early, with `too_far` set, where something stands below `max_rows`.
    """
    facts = SheetFacts()
    normal, is_odd, astray = _Normaliser(), _odd_tag(max_rows), _cells_from(max_rows)
    in_style, in_worded = _style_finder(styles.padded), _style_finder(styles.worded)
    in_struck, struck_texts = _cell_finder(styles.struck), shared_struck(archive)
    shares_texts = TEXTS_PART in archive.namelist()
    facts.last_column = _ORDINARY_COLUMNS
    raw, rows = b"", _RowNumbers()
    for raw in part_blocks(archive, part, end=_ROW_END, or_before=_ROW_BEGIN):
        odd = is_odd(raw)
        block = normal(raw) if odd or b":" in raw else raw
        if odd and _BEYOND_Z.search(block):
            facts.last_column = _MANY_COLUMNS
        _refuse_ambiguous(block)
        if not facts.last_row:
            facts.hidden_columns += _hidden_columns(block)
        _note_rows(facts, block, rows)
        if (facts.last_row > max_rows or (odd and astray(block))) and (far := _far_corner(block, max_rows)):
            facts.too_far = far
            return facts
        facts.shared_texts += block.count(b't="s"') if shares_texts else 0
        # most blocks hold nothing of the following; to look for a few letters first is by far the fastest way to know
        facts.errors.update(_errors(block))
        if _HAS_FORMULA(block):
            facts.without_value.update(_uncalculated(block, is_stale=is_stale))
        for address, style in in_style(block):
            facts.note_padded(address, styles.padded[int(style)])
        facts.worded.update((address, styles.worded[int(style)]) for address, style in in_worded(block))
        facts.struck.update(dict.fromkeys(in_struck(block), ("", "")))
        facts.struck.update((_address(cell.tag), cell.struck) for cell in struck_cells(block, struck_texts))
    if not raw.rstrip().endswith(b"worksheet>"):
        raise ValueError(f"the part {part} has no end")  # the fast reader would take what is there for all
    rows.refuse_doubled()
    facts.is_filtered = b"filterColumn" in raw
    return facts


def _refuse_ambiguous(block: bytes) -> None:
    """Raise ValueError where one of two cells would be lost, or another value read."""
    places = _PLACES.findall(block)
    is_misread = (b't="s"' in block and _NO_INDEX(block)) or (b"<!--" in block and _COMMENT_IN_VALUE(block))
    if len(set(places)) < len(places) or is_misread:
        raise ValueError("a cell stands there twice, or in a way that would be misread")


@dataclass(slots=True)
class _RowNumbers:
    """The numbers of all rows of a sheet. is_rising: each is larger than the one before, as almost everywhere."""

    numbers: "array[int]" = field(default_factory=lambda: array("L"))
    is_rising: bool = True

    def refuse_doubled(self) -> None:
        """Raise ValueError where two rows have one number: one of them would be lost."""
        if not self.is_rising and len(set(self.numbers)) < len(self.numbers):
            raise ValueError("a row stands there twice")


def _note_rows(facts: SheetFacts, block: bytes, seen: _RowNumbers) -> None:
    rows = _ROW.findall(block)
    numbers = [facts.last_row, *(int(number) for number, _ in rows)]
    seen.numbers.extend(numbers[1:])
    steps = list(map(sub, numbers[1:], numbers))
    seen.is_rising &= min(steps, default=1) > 0
    if max(steps, default=0) > _MANY_ROWS:
        facts.note_gaps(sorted({int(row) for _, row in _FILLED_CELL.findall(block)}), after=numbers[0])
    facts.last_row = max(numbers)
    facts.hidden_rows += [int(number) for number, rest in rows if b"h" in rest and _IS_HIDDEN.search(rest)]


def _cells_from(row: int) -> Callable[[bytes], object]:
    """Finds a cell that says itself that it stands there or below, whatever its row says; some rows above count too."""
    first, more = str(row)[0], len(str(row)) - 1
    pattern = f'<c r="[A-Za-z]+(?:[{first}-9][0-9]{{{more}}}|[0-9]{{{more + 2},}})"'
    return re.compile(pattern.encode()).search


def _odd_tag(max_rows: int) -> Callable[[bytes], object]:
    """Finds a row or cell without an address at its beginning, beyond column Z, or, whatever its row says of itself,
    about as far down as `max_rows` or farther."""
    first, more = int(str(max_rows)[0]), len(str(max_rows)) - 1
    as_long = f"|[1-{first - 1}][0-9]{{{more}}}" if first > 1 else ""
    ordinary = f'r="[A-Z]?(?:[0-9]{{0,{more}}}{as_long})"'
    # one pattern for each tag: the letters that a pattern begins with are what it is fast by
    cell, row = (re.compile(f"<{name}(?! {ordinary})(?:[ >\t\r\n]|/>)".encode()).search for name in ("c", "row"))
    return lambda block: cell(block) or row(block)


def _far_corner(block: bytes, max_rows: int) -> Address | None:
    """The last row and column of a block in which something stands, if that is too far down."""
    row, column = _corner(_FILLED_CELL.findall(block))
    return (row, column) if row > max_rows else None


def exact_extent(archive: zipfile.ZipFile, part: str) -> tuple[int, int]:
    """The last row and column of a sheet in which something stands; slower than `scan_sheet`."""
    last_row = last_column = 0
    normal = _Normaliser()
    for raw in part_blocks(archive, part, end=_ROW_END, or_before=_ROW_BEGIN):
        row, column = _corner(_FILLED_CELL.findall(normal(raw)))
        last_row, last_column = max(last_row, row), max(last_column, column)
    return last_row, last_column


def _corner(cells: list[tuple[bytes, bytes]]) -> Address:
    """The last row and the last column of some cells; 0 if there are none."""
    rows, columns = {row for _, row in cells}, {letters for letters, _ in cells}
    return max(map(int, rows), default=0), max(map(_number, columns), default=0)


def _hidden_columns(block: bytes) -> Iterator[tuple[int, int]]:
    """The groups of columns that stand before the first row and cannot be seen."""
    for tag in _COLUMNS.findall(block, 0, block.find(b"sheetData")):
        said = {key: double or single for key, double, single in _ATTRIBUTE.findall(tag)}
        if said.get(b"hidden") in (b"1", b"true") or _NO_WIDTH.fullmatch(said.get(b"width", b"")):
            yield int(said[b"min"]), int(said[b"max"])


def _errors(block: bytes) -> Iterator[tuple[Address, str]]:
    """The error cells and their words; the pattern is tried only at the tags that bear the sign of one."""
    done, sign = 0, block.find(_ERROR_SIGN)
    while sign >= 0:
        tag = block.rfind(b"<", done, sign)
        if found := _ERROR_CELL.match(block, tag) if tag >= 0 else None:
            yield _address(found[1]), found[2].decode()
        done = found.end() if found else sign + 1
        sign = block.find(_ERROR_SIGN, done)


def _uncalculated(block: bytes, *, is_stale: bool) -> Iterator[Address]:
    """The cells with a formula that no program has calculated."""
    for found in (_STALE if is_stale else _UNCALCULATED).finditer(block):
        if not (found[2] and b't="str"' in found[1]):  # that one was calculated, and gave an empty text
            yield _address(found[1])


def _cell_finder(styles: Collection[int]) -> Callable[[bytes], Iterable[Address]]:
    """Finds the cells of some styles, whatever they hold: their places."""
    if not styles:
        return lambda _: ()
    style = rb's="(?:' + b"|".join(str(index).encode() for index in styles) + rb')"'
    anywhere, cells = re.compile(style).search, re.compile(rb"<c ([^<>]*\b" + style + rb"[^<>]*)(?<!/)>")
    return lambda block: map(_address, cells.findall(block)) if anywhere(block) else ()


def _style_finder(styles: Collection[int]) -> Callable[[bytes], Iterable[tuple[Address, bytes]]]:
    """Finds the number cells of some styles: their places and styles."""
    if not styles:
        return lambda _: ()
    numbers = b"|".join(str(index).encode() for index in styles)
    anywhere = re.compile(rb's="(?:' + numbers + rb')"')
    usual = re.compile(rb'<c r="([A-Z]{1,3}+)(\d{1,10}+)" s="(' + numbers + rb')"([^<>]*+)>')
    no_number = rb't="(?:s|str|inlineStr|b|e)"'
    every = re.compile(rb"<c ((?:(?!\b" + no_number + rb')[^<>])*\bs="(' + numbers + rb')"[^<>]*)(?<!/)>')
    is_text = re.compile(rb"/\Z|\b" + no_number).search

    def find(block: bytes) -> Iterable[tuple[Address, bytes]]:
        signs = len(anywhere.findall(block))
        tags = usual.findall(block) if signs else []
        if len(tags) != signs:
            return ((_address(tag), style) for tag, style in every.findall(block) if not is_text(tag))
        texts = {rest for rest in {tag[3] for tag in tags} if is_text(rest)}
        columns = {letters: _number(letters) for letters in {tag[0] for tag in tags}}
        return [((int(row), columns[letters]), style) for letters, row, style, rest in tags if rest not in texts]

    return find


class _Normaliser:
    """Gives every row and cell its address where the program that wrote the file left it out or wrote it otherwise."""

    def __init__(self) -> None:
        self._row = 0
        self._column = 0

    def __call__(self, block: bytes) -> bytes:
        if b":" in block and _PREFIXED.search(block):
            block = re.sub(rb"<(/?)\w+:", rb"<\1", block)
        if not _UNADDRESSED.search(block):
            return block
        return _TAG.sub(self._addressed, block)

    def _addressed(self, tag: re.Match[bytes]) -> bytes:
        if not tag[2]:  # nothing is said of it: whole sheets are written so, and what follows takes its time
            return self._bare(tag[1], tag[3])
        attributes = {key: double or single for key, double, single in _ATTRIBUTE.findall(tag[2])}
        given = attributes.get(b"r", b"")
        if tag[1] == b"row":
            self._row = int(given) if given.isdigit() else self._row + 1
            self._column = 0
            attributes[b"r"] = str(self._row).encode()
        else:
            letters = re.match(rb"[A-Z]{1,3}", given)
            self._column = _number(letters[0]) if letters else self._column + 1
            attributes[b"r"] = given or _letters(self._column) + str(self._row).encode()
        address = attributes.pop(b"r")
        rest = b"".join(b' %s="%s"' % item for item in attributes.items())
        return b'<%s r="%s"%s%s>' % (tag[1], address, rest, tag[3])

    def _bare(self, name: bytes, end: bytes) -> bytes:
        if name == b"row":
            self._row += 1
            self._column = 0
            return b'<row r="%d"%s>' % (self._row, end)
        self._column += 1
        return b'<c r="%s%d"%s>' % (_letters(self._column), self._row, end)


def _address(tag: bytes) -> Address:
    found = _CELL_ADDRESS.search(tag)
    return (int(found[2]), _number(found[1])) if found else (0, 0)


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters[:9].upper():  # more letters are no column either
        number = number * 26 + letter - 64
    return number


@lru_cache(maxsize=_MANY_COLUMNS)
def _letters(number: int) -> bytes:
    letters = b""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = bytes([65 + rest]) + letters
    return letters
