"""What is said of a mapping file: the questions of a draft, what is wrong with it, and what it says and need not."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import product
from typing import Any, Final, NamedTuple

from logistics_batch import messages
from logistics_batch.mapping.fields.values.dates import contradict, format_fault
from logistics_batch.mapping.fields.values.numbers import UNIT_NAMES, contradicts, meant_by, unit_pair, unit_wanted
from logistics_batch.mapping.fields.values.verbs import unfit_texts, verb_of
from logistics_batch.mapping.loaded import is_above
from logistics_batch.mapping.spec.model import (
    WHOLE_FILE,
    DateRead,
    FieldSpec,
    LookupRead,
    MappingSpec,
    SuffixRead,
    UnitRead,
)
from logistics_batch.mapping.spec.names import ColumnName, is_slip, measure_of
from logistics_batch.mapping.spec.targets import RECEIPT_TARGETS, SHIPMENT_OF_A_LABEL, FieldForm, form_of, targets_of
from logistics_batch.mapping.spec.texts import LinesFromSpec, Part, printable_text
from logistics_batch.model.document import Operation

Place = tuple[str | int, ...]
_TEXTS: Final = (FieldForm.TEXT, FieldForm.IDENTITY, FieldForm.WAYBILL, FieldForm.GOODS, FieldForm.ADDRESS)
_NUMBERS: Final = (
    FieldForm.MONEY,
    FieldForm.DECIMAL,
    FieldForm.PERCENT,
    FieldForm.DEGREES,
    FieldForm.QUANTITY,
    FieldForm.COUNT,
)
GIVES: Final[dict[str, tuple[FieldForm, ...]]] = {
    **dict.fromkeys(("integer", "decimal", "percent", "money"), _NUMBERS),
    "unit": (FieldForm.DECIMAL, FieldForm.QUANTITY, FieldForm.COUNT),
    "mobile": (FieldForm.MOBILE,),
    "pincode": (FieldForm.PINCODE,),
    "date": (FieldForm.DATE, FieldForm.MOMENT),
}
"""The forms that a verb's value can be used for; verbs that are not listed leave it plain text."""

_FITS: Final = {"sum": _NUMBERS, "file_name": (), "business_date": GIVES["date"]}
"""The forms beside plain text that sums and values of the run can be used for."""

_KEPT_NAME: Final = re.compile(r"[\w-]+")
_TAKEN: Final = ("row",)
_TAKEN_OF_RECEIPTS: Final = ("file_name", "sheet", *RECEIPT_TARGETS)

_PEOPLE: Final = ("customer_name", "supplier_name")
_GOODS: Final = ("item_name", "sku_name", "name")  # the latter of a label
_AMOUNTS: Final = ("cash_on_delivery", "amount_to_collect")  # the latter of a label

MARK: Final = "? "
"""Stands before a name, a format or a unit that a person has to confirm; alone, for an answer that is missing."""


class LintFinding(NamedTuple):
    """Something wrong at a place of a mapping file; places are keys and positions, as pydantic gives them."""

    place: Place
    message: str
    remedy: str = ""


def said(place: Place, code: str, **values: Any) -> LintFinding:
    """A finding in the catalogue's words; code: without its `mapping.`."""
    code = f"mapping.{code}"
    return LintFinding(place, messages.reason(code, values), messages.remedy(code, values))


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
    form = form_of(name, spec.operation) if part in ("fields", "lines", "kit_lines") else FieldForm.TEXT
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
        elif isinstance(step, SuffixRead):
            yield from _suffix_findings((*where, "suffix"), step.suffix, is_counted=step.is_counted)
        elif isinstance(step, UnitRead):
            yield from _conversion_findings((*where, "unit"), step, name if part != "keep" else "", spec)
        elif isinstance(step, LookupRead) and isinstance(step.lookup, dict):
            last = index == len(steps) - 1
            yield from _table_findings((*where, "lookup"), step.lookup, name, form if last else FieldForm.TEXT)
    if given and not clash and form not in (*_TEXTS, *GIVES[given]):
        by_name = [each for each in GIVES if each == form.value]
        fitting = by_name or [each for each, forms in GIVES.items() if form in forms] or ["lookup"]
        yield said(where, "gives", given=given, name=name, form=wanted, fitting=fitting)


