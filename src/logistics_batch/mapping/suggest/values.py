"""What a column's values look like: numbers of phones, PINs, amounts, dates, words of payment."""

import re
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property, lru_cache
from statistics import median
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.dates import moment_of
from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.loaded import RunValues
from logistics_batch.mapping.spec.targets import Form
from logistics_batch.mapping.spec.words import PAYMENT_WORDS
from logistics_batch.mapping.suggest.names import folded, vocabulary

_SHAPES: Final = {
    "phone": r"(?:\+?91|0)?[\s-]*[6-9]\d{4}[\s-]?\d{5}(?:\.0)?(?:\s*/.*)?",
    "pin": r"(?i)(?:PIN[\s-]*)?[1-9]\d{2}[\s,]?\d{3}(?:\.0)?",
    "amount": r"(?i)(?:₹|rs\.?|inr)?\s*-?(?:[\d,]+(?:\.\d{1,2})?(?:/-)?|\d{1,3}(?:\.\d{3})+,\d{1,2})",
    "whole number": r"\d{1,6}(?:\.0+)?",
    "number": r"(?i)-?\d[\d,]*(?:\.\d+)?(?:\s*(?:[a-z]{1,3}|%))?",
    "e-mail": r"[^\s@]+@[^\s@]+\.[^\s@]+",
    "AWB number": r"SH-[0-9A-Z]+",
    "words": r"(?s).*[^\W\d_]{3}.*",
    "code": r"[A-Z_/-]*\d[A-Z0-9_/-]*",
    "coordinate": r"-?\d{1,3}\.\d{3,}",
    "comma": r"-?(?:\d{1,3}(?:\.\d{3})*|\d+),\d{1,2}",
    "point": r"[\d,]*\d\.\d{1,2}",
}
SHAPE_OF: Final[dict[Form, str]] = {
    Form.MOBILE: "phone",
    Form.PINCODE: "pin",
    Form.MONEY: "amount",
    Form.QUANTITY: "whole number",
    Form.COUNT: "whole number",
    Form.DECIMAL: "number",
    Form.PERCENT: "number",
    Form.FLAG: "payment word",
    Form.PAYMENT: "payment word",
    Form.DATE: "date",
    Form.MOMENT: "date",
    Form.DEGREES: "coordinate",
}
"""What the values of a form look like; those of other forms may look like anything."""

_DATE_FORMATS: Final = (
    "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d/%m/%y", "%d-%m-%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y",
    "%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%d/%m/%Y %H:%M", "%d-%m-%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%Y/%m/%d", "%b %d, %Y", "%d %b %y", "%d %B %Y", "%d-%m-%y %H:%M", "%d/%m/%y %H:%M", "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%z",
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
)  # fmt: skip
_DAY_FOR_MONTH: Final = str.maketrans("dm", "md")
_ANY_RUN: Final = ReadContext(RunValues("", date(2026, 1, 1), "Asia/Kolkata"))
_NO_YEAR: Final = 1900  # %Y reads "26" as the year 26
_HEAVY_KILOGRAMS: Final = 100
_MOST: Final = 0.8
_SOME: Final = 0.5


