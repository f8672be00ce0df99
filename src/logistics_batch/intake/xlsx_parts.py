"""The parts of an .xlsx workbook that say where its sheets are and how their cells look."""

import posixpath
import zipfile
from dataclasses import dataclass, field
from typing import Final

from logistics_batch.intake.number_formats import BUILT_IN, added, padded_width
from logistics_batch.intake.xml_events import Start, read_events

TEXTS_PART: Final = "xl/sharedStrings.xml"
"""The part with the texts that cells share."""


@dataclass(slots=True)
class Book:
    """sheets: the part of the archive that holds each sheet, by the sheet's name. is_stale: the program that wrote it
    has left all formulas to be calculated by the next one; some such programs write 0 for each value meanwhile."""

    sheets: dict[str, str] = field(default_factory=dict)
    is_stale: bool = False


def read_book(archive: zipfile.ZipFile) -> Book:
    """What the workbook's own part tells."""
    targets = relation_targets(archive, "xl/_rels/workbook.xml.rels")
    book = Book()

    def start(path: list[str], attributes: dict[str, str]) -> None:
        if path[-2:] == ["sheets", "sheet"]:
            identifiers = (value for key, value in attributes.items() if key.endswith(":id"))
            book.sheets[attributes.get("name", "")] = targets.get(next(identifiers, ""), "")
        elif path[-1] == "calcPr":
            book.is_stale = attributes.get("fullCalcOnLoad") in ("1", "true")

    _read_part(archive, "xl/workbook.xml", start)
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
    folder = posixpath.dirname(posixpath.dirname(part))
    targets: dict[str, str] = {}

    def start(path: list[str], attributes: dict[str, str]) -> None:
        if path[-1] == "Relationship":
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", ""))).lstrip("/")
            targets[attributes.get("Id", "")] = target

    _read_part(archive, part, start)
    return targets


@dataclass(slots=True)
class CellStyles:
    """By the number of the style. padded: how many zeros its number format shows, such as 0000000. worded: what
    those show, with 0 for the number, that show more than it: ORD-0 of "ORD-"000; not rupees. struck: those whose
    font strikes the cell through. count: of all styles."""

    padded: dict[int, int] = field(default_factory=dict)
    worded: dict[int, str] = field(default_factory=dict)
    struck: set[int] = field(default_factory=set)
    count: int = 0


def cell_styles(archive: zipfile.ZipFile) -> CellStyles:
    """What the number formats of an .xlsx workbook add to their numbers."""
    styles = CellStyles()
    if "xl/styles.xml" not in archive.namelist():
        return styles
    codes = {str(number): code for number, code in BUILT_IN.items()}
    fonts, struck_fonts = 0, set[str]()

    def start(path: list[str], attributes: dict[str, str]) -> None:
        nonlocal fonts
        if path[-2:] == ["numFmts", "numFmt"]:
            codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif path[-2:] == ["fonts", "font"]:
            fonts += 1
        elif path[-3:] == ["fonts", "font", "strike"] and is_struck(attributes):
            struck_fonts.add(str(fonts - 1))
        elif path[-2:] == ["cellXfs", "xf"]:
            code = codes.get(attributes.get("numFmtId", ""), "")
            if width := padded_width(code):
                styles.padded[styles.count] = width
            if shown := added(code):
                styles.worded[styles.count] = shown
            if attributes.get("fontId") in struck_fonts:
                styles.struck.add(styles.count)
            styles.count += 1

    _read_part(archive, "xl/styles.xml", start)
    return styles


def is_struck(attributes: dict[str, str]) -> bool:
    """Whether an element `strike`, of a font or a part of a text, strikes: it may also say that it does not."""
    return attributes.get("val") not in ("0", "false")


def _read_part(archive: zipfile.ZipFile, part: str, start: Start) -> None:
    with archive.open(part) as stream:
        read_events(stream, start=start)
