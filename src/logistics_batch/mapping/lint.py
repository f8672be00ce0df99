"""What is wrong with a mapping that is well-formed: targets, dates, units, tables, and what the service demands."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from logistics_batch.mapping import dates, numbers
from logistics_batch.mapping.names import ColumnName
from logistics_batch.mapping.spec import DateRead, FieldSpec, LookupRead, MappingSpec, UnitRead
from logistics_batch.mapping.targets import SHIPMENT_OF_A_LABEL, Form, Targets, form_of, targets_of
from logistics_batch.model.document import Operation

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something wrong at a place of a mapping file; places are keys and positions, as pydantic gives them."""

    place: Place
    message: str
    remedy: str = ""


def raw_complaints(data: dict[str, Any]) -> Iterator[Complaint]:
    """What can be said before the values are checked: names that only the program may use, and target names."""
    yield from _inner_names(data)
    operation = data.get("operation")
    if operation not in list(Operation):
        return
    targets = targets_of(Operation(operation))
    for part, known in (("fields", targets.header), ("lines", targets.lines)):
        named = data.get(part)
        for name in named if isinstance(named, dict) else ():
            if name not in known:
                yield _unknown_target(part, name, targets)
    kits = data.get("kits")
    contents = kits.get("lines") if isinstance(kits, dict) else None
    for name in contents if isinstance(contents, dict) else ():
        if name not in targets.lines:
            found = _unknown_target("lines", name, targets)
            yield Complaint(("kits", "lines", name), found.message, found.remedy)


def _inner_names(data: Any, place: Place = ()) -> Iterator[Complaint]:
    """`from_` and `with_`, which the models know `from` and `with` by."""
    below = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in below:
        if key in ("from_", "with_") and len(place) > 1:
            yield Complaint((*place, key), f"Unknown key `{key}`.", f"Did you mean `{key[:-1]}`?")
        yield from _inner_names(value, (*place, key))


def _unknown_target(part: str, name: str, targets: Targets) -> Complaint:
    other, others = ("lines", targets.lines) if part == "fields" else ("fields", targets.header)
    here = targets.header if part == "fields" else targets.lines
    message = f"`{name}` is no target of `{targets.operation.value}` under `{part}`."
    if name in others:
        return Complaint((part, name), message, f"It belongs under `{other}`.")
    near = get_close_matches(name, here, n=1) or get_close_matches(name, others, n=1)
    if near:
        where = "" if near[0] in here else f" under `{other}`"
        return Complaint((part, name), message, f"Did you mean `{near[0]}`{where}?")
    if name == "order_id":
        return Complaint((part, name), message, "Which order is meant stands at the top: `order_id: {from: AWB}`.")
    known = ", ".join(here[:12]) + (" …" if len(here) > 12 else "")
    return Complaint((part, name), message, f"Known: {known}." if known else "It has none.")


def complaints_of(spec: MappingSpec) -> Iterator[Complaint]:
    """What is wrong with a mapping whose values all have the right form."""
    yield from _demanded(spec, targets_of(spec.operation))
    yield from _order_complaints(spec)
    yield from _lines_from_complaints(spec)
    yield from _lines_sheet_complaints(spec)
    if spec.kits and spec.operation is not Operation.ORDER_CREATE:
        yield Complaint(("kits",), f"`kits` has no place in `{spec.operation.value}`.", "It belongs to `order.create`.")
    if spec.kits and "item_name" not in spec.kits.lines:
        yield Complaint(("kits", "lines"), "`item_name` is required and not mapped.", "Add `item_name:` under `lines`.")
    if spec.operation is not Operation.RECEIPT_READ and not spec.key:
        yield Complaint((), "`key` is missing.", "Name the columns whose values rows of one document share.")
    for place, field in spec.everything.items():
        yield from _field_complaints(spec, place, field)
    yield from _ignored_and_used(spec)


def _demanded(spec: MappingSpec, targets: Targets) -> Iterator[Complaint]:
    """Required targets that nothing fills."""
    for place in targets.required:
        part, name = place.split(".")
        wanted = part == "fields" or spec.lines or targets.lines_wanted
        if wanted and place not in spec.everything:
            yield Complaint((part,), f"`{name}` is required and not mapped.", f"Add `{name}:` under `{part}`.")
    for group in targets.either:
        if not any(name in spec.fields for name in group):
            named = " or ".join(f"`{name}`" for name in group)
            yield Complaint(("fields",), f"{named} is required and neither is mapped.", "Map one of them.")


def _order_complaints(spec: MappingSpec) -> Iterator[Complaint]:
    """Which order and which items a change is about, and what a label is asked for with."""
    operation = spec.operation
    if operation.changes_order and spec.order_id is None:
        remedy = "Add `order_id: {from: AWB}`, or `order_id: {ledger: Order No}` for reference numbers sent from here."
        yield Complaint((), f"`order_id` is missing: `{operation.value}` must say which order is meant.", remedy)
    if not operation.changes_order and spec.order_id is not None:
        changes = ", ".join(f"`{each.value}`" for each in Operation if each.changes_order)
        yield Complaint(("order_id",), f"`order_id` has no place in `{operation.value}`.", f"It belongs to {changes}.")
    if operation is Operation.ORDER_DELETE_ITEMS and not spec.lines:
        remedy = "Add `item_id:`, or `item_name:` for orders that were sent from here, under `lines`."
        yield Complaint(("lines",), "Nothing says which items are to be deleted.", remedy)
    if operation is Operation.LABEL_CREATE and "awb_number" in spec.fields:
        for name in SHIPMENT_OF_A_LABEL:
            if name not in spec.fields:
                message = f"`{name}` is required beside `awb_number` and not mapped."
                remedy = f"Add `{name}:` under `fields`, or map `order_numbers` alone."
                yield Complaint(("fields",), message, remedy)


