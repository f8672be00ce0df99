"""Values that stand above or below the table, once for the whole file: each becomes a column, the same in every row.

A value is looked for where the mapping says: in a cell above the table, or beside a label. What might be another one is
not taken: a cell that is a label itself, one of two cells that could both be meant, a label with two values.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import takewhile
from string import ascii_uppercase, digits
from typing import Any, Final, NamedTuple

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.loaded import Mapping, is_above
from logistics_batch.mapping.rows.cells import BLANKS, OF_DIGITS, column_kinds
from logistics_batch.mapping.rows.header import Header, bind, refused
from logistics_batch.mapping.spec.model import ABOVE, ABOVE_CELL, UNDER, WHOLE_FILE, FieldSpec
from logistics_batch.mapping.spec.names import ColumnName, names_match
from logistics_batch.mapping.spec.words import PAYMENT_WORDS, SIGNED, TOTAL
from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, Sheet

_BREAKS: Final = re.compile(r"([\r\n\t|;]+|\s{2,})")
_LABELLED: Final = re.compile(r"\s*(\S.*?)(?<![0-9])(?::[-\u2013]?|\uff1a|=|\s[-\u2013](?=\s))\s*(.*)", re.DOTALL)
_COLON: Final = re.compile("[:\uff1a]")
MARKS: Final = " .:-=\u2013\uff1a"  # what may stand in a cell between a label and its value
_BEFORE: Final = re.compile("[\\s:=\uff1a]+|[-\u2013]\\s+")  # and, in one cell, before the value
_ALIKE, _LONGEST_LABEL, _LAST_COLUMN = 0.7, 60, 16_384
_LOOKED_AT: Final = 100  # rows below the table, and labels between its rows
_NUMBERS: Final = ("reference_number", "invoice_number", "customer_reference_number", "order_numbers", "awb_number")

Cell = tuple[int, int]


class ValueAbove(NamedTuple):
    """A value and the cell in which it stands; None where that is blank. label: the cell of its label."""

    cell: Cell
    text: str | None
    is_whole_cell: bool = True
    label: Cell | None = None


def with_above(mapping: Mapping, sheet: Sheet, header: Header) -> tuple[Sheet, Header]:
    """The sheet with a column behind its last for each value from outside the table, and the header bound anew.

    Raises FileHeld where a value that is needed is not there, or where it is not clear which one is meant.
    """
    if not mapping.above:
        return sheet, header
    head = Outside.of(mapping, sheet, header)
    found = {name: value for group in mapping.above for name, value in head.found(group)}
    numbers = dict(enumerate(found.values(), sheet.width + 1))
    below = sheet.frame.select("row").filter(pl.col("row") > header.row)
    own = sheet.facts.filter(pl.col("kind") != CellFact.MERGED)
    facts = [sheet.facts.select(*FACTS_SCHEMA)]
    for number, value in numbers.items() if own.height else ():
        row, column = value.cell
        of_cell = own.filter(pl.col("row") == row, pl.col("column") == column, value.is_whole_cell)
        of_rows = below.join(of_cell.drop("row").with_columns(column=pl.lit(number)), how="cross")
        facts.append(of_rows.select(*FACTS_SCHEMA).cast(FACTS_SCHEMA))
    made = replace(
        sheet,
        frame=sheet.frame.with_columns(pl.lit(each.text, pl.String).alias(str(n)) for n, each in numbers.items()),
        facts=pl.concat(facts),
        added=sheet.added + len(numbers),
        above={number: value.cell for number, value in numbers.items()},
        foot=tuple(sorted(head.rows_below(numbers.values()))),
    )
    bound = replace(
        bind(mapping, header.row, [*header.texts, *found]), printed=header.printed, nameless=header.nameless
    )
    for group in mapping.demanded:
        if is_above(group) and bound.column(group) is None:
            raise head.lacks(group)
    for key in bound.numbers(mapping, mapping.spec.key):
        if key in numbers and numbers[key].text is None:
            raise head.held("above.blank", label_of(bound.texts[key - 1]), numbers[key].cell)
    return made, bound


def label_of(name: str) -> str:
    """What the mapping calls a value from outside the table: its label, or the address of its cell.

    >>> label_of("Outside the table: Invoice No"), label_of("Outside the table: cell C5")
    ('Invoice No', 'C5')
    """
    return name.removeprefix(ABOVE_CELL).removeprefix(ABOVE).partition(UNDER)[0]


def labels_of(mapping: Mapping, sheet: Sheet, header: Header) -> tuple[set[str], list[tuple[str, str, float]]]:
    """The names of the values that stand outside the table, and for each that does not a label there that may be meant,
    with a confidence.
    """
    here, meant, head = set[str](), list[tuple[str, str, float]](), Outside.of(mapping, sheet, header)
    for group in mapping.above:
        try:
            found = [name for name, _ in head.found(group)]
        except FileHeld as held:  # of a value that is not clear the label is there
            found = [] if held.code in ("above.missing", "above.within") else [*group]
        here.update(group if found else ())
        if not found:
            meant += [(group[0], text, 1.0) for text in head.near(group)]
    return here, meant


@dataclass(frozen=True, slots=True)
class Outside:
    """What stands above the header of a sheet, and below its table.

    cells, below: the filled ones, trimmed, without those of our own columns. labels: texts that are never values. end:
    the first row below the table.
    """

    sheet: Sheet
    header: Header
    cells: dict[Cell, str]
    below: dict[Cell, str]
    labels: Sequence[ColumnName] = ()
    end: int = sys.maxsize
    fields: dict[str, FieldSpec] = field(default_factory=dict)

    @classmethod
    def of(cls, mapping: Mapping, sheet: Sheet, header: Header) -> "Outside":
        """What stands outside the table; the upper one of two rows of names is not above it."""
        wanted = [ColumnName.of(label_of(name)) for group in mapping.above for name in group]
        end = _end_of_table(mapping, sheet, header, wanted)
        rows = sheet.frame.filter(pl.any_horizontal(pl.exclude("row").is_not_null()))
        above = filled(rows.filter(pl.col("row") < header.row - bool(header.printed)), header.own)
        below = filled(rows.filter(pl.col("row") >= end).head(_LOOKED_AT), header.own)
        labels = [*wanted, *map(ColumnName.of, mapping.spec.ignore)]
        return cls(sheet, header, above, below, labels, end, mapping.spec.everything)

    def rows_below(self, values: Iterable[ValueAbove]) -> set[int]:
        """The rows below the table in which some values stand, or their labels."""
        cells = (cell for value in values for cell in (value.cell, value.label or value.cell))
        return {row for row, _ in cells if row > self.header.row}

    def found(self, group: Sequence[str]) -> Iterator[tuple[str, ValueAbove]]:
        """The value of a group of names with the one under which it was found, if it was."""
        names = [name for name in group if name.startswith(ABOVE)]
        if WHOLE_FILE in names:
            yield WHOLE_FILE, ValueAbove((self.header.row, 1), "the whole file")
            return
        if names[0].startswith(ABOVE_CELL):
            yield names[0], self._in_cell(label_of(names[0]))
            return
        fields = [(place, each) for place, each in self.fields.items() if {*each.above} & {*group}]
        numbered = any(place.removeprefix("fields.") in _NUMBERS for place, _ in fields)
        under = self._column(label_of(names[0]), next((each.under for _, each in fields if each.under), ""))
        values = [(name, value) for name in names for value in self._beside(label_of(name), under, numbered=numbered)]
        distinct = {value.text: (name, value) for name, value in reversed(values)}
        if len(distinct) > 1:
            distinct.pop(None, None)
        if len(distinct) > 1:
            told = [_told(value) for _, value in values if value.text]
            raise self.held("above.differ", label_of(names[0]), values[0][1].cell, told=told)
        for name, value in distinct.values():
            for again in self._within(label_of(name), under):
                if value.text and again.text != value.text:
                    raise self.held("above.again", label_of(name), again.cell, told=[_told(value), _told(again)])
            yield name, value
        if not distinct and any(field.default is not None for _, field in fields) and self.near(names):
            raise self.lacks(names)

    def _column(self, label: str, name: str) -> int:
        """The number of the column in which a mapping says that values stand; 0 where it says none."""
        fits = [
            n for n, text in enumerate(self.header.texts, 1) if names_match(ColumnName.of(text), ColumnName.of(name))
        ]
        if name and len(fits) != 1:
            raise self.held("above.under", label, None, column=name)
        return fits[0] if name else 0

    def _within(self, label: str, under: int = 0) -> Iterator[ValueAbove]:
        """Each value right of a label that stands between the table's rows: the head of another document or page."""
        plain, within = label.strip(MARKS).lower(), pl.col("row").is_between(self.header.row + 1, self.end - 1)
        texts = {name: pl.col(name).str.strip_chars().str.to_lowercase() for name in self.sheet.frame.columns[1:]}
        of_one_cell = rf"^{re.escape(plain)}\s*[:=\x{{ff1a}}]\s*\S"
        hits = (each.str.strip_chars_end(MARKS).eq(plain) | each.str.contains(of_one_cell) for each in texts.values())
        rows = self.sheet.frame.filter(within, pl.any_horizontal(hits)) if texts else self.sheet.frame.clear()
        for row, *cells in rows.head(_LOOKED_AT).iter_rows():
            if sum(bool(text) and text == head for text, head in zip(cells, self.header.texts, strict=False)) > 1:
                continue  # the names of the columns once more
            for column, text in enumerate(cells, 1):
                if text and text.strip(BLANKS).rstrip(MARKS).lower() == plain:
                    right = (
                        (n, each)
                        for n, each in enumerate(cells[column:], column + 1)
                        if (each or "").strip(MARKS) and under in (0, n)
                    )
                    if (found := next(right, None)) is not None:
                        yield ValueAbove((row, found[0]), self._without_marks((found[1] or "").strip(BLANKS)))
                for name, value in _labelled(text or ""):
                    if value and name.strip(MARKS).lower() == plain:
                        yield ValueAbove((row, column), value)

    def lacks(self, names: Sequence[str]) -> FileHeld:
        """That no cell bears one of some labels, with the one that may be meant."""
        labels = [label_of(name) for name in names if name.startswith(ABOVE)]
        if within := next((each for label in labels for each in self._within(label)), None):
            return self.held("above.within", labels[0], within.cell)
        near = [(".is_it_meant", {"seen": text, "name": labels[0]}) for text in self.near(names)]
        return self.held("above.missing", labels[0], None, names=labels, near=near, row=self.header.row)

    def held(self, code: str, name: str, place: Cell | None, **values: Any) -> FileHeld:
        """The refusal of the file for something in its head."""
        if place is not None:
            values |= {"place": [place[0], cell_address(*place)], "cell": cell_address(*place)}
        return refused(code, self.sheet, self.header, name=name, **values)

    def _in_cell(self, address: str) -> ValueAbove:
        """The value of a cell; columns are counted without our own."""
        row, letters = int(address.lstrip(ascii_uppercase)), address.rstrip(digits)
        theirs = (column for column in range(1, _LAST_COLUMN) if column not in self.header.own)
        column = next((each for n, each in enumerate(theirs, 1) if column_letters(n) == letters), _LAST_COLUMN)
        text = self.cells.get((row, column))
        if row >= self.header.row:
            raise self.held("above.in_table", address, None, row=self.header.row)
        if text is not None and self._is_name(text):
            raise self.held("above.label", address, (row, column), value=text)
        return ValueAbove((row, column), text)

    def _beside(self, label: str, under: int = 0, *, numbered: bool) -> Iterator[ValueAbove]:
        """Each value that a label may have: behind it in its own cell, right of it, or below.

        under: the column in which it stands, if that is known. numbered: whether it is a number by which something is
        known, which has digits.
        """
        wanted = ColumnName.of(label)
        for cell, text in (self.cells | self.below).items():
            if names_match(ColumnName.of(text.rstrip(MARKS)), wanted):
                found = self._under(cell, label, under) if under else self.next_to(cell, label, numbered=numbered)
                yield found._replace(label=cell)
            for name, value in _labelled(text) if not under else ():
                if value and names_match(ColumnName.of(name), wanted):
                    if any(
                        re.search(r"[^\W\d_]", piece) and piece[-1] not in digits for piece in _COLON.split(value)[:-1]
                    ):
                        raise self.held("above.several", label, cell, value=value)
                    yield ValueAbove(cell, value, is_whole_cell=False)

    def next_to(self, cell: Cell, label: str, *, numbered: bool) -> ValueAbove:
        """The value right of a label or below it, the right one's cell where there is none.

        Columns in which nothing stands above the table are passed over; below it a row may hold one value only, up to
        its next label. Raises FileHeld where several cells may be it, or what stands there may be a label itself.
        """
        ends = {(top, left): (bottom, right) for top, left, bottom, right in self.sheet.merged_ranges}
        (row, column), (last, right) = cell, ends.get(cell, cell)
        cells = self.below if row >= self.end else self.cells
        used, nearest, further = {each for _, each in cells}, right + 1, list[int]()
        if row >= self.end:
            filled = {n: text for (at, n), text in cells.items() if at == row and n > right and text.strip(MARKS)}
            nearest, *further = [*takewhile(lambda n: not self._is_name(filled[n]), filled)] or [nearest]
        while nearest < max(used) and (nearest not in used or not cells.get((row, nearest), "x").strip(MARKS)):
            nearest += 1
        places = (row, nearest), (last + 1, column), *((row, each) for each in further)
        beside, *others = (ValueAbove(place, self._without_marks(cells.get(place))) for place in places)
        beside = beside if beside.text else ValueAbove((row, right + 1), None)
        likely = [each for each in (beside, *others) if each.text and not self._is_label(each.text)]
        firm = [each for each in likely if not names_something(each.text or "")]
        with_digits = [each for each in firm if re.search("[0-9]", each.text or "")]
        if numbered or beside in with_digits:
            firm = with_digits
        if len(firm) > 1:
            raise self.held("above.either", label, cell, told=[*map(_told, firm)])
        if likely and not firm:
            raise self.held("above.label", label, likely[0].cell, value=likely[0].text)
        return firm[0] if firm else beside

    def _under(self, cell: Cell, label: str, column: int) -> ValueAbove:
        """The value in a label's row under a column."""
        text = (self.below if cell[0] >= self.end else self.cells).get((cell[0], column))
        if text is not None and self._is_name(text):
            raise self.held("above.label", label, (cell[0], column), value=text)
        return ValueAbove((cell[0], column), self._without_marks(text))

    @staticmethod
    def _without_marks(text: str | None) -> str | None:
        """A value without what parts it from its label: `: INV-9` is INV-9."""
        found = _BEFORE.match(text or "")
        return (text or "")[found.end() :].strip(BLANKS) or text if found else text

    def _is_label(self, text: str) -> bool:
        """Whether a cell is a label: it ends in a colon, the mapping speaks of it, or it holds one with its value."""
        within = [name for name, _ in _labelled(text)]
        own = [ColumnName.of(name) for name in (text.rstrip(MARKS), *within)]
        is_known = any(names_match(each, name) for each in own for name in self.labels)
        return text.endswith((":", "\uff1a")) or is_known or any(map(names_something, within))

    def _is_name(self, text: str) -> bool:
        """Whether a cell is a label, or made of words that name something."""
        return self._is_label(text) or names_something(text)

    def near(self, names: Sequence[str]) -> list[str]:
        """The label outside the table that may be meant by one of some names, if there is one."""
        parts = (
            (text.rstrip(MARKS), *(name for name, _ in _labelled(text)))
            for cells in (self.cells, self.below)
            for text in cells.values()
        )
        seen = {ColumnName.of(text).identity: text for each in parts for text in each if len(text) <= _LONGEST_LABEL}
        wanted = (ColumnName.of(label_of(name)).identity for name in names if name.startswith(ABOVE))
        found = (get_close_matches(name, [*seen], n=1, cutoff=_ALIKE) for name in wanted)
        return [seen[match] for each in found for match in each][:1]


