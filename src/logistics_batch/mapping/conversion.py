"""From what a cell holds to what a target wants: the steps that are written, else those that its form asks for."""

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final

import polars as pl

from logistics_batch.mapping.known_words import PAYMENT_WORDS
from logistics_batch.mapping.reading import Reading, Surroundings, say
from logistics_batch.mapping.spec import DateRead, LookupRead, Step
from logistics_batch.mapping.targets import JSON_NUMBERS, Form
from logistics_batch.mapping.verbs import verb_of

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
_ANY_DAY: Final = date(2026, 1, 1)


def natural_step(form: Form) -> Step | None:
    """How a cell is read for a target of a form where `read` leaves it plain text; None: it stays text."""
    return _NATURAL.get(form)


def converted(reading: Reading, steps: Sequence[Step], around: Surroundings, wanted: Form) -> Reading:
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


def final_text(text: str, around: Surroundings, wanted: Form) -> str | None:
    """A text of the mapping file, not of a sheet, in the form of its target; None if it cannot have it."""
    plain = replace(around, decimal=".", true_number=None, true_date=None)
    value: str | None = pl.select(converted(Reading(pl.lit(text)), (), plain, wanted).value).item()
    return value


def unfit_texts(texts: Sequence[str], target: str, wanted: Form) -> dict[str, str]:
    """Which texts of a mapping file cannot be a target's value, and why; the day on which it is used does not count."""
    around = Surroundings(_ANY_DAY, "Asia/Kolkata", wanted=wanted)
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
