"""What an .xlsx workbook says about its cells beyond their values, by a bounded scan of its XML.

The fast reader turns error cells and formulas without a value into blanks, and knows neither hidden rows nor number
formats. The scan finds just those cells, in blocks, and the true extent of a sheet before it is unfolded in memory.
"""

import posixpath
import re
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from defusedxml import ElementTree

from logistics_batch.intake.guards import part_blocks

_MAIN = "{*}"
_RELATIONSHIP_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ROW_END = b"</row>"
_CELL_ADDRESS = re.compile(rb'\br="([A-Z]{1,3})(\d{1,10})"')
_FILLED_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,10})"[^>]*(?<!/)>(?!</c>)')
_ROW = re.compile(rb'<row r="(\d{1,10})"')
_BEYOND_Z = re.compile(rb'<c r="[A-Z]{2}')
_PREFIXED = re.compile(rb"<\w+:(?:row|c)\b")
_UNADDRESSED = re.compile(rb'<(?:c|row)(?:>|/>| (?!r="))')
_ERROR_CELL = re.compile(rb'<c ([^>]*\bt="e"[^>]*)(?<!/)>(?:(?!</c>).)*?<v>([^<]*)</v>', re.DOTALL)
_UNCALCULATED = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(<v>\s*</v>|<v\s*/>)?\s*</c>")
_HIDDEN_ROW = re.compile(rb'<row ([^>]*(?:\bhidden="(?:1|true)"|\bht="0(?:\.0*)?")[^>]*)>')
_ROW_NUMBER = re.compile(rb'\br="(\d{1,10})"')
_TAG = re.compile(rb"<(row|c)\b([^>]*?)(/?)>")
_ATTRIBUTE = re.compile(rb"""([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_LITERAL = re.compile(r'"([^"]*)"|\\(.)')
_ZEROS = re.compile(r"0{2,}")

_MANY_COLUMNS = 16_384

Address = tuple[int, int]  # row and column, both from 1


@dataclass(slots=True)
class SheetFacts:
    """What was found in one sheet; rows and columns count from 1.

    last_row, last_column: nothing stands beyond them; `exact_extent` tells how far the content really reaches. padded:
    cells whose number format shows leading zeros, with its width. worded: cells whose number format adds words.
    """

    last_row: int = 0
    last_column: int = 0
    hidden_rows: list[int] = field(default_factory=list)
    errors: dict[Address, str] = field(default_factory=dict)
    without_value: set[Address] = field(default_factory=set)
    padded: dict[Address, int] = field(default_factory=dict)
    worded: set[Address] = field(default_factory=set)


def sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """The part of the archive that holds each sheet, by the sheet's name."""
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"), forbid_dtd=True)
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"), forbid_dtd=True)
    parts = {}
    for sheet in workbook.iterfind(f"{_MAIN}sheets/{_MAIN}sheet"):
        identifier = sheet.get(_RELATIONSHIP_ID) or next(
            (value for key, value in sheet.attrib.items() if key.endswith("}id")), None
        )
        target = targets.get(identifier, "")
        parts[sheet.get("name", "")] = posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
    return parts


def padded_styles(archive: zipfile.ZipFile) -> dict[int, int]:
    """The cell styles whose number format is plain zeros, such as 0000000, with how many."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"), forbid_dtd=True)
    widths = {}
    for number_format in styles.iterfind(f"{_MAIN}numFmts/{_MAIN}numFmt"):
        code = re.sub(r'\[[^\]]*\]|_.|\*.|"', "", number_format.get("formatCode", "").split(";")[0])
        if _ZEROS.fullmatch(code.strip()):
            widths[number_format.get("numFmtId")] = len(code.strip())
    used = enumerate(styles.iterfind(f"{_MAIN}cellXfs/{_MAIN}xf"))
    return {index: widths[style.get("numFmtId")] for index, style in used if style.get("numFmtId") in widths}


def worded_styles(archive: zipfile.ZipFile) -> set[int]:
    """The cell styles whose number format shows words or signs beside the digits, such as "ORD-"000; not currencies."""
    if "xl/styles.xml" not in archive.namelist():
        return set()
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"), forbid_dtd=True)
    formats = styles.iterfind(f"{_MAIN}numFmts/{_MAIN}numFmt")
    worded = {each.get("numFmtId") for each in formats if _adds_words(each.get("formatCode", ""))}
    used = enumerate(styles.iterfind(f"{_MAIN}cellXfs/{_MAIN}xf"))
    return {index for index, style in used if style.get("numFmtId") in worded}


def _adds_words(code: str) -> bool:
    bare = re.sub(r"\[[^\]]*\]|_.|\*.", "", code)
    literal = "".join(quoted or escaped for quoted, escaped in _LITERAL.findall(bare))
    letters = re.sub(r"(?i)\b(?:rs|inr)\b", "", literal)
    return bool(re.search(r"\w", letters) or re.search(r"[0#][-/][0#]", _LITERAL.sub("", bare)))


def scan_sheet(
    archive: zipfile.ZipFile, part: str, *, padded: dict[int, int], worded: Collection[int] = ()
) -> SheetFacts:
    """Go through one sheet's XML once; memory stays at some megabytes. Raises ValueError for XML that breaks off."""
    facts = SheetFacts()
    normal = _Normaliser()
    in_style, in_worded = _style_pattern(padded), _style_pattern(worded)
    raw = b""
    for raw in part_blocks(archive, part, end=_ROW_END):
        block = normal(raw)
        facts.last_row = max([facts.last_row, *map(int, _ROW.findall(block))])
        facts.last_column = max(facts.last_column, _MANY_COLUMNS if _BEYOND_Z.search(block) else 26)
        # most blocks hold nothing of the following; to look for one letter first is by far the fastest way to know
        if b"h" in block and (b"hidden=" in block or b'ht="0' in block):
            tags = _HIDDEN_ROW.findall(block)
            facts.hidden_rows += [int(found[1]) for tag in tags if (found := _ROW_NUMBER.search(tag))]
        if b"e" in block and b't="e"' in block:
            facts.errors.update((_address(tag), word.decode()) for tag, word in _ERROR_CELL.findall(block))
        if b"f" in block and (b"<f" in block or b"</f>" in block):
            facts.without_value.update(_uncalculated(block))
        for tag, style in in_style(block):
            facts.padded[_address(tag)] = padded[int(style)]
        facts.worded.update(_address(tag) for tag, _ in in_worded(block))
    if not raw.rstrip().endswith(b"worksheet>"):
        raise ValueError(f"the part {part} has no end")  # the fast reader would take what is there for all
    return facts


def exact_extent(archive: zipfile.ZipFile, part: str) -> tuple[int, int]:
    """The last row and column of a sheet in which something stands; slower than `scan_sheet`."""
    last_row = last_column = 0
    normal = _Normaliser()
    for raw in part_blocks(archive, part, end=_ROW_END):
        if cells := _FILLED_CELL.findall(normal(raw)):
            last_row = max(last_row, *(int(row) for row in {row for _, row in cells}))
            last_column = max(last_column, *(_number(letters) for letters in {letters for letters, _ in cells}))
    return last_row, last_column


def _uncalculated(block: bytes) -> Iterator[Address]:
    """The cells with a formula that no program has calculated."""
    for found in _UNCALCULATED.finditer(block):
        start = block.rfind(b"<c ", 0, found.start())
        tag = block[start : block.find(b">", start)]
        if not (found[1] and b't="str"' in tag):  # that one was calculated, and gave an empty text
            yield _address(tag)


def _style_pattern(styles: Collection[int]) -> Callable[[bytes], list[tuple[bytes, bytes]]]:
    if not styles:
        return lambda _: []
    numbers = b"|".join(str(index).encode() for index in styles)
    return re.compile(rb'<c ((?:(?!\bt="(?:s|str|inlineStr|b|e)")[^>])*\bs="(' + numbers + rb')"[^>]*)(?<!/)>').findall


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


def _address(tag: bytes) -> Address:
    found = _CELL_ADDRESS.search(tag)
    return (int(found[2]), _number(found[1])) if found else (0, 0)


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _letters(number: int) -> bytes:
    letters = b""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = bytes([65 + rest]) + letters
    return letters
