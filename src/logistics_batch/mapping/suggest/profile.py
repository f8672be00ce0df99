"""What the values of a column look like: phones, dates, amounts, words of payment."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property, lru_cache
from statistics import median
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.dates import contradict, is_day_first, moment_of
from logistics_batch.mapping.fields.values.numbers import FOREIGN, RUPEE, plain_number
from logistics_batch.mapping.fields.values.reading import ReadContext, Reading
from logistics_batch.mapping.fields.values.verbs import mobile, pincode
from logistics_batch.mapping.loaded import RunValues
from logistics_batch.mapping.naming import folded, vocabulary
from logistics_batch.mapping.rows.cells import DIGITS_OF_SCRIPTS
from logistics_batch.mapping.spec.names import measure_of
from logistics_batch.mapping.spec.targets import FieldForm
from logistics_batch.mapping.spec.words import MONTHS, PAYMENT_WORDS

_CURRENCY: Final = re.compile(rf"(?i)^(?:{RUPEE}|{FOREIGN})|(?:{RUPEE}|{FOREIGN})$")
_MONEY: Final = re.compile(rf"(?i)^(?:{RUPEE}|{FOREIGN})|(?:{RUPEE}|{FOREIGN}|\bdr\.?|/-|\d[.,]\d\d)$")
_LETTER: Final = "[a-z\u0900-\u0965\u0a80-\u0ae5]"  # of words behind numbers, with Devanagari's and Gujarati's signs
_UNIT: Final = rf"(?:\s*/?\s*{_LETTER}{{1,8}}\.?)"  # behind a number: Nos, /Pcs
_MONTH: Final = rf"(?:{'|'.join(sorted({name[:3].lower() for name in MONTHS}))})[^\W\d_]{{0,7}}\b"
_NAMED_MONTH: Final = re.compile(
    r"(?i)(\d{1,2})(?:st|nd|rd|th)?([-/., ]{1,3}|(?: de )?)([^\W\d_]{3,10})\.?([-/, ]{1,2}|(?: de )?)(\d{4}|\d\d)"
)
_SHAPES: Final = {
    "phone": r"(?:\+?91|0)?[\s-]*[6-9]\d{4}[\s-]?\d{5}(?:\.0)?(?:\s*[/,].*)?",
    "name and phone": r"[^\d\n]{0,80}[^\W\d_]{3}[^\d\n]{0,20}(?:\+?91[\s-]?|0)?[6-9]\d{4}[\s-]?\d{5}\D{0,20}",
    "name and address": r"(?s)[^\d,\n]{0,80}[^\W\d_]{3}[^,\n]{0,80}[,\n].{0,200}\d.*",
    "pin": r"(?i)(?:PIN[\s-]*)?[1-9]\d{2}[\s,]?\d{3}(?:\.0)?",
    "amount": r"(?i)-?(?:[\d,]+(?:\.\d{1,2})?(?:/-)?|\d{1,3}(?:[ \u00a0\u202f]\d{3})*,\d{2}|"
    r"\d{1,3}(?:\.\d{3})+,\d{1,2})"
    rf"(?:\s*/\s*{_LETTER}{{1,8}}\.?|\s*dr\.?)?",
    "whole number": rf"(?i)(?:\d{{1,6}}|\d{{1,3}}(?:[.,]\d{{3}})+)(?:[.,]0+)?(?:\s*{_LETTER}{{2,8}}\.?)?",
    "counted": rf"(?i)[^a-z]*\d\s*(/?{_LETTER}{{2,8}})\.?",
    "number": r"(?i)-?\d[\d,]*(?:\.\d+)?(?:\s*(?:[a-z]{1,3}|%))?",
    "e-mail": r"[^\s@]+@[^\s@]+\.[^\s@]+",
    "AWB number": r"SH-[0-9A-Z]+",
    "one word": r"[^\W\d_]{3,}",
    "words": r"(?s).*[^\W\d_]{3}.*",
    "code": r"[A-Z_/-]*\d[A-Z0-9_/-]*",
    "coordinate": r"-?\d{1,3}\.\d{3,}",
    "comma": rf"(?i)-?(?:\d{{1,3}}(?:[. \u00a0\u202f]\d{{3}})*|\d+),\d{{1,2}}{_UNIT}?",
    "packed": r"(?s)[^×*]{1,200}?\s[x×*]\s?\d{1,4}(?:[\s,;|].*)?|\d{1,4}\s?[x×*]\s.*",
    "word and amount": r"(?i)[a-z][a-z .:/-]{1,30}\d[\d,.]*(?:/-)?",
    "name of a person": r"(?:[^\W\d_][^\W\d_.']{0,20}\.?[\s/&-]{1,3}){1,5}[^\W\d_][^\W\d_.']{0,20}\.?",
    "foreign": rf"(?i){FOREIGN}.*|.*{FOREIGN}\W{{0,3}}",
    "point": rf"(?i)[\d,]*\d\.\d{{1,2}}{_UNIT}?",
    "of a day": r"(?i)(?:.*\D)?\d{1,4}(?:[./]\s?\d{1,2}|-\d{1,2}-\d|[\s/-]{1,3}[^\d\s/-]{3,12}[\s/-]{1,3}\d).*"
    rf"|.*\d\W{{0,3}}(?:{_MONTH}).*|(?:.*\W)?(?:{_MONTH})\W{{0,3}}\d.*",
}
_OF_AMOUNTS: Final = ("amount", "comma", "point", "counted")
SHAPE_OF: Final[dict[FieldForm, str]] = {
    FieldForm.MOBILE: "phone",
    FieldForm.PINCODE: "pin",
    FieldForm.MONEY: "amount",
    FieldForm.QUANTITY: "whole number",
    FieldForm.COUNT: "whole number",
    FieldForm.DECIMAL: "number",
    FieldForm.PERCENT: "number",
    FieldForm.FLAG: "payment word",
    FieldForm.PAYMENT: "payment word",
    FieldForm.DATE: "date",
    FieldForm.MOMENT: "date",
    FieldForm.DEGREES: "coordinate",
}
"""What the values of a form look like; those of other forms may look like anything."""

_DATE_FORMATS: Final = (
    "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d/%m/%y", "%d-%m-%y", "%d.%m.%y", "%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y",
    "%d/%m/%Y %H:%M", "%d-%m-%Y %H:%M", "%d-%m-%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%Y/%m/%d", "%b %d, %Y", "%d-%m-%y %H:%M", "%d/%m/%y %H:%M", "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%z",
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
)  # fmt: skip
_DAY_FOR_MONTH: Final = str.maketrans("dm", "md")
_ANY_RUN: Final = ReadContext(RunValues("", date(2026, 1, 1), "Asia/Kolkata"))
_NO_YEAR: Final = 1900  # %Y reads "26" as the year 26
_HEAVY_KILOGRAMS: Final = 100
_MOST: Final = 0.8
SOME: Final = 0.5
_SAMPLES: Final = 3
_WAYS: Final = 3  # to write dates, at most, that are tried of those in a column
A_FEW: Final = 0.2
_BEHIND: Final = rf"(?i)(?:\s*%|{_UNIT})$"  # a number
_PARTS: Final = re.compile(r"[-–—/()\[\],;:|+]")  # of a phrase: Prepaid (UPI)
_ANOTHER_THING: Final = re.compile(r"[(\[]|\b\d\d[A-Z]{5}\d{4}[A-Z]|\d{1,2}([-./])\d{1,2}\1\d{4}")  # a GSTIN, a day
_JOINED: Final = re.compile(  # K-1/K-2
    r"(?i)\d\S{0,20}(?:[,;](?:\s{1,3}|(?=[a-z]))|\s{0,3}[&+]\s{0,3}|\s{1,3}and\s{1,3})\S{0,20}\d"
    r"|([a-z]{1,6}[-_ ]?)\d{1,12}\s{0,3}/\s{0,3}\1\d"
)
_WORDS_OF_A_STATE: Final = 5
_IN_A_SENTENCE: Final = ("stop", "anywhere")  # what of the vocabulary's `done` may stand in a longer text
_READERS: Final = {FieldForm.MOBILE: mobile, FieldForm.PINCODE: pincode}
_ASKS_PREPAID: Final = frozenset(["prepaid", "is", "order", "flag", "y", "n", "yes", "no", "true", "false"])


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
        if shape == "done":
            return sum(map(says_done, self.values)) / max(1, len(self.values))
        values = self._bare if shape in _OF_AMOUNTS else self.values
        return sum(map(bool, map(re.compile(_SHAPES[shape]).fullmatch, values))) / max(1, len(values))

    def is_mostly(self, *shapes: str) -> bool:
        """Whether most values look like one of these."""
        return any(self.share(shape) >= _MOST for shape in shapes)

    @property
    def tells_payment(self) -> bool:
        """Whether half of the values and more are words of payment that hardly anything else is: yes and 1 may be."""
        return self.share("payment word") >= SOME and not any(map(says_yes_or_no, self.values))

    @property
    def has_payment_with_amount(self) -> bool:
        """Whether a cell holds a word of payment and an amount together; the terms `Net 30` are none."""
        told = (re.sub(r"\d.*", "", value) for value in self.values if re.fullmatch(_SHAPES["word and amount"], value))
        return any(profile_of((word,)).mentions_payment for word in told)

    @property
    def mentions_payment(self) -> bool:
        """Whether a cell speaks of cash on delivery, or half of all name a way of payment, among other words too."""
        said = [f" {_plain(value)} " for value in self.values]
        ways = {word: means for word, means in _payment().items() if not says_yes_or_no(word)}
        cash, any_way = ([f" {word} " for word, means in ways.items() if means or not only] for only in (True, False))
        named = sum(any(word in each for word in any_way) for each in said)
        return named > 0 and (named >= SOME * len(said) or any(word in each for word in cash for each in said))

    def fits(self, form: FieldForm) -> bool | None:
        """Whether most values look as the form wants them; None if nothing can be said."""
        share = self.share(SHAPE_OF[form]) if self.filled and form in SHAPE_OF else SOME
        return True if share >= _MOST else False if share < SOME else None

    def is_unread(self, form: FieldForm) -> bool:
        """Whether most values are days as people write them, in no form that is known here."""
        is_day = form in (FieldForm.DATE, FieldForm.MOMENT) and self.fits(form) is False
        return is_day and self.is_mostly("of a day")

    def is_none_of(self, form: FieldForm) -> bool:
        """Whether not one cell is an Indian mobile number, or a PIN, as runs read them, though there are digits."""
        if form not in _READERS or not any(map(re.compile(r"\d").search, self.values)):
            return False
        cells = pl.DataFrame({"value": self.values}, schema={"value": pl.String})
        read = _READERS[form](Reading(pl.col("value")), "text", _ANY_RUN)
        return cells.select(read.value.is_null().all()).item()  # type: ignore[no-any-return]

    @property
    def date_formats(self) -> tuple[str, ...]:
        """The formats of the dates, the most usual first, of equals day first; none for ISO and true dates."""
        return self._dates[0]

    @property
    def other_date_formats(self) -> tuple[str, ...]:
        """The formats with day and month changed over, where every date would be one so, too; else none."""
        changed = tuple(
            each if is_day_first([each]) is None else each.translate(_DAY_FOR_MONTH) for each in self.date_formats
        )
        read = self._read(*{*self.date_formats, *changed}) if changed != self.date_formats else None
        one, other = (pl.any_horizontal(pl.col(each) for each in formats) for formats in (changed, self.date_formats))
        return changed if read is not None and read.select((one | ~other).all()).item() else ()

    @cached_property
    def _dates(self) -> tuple[tuple[str, ...], float]:
        """The formats that read the dates, none where all but a few are ISO, and the share that they read or ISO does.

        Several, where one leaves cells unread which others read, and together they read most: day and month stand in
        the same order in all of them.
        """
        formats: tuple[str, ...] = _DATE_FORMATS if any(map(re.compile(r"\d").search, self.values)) else ()
        named = Counter(_with_months_name(value) for value in self.values)
        formats = (*(each for each, _ in named.most_common(_WAYS) if each), *formats)
        read, found = self._read("", *formats), list[str]()
        count, iso, is_read = max(1, len(self.values)), int(read[""].sum()), read[""]
        while formats:
            best = max(formats, key=lambda each: int((read[each] & ~is_read).sum()))
            if not (read[best] & ~is_read).any():
                break
            found.append(best)
            is_read |= read[best]
            formats = tuple(
                each
                for each in formats
                if not contradict(each, best) and {is_day_first([each]), is_day_first([best])} != {True, False}
            )
        share, first = int(is_read.sum()) / count, int((read[found[0]] | read[""]).sum()) if found else 0
        if len(found) > 1 and share < _MOST:
            found, share = found[:1], first / count
        is_written_so = iso < _MOST * count and share * count - iso >= SOME * (count - iso)
        return (tuple(found), share) if is_written_so else ((), iso / count)

    def _read(self, *formats: str) -> pl.DataFrame:
        """Which values a mapping with each format reads as dates; "": with none."""
        frame = pl.DataFrame({"value": self.values}, schema={"value": pl.String})
        return frame.select(map(_date_reader, formats))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The words behind numbers, as they are written: Nos, dz, /Pcs; none where hardly any number has one."""
        found = [re.fullmatch(_SHAPES["counted"], value) for value in self._bare]
        if sum(map(bool, found)) < A_FEW * len(found):
            return ()
        return tuple({each[1].casefold(): each[1] for each in found if each}.values())

    @property
    def units(self) -> tuple[str, ...]:
        """The measures behind numbers, as the verb `unit` calls them, the most usual first."""
        words = (re.fullmatch(r"[\d.,\s]{1,20}([a-z]{1,8})\.?", value.casefold()) for value in self.values)
        measures = Counter(measure_of(word[1]) for word in words if word)
        return tuple(measure.name for measure, _ in measures.most_common() if measure)

    @cached_property
    def _bare(self) -> tuple[str, ...]:
        """The values without signs of a currency around them."""
        return tuple(_CURRENCY.sub("", value).strip() for value in self.values)

    @property
    def currencies(self) -> tuple[str, ...]:
        """The signs of other currencies than rupees beside the values, as they are written."""
        found = (sign for value in self.values for sign in re.findall(rf"(?i)^{FOREIGN}|{FOREIGN}$", value))
        return tuple(dict.fromkeys(found))

    @property
    def words(self) -> tuple[str, ...]:
        """The different values, each in the spelling that comes first."""
        return tuple(reversed({value.casefold(): value for value in reversed(self.values)}.values()))

    @property
    def samples(self) -> tuple[str, ...]:
        """A few different values."""
        return tuple(dict.fromkeys(self.values))[:_SAMPLES]

    @property
    def is_heavy(self) -> bool:
        """Whether most values, taken for kilograms, would be more than a parcel weighs."""
        numbers = numbers_of(pl.Series(self.values, dtype=pl.String)).drop_nulls().to_list()
        return bool(numbers) and median(numbers) > _HEAVY_KILOGRAMS

    @property
    def shows_money(self) -> bool:
        """Whether most values are amounts by their two decimals, a currency or a word of books beside them."""
        money = (value for value in self.values if _MONEY.search(value))
        return bool(self.values) and sum(1 for _ in money) >= _MOST * len(self.values)

    @property
    def has_decimal_commas(self) -> bool:
        """Whether amounts are written as 1.299,00 or 85,50, and none as 85.50."""
        return self.share("comma") > 0 and not self.share("point")

    @property
    def counts_rows(self) -> bool:
        """Whether the values are 1, 2, 3 …"""
        return len(self.values) > 1 and list(self.values) == [str(number + 1) for number in range(len(self.values))]