def _unfit(texts: dict[Place, str], name: str, form: FieldForm) -> Iterator[LintFinding]:
    """Texts of the file itself that can never be the target's value, by their places."""
    unfit = unfit_texts(list(texts.values()), name, form)
    for where, text in texts.items():
        if text in unfit:
            yield said(where, "unfit", text=text, why=unfit[text], wanted=_form(form).remedy)


def _form(form: FieldForm) -> messages.Entry:
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


def _suffix_findings(where: Place, suffix: dict[str, int], *, is_counted: bool) -> Iterator[LintFinding]:
    """Words that stand for several pieces and are counted as one, and units that are taken for each other."""
    single = {word: measure_of(re.sub(r"\W|per", "", word.lower())) for word, times in suffix.items() if times == 1}
    for word, measure in single.items():
        if measure is not None and measure.name == "dozens":
            yield said(where, "dozens" if word.strip()[:1].isalnum() else "dozens_price", word=word)
    names = {measure.name: word for word, measure in single.items() if measure is not None}
    if len(names) > 1 and not is_counted:
        yield said(where, "suffixes", words=[*names.values()])
    for word, times in suffix.items():
        if times > 1 and not word.strip()[:1].isalnum():
            yield said(where, "suffix_price", word=word)


def _date_findings(where: Place, step: DateRead, *, is_joined: bool) -> Iterator[LintFinding]:
    for index, one in enumerate(step.date):
        if fault := format_fault(one):
            yield said(where, "date", fault=fault)
        for other in step.date[index + 1 :]:
            if contradict(one, other):
                yield said(where, "dates", one=one, other=other)
    if is_joined:
        yield said(where, "joined_date")


def _table_findings(where: Place, table: dict[str, str], target: str, form: FieldForm) -> Iterator[LintFinding]:
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


def _reads_receipts(spec: MappingSpec) -> bool:
    return spec.operation is Operation.RECEIPT_READ


def _joins_sheets(spec: MappingSpec) -> bool:
    return spec.lines_sheet is not None and not _reads_receipts(spec)


_RULES: Final[tuple[tuple[str, Place, Callable[[MappingSpec], object]], ...]] = (
    ("order_id", (), lambda spec: spec.operation.changes_order and spec.order_id is None),
    ("no_order_id", ("order_id",), lambda spec: not spec.operation.changes_order and spec.order_id),
    ("delete_items", ("lines",), lambda spec: spec.operation is Operation.ORDER_DELETE_ITEMS and not spec.lines),
    ("lines_missing", ("lines_from",), lambda spec: spec.lines_from and not spec.lines and not _reads_receipts(spec)),
    ("sheet_receipts", ("lines_sheet",), lambda spec: spec.lines_sheet and _reads_receipts(spec)),
    ("sheet_lines_from", ("lines_sheet",), lambda spec: _joins_sheets(spec) and spec.lines_from),
    ("sheet_kits", ("lines_sheet",), lambda spec: _joins_sheets(spec) and spec.kits),
    ("sheet_lines", ("lines_sheet",), lambda spec: _joins_sheets(spec) and not spec.lines),
    ("sheet_total", ("checks", "control_total"), lambda spec: _joins_sheets(spec) and spec.checks.control_total),
    ("sheet_above", ("key",), lambda spec: _joins_sheets(spec) and any(is_above([name]) for name in spec.key)),
    ("no_kits", ("kits",), lambda spec: spec.kits and spec.operation is not Operation.ORDER_CREATE),
    ("kits_item", ("kits", "lines"), lambda spec: spec.kits and "item_name" not in spec.kits.lines),
    ("key", (), lambda spec: not spec.key and not _reads_receipts(spec)),
)
"""What is said of a mapping, where, and when."""


def structure_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """What is wrong with a mapping whose values all have the right form."""
    yield from _demanded(spec)
    changes = [each.value for each in Operation if each.changes_order]
    for code, where, applies in _RULES:
        if applies(spec):
            yield said(where, code, operation=spec.operation.value, changes=changes)
    if spec.lines_from is not None:
        yield from _made_columns(spec, spec.lines_from)
    if not _reads_receipts(spec):
        yield from _key_findings(spec)
    for place, field in spec.everything.items():
        yield from field_findings(spec, place, field)
    yield from _payment_findings(spec)
    for name in spec.keep:
        if not _KEPT_NAME.fullmatch(name):
            yield said(("keep", name), "kept_name", name=printable_text(name))
        elif name in _TAKEN or (_reads_receipts(spec) and name in _TAKEN_OF_RECEIPTS):
            yield said(("keep", name), "taken", name=name)
    yield from _column_findings(spec)
    yield from _control_totals(spec)


