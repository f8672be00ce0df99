"""What stands above the table of an unknown sheet: labels with their values, as `Invoice No` beside `INV-22`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.mapping.spec.words import PAYMENT_WORDS
from logistics_batch.mapping.suggest.head import is_label
from logistics_batch.mapping.suggest.names import reading_of
from logistics_batch.model.issue import cell_address
from logistics_batch.model.sheet import Sheet

MARKS: Final = " .:-=\u2013\uff1a"  # what may stand between a label and its value
_PAYMENTS: Final = frozenset(word.casefold() for word in PAYMENT_WORDS)
_APART: Final = 4  # columns, at most, between a label and a value that the mapping reads by its address

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fact:
    """A value above the table, with its label and the address of its cell.

    by: how a mapping reads it, `beside` with the label or `cell` with the address.
    """

    label: str
    value: str
    address: str
    by: tuple[str, str]


def facts_above(sheet: Sheet, header: int) -> tuple[Fact, ...]:
    """The facts above a table, each label once. header: the table's first row."""
    rows = sheet.frame.filter(pl.col("row") < header).iter_rows()
    cells = {
        (int(row), column): text.strip()
        for row, *texts in rows
        for column, text in enumerate(texts, 1)
        if text and text.strip()
    }
    ends = {(top, left): (bottom, right) for top, left, bottom, right in sheet.merged_ranges}
    found: dict[str, Fact] = {}
    taken: set[Cell] = set()
    for cell, text in cells.items():
        label, _, value = (part.strip(MARKS) for part in text.partition(":"))
        if cell in taken or not label or not is_label(label) or not reading_of(label).meanings:
            continue
        if value:
            found.setdefault(label, Fact(label, value, cell_address(*cell), ("beside", label)))
        else:
            for place, by in _values(cell, ends.get(cell, cell), label, cells):
                found.setdefault(label, Fact(label, cells[place], cell_address(*place), by))
                taken.add(place)
    return tuple(found.values())


def _values(cell: Cell, end: Cell, label: str, cells: dict[Cell, str]) -> Iterator[tuple[Cell, tuple[str, str]]]:
    """The value of a label: right of it or below, else further right in its row; no cell that is a label itself."""
    (row, column), (last, right) = cell, end
    right += 1
    while (text := cells.get((row, right))) and not text.strip(MARKS):
        right += 1
    for place in ((row, right), (last + 1, column)):
        if (text := cells.get(place)) and not _names_something(text):
            yield place, ("beside", label)
    for place in ((row, number) for number in range(right, right + _APART)):
        if text := cells.get(place):
            if not _names_something(text):
                yield place, ("cell", cell_address(*place))
            return


def _names_something(text: str) -> bool:
    """Whether a text is made of words that name columns and facts; a way of paying is a value."""
    if text.casefold() in _PAYMENTS:
        return False
    said = reading_of(text)
    return text.endswith(":") or (bool(said.meanings) and not said.unknown and is_label(text) and not said.digits)