@dataclass(frozen=True)
class Profile:
    """What the filled cells of a column look like. filled: their share of the rows."""

    values: tuple[str, ...]
    filled: float

    def share(self, shape: str) -> float:
        """The share of the filled cells that look like this."""
        if shape == "date":
            return self._dates[1]
        if shape == "payment word":
            return sum(meaning_of_payment(value) is not None for value in self.values) / max(1, len(self.values))
        return sum(map(bool, map(re.compile(_SHAPES[shape]).fullmatch, self.values))) / max(1, len(self.values))

    def is_mostly(self, *shapes: str) -> bool:
        """Whether most values look like one of these."""
        return any(self.share(shape) >= _MOST for shape in shapes)

    def fits(self, form: Form) -> bool | None:
        """Whether most values look as the form wants them; None if nothing can be said."""
        share = self.share(SHAPE_OF[form]) if self.filled and form in SHAPE_OF else _SOME
        return True if share >= _MOST else False if share < _SOME else None

    @property
    def date_format(self) -> str:
        """The format that reads most values, of equals day first; "" for ISO and true dates, and if none are dates."""
        return self._dates[0]

    @property
    def other_date_format(self) -> str:
        """The format with day and month changed over, where every date would be one so, too; else ""."""
        changed = self.date_format.translate(_DAY_FOR_MONTH)
        read = self._read(self.date_format, changed) if changed != self.date_format else None
        return changed if read is not None and (read[changed] | ~read[self.date_format]).all() else ""

    @cached_property
    def _dates(self) -> tuple[str, float]:
        """The format that reads most dates, "" where all but a few are ISO, and the share that it reads or ISO does."""
        formats = _DATE_FORMATS if any(map(re.compile(r"\d").search, self.values)) else ()
        read = {each.name: int(each.sum()) for each in self._read("", *formats)}
        count, iso, best = max(1, len(self.values)), read[""], max(read, key=lambda each: read[each])
        is_written_so = iso < _MOST * count and read[best] - iso >= _SOME * (count - iso)
        return (best, read[best] / count) if is_written_so else ("", iso / count)

    def _read(self, *formats: str) -> pl.DataFrame:
        """Which values a mapping with each format reads as dates; "": with none."""
        frame = pl.DataFrame({"value": self.values}, schema={"value": pl.String})
        return frame.select(map(_date_reader, formats))

    @property
    def is_heavy(self) -> bool:
        """Whether most values, taken for kilograms, would be more than a parcel weighs."""
        numbers = numbers_of(pl.Series(self.values, dtype=pl.String)).drop_nulls().to_list()
        return bool(numbers) and median(numbers) > _HEAVY_KILOGRAMS

    @property
    def has_decimal_commas(self) -> bool:
        """Whether amounts are written as 1.299,00 or 85,50, and none as 85.50."""
        return self.share("comma") > 0 and not self.share("point")

    @property
    def counts_rows(self) -> bool:
        """Whether the values are 1, 2, 3 …"""
        return len(self.values) > 1 and list(self.values) == [str(number + 1) for number in range(len(self.values))]


@cache
def _date_reader(date_format: str) -> pl.Expr:
    """Whether a mapping with a format reads a value as a date."""
    moment, _ = moment_of(pl.col("value"), [date_format] if date_format else [], _ANY_RUN)
    return (moment.dt.year() > _NO_YEAR).fill_null(value=False).alias(date_format)


@lru_cache(maxsize=512)  # each column is looked at for each operation
def profile_of(cells: tuple[str | None, ...]) -> Profile:
    """The profile of a column's cells."""
    values = tuple(text for cell in cells if cell and (text := cell.strip().lstrip("'")))
    return Profile(values, len(values) / len(cells) if len(cells) else 0.0)


def numbers_of(cells: pl.Series) -> pl.Series:
    """Amounts and counts as numbers, with either decimal mark; null where a text is none."""
    plain = cells.str.replace_all(r"(?i)₹|rs\.?|inr|/-|\s", "")
    point = pl.col("plain").str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    commas = pl.col("plain").str.contains(r"^-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}$")
    even = pl.when(commas).then(point).otherwise(pl.col("plain").str.replace_all(",", "", literal=True))
    digits = plain.to_frame("plain").select(even.str.extract(r"^(-?\d+(?:\.\d+)?)$"))
    return digits.to_series().cast(pl.Float64, strict=False)


def meaning_of_payment(word: str) -> bool | None:
    """Whether a word of payment says that cash is collected; None for a word that is not known.

    >>> meaning_of_payment("C.O.D."), meaning_of_payment("PPD"), meaning_of_payment("Wallet")
    (True, False, None)
    """
    plain = _plain(word)
    return True if plain.startswith("cash on delivery ") else _payment().get(plain)


def _plain(word: str) -> str:
    return " ".join(re.sub(r"[^\w\u0900-\u0aff]+", " ", folded(word)).split())


@cache
def _payment() -> dict[str, bool]:
    known = {_plain(word): answer == "true" for word, answer in PAYMENT_WORDS.items()}
    others = vocabulary().payment.items()
    return known | {word: says == "cod" for says, phrases in others for word in phrases.split(", ")}
