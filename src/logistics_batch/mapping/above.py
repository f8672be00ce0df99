"""Values that stand above the table, once for the whole file: each becomes a column, the same in every row.

A value is looked for where the mapping says: in a cell, or beside a label. What might be another one is not taken: a
cell that is a label itself, one of two cells that could both be meant, a label that stands there with two values.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from typing import Any, Final, NamedTuple

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.loaded import Mapping, is_above
from logistics_batch.mapping.rows.cells import BLANKS
from logistics_batch.mapping.rows.header import Header, bind
from logistics_batch.mapping.spec.model import ABOVE, ABOVE_CELL, WHOLE_FILE
from logistics_batch.mapping.spec.names import ColumnName, names_match
from logistics_batch.mapping.spec.words import PAYMENT_WORDS
from logistics_batch.model.issue import cell_address
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, Sheet

_PIECES: Final = re.compile(r"([\r\n\t|;]+|\s{2,})")
_LABELLED: Final = re.compile(r"\s*(\S.*?)\s*(?<![0-9])(?::[-\u2013]?|\uff1a|=|\s[-\u2013](?=\s))\s*(.*)", re.DOTALL)
_ANOTHER: Final = re.compile(r"[^\W\d_][^:]*(?<![0-9])[:\uff1a]")
_MARKS: Final = " .:-=\u2013\uff1a"  # what may stand in a cell between a label and its value
_ALIKE: Final = 0.7
_NUMBERS: Final = ("reference_number", "invoice_number", "customer_reference_number", "order_numbers", "awb_number")

Cell = tuple[int, int]


class Found(NamedTuple):
    """A value and the cell in which it stands; None where that is blank."""

    cell: Cell
    text: str | None
    is_whole_cell: bool = True


def with_above(mapping: Mapping, sheet: Sheet, header: Header) -> tuple[Sheet, Header]:
    """The sheet with a column behind its last for each value from above the table, and the header bound anew.

    Raises FileHeld where a value that is needed is not there, or where it is not clear which one is meant.
    """
    if not mapping.above:
        return sheet, header
    head = _Head(mapping, sheet, header)
    found = {name: value for group in mapping.above for name, value in head.found(group)}
    numbers = dict(enumerate(found.values(), sheet.width + 1))
    columns = (pl.lit(value.text, dtype=pl.String).alias(str(number)) for number, value in numbers.items())
    below = sheet.frame.select("row").filter(pl.col("row") > header.row)
    own = sheet.facts.filter(pl.col("kind") != CellFact.MERGED, pl.col("row") < header.row)
    facts = [sheet.facts]
    for number, value in numbers.items() if own.height else ():
        of_cell = own.filter(pl.col("row") == value.cell[0], pl.col("column") == value.cell[1]).drop("row")
        if of_cell.height and value.is_whole_cell:
            facts.append(
                below.join(of_cell.with_columns(pl.lit(number).alias("column")), how="cross").cast(FACTS_SCHEMA)
            )
    made = replace(
        sheet,
        frame=sheet.frame.with_columns(columns),
        facts=pl.concat(each.select(*FACTS_SCHEMA) for each in facts),
        added=sheet.added + len(numbers),
        above={number: value.cell for number, value in numbers.items()},
    )
    bound = replace(bind(mapping, header.row, [*header.texts, *found]), printed=header.printed)
    for group in mapping.demanded:
        if is_above(group) and bound.column(group) is None:
            raise head.lacks([name for name in group if name.startswith(ABOVE)])
    for key in bound.numbers(mapping, mapping.spec.key):
        if key in numbers and numbers[key].text is None:
            raise head.held("above.blank", name=label_of(bound.texts[key - 1]), place=numbers[key].cell)
    return made, bound


def label_of(name: str) -> str:
    """What the mapping calls a value from above the table: its label, or the address of its cell.

    >>> label_of("Above the table: Invoice No"), label_of("Above the table: cell C5")
    ('Invoice No', 'C5')
    """
    return name.removeprefix(ABOVE_CELL).removeprefix(ABOVE)


def labels_of(mapping: Mapping, sheet: Sheet, header: Header) -> tuple[set[str], list[tuple[str, str, float]]]:
    """The names of the values that stand above the table, and for each that does not a label there that may be meant,
    with a confidence.
    """
    here, meant, head = set[str](), list[tuple[str, str, float]](), _Head(mapping, sheet, header)
    for group in mapping.above:
        try:
            found = [name for name, _ in head.found(group)]
        except FileHeld as held:  # of a value that is not clear the label is there
            found = [] if held.code == "above.missing" else [*group]
        here.update(group if found else ())
        if not found:
            meant += [(group[0], text, 1.0) for text in head.near([*group])]
    return here, meant


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands above the header of a sheet."""

    mapping: Mapping
    sheet: Sheet
    header: Header

    def found(self, group: Sequence[str]) -> Iterator[tuple[str, Found]]:
        """The value of a group of names with the one under which it was found, if it was."""
        names = [name for name in group if name.startswith(ABOVE)]
        if WHOLE_FILE in names:
            yield WHOLE_FILE, Found((self.header.row, 1), "the whole file")
        elif names[0].startswith(ABOVE_CELL):
            yield names[0], self._in_cell(label_of(names[0]))
        else:
            numbered = self._is_number(group)
            values = [(name, value) for name in names for value in self._beside(label_of(name), numbered=numbered)]
            distinct = {value.text: (name, value) for name, value in reversed(values)}
            if len(distinct) > 1:
                distinct.pop(None, None)
            if len(distinct) > 1:
                told = [_told(value) for _, value in values if value.text]
                raise self.held("above.differ", name=label_of(names[0]), told=told, place=values[0][1].cell)
            if distinct:
                yield next(iter(distinct.values()))
            elif self._has_default(group) and self.near(names):
                raise self.lacks(names)

    def lacks(self, names: Sequence[str]) -> FileHeld:
        """That no cell bears one of some labels, with the one that may be meant."""
        near = [(".is_it_meant", {"seen": text, "name": label_of(names[0])}) for text in self.near(names)]
        return self.held("above.missing", names=[*map(label_of, names)], near=near, row=self.header.row)

    def held(self, code: str, *, place: Cell | None = None, **values: Any) -> FileHeld:
        """The refusal of the file for something in its head."""
        if place is not None:
            values |= {"place": [place[0], cell_address(*place)], "cell": cell_address(*place)}
        return FileHeld(
            code,
            values=values,
            rows_read=self.sheet.frame.height - 1,
            sheet=self.sheet.name,
            header_row=self.header.row,
        )

    def _cells(self) -> dict[Cell, str]:
        """The filled cells above the header, trimmed; not those of our own columns."""
        last = self.header.row - (2 if self.header.printed else 1)
        rows = self.sheet.frame.filter(pl.col("row") <= last).iter_rows()
        every = (
            (row, column, (text or "").strip(BLANKS)) for row, *texts in rows for column, text in enumerate(texts, 1)
        )
        return {(row, column): text for row, column, text in every if text and column not in self.header.own}

    def _in_cell(self, address: str) -> Found:
        """The value of a cell, counted without our own columns."""
        letters, row = re.match("[A-Z]+", address), int(re.sub("[A-Z]+", "", address))
        number = 0
        for letter in letters[0] if letters else "":
            number = number * 26 + ord(letter) - ord("A") + 1
        theirs = [column for column in range(1, self.sheet.width + number + 1) if column not in self.header.own]
        cell = (row, theirs[number - 1])
        text = self._cells().get(cell)
        if row >= self.header.row:
            raise self.held("above.in_table", name=address, row=self.header.row)
        if text is not None and self._is_label(text):
            raise self.held("above.label", name=address, value=text, place=cell)
        return Found(cell, text)

    def _beside(self, label: str, *, numbered: bool) -> Iterator[Found]:
        """Each value that a label may have: behind it in its own cell, right of it, or below.

        numbered: whether the value is a number by which something is known, which has digits.
        """
        wanted, cells = ColumnName.of(label), self._cells()
        for cell, text in cells.items():
            if names_match(ColumnName.of(text.rstrip(_MARKS)), wanted):
                yield self._next_to(cell, label, cells, numbered=numbered)
            for name, value in _labelled(text):
                if value and names_match(ColumnName.of(name), wanted):
                    if _ANOTHER.search(value):
                        raise self.held("above.several", name=label, value=value, place=cell)
                    yield Found(cell, value, is_whole_cell=False)

    def _next_to(self, cell: Cell, label: str, cells: dict[Cell, str], *, numbered: bool) -> Found:
        """The value right of a label or below it, the right one's cell where there is none.

        Columns in which nothing stands above the table are passed over. Raises FileHeld where each of the two may be
        it, or where what stands there may be a label itself.
        """
        (row, column), (last, right) = cell, self._ends().get(cell, cell)
        used = {each for _, each in cells}
        nearest = right + 1
        while nearest < max(used) and (nearest not in used or _is_mark(cells.get((row, nearest), ""))):
            nearest += 1
        beside, below = (Found(place, cells.get(place)) for place in ((row, nearest), (last + 1, column)))
        beside = beside if beside.text else Found((row, right + 1), None)
        likely = [each for each in (beside, below) if each.text and not self._is_label(each.text)]
        firm = [each for each in likely if not _names_something(each.text or "")]
        with_digits = [each for each in firm if re.search("[0-9]", each.text or "")]
        if numbered or beside in with_digits:
            firm = with_digits
        if len(firm) > 1:
            raise self.held("above.either", name=label, told=[*map(_told, firm)], place=cell)
        if likely and not firm:
            raise self.held("above.label", name=label, value=likely[0].text, place=likely[0].cell)
        return firm[0] if firm else beside

    def _ends(self) -> dict[Cell, Cell]:
        """The last cell of each merged range, by its first."""
        return {(top, left): (bottom, right) for top, left, bottom, right in self.sheet.merged_ranges}

    def _is_label(self, text: str) -> bool:
        """Whether a cell is a label: it ends in a colon, or the mapping speaks of it as one, or ignores it; or whether
        it holds a label with its value.
        """
        labels = [label_of(name) for group in self.mapping.above for name in group]
        known = [ColumnName.of(name) for name in (*labels, *self.mapping.spec.ignore)]
        within = [name for name, _ in _labelled(text)]
        own = [ColumnName.of(name) for name in (text.rstrip(_MARKS), *within)]
        is_known = any(names_match(each, name) for each in own for name in known)
        return text.endswith((":", "\uff1a")) or is_known or any(map(_names_something, within))

    def _is_number(self, group: Sequence[str]) -> bool:
        """Whether the value is a number by which a document is known."""
        fields = self.mapping.spec.fields.items()
        return any(target in _NUMBERS and {*field.above} & {*group} for target, field in fields)

    def _has_default(self, group: Sequence[str]) -> bool:
        fields = self.mapping.spec.everything.values()
        return any(field.default is not None and {*field.above} & {*group} for field in fields)

    def near(self, names: Sequence[str]) -> list[str]:
        """The label above the table that may be meant by one of some names, if there is one."""
        texts = chain.from_iterable(
            (text.rstrip(_MARKS), *(name for name, _ in _labelled(text))) for text in self._cells().values()
        )
        seen = {ColumnName.of(text).identity: text for text in texts}
        wanted = (
            get_close_matches(ColumnName.of(label_of(name)).identity, [*seen], n=1, cutoff=_ALIKE) for name in names
        )
        return [seen[match] for match in chain.from_iterable(wanted)][:1]


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    """The labels that stand in a cell with their values, as in `Date: 03.11.26  Vehicle: MH04`.

    >>> [*_labelled("Invoice No. : INV-22")], [*_labelled("Ship to: Acme\\nPune")]
    ([('Invoice No.', 'INV-22')], [('Ship to', 'Acme\\nPune')])
    """
    label, value = "", ""
    for piece in _PIECES.split(text):
        if (found := _LABELLED.fullmatch(piece)) is not None:
            if label:
                yield label, value.strip(BLANKS)
            label, value = found[1], found[2]
        else:
            value += piece
    if label:
        yield label, value.strip(BLANKS)


def _names_something(text: str) -> bool:
    """Whether a text is made of words that name columns; few sheets leave that open, and load nothing for it."""
    from logistics_batch.mapping.suggest.names import reading_of

    if re.search("[0-9]", text) or text.lower() in map(str.lower, PAYMENT_WORDS):
        return False
    said = reading_of(text)
    return bool(said.meanings) and not said.unknown


def _is_mark(text: str) -> bool:
    """Whether a cell holds but what may stand between a label and its value."""
    return bool(text) and not text.strip(_MARKS)


def _told(value: Found) -> list[Any]:
    """A value and its cell, as a message."""
    return ["above.value", {"value": value.text, "cell": cell_address(*value.cell)}]
