"""The vocabulary: the closed set of ways to read a cell, one function a verb.

A verb takes what the cell is read as so far and gives an expression over whole columns; it never sees a single row. The
first line of its docstring, with the example beside it in `VERBS`, is its entry in the reference.
"""

import datetime
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values import dates, numbers, phones
from logistics_batch.mapping.fields.values.reading import ReadContext, Reading, say, where_unusual
from logistics_batch.mapping.spec.model import BeforeRead, DateRead, LookupRead, Step, UnitRead
from logistics_batch.mapping.spec.targets import JSON_NUMBERS, Form
from logistics_batch.mapping.spec.words import PAYMENT_WORDS


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
    words = say("The cell is not a whole number.", "Write digits only, such as 12.")
    return reading.then(digits, "integer", words, form=Form.COUNT)


def decimal(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """A number, without trailing zeros; thousands may be grouped as 1,234,567 or 12,34,567."""
    value = numbers.decimal(reading.value, around)
    words = say("The cell is not a number.", "Write digits and at most one decimal point, such as 0.75.")
    return reading.then(value, "decimal", words, form=Form.DECIMAL)


def percent(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """A percentage: `5`, `5 %` and a number cell that shows 5% (and holds 0.05) are 5."""
    number = numbers.decimal(reading.value.str.replace(r"\s*%$", ""), around)
    if around.hundredths is not None:
        number = pl.when(around.hundredths).then(numbers.shortest(number, factor="100")).otherwise(number)
    words = say("The cell is not a percentage.", "Write digits and at most one decimal point, such as 12.5.")
    return reading.then(number, "percent", words, form=Form.PERCENT)


def money(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """An amount; ₹, Rs., INR, /- and lakh grouping are understood, (250) is negative; rounded to paise with a note."""
    value = numbers.money(reading.value, around)
    words = say("The cell is not an amount of money.", "Write the amount in digits, such as 1499.00.")
    return reading.then(value, "money", words, form=Form.MONEY)


def mobile(reading: Reading, _step: Step, around: ReadContext) -> Reading:
    """An Indian mobile number as ten digits, without +91, 0, blanks, label (`Mob:`); of two the first, masked none."""
    if around.second:
        return Reading(phones.second_of_two(reading.value), Form.MOBILE, reading.rules)
    return reading.then(phones.ten_digits(reading.value), "mobile", _mobile_words, form=Form.MOBILE)


def _mobile_words(value: str) -> tuple[str, str]:
    count = sum(char.isdigit() for char in value)
    fix = "Write the ten digits of the mobile number; the first is 6, 7, 8 or 9."
    return f"This is no Indian mobile number ({count} digit{'' if count == 1 else 's'}).", fix


def pincode(reading: Reading, _step: Step, _around: ReadContext) -> Reading:
    """An Indian PIN of six digits; `560 001`, `560001.0` and `PIN-560001` are understood, five digits never."""
    digits = where_unusual(reading.value, r"^[1-9][0-9]{5}$", _six_digits)
    return reading.then(digits, "pincode", _pincode_words, form=Form.PINCODE)


def _six_digits(text: pl.Expr) -> pl.Expr:
    bare = text.str.replace(r"(?i)^pin\s*(?:code)?\s*[-:.]?\s*", "").str.replace(r"\.0$", "")
    grouped = bare.str.contains(r"^[0-9]{3},[0-9]{3}$|^[0-9],[0-9]{2},[0-9]{3}$")
    even = pl.when(grouped).then(bare.str.replace_all(",", "", literal=True)).otherwise(bare)
    halves = even.str.extract_groups(r"^([1-9][0-9]{2})[ \u{a0}]?([0-9]{3})$")
    return halves.struct.field("1") + halves.struct.field("2")


def _pincode_words(value: str) -> tuple[str, str]:
    count = sum(char.isdigit() for char in value)
    if count == 6:
        return "This is no PIN: it begins with 0 or holds something else.", "Write the right PIN, digits only."
    if count:
        return f"PIN has {count} digit{'' if count == 1 else 's'}.", "Write all 6 digits of the PIN."
    return "This is no PIN.", "Write the 6 digits of the PIN, such as 560001."


def date(reading: Reading, step: Step, around: ReadContext) -> Reading:
    """A date in one of the formats, or ISO, or a true date cell; `at` is the time of day where one is wanted."""
    declared = step if isinstance(step, DateRead) else DateRead(date=[])
    moment, has_time = dates.moment_of(reading.value, declared.date, around)
    if around.wanted is Form.MOMENT:
        value = dates.with_offset(moment, has_time, at=declared.at, around=around)
    else:
        value = moment.dt.date().cast(pl.String)
    allowed = " or ".join(_example_of(each) for each in declared.date) or "2026-11-03"

    def no_date(value: str) -> tuple[str, str]:
        if reason := dates.no_such_day(value, declared.date):
            return reason, f"Check day, month and year; 3 November 2026 is written {allowed}."
        return "The cell is no date as agreed.", f"Write 3 November 2026 as {allowed}."

    read = reading.then(value, "date", no_date, form=around.wanted)
    words = say(
        f"The date is more than {dates.EARLIEST_DAYS} days before or {around.latest_days} days after the business date "
        f"{around.business_date.isoformat()}.",
        "Check day, month and year.",
    )
    return read.checked("date_window", dates.outside_window(moment, around).fill_null(value=False), words)


def _example_of(date_format: str) -> str:
    """How 3 November 2026, 18:30 looks in a format."""
    moment = pl.Series(["2026-11-03T18:30:00+0530"]).str.to_datetime("%Y-%m-%dT%H:%M:%S%z")
    return str(moment.dt.convert_time_zone("Asia/Kolkata").dt.strftime(date_format)[0])


def unit(reading: Reading, step: Step, around: ReadContext) -> Reading:
    """A number in one unit, converted to another; the unit may stand behind the number if it is the declared one."""
    pair = numbers.unit_pair(step.unit) if isinstance(step, UnitRead) else None
    source, target = pair or ("kg", "kg")
    number = numbers.plain_number(numbers.without_unit(reading.value, source), around)
    value = numbers.shortest(number, factor=numbers.factor(source, target))
    words = say(f"The cell is not a number of {source}.", f"Write the number in {source}, without another unit.")
    return reading.then(value, "unit", words, form=Form.DECIMAL)


def lookup(reading: Reading, step: Step, _around: ReadContext) -> Reading:
    """What a table gives for the cell, in any case; an unlisted value is an issue unless `"*"` has an answer for it."""
    table = step.lookup if isinstance(step, LookupRead) and isinstance(step.lookup, dict) else {}
    known = {key.strip().lower(): value for key, value in table.items()}
    rest = known.pop("*", None)
    folded = reading.value.str.to_lowercase()
    value = folded.replace_strict(list(known), list(known.values()), default=rest, return_dtype=pl.String)
    value = pl.when(folded.is_not_null()).then(value)
    shown = ", ".join(list(table)[:8]) + (" …" if len(table) > 8 else "")
    words = say("The value is not in the list of known values.", f"Write one of: {shown}.")
    return reading.then(value, "lookup", words, form=None)


def before(reading: Reading, step: Step, _around: ReadContext) -> Reading:
    """A text put before what the cell holds; an empty cell stays empty."""
    text = step.before if isinstance(step, BeforeRead) else ""
    return Reading(pl.lit(text) + reading.value, reading.form, reading.rules)


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
        Verb("before", before, 'division: {from: Zone, read: {before: "Zone "}}'),
        Verb("lookup", lookup, 'is_return_order: {from: Type, read: {lookup: {Return: "true", Forward: "false"}}}'),
    )
}


def verb_of(step: Step) -> Verb:
    """The verb that a step of `read` names."""
    if isinstance(step, DateRead):
        return VERBS["date"]
    if isinstance(step, UnitRead):
        return VERBS["unit"]
    if isinstance(step, BeforeRead):
        return VERBS["before"]
    return VERBS["lookup"] if isinstance(step, LookupRead) else VERBS[step]


def vocabulary() -> list[Verb]:
    """Every verb, in the order of the reference."""
    return list(VERBS.values())


_NATURAL: Final[Table[Form, Step]] = {
    Form.MONEY: "money",
    Form.DECIMAL: "decimal",
    Form.DEGREES: "decimal",
    Form.PERCENT: "percent",
    Form.QUANTITY: "integer",
    Form.COUNT: "integer",
    Form.MOBILE: "mobile",
    Form.PINCODE: "pincode",
    Form.DATE: DateRead(date=[]),
    Form.MOMENT: DateRead(date=[]),
    Form.FLAG: "lower",
    Form.PAYMENT: LookupRead(lookup=PAYMENT_WORDS),
}
_NUMERIC: Final = frozenset({Form.MONEY, Form.DECIMAL, Form.PERCENT, Form.COUNT})
_BLANK_INSIDE: Final = say(
    "An AWB number or order id has no blank in it.",
    "Write it as the label shows it, without blanks; each number on a row of its own.",
)
_ANY_DAY: Final = datetime.date(2026, 1, 1)


def natural_step(form: Form) -> Step | None:
    """How a cell is read for a target of a form where `read` leaves it plain text; None: it stays text."""
    return _NATURAL.get(form)


def converted(reading: Reading, steps: Sequence[Step], around: ReadContext, wanted: Form) -> Reading:
    """The reading after all steps of `read`, and as its target wants it where they leave it plain text."""
    for step in steps:
        reading = verb_of(step).build(reading, step, around)
    if reading.form is None and (natural := natural_step(wanted)) is not None:
        reading = verb_of(natural).build(reading, natural, around)
    return reading


def checked(reading: Reading, target: str, wanted: Form, *, numeric: bool) -> Reading:
    """The rules that follow from the target: no negative amounts, quantities of at least 1, no blank in AWB numbers."""
    if wanted is Form.WAYBILL:
        return reading.checked("blank_inside", reading.value.str.contains(r"\s").fill_null(value=False), _BLANK_INSIDE)
    if not numeric or reading.form not in _NUMERIC or wanted is Form.DEGREES:
        return reading
    negative = reading.value.str.starts_with("-").fill_null(value=False)
    least = 1 if wanted is Form.QUANTITY else 0
    reading = reading.checked(
        "negative", negative, say("The number is negative.", f"Write a number of {least} or more.")
    )
    if wanted is Form.QUANTITY:
        too_small = (reading.value.cast(pl.Float64, strict=False) < 1).fill_null(value=False)
        words = say("A quantity is at least 1.", "Write the quantity, or leave the row out.")
        reading = reading.checked("quantity", too_small, words)
    if target in JSON_NUMBERS:
        many = (reading.value.str.len_bytes() > 15).fill_null(value=False)
        reading = reading.checked("integer", many, say("The number is too long.", "Write a smaller number."))
    return reading


def final_text(text: str, around: ReadContext, wanted: Form) -> str | None:
    """A text of the mapping file, not of a sheet, in the form of its target; None if it cannot have it."""
    plain = replace(around, decimal=".", true_number=None, true_date=None)
    value: str | None = pl.select(converted(Reading(pl.lit(text)), (), plain, wanted).value).item()
    return value


def unfit_texts(texts: Sequence[str], target: str, wanted: Form) -> dict[str, str]:
    """Which texts of a mapping file cannot be a target's value, and why; the day on which it is used does not count."""
    around = ReadContext(_ANY_DAY, "Asia/Kolkata", wanted=wanted)
    reading = checked(converted(Reading(pl.col("text")), (), around, wanted), target, wanted, numeric=True)
    rules = [rule for rule in reading.rules if rule.name != "date_window"]
    frame = pl.DataFrame({"text": list(dict.fromkeys(texts))}, schema={"text": pl.String})
    masks = [rule.failed.fill_null(value=False).alias(str(place)) for place, rule in enumerate(rules)]
    found: dict[str, str] = {}
    for text, *failed in frame.with_columns(masks).iter_rows() if masks else ():
        broken = next((rule for rule, is_so in zip(rules, failed, strict=True) if is_so), None)
        if broken is not None:
            found[text] = broken.words(text)[0].replace("The cell is", "It is")
    if wanted in (Form.FLAG, Form.PAYMENT):
        found |= {text: "It is neither true nor false." for text in texts if text.lower() not in ("true", "false")}
    return found
