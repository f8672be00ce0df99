"""How the names of columns are compared: as people read them, not as they were typed."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_BRACKETED = re.compile(r"^(.*\S)\s*[(\[（]([^()\[\]（）]*)[)\]）]\s*$", re.DOTALL)
_UNITS = frozenset(
    [
        "mg",
        "g",
        "gm",
        "gms",
        "gram",
        "grams",
        "kg",
        "kgs",
        "lb",
        "lbs",
        "oz",
        "mm",
        "cm",
        "m",
        "in",
        "inch",
        "inches",
        "ft",
        "cc",
        "ml",
        "l",
        "ltr",
        "cbm",
    ]
)


def _squeeze(text: str) -> str:
    """Unicode form, case, spaces and punctuation taken away; letters, digits and marks of every script stay."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LMN")


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A name in the forms in which it is compared.

    full: everything squeezed. short: the same without a trailing bracket. unit: the bracket's word if it is a unit of
    measure. literal: the trimmed text, for names such as `#` that squeeze to nothing.
    """

    full: str
    short: str
    unit: str
    literal: str

    @classmethod
    @lru_cache(maxsize=4096)  # the same few names come again with each file of a folder
    def of(cls, text: str) -> "ColumnName":
        """The forms of a header text or of a name in a mapping file."""
        literal = text.replace("\ufeff", "").strip()
        full = _squeeze(literal)
        bracketed = _BRACKETED.match(literal)
        short = _squeeze(bracketed[1]) if bracketed else full
        unit = _squeeze(bracketed[2]) if bracketed else ""
        return cls(full, short or full, unit if unit in _UNITS else "", literal)

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


def alike(one: ColumnName, other: ColumnName) -> bool:
    """Whether two names are equal without their trailing brackets; brackets with different units stay different.

    >>> alike(ColumnName.of("Qty (Pcs)"), ColumnName.of("Qty")), alike(ColumnName.of("W (g)"), ColumnName.of("W (kg)"))
    (True, False)
    """
    if not one.short or one.short != other.short:
        return False
    return not (one.unit and other.unit and one.unit != other.unit)
