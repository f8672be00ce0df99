"""The vocabulary: the closed set of ways to read a cell, one function a verb.

A verb takes what the cell is read as so far and gives an expression over whole columns; it never sees a single row. The
first line of its docstring, with the example beside it in `VERBS`, is its entry in the reference.
"""

import datetime
import re
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values import dates, numbers, phones
from logistics_batch.mapping.fields.values.reading import ReadContext, Reading, about, where_unusual
from logistics_batch.mapping.loaded import RunValues
from logistics_batch.mapping.spec.model import BeforeRead, DateRead, LookupRead, Step, SuffixRead, UnitRead
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, FieldForm
from logistics_batch.mapping.spec.words import PAYMENT_WORDS
from logistics_batch.model.issue import Issue

_LIKE_DIGITS: Final = {"O": 0, "o": 0, "l": 1, "I": 1, "S": 5, "B": 8}
_WITH_LETTERS: Final = rf"[{''.join(_LIKE_DIGITS)}]?[0-9][0-9.,{''.join(_LIKE_DIGITS)}]*"


def text(reading: Reading, _step: Step, _around: ReadContext) -> Reading:
    """The trimmed text as it stands; this is the default."""
    return reading


def upper(reading: Reading, _step: Step, _around: ReadContext) -> Reading:
    """In capital letters."""
    return Reading(reading.value.str.to_uppercase(), reading.form, reading.rules)


def lower(reading: Reading, _step: Step, _around: ReadContext) -> Reading:
    """In small letters."""
    return Reading(reading.value.str.to_lowercase(), reading.form, reading.rules)


