"""Several lines in one row: pieces of a cell, parallel cells and numbered columns become lines of a longer sheet.

The rest of mapping reads the longer sheet like any other; `parted` tells of the physical rows again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.values.reading import say
from logistics_batch.mapping.findings import SHOWN_CHARACTERS, Findings
from logistics_batch.mapping.lines.item_patterns import Line, example_item, read_items
from logistics_batch.mapping.rows.cells import BLANKS
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import NUMBERS_AT_MOST, LinesFromSpec, MappingSpec
from logistics_batch.mapping.spec.names import ColumnName, names_match, same
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.messages.words import listed
from logistics_batch.model.sheet import Sheet

_LONGEST_NUMBER: Final = 9  # digits, with zeros before it; Python itself refuses 4,301
_NUMERIC: Final = (Form.COUNT, Form.QUANTITY, Form.MONEY, Form.DECIMAL, Form.PERCENT)


@dataclass(frozen=True, slots=True)
class Fault:
    """A cell that cannot be parted into lines; line is its place in the longer sheet, column that of the cell."""

    line: int
    column: int
    rule: str
    reason: str
    fix: str


@dataclass(slots=True)
class Parting:
    """How rows become lines.

    columns: the sheet's columns that take the lines' values; behind the sheet's last they are made. rows: for each
    line the position of its row in the sheet. cells: for each column the lines' values. sources: for lines whose
    values come from other columns than their row's first line, the physical column of each value. notes: what the sheet
    lacks.
    """

    columns: tuple[int, ...]
    rows: list[int] = field(default_factory=list)
    cells: list[list[str | None]] = field(default_factory=list)
    sources: list[tuple[int, ...]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, row: int, line: Line, sources: tuple[int, ...]) -> None:
        """One more line."""
        self.rows.append(row)
        self.sources.append(sources)
        for column, value in zip(self.cells, line, strict=True):
            column.append(value)

    def blame(self, column: int, rule: str, reason: str, fix: str) -> None:
        """Something is wrong with the line that was added last."""
        self.faults.append(Fault(len(self.rows) - 1, column, f"lines_from|{rule}", reason, fix))


def part_rows(spec: MappingSpec, sheet: Sheet, header: Header) -> Parting:
    """Part every row below the header; the others stay one line each."""
    form = spec.lines_from or LinesFromSpec(split=[""])
    if form.columns is not None and form.pattern is not None:
        return _numbered_by_pattern(form, spec, sheet, header)
    if form.columns is not None:
        return _numbered(form.columns, sheet, header)
    numbers = [number for name in form.split or () if (number := header.column([name])) is not None]
    if form.pattern is None:
        return _parallel(form, sheet, header, numbers)
    return _by_pattern(form, spec, sheet, header)


def numbered_columns(template: str, texts: Sequence[str]) -> dict[int, int]:
    """For a name with {n} the columns of a header that bear it, by their numbers.

    >>> numbered_columns("SKU {n}", ["Order", "SKU 1", "sku-3", "SKU"])
    {1: 2, 3: 3}
    >>> numbered_columns("SKU {n}", ["SKU 01", "SKU 02"])
    {1: 1, 2: 2}
    """
    names = {position: ColumnName.of(text) for position, text in enumerate(texts, 1) if re.search(r"\d", text)}
    found: dict[int, int] = {}
    for position, name in names.items():
        for digits in re.findall(r"\d+", name.literal):
            if len(digits) > _LONGEST_NUMBER or not 0 < int(digits) <= NUMBERS_AT_MOST:
                continue
            wanted = ColumnName.of(template.replace("{n}", digits))
            if same(name, wanted) or names_match(name, wanted):
                found.setdefault(int(digits), position)
    return dict(sorted(found.items()))


def blame_faults(found: Findings, table: CompiledSheet, faults: Sequence[Fault]) -> None:
    """What could not be parted, as findings of the lines that are data; they come before what follows from them."""
    if not faults:
        return
    before = len(found.rows)
    data = set(pl.concat([table.grouped.lines["row"], table.keyless["row"]]).to_list())
    for fault in faults:
        number = int(table.sheet.frame["row"][fault.line])
        if number in data:
            found.add(pl.Series([number]), fault.column, fault.rule, say(fault.reason, fault.fix))
    found.rows[:] = found.rows[before:] + found.rows[:before]


def _body(sheet: Sheet, header: Header) -> int:
    """The position of the first row below the header."""
    return int((sheet.frame["row"] <= header.row).sum())


def _texts(sheet: Sheet, column: int) -> list[str | None]:
    bare = sheet.frame[str(column)].str.strip_chars(BLANKS)
    return [text or None for text in bare.to_list()]


def _pieces(text: str, marks: Sequence[str]) -> list[str]:
    return [piece.strip(BLANKS) for piece in re.split("|".join(map(re.escape, marks)), text)]


def _by_pattern(form: LinesFromSpec, spec: MappingSpec, sheet: Sheet, header: Header) -> Parting:
    """`tea x 2; milk x 1`: every piece must fit the pattern, and in one way only."""
    (name,) = form.split or [""]
    column = header.column([name]) or 1
    numeric = _numeric_parts(spec, form.parts)
    added = tuple(range(sheet.width + 1, sheet.width + 1 + len(form.parts)))
    parting = Parting(added, cells=[[] for _ in added])
    body, nothing, sources = _body(sheet, header), (None,) * len(added), (column,) * len(added)
    title, texts = header.texts[column - 1].strip(), _texts(sheet, column)
    pieces = [piece for text in texts[body:] for piece in _pieces(text or "", form.on)]
    read, example = read_items(form, numeric, pieces), example_item(form, numeric)
    for row, text in enumerate(texts):
        if row < body or text is None or text == title:
            heads = row == body - 1 or text == title
            parting.add(row, tuple(form.parts) if heads else nothing, sources)
            continue
        for piece in filter(None, _pieces(text, form.on)):
            values = read.get(piece)
            parting.add(row, values or nothing, sources)
            if values is None:
                reason = f'"{piece[:SHOWN_CHARACTERS]}" cannot be read as one item.'
                parting.blame(column, "pattern", reason, f"Write each item like {example}.")
        if not parting.rows or parting.rows[-1] != row:  # marks alone
            parting.add(row, nothing, sources)
    return parting


def _numeric_parts(spec: MappingSpec, parts: Sequence[str]) -> set[str]:
    """The parts that are read as numbers."""
    numeric: set[str] = set()
    for place, each in spec.everything.items():
        part, target = place.split(".", 1)
        if part != "keep" and form_of(target, spec.operation) in _NUMERIC:
            numeric.update(name for names in each.columns for name in names)
    return numeric & set(parts)


def _parallel(form: LinesFromSpec, sheet: Sheet, header: Header, numbers: Sequence[int]) -> Parting:
    """`tea|milk` beside `2|1`: the first belongs to the first; the cells must hold equally many."""
    parting = Parting(tuple(numbers), cells=[[] for _ in numbers])
    body, sources = _body(sheet, header), tuple(numbers)
    columns = [_texts(sheet, number) for number in numbers]
    for row, texts in enumerate(zip(*columns, strict=True)):
        if row < body or not any(texts):
            parting.add(row, texts, sources)
            continue
        pieces = [_pieces(text or "", form.on) for text in texts]
        while all(each and not each[-1] for each in pieces):  # a mark at the end
            pieces = [each[:-1] for each in pieces]
        counts = [len(each) for each in pieces]
        if len(set(counts)) > 1:
            parting.add(row, (None,) * len(numbers), sources)
            for number, reason in _uneven(header, numbers, counts):
                parting.blame(number, "pieces", reason, "Write equally many in these cells, in the same order.")
            continue
        for line in zip(*pieces, strict=True):
            parting.add(row, tuple(piece or None for piece in line), sources)
            for number, piece, text in zip(numbers, line, texts, strict=True):
                if text and not piece:
                    reason = f'"{header.texts[number - 1].strip()}" has nothing for one of its items.'
                    parting.blame(
                        number, "half_filled", reason, "Write equally many in these cells, in the same order."
                    )
        if not parting.rows or parting.rows[-1] != row:
            parting.add(row, (None,) * len(numbers), sources)
    return parting


def _uneven(header: Header, numbers: Sequence[int], counts: Sequence[int]) -> list[tuple[int, str]]:
    said = " and ".join(
        f'"{header.texts[number - 1].strip()}" holds {n}' for number, n in zip(numbers, counts, strict=True)
    )
    odd = [number for number, n in zip(numbers, counts, strict=True) if n != counts[0]]
    return [(number, f"{said} values.") for number in odd]


def _numbered(templates: Sequence[str], sheet: Sheet, header: Header) -> Parting:
    """`SKU 1, Qty 1, SKU 2, Qty 2`: a line for each number with anything in its columns."""
    columns = [numbered_columns(template, header.texts) for template in templates]
    numbers = sorted({number for found in columns for number in found})
    added = tuple(range(sheet.width + 1, sheet.width + 1 + len(templates)))
    parting = Parting(added, cells=[[] for _ in added], notes=[*_not_there(templates, columns, header)])
    body, first = _body(sheet, header), tuple(min(found.values(), default=1) for found in columns)
    texts: Mapping[int, list[str | None]] = {
        column: _texts(sheet, column) for found in columns for column in found.values()
    }
    titles = [header.texts[column - 1].strip() for column in first]
    for row in range(sheet.frame.height):
        if row < body or [texts[column][row] for column in first if column in texts] == titles:
            heads = row >= body - 1
            parting.add(row, tuple(templates) if heads else (None,) * len(added), first)
            continue
        for number in numbers:
            places = tuple(found.get(number, 0) for found in columns)
            line = tuple(texts[place][row] if place else None for place in places)
            if any(line):
                sources = tuple(place or spare for place, spare in zip(places, first, strict=True))
                parting.add(row, line, sources)
                _half_filled(parting, header, line, places)
                if not all(places):
                    _without_column(parting, header, line, places, [_named(each, number) for each in templates])
        if not parting.rows or parting.rows[-1] != row:
            parting.add(row, (None,) * len(added), first)
    return parting


def _numbered_by_pattern(form: LinesFromSpec, spec: MappingSpec, sheet: Sheet, header: Header) -> Parting:
    """`Item 1, Item 2` of which each holds `tea x 2`: a line for each cell with anything in it."""
    (template,) = form.columns or [""]
    found = numbered_columns(template, header.texts)
    columns = list(found.values()) or [1]
    numeric = _numeric_parts(spec, form.parts)
    added = tuple(range(sheet.width + 1, sheet.width + 1 + len(form.parts)))
    parting = Parting(added, cells=[[] for _ in added], notes=[*_not_there([template], [found], header)])
    body, nothing = _body(sheet, header), (None,) * len(added)
    title, cells = header.texts[columns[0] - 1].strip(), [_texts(sheet, column) for column in columns]
    read = read_items(form, numeric, [text for texts in cells for text in texts[body:] if text])
    example = example_item(form, numeric)
    for row, texts in enumerate(zip(*cells, strict=True)):
        if row < body or texts[0] == title or not any(texts):
            heads = row == body - 1 or texts[0] == title
            parting.add(row, tuple(form.parts) if heads else nothing, (columns[0],) * len(added))
            continue
        for column, text in zip(columns, texts, strict=True):
            if text is not None:
                values = read.get(text)
                parting.add(row, values or nothing, (column,) * len(added))
                if values is None:
                    reason = f'"{text[:SHOWN_CHARACTERS]}" cannot be read as one item.'
                    parting.blame(column, "pattern", reason, f"Write one item into the cell, like {example}.")
    return parting


def _half_filled(parting: Parting, header: Header, line: Line, places: Sequence[int]) -> None:
    there = next(header.texts[place - 1].strip() for place, value in zip(places, line, strict=True) if value)
    for place, value in zip(places, line, strict=True):
        if value is None and place:
            name = header.texts[place - 1].strip()
            reason = f'"{there}" is filled and "{name}" beside it is blank.'
            parting.blame(place, "half_filled", reason, f'Fill in "{name}", or empty "{there}".')


def _not_there(templates: Sequence[str], columns: Sequence[Mapping[int, int]], header: Header) -> Iterator[str]:
    """What is odd about the numbers: some are passed over, or some columns end before others."""
    numbers = {number for found in columns for number in found}
    if passed_over := sorted({*range(1, max(numbers, default=0))} - numbers):
        names = listed((_named(template, number) for number in passed_over for template in templates), limit=6)
        yield f"Numbered columns that others follow are missing: {names}."
    for number in sorted(numbers):
        there = [header.texts[found[number] - 1].strip() for found in columns if number in found]
        lacking = [_named(each, number) for each, found in zip(templates, columns, strict=True) if number not in found]
        if lacking:
            yield f"The sheet has {listed(there)} and no column {listed(lacking)} beside it."


def _named(template: str, number: int) -> str:
    return template.replace("{n}", str(number))


def _without_column(parting: Parting, header: Header, line: Line, places: Sequence[int], names: Sequence[str]) -> None:
    """An item of which the sheet has only some columns: what they would say is not known to be nothing."""
    place, there = next(
        (place, header.texts[place - 1].strip()) for place, value in zip(places, line, strict=True) if value
    )
    lacking = listed(name for place, name in zip(places, names, strict=True) if not place)
    reason = f'"{there}" is filled, and the sheet has no column {lacking} beside it.'
    parting.blame(place, "no_column", reason, f'Add the column, or empty "{there}".')
