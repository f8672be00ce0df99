"""Columns that were renamed: one that the mapping reads is missing, and a new one that nobody reads may be it."""

from collections.abc import Iterator
from typing import Final

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.sheet import Sheet

_PARTS_SENT: Final = ("fields", "lines", "kit_lines")


def hold_renamed(mapping: Mapping, sheet: Sheet, header: Header) -> None:
    """Refuse a file in which a renamed column would be replaced without a word. Raises FileHeld.

    A default would stand for what the column says (one piece for each of ten), or a town alone for a whole address.
    """
    if not header.unknown:
        return
    for place, field, group in _absent(mapping, header):
        target = place.split(".", 1)[1]
        if field.default is not None:
            loss = f'`{target}` would be "{field.default}" in all rows'
            is_counted = form_of(target, mapping.operation) is Form.QUANTITY
            new = _successor(mapping, sheet, header, group, shape="whole number" if is_counted else "")
        elif _is_part_of_an_address(mapping, header, place, field):
            loss = f"`{target}` would be sent without it"
            is_first = group in (field.join or [])[:1]
            new = _successor(mapping, sheet, header, group, shape="words" if is_first else "")
        else:
            continue
        if new:
            raise FileHeld(
                f'The column "{group[0]}" is missing, and {loss}; the new column "{new}" may be it.',
                rule=f"{target}|renamed",
                remedy=f'If it is, name it "{group[0]}" in the file, or add "{new}" to the names of the column in the '
                f'mapping; else name "{new}" under `ignore`.',
                rows_read=sheet.frame.height - 1,
                sheet=sheet.name,
                header_row=header.row,
            )


def notes_of_renamed(mapping: Mapping, sheet: Sheet, header: Header) -> Iterator[str]:
    """New columns that may be missing ones, and columns that were read by a later name while new ones were not."""
    if not header.unknown:
        return
    told: set[str] = set()
    for _, _, group in _absent(mapping, header):
        new = "" if group[0] in told else _successor(mapping, sheet, header, group)
        told.add(group[0])
        if new:
            yield (
                f'Column "{new}" may be "{group[0]}" of the mapping, which this sheet does not have, and was not used: '
                "add it to the names of that column, or name it under `ignore`."
            )
    if later := list(dict.fromkeys(_read_by_a_later_name(mapping, header))):
        yield (
            f"Beside columns that were not used, these were read by a later name of the mapping: {', '.join(later[:5])}"
            f"{' …' if len(later) > 5 else ''}: is one that was not used meant?"
        )


def _sent(mapping: Mapping) -> Iterator[tuple[str, FieldSpec, list[str]]]:
    """The columns of what is sent: place, field, the column's names."""
    for place, field in mapping.spec.everything.items():
        for group in field.columns if place.split(".", 1)[0] in _PARTS_SENT else ():
            yield place, field, group


def _absent(mapping: Mapping, header: Header) -> Iterator[tuple[str, FieldSpec, list[str]]]:
    """Those that the sheet lacks."""
    return (each for each in _sent(mapping) if header.column(each[2]) is None)


def _read_by_a_later_name(mapping: Mapping, header: Header) -> Iterator[str]:
    for _, _, group in _sent(mapping):
        if group[0] not in header.columns and (column := header.column(group)):
            yield f'"{header.texts[column - 1].strip()}" for "{group[0]}"'


def _is_part_of_an_address(mapping: Mapping, header: Header, place: str, field: FieldSpec) -> bool:
    """Whether a required address is joined of columns, of which others are there."""
    is_address = form_of(place.split(".", 1)[1], mapping.operation) is Form.ADDRESS and mapping.is_required(place)
    return is_address and any(header.column(group) is not None for group in field.join or ())


def _successor(mapping: Mapping, sheet: Sheet, header: Header, group: list[str], *, shape: str = "") -> str:
    """The new column that may be a missing one, "" if none; most files lack none, and load nothing for it."""
    from logistics_batch.mapping.suggest import successor_of

    return successor_of(mapping, sheet, header, group, shape=shape)