def _with_months_name(value: str) -> str:
    """The format of a date in which the month's name stands behind the day; "" if it is none.

    >>> [_with_months_name(each) for each in ("3. Dez. 26", "25-NOV-2026", "3 de diciembre de 2026", "3 Nos 26 Pcs")]
    ['%d. %b %y', '%d-%b-%Y', '%d de %b de %Y', '']
    """
    found = _NAMED_MONTH.fullmatch(value)
    return f"%d{found[2]}%b{found[4]}%{'Y' if len(found[5]) > len('26') else 'y'}" if found else ""


@lru_cache(maxsize=64)
def _date_reader(date_format: str) -> pl.Expr:
    """Whether a mapping with a format reads a value as a date."""
    moment, _ = moment_of(pl.col("value"), [date_format] if date_format else [], _ANY_RUN)
    return (moment.dt.year() > _NO_YEAR).fill_null(value=False).alias(date_format)


@lru_cache(maxsize=512)  # each column is looked at for each operation
def profile_of(cells: tuple[str | None, ...]) -> Profile:
    """The profile of a column's cells."""
    values = tuple(text for cell in cells if cell and (text := cell.strip().lstrip("'")))
    return Profile(values, len(values) / len(cells) if len(cells) else 0.0)


def numbers_of(cells: pl.Series, *, marks: str = ".,") -> pl.Series:
    """Amounts and counts as numbers, with either decimal mark, the likelier first; null where a text is none."""
    return _numbers_of(tuple(cells), marks)


