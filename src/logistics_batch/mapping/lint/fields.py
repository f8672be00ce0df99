"""What is wrong with one field of a mapping: dates, units, tables, and values that its target can never take."""

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from logistics_batch.mapping.fields.values import dates, numbers
from logistics_batch.mapping.fields.values.numbers import contradicts, meant_by, unit_pair, unit_wanted
from logistics_batch.mapping.fields.values.verbs import unfit_texts, verb_of
from logistics_batch.mapping.spec.model import DateRead, FieldSpec, LookupRead, MappingSpec, UnitRead
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.document import Operation

Place = tuple[str | int, ...]


class LintFinding(NamedTuple):
    """Something wrong at a place of a mapping file; places are keys and positions, as pydantic gives them."""

    place: Place
    message: str
    remedy: str = ""


_TEXTS: Final = (Form.TEXT, Form.IDENTITY, Form.WAYBILL, Form.GOODS, Form.ADDRESS)
_NUMBERS: Final = (Form.MONEY, Form.DECIMAL, Form.PERCENT, Form.DEGREES, Form.QUANTITY, Form.COUNT)
GIVES: Final[dict[str, tuple[Form, ...]]] = {
    **dict.fromkeys(("integer", "decimal", "percent", "money"), _NUMBERS),
    "unit": (Form.DECIMAL, Form.QUANTITY, Form.COUNT),
    "mobile": (Form.MOBILE,),
    "pincode": (Form.PINCODE,),
    "date": (Form.DATE, Form.MOMENT),
}
"""The forms that a verb's value can be used for; verbs that are not listed leave it plain text."""

_WORDS: Final[dict[Form, str]] = {
    **dict.fromkeys((Form.FLAG, Form.PAYMENT), "true or false"),
    Form.MONEY: "an amount",
    Form.DECIMAL: "a number",
    Form.PERCENT: "a percentage",
    Form.DEGREES: "degrees",
    Form.QUANTITY: "a quantity",
    Form.COUNT: "a count",
    Form.MOBILE: "a mobile number",
    Form.PINCODE: "a PIN",
    Form.DATE: "a date",
    Form.MOMENT: "a date and time",
}
_WANTED: Final[dict[Form, str]] = {
    **dict.fromkeys((Form.FLAG, Form.PAYMENT), 'Write "true" or "false".'),
    Form.MONEY: 'Write an amount, as "0.00".',
    Form.DECIMAL: 'Write a number, as "0.75".',
    Form.PERCENT: 'Write a percentage, as "5".',
    Form.DEGREES: 'Write degrees, as "12.9716".',
    Form.QUANTITY: 'Write a whole number from 1 on, as "1".',
    Form.COUNT: 'Write a whole number, as "0".',
    Form.MOBILE: "Write the ten digits of a mobile number.",
    Form.PINCODE: "Write the six digits of a PIN.",
    Form.DATE: 'Write a date, as "2026-11-03".',
    Form.MOMENT: 'Write a date, as "2026-11-03".',
}


def place_of(place: str) -> Place:
    """The keys under which a field stands in the file; place as in `MappingSpec.everything`."""
    part, name = place.split(".", 1)
    return ("kits", "lines", name) if part == "kit_lines" else (part, name)


