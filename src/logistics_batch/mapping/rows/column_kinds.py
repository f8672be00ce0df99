"""What the columns of a sheet are used for: it decides which repairs of their cells are without loss."""

from typing import Final

from logistics_batch.mapping.fields.values.verbs import verb_of
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import ColumnKind
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.targets import Form, form_of

_NUMBERS: Final = frozenset({Form.MONEY, Form.DECIMAL, Form.PERCENT, Form.DEGREES, Form.QUANTITY, Form.COUNT})
_DIGITS: Final = frozenset({Form.MOBILE, Form.PINCODE})
_READ_AS: Final[dict[str, ColumnKind]] = {
    **dict.fromkeys(("integer", "decimal", "percent", "money", "unit"), ColumnKind.NUMBER),
    **dict.fromkeys(("mobile", "pincode"), ColumnKind.DIGITS),
}
_BY_STRICTNESS: Final = (
    ColumnKind.DIGITS,
    ColumnKind.IDENTITY,
    ColumnKind.NUMBER,
    ColumnKind.GOODS,
    ColumnKind.ADDRESS,
    ColumnKind.TEXT,
)
CODES_IN_TEXTS: Final = frozenset({"batch", "serial_number", "package_id", "pin_number"})
"""The targets of plain text that hold a code all the same."""


def column_kinds(mapping: Mapping, header: Header) -> dict[int, ColumnKind]:
    """What each bound column is used for; of several uses the strictest."""
    every = _all_uses(mapping, header)
    return {
        column: next((use for use in _BY_STRICTNESS if use in uses), ColumnKind.TEXT) for column, uses in every.items()
    }


def columns_of_codes(mapping: Mapping, header: Header) -> list[int]:
    """The columns that hold what something is known by, and that nothing reads as a number."""
    named = {
        column
        for place, field in mapping.spec.everything.items()
        if place.split(".", 1)[1] in CODES_IN_TEXTS and not place.startswith("keep.")
        for names in field.columns
        if (column := header.column(names)) is not None
    }
    read_as_numbers = {ColumnKind.NUMBER, ColumnKind.DIGITS}
    every = _all_uses(mapping, header)
    known = {column for column, uses in every.items() if uses & {ColumnKind.IDENTITY, ColumnKind.GOODS}}
    return sorted(column for column in known | named if not every[column] & read_as_numbers)


def _all_uses(mapping: Mapping, header: Header) -> dict[int, set[ColumnKind]]:
    found: dict[int, set[ColumnKind]] = {column: set() for column in header.columns.values()}
    for name in mapping.spec.key:
        if (column := header.column(mapping.names_of(name))) is not None:
            found[column].add(ColumnKind.IDENTITY)
    for place, field in mapping.spec.everything.items():
        part, target = place.split(".", 1)
        form = form_of(target, mapping.operation) if part != "keep" else Form.TEXT
        for names in field.columns:
            column = header.column(names)
            if column is not None:
                found[column].update([_use(form), *_uses_of_steps(field)])
    return found


def _use(form: Form) -> ColumnKind:
    if form is Form.ADDRESS:
        return ColumnKind.ADDRESS
    if form in _DIGITS:
        return ColumnKind.DIGITS
    if form in (Form.IDENTITY, Form.WAYBILL):
        return ColumnKind.IDENTITY
    if form is Form.GOODS:
        return ColumnKind.GOODS
    return ColumnKind.NUMBER if form in _NUMBERS else ColumnKind.TEXT


def _uses_of_steps(field: FieldSpec) -> set[ColumnKind]:
    """What the steps of `read` make of a cell: also where the target itself is plain text."""
    return {_READ_AS[name] for step in field.read or () if (name := verb_of(step).name) in _READ_AS}