@lru_cache(maxsize=512)  # of one column many things are asked
def _numbers_of(texts: tuple[str | None, ...], marks: str) -> pl.Series:
    cells = pl.Series("cell", texts, dtype=pl.String)
    if not cells.str.contains(r"\p{Nd}").any():  # most columns of a wide sheet: reading them takes fifty times as long
        return pl.repeat(None, len(cells), dtype=pl.Float64, eager=True)
    read = (plain_number(pl.col("cell"), replace(_ANY_RUN, decimal=mark)) for mark in marks)
    return (
        cells.str.replace_many(DIGITS_OF_SCRIPTS)
        .str.replace_all(_CURRENCY.pattern, "")
        .str.strip_chars()
        .str.replace(_BEHIND, "")
        .to_frame()
        .select(pl.coalesce(read).cast(pl.Float64, strict=False))
        .to_series()
    )


def meaning_of_payment(word: str) -> bool | None:
    """Whether a word of payment says that cash is collected; None for a word that is not known.

    Of several parts all must be known and say the same.

    >>> meaning_of_payment("C.O.D."), meaning_of_payment("PPD"), meaning_of_payment("Wallet")
    (True, False, None)
    >>> [meaning_of_payment(word) for word in ("COD - collect on delivery", "Prepaid (UPI)", "COD/UPI", "COD - Rs. 5")]
    [True, False, None, None]
    """
    plain = _plain(word)
    if plain.startswith("cash on delivery "):
        return True
    if plain in _payment():
        return _payment()[plain]
    said = {_payment().get(_plain(part)) for part in _PARTS.split(word) if _plain(part)}
    return said.pop() if len(said) == 1 else None


