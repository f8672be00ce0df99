"""A column's name read as people read it, and how likely it stands for a target: by what it says, and what else."""

import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel

from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.model.document import Operation
from logistics_batch.specification import load_specification

LIKELY: Final = 0.66
"""From this likeness on a name alone is a reason."""

TO: Final = frozenset(["deliver", "ship", "buyer", "party", "store"])
"""Whose a thing is that belongs to the one who gets the goods."""

_LONGEST_PHRASE: Final = 4  # words
_LATIN: Final = re.compile(r"[a-z]+")
_BRACKETS: Final = re.compile(r"[(\[（]([^()\[\]（）]*)[)\]）]")
_TYPO: Final = 0.85
_LETTERS_OF_A_TYPO: Final = 5  # shorter words are easily alike: rate, date
_VIRAMA: Final = 9  # the combining class of the sign that joins letters of Indian scripts: it belongs to its word
_UNITS: Final = frozenset(["kg", "gram", "cm", "mm", "inch"])
_MEASURES: Final = {"l": "length", "b": "breadth", "w": "breadth", "h": "height"}  # of a name of one letter

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
    targets: dict[str, dict[str, str]]
    operations: dict[str, dict[str, list[str]]]
    unused: dict[str, str]
    likelier: dict[str, str]


@cache
def vocabulary() -> Vocabulary:
    """The words of all languages, with what they mean."""
    page = files("logistics_batch.mapping.suggest") / "vocabulary.yaml"
    return load_specification(page.read_text(encoding="utf-8"), path=page.name, model=Vocabulary)


@cache
def names_of_targets(operation: Operation) -> dict[str, str]:
    """For each place (`fields.weight`) what the names of its columns speak of, as in `vocabulary.yaml`."""
    return {
        f"{part}.{target}": names
        for part, groups in vocabulary().operations[operation].items()
        for group in groups
        for target, names in vocabulary().targets[group].items()
    }


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
    outer = _BRACKETS.sub(" ", name)
    behind = _words(" ".join(_BRACKETS.findall(name)))
    words = _words(outer) or behind
    is_one_letter = len(words) == 1 and words[0] in _MEASURES
    meanings, unknown = ({_MEASURES[words[0]]}, 0) if is_one_letter else _meanings(words)
    unit = next((each for each in (*meanings, *_meanings(behind)[0]) if each in _UNITS), "")
    said = meanings - _UNITS - ({"number"} if "pin" in meanings else set())
    return NameReading(frozenset(said), unknown, unit, any(char.isdigit() for char in outer))


def folded(text: str) -> str:
    """A text without capitals, accents and dots below letters, so that spellings of one word are equal.

    >>> folded("Straße"), folded("Numéro")
    ('strasse', 'numero')
    """
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in apart if unicodedata.combining(char) in (0, _VIRAMA))


def _words(text: str) -> list[str]:
    """The words of a name; camelCase and digits part words, and digits are left out."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", text))
    kept = (
        char if unicodedata.category(char)[0] in "LM" else f" {char} " if char in "#%" else " "
        for char in folded(spaced)
    )
    return "".join(kept).split()


def _meanings(words: list[str]) -> tuple[set[str], int]:
    """What words mean, the longest phrases first, and how many mean nothing known."""
    found: set[str] = set()
    unknown = at = 0
    while at < len(words):
        phrases = ((length, " ".join(words[at : at + length])) for length in range(_LONGEST_PHRASE, 1, -1))
        length, meant = next(
            ((length, _known()[phrase]) for length, phrase in phrases if phrase in _known()), (1, _of_one(words[at]))
        )
        found.update((meant or "").split())
        unknown += meant is None
        at += length
    return found, unknown


@cache
def _known() -> dict[str, str]:
    """What words and phrases mean, "" if they say nothing."""
    meanings = vocabulary().meanings.items()
    known = {folded(phrase): meaning for meaning, phrases in meanings for phrase in phrases.split(", ")}
    return known | dict.fromkeys(map(folded, vocabulary().silent.split()), "")


@cache
def _of_one(word: str) -> str | None:
    """What a word means: one that is known, a plural, two run together, or one misspelt; None if nothing known.

    >>> _of_one("custname"), _of_one("lieferort"), _of_one("quantitty"), _of_one("towel")
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
    near = get_close_matches(word, _single_words(), n=1, cutoff=_TYPO)
    return known[near[0]] if near else None


@cache
def _single_words() -> tuple[str, ...]:
    return tuple(word for word in _known() if _LATIN.fullmatch(word) and len(word) >= _LETTERS_OF_A_TYPO - 1)


def likeness(reading: NameReading, names: str) -> float:
    """How likely what a name says stands for a target (0 to 1); names: as in `vocabulary.yaml`.

    >>> likeness(reading_of("Shipping Pin Code"), "pin + TO"), likeness(reading_of("Billing PIN"), "pin + TO")
    (0.97, 0.0)
    """
    unknown = min(_OF_UNKNOWN_WORDS, _OF_AN_UNKNOWN_WORD * reading.unknown)
    best = 0.0
    for way in _ways(names):
        rest = reading.meanings - way.wanted
        if way.wanted <= reading.meanings and rest <= way.allowed:
            further = _OF_A_FURTHER_WORD * len(rest - TO)
            best = max(best, round(way.likely - further - unknown - _whose(reading, way), 2))
    return best


def likeness_of_names(one: str, other: str) -> float:
    """How alike two columns' names are, by what they speak of (0 to 1)."""
    if ColumnName.of(one).short == ColumnName.of(other).short:
        return 1.0
    mine, theirs = reading_of(one), reading_of(other)
    together = len(mine.meanings) + len(theirs.meanings) + mine.unknown + theirs.unknown
    return round(_USUAL * 2 * len(mine.meanings & theirs.meanings) / together, 2) if together else 0.0


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to name a target: what must be said, what may be, how likely it is, and whether it is somebody's."""

    wanted: frozenset[str]
    allowed: frozenset[str]
    likely: float
    is_somebodys: bool


def _whose(reading: NameReading, way: _Way) -> float:
    """What it costs that a name says customer, or nobody, where another may say ship-to."""
    if not way.is_somebodys or reading.meanings & {"deliver", "ship"}:
        return 0.0
    return max(_NOT_SAID[whose] for whose in (reading.meanings & TO) or {""})


@cache
def _ways(names: str) -> tuple[_Way, ...]:
    said, _, also = names.partition("+")
    further = set(also.split())
    allowed = frozenset(further | TO if further & {"TO", "ANY"} else further)
    found = []
    for each in said.split("|"):
        *words, last = each.split()
        likely = float(last) if last[0] == "." else _USUAL
        wanted = frozenset(words if last[0] == "." else [*words, last]) - {"TO"}
        found.append(_Way(wanted, allowed, likely, "TO" in further and not wanted & TO))
    return tuple(found)
