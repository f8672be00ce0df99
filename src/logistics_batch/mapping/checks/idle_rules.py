"""Rules on columns that are not there: misspelt or renamed, a column would switch its rule off without a word."""

from collections.abc import Sequence
from difflib import get_close_matches

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.model.sheet import Sheet


def hold_idle_skips(mapping: Mapping, read: Sequence[tuple[Sheet, Header]]) -> None:
    """Refuse a file in which no sheet that is read has a column of `skip_rows_where`. Raises FileHeld."""
    for name in mapping.spec.sheet.skip_rows_where:
        if all(header.column(mapping.names_of(name)) is None for _, header in read):
            raise _held(name, read, f'rows are left out by the column "{name}"', rule="skip_rows_where")


def hold_idle_conditions(mapping: Mapping, sheet: Sheet, header: Header) -> None:
    """Refuse a file in which a field could be read but for a column of its `when`. Raises FileHeld."""
    for place, field in mapping.spec.everything.items():
        for name in field.when or ():
            if header.column(mapping.names_of(name)) is None and _could_be_read(field, header):
                target = place.split(".", 1)[1]
                why = f'`{target}` is filled only by what stands in the column "{name}"'
                raise _held(name, [(sheet, header)], why, rule=f"{target}|when")


def hold_idle_payment(mapping: Mapping, sheet: Sheet, header: Header) -> None:
    """Refuse a file of new orders that has no column which says whether money is collected. Raises FileHeld.

    Renamed, it would make every order one that is paid. A default says what holds where the column is not there.
    """
    field = mapping.spec.fields.get("is_cod")
    if field is None or not field.columns or field.default is not None or not mapping.operation.creates:
        return
    if all(header.column(names) is None for names in field.columns):
        why = "the column that says whether an order is cash on delivery is"
        name = field.columns[0][0]
        raise _held(name, [(sheet, header)], f'{why} "{name}"', rule="is_cod|no_column")


def _could_be_read(field: FieldSpec, header: Header) -> bool:
    """Whether a field has a value without its condition; one whose own columns lack, too, is of another layout."""
    by_itself = field.source in ("constant", "run") or field.default is not None
    return by_itself or any(header.column(names) is not None for names in field.columns)


def _held(name: str, read: Sequence[tuple[Sheet, Header]], why: str, *, rule: str) -> FileHeld:
    sheet, header = read[0]
    spare = {ColumnName.of(text).identity: text for _, each in read for text in (*each.unknown, *each.unused)}
    near = get_close_matches(ColumnName.of(name).identity, list(spare), n=1, cutoff=0.6)
    hint = f'Is "{spare[near[0]]}" meant as "{name}"? ' if near else ""
    has = "the file has no such column" if len(read) == 1 else "none of its sheets has such a column"
    return FileHeld(
        f"By the mapping {why}, and {has}.",
        rule=rule,
        remedy=f"{hint}Name the column so in the file, or correct its name in the mapping.",
        rows_read=sheet.frame.height - 1,
        sheet=sheet.name,
        header_row=header.row,
    )