def field_findings(spec: MappingSpec, place: str, field: FieldSpec) -> Iterator[LintFinding]:
    """What is wrong with one field; place as in `MappingSpec.everything`."""
    part, name = place.split(".", 1)
    here = place_of(place)
    if part in ("lines", "kits", "kit_lines") and field.source in ("sum", "first"):
        yield LintFinding(here, f"`{field.source}` speaks of a whole document; it cannot stand under `lines`.")
    form = form_of(name, spec.operation) if part in ("fields", "lines", "kit_lines") else Form.TEXT
    yield from _source_findings(here, name, field, form)
    yield from _step_findings(here, name, field, form)
    yield from _unit_findings(spec, place, field)
    for index, step in enumerate(field.read or ()):
        where: Place = (*here, "read", index) if len(field.read or ()) > 1 else (*here, "read")
        if isinstance(step, DateRead):
            yield from _date_findings((*where, "date"), step)
            if field.source == "join":
                yield LintFinding((*where, "date"), "Joined columns cannot be read as a date.", "Use `from`.")
        elif isinstance(step, UnitRead) and numbers.unit_pair(step.unit) is None:
            known = ", ".join(numbers.UNIT_NAMES)
            yield LintFinding((*where, "unit"), f"`{step.unit}` is no conversion.", f"Write `g -> kg`. Known: {known}.")
        elif isinstance(step, UnitRead) and part != "keep":
            yield from _conversion_findings((*where, "unit"), step, name, spec.operation)
        elif isinstance(step, LookupRead) and isinstance(step.lookup, dict):
            last = index == len(field.read or ()) - 1
            yield from _table_findings((*where, "lookup"), step.lookup, name, form if last else Form.TEXT)


def _unit_findings(spec: MappingSpec, place: str, field: FieldSpec) -> Iterator[LintFinding]:
    """Columns whose own name says that they are in something else than the target wants."""
    meant = meant_by(place, field, spec.operation)
    if meant is None or any(isinstance(step, UnitRead) for step in field.read or ()):
        return
    for key, names in (("from", field.from_), ("first", field.first), ("sum", field.sum)):
        for column in names or ():
            said = ColumnName.of(column).measure
            if said is not None and contradicts(said, meant):
                message = (
                    f"`{column}` is in {said.name} by its name, and `{place.split('.', 1)[1]}` wants {meant.name}."
                )
                convertible = unit_pair(f"{said.name} -> {meant.name}") is not None and key != "sum"
                remedy = (
                    f"Add `read: {{unit: {said.name} -> {meant.name}}}`." if convertible else "Take another column."
                )
                yield LintFinding((*place_of(place), key), message, remedy)


def _conversion_findings(where: Place, step: UnitRead, target: str, operation: Operation) -> Iterator[LintFinding]:
    """A result in another unit than the service's: a thousandfold mistake."""
    wanted, pair = unit_wanted(target, operation), numbers.unit_pair(step.unit)
    if wanted and pair and pair[1] != wanted:
        message = f"`{operation.value}` wants {target}s in {wanted}, and this gives {pair[1]}."
        corrected = f"{pair[0]} -> {wanted}"
        yield LintFinding(where, message, f"Write `{corrected}`." if unit_pair(corrected) else "Take another column.")


def _date_findings(where: Place, step: DateRead) -> Iterator[LintFinding]:
    for date_format in step.date:
        if fault := dates.format_fault(date_format):
            yield LintFinding(where, fault)
    for index, one in enumerate(step.date):
        for other in step.date[index + 1 :]:
            if dates.contradict(one, other):
                message = f"`{one}` and `{other}` read the same cell as different dates."
                yield LintFinding(where, message, "Keep the one that the sheets use.")


def _table_findings(where: Place, table: dict[str, str], target: str, form: Form) -> Iterator[LintFinding]:
    if not table:
        yield LintFinding(where, "The table is empty.", "List each value that sheets hold, and what it means.")
    unfit = unfit_texts(list(table.values()), target, form)
    seen: dict[str, str] = {}
    for key, value in table.items():
        folded = key.strip().lower()
        if not folded:
            message = "A blank cell is not looked up: an empty cell gives nothing."
            yield LintFinding((*where, key), message, f"Write `default: {json.dumps(value)}` beside `read` instead.")
        if seen.setdefault(folded, value) != value:
            yield LintFinding((*where, key), f"`{key}` is listed with different answers; case does not matter here.")
        if value in unfit:
            yield LintFinding((*where, key), f"`{value}` is not allowed here: {unfit[value]}", _WANTED.get(form, ""))


