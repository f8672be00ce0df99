"""What a column's values look like: numbers of phones, PINs, amounts, dates, words of payment."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from statistics import median
from typing import Final

from logistics_batch.mapping.spec.targets import Form
from logistics_batch.mapping.spec.words import PAYMENT_WORDS
from logistics_batch.mapping.suggest.names import folded, vocabulary

_SHAPES: Final[dict[str, re.Pattern[str]]] = {
    "phone": re.compile(r"(?:\+?91|0)?[\s-]*[6-9]\d{4}[\s-]?\d{5}(?:\.0)?(?:\s*/.*)?"),
    "pin": re.compile(r"(?:PIN[\s-]*)?[1-9]\d{2}[\s,]?\d{3}(?:\.0)?", re.IGNORECASE),
    "amount": re.compile(
        r"(?:₹|rs\.?|inr)?\s*-?(?:[\d,]+(?:\.\d{1,2})?(?:/-)?|\d{1,3}(?:\.\d{3})+,\d{1,2})", re.IGNORECASE
    ),
    "whole number": re.compile(r"\d{1,6}(?:\.0+)?"),
    "number": re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:\s*(?:[a-z]{1,3}|%))?", re.IGNORECASE),
    "e-mail": re.compile(r"[^\s@]+@(?=[^\s@]*[^\s@]\.[^\s@])[^\s@]+"),
    "AWB number": re.compile(r"SH-[0-9A-Z]+"),
    "words": re.compile(r".*[^\W\d_]{3}.*", re.DOTALL),
    "code": re.compile(r"[A-Z_/-]*\d[A-Z0-9_/-]*"),
    "coordinate": re.compile(r"-?\d{1,3}\.\d{3,}"),
}
_OF_FORM: Final[dict[Form, str]] = {
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
_DATE_FORMATS: Final = (
    "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d/%m/%y", "%d-%m-%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y",
    "%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%d/%m/%Y %H:%M", "%d-%m-%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%Y/%m/%d", "%b %d, %Y", "%d %b %y", "%d %B %Y", "%d-%m-%y %H:%M", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
)  # fmt: skip
_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}:\d{2})?")  # what is read without a format
_DAY_FOR_MONTH: Final = str.maketrans("dm", "md")
_HEAVY_KILOGRAMS: Final = 100
_MOST: Final = 0.8
_SOME: Final = 0.5


@dataclass(frozen=True, slots=True)
class Profile:
    """What the filled cells of a column look like. filled: their share of the rows."""

    values: tuple[str, ...]
    filled: float

    def share(self, shape: str) -> float:
        """The share of the filled cells that look like this."""
        return _share(self.values, shape) if self.values else 0.0

    def is_mostly(self, *shapes: str) -> bool:
        """Whether most values look like one of these."""
        return any(self.share(shape) >= _MOST for shape in shapes)

    def fits(self, form: Form) -> bool | None:
        """Whether most values look as the form wants them; None if nothing can be said."""
        shape = shape_of(form)
        if not shape or not self.values:
            return None
        share = self.share(shape)
        return True if share >= _MOST else False if share < _SOME else None

    @property
    def date_format(self) -> str:
        """The format that reads most values, of equals day first; "" for ISO and true dates, and if none are dates."""
        return _date_format(self.values)[0]

    @property
    def other_date_format(self) -> str:
        """The format with day and month changed over, where every date would be one so, too; else ""."""
        first = self.date_format
        changed = first.translate(_DAY_FOR_MONTH)
        dates = [text for text in self.values if _reads(first, text)] if changed != first else []
        return changed if dates and all(_reads(changed, text) for text in dates) else ""

    @property
    def is_heavy(self) -> bool:
        """Whether most values, taken for kilograms, would be more than a parcel weighs."""
        numbers = [float(text) for value in self.values if re.fullmatch(r"\d+(\.\d+)?", text := value.replace(",", ""))]
        return bool(numbers) and median(numbers) > _HEAVY_KILOGRAMS

    @property
    def has_decimal_commas(self) -> bool:
        """Whether amounts are written as 1.299,00 or 85,50, and none as 85.50."""
        commas = any(re.fullmatch(r"-?(?:\d{1,3}(?:\.\d{3})*|\d+),\d{1,2}", value) for value in self.values)
        return commas and not any(re.fullmatch(r"[\d,]*\d\.\d{1,2}", value) for value in self.values)

    @property
    def counts_rows(self) -> bool:
        """Whether the values are 1, 2, 3 …"""
        return len(self.values) > 1 and list(self.values) == [str(number + 1) for number in range(len(self.values))]


def shape_of(form: Form) -> str:
    """The words for what a form's values look like, "" where they may look like anything."""
    return _OF_FORM.get(form, "")


def profile_of(cells: Sequence[str | None]) -> Profile:
    """The profile of a column's cells."""
    values = tuple(text for cell in cells if cell and (text := cell.strip().lstrip("'")))
    return Profile(values, len(values) / len(cells) if cells else 0.0)


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


def number_of(text: str) -> float | None:
    """An amount or count as a number, with either decimal mark; None if the text is none."""
    plain = re.sub(r"(?i)₹|rs\.?|inr|/-|\s", "", text)
    if re.fullmatch(r"-?(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}", plain):
        plain = plain.replace(".", "").replace(",", ".")
    plain = plain.replace(",", "")
    return float(plain) if re.fullmatch(r"-?\d+(?:\.\d+)?", plain) else None


@lru_cache(maxsize=2048)  # each column is looked at for each target of each operation
def _share(values: tuple[str, ...], shape: str) -> float:
    if shape == "date":
        return _date_format(values)[1]
    if shape == "payment word":
        return sum(meaning_of_payment(value) is not None for value in values) / len(values)
    return sum(bool(_SHAPES[shape].fullmatch(value)) for value in values) / len(values)


@lru_cache(maxsize=512)
def _date_format(values: tuple[str, ...]) -> tuple[str, float]:
    """The format that reads most dates, "" where all but a few are ISO, and the share that it reads or ISO does."""
    texts = [value for value in values if not _ISO.fullmatch(value)]
    iso = len(values) - len(texts)
    if not values or iso >= _MOST * len(values) or not any(char.isdigit() for text in texts for char in text):
        return "", iso / max(1, len(values))
    read = {each: sum(_reads(each, text) for text in texts) for each in _DATE_FORMATS}
    best = max(_DATE_FORMATS, key=lambda each: read[each])
    return (best, (iso + read[best]) / len(values)) if read[best] >= _SOME * len(texts) else ("", iso / len(values))


def _reads(date_format: str, text: str) -> bool:
    try:
        datetime.strptime(text, date_format)  # noqa: DTZ007 - only whether it can be read
    except ValueError:
        return False
    return True
