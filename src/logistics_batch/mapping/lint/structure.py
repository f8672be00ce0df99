"""What is wrong with a mapping that is well-formed: targets, keys, lines, and what the service demands."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import takewhile
from typing import Final

from logistics_batch.mapping.lint.fields import LintFinding, Place, field_findings, payment_findings, place_of
from logistics_batch.mapping.spec.model import (
    LinesFromSpec,
    MappingSpec,
)
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import RECEIPT_TARGETS, SHIPMENT_OF_A_LABEL, Targets, targets_of
from logistics_batch.mapping.spec.texts import printable_text
from logistics_batch.model.document import Operation

_KEPT_NAME: Final = re.compile(r"[\w-]+")
_LETTERS_OF_A_SLIP: Final = 5  # shorter names are easily alike: Rate, Date
_TAKEN: Final = ("row",)
_TAKEN_OF_RECEIPTS: Final = ("file_name", "sheet", *RECEIPT_TARGETS)


def structure_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """What is wrong with a mapping whose values all have the right form."""
    yield from _demanded(spec, targets_of(spec.operation))
    yield from _order_findings(spec)
    yield from _lines_from_findings(spec)
    yield from _lines_sheet_findings(spec)
    if spec.kits and spec.operation is not Operation.ORDER_CREATE:
        yield LintFinding(
            ("kits",), f"`kits` has no place in `{spec.operation.value}`.", "It belongs to `order.create`."
        )
    if spec.kits and "item_name" not in spec.kits.lines:
        yield LintFinding(
            ("kits", "lines"), "`item_name` is required and not mapped.", "Add `item_name:` under `lines`."
        )
    yield from _key_findings(spec)
    for place, field in spec.everything.items():
        yield from field_findings(spec, place, field)
    yield from payment_findings(spec)
    yield from _kept_names(spec)
    yield from _slips(spec)
    yield from _filled_down(spec)
    yield from _control_totals(spec)
    yield from _left_out_blank(spec)
    yield from _ignored_and_used(spec)


def _demanded(spec: MappingSpec, targets: Targets) -> Iterator[LintFinding]:
    """Required targets that nothing fills."""
    for place in targets.required:
        part, name = place.split(".")
        wanted = part == "fields" or spec.lines or targets.lines_wanted
        if wanted and place not in spec.everything:
            yield LintFinding((part,), f"`{name}` is required and not mapped.", f"Add `{name}:` under `{part}`.")
    for group in targets.either:
        if not any(name in spec.fields for name in group):
            named = " or ".join(f"`{name}`" for name in group)
            yield LintFinding(("fields",), f"{named} is required and neither is mapped.", "Map one of them.")


def _order_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """Which order and which items a change is about, and what a label is asked for with."""
    operation = spec.operation
    if operation.changes_order and spec.order_id is None:
        remedy = "Add `order_id: {from: AWB}`, or `order_id: {ledger: Order No}` for reference numbers sent from here."
        yield LintFinding((), f"`order_id` is missing: `{operation.value}` must say which order is meant.", remedy)
    if not operation.changes_order and spec.order_id is not None:
        changes = ", ".join(f"`{each.value}`" for each in Operation if each.changes_order)
        yield LintFinding(
            ("order_id",), f"`order_id` has no place in `{operation.value}`.", f"It belongs to {changes}."
        )
    if operation is Operation.ORDER_DELETE_ITEMS and not spec.lines:
        remedy = "Add `item_id:`, or `item_name:` for orders that were sent from here, under `lines`."
        yield LintFinding(("lines",), "Nothing says which items are to be deleted.", remedy)
    if operation is Operation.LABEL_CREATE and "awb_number" in spec.fields:
        for name in SHIPMENT_OF_A_LABEL:
            if name not in spec.fields:
                message = f"`{name}` is required beside `awb_number` and not mapped."
                remedy = f"Add `{name}:` under `fields`, or map `order_numbers` alone."
                yield LintFinding(("fields",), message, remedy)


def _lines_from_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """Columns that `lines_from` makes: used, and not for what stands once in a document."""
    if spec.lines_from is None:
        return
    by_row = spec.operation is Operation.RECEIPT_READ
    if not spec.lines and not by_row:
        yield LintFinding(
            ("lines_from",), "`lines_from` makes lines, and `lines` is missing.", "Map them under `lines`."
        )
    made = {ColumnName.of(name).identity: name for name in spec.lines_from.made}
    yield from _numbered_apart(spec, spec.lines_from, set(made))
    used: set[str] = set()
    for place, field in spec.everything.items():
        part, target = place.split(".", 1)
        for name in (name for names in field.columns for name in names):
            identity = ColumnName.of(name).identity
            used.add(identity)
            if identity in made and part == "fields" and not by_row:
                message = f"`{name}` differs from line to line and cannot stand under `fields`."
                yield LintFinding((part, target), message, "Use it under `lines` or `keep`.")
    for identity, name in made.items():
        if identity not in used:
            known = ", ".join(f"`{each}`" for each in spec.lines)
            yield LintFinding(
                ("lines_from",),
                f"`{name}` is not used.",
                f"Use it as `{{from: {name}}}` in one of {known or 'lines'}.",
            )


def _numbered_apart(spec: MappingSpec, form: LinesFromSpec, made: set[str]) -> Iterator[LintFinding]:
    """Numbered columns that a field reads and that `lines_from` does not make: no sheet has a column `Qty {n}`."""
    for place, field in spec.everything.items():
        for name in (name for names in field.columns for name in names):
            if re.search(r"\{\w+\}", name) and ColumnName.of(name).identity not in made:
                message = f"`{name}` is not among the columns that `lines_from` makes."
                wanted = f"Add it: `columns: [{', '.join(form.columns or [])}, {name}]`."
                yield LintFinding(place_of(place), message, wanted if form.columns else "Name the column itself.")


def _lines_sheet_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """A second sheet goes with nothing else that makes lines, and is joined by as many columns as the key has."""
    if spec.lines_sheet is None:
        return
    here: Place = ("lines_sheet",)
    if spec.operation is Operation.RECEIPT_READ:
        yield LintFinding(
            here, "`lines_sheet` has no place in `receipt.read`: each of its rows stands alone.", "Remove it."
        )
        return
    for name in ("lines_from", "kits"):
        if getattr(spec, name) is not None:
            yield LintFinding(here, f"`lines_sheet` and `{name}` cannot be used together.", "Keep one of the two.")
    if not spec.lines:
        yield LintFinding(here, "`lines_sheet` reads lines, and `lines` is missing.", "Map them under `lines`.")
    if spec.key and len(spec.key) != len(spec.lines_sheet.key):
        message = f"`key` and the key of `lines_sheet` name {len(spec.key)} and {len(spec.lines_sheet.key)} columns."
        yield LintFinding((*here, "key"), message, "Name as many, in the same order.")
    if spec.checks.control_total:
        message = "`control_total` reads one sheet and cannot be used with `lines_sheet`."
        yield LintFinding(("checks", "control_total"), message, "Remove it.")


def _key_findings(spec: MappingSpec) -> Iterator[LintFinding]:
    """The key: it must be there, name each column once, and let documents differ."""
    if spec.operation is Operation.RECEIPT_READ:
        return
    if not spec.key:
        yield LintFinding((), "`key` is missing.", "Name the columns whose values rows of one document share.")
    seen: dict[str, str] = {}
    for index, name in enumerate(spec.key):
        if (earlier := seen.setdefault(ColumnName.of(name).identity, name)) is not name:
            yield LintFinding(("key", index), f"`{name}` is the same column as `{earlier}`.", "Name it once.")
    natural = [
        spec.fields[name] for group in targets_of(spec.operation).natural for name in group if name in spec.fields
    ]
    if natural and spec.order_id is None and all(field.source in ("constant", "run") for field in natural):
        name = next(name for group in targets_of(spec.operation).natural for name in group if name in spec.fields)
        message = f"`{name}` tells one document from another; it cannot be the same for all."
        yield LintFinding(("fields", name), message, "Take it from a column.")


def _kept_names(spec: MappingSpec) -> Iterator[LintFinding]:
    """What is kept goes by its name into reports and into the sorting of labels."""
    for name in spec.keep:
        if not _KEPT_NAME.fullmatch(name):
            message = f"`{printable_text(name)}` is no name for what is kept."
            yield LintFinding(("keep", name), message, "Write letters, digits, `_` and `-` alone, as `po_number`.")
        elif name in _TAKEN or (spec.operation is Operation.RECEIPT_READ and name in _TAKEN_OF_RECEIPTS):
            yield LintFinding(("keep", name), f"The name `{name}` is taken.", "Give it another name.")


def _filled_down(spec: MappingSpec) -> Iterator[LintFinding]:
    """Columns that are filled down, and then read by nothing."""
    conditions = [*spec.sheet.skip_rows_where, *spec.sheet.only_rows_where]
    on_lines = spec.lines_sheet.key if spec.lines_sheet else []
    known = {ColumnName.of(name).identity: name for name in (*_used(spec), *spec.key, *on_lines, *conditions)}
    for index, name in enumerate(spec.sheet.fill_down):
        identity = ColumnName.of(name).identity
        if identity not in known:
            near = get_close_matches(identity, list(known), n=1)
            remedy = f"Did you mean `{known[near[0]]}`?" if near else "Name a column that a field or the key reads."
            yield LintFinding(("sheet", "fill_down", index), f"`{name}` is filled down and read by nothing.", remedy)


def _slips(spec: MappingSpec) -> Iterator[LintFinding]:
    """Columns of the key and of rules that no field reads and that are one letter away from one that is known."""
    read = [name for field in spec.everything.values() for names in field.columns for name in names]
    known = {ColumnName.of(name).identity: name for name in (*read, *spec.ignore)}
    asked: list[tuple[Place, str]] = [(("key", index), name) for index, name in enumerate(spec.key)]
    for rule in ("skip_rows_where", "only_rows_where"):
        asked += [(("sheet", rule, name), name) for name in getattr(spec.sheet, rule)]
    for place, field in spec.everything.items():
        asked += [((*place_of(place), "when", name), name) for name in field.when or ()]
    for where, name in asked:
        identity = ColumnName.of(name).identity
        meant = [] if identity in known else [other for other in known if _is_slip(identity, other)]
        if meant:
            remedy = f"Did you mean `{known[meant[0]]}`? If it is a column of its own, name it under `keep`, too."
            yield LintFinding(where, f"No field reads `{name}`.", remedy)


def _is_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter more, less or other, or by two that changed places; digits tell apart."""
    if min(len(one), len(other)) < _LETTERS_OF_A_SLIP or re.sub(r"\D", "", one) != re.sub(r"\D", "", other):
        return False
    begin = _shared(one, other)
    end = _shared(one[begin:][::-1], other[begin:][::-1])
    rest, others = one[begin : len(one) - end], other[begin : len(other) - end]
    return max(len(rest), len(others)) == 1 or (len(rest) == 2 and rest == others[::-1])


