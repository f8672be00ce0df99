"""The parts of an .xlsx workbook beside its sheets: which sheets it has, how cells look, and the texts they share."""

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal
from xml.etree.ElementTree import Element

import polars as pl

from logistics_batch.intake.readers.cells import BookSheet, SheetCells
from logistics_batch.intake.readers.xml_trees import UnsafeXml, part_blocks, read_fragment, read_tree

Struck = tuple[str, str]
"""Of a text the part that is struck through, and what is left."""

_BOOK: Final = "xl/workbook.xml"
_TEXTS: Final = "xl/sharedStrings.xml"
YES: Final = ("1", "true")
_ROOT: Final = re.compile(rb"<(?:([\w.-]{1,40}):)?(?:worksheet|sst)\b")
_OTHER_ENCODING: Final = re.compile(rb"""\bencoding\s{0,9}=\s{0,9}["'](?!utf-8["'])""", re.IGNORECASE)
_HEAD_BYTES: Final = 4096
_MOST_AROUND_BYTES: Final = 32 << 20  # what stands before and behind the rows or texts
_PLAIN_TEXT: Final = r"^<t(?P<space> [^<>]*[^<>/])?>(?P<text>[^<]*)</t></si>\s*$"
_BLANKS: Final = " \t\n"
_REFERENCE: Final = re.compile(r"&([^&;]{0,10};?)")
_NAMED: Final = {"amp;": "&", "lt;": "<", "gt;": ">", "quot;": '"', "apos;": "'"}
_ESCAPED: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SURROGATES: Final = range(0xD800, 0xE000)
_STYLES: Final = "xl/styles.xml"
_BUILT_IN: Final = {
    **{9: "0%", 10: "0.00%", 12: "# ?/?", 13: "# ??/??"},
    **dict.fromkeys((14, 15, 16, 17, 22), "d/m/yy"),
    **dict.fromkeys((18, 19, 20, 21, 45, 47), "h:mm"),
    46: "[h]:mm:ss",
}
"""Number formats that a workbook names by their number alone, as far as they show more than a number."""

DateKind = Literal["moment", "length"]
"""What a number is by its format: a date or a time of day, or a length of time."""

_MOST_CHARACTERS = 255  # of a number format
_ZEROS = re.compile(r"0{2,}")
_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[(?P<bracket>[^\]]*)\]|_.|\*(?P<fill>.)|(?P<general>General)'
    r"|(?P<exponent>E[+-]0+)|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\[[<>=]")
_BELOW_ZERO = re.compile(r"\[<=?\s*(?:-|0\])")
_CURRENCY = re.compile(r"(?i)₹|(?<![a-z])(?:rs|inr)(?![a-z])\.?|र[ुू][.॰]?|/[-=](?=\s*$)")
_LENGTH = re.compile(r"(?i)h+|m+|s+")
_NUMBER = re.compile(r"0[0,]*(?:\.0*)?")
_LITERAL_SIGNS = str.maketrans({**dict.fromkeys("0123456789", "9"), ".": "·"})  # no digits and no point of the number


@dataclass(slots=True)
class Book:
    """What a workbook's own part tells. is_stale: the program that wrote it has left all formulas to be calculated by
    the next one; some such programs write 0 for each value meanwhile."""

    sheets: list[BookSheet] = field(default_factory=list)
    is_1904: bool = False
    is_stale: bool = False


def read_book(archive: zipfile.ZipFile, read: Callable[[str, str], SheetCells]) -> Book:
    """The sheets of a workbook, in order, and how it counts days. read: gives a sheet by its name and part."""
    targets = relations(archive, "xl/_rels/workbook.xml.rels")
    root = read_part(archive, _BOOK)
    book = Book()
    for sheet in root.iterfind(".//sheets/sheet"):
        identifier = next((value for key, value in sheet.items() if key.endswith(":id")), "")
        kind, part = targets.get(identifier, ("", ""))
        name, is_visible = sheet.get("name", ""), sheet.get("state", "visible") == "visible"
        book.sheets.append(BookSheet(name, is_visible, kind.endswith("/worksheet"), partial(read, name, part)))
    book.is_1904 = any(each.get("date1904") in YES for each in root.iter("workbookPr"))
    book.is_stale = any(each.get("fullCalcOnLoad") in YES for each in root.iter("calcPr"))
    return book


