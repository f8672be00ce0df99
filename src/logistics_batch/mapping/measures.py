"""What stands in brackets behind a column's name: the unit, currency or spelling of dates that its values are in."""

import re
from typing import Final, NamedTuple


class Measure(NamedTuple):
    """What values are counted in; kind: "weight", "length", "volume", "money", "share", "count" or "date"."""

    kind: str
    name: str


PERCENT: Final = Measure("share", "percent")
RUPEES: Final = Measure("money", "INR")

_WORDS: Final[dict[tuple[str, str], str]] = {
    ("weight", "mg"): "mg",
    ("weight", "g"): "g gm gms gram grams grm grms",
    ("weight", "kg"): "kg kgs kilo kilos kilogram kilograms",
    ("weight", "lb"): "lb lbs",
    ("weight", "oz"): "oz",
    ("length", "mm"): "mm",
    ("length", "cm"): "cm cms",
    ("length", "m"): "m",
    ("length", "in"): "in inch inches",
    ("length", "ft"): "ft",
    ("volume", "cc"): "cc cm3",
    ("volume", "ml"): "ml",
    ("volume", "l"): "l ltr litre litres",
    ("volume", "cbm"): "cbm",
    RUPEES: "inr rs rupee rupees",
    ("money", "paise"): "paise paisa",
    ("money", "lakhs"): "lakh lakhs lac lacs",
    ("money", "USD"): "usd usdollar dollar dollars",
    ("money", "EUR"): "eur euro euros",
    ("money", "GBP"): "gbp pound pounds",
    PERCENT: "percent pct",
    ("count", "pieces"): "pc pcs piece pieces no nos number numbers unit units each ea",
    ("count", "boxes"): "box boxes",
    ("count", "cartons"): "carton cartons ctn ctns",
    ("count", "cases"): "case cases",
    ("count", "packs"): "pack packs packet packets pkt pkts",
    ("count", "dozens"): "dozen dozens doz dz",
    ("count", "sets"): "set sets",
    ("count", "pallets"): "pallet pallets",
}
_MEASURES: Final = {word: Measure(*found) for found, words in _WORDS.items() for word in words.split()}
_DATES: Final = (
    (Measure("date", "the month first"), re.compile("mm?dd?y*(?:h.*)?")),
    (Measure("date", "the day first"), re.compile("dd?mm?y*(?:h.*)?")),
)
_SAYS_NOTHING: Final = re.compile(
    "(?:optional|mandatory|required|compulsory|ifany|ifapplicable|yn|yesno|truefalse|(?:max|min|upto|only)?[0-9]*"
    "(?:chars?|characters?|digits?)(?:max|only)?|y{2,4}m{1,3}d{1,2}|d{1,2}m{3}y*)"
)


def measure_of(word: str) -> Measure | None:
    """What a squeezed word says that values are in; None where it is no measure.

    >>> measure_of("gms"), measure_of("inrs"), measure_of("gross")
    (Measure(kind='weight', name='g'), Measure(kind='money', name='INR'), None)
    """
    known = _MEASURES.get(word) or _MEASURES.get(word.removeprefix("in"))
    return known or next((measure for measure, pattern in _DATES if pattern.fullmatch(word)), None)


def says_nothing(word: str) -> bool:
    """Whether a squeezed word in brackets is about filling in the column, not about what its values mean.

    >>> says_nothing("optional"), says_nothing("max50chars"), says_nothing("gross")
    (True, True, False)
    """
    return _SAYS_NOTHING.fullmatch(word) is not None