def _demanded(spec: MappingSpec) -> Iterator[LintFinding]:
    """Required targets that nothing fills."""
    targets = targets_of(spec.operation)
    for place in targets.required:
        part, name = place.split(".")
        wanted = part == "fields" or spec.lines or targets.lines_wanted
        if wanted and place not in spec.everything:
            yield said((part,), "required", name=name, part=part)
    for group in targets.either:
        if not spec.fields.keys() & set(group):
            yield said(("fields",), "either", names=group)
    by_awb = spec.operation is Operation.LABEL_CREATE and "awb_number" in spec.fields
    for name in SHIPMENT_OF_A_LABEL if by_awb else ():
        if name not in spec.fields:
            yield said(("fields",), "of_label", name=name)


def _known(names: Iterable[str]) -> dict[str, str]:
    """Names of columns by what is the same of a name however it is typed."""
    return {ColumnName.of(name).identity: name for name in names}


def _read(fields: Iterable[FieldSpec]) -> list[str]:
    """The names of all columns that fields read."""
    return [name for field in fields for names in field.columns for name in names]


def _made_columns(spec: MappingSpec, form: LinesFromSpec) -> Iterator[LintFinding]:
    """Columns that `lines_from` makes: used, and not for what stands once in a document.

    Numbered columns that it does not make are no columns: no sheet has one that is called `Qty {n}`.
    """
    made, read = _known(form.made), _known(_read(spec.everything.values()))
    for place, field in spec.everything.items():
        for name in _read([field]):
            is_made = ColumnName.of(name).identity in made
            if not is_made and re.search(r"\{\w+\}", name):
                code = "numbered" if form.columns else "numbered_split"
                yield said(place_of(place), code, name=name, columns=form.columns or [])
            elif is_made and place.startswith("fields.") and not _reads_receipts(spec):
                yield said(place_of(place), "by_line", name=name)
    for name in (name for identity, name in made.items() if identity not in read):
        yield said(("lines_from",), "unused" if spec.lines else "unused_alone", name=name, lines=[*spec.lines])


def _key_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """The key: each column once, as many as on a second sheet, and documents can differ."""
    if spec.lines_sheet and spec.key and len(spec.key) != len(spec.lines_sheet.key):
        yield said(("lines_sheet", "key"), "sheet_key", own=len(spec.key), other=len(spec.lines_sheet.key))
    seen: dict[str, str] = {}
    for index, name in enumerate(spec.key):
        if (earlier := seen.setdefault(ColumnName.of(name).identity, name)) is not name:
            yield said(("key", index), "key_twice", name=name, earlier=earlier)
    groups = targets_of(spec.operation).natural
    natural = [name for group in groups for name in group if name in spec.fields]
    same = ("constant",) if spec.key == [WHOLE_FILE] else ("constant", "run")  # each file has a name of its own
    numbers = [name for name in (*groups[-1], "awb_number") if name in spec.fields]  # tomorrow's file has another one
    alike = [name for name in numbers if spec.fields[name].source == "constant"]
    if natural and not spec.order_id and all(spec.fields[name].source in same for name in natural):
        alike = alike or natural[:1]
    for name in alike:
        yield said(("fields", name), "key_constant", name=name)


def _payment_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """A flag that is always true without an amount, and an amount where no row can be cash on delivery."""
    flag = spec.fields.get("is_cod")
    says = (flag.constant or "").strip().lower() if flag else ""
    amount = next((name for name in _AMOUNTS if name in spec.fields), "")
    nought = amount and (spec.fields[amount].constant or "1").strip().strip("0.") == ""
    if says == "true" and (nought or not amount):
        yield said(("fields", "is_cod"), "cod")
    elif amount and not nought and flag is None and not spec.operation.changes_order:  # a change need not repeat it
        yield said(("fields", amount), "no_flag", amount=amount)
    elif amount and not nought and flag is not None and says == "false" and flag.when is None:
        yield said(("fields", amount), "no_cod", amount=amount)


