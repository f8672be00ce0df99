"""A column's name read as people read it: what it speaks of, in which unit, and which words say nothing known."""

import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Final

from logistics_batch.mapping.suggest_lexicon import PHRASES, SILENT

_LONGEST_PHRASE: Final = 4  # words
_LATIN: Final = re.compile(r"[a-z]+")
_BRACKETS: Final = re.compile(r"[(\[（]([^()\[\]（）]*)[)\]）]")
_TYPO: Final = 0.85
_LETTERS_OF_A_TYPO: Final = 5  # shorter words are easily alike: rate, date
_UNITS: Final = frozenset(["kg", "gram", "cm", "mm", "inch"])
_MEASURES: Final = {"l": "length", "b": "breadth", "w": "breadth", "h": "height"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a name says. meanings: as in `suggest_lexicon`. unknown: how many of its words mean nothing known. unit:
    kg, gram, cm, mm or inch, "" if it names none. digits: whether a number stands in it, as in `SKU 2`."""

    meanings: frozenset[str]
    unknown: int
    unit: str
    digits: bool


@cache
def reading_of(name: str) -> Reading:
    """Read a column's name.

    >>> sorted(reading_of("Cust. Mob. No.").meanings), sorted(reading_of("ShippingZip").meanings)
    (['buyer', 'number', 'phone'], ['pin', 'ship'])
    >>> sorted(reading_of("Liefer-PLZ").meanings), sorted(reading_of("पिन कोड").meanings)
    (['deliver', 'pin'], ['pin'])
    >>> reading_of("Wt (gms)").unit
    'gram'
    """
    name = name.strip()
    inner = " ".join(_BRACKETS.findall(name))
    outer = _BRACKETS.sub(" ", name)
    words, behind = _words(outer), _words(inner)
    if not words:
        words = behind
    meanings, unknown = _meanings(words)
    if len(words) == 1 and words[0] in _MEASURES:
        meanings, unknown = {_MEASURES[words[0]]}, 0
    in_brackets, _ = _meanings(behind)
    units = [each for each in (*meanings, *in_brackets) if each in _UNITS]
    found = frozenset(meanings - _UNITS)
    if "pin" in found:
        found -= {"number"}
    digits = bool(re.search(r"\d", outer))
    return Reading(found, unknown, units[0] if units else "", digits)


def folded(text: str) -> str:
    """A text without capitals, accents and dots below letters, so that spellings of one word are equal.

    >>> folded("Straße"), folded("Numéro")
    ('strasse', 'numero')
    """
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in apart if unicodedata.combining(char) == 0 or unicodedata.category(char) == "Mc"
                   or (unicodedata.combining(char) == 9))  # fmt: skip  # 9: virama, which belongs to its word


def _words(text: str) -> list[str]:
    """The words of a name; camelCase and digits part words, and digits are left out."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", text))
    kept = (
        char if unicodedata.category(char)[0] in "LM" or char in "#%" else "\N{NO-BREAK SPACE}"
        for char in folded(spaced).replace("#", " # ").replace("%", " % ")
    )
    return "".join(" " if char == "\N{NO-BREAK SPACE}" else char for char in kept).split()


def _meanings(words: list[str]) -> tuple[set[str], int]:
    found: set[str] = set()
    unknown = at = 0
    while at < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - at), 0, -1):
            meant = _known().get(" ".join(words[at : at + length]))
            if meant is not None:
                found.update(meant.split())
                at += length
                break
        else:
            meant = _of_one(words[at])
            found.update((meant or "").split())
            unknown += meant is None
            at += 1
    return found, unknown


@cache
def _known() -> dict[str, str]:
    return {folded(phrase): meaning for phrase, meaning in PHRASES.items()} | dict.fromkeys(map(folded, SILENT), "")


@cache
def _of_one(word: str) -> str | None:
    """What an unknown word means: a plural, several words run together, or one misspelt."""
    known = _known()
    if word.endswith("s") and word[:-1] in known:
        return known[word[:-1]]
    if not _LATIN.fullmatch(word):
        return None
    if len(word) == 1:  # a variable, a number in Roman digits, a size
        return None
    if (parts := _parted(word)) is not None:
        return " ".join(known[part] for part in parts)
    if len(word) >= _LETTERS_OF_A_TYPO:
        near = get_close_matches(word, _single_words(), n=1, cutoff=_TYPO)
        return known[near[0]] if near else None
    return None


@cache
def _single_words() -> tuple[str, ...]:
    return tuple(word for word in _known() if _LATIN.fullmatch(word) and len(word) >= _LETTERS_OF_A_TYPO - 1)


def _parted(word: str) -> tuple[str, ...] | None:
    """A word as two known ones of at least three letters, of which the last may be as short as `no`.

    >>> _parted("custname"), _parted("lieferort"), _parted("orderno"), _parted("towel")
    (('cust', 'name'), ('liefer', 'ort'), ('order', 'no'), None)
    """
    known = _known()
    ways = [(word[:at], word[at:]) for at in range(len(word) - 2, 2, -1)]
    return next(
        (way for way in ways if all(part in known and known[part] for part in way)),
        None,
    )
