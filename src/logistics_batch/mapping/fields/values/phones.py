"""Indian mobile numbers, however they are written, to ten digits."""

import re
from functools import partial
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.values.reading import where_unusual

_PUNCTUATION: Final = r"[\s\u{a0}\-–().]+"
_MOBILE: Final = r"^(?:\+?0?91|0091|0)?([6-9][0-9]{9})$"
_COUNTRY_CODE: Final = r"(?:(?:\+|00)91[-\s.)]*|\+?091[-\s.)]+)"
_AREA_CODE: Final = (  # 0712-2245566 of Nagpur; 091- is no area's code
    rf"^[^0-9+]*(?:0(?:[1-8][0-9]|9[02-9]|[1-9][0-9]{{2,3}})|{_COUNTRY_CODE}[1-9][0-9]{{1,3}})[)\s\-./]"
)
_LONGEST: Final = 250  # characters of a cell that can be a number, as the phone library has it
_LOCAL: Final = re.compile(r"(?:[)./][\s\-]*|(?<![\s\-])[\s\-]+)[0-9]{6,8}\W*$")
_TEN_DIGITS: Final = re.compile(r"[6-9][0-9]{9}")
_PARTING: Final = re.compile(r"[/,;|]")
_TRUNK_AND_COUNTRY: Final = re.compile(r"^[\s(+]*091[\s.\-)]+")  # 091- for +91
_NUMBER_TAIL: Final = re.compile(r"(?<=[0-9]{10})\.0\s*$")  # of a number cell that became text
_LABEL: Final = re.compile(
    r"(?i)[\s\u260e\u2706]*(?:mobile|mob|telephone|tel|phone|ph|cell|contact|whatsapp|m)(?![^\W\d_])"
    r"[\s.]*(?:(?:number|num|no)(?![^\W\d_]))?[\s.:\-\u2013]*"
)
_UNSEEN: Final = "\u00ad\u200b-\u200e\u202a\u202c\u202d\u2060\u2066\u2068\u2069\ufeff"  # telephones paste them along
# Letters are keys to the phone library (X is 9), and signs it passes over stand for masked digits.
_FOREIGN: Final = re.compile(
    rf"[^\d\s+\-\u2010-\u2015\u2212()\[\].:'\"{_UNSEEN}]|(?<![-\u2010-\u2015.])[-\u2010-\u2015.]{{2,}}\s*$"
)


def ten_digits(text: pl.Expr) -> pl.Expr:
    """Ten digits that begin with 6 to 9, or null; of two numbers in one cell the first.

    The ordinary spellings are read by patterns; only the distinct odd ones go through the phone library.
    """
    return where_unusual(text, r"^[6-9][0-9]{9}$", _packed)


def _packed(text: pl.Expr) -> pl.Expr:
    packed = pl.coalesce(text.str.extract(r"^([0-9]+)\.0$"), text).str.replace_all(_PUNCTUATION, "")
    is_odd = text.str.contains(r"[-\u{2013}.]{2}") | text.str.contains(_AREA_CODE)
    usual = pl.when(~is_odd).then(packed.str.extract(_MOBILE))
    odd = (
        pl.when(usual.is_null())
        .then(text)
        .map_batches(partial(_read_odd, place=0), return_dtype=pl.String, is_elementwise=True)
    )
    return pl.coalesce(usual, odd)


def holds_two(text: pl.Expr) -> pl.Expr:
    """Whether a cell holds two numbers, as `98765 43210 / 91234 56789`."""
    return text.str.contains(r"[0-9][^0-9]*[/,;|](?:[^0-9/,;|]*[0-9]){6}").fill_null(value=False)


def second_of_two(text: pl.Expr) -> pl.Expr:
    """The ten digits of the second number of a cell; null where there is none, or it is no mobile."""
    return text.map_batches(partial(_read_odd, place=1), return_dtype=pl.String, is_elementwise=True)


def _read_odd(odd: pl.Series, *, place: int) -> pl.Series:
    """The mobile at a place of each text, each different text looked at once."""
    texts = odd.filter(odd.str.len_chars() <= _LONGEST).drop_nulls().unique()
    found = {text: mobiles[place] for text in texts if len(mobiles := _mobiles(text)) > place}
    return odd.replace_strict(list(found), list(found.values()), default=None, return_dtype=pl.String)


def _mobiles(text: str) -> list[str]:
    """The mobiles of a cell; none where one of its numbers is neither a mobile nor a landline."""
    parts = [part for part in _PARTING.split(text) if part.strip()]
    found = [_one(part) for part in parts]
    sound = all(mobile or _is_landline(part) for mobile, part in zip(found, parts, strict=True))
    return [mobile for mobile in found if mobile] if sound else []


def _one(text: str) -> str | None:
    """The ten digits of a text that is one mobile number."""
    number = _number(text)
    digits = str(number.national_number) if number else ""
    if not _TEN_DIGITS.fullmatch(digits) or (re.match(_AREA_CODE, text) and _is_landline(text)):
        return None
    return digits


def _is_landline(text: str) -> bool:
    """Whether a text is an Indian number of a fixed line, with its area code.

    Some towns share digits with mobiles: there the number is a town's where its code stands apart, as in 0771-2245566.
    """
    import phonenumbers  # takes a while, and most files have no spelling that is odd

    number = _number(text)
    kind = phonenumbers.number_type(number) if number else None
    if kind == phonenumbers.PhoneNumberType.FIXED_LINE_OR_MOBILE:
        return bool(re.match(_AREA_CODE, text) and _LOCAL.search(text))
    return kind == phonenumbers.PhoneNumberType.FIXED_LINE


def _number(text: str) -> Any:
    """The one Indian number of a text without any word or sign but a label before it, as `Mob. no:`."""
    import phonenumbers

    label = _LABEL.match(text)
    bare = _TRUNK_AND_COUNTRY.sub("+91 ", _NUMBER_TAIL.sub("", text[label.end() :] if label else text))
    if _FOREIGN.search(bare):
        return None
    try:
        number = phonenumbers.parse(bare, "IN")
    except phonenumbers.NumberParseException:
        return None
    return number if number.country_code == 91 and number.extension is None else None