def _end_of_table(mapping: Mapping, sheet: Sheet, header: Header, labels: Sequence[ColumnName]) -> int:
    """The row behind the last one of the table; behind the sheet's last where none of the lowest rows is the table's.

    That one has all that a row of data needs, with digits where a number is needed, and begins with no word of a total
    or a signature; or it holds, beside a label and its value, something else that a row of data needs.
    """
    kinds = column_kinds(mapping, header)
    needed = header.bound(mapping.required)
    needed = sorted({*needed} - {*header.numbers(mapping, mapping.spec.sheet.fill_down)}) or needed
    body = sheet.frame.filter(pl.col("row") > header.row, pl.any_horizontal(pl.exclude("row").is_not_null()))
    for row, *texts in body.reverse().head(_LOOKED_AT).iter_rows() if needed else ():
        cells = {n: text.strip(BLANKS) for n, text in enumerate(texts, 1) if text and n not in header.own}
        cells = {n: text for n, text in cells.items() if text}
        taken = [n for n, text in cells.items() if _holds_label(text, labels)]
        fits = {n for n in needed if re.search("[0-9]" if kinds[n] in OF_DIGITS else ".", cells.get(n, ""))}
        beside = {*taken, *(next((n for n in cells if n > at), at) for at in taken)}
        is_of_table = bool(fits - beside) if taken else len(fits) == len(needed)
        first = next(iter(cells.values()), "")
        if is_of_table and not re.search(TOTAL, first) and not re.search(SIGNED, first):
            return int(row) + 1
    return int(sheet.frame["row"].max() or header.row) + 1  # type: ignore[arg-type]


