"""How the names of columns are compared: as people read them, not as they were typed."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple


class Measure(NamedTuple):
    """What values are counted in; kind: "weight", "length", "volume", "money", "share", "count" or "date"."""

    kind: str
    name: str


PERCENT: Final = Measure("share", "percent")
RUPEES: Final = Measure("money", "INR")

_WORDS: Final = {
    "weight": ("mg", "g gm gms gram grams grm grms", "kg kgs kilo kilos kilogram kilograms", "lb lbs", "oz"),
    "length": ("mm", "cm cms", "m", "in inch inches", "ft"),
    "volume": ("cc cm3", "ml", "l ltr litre litres", "cbm"),
    "money": (
        *("INR rs rupee rupees", "paise paisa", "lakhs lakh lac lacs"),
        *("USD usdollar dollar dollars", "EUR euro euros", "GBP pound pounds"),
    ),
    "share": ("percent pct",),
    "count": (
        *("pieces pc pcs piece no nos number numbers unit units each ea", "boxes box", "cartons carton ctn ctns"),
        *("cases case", "packs pack packet packets pkt pkts", "dozens dozen doz dz", "sets set", "pallets pallet"),
    ),
}
"""How measures are written, by their kinds: the name of each, and other words."""

_MEASURES: Final = {
    word.lower(): Measure(kind, words.split()[0])
    for kind, measures in _WORDS.items()
    for words in measures
    for word in words.split()
}
_DATES: Final = (
    (Measure("date", "the month first"), re.compile("mm?dd?y*(?:h.*)?")),
    (Measure("date", "the day first"), re.compile("dd?mm?y*(?:h.*)?")),
)
_LETTERS_OF_A_SLIP: Final = 5  # shorter names are easily alike: Rate, Date
_SAYS_NOTHING: Final = re.compile(  # of what its values mean: it is about filling in the column
    "(?:optional|mandatory|required|compulsory|ifany|ifapplicable|yn|yesno|truefalse|(?:max|min|upto|only)?[0-9]{0,9}"
    "(?:chars?|characters?|digits?)(?:max|only)?|y{2,4}m{1,3}d{1,2}|d{1,2}m{3}y*)"
)


def measure_of(word: str) -> Measure | None:
    """What a squeezed word says that values are in; None where it is no measure.

    >>> measure_of("gms"), measure_of("inrs"), measure_of("gross")
    (Measure(kind='weight', name='g'), Measure(kind='money', name='INR'), None)
    """
    known = _MEASURES.get(word) or _MEASURES.get(word.removeprefix("in"))
    return known or next((measure for measure, pattern in _DATES if pattern.fullmatch(word)), None)


def words_of(measure: Measure) -> list[str]:
    """How a measure is written."""
    return [word for word, known in _MEASURES.items() if known == measure]


_BRACKETED = re.compile(r"^(.*\S)\s*[(\[（]([^()\[\]（）]*)[)\]）]\s*$", re.DOTALL)
_SIGNS = {"%": "percent", "$": "usd", "€": "eur", "£": "gbp"}  # that are read aloud; ₹ goes without saying


def _squeeze(text: str) -> str:
    """Unicode form, case, spaces and punctuation taken away; letters, digits and marks of every script stay.

    `%` and the signs of other currencies are words: "Disc" and "Disc %" are two columns.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    for sign, word in _SIGNS.items() if len(folded) > 1 else ():
        folded = folded.replace(sign, word)
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LMN")


def _parted(name: str) -> tuple[str, str]:
    """A name without its trailing bracket or sign, and what that says, in words."""
    if bracketed := _BRACKETED.match(name):
        said = bracketed[2].strip()
        return bracketed[1], _SIGNS.get(said, said.replace("₹", "inr"))
    bare = name.rstrip(" *")
    return (bare[:-1], _SIGNS[bare[-1]]) if bare[-1:] in _SIGNS and len(bare) > 1 else (name, "")


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A name in the forms in which it is compared.

    full: everything squeezed. short: the same without a trailing bracket, or a trailing sign such as %. bracket: what
    that says. measure: what values are in, if it says so. literal: the trimmed text, for names such as `#` that
    squeeze to nothing.
    """

    full: str
    short: str
    bracket: str
    measure: Measure | None
    literal: str

    @classmethod
    @lru_cache(maxsize=4096)  # the same few names come again with each file of a folder
    def of(cls, text: str) -> "ColumnName":
        """The forms of a header text or of a name in a mapping file."""
        literal = text.replace("\ufeff", "").strip()
        full = _squeeze(literal)
        before, said = _parted(literal)
        bracket = _squeeze(said)
        return cls(full, _squeeze(before) or full, bracket, measure_of(bracket) if bracket else None, literal)

    @property
    def identity(self) -> str:
        """What two names share when they are equal in full.

        >>> ColumnName.of("*Order Id").identity == ColumnName.of("ORDER-ID").identity
        True
        """
        return self.full or self.literal


def names_match(header: ColumnName, wanted: ColumnName) -> bool:
    """Whether a header may be the wanted name: equal without trailing brackets, and these do not say different things.

    >>> names_match(ColumnName.of("Qty (Pcs)"), ColumnName.of("Qty"))
    True
    >>> names_match(ColumnName.of("W (g)"), ColumnName.of("W (kg)"))
    False
    """
    return bool(header.short) and header.short == wanted.short and not differently_bracketed(header, wanted)


def differently_bracketed(header: ColumnName, wanted: ColumnName) -> bool:
    """Whether brackets say different things; a percentage that is wanted must be called one.

    >>> differently_bracketed(ColumnName.of("W (max 50 chars)"), ColumnName.of("W (kg)"))
    False
    """
    if not header.bracket or not wanted.bracket:
        return wanted.measure == PERCENT and not header.bracket
    if header.bracket == wanted.bracket or any(map(_SAYS_NOTHING.fullmatch, (header.bracket, wanted.bracket))):
        return False
    return header.measure is None or header.measure != wanted.measure


def is_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter more, less or other, or by two that changed places; digits tell apart."""
    if min(len(one), len(other)) < _LETTERS_OF_A_SLIP or re.sub(r"\D", "", one) != re.sub(r"\D", "", other):
        return False
    return any(
        one[:at] == other[:at]
        and (
            one[at + 1 :] in (other[at:], other[at + 1 :])
            or one[at:] == other[at + 1 :]
            or (one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :])
        )
        for at in range(max(len(one), len(other)))
    )
