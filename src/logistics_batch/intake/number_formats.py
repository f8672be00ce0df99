"""What a cell's number format shows beyond the number: leading zeros, words and signs."""

import re
from typing import Final

BUILT_IN: Final = {9: "0%", 10: "0.00%", 12: "# ?/?", 13: "# ??/??"}
"""Number formats that a workbook names by their number alone, as far as they show more than a number."""

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
_NUMBER = re.compile(r"0[0,]*(?:\.0*)?")
_LITERAL_SIGNS = str.maketrans({**dict.fromkeys("0123456789", "9"), ".": "·"})  # no digits and no point of the number


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


def added_to(shown: str, value: str) -> str:
    """The same, of a number and the text that its cell shows.

    >>> added_to("123-457", "123457"), added_to("1,23,457.00", "123457"), added_to("12.5%", "0.125")
    ('0-0', '', '0%')
    """
    shown = _CURRENCY.sub("", shown)
    digits = re.sub(r"[^\d.,]", "", shown)
    readings = (digits.replace(",", ""), digits.replace(".", "").replace(",", "."))
    template = _collapsed(re.sub(r"\d[\d.,]*", "0", shown).strip("-+() "))
    if template != "0" or any(_is_rounded(reading, value) for reading in readings):
        return "" if template == "0" else template
    return "0·0"


def _is_rounded(digits: str, value: str) -> bool:
    """Whether digits are those of a number, if with fewer decimals."""
    try:
        gap = abs(float(digits) - abs(float(value)))
        return gap <= 0.5000001 / 10.0 ** len(digits.partition(".")[2])
    except (ValueError, OverflowError):
        return False


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
