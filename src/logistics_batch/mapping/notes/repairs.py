"""What was repaired in cells, in words: one by one where it is little, else how much and the first."""

import re
from collections.abc import Sequence
from typing import Final

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.rows.cells import SHOWN_REPAIRS, ColumnKind, Repairs
from logistics_batch.mapping.spec.texts import printable_text
from logistics_batch.messages.words import listed
from logistics_batch.model.issue import cell_address

_COLUMNS_ON_THEIR_OWN: Final = 3
_SHOWN: Final = (ColumnKind.NUMBER, ColumnKind.GOODS, ColumnKind.IDENTITY)  # what says nothing of a person
_A_CODE: Final = re.compile(r"(?=.*[0-9])[^ ]{1,40}")  # an identity may be made of a person's name


def repair_notes(table: CompiledSheet, repairs: Sequence[Repairs]) -> list[str]:
    """A note for each column, or one for all where there are many."""
    if len(repairs) <= _COLUMNS_ON_THEIR_OWN:
        return [f'Column "{_name(table, each)}": {_of_column(table, each)}.' for each in repairs]
    names = listed([_name(table, each) for each in repairs], limit=8)
    cells = sum(each.rows.len() for each in repairs)
    first = _cell(table, repairs[0])
    return [f"{cells:,} cells were repaired without loss in the columns {names}; the first is {first}."]


def _of_column(table: CompiledSheet, repairs: Repairs) -> str:
    if repairs.rows.len() > SHOWN_REPAIRS:
        return f"{repairs.rows.len():,} cells were repaired without loss; the first is {_cell(table, repairs)}"
    told = ", ".join(_cell(table, repairs, place) for place in range(repairs.rows.len()))
    return f"repaired without loss: {told}"


def _cell(table: CompiledSheet, repairs: Repairs, place: int = 0) -> str:
    row = int(repairs.rows[place])
    is_whole = table.sheet.origins is None
    where = cell_address(row, repairs.column) if is_whole else f"in row {table.sheet.physical_rows([row])[0]}"
    was, now = repairs.first[place]
    if repairs.use not in _SHOWN or not _A_CODE.fullmatch(now):
        return where
    return f'{where} ("{printable_text(was)}" is {now})'


def _name(table: CompiledSheet, repairs: Repairs) -> str:
    return table.bound.texts[repairs.column - 1].strip()
