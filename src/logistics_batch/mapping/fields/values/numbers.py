"""Numbers as people write them, to canonical digits: `₹1,23,456.50` is 123456.50, `(250)` is -250."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.reading import LongWay, ReadContext, where_unusual
from logistics_batch.mapping.spec.model import FieldSpec, LookupRead, UnitRead
from logistics_batch.mapping.spec.names import PERCENT, RUPEES, Measure, measure_of, words_of
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.model.document import Operation

# The first group is not nought: "0,500" has a decimal comma.
_FIRST_GROUP = "(?:0{0,2}[1-9]|0?[1-9][0-9]|[1-9][0-9]{2})"
_GROUPED = rf"^{_FIRST_GROUP}(?:(?:,[0-9]{{2}})*,[0-9]{{3}}|(?:,[0-9]{{3}})+)(?:\.[0-9]*)?$"
_SPACED = rf"^{_FIRST_GROUP}(?:(?: [0-9]{{2}})* [0-9]{{3}}|(?: [0-9]{{3}})+)(?:[.,][0-9]*)?$"
_WIDE_BLANK = r"[\u{a0}\u{2007}\u{2009}\u{202f}]"
_PLAIN = r"^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$"
_GROUPED_COMMA = rf"^{_FIRST_GROUP}(?:\.[0-9]{{3}})+(?:,[0-9]*)?$"
_PLAIN_COMMA = r"^(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)$"
RUPEE: Final = r"(?:₹|rs\.?|inr|र[ुू][.॰]?)"
"""The sign of rupees beside an amount, as a pattern of small letters."""

FOREIGN: Final = r"(?:[$¢-¥\u20a0-\u20b8\u20ba-\u20c0]|\b(?:eur|usd|gbp)\b)"
"""That of another currency; a mapping has to name it as `suffix`, for amounts go out as rupees."""

_CURRENCY = rf"(?i)^{RUPEE} *| *(?:/-|/=|{RUPEE})$"
_BRACKETS = r"^\( *([^()]*?) *\)$"
_NEGATIVE = r"^[^0-9]*[-−] *[0-9.]|[0-9.] *[-−]$"
_SIGN = r"^[-+−] *| *[-−]$"

# Spellings that are canonical already; digits alone mean the same whatever the decimal mark is.
_CANONICAL = {".": r"^[0-9]+(?:\.[0-9]+)?$", ",": r"^[0-9]+$"}
_CANONICAL_WHOLE = r"^(?:0|[1-9][0-9]{0,17})$"
_CANONICAL_MONEY = r"^(?:0|[1-9][0-9]{0,17})\.[0-9]{2}$"
_CANONICAL_DECIMAL = r"^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{0,8}[1-9])?$"

# g, kg and so on to the base unit of their kind, as exact decimals.
_UNITS: Final[dict[str, tuple[str, str]]] = {
    "mg": ("weight", "0.001"),
    "g": ("weight", "1"),
    "kg": ("weight", "1000"),
    "lb": ("weight", "453.59237"),
    "oz": ("weight", "28.349523125"),
    "mm": ("length", "0.1"),
    "cm": ("length", "1"),
    "m": ("length", "100"),
    "in": ("length", "2.54"),
    "ft": ("length", "30.48"),
    "cc": ("volume", "1"),
    "ml": ("volume", "1"),
    "l": ("volume", "1000"),
    "cbm": ("volume", "1000000"),
}
UNIT_NAMES: Final = tuple(_UNITS)


def plain_number(text: pl.Expr, around: ReadContext) -> pl.Expr:
    """Digits with at most one full stop, a minus before them if negative; null where the text is no number.

    Thousands may be grouped as 1,234,567 or as 12,34,567, also with blanks; a decimal comma counts only where it is
    declared. Any other blank between digits parts two numbers, which are none together.
    """
    if around.true_number is not None:
        return _spelt_out(text, around)
    return where_unusual(text, _CANONICAL[around.decimal], lambda cell: _spelt_out(cell, around))


def _spelt_out(text: pl.Expr, around: ReadContext) -> pl.Expr:
    """`plain_number` of any spelling."""
    even = text.str.replace_all(_WIDE_BLANK, " ")
    in_brackets = even.str.contains(_BRACKETS)
    inner = even.str.replace(_BRACKETS, "$1")
    signed = inner.str.contains(_NEGATIVE)
    bare = without_currency(inner).str.replace(_SIGN, "")
    joined = pl.when(bare.str.contains(_SPACED)).then(bare.str.replace_all(" ", "", literal=True)).otherwise(bare)
    digits = _with_point(joined, around)
    whole = digits.str.replace(r"^\.", "0.").str.strip_chars_end(".")
    return pl.when(in_brackets | signed).then("-" + whole).otherwise(whole)


def without_currency(text: pl.Expr) -> pl.Expr:
    """The text without the signs of rupees around a number."""
    return text.str.replace_all(_CURRENCY, "")


def _with_point(bare: pl.Expr, around: ReadContext) -> pl.Expr:
    point = pl.when(bare.str.contains(_PLAIN)).then(bare)
    grouped = pl.when(bare.str.contains(_GROUPED)).then(bare.str.replace_all(",", "", literal=True))
    with_point = pl.coalesce(point, grouped)
    if around.decimal == ".":
        return with_point
    # A number cell of a workbook has no decimal mark of its own: its text always has a full stop.
    matched = bare.str.contains(_PLAIN_COMMA) | bare.str.contains(_GROUPED_COMMA)
    swapped = bare.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    with_comma = pl.when(matched).then(swapped)
    if around.true_number is None:
        return with_comma
    return pl.when(around.true_number).then(with_point).otherwise(with_comma)


def whole(text: pl.Expr, around: ReadContext) -> pl.Expr:
    """The digits of a whole number, without leading zeros; null where the text is none."""

    def digits(number: pl.Expr) -> pl.Expr:
        return number.str.extract(r"^(-?[0-9]{1,18})(?:\.0+)?$").str.replace(r"^(-?)0+([0-9])", "$1$2")

    return _read(text, around, _CANONICAL_WHOLE, digits)


def money(text: pl.Expr, around: ReadContext) -> pl.Expr:
    """Canonical digits with two decimals, halves away from zero; null where the text is none, or rounds to nothing."""
    return _read(text, around, _CANONICAL_MONEY, lambda number: _unless_nothing_is_left(_to_paise(number), number))


def decimal(text: pl.Expr, around: ReadContext) -> pl.Expr:
    """Canonical digits to nine decimals, without trailing zeros; null where the text is no number."""
    return _read(text, around, _CANONICAL_DECIMAL, lambda number: _unless_nothing_is_left(shortest(number), number))


def _read(text: pl.Expr, around: ReadContext, canonical: str, of_number: LongWay) -> pl.Expr:
    """What is made of a plain number; texts that fit a pattern are canonical already."""

    def long_way(cell: pl.Expr) -> pl.Expr:
        return of_number(plain_number(cell, around))

    return where_unusual(text, canonical, long_way) if around.decimal == "." else long_way(text)


def _unless_nothing_is_left(result: pl.Expr, number: pl.Expr) -> pl.Expr:
    """A rounded number; null where it is nought and the number is not."""
    return pl.when(result.str.contains("[1-9]") | ~number.str.contains("[1-9]")).then(result)


def _to_paise(number: pl.Expr) -> pl.Expr:
    exact = number.cast(pl.Decimal(38, 9), strict=False).round(2, mode="half_away_from_zero")
    return exact.cast(pl.Decimal(38, 2)).cast(pl.String)


def shortest(number: pl.Expr, *, factor: str = "1") -> pl.Expr:
    """Canonical digits times a factor, to nine decimals, without trailing zeros."""
    exact = number.cast(pl.Decimal(38, 9), strict=False)
    if factor != "1":
        exact = exact * pl.lit(factor).cast(pl.Decimal(38, 9))
    text = exact.cast(pl.Decimal(38, 9)).cast(pl.String).str.strip_chars_end("0").str.strip_chars_end(".")
    return text.replace("-0", "0")


def unit_pair(text: str) -> tuple[str, str] | None:
    """Source and target unit of `g -> kg`; None where a unit is not known or the two measure different things."""
    source, arrow, target = (part.strip().lower() for part in text.partition("->"))
    if not arrow or source not in _UNITS or target not in _UNITS or _UNITS[source][0] != _UNITS[target][0]:
        return None
    return source, target


def factor(source: str, target: str) -> str:
    """What to multiply by, as an exact decimal of nine places."""
    from_base = pl.Series([_UNITS[source][1], _UNITS[target][1]]).cast(pl.Decimal(38, 18))
    return str(from_base[0] / from_base[1])


def spellings_of(unit: str) -> list[str]:
    """How a unit is written, in small letters; of one that is not known as it stands."""
    measure = measure_of(unit)
    return words_of(measure) if measure and measure.name in _UNITS else [unit]


def without_suffix(text: pl.Expr, suffix: Mapping[str, int], around: ReadContext) -> pl.Expr:
    """The text without a word behind the number, times what the word stands for; other words stay.

    A sign of another currency may stand before the number as well.
    """

    as_text = replace(around, true_number=None)  # a number cell of a workbook has no word in it

    def bare(cell: pl.Expr) -> pl.Expr:
        read = cell
        for word, times in sorted(suffix.items(), key=lambda each: len(each[0].strip())):  # the longest counts
            pattern = rf"(?is)^(.*[^\p{{L}}\s])\s*{pl.escape_regex(word.strip()).replace('/', '/ *')}\.?$"
            rest = cell.str.extract(pattern)
            if re.fullmatch(FOREIGN, word.strip().lower()):
                rest = pl.coalesce(
                    rest, cell.str.extract(rf"(?is)^{pl.escape_regex(word.strip())}\s*([^\p{{L}}\s].*)$")
                )
            number = rest
            if times != 1:
                number = shortest(plain_number(rest, as_text), factor=str(times))
                number = number.str.replace(".", around.decimal, literal=True)
            read = pl.when(rest.is_not_null()).then(pl.coalesce(number, cell)).otherwise(read)
        return read

    return where_unusual(text, "^[0-9]+(?:[.][0-9]+)?$", bare)


_MARKING = r"((?:[\p{L}#][^0-9,&]*)?)([0-9]{1,6})"  # CTN 5, C-5, #5
_CARTONS: Final = rf"(?i)^\s*{_MARKING}\s*(?:(?:[-\u{{2013}}\u{{2014}}~]|to)\s*{_MARKING})?\s*$"
_THOUSANDS: Final = r"^\s*[0-9]{1,3},[0-9]{3}\s*$"  # 1,200: two cartons, or twelve hundred


def cartons(text: pl.Expr) -> pl.Expr:
    """How many cartons a cell names: `1-5` is 5, `7` is 1, `1-3, 7` is 4; null where it cannot be told."""

    def count(cell: pl.Expr) -> pl.Expr:
        named = cell.str.split(",").list.eval(pl.element().str.strip_chars())
        parts = named.list.eval(_of_range(pl.element()))
        whole = parts.list.eval(pl.element().is_not_null().all()).list.first()
        once = (named.list.n_unique() == named.list.len()) & ~cell.str.contains(_THOUSANDS)
        return pl.when(whole & once).then(parts.list.sum()).cast(pl.String)

    return where_unusual(text, "^$", count)


def _of_range(text: pl.Expr) -> pl.Expr:
    """How many cartons lie between two numbers of one marking; null for none, and for two markings."""
    first, last = (text.str.extract(_CARTONS, group).cast(pl.Int64, strict=False) for group in (2, 4))
    marked, again = (text.str.extract(_CARTONS, group).str.strip_chars(" .-#").str.to_lowercase() for group in (1, 3))
    count = pl.coalesce(last - first + 1, pl.when(first.is_not_null()).then(1))
    return pl.when((count > 0) & (first > 0) & (last.is_null() | (again == "") | (again == marked))).then(count)


_WANTED: Final[dict[Operation, dict[str, str]]] = {  # API §2.2, §2.3
    Operation.ORDER_CREATE: {"weight": "kg", "length": "cm", "breadth": "cm", "height": "cm", "volume": "cc"},
    Operation.ORDER_ADD_ITEMS: {"weight": "g"},
    Operation.LABEL_CREATE: {"weight": "g"},
}
_OF_FORMS: Final = {FieldForm.MONEY: RUPEES, FieldForm.PERCENT: PERCENT}


def meant_by(place: str, field: FieldSpec, operation: Operation) -> Measure | None:
    """What the columns of a field are read as; None where nothing says. place as in `MappingSpec.everything`."""
    part, target = place.split(".", 1)
    for step in field.read or ():
        if isinstance(step, UnitRead):
            return measure_of((unit_pair(step.unit) or ("",))[0])
    if part == "keep" or any(isinstance(step, LookupRead) for step in field.read or ()):
        return None
    if wanted := unit_wanted(target, operation):
        return measure_of(wanted)
    return _OF_FORMS.get(form_of(target, operation))


def unit_wanted(target: str, operation: Operation) -> str:
    """The unit that the service takes a weight or a size in; "" where the API names none."""
    return _WANTED.get(operation, {}).get(target, "")


def contradicts(said: Measure, meant: Measure) -> bool:
    """Whether values in one measure cannot be read as another: grams as kilograms, percentages as amounts.

    A price "(kg)" is one for each kilogram, and contradicts nothing.
    """
    share_of_something = PERCENT in (said, meant) and not {said.kind, meant.kind} & {"count", "date"}
    return said != meant and (said.kind == meant.kind or share_of_something)