def has_filtered_table(archive: zipfile.ZipFile, part: str) -> bool:
    """Whether a table within a sheet hides rows by a filter; those of the sheet itself stand in its own part."""
    folder, name = posixpath.split(part)
    own = posixpath.join(folder, "_rels", f"{name}.rels")
    parts = set(archive.namelist())
    if own not in parts:
        return False
    tables = [target for _, target in relations(archive, own).values() if "/tables/" in target]
    return any(b"filterColumn" in archive.read(table) for table in tables if table in parts)


def relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The kinds of the relations that stand in a part, and the parts to which they lead, by their identifiers."""
    folder = posixpath.dirname(posixpath.dirname(part))
    return {
        each.get("Id", ""): (
            each.get("Type", ""),
            posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/"),
        )
        for each in read_part(archive, part).iter("Relationship")
    }


def is_struck(element: Element) -> bool:
    """Whether a font, or a part of a text, is struck through: its element `strike` may also say that it is not."""
    return any(each.get("val") not in ("0", "false") for each in element.iter("strike"))


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """The texts that cells share, in order; struck: of those that are struck through, if only in part, the parts."""

    texts: pl.Series
    struck: dict[int, Struck]


def read_shared_texts(archive: zipfile.ZipFile) -> SharedTexts:
    """All shared texts of a workbook. Raises ValueError where they are no XML."""
    texts, struck = [pl.Series("text", [], dtype=pl.String)], dict[int, Struck]()
    if _TEXTS not in archive.namelist():
        return SharedTexts(texts[0], struck)
    around, count = bytearray(), 0
    for block in inner_blocks(archive, _TEXTS, b"sst", b"si", around=around):
        found = _plain_texts(block)
        if found is None:
            items = [rich_text(item) for item in read_fragment(block).iter("si")]
            found = pl.Series("text", [text for text, _ in items], dtype=pl.String)
            struck |= {count + number: parts for number, (_, parts) in enumerate(items) if parts}
        texts.append(found)
        count += found.len()
    read_tree(io.BytesIO(around))
    return SharedTexts(unescaped(pl.concat(texts)), struck)


def _plain_texts(block: bytes) -> pl.Series | None:
    """The texts of items that are nothing but a text; None if one is more."""
    if not block.startswith(b"<si>") or b"<!" in block:
        return None
    items = as_text(block).str.split("<si>").explode(empty_as_null=False).slice(1)
    fields = items.str.extract_groups(_PLAIN_TEXT).struct.unnest()
    texts = fields.select(stripped("text", "space")).to_series()
    return None if texts.null_count() else without_references(texts)


def stripped(text: str, space: str) -> pl.Expr:
    """A column of texts without the blanks around them, except where an attribute, in the other column, keeps them."""
    return pl.when(pl.col(space).is_null()).then(pl.col(text).str.strip_chars(_BLANKS)).otherwise(pl.col(text))


def rich_text(item: Element) -> tuple[str, Struck | None]:
    """The whole text of an item; and where a part of it is struck through, which. How a word is spoken is no part."""
    spoken = {text for each in item.iter("rPh") for text in each.iter("t")}
    struck = {text for run in item.iter("r") if is_struck(run) for text in run.iter("t")}
    runs = [("".join(text.itertext()), text in struck) for text in item.iter("t") if text not in spoken]
    crossed, left = ("".join(text for text, is_out in runs if is_out is wanted).strip() for wanted in (True, False))
    whole = "".join(text for text, _ in runs)
    keeps_blanks = any(text.attrib for text in item.iter("t"))
    return whole if keeps_blanks else whole.strip(_BLANKS), (crossed, left) if crossed else None


def inner_blocks(
    archive: zipfile.ZipFile, part: str, outer: bytes, item: bytes, *, around: bytearray
) -> Iterator[bytes]:
    """What stands within an element of a part, in blocks of whole items; the rest of the part goes to `around`.

    outer, item: names of the element and of what it holds. Raises ValueError for a part that is not written in UTF-8.
    """
    with archive.open(part) as stream:
        head = stream.read(_HEAD_BYTES)
    root = _ROOT.search(head)
    if root is None or _OTHER_ENCODING.search(head, 0, root.start()):
        raise ValueError(f"the part {part} does not begin as it should")
    prefix = root[1] + b":" if root[1] else b""
    begin = re.compile(rb"<%s%s(?:\s[^<>]{0,999})?(/?)>" % (prefix, outer))
    end = b"</%s%s>" % (prefix, outer)
    is_inside = is_behind = False
    for block in part_blocks(archive, part, end=b"</%s%s>" % (prefix, item), or_before=b"<%s%s " % (prefix, item)):
        rest = block
        if not (is_inside or is_behind) and (found := begin.search(block)):
            around += block[: found.end()]
            rest = block[found.end() :]
            is_inside, is_behind = not found[1], bool(found[1])
        if is_inside:
            place = rest.find(end)
            items, rest = (rest, b"") if place < 0 else (rest[:place], rest[place:])
            is_inside, is_behind = place < 0, place >= 0
            if items := items.strip():
                yield items
        around += rest
        if len(around) > _MOST_AROUND_BYTES:
            raise UnsafeXml("element", most=_MOST_AROUND_BYTES >> 20)


def as_text(block: bytes) -> pl.Series:
    """UTF-8 as one text with the line breaks that XML knows. Raises ValueError for anything else."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return pl.Series("block", [block], dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError as error:
        raise ValueError("the XML is not written in UTF-8") from error


