"""What the styles of an .xlsx workbook make of its cells: dates, leading zeros, words and signs, struck through."""

import re
import zipfile
from dataclasses import dataclass, field
from typing import Final, Literal

from logistics_batch.intake.readers.xlsx_book import is_struck, read_part

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
_CURRENCY = re.compile(r"(?i)₹|(?<![a-z])(?:rs|inr)(?![a-z])\.?|/[-=](?=\s*$)")
_LENGTH = re.compile(r"(?i)h+|m+|s+")
_NUMBER = re.compile(r"0[0,]*(?:\.0*)?")
_LITERAL_SIGNS = str.maketrans({**dict.fromkeys("0123456789", "9"), ".": "·"})  # no digits and no point of the number


@dataclass(slots=True)
class CellStyles:
    """By the number of the style. padded: how many zeros its number format shows, such as 0000000. worded: what those
    show, with 0 for the number, that show more than it: ORD-0 of "ORD-"000; not rupees. dates: those that show a date
    or a length of time. struck: those whose font strikes the cell through."""

    padded: dict[int, int] = field(default_factory=dict)
    worded: dict[int, str] = field(default_factory=dict)
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
            styles.worded[number] = more
        if style.get("fontId") in struck_fonts:
            styles.struck.add(number)
    return styles


def padded_width(code: str) -> int:
    """How many digits a number format of plain zeros shows at least; 0 for other formats.

    >>> padded_width("0000000_)"), padded_width("0.00")
    (7, 0)
    """
    bare = re.sub(r"\[[^\]]*\]|_.|\*.", "", code[:_MOST_CHARACTERS].split(";")[0]).replace('""', "").strip()
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
    """What one section shows, with 0 for the number."""
    return _collapsed("".join(_said(part) for part in _PARTS.finditer(section)))


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


def _collapsed(shown: str) -> str:
    """A text in which each number is one 0; a comma behind it, which divides by a thousand, stays."""
    bare = re.sub(r"\s+", " ", _CURRENCY.sub(" ", shown)).strip()
    return _NUMBER.sub(lambda number: "0," if "," in re.sub(r"0[0,]*0", "0", number[0]) else "0", bare)