def _plain(word: str) -> str:
    return " ".join(re.sub(r"[^\w\u0900-\u0aff]+", " ", folded(word)).split())


@cache
def _payment() -> dict[str, bool]:
    known = {_plain(word): answer == "true" for word, answer in PAYMENT_WORDS.items()}
    others = vocabulary().payment.items()
    return known | {word: says in ("cod", "yes") for says, phrases in others for word in phrases.split(", ")}


def asks_prepaid(name: str) -> bool:
    """Whether a column's name asks whether an order is prepaid, and nothing else: no is cash on delivery then.

    >>> [asks_prepaid(name) for name in ("Prepaid (Y/N)", "Is pre-paid?", "Paid", "Prepaid by card", "COD/Prepaid")]
    [True, True, False, False, False]
    """
    words = {*_plain(name).replace("pre paid", "prepaid").split()}
    return "prepaid" in words and words <= _ASKS_PREPAID


def says_yes_or_no(word: str) -> bool:
    """Whether a word says yes or no, and not to what."""
    return any(_plain(word) in vocabulary().payment[says].split(", ") for says in ("yes", "no"))


def says_done(text: str, *kinds: str) -> bool:
    """Whether a cell says that its row is void or gone already, or what else of the vocabulary's `done` is named.

    >>> [says_done(text) for text in ("CANCELLED", "Order cancelled", "Delivered to Buyer", "Unshipped", "Not shipped")]
    [True, True, True, False, False]
    """
    plain = _plain(re.sub("['’]", "", text)).removeprefix("order ").removeprefix("item ")  # don't ship
    kinds = kinds or ("void", "gone")
    if len(plain.split()) > _WORDS_OF_A_STATE:
        kinds = tuple(kind for kind in kinds if kind in _IN_A_SENTENCE)
    return any(_done(kind).search(plain) if kind == "anywhere" else _done(kind).match(plain) for kind in kinds)