def _holds_label(text: str, labels: Sequence[ColumnName]) -> bool:
    """Whether a cell is one of some labels, or holds one with its value."""
    parts = (text.rstrip(MARKS), *(name for name, _ in _labelled(text)))
    return any(names_match(ColumnName.of(part), label) for part in parts for label in labels)


def filled(rows: pl.DataFrame, own: Sequence[int] = ()) -> dict[Cell, str]:
    """The filled cells of some rows, trimmed, without those of our own columns."""
    every = ((row, column, text) for row, *texts in rows.iter_rows() for column, text in enumerate(texts, 1) if text)
    cells = {(row, column): text.strip(BLANKS) for row, column, text in every if column not in own}
    return {cell: text for cell, text in cells.items() if text}


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    """The labels that stand in a cell with their values, as in `Date: 03.11.26  Vehicle: MH04`.

    >>> [*_labelled("Invoice No. : INV-22")], [*_labelled("Ship to: Acme\\nPune")]
    ([('Invoice No.', 'INV-22')], [('Ship to', 'Acme\\nPune')])
    """
    label, value = "", ""
    for piece in _BREAKS.split(text):
        if (found := _LABELLED.fullmatch(piece)) is not None:
            if label:
                yield label, value.strip(BLANKS)
            label, value = found[1].rstrip(), found[2]
        else:
            value += piece
    if label:
        yield label, value.strip(BLANKS)


def names_something(text: str) -> bool:
    """Whether a text is made of words that name columns; few sheets leave that open, and load nothing for it."""
    from logistics_batch.mapping.naming import reading_of

    if re.search("[0-9]", text) or text.lower() in map(str.lower, PAYMENT_WORDS):
        return False
    said = reading_of(text)
    return not said.unknown and re.search(r"[^\W\d_]", text) is not None


def _told(value: ValueAbove) -> list[Any]:
    """A value and its cell, as a message."""
    return ["above.value", {"value": value.text, "cell": cell_address(*value.cell)}]