def _column_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """Columns that rules name and no field reads, rules that drop what is to be filled, and what is ignored and used.

    Rows are left out before blank cells are filled down: such a rule would drop the lines below the first.
    """
    sheet, read = spec.sheet, _known(_read(spec.everything.values()))
    asked: list[tuple[Place, str]] = [(("key", index), name) for index, name in enumerate(spec.key)]
    for rule in ("skip_rows_where", "only_rows_where"):
        asked += [(("sheet", rule, name), name) for name in getattr(sheet, rule)]
    for place, field in spec.everything.items():
        asked += [((*place_of(place), "when", name), name) for name in field.when or ()]
    known = read | _known(spec.ignore)
    for where, name in asked:
        identity = ColumnName.of(name).identity
        near = next((other for other in known if is_slip(identity, other)), "") if identity not in known else ""
        if near:
            yield said(where, "slip", name=name, near=known[near])
    known = read | _known([*(spec.lines_sheet.key if spec.lines_sheet else ()), *(name for _, name in asked)])
    filled = _known(sheet.fill_down)
    for index, name in enumerate(sheet.fill_down):
        if (identity := ColumnName.of(name).identity) not in known:
            for each in get_close_matches(identity, list(known), n=1):
                yield said(("sheet", "fill_down", index), "filled_near", name=name, near=known[each])
    for name, patterns in sheet.only_rows_where.items():
        if ColumnName.of(name).identity in filled and all(pattern.strip() for pattern in patterns):
            yield said(("sheet", "only_rows_where", name), "left_out_blank", name=name)
    for index, name in enumerate(spec.ignore):
        if ColumnName.of(name).identity in read:
            yield said(("ignore", index), "ignored", name=name)
    yield from _named_twice(spec)


def _named_twice(spec: MappingSpec) -> Iterator[LintFinding]:
    """A column that is read alike as the name of a person and as that of the goods."""
    people = [(name, spec.fields[name]) for name in _PEOPLE if name in spec.fields]
    goods = [(name, spec.lines[name]) for name in _GOODS if name in spec.lines]
    for (person, one), (item, other) in product(people, goods):
        known, others = _known(one.from_ or ()), _known(other.from_ or ())
        for name in [known[each] for each in known if each in others and one.read == other.read]:
            yield said(("fields", person), "named_twice", name=name, person=person, item=item)


def _control_totals(spec: MappingSpec) -> Iterator[LintFinding]:
    """Totals of what no sheet has, or of rows that no rule leaves out."""
    made = _known(spec.lines_from.made) if spec.lines_from else {}
    leaves_out = spec.sheet.skip_rows_where or spec.sheet.only_rows_where or spec.sheet.hidden_rows != "read"
    for index, control in enumerate(spec.checks.control_total):
        found = {
            ("column", "total_made"): ColumnName.of(control.column).identity in made,
            ("also_rows_where", "total_also"): control.also_rows_where and not leaves_out,
            ("says", "total_documents"): control.says == "documents" and _reads_receipts(spec),
        }
        for (key, code), is_so in found.items():
            if is_so:
                yield said(("checks", "control_total", index, key), code, name=control.column)


# In words of their own.
_ASKED_APART: Final = (
    "lookup", "when", "date", "unit", "suffix", "join", "operation", "skip_rows_where", "sheet", "times", "cartons"
)  # fmt: skip


def open_questions(data: Any) -> Iterator[LintFinding]:
    """A complaint for each question of a draft that nobody has answered yet, in the order of the file."""
    return (asked for asked, _ in questions_of(data))


def questions_of(data: Any) -> Iterator[tuple[LintFinding, list[str]]]:
    """Each open question of a draft, with the answers between which a person chooses.

    Where the key and what it is made of ask the same, it is asked once.
    """
    asked, operation = [*_questions_in(data)], data.get("operation")
    groups = targets_of(Operation(operation)).natural if operation in list(Operation) else ()
    made_of = [("fields", name) for group in groups for name in group]
    of_fields = [names for finding, names in asked if finding.place[:2] in made_of]
    of_key = [names for finding, names in asked if finding.place[:1] == ("key",)]
    for finding, names in asked:
        if finding.place[:2] in made_of and names in of_key:
            also = messages.reason("mapping.draft.also_key", {})
            yield finding._replace(remedy=f"{finding.remedy} {also}"), names
        elif finding.place[:1] != ("key",) or names not in of_fields:
            yield finding, names