def holds_several(text: str) -> bool:
    """Whether a text holds more than a number or a name: another number, a day, a GSTIN, or something in brackets.

    >>> [holds_several(text) for text in ("KX-77 / 27-11-2026", "Tirupur Knits (TK-01)", "INV 0906", "SGE/26-27/1184")]
    [True, True, False, False]
    """
    numbers = [word for word in re.split(r"[\s,;]+", text) if re.search(r"\d", word)]
    return len(numbers) > 1 or bool(_ANOTHER_THING.search(text)) or joins_numbers(text)


def joins_numbers(text: str) -> bool:
    """Whether a text holds two numbers of the same kind.

    >>> [joins_numbers(text) for text in ("A-1, A-2", "K-1/K-2", "7 & 8", "VG/26-27/0417", "1,204", "A1/2026/7")]
    [True, True, True, False, False, False]
    """
    return bool(_JOINED.search(text))


def says_yes(text: str) -> bool:
    """Whether a cell says yes: to the question that its column asks.

    >>> [says_yes(text) for text in ("Ja", "TRUE", "x", "no", "Asha")]
    [True, True, True, False, False]
    """
    return _plain(text) in {*vocabulary().payment["yes"].split(", "), "x"}


def says_charge(text: str) -> bool:
    """Whether a cell in a column of goods names a charge, a tax or a sum carried over, in each of its words.

    >>> [says_charge(text) for text in ("Freight", "Output IGST @ 18%", "Round Off (-)", "Shipping tape", "500", "Off")]
    [True, True, True, False, False, False]
    """
    words = [word for word in _plain(text).split() if not word.isdigit()]
    return {*words} <= _charges("words") | _charges("beside") and bool({*words} & _charges("words"))


@cache
def _charges(part: str) -> frozenset[str]:
    return frozenset(vocabulary().charges[part].split(", "))


@cache
def _done(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, map(_plain, vocabulary().done[kind].split(', '))))})(?!\S)")
