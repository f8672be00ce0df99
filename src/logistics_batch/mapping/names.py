"""How the names of columns are compared: as people read them, not as they were typed."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from logistics_batch.mapping.measures import PERCENT, Measure, measure_of, says_nothing

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
        """What two names share when they are the same name."""
        return self.full or self.literal


def same(one: ColumnName, other: ColumnName) -> bool:
    """Whether two names are equal in full.

    >>> same(ColumnName.of("*Order Id"), ColumnName.of("ORDER-ID"))
    True
    """
    return one.identity == other.identity


def alike(header: ColumnName, wanted: ColumnName) -> bool:
    """Whether a header may be the wanted name: equal without trailing brackets, and these do not say different things.

    >>> alike(ColumnName.of("Qty (Pcs)"), ColumnName.of("Qty")), alike(ColumnName.of("W (g)"), ColumnName.of("W (kg)"))
    (True, False)
    """
    return bool(header.short) and header.short == wanted.short and not differently_bracketed(header, wanted)


def differently_bracketed(header: ColumnName, wanted: ColumnName) -> bool:
    """Whether brackets say different things; a percentage that is wanted must be called one."""
    if not header.bracket or not wanted.bracket:
        return wanted.measure == PERCENT and not header.bracket
    if header.bracket == wanted.bracket or says_nothing(header.bracket) or says_nothing(wanted.bracket):
        return False
    return header.measure is None or header.measure != wanted.measure
