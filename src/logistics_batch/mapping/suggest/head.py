"""The head of an unknown sheet: the row that names the columns, or two; and labels with values outside the table."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.naming import LIKELY, NameReading, likeness, names_of_targets, reading_of
from logistics_batch.mapping.rows.header import SEARCHED_ROWS, Header, names_over_two_rows
from logistics_batch.mapping.rows.outside import MARKS, Cell, Outside, filled, names_something
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import cell_address
from logistics_batch.model.sheet import Sheet

LONGEST_NAME: Final = 100
_OF_GOODS: Final = frozenset(["item", "sku", "desc", "uom", "qty", "amount", "price", "pay", "box", "weight", "number"])
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_CHANGES: Final = re.compile(  # a date, or a number in a name of several words
    rf"(?i)(?:\b{_MONTH}[ .-]?)?(?<![^\W_])\d{{1,8}}(?:[ ./_-]?(?:\d{{1,8}}\b|{_MONTH}\b)){{0,3}}(?: ?\(\d{{1,3}}\))?"
)
_DETAILS: Final = re.compile(r"(?i)\b(?:details?|info|information)\b")  # of a group: Party Details
_NAMES_OF_GROUPS: Final = 2
_NAMES_OF_A_TABLE: Final = 4  # whose names nobody knows
_ROWS_BELOW: Final = 5  # that show whether a row names them
_DIGITS_OF_A_NAME: Final = 2  # as in `Address line 10`; a cell with more holds a value
_LONG_NUMBER: Final = re.compile(r"\+?\d[\d -]{5,14}")  # a phone or a PIN, which names no column
_TELLING_ALONE: Final = frozenset(
    ["pickup", "return", "bill", "order", "invoice", "docket", "item", "sku", "qty", "supplier", "deliver", "ship"]
)
_APART: Final = 5  # columns, at most, between a label and a value that the mapping reads by its address


@dataclass(frozen=True, slots=True)
class Head:
    """Where the columns of a sheet are named.

    row: of the header, the lower one of two. rows: how many it has. names: of the columns by position, "" where nothing
    is written. readings: what each name says.
    """

    row: int
    rows: int
    names: tuple[str, ...]
    readings: dict[str, NameReading]


def head_of(sheet: Sheet, operation: Operation, *, least: int) -> Head | None:
    """The header: most of its cells name something different; None if there is none that names at least so many."""
    # A sheet of orders has the usual columns of orders, also where the operation wants but one of them.
    known = {*names_of_targets(operation).values(), *names_of_targets(Operation.ORDER_CREATE).values()}
    best: tuple[int, Head | None] = (least - 1, None)
    labels = 0  # of the best
    upper: list[str] = []
    for number, *cells in sheet.frame.head(SEARCHED_ROWS).iter_rows():
        row, texts = int(number), [cell or "" for cell in cells]
        named = [text for text in texts if text.strip() == "#" or is_label(text)]
        is_data = any(_LONG_NUMBER.fullmatch(text.strip()) for text in texts)
        count = 0 if is_data else _named([*map(reading_of, named)], known)
        above, most = best[1], best[0]
        if count >= least and (count, len(named)) > (best[0], labels):
            labels = len(named)
            names = tuple(text.strip() for text in texts)
            best = (count, Head(row, 1, names, {name: reading_of(name) for name in names if name}))
        two = _over_two_rows(sheet, row, texts, known) if upper else None
        if two is not None and (both := _named([*two.readings.values()], known)) >= least:
            own = [text.strip().casefold() for text in texts if text.strip()]
            is_needed = len({*own}) < len(own) or any(
                name.strip() and not text.strip() and reading_of(name).meanings
                for name, text in zip(upper, texts, strict=True)
            )
            is_below = above is not None and above.row == row - 1 and count <= most
            if both >= max(best[0], count) or is_below or (is_needed and best[0] <= count):
                best = (max(both, count), two)
        upper = texts
    return best[1]


def head_by_shape(sheet: Sheet) -> Head | None:
    """The header where no name of it is known: a row of different texts above rows that are filled below them, with
    numbers, days or codes in some column; None if there is no such row.
    """
    best: Head | None = None
    rows = [(int(row), [cell or "" for cell in cells]) for row, *cells in sheet.frame.head(SEARCHED_ROWS).iter_rows()]
    for at, (row, texts) in enumerate(rows):
        filled = [column for column, text in enumerate(texts) if text.strip()]
        names = tuple(text.strip() for text in texts)
        labels = {names[column].casefold() for column in filled if is_label(names[column])}
        below = [cells for _, cells in rows[at + 1 : at + 1 + _ROWS_BELOW]]
        shares = [sum(bool(cells[column].strip()) for cells in below) for column in filled]
        digits = [sum(any(map(str.isdigit, cells[column])) for cells in below) for column in filled]
        full, typed = (sum(each * 2 > len(below) for each in counts) for counts in (shares, digits))
        is_table = below and full * 2 > len(filled) and typed > 1
        is_more = best is None or len(filled) > sum(map(bool, best.names))
        if len(filled) >= _NAMES_OF_A_TABLE and len(labels) == len(filled) and is_table and is_more:
            best = Head(row, 1, names, {name: reading_of(name) for name in names if name})
    return best


def _sure(reading: NameReading, known: set[str]) -> tuple[float, str]:
    """How likely a name stands for the likeliest of some targets, and which."""
    return max((likeness(reading, names), names) for names in known) if reading.meanings else (0.0, "")


def _named(readings: Sequence[NameReading], known: set[str]) -> int:
    """How many different things are named."""
    return len({names for sure, names in (_sure(each, known) for each in readings) if sure >= LIKELY})


def _over_two_rows(sheet: Sheet, row: int, lower: Sequence[str], known: set[str]) -> Head | None:
    """The names over a row and the one above it; None where that does not name groups, or the lower one is data.

    A group has a name in the upper row and several below it; a title, which stands alone in its row, names none.
    """
    above, joined = names_over_two_rows(sheet, row, lower)
    filled = [text for text in (*above, *lower) if text.strip()]
    if sum(1 for text in above if text.strip()) < _NAMES_OF_GROUPS or not all(map(is_label, filled)):
        return None
    shared = [name.removesuffix(own.strip()).strip() if own.strip() else ""
              for name, own in zip(joined, lower, strict=True)]  # fmt: skip
    if not any(group and len([*cells]) > 1 for group, cells in groupby(shared)):
        return None
    names = tuple(" ".join(name.split()) for name in joined)
    parts = zip(names, lower, above, shared, strict=True)
    readings = {name: _reading(name, own, own_above, group, known) for name, own, own_above, group in parts if name}
    return Head(row, 2, names, readings)


def _reading(name: str, own: str, above: str, group: str, known: set[str]) -> NameReading:
    """What a name over two rows says: by its lower part where that is plainer and the group says not whose it is."""
    both, alone, group = reading_of(_DETAILS.sub("", name)), reading_of(own), _DETAILS.sub("", group)
    # What a lower name says by itself is not what the upper ones say of their neighbours.
    if not above.strip() and alone.meanings & _TELLING_ALONE:
        return alone
    is_plain = group and reading_of(group).meanings <= _OF_GOODS
    if is_plain and alone.meanings == {"name"} and (goods := reading_of(group).meanings & {"item", "sku"}):
        return replace(alone, meanings=alone.meanings | goods)  # of the goods, and nobody's name
    is_packing = alone.meanings and group and reading_of(group).meanings == {"uom"}  # Packing, over what boxes hold
    return alone if is_packing or (is_plain and _sure(alone, known)[0] > _sure(both, known)[0]) else both


def lasting_name(sheet: str) -> str:
    """A pattern for a sheet's name that fits tomorrow's too; "" where nothing of it stays.

    >>> [lasting_name(name) for name in ("Despatch 28-Nov", "28.11.2026", "Orders Nov 26 (2)", "Sheet1", "May sale")]
    ['Despatch *', '', 'Orders *', 'Sheet1', 'May sale']
    """
    kept = _CHANGES.sub("*", sheet).strip()
    return kept if kept.strip("* ") else ""


def is_label(text: str) -> bool:
    """Whether a cell may name a column: it has letters, and hardly a digit."""
    digits = sum(char.isdigit() for char in text)
    return len(text) <= LONGEST_NAME and digits <= _DIGITS_OF_A_NAME and any(map(str.isalpha, text))


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
    beside, is_labelled = None, False
    with suppress(FileHeld):  # of a label with two cells that may be meant
        value = outside.next_to(cell, label, numbered=False)
        row, column = value.cell
        beside = Fact(label, value.text, cell_address(row, column), ("beside", label)) if value.text else None
        # What stands below a label, without a digit and with a value behind it, is a label itself.
        is_labelled = row > cell[0] and not re.search(r"\d", value.text or "") and (row, column + 1) in outside.cells
    if outside.below or (beside and not is_labelled):  # in a longer table an address would be another one
        return beside
    right = ((place, text) for place, text in outside.cells.items() if place[0] == cell[0] and place[1] > cell[1])
    place, text = next(((place, text) for place, text in right if text.strip(MARKS)), (cell, label))
    address = cell_address(*place)
    is_value = cell[1] < place[1] <= cell[1] + _APART and not names_something(text)
    return (
        Fact(label, text, address, ("cell", address)) if is_value and (not beside or re.search(r"\d", text)) else beside
    )
