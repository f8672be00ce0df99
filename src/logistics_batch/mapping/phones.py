"""Indian mobile numbers, however they are written, to ten digits."""

import re
from typing import Final

import phonenumbers
import polars as pl

from logistics_batch.mapping.unusual import where_unusual

_PUNCTUATION: Final = r"[\s\u{a0}\-–().]+"
_MOBILE: Final = r"^(?:\+?91|0091|091|0)?([6-9][0-9]{9})$"
_TEN_DIGITS: Final = re.compile(r"[6-9][0-9]{9}")
_LABEL: Final = re.compile(
    r"(?i)[\s\u260e\u2706]*(?:mobile|mob|telephone|tel|phone|ph|cell|contact|whatsapp|m)(?![^\W\d_])"
    r"[\s.]*(?:(?:number|num|no)(?![^\W\d_]))?[\s.:\-\u2013]*"
)
_UNSEEN: Final = "\u00ad\u200b-\u200e\u202a\u202c\u202d\u2060\u2066\u2068\u2069\ufeff"  # telephones paste them along
# Letters are keys to the phone library (X is 9), and signs it passes over stand for masked digits.
_FOREIGN: Final = re.compile(rf"[^\d\s+\-\u2010-\u2015\u2212()\[\].:'\"{_UNSEEN}]|[-\u2010-\u2015.]{{2,}}\s*$")


def ten_digits(text: pl.Expr) -> pl.Expr:
    """Ten digits that begin with 6 to 9, or null; of two numbers in one cell the first.

    The ordinary spellings are read by patterns; only the distinct odd ones go through the phone library.
    """
    return where_unusual(text, r"^[6-9][0-9]{9}$", _packed)


def _packed(text: pl.Expr) -> pl.Expr:
    packed = pl.coalesce(text.str.extract(r"^([0-9]+)\.0$"), text).str.replace_all(_PUNCTUATION, "")
    usual = pl.when(~text.str.contains(r"[-\u{2013}.]{2}")).then(packed.str.extract(_MOBILE))
    odd = pl.when(usual.is_null()).then(text).map_batches(_read_odd, return_dtype=pl.String, is_elementwise=True)
    return pl.coalesce(usual, odd)


def holds_two(text: pl.Expr) -> pl.Expr:
    """Whether a cell holds two numbers, as `98765 43210 / 91234 56789`."""
    return text.str.contains(r"[0-9][^0-9]*[/,;|][^0-9]*[6-9][0-9]{4}").fill_null(value=False)


def _read_odd(odd: pl.Series) -> pl.Series:
    distinct = odd.drop_nulls().unique()
    read = {text: mobile for text in distinct if (mobile := _mobile(text))}
    return odd.replace_strict(list(read), list(read.values()), default=None, return_dtype=pl.String)


def _mobile(text: str) -> str | None:
    """The first number of a cell, if every number in it is a mobile."""
    found = [_one(part) for part in re.split(r"[/,;|]", text) if part.strip()]
    return found[0] if found and all(found) else None


def _one(text: str) -> str | None:
    """The one number of a text without any word or sign but a label before it, as `Mob. no:`."""
    label = _LABEL.match(text)
    bare = text[label.end() :] if label else text
    if _FOREIGN.search(bare):
        return None
    try:
        number = phonenumbers.parse(bare, "IN")
    except phonenumbers.NumberParseException:
        return None
    digits = str(number.national_number)
    known = number.country_code == 91 and number.extension is None
    return digits if known and _TEN_DIGITS.fullmatch(digits) else None
