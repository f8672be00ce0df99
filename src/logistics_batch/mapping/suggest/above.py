"""What stands outside the table of an unknown sheet: labels with their values, as `Invoice No` beside `INV-22`."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.naming.names import reading_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.rows.outside import MARKS, Cell, Outside, filled, names_something
from logistics_batch.mapping.suggest.head import is_label
from logistics_batch.model.issue import cell_address
from logistics_batch.model.sheet import Sheet

_IN_BRACKETS: Final = re.compile(r"[(\[][^()\[\]]{1,15}[)\]]")
_CELLS_OF_A_NOTE, _WORDS_OF_A_NOTE = 2, 4
_APART: Final = 5  # columns, at most, between a label and a value that the mapping reads by its address


@dataclass(frozen=True, slots=True)
class Fact:
    """A value outside the table, with its label and the address of its cell.

    by: how a mapping reads it, `beside` with the label or `cell` with the address. under: of a total below the table,
    the column in which it stands.
    """

    label: str
    value: str
    address: str
    by: tuple[str, str]
    under: str = ""

    def source(self, mark: str = "") -> dict[str, str]:
        """How a mapping reads it. mark: what stands before a question."""
        return {self.by[0]: mark + self.by[1]} | ({"under": self.under} if self.under else {})


def facts_of(sheet: Sheet, rows: pl.DataFrame, *, header: int) -> tuple[Fact, ...]:
    """The facts in the rows above a table, or in those below it, each label once. header: the table's first row."""
    cells = filled(rows)
    is_below = any(row > header for row, _ in cells)
    outside = Outside(sheet, Header(header, (), {}), {} if is_below else cells, cells if is_below else {})
    outside = replace(outside, end=header if is_below else outside.end)
    found: dict[str, Fact] = {}
    for cell, text in cells.items():
        label, _, value = (part.strip(MARKS) for part in text.partition(":"))
        taken = {fact.address for fact in found.values()}
        is_named = ":" in text or bool(reading_of(label).meanings)
        if cell_address(*cell) in taken or not label or not is_label(label) or not is_named:
            continue
        if value:
            fact: Fact | None = Fact(label, value, cell_address(*cell), ("beside", label))
        else:
            fact = _fact(outside, cell, label)
            own, colon, _ = fact.value.partition(":") if fact else ("", "", "")
            fact = None if colon and is_label(own) else fact  # it stands behind a label of its own
        if fact is not None:
            found.setdefault(label, fact)
    return tuple(found.values())


def _fact(outside: Outside, cell: Cell, label: str) -> Fact | None:
    """What a mapping reads beside a label; else the next value in its row, by its address."""
    with suppress(FileHeld):  # of a label with two cells that may be meant
        value = outside.next_to(cell, label, numbered=False)
        if value.text:
            return Fact(label, value.text, cell_address(*value.cell), ("beside", label))
    if outside.below:  # in a longer table it would have another address
        return None
    right = ((place, text) for place, text in outside.cells.items() if place[0] == cell[0] and place[1] > cell[1])
    place, text = next(((place, text) for place, text in right if text.strip(MARKS)), (cell, label))
    address = cell_address(*place)
    is_value = cell[1] < place[1] <= cell[1] + _APART and not names_something(text)
    return Fact(label, text, address, ("cell", address)) if is_value else None


def notes_of(rows: pl.DataFrame, names: Sequence[str]) -> dict[int, tuple[str, str]]:
    """The rows that are sentences below all others, and one of units below the header: by their places the column and
    a pattern of the cell.
    """
    found = dict[int, tuple[str, str]]()
    filled = [[(name, cell) for name, cell in zip(names, cells, strict=True) if cell] for cells in rows.iter_rows()]
    if filled and filled[0] and all(_IN_BRACKETS.fullmatch(cell) for _, cell in filled[0]):
        found[0] = filled[0][0]
    for at in range(len(filled) - 1, 0, -1):
        if not filled[at]:
            continue
        name, cell = filled[at][0]
        if len(filled[at]) > _CELLS_OF_A_NOTE or any(len(text.split()) < _WORDS_OF_A_NOTE for _, text in filled[at]):
            break
        words = re.split(r"\d", cell)[0].split()[:_WORDS_OF_A_NOTE]
        if names.count(name) == 1 and words:
            found[at] = name, f"{' '.join(words)}*"
    return {at: each for at, each in found.items() if each[0]}