def without_references(texts: pl.Series) -> pl.Series:
    """Texts as they stand in XML, with the characters that are written as references, such as &amp;."""
    return _rewritten(texts, "&", _referred)


def _referred(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("#") and name.endswith(";"):
            return chr(int(name[2:-1], 16) if name[1:2] in ("x", "X") else int(name[1:-1]))
        if name not in _NAMED:
            raise ValueError("an unknown reference stands in the XML")
        return _NAMED[name]

    return _REFERENCE.sub(character, text)


def unescaped(texts: pl.Series) -> pl.Series:
    """Texts with the characters that workbooks write as _x000D_."""

    def character(found: re.Match[str]) -> str:
        code = int(found[1], 16)
        return found[0] if code in _SURROGATES else chr(code)

    return _rewritten(texts, "_x", lambda text: _ESCAPED.sub(character, text))


def _rewritten(texts: pl.Series, sign: str, rewrite: Callable[[str], str]) -> pl.Series:
    """Texts of which those with a sign are rewritten."""
    found = texts.filter(texts.str.contains(sign, literal=True)).unique()
    return texts.replace(found, [rewrite(text) for text in found]) if found.len() else texts


def read_part(archive: zipfile.ZipFile, part: str) -> Element:
    """The root of a part's XML."""
    with archive.open(part) as stream:
        return read_tree(stream)


@dataclass(slots=True)
class CellStyles:
    """By the number of the style. padded: how many zeros its number format shows, such as 0000000. worded: what those
    show, with 0 for the number, that show more than it: ORD-0 of "ORD-"000; not rupees. codes: those of such formats.
    dates: those that show a date or a length of time. struck: those whose font strikes the cell through."""

    padded: dict[int, int] = field(default_factory=dict)
    worded: dict[int, str] = field(default_factory=dict)
    codes: dict[int, str] = field(default_factory=dict)
    dates: dict[int, DateKind] = field(default_factory=dict)
    struck: set[int] = field(default_factory=set)


def read_styles(archive: zipfile.ZipFile) -> CellStyles:
    """What the styles of a workbook make of its numbers."""
    styles = CellStyles()
    if _STYLES not in archive.namelist():
        return styles
    root = read_part(archive, _STYLES)
    codes = {str(number): code for number, code in _BUILT_IN.items()}
    codes |= {each.get("numFmtId", ""): each.get("formatCode", "") for each in root.iterfind(".//numFmts/numFmt")}
    struck_fonts = {str(number) for number, font in enumerate(root.iterfind(".//fonts/font")) if is_struck(font)}
    for number, style in enumerate(root.iterfind(".//cellXfs/xf")):
        code = codes.get(style.get("numFmtId", ""), "")
        if kind := date_kind(code):
            styles.dates[number] = kind
        if width := padded_width(code):
            styles.padded[number] = width
        if more := added(code):
            styles.worded[number], styles.codes[number] = more, code
        if style.get("fontId") in struck_fonts:
            styles.struck.add(number)
    return styles


def padded_width(code: str) -> int:
    """How many digits a number format of plain zeros shows at least; 0 for other formats.

    >>> padded_width("0000000_)"), padded_width("0.00")
    (7, 0)
    """
    bare = re.sub(r"\[[^\[\]]*\]|_.|\*.", "", code[:_MOST_CHARACTERS].split(";")[0]).replace('""', "").strip()
    return len(bare) if _ZEROS.fullmatch(bare) else 0


def added(code: str) -> str:
    """What a cell of a number format shows, with 0 for the number, if that is more than the number; else "".

    Rupees do not count, nor leading zeros and grouped thousands. A number that is scaled, or not shown at all, counts.

    >>> added('"ORD-"000'), added("0.00%"), added('"Rs." 0.00'), added("0,"), added(";;;")
    ('ORD-0', '0%', '', '0,', ';')
    """
    sections = _sections(code[:_MOST_CHARACTERS])
    if not sections[0].strip() and len(sections) > 1:
        return ";"
    decisive = sections if _CONDITION.search(code) else sections[:2]
    for position, section in enumerate(decisive):
        shown = _shown(section)
        is_negative = _BELOW_ZERO.search(section) or (position and not _CONDITION.search(section))
        if is_negative:  # the sign is the number's own
            shown = re.sub(r"^-|^\((.*)\)$", r"\1", shown).strip()
        if shown not in ("", "0", "@"):
            return shown
    return ""


def date_kind(code: str) -> DateKind | None:
    """What date a number format shows; None if it shows none.

    >>> date_kind("dd/mm/yyyy"), date_kind("[h]:mm"), date_kind('0 "days"')
    ('moment', 'length', None)
    """
    parts = list(_PARTS.finditer(_sections(code[:_MOST_CHARACTERS])[0]))
    if any(_LENGTH.fullmatch(part["bracket"] or "") for part in parts):
        return "length"
    return "moment" if any((part["plain"] or " ") in "dDmMyYhHsS" for part in parts) else None


def _sections(code: str) -> list[str]:
    """The parts of a code for positive numbers, negative ones, zero and text."""
    sections = [""]
    for part in _PARTS.finditer(code):
        if part["plain"] == ";":
            sections.append("")
        else:
            sections[-1] += part[0]
    return sections


def _shown(section: str) -> str:
    """What one section shows, with 0 for each number; a comma behind it, which divides by a thousand, stays."""
    said = "".join(_said(part) for part in _PARTS.finditer(section))
    bare = re.sub(r"\s+", " ", _CURRENCY.sub(" ", said)).strip()
    return _NUMBER.sub(lambda number: "0," if "," in re.sub(r"0[0,]*0", "0", number[0]) else "0", bare)


def _said(part: re.Match[str]) -> str:
    if part["quoted"] is not None:
        return _CURRENCY.sub(" ", part["quoted"]).translate(_LITERAL_SIGNS)
    if part["escaped"] is not None:
        return part["escaped"].translate(_LITERAL_SIGNS)
    if part["bracket"] is not None:  # [$₹-4009] is a currency and a country, the others are colours and conditions
        currency = part["bracket"][1:].partition("-")[0]
        return _CURRENCY.sub(" ", currency).translate(_LITERAL_SIGNS) if part["bracket"].startswith("$") else ""
    if part["fill"] is not None:
        return part["fill"].translate(_LITERAL_SIGNS)
    if part["general"] is not None:
        return "0"
    return "" if part["exponent"] is not None else re.sub("[#?]", "0", part["plain"] or " ")