def integer(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """A whole number; `12.0` and `1,200` are read, `1.5` and `12 pcs` are not."""
    digits = numbers.whole(reading.value, around)
    said = partial(_with_word, "integer", "0+", reading.words, around.decimal)
    return reading.then(digits, said, form=FieldForm.COUNT)


def _with_word(rule: str, decimals: str, known: frozenset[str], mark: str, cell: str) -> Issue:
    """What is said of a cell that is no number, with the word behind it if that is why, or with a letter that looks
    like a digit. decimals: a pattern of them. known: words that are read there. mark: that of decimals.
    """
    if (letter := re.search(f"[{''.join(_LIKE_DIGITS)}]", cell)) and re.fullmatch(_WITH_LETTERS, cell):
        return Issue.of(f"{rule}.letter", letter=letter[0], digit=_LIKE_DIGITS[letter[0]])
    groups = "," if mark == "." else "."
    word = re.fullmatch(
        rf"[^\w(]*[0-9][0-9{groups}]*(?:[{mark}]{decimals})?\s*((?:(?:/|per )\s*)?[^\W\d_][\w.]{{0,15}})", cell
    )
    if word is None or word[1].rstrip(".").lower() in known:
        return no_number(rule, mark)
    return Issue.of(f"{rule}.word" if rule == "integer" or mark == "." else f"{rule}.comma_word", word=word[1])


def no_number(rule: str, mark: str) -> Issue:
    """What is said of a cell that is no number, of which the example has the decimal mark of the sheet."""
    return Issue(rule if rule == "integer" or mark == "." else f"{rule}.comma")


def decimal(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """A number, without trailing zeros; thousands may be grouped as 1,234,567 or 12,34,567."""
    value = numbers.decimal(reading.value, around)
    return reading.then(value, no_number("decimal", around.decimal), form=FieldForm.DECIMAL)


def percent(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """A percentage: `5`, `5 %` and a number cell that shows 5% (and holds 0.05) are 5."""
    number = numbers.decimal(reading.value.str.replace(r"\s*%$", ""), around)
    if around.hundredths is not None:
        number = pl.when(around.hundredths).then(numbers.shortest(number, factor="100")).otherwise(number)
    return reading.then(number, no_number("percent", around.decimal), form=FieldForm.PERCENT)


def money(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """An amount; ₹, Rs., रु., INR, /- and lakh grouping are read, (250) is negative; rounded to paise with a note."""
    value = numbers.money(reading.value, around)
    said = partial(_with_word, "money", "[0-9]*", reading.words, around.decimal)
    return reading.then(value, said, form=FieldForm.MONEY)


def mobile(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """An Indian mobile number as ten digits, without +91, 0, blanks, label (`Mob:`); of two the first, masked none."""
    if around.second:
        return Reading(phones.second_of_two(reading.value), FieldForm.MOBILE, reading.rules)
    ten = phones.ten_digits(reading.value)
    return reading.then(ten, lambda cell: Issue.of("mobile", digits=_digits(cell)), form=FieldForm.MOBILE)


def _digits(cell: str) -> int:
    return sum(char.isdigit() for char in cell)


def pincode(reading: Reading, _step: Step, _around: ReadContext) -> Reading:
    """An Indian PIN of six digits; `560 001`, `560001.0` and `PIN-560001` are understood, five digits never."""
    digits = where_unusual(reading.value, r"^[1-9][0-9]{5}$", _six_digits)
    return reading.then(digits, _no_pin, form=FieldForm.PINCODE)


def _six_digits(text: pl.Expr) -> pl.Expr:
    bare = text.str.replace(r"(?i)^pin\s*(?:code)?\s*[-:.]?\s*", "").str.replace(r"\.0$", "")
    grouped = bare.str.contains(r"^[0-9]{3},[0-9]{3}$|^[0-9],[0-9]{2},[0-9]{3}$")
    even = pl.when(grouped).then(bare.str.replace_all(",", "", literal=True)).otherwise(bare)
    halves = even.str.extract_groups(r"^([1-9][0-9]{2})[ \u{a0}]?([0-9]{3})$")
    return halves.struct.field("1") + halves.struct.field("2")


def _no_pin(cell: str) -> Issue:
    count = _digits(cell)
    if count == 6:
        return Issue("pincode.six_digits")
    return Issue.of("pincode.digits", digits=count) if count else Issue("pincode")


def date(reading: Reading, step: Step, around: ReadContext) -> Reading:
    """A date in one of the formats, or ISO, or a true date cell; `at` is the time of day where one is wanted."""
    declared = step if isinstance(step, DateRead) else DateRead(date=[])
    moment, has_time = dates.moment_of(reading.value, declared.date, around)
    if around.wanted is FieldForm.MOMENT:
        value = dates.with_offset(moment, has_time, at=declared.at, around=around)
    else:
        value = moment.dt.date().cast(pl.String)
    allowed = " or ".join(dates.written(each, "2026-11-03T18:30:00+0530") for each in declared.date) or "2026-11-03"

    def no_date(cell: str) -> Issue:
        found = dates.no_such_day(cell, declared.date) or Issue("date.true_dates" if around.has_dates else "date")
        return Issue.of(found.code, **found.given, written=allowed)

    read = reading.then(value, no_date, form=around.wanted)
    day = {"before": dates.EARLIEST_DAYS, "after": around.latest_days, "day": around.run.business_date.isoformat()}
    return read.checked(dates.outside_window(moment, around), Issue.of("date_window", **day))


def unit(reading: Reading, step: Step, around: ReadContext) -> Reading:
    """A number in one unit, converted to another; the unit may stand behind the number if it is the declared one."""
    pair = numbers.unit_pair(step.unit) if isinstance(step, UnitRead) else None
    source, target = pair or ("kg", "kg")
    words = dict.fromkeys(numbers.spellings_of(source), 1)
    number = numbers.plain_number(numbers.without_suffix(reading.value, words, around), around)
    value = numbers.shortest(number, factor=numbers.factor(source, target))
    return reading.then(value, Issue.of("unit", unit=source), form=FieldForm.DECIMAL)


def lookup(reading: Reading, step: Step, _around: ReadContext) -> Reading:
    """What a table gives for the cell, in any case; an unlisted value is an issue unless `"*"` has an answer for it."""
    table = step.lookup if isinstance(step, LookupRead) and isinstance(step.lookup, dict) else {}
    known = {key.strip().lower(): value for key, value in table.items()}
    rest = known.pop("*", None)
    folded = reading.value.str.to_lowercase()
    value = folded.replace_strict(list(known), list(known.values()), default=rest, return_dtype=pl.String)
    value = pl.when(folded.is_not_null()).then(value)
    shown = ", ".join(list(table)[:8]) + (" …" if len(table) > 8 else "")
    return reading.then(value, Issue.of("lookup", known=shown), form=None)


def before(reading: Reading, step: Step, _around: ReadContext) -> Reading:
    """A text put before what the cell holds; an empty cell stays empty."""
    text = step.before if isinstance(step, BeforeRead) else ""
    return Reading(pl.lit(text) + reading.value, reading.form, reading.rules)


def suffix(reading: Reading, step: Step, around: ReadContext) -> Reading:
    """A declared word behind a number taken off (`€` also before it); `{suffix: {Doz: 12}}` reads `2 Doz` as 24."""
    words = step.suffix if isinstance(step, SuffixRead) else {}
    value = numbers.without_suffix(reading.value, words, around)
    return replace(reading, value=value, words=frozenset(word.strip().rstrip(".").lower() for word in words))


@dataclass(frozen=True, slots=True)
class Verb:
    """One entry of the vocabulary."""

    name: str
    build: Callable[[Reading, Step, ReadContext], Reading]
    example: str

    @property
    def doc(self) -> str:
        """What it does, in one line."""
        return (self.build.__doc__ or "").strip().splitlines()[0]


VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (
        Verb("text", text, "customer_name: {from: Name, read: text}"),
        Verb("upper", upper, "item_name: {from: SKU, read: upper}"),
        Verb("lower", lower, "customer_email: {from: Email, read: lower}"),
        Verb("integer", integer, "item_quantity: {from: Qty, read: integer}"),
        Verb("decimal", decimal, "weight: {from: Weight (kg), read: decimal}"),
        Verb("percent", percent, "discount_percentage: {from: Disc, read: percent}"),
        Verb("money", money, "item_price_per_each: {from: Rate, read: money}"),
        Verb("mobile", mobile, "customer_mobile: {from: Phone, read: mobile}"),
        Verb("pincode", pincode, "delivery_postal_code: {from: PIN, read: pincode}"),
        Verb("date", date, 'delivery_date: {from: Due, read: {date: ["%d/%m/%Y", "%d-%b-%Y"]}}'),
        Verb("unit", unit, "weight: {from: Weight (g), read: {unit: g -> kg}}"),
        Verb("suffix", suffix, "item_quantity: {from: Qty, read: {suffix: [Nos, Pcs]}}"),
        Verb("before", before, 'division: {from: Zone, read: {before: "Zone "}}'),
        Verb("lookup", lookup, 'is_return_order: {from: Type, read: {lookup: {Return: "true", Forward: "false"}}}'),
    )
}


def verb_of(step: Step) -> Verb:
    """The verb that a step of `read` names: alone, or as its first key."""
    return VERBS[step if isinstance(step, str) else next(iter(type(step).model_fields))]


def vocabulary() -> list[Verb]:
    """Every verb, in the order of the reference."""
    return list(VERBS.values())


NATURAL: Final[Table[FieldForm, Step]] = {
    FieldForm.MONEY: "money",
    FieldForm.DECIMAL: "decimal",
    FieldForm.DEGREES: "decimal",
    FieldForm.PERCENT: "percent",
    FieldForm.QUANTITY: "integer",
    FieldForm.COUNT: "integer",
    FieldForm.MOBILE: "mobile",
    FieldForm.PINCODE: "pincode",
    FieldForm.DATE: DateRead(date=[]),
    FieldForm.MOMENT: DateRead(date=[]),
    FieldForm.FLAG: "lower",
    FieldForm.PAYMENT: LookupRead(lookup=PAYMENT_WORDS),
}
"""How a cell is read for a target of a form where `read` leaves it plain text; as text, where a form is not there."""

_NUMERIC: Final = frozenset({FieldForm.MONEY, FieldForm.DECIMAL, FieldForm.PERCENT, FieldForm.COUNT})
_ANY_RUN: Final = RunValues("", datetime.date(2026, 1, 1), "Asia/Kolkata")


def converted(reading: Reading, steps: Sequence[Step], around: ReadContext, wanted: FieldForm) -> Reading:
    """The reading after all steps of `read`, and as its target wants it where they leave it plain text."""
    for step in steps:
        reading = verb_of(step).build(reading, step, around)
    if reading.form is None and (natural := NATURAL.get(wanted)) is not None:
        reading = verb_of(natural).build(reading, natural, around)
    return reading


def checked(reading: Reading, target: str, wanted: FieldForm, *, numeric: bool) -> Reading:
    """The rules that follow from the target: no negative amounts, quantities of at least 1, no blank in AWB numbers."""
    if wanted is FieldForm.WAYBILL:
        return reading.checked(reading.value.str.contains(r"\s").fill_null(value=False), Issue("blank_inside"))
    if not numeric or reading.form not in _NUMERIC or wanted is FieldForm.DEGREES:
        return reading
    negative = reading.value.str.starts_with("-").fill_null(value=False)
    least = 1 if wanted is FieldForm.QUANTITY else 0
    reading = reading.checked(negative, Issue.of("negative", least=least))
    if wanted is FieldForm.QUANTITY:
        too_small = (reading.value.cast(pl.Float64, strict=False) < 1).fill_null(value=False)
        reading = reading.checked(too_small, Issue("quantity"))
    if target in JSON_NUMBERS:
        many = (reading.value.str.len_bytes() > 15).fill_null(value=False)
        reading = reading.checked(many, Issue("integer.long"))
    return reading


def final_text(text: str, around: ReadContext, wanted: FieldForm) -> str | None:
    """A text of the mapping file, not of a sheet, in the form of its target; None if it cannot have it."""
    plain = replace(around, decimal=".", true_number=None)
    value: str | None = pl.select(converted(Reading(pl.lit(text)), (), plain, wanted).value).item()
    return value


def unfit_texts(texts: Sequence[str], target: str, wanted: FieldForm) -> dict[str, str]:
    """Which texts of a mapping file cannot be a target's value, and why; the day on which it is used does not count."""
    around = ReadContext(_ANY_RUN, wanted=wanted)
    reading = checked(converted(Reading(pl.col("text")), (), around, wanted), target, wanted, numeric=True)
    frame, found = pl.DataFrame({"text": list(texts)}, schema={"text": pl.String}), dict[str, str]()
    for rule in reversed(reading.rules):  # of several the first counts
        for text in frame.filter(rule.failed)["text"]:
            issue = about(rule.said, text)
            if issue.code != "date_window":
                found[text] = issue.reason.replace("The cell is", "It is")
    if wanted in (FieldForm.FLAG, FieldForm.PAYMENT):
        found |= {text: "It is neither true nor false." for text in texts if text.lower() not in ("true", "false")}
    return found