def _questions_in(data: Any, place: Place = ()) -> Iterator[tuple[LintFinding, list[str]]]:
    if isinstance(data, list) and (asked := [each for each in data if _is_open(each)]):
        yield _asked((*place, data.index(asked[0])), asked)
        data = [each for each in data if not _is_open(each)]
    for key, value in _below(data):
        if key in ("times", "cartons") and _is_open(value):
            yield _asked((*place, key), [value], beside=str(data.get("from", "")).removeprefix(MARK))
        else:
            yield from _questions_in(value, (*place, key))
    if _is_open(data):
        yield _asked(place, [data])


def _below(data: Any) -> Iterable[tuple[Any, Any]]:
    return data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()


def _is_open(value: Any) -> bool:
    return isinstance(value, str) and (value == MARK.strip() or value.startswith(MARK))


def _asked(place: Place, asked: list[str], *, beside: str = "") -> tuple[LintFinding, list[str]]:
    """What a draft asks, by a key above the question, and how it is answered; and the answers without their mark.

    beside: the column that would be multiplied.
    """
    field = next((str(part) for part in (place[1:2] or place[:1])), "")
    names = [text.removeprefix(MARK.strip()).strip() for text in asked]
    named = "key" if place[:1] == ("key",) else next((part for part in _ASKED_APART if part in place), "")
    above = "above" if place[-1:] in (("cell",), ("beside",)) else "is_it"
    if names == [""]:
        named = {"": _of_field("missing", field), "key": "no_key", "date": "no_date"}.get(named, named)
    column = place[2] if named == "skip_rows_where" else beside
    code = named or ("which" if len(asked) > 1 else _of_field(above, field))
    return said(place, f"draft.{code}", names=names, field=field, last=place[-1] if place else "", column=column), names


def _of_field(code: str, field: str) -> str:
    """The question as it is put of this field, where it has words of its own."""
    return own if f"mapping.draft.{(own := f'{code}.{field}')}" in messages.CATALOGUE else code


def raw_findings(data: dict[str, Any]) -> Iterator[LintFinding]:
    """What can be said before the values are checked: keys without a value, and target names."""
    may_be_left_out = {
        field.alias or name
        for part in Part.__subclasses__()
        for name, field in part.model_fields.items()
        if field.default is None
    }
    yield from _empty_keys(data, (), may_be_left_out)
    operation = data.get("operation")
    if operation not in list(Operation):
        return
    targets = targets_of(Operation(operation))
    kits = data.get("kits")
    parts = {
        ("fields",): (data.get("fields"), targets.header, targets.lines),
        ("lines",): (data.get("lines"), targets.lines, targets.header),
        ("kits", "lines"): (kits.get("lines") if isinstance(kits, dict) else None, targets.lines, targets.header),
    }
    for place, (named, here, others) in parts.items():
        for name in named if isinstance(named, dict) else ():
            if name not in here:
                other = "lines" if place == ("fields",) else "fields"
                told = {"name": name, "operation": operation, "part": place[-1], "other": other}
                yield _unknown_target((*place, name), told, here, others)


def _empty_keys(data: Any, place: Place, may_be_left_out: set[str]) -> Iterator[LintFinding]:
    for key, value in _below(data):
        if value is None and key in may_be_left_out:
            yield said((*place, key), "empty", key=key)
        yield from _empty_keys(value, (*place, key), may_be_left_out)


def _unknown_target(place: Place, told: dict[str, str], here: tuple[str, ...], others: tuple[str, ...]) -> LintFinding:
    """told: name, operation, part, and the other part. here, others: the targets of these parts."""
    name = told["name"]
    near = get_close_matches(name, here, n=1) or get_close_matches(name, others, n=1)
    if name in others:
        return said(place, "target.elsewhere", **told)
    if near:
        return said(place, "target.near" if near[0] in here else "target.near_elsewhere", **told, near=near[0])
    if name == "order_id" or not here:
        return said(place, "target.order_id" if name == "order_id" else "target.none", **told)
    return said(place, "target", **told, known=here[:12], more=" …" if len(here) > 12 else "")