def _shared(one: str, other: str) -> int:
    """How many letters two words have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _left_out_blank(spec: MappingSpec) -> Iterator[LintFinding]:
    """Rows are left out before blank cells are filled down: such a rule would drop the lines below the first."""
    filled = {ColumnName.of(name).identity for name in spec.sheet.fill_down}
    for name, patterns in spec.sheet.only_rows_where.items():
        if ColumnName.of(name).identity in filled and all(pattern.strip() for pattern in patterns):
            message = f"`{name}` is filled down, but rows in which it is blank are left out before that."
            yield LintFinding(("sheet", "only_rows_where", name), message, 'Let blank cells fit as well: add "".')


def _control_totals(spec: MappingSpec) -> Iterator[LintFinding]:
    """Totals of what no sheet has, or of rows that no rule leaves out."""
    made = {ColumnName.of(name).identity for name in spec.lines_from.made} if spec.lines_from else set()
    leaves_out = spec.sheet.skip_rows_where or spec.sheet.only_rows_where or spec.sheet.hidden_rows != "read"
    for index, control in enumerate(spec.checks.control_total):
        here: Place = ("checks", "control_total", index)
        if ColumnName.of(control.column).identity in made:
            message = f"`{control.column}` is made by `lines_from`; no total row has such a cell."
            yield LintFinding((*here, "column"), message, "Name a column of the sheet.")
        if control.also_rows_where and not leaves_out:
            message = "No rule leaves rows out, so every row counts already."
            yield LintFinding((*here, "also_rows_where"), message, "Remove it.")
        if control.says == "documents" and spec.operation is Operation.RECEIPT_READ:
            message = "`receipt.read` has no documents: each of its rows stands alone."
            yield LintFinding((*here, "says"), message, "Write `says: rows`.")


def _used(spec: MappingSpec) -> list[str]:
    """The names of all columns that fields read or ask for."""
    found = [name for field in spec.everything.values() for names in field.columns for name in names]
    return [*found, *(name for field in spec.everything.values() for name in field.when or ())]


def _ignored_and_used(spec: MappingSpec) -> Iterator[LintFinding]:
    used = {
        ColumnName.of(name).identity for field in spec.everything.values() for group in field.columns for name in group
    }
    for index, name in enumerate(spec.ignore):
        if ColumnName.of(name).identity in used:
            yield LintFinding(("ignore", index), f"`{name}` is ignored and used.", "Keep one of the two.")