def _lines_from_complaints(spec: MappingSpec) -> Iterator[Complaint]:
    """Columns that `lines_from` makes: used, and not for what stands once in a document."""
    if spec.lines_from is None:
        return
    by_row = spec.operation is Operation.RECEIPT_READ
    if not spec.lines and not by_row:
        yield Complaint(("lines_from",), "`lines_from` makes lines, and `lines` is missing.", "Map them under `lines`.")
    made = {ColumnName.of(name).identity: name for name in spec.lines_from.made}
    used: set[str] = set()
    for place, field in spec.everything.items():
        part, target = place.split(".", 1)
        for name in (name for names in field.columns for name in names):
            identity = ColumnName.of(name).identity
            used.add(identity)
            if identity in made and part == "fields" and not by_row:
                message = f"`{name}` differs from line to line and cannot stand under `fields`."
                yield Complaint((part, target), message, "Use it under `lines` or `keep`.")
    for identity, name in made.items():
        if identity not in used:
            known = ", ".join(f"`{each}`" for each in spec.lines)
            yield Complaint(
                ("lines_from",), f"`{name}` is not used.", f"Use it as `{{from: {name}}}` in one of {known or 'lines'}."
            )


def _lines_sheet_complaints(spec: MappingSpec) -> Iterator[Complaint]:
    """A second sheet goes with nothing else that makes lines, and is joined by as many columns as the key has."""
    if spec.lines_sheet is None:
        return
    here: Place = ("lines_sheet",)
    if spec.operation is Operation.RECEIPT_READ:
        yield Complaint(
            here, "`lines_sheet` has no place in `receipt.read`: each of its rows stands alone.", "Remove it."
        )
        return
    for name in ("lines_from", "kits"):
        if getattr(spec, name) is not None:
            yield Complaint(here, f"`lines_sheet` and `{name}` cannot be used together.", "Keep one of the two.")
    if not spec.lines:
        yield Complaint(here, "`lines_sheet` reads lines, and `lines` is missing.", "Map them under `lines`.")
    if spec.key and len(spec.key) != len(spec.lines_sheet.key):
        message = f"`key` and the key of `lines_sheet` name {len(spec.key)} and {len(spec.lines_sheet.key)} columns."
        yield Complaint((*here, "key"), message, "Name as many, in the same order.")
    if spec.checks.control_total:
        message = "`control_total` reads one sheet and cannot be used with `lines_sheet`."
        yield Complaint(("checks", "control_total"), message, "Remove it.")


def _field_complaints(spec: MappingSpec, place: str, field: FieldSpec) -> Iterator[Complaint]:
    part, name = place.split(".", 1)
    here: Place = ("kits", "lines", name) if part == "kit_lines" else (part, name)
    if part in ("lines", "kits", "kit_lines") and field.source in ("sum", "first"):
        yield Complaint(here, f"`{field.source}` speaks of a whole document; it cannot stand under `lines`.")
    for index, step in enumerate(field.read or ()):
        where: Place = (*here, "read", index) if len(field.read or ()) > 1 else (*here, "read")
        if isinstance(step, DateRead):
            yield from _date_complaints((*where, "date"), step)
            if field.source == "join":
                yield Complaint((*where, "date"), "Joined columns cannot be read as a date.", "Use `from`.")
        elif isinstance(step, UnitRead) and numbers.unit_pair(step.unit) is None:
            known = ", ".join(numbers.UNIT_NAMES)
            yield Complaint((*where, "unit"), f"`{step.unit}` is no conversion.", f"Write `g -> kg`. Known: {known}.")
        elif isinstance(step, LookupRead) and isinstance(step.lookup, dict):
            last = index == len(field.read or ()) - 1
            form = form_of(name, spec.operation) if part != "keep" and last else Form.TEXT
            yield from _table_complaints((*where, "lookup"), step.lookup, form)


def _date_complaints(where: Place, step: DateRead) -> Iterator[Complaint]:
    for date_format in step.date:
        if fault := dates.format_fault(date_format):
            yield Complaint(where, fault)
    for index, one in enumerate(step.date):
        for other in step.date[index + 1 :]:
            if dates.contradict(one, other):
                message = f"`{one}` and `{other}` read the same cell as different dates."
                yield Complaint(where, message, "Keep the one that the sheets use.")


def _table_complaints(where: Place, table: dict[str, str], form: Form) -> Iterator[Complaint]:
    if not table:
        yield Complaint(where, "The table is empty.", "List each value that sheets hold, and what it means.")
    seen: dict[str, str] = {}
    for key, value in table.items():
        folded = key.strip().lower()
        if seen.setdefault(folded, value) != value:
            yield Complaint((*where, key), f"`{key}` is listed with different answers; case does not matter here.")
        if form is Form.FLAG and value not in ("true", "false"):
            yield Complaint((*where, key), f"`{value}` is not allowed here.", 'Write "true" or "false".')


def _ignored_and_used(spec: MappingSpec) -> Iterator[Complaint]:
    used = {
        ColumnName.of(name).identity for field in spec.everything.values() for group in field.columns for name in group
    }
    for index, name in enumerate(spec.ignore):
        if ColumnName.of(name).identity in used:
            yield Complaint(("ignore", index), f"`{name}` is ignored and used.", "Keep one of the two.")
