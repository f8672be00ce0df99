"""The parts of an .xlsx workbook beside its sheets: which sheets it has, how cells look, and the texts they share."""

import io
import posixpath
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from logistics_batch.intake.readers.archives import part_blocks
from logistics_batch.intake.readers.xml_events import Start, read_events

Struck = tuple[str, str]
"""Of a text the part that is struck through, and what is left."""

_BOOK: Final = "xl/workbook.xml"
_TEXTS: Final = "xl/sharedStrings.xml"
_YES: Final = ("1", "true")
_ROOT: Final = re.compile(rb"<(?:([\w.-]{1,40}):)?(?:worksheet|sst)\b")
_OTHER_ENCODING: Final = re.compile(rb"""\bencoding\s{0,9}=\s{0,9}["'](?!utf-8["'])""", re.IGNORECASE)
_HEAD_BYTES: Final = 4096
_PLAIN_TEXT: Final = r"^<t(?P<space> [^<>]*[^<>/])?>(?P<text>[^<]*)</t></si>\s*$"
_BLANKS: Final = " \t\n"
_REFERENCE: Final = re.compile(r"&([^&;]{0,10};?)")
_NAMED: Final = {"amp;": "&", "lt;": "<", "gt;": ">", "quot;": '"', "apos;": "'"}
_ESCAPED: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SURROGATES: Final = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class BookSheet:
    """A sheet of a workbook. part: of the archive; is_table: it is no chart, dialog or macro."""

    name: str
    part: str
    is_visible: bool
    is_table: bool


@dataclass(slots=True)
class Book:
    """What a workbook's own part tells. is_stale: the program that wrote it has left all formulas to be calculated by
    the next one; some such programs write 0 for each value meanwhile."""

    sheets: list[BookSheet] = field(default_factory=list)
    is_1904: bool = False
    is_stale: bool = False


def read_book(archive: zipfile.ZipFile) -> Book:
    """The sheets of a workbook, in order, and how it counts days."""
    relations = _relations(archive, "xl/_rels/workbook.xml.rels")
    book = Book()

    def start(path: list[str], attributes: dict[str, str]) -> None:
        if path[-2:] == ["sheets", "sheet"]:
            identifier = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            kind, part = relations.get(identifier, ("", ""))
            is_visible = attributes.get("state", "visible") == "visible"
            book.sheets.append(BookSheet(attributes.get("name", ""), part, is_visible, kind.endswith("/worksheet")))
        elif path[-1] == "workbookPr":
            book.is_1904 = attributes.get("date1904") in _YES
        elif path[-1] == "calcPr":
            book.is_stale = attributes.get("fullCalcOnLoad") in _YES

    read_part(archive, _BOOK, start)
    return book


def has_filtered_table(archive: zipfile.ZipFile, part: str) -> bool:
    """Whether a table within a sheet hides rows by a filter; those of the sheet itself stand in its own part."""
    folder, name = posixpath.split(part)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    parts = set(archive.namelist())
    if relations not in parts:
        return False
    tables = [target for target in relation_targets(archive, relations).values() if "/tables/" in target]
    return any(b"filterColumn" in archive.read(table) for table in tables if table in parts)


def relation_targets(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """The parts to which the relations that stand in a part lead, by their identifiers."""
    return {identifier: target for identifier, (_, target) in _relations(archive, part).items()}


def _relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The kinds of the relations that stand in a part, and the parts to which they lead, by their identifiers."""
    folder = posixpath.dirname(posixpath.dirname(part))
    found: dict[str, tuple[str, str]] = {}

    def start(path: list[str], attributes: dict[str, str]) -> None:
        if path[-1] == "Relationship":
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", ""))).lstrip("/")
            found[attributes.get("Id", "")] = attributes.get("Type", ""), target

    read_part(archive, part, start)
    return found


def strikes(attributes: dict[str, str]) -> bool:
    """Whether an element `strike`, of a font or a part of a text, strikes: it may also say that it does not."""
    return attributes.get("val") not in ("0", "false")


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
    prefix = prefix_of(archive, _TEXTS)
    around, end = b"", b"</%ssi>" % prefix
    count = 0
    for block in part_blocks(archive, _TEXTS, end=end):
        begin = re.search(rb"<%ssi[\s>/]" % prefix, block)
        if not begin:
            around += block
            continue
        at = 0 if around else begin.start()
        around += block[:at]
        found = _plain_texts(block[at:])
        if found is None:
            runs = TextRuns("si")
            read_fragment(block[at:], start=runs.start, end=runs.end, text=runs.text)
            found = pl.Series("text", runs.texts, dtype=pl.String)
            struck |= {count + number: parts for number, parts in runs.struck.items()}
        texts.append(found)
        count += found.len()
    read_events(io.BytesIO(around))
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


class TextRuns:
    """Texts from XML events, whole, and which of them are struck through, if only in part; element: that holds one."""

    def __init__(self, element: str) -> None:
        self.texts: list[str] = []
        self.struck: dict[int, Struck] = {}
        self._element = element
        self._runs: list[str] = []
        self._parts: tuple[list[str], list[str]] = [], []  # struck through, left
        self._is_struck = self._is_text = self._keeps_blanks = False

    def start(self, path: list[str], attributes: dict[str, str]) -> None:
        """An element begins."""
        name = path[-1]
        if name == "r":
            self._is_struck = False
        elif name == "strike":
            self._is_struck = strikes(attributes)
        elif name == "t":
            self._is_text = "rPh" not in path  # how a word is spoken is no part of it
            self._keeps_blanks |= bool(attributes)

    def text(self, text: str) -> None:
        """Characters come."""
        if self._is_text:
            self._runs.append(text)
            self._parts[not self._is_struck].append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "t":
            self._is_text = False
        elif name == "r":
            self._is_struck = False
        elif name == self._element:
            struck, left = ("".join(part).strip() for part in self._parts)
            if struck:
                self.struck[len(self.texts)] = struck, left
            text = "".join(self._runs)
            self.texts.append(text if self._keeps_blanks else text.strip(_BLANKS))
            self._runs, self._parts, self._keeps_blanks = [], ([], []), False


def prefix_of(archive: zipfile.ZipFile, part: str) -> bytes:
    """The prefix of all names in a part, with its colon. Raises ValueError for a part that is not written in UTF-8."""
    with archive.open(part) as stream:
        head = stream.read(_HEAD_BYTES)
    root = _ROOT.search(head)
    if root is None or _OTHER_ENCODING.search(head, 0, root.start()):
        raise ValueError(f"the part {part} does not begin as it should")
    return root[1] + b":" if root[1] else b""


def read_fragment(content: bytes, *, start: Start, end: Callable[[str], None], text: Callable[[str], None]) -> None:
    """Call the handlers for some elements side by side, as `read_events` does for a whole part."""
    read_events(io.BytesIO(b"<part>" + content + b"</part>"), start=start, end=end, text=text)


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


def read_part(archive: zipfile.ZipFile, part: str, start: Start) -> None:
    with archive.open(part) as stream:
        read_events(stream, start=start)
