"""A column's name read as people read it, and how likely it stands for a target: by what it says, and what else."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from pydantic import BaseModel

from logistics_batch.mapping.spec.targets import targets_of
from logistics_batch.model.document import Operation
from logistics_batch.specification import load_specification

LIKELY: Final = 0.66
"""From this likeness on a name alone is a reason."""

TO: Final = frozenset(["deliver", "ship", "buyer", "party", "store"])
"""Whose a thing is that belongs to the one who gets the goods."""

_LATIN: Final = re.compile(r"[a-z]+")
_BRACKETS: Final = re.compile(r"[(\[（]([^()\[\]（）]*)[)\]）]")
_INITIALS: Final = re.compile(r"\b[A-Za-z](?:\.[A-Za-z])+\b")  # C.P., M.R.P.
_EACH: Final = re.compile(r"(?<=\w)\.?\s?/\s?(?=(\w+))")  # Pcs / Ctn, but not Vch/Bill No
_EACH_WORDS: Final = frozenset(["per", "por", "par", "pro", "je"])
_COUNTED: Final = frozenset(["box", "each", "qty", "uom", "kg", "gram", "size_of_case"])
_TYPO: Final = 0.85
_LETTERS_OF_A_TYPO: Final = 5  # shorter words are easily alike: rate, date
_VIRAMA: Final = 9  # the combining class of the sign that joins letters of Indian scripts: it belongs to its word
_UNITS: Final = frozenset(["kg", "gram", "cm", "mm", "inch"])
_MEASURES: Final = {"l": "length", "b": "breadth", "w": "breadth", "h": "height"}  # of a name of one letter

_OF_ADDRESSES: Final = frozenset(["line", "address", "street", "bill", "pickup", "return", *TO])
_ENDS_WITH_A_NUMBER: Final = re.compile(r"\d\W*$")
_NOT_THE_FIRST: Final = re.compile(r"\b[2-9]\W*$")  # Phone 2
_WHOSE: Final = frozenset(["bill", "pickup", "return", "supplier", *TO])  # as brackets say it: Phone (Billing)
_USUAL: Final = 0.97
_NOT_SAID: Final = {"buyer": 0.06, "party": 0.06, "store": 0.06, "": 0.03}  # beside a name that says ship-to
_OF_AN_UNKNOWN_WORD: Final = 0.08
_OF_UNKNOWN_WORDS: Final = 0.2  # at most
_OF_A_FURTHER_WORD: Final = 0.02


class Vocabulary(BaseModel):
    """The words and names of `vocabulary.yaml`, which says what each part is."""

    meanings: dict[str, str]
    silent: str
    payment: dict[str, str]
    done: dict[str, str]
    charges: dict[str, str]
    targets: dict[str, dict[str, str]]
    operations: dict[str, dict[str, list[str]]]
    titles: dict[str, str]
    unused: dict[str, str]
    likelier: dict[str, str]


@cache
def vocabulary() -> Vocabulary:
    """The words of all languages, with what they mean."""
    page = files("logistics_batch.mapping") / "vocabulary.yaml"
    return load_specification(page.read_text(encoding="utf-8"), path=page.name, model=Vocabulary)


@cache
def names_of_targets(operation: Operation) -> dict[str, str]:
    """For each place that an operation's mapping can fill (`fields.weight`), in the contract's order, what the names of
    its columns speak of, as in `vocabulary.yaml`.
    """
    known = {
        f"{part}.{target}": names
        for part, groups in vocabulary().operations[operation].items()
        for group in groups
        for target, names in vocabulary().targets[group].items()
    }
    return {place: known[place] for place in targets_of(operation).places if place in known}


@dataclass(frozen=True, slots=True)
class NameReading:
    """What a name says.

    meanings: as in `vocabulary.yaml`. unknown: how many of its words mean nothing known. unit: kg, gram, cm, mm or
    inch, "" if it names none. digits: whether a number stands in it, as in `SKU 2`.
    """

    meanings: frozenset[str]
    unknown: int
    unit: str
    digits: bool


@cache
def reading_of(name: str) -> NameReading:
    """Read a column's name.

    >>> sorted(reading_of("Cust. Mob. No.").meanings), sorted(reading_of("ShippingZip").meanings)
    (['buyer', 'number', 'phone'], ['pin', 'ship'])
    >>> sorted(reading_of("Liefer-PLZ").meanings), sorted(reading_of("पिन कोड").meanings)
    (['deliver', 'pin'], ['pin'])
    >>> reading_of("Wt (gms)").unit
    'gram'
    """
    outer, inner = _words(_BRACKETS.sub(" ", name)), _words(" ".join(_BRACKETS.findall(name)))
    words = (outer or inner).split()
    alone = [word for word in words if _meaning(word) not in _UNITS]
    said = [_MEASURES.get(word) if [word] == alone and word in _MEASURES else _meaning(word) for word in words]
    before = zip(["", "", *said], ["", *words], said, strict=False)
    said = ["size_of_case" if word in _EACH_WORDS and each == "box" != of else each for of, word, each in before]
    meanings = _parts(said)
    meanings |= _parts(map(_meaning, inner.split())) & _WHOSE
    if {"price", "net"} <= meanings:  # Rate incl. GST is a price, and no tax
        meanings -= {"tax"}
    if "phone" in meanings and _NOT_THE_FIRST.search(name):
        meanings |= {"alt"}
    unit = next(iter(meanings & _UNITS or _parts(map(_meaning, inner.split())) & _UNITS), "")
    meanings -= _UNITS | ({"number"} if "pin" in meanings else set())
    if "line" in meanings and meanings <= _OF_ADDRESSES and _ENDS_WITH_A_NUMBER.search(name):  # Ship to - line 1
        meanings = meanings - {"line"} | {"address"}
    return NameReading(meanings, said.count(None), unit, any(char.isdigit() for char in _BRACKETS.sub(" ", name)))


def _parts(meanings: Iterable[str | None]) -> frozenset[str]:
    return frozenset(part for meaning in meanings for part in (meaning or "").split())


def folded(text: str) -> str:
    """A text without capitals, accents and dots below letters, so that spellings of one word are equal.

    >>> folded("Straße"), folded("Numéro")
    ('strasse', 'numero')
    """
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in apart if unicodedata.combining(char) in (0, _VIRAMA))


def _words(text: str) -> str:
    """The words of a name, known phrases with `_` for their blanks; camelCase parts words, digits are left out."""
    parted = _EACH.sub(_per, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", text)))
    spaced = folded(_INITIALS.sub(lambda found: found[0].replace(".", ""), parted))
    kept = (char if unicodedata.category(char)[0] in "LM" else f" {char} " if char in "#%" else " " for char in spaced)
    return _phrases().sub(lambda found: found[0].replace(" ", "_"), " ".join("".join(kept).split()))


def _per(slash: re.Match[str]) -> str:
    return " per " if _meaning(folded(slash[1])) in _COUNTED else " "


@cache
def _known() -> dict[str, str]:
    """What words and phrases mean, "" if they say nothing; a phrase has `_` for its blanks."""
    meanings = vocabulary().meanings.items()
    known = {folded(word).replace(" ", "_"): meaning for meaning, words in meanings for word in words.split(", ")}
    return known | dict.fromkeys(map(folded, vocabulary().silent.split()), "")


@cache
def _phrases() -> re.Pattern[str]:
    """Any phrase of several words, the longest first."""
    phrases = sorted((word for word in _known() if "_" in word), key=lambda word: -word.count("_"))
    return re.compile(rf"(?<!\S)(?:{'|'.join(re.escape(phrase.replace('_', ' ')) for phrase in phrases)})(?!\S)")


@cache
def _meaning(word: str) -> str | None:
    """What a word means: one that is known, a plural, two run together, or one misspelt; None if nothing known.

    >>> _meaning("custname"), _meaning("lieferort"), _meaning("quantitty"), _meaning("towel")
    ('buyer name', 'deliver city', 'qty', None)
    """
    known = _known()
    singular = word.removesuffix("s")
    if word in known or singular in known:
        return known.get(word, known.get(singular))
    if not _LATIN.fullmatch(word):
        return None
    for at in range(len(word) - 2, 2, -1):
        if known.get(word[:at]) and known.get(word[at:]):
            return f"{known[word[:at]]} {known[word[at:]]}"
    if len(word) < _LETTERS_OF_A_TYPO:
        return None
    single = [each for each in known if _LATIN.fullmatch(each) and len(each) >= _LETTERS_OF_A_TYPO - 1]
    near = get_close_matches(word, single, n=1, cutoff=_TYPO)
    return known[near[0]] if near else None


def likeness(reading: NameReading, names: str) -> float:
    """How likely what a name says stands for a target (0 to 1); names: as in `vocabulary.yaml`.

    >>> likeness(reading_of("Shipping Pin Code"), "pin + TO"), likeness(reading_of("Billing PIN"), "pin + TO")
    (0.97, 0.0)
    """
    said = reading.meanings
    unknown = min(_OF_UNKNOWN_WORDS, _OF_AN_UNKNOWN_WORD * reading.unknown)
    # What it costs that a name says customer, or nobody, where another may say ship-to.
    whose = 0.0 if said & {"deliver", "ship"} else max(_NOT_SAID[each] for each in said & TO or {""})
    best = 0.0
    for way in _ways(names):
        if way.wanted <= said <= way.wanted | way.allowed:
            further = _OF_A_FURTHER_WORD * len(said - way.wanted - TO)
            best = max(best, round(way.likely - further - unknown - whose * way.is_somebodys, 2))
    return best


def likeness_of_names(one: str, other: str) -> float:
    """How alike two columns' names are, by what they speak of (0 to 1)."""
    mine, theirs = reading_of(one), reading_of(other)
    together = len(mine.meanings) + len(theirs.meanings) + mine.unknown + theirs.unknown
    return round(_USUAL * 2 * len(mine.meanings & theirs.meanings) / together, 2) if together else 0.0


class _Way(NamedTuple):
    """One way to name a target: what must be said, what may be, how likely it is, and whether it is somebody's."""

    wanted: frozenset[str]
    allowed: frozenset[str]
    likely: float
    is_somebodys: bool


@cache
def _ways(names: str) -> tuple[_Way, ...]:
    said, _, also = names.partition("+")
    further = set(also.split())
    allowed = frozenset(further | TO if further & {"TO", "ANY"} else further)
    found = []
    for words in map(str.split, said.split("|")):
        likely = float(words.pop()) if words[-1][0] == "." else _USUAL
        wanted = frozenset(words) - {"TO"}
        found.append(_Way(wanted, allowed, likely, "TO" in further and not wanted & TO))
    return tuple(found)