def _source_findings(here: Place, name: str, field: FieldSpec, form: Form) -> Iterator[LintFinding]:
    """Texts of the file itself, sums and values of the run that can never be the target's value."""
    for key, text in (("constant", field.constant), ("default", field.default)):
        if text is None:
            continue
        if not text.strip():
            yield LintFinding((*here, key), f"`{key}` is blank, and nothing blank is sent.", "Write a value.")
        elif unfit := unfit_texts([text], name, form).get(text):
            yield LintFinding((*here, key), f"`{text}` is not allowed here: {unfit}", _WANTED.get(form, ""))
    if field.source == "sum" and form not in (*_NUMBERS, *_TEXTS):
        yield LintFinding((*here, "sum"), f"A sum is a number, and `{name}` wants {_WORDS[form]}.", "Use `from`.")
    if field.run == "file_name" and form not in _TEXTS:
        yield LintFinding((*here, "run"), f"`file_name` is a text, and `{name}` wants {_WORDS[form]}.", "Use `from`.")
    if field.run == "business_date" and form not in (*_TEXTS, Form.DATE, Form.MOMENT):
        yield LintFinding(
            (*here, "run"), f"`business_date` is a date, and `{name}` wants {_WORDS[form]}.", "Use `from`."
        )


def _step_findings(here: Place, name: str, field: FieldSpec, form: Form) -> Iterator[LintFinding]:
    """Steps that cannot follow each other, or a last one that gives what the target does not want."""
    steps = field.read or []
    given = ""  # the verb that made the value what it is, "" while it is a text
    for index, step in enumerate(steps):
        verb = verb_of(step).name
        where: Place = (*here, "read", index) if len(steps) > 1 else (*here, "read")
        if verb in GIVES and given:
            message = f"`{verb}` comes after `{given}`, which leaves it nothing to read."
            yield LintFinding(where, message, "Keep the one that the column needs.")
            return
        given = verb if verb in GIVES else "" if verb == "lookup" else given
        if index == len(steps) - 1 and given and form not in (*_TEXTS, *GIVES[given]):
            by_name = [each for each in GIVES if each == form.value]
            fits = by_name or [each for each, forms in GIVES.items() if form in forms] or ["lookup"]
            fitting = " or ".join(f"`{each}`" for each in fits)
            message = f"`{given}` does not give {_WORDS[form]}, which `{name}` wants."
            yield LintFinding(where, message, f"Write {fitting}, or leave `read` out.")


_AMOUNTS: Final = ("cash_on_delivery", "amount_to_collect")  # the latter of a label


def payment_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """A flag that is always true without an amount, and an amount where no row can be cash on delivery."""
    flag = spec.fields.get("is_cod")
    amount = next((name for name in _AMOUNTS if name in spec.fields), None)
    collects = amount is not None and not _is_nought(spec.fields[amount])
    if flag is not None and _says(flag, "true") and not collects:
        message = "`is_cod` is true, and no amount to collect is mapped: no such order could be sent."
        yield LintFinding(("fields", "is_cod"), message, "Map the amount, or correct `is_cod`.")
    elif amount is not None and collects and _is_never_collected(spec, flag):
        missing = "is missing" if flag is None else "is false for all rows"
        message = f"`{amount}` is mapped, and `is_cod` {missing}: no row with an amount could be sent."
        remedy = "Map `is_cod`, as `is_cod: {from: Payment}`."
        yield LintFinding(("fields", amount), message, f"{remedy} Or keep the amount under `keep`.")


def _is_never_collected(spec: MappingSpec, flag: FieldSpec | None) -> bool:
    """Whether no row is cash on delivery; a change of an order need not repeat the order's flag."""
    return not spec.operation.changes_order if flag is None else _says(flag, "false") and flag.when is None


def _says(flag: FieldSpec, answer: str) -> bool:
    return flag.constant is not None and flag.constant.strip().lower() == answer


def _is_nought(amount: FieldSpec) -> bool:
    """Whether the mapping itself says that nothing is collected; its text has been found to be an amount."""
    return amount.constant is not None and amount.constant.strip().strip("0.") == ""
