"""What is wrong with one field of a mapping: dates, units, tables, and values that its target can never take."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from logistics_batch import messages
from logistics_batch.mapping.fields.values.dates import contradict, format_fault
from logistics_batch.mapping.fields.values.numbers import UNIT_NAMES, contradicts, meant_by, unit_pair, unit_wanted
from logistics_batch.mapping.fields.values.verbs import unfit_texts, verb_of
from logistics_batch.mapping.spec.model import DateRead, FieldSpec, LookupRead, MappingSpec, UnitRead
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import Form, form_of

Place = tuple[str | int, ...]


class LintFinding(NamedTuple):
    """Something wrong at a place of a mapping file; places are keys and positions, as pydantic gives them."""

    place: Place
    message: str
    remedy: str = ""


def said(place: Place, code: str, **values: Any) -> LintFinding:
    """A finding in the catalogue's words; code: without its `mapping.`."""
    code = f"mapping.{code}"
    return LintFinding(place, messages.reason(code, values), messages.remedy(code, values))


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

_FITS: Final = {"sum": _NUMBERS, "file_name": (), "business_date": GIVES["date"]}
"""The forms beside plain text that sums and values of the run can be used for."""


def place_of(place: str) -> Place:
    """The keys under which a field stands in the file; place as in `MappingSpec.everything`."""
    part, name = place.split(".", 1)
    return ("kits", "lines", name) if part == "kit_lines" else (part, name)


def field_findings(spec: MappingSpec, place: str, field: FieldSpec) -> Iterator[LintFinding]:
    """What is wrong with one field; place as in `MappingSpec.everything`."""
    part, name = place.split(".", 1)
    here, steps = place_of(place), field.read or []
    if part in ("lines", "kits", "kit_lines") and field.source in ("sum", "first"):
        yield said(here, "of_document", source=field.source)
    form = form_of(name, spec.operation) if part in ("fields", "lines", "kit_lines") else Form.TEXT
    wanted = _form(form).reason
    for key, text in (("constant", field.constant), ("default", field.default)):
        if text is not None and not text.strip():
            yield said((*here, key), "blank", key=key)
        elif text is not None:
            yield from _unfit({(*here, key): text}, name, form)
    for key, source in (("sum", "sum" if field.source == "sum" else None), ("run", field.run)):
        if source is not None and form not in (*_TEXTS, *_FITS[source]):
            yield said((*here, key), source, name=name, form=wanted)
    yield from _unit_findings(spec, place, field)
    given, clash, where = "", False, (*here, "read")  # given: the verb that made the value what it is
    for index, step in enumerate(steps):
        verb, where = verb_of(step).name, (*here, "read", index) if len(steps) > 1 else where
        if verb in GIVES and given and not clash:
            yield said(where, "after", verb=verb, given=given)
            clash = True
        given = verb if verb in GIVES else "" if verb == "lookup" else given
        if isinstance(step, DateRead):
            yield from _date_findings((*where, "date"), step, is_joined=field.source == "join")
        elif isinstance(step, UnitRead):
            yield from _conversion_findings((*where, "unit"), step, name if part != "keep" else "", spec)
        elif isinstance(step, LookupRead) and isinstance(step.lookup, dict):
            last = index == len(steps) - 1
            yield from _table_findings((*where, "lookup"), step.lookup, name, form if last else Form.TEXT)
    if given and not clash and form not in (*_TEXTS, *GIVES[given]):
        by_name = [each for each in GIVES if each == form.value]
        fitting = by_name or [each for each, forms in GIVES.items() if form in forms] or ["lookup"]
        yield said(where, "gives", given=given, name=name, form=wanted, fitting=fitting)


def _unfit(texts: dict[Place, str], name: str, form: Form) -> Iterator[LintFinding]:
    """Texts of the file itself that can never be the target's value, by their places."""
    unfit = unfit_texts(list(texts.values()), name, form)
    for where, text in texts.items():
        if text in unfit:
            yield said(where, "unfit", text=text, why=unfit[text], wanted=_form(form).remedy)


def _form(form: Form) -> messages.Entry:
    """What a form is called, and what is to be written for it; of texts nothing."""
    return messages.CATALOGUE.get(f"mapping.form.{form}", messages.Entry(""))


def _unit_findings(spec: MappingSpec, place: str, field: FieldSpec) -> Iterator[LintFinding]:
    """Columns whose own name says that they are in something else than the target wants."""
    meant = meant_by(place, field, spec.operation)
    if meant is None or any(isinstance(step, UnitRead) for step in field.read or ()):
        return
    for key, names in (("from", field.from_), ("first", field.first), ("sum", field.sum)):
        for column in names or ():
            measure = ColumnName.of(column).measure
            if measure is not None and contradicts(measure, meant):
                told = {"said": measure.name, "meant": meant.name, "column": column, "name": place.split(".", 1)[1]}
                can = key != "sum" and unit_pair(f"{measure.name} -> {meant.name}")
                instead = [(f"mapping.instead.{'convert' if can else 'another'}", told)]
                yield said((*place_of(place), key), "unit_of_name", **told, instead=instead)


def _conversion_findings(where: Place, step: UnitRead, target: str, spec: MappingSpec) -> Iterator[LintFinding]:
    """No conversion, or a result in another unit than the service's: a thousandfold mistake. target: "" if kept."""
    pair, wanted = unit_pair(step.unit), unit_wanted(target, spec.operation)
    if pair is None:
        yield said(where, "unit", unit=step.unit, known=UNIT_NAMES)
    elif wanted and pair[1] != wanted:
        can = unit_pair(f"{pair[0]} -> {wanted}")
        instead = [(f"mapping.instead.{'correct' if can else 'another'}", {"said": pair[0], "meant": wanted})]
        told = {"operation": spec.operation.value, "name": target, "meant": wanted, "said": pair[1]}
        yield said(where, "unit_of_result", **told, instead=instead)


def _date_findings(where: Place, step: DateRead, *, is_joined: bool) -> Iterator[LintFinding]:
    for index, one in enumerate(step.date):
        if fault := format_fault(one):
            yield said(where, "date", fault=fault)
        for other in step.date[index + 1 :]:
            if contradict(one, other):
                yield said(where, "dates", one=one, other=other)
    if is_joined:
        yield said(where, "joined_date")


def _table_findings(where: Place, table: dict[str, str], target: str, form: Form) -> Iterator[LintFinding]:
    if not table:
        yield said(where, "table")
    seen: dict[str, str] = {}
    for key, value in table.items():
        folded = key.strip().lower()
        if not folded:
            yield said((*where, key), "table_blank", answer=json.dumps(value))
        if seen.setdefault(folded, value) != value:
            yield said((*where, key), "table_twice", key=key)
    yield from _unfit({(*where, key): value for key, value in table.items()}, target, form)
