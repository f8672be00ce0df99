"""What a column's values look like: numbers of phones, PINs, amounts, dates, words of payment."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Final

from logistics_batch.mapping.targets import Form

_SHAPES: Final[dict[str, re.Pattern[str]]] = {
    "phone": re.compile(r"(?:\+?91|0)?[\s-]*[6-9]\d{4}[\s-]?\d{5}(?:\.0)?(?:\s*/.*)?"),
    "pin": re.compile(r"(?:PIN[\s-]*)?[1-9]\d{2}[\s,]?\d{3}(?:\.0)?", re.IGNORECASE),
    "amount": re.compile(r"(?:₹|rs\.?|inr)?\s*-?[\d,]+(?:\.\d{1,2})?(?:/-)?", re.IGNORECASE),
    "whole number": re.compile(r"\d{1,6}(?:\.0+)?"),
    "number": re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:\s*[a-z]{1,3})?", re.IGNORECASE),
    "e-mail": re.compile(r"\S+@\S+\.\S+"),
    "AWB number": re.compile(r"SH-[0-9A-Z]+"),
    "payment word": re.compile(
        r"c\.?o\.?d\.?|cash(?: on delivery)?|prepaid|ppd|paid|online|card|upi|razorpay|payu|pay ?tm"
        r"|y|n|yes|no|true|false|1|0",
        re.IGNORECASE,
    ),
    "code": re.compile(r"[A-Z]*[-_/]?[A-Z0-9_/-]*\d[A-Z0-9_/-]*"),
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
    Form.DATE: "date",
    Form.MOMENT: "date",
    Form.DEGREES: "coordinate",
}
_DATE_FORMATS: Final = (
    "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d/%m/%y", "%d-%m-%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y",
    "%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%d/%m/%Y %H:%M", "%d-%m-%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%Y/%m/%d",
)  # fmt: skip
_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
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
        if not self.values:
            return 0.0
        if shape == "date":
            return self._dates
        return sum(bool(_SHAPES[shape].fullmatch(value)) for value in self.values) / len(self.values)

    def fits(self, form: Form) -> bool | None:
        """Whether most values look as the form wants them; None if nothing can be said."""
        shape = _OF_FORM.get(form)
        if shape is None or not self.values:
            return None
        share = self.share(shape)
        return True if share >= _MOST else False if share < _SOME else None

    @property
    def date_formats(self) -> tuple[str, ...] | None:
        """The formats that read most values, of equals day first; () for ISO and true dates; None if none are dates."""
        texts = [value for value in self.values if not _ISO.fullmatch(value)]
        if not self.values:
            return None
        if len(texts) <= (1 - _MOST) * len(self.values):
            return ()
        read = {each: sum(_reads(each, text) for text in texts) for each in _DATE_FORMATS}
        fitting = [each for each in _DATE_FORMATS if read[each] >= _SOME * len(texts)]
        return tuple(sorted(fitting, key=lambda each: -read[each])) or None

    @property
    def is_day_first_a_guess(self) -> bool:
        """Whether every date would be one with day and month changed over, too."""
        (first, *_) = self.date_formats or ("",)
        changed = first.translate(str.maketrans("dm", "md"))
        dates = [text for text in self.values if first and _reads(first, text)]
        return changed != first and bool(dates) and all(_reads(changed, text) for text in dates)

    @property
    def is_heavy(self) -> bool:
        """Whether most values, taken for kilograms, would be more than a parcel weighs."""
        numbers = [
            float(text) for value in self.values if re.fullmatch(r"\d+(?:\.\d+)?", text := value.replace(",", ""))
        ]
        return bool(numbers) and median(numbers) > _HEAVY_KILOGRAMS

    @property
    def _dates(self) -> float:
        """The share of dates, all in one format or ISO."""
        texts = [value for value in self.values if not _ISO.fullmatch(value)]
        read = max((sum(_reads(each, text) for text in texts) for each in self.date_formats or ()), default=0)
        return (len(self.values) - len(texts) + read) / len(self.values)


def shape_of(form: Form) -> str:
    """The words for what a form's values look like, "" where they may look like anything."""
    return _OF_FORM.get(form, "")


def profile_of(cells: Sequence[str | None]) -> Profile:
    """The profile of a column's cells."""
    values = tuple(text for cell in cells if cell and (text := cell.strip().lstrip("'")))
    return Profile(values, len(values) / len(cells) if cells else 0.0)


def _reads(date_format: str, text: str) -> bool:
    try:
        datetime.strptime(text, date_format)  # noqa: DTZ007 - only whether it can be read
    except ValueError:
        return False
    return True
