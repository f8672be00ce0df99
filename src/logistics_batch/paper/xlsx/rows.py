"""The rows of a sheet part, changed while they stream by: our cells added, an earlier round's taken out.

A sheet of 100,000 rows is far too slow and large as a tree of objects. Rows that only get our cells at their end are
copied as bytes; the cells of a row are looked at one by one only where one of them changes. All this is for rows that
`SheetPart` has let through: UTF-8, no comments, no CDATA. Then a `<` always opens a tag.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from logistics_batch.model.issue import column_letters
from logistics_batch.paper.xlsx.package import NotPatchable, measured
from logistics_batch.paper.xlsx.styles import StyleSheet

_ADDRESS = re.compile(rb"([A-Za-z]{1,3})(\d+)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row: its column from 1, and its XML."""

    column: int
    xml: bytes


@dataclass(frozen=True, slots=True)
class RowData:
    """Where the rows of a sheet lie in the bytes of its part: a part of 100 MB is not copied for them.

    prefix: of their tags, with its colon.
    """

    data: bytes
    start: int
    end: int
    prefix: bytes = b""


@dataclass(frozen=True, slots=True)
class Row:
    """One row element of a sheet part: its number, and where its opening tag, its cells and its whole lie."""

    number: int
    start: int
    cells_start: int
    cells_end: int
    end: int


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What happens to the rows of a sheet.

    first_column, width: where our columns stand. answers: our cells by row, as XML. heights: what rows need for our
    text, in points; a row whose height the user has set keeps it. failing: for a row the columns to colour.
    column_style: the style of cells that do not exist yet. removed: columns of an earlier round.
    """

    first_column: int
    width: int
    answers: Mapping[int, bytes]
    heights: Mapping[int, float]
    failing: Mapping[int, frozenset[int]]
    styles: StyleSheet
    column_style: Callable[[int], int]
    removed: frozenset[int] = frozenset()


class RowReader:
    """Finds the rows and cells of sheet data."""

    def __init__(self, rows: RowData) -> None:
        self.data, self.start, self.end, self.prefix = rows.data, rows.start, rows.end, rows.prefix
        self._row = re.compile(rb"<" + re.escape(self.prefix) + rb"row(?=[\s/>])([^>]*)>")
        self._row_end = b"</" + self.prefix + b"row>"
        self.cell = _element(self.prefix + b"c")
        self._cell_start = b"<" + self.prefix + b"c"
        self._cell_end = b"</" + self.prefix + b"c>"
        self._formula = re.compile(b"<" + re.escape(self.prefix) + rb"f[\s/>]")

    def rows(self) -> Iterator[Row]:
        """The rows in their order. Raises NotPatchable where their numbers do not rise or a row is not closed."""
        position, number = self.start, 0
        while (found := self._row.search(self.data, position, self.end)) is not None:
            following = _number(found[1], b"r", number + 1)
            if following <= number:
                raise NotPatchable(f"row {following} of the sheet stands after row {number}")
            number = following
            if found[1].endswith(b"/"):
                position = found.end()
                yield Row(number, found.start(), position, position, position)
                continue
            cells_end = self.data.find(self._row_end, found.end(), self.end)
            if cells_end < 0:
                raise NotPatchable(f"row {number} of the sheet is not closed")
            position = cells_end + len(self._row_end)
            yield Row(number, found.start(), found.end(), cells_end, position)

    def cells(self, row: Row) -> tuple[list[Cell], bytes]:
        """The cells of a row, and what follows them inside the row."""
        cells: list[Cell] = []
        column, end = 0, row.cells_start
        for found in self.cell.finditer(self.data, row.cells_start, row.cells_end):
            column = _column_of(found[1]) or column + 1
            cells.append(Cell(column, found[0]))
            end = found.end()
        return cells, self.data[end : row.cells_end]

    def last_column(self, row: Row) -> int:
        """The column of the row's last cell, 0 if it has none."""
        start = self.data.rfind(self._cell_start, row.cells_start, row.cells_end)
        if start < 0:
            return 0
        found = self.cell.match(self.data, start, row.cells_end)
        column = _column_of(found[1]) if found is not None else 0
        # Without an address only by counting from the row's beginning.
        return column or max((cell.column for cell in self.cells(row)[0]), default=0)

    def last_formula(self) -> int:
        """The last column with a formula, also one that shows nothing; 0 if there is none."""
        last = 0
        if self._formula.search(self.data, self.start, self.end) is None:
            return last
        for row in self.rows():
            for found in deque(self._formula.finditer(self.data, row.cells_start, row.cells_end), maxlen=1):
                end = self.data.find(self._cell_end, found.end(), row.cells_end)
                upto = replace(row, cells_end=end + len(self._cell_end)) if end > 0 else row
                last = max(last, self.last_column(upto))
        return last


def changed_rows(rows: RowData, changes: RowChanges) -> Iterator[bytes]:
    """The sheet data's content with the changes made, in pieces of some hundred kilobytes."""
    reader = RowReader(rows)
    editor = RowEditor(reader, changes)
    waiting = sorted(changes.answers, reverse=True)
    pieces: list[bytes] = []
    held_bytes, position = 0, reader.start
    for row in reader.rows():
        while waiting and waiting[-1] < row.number:
            pieces.append(editor.new_row(waiting.pop()))
        if waiting and waiting[-1] == row.number:
            waiting.pop()
        pieces += (reader.data[position : row.start], editor.changed(row))
        position = row.end
        held_bytes += len(pieces[-1])
        if held_bytes > 400_000:
            yield b"".join(pieces)
            pieces, held_bytes = [], 0
    pieces.append(reader.data[position : reader.end])
    pieces.extend(editor.new_row(number) for number in reversed(waiting))
    yield b"".join(pieces)


class RowEditor:
    """Makes one row's new bytes."""

    def __init__(self, reader: RowReader, changes: RowChanges) -> None:
        self._reader, self._changes, self._prefix = reader, changes, reader.prefix
        self._zone = frozenset(range(changes.first_column, changes.first_column + changes.width))
        self._every_cell = bool(changes.removed - self._zone) or (
            reader.data.find(b"extLst", reader.start, reader.end) >= 0
        )
        self._letters = [column_letters(column).encode() for column in sorted(self._zone)]
        marks = b"|".join(str(style).encode() for style in changes.styles.restored)
        self._marked = re.compile(rb"\ss\s*=\s*[\"'](?:" + marks + rb")[\"']") if marks else None

    def changed(self, row: Row) -> bytes:
        """The row's new bytes; most rows only lose our earlier cells at their end and get the new ones there."""
        changes, data = self._changes, self._reader.data
        answers = changes.answers.get(row.number, b"")
        if self._every_cell or row.number in changes.failing:
            return self._rebuilt(row, answers)
        if self._marked is not None and self._marked.search(data, row.cells_start, row.cells_end):
            return self._rebuilt(row, answers)
        if not answers and not changes.removed:
            return data[row.start : row.end]
        users = Row(row.number, row.start, row.cells_start, self._start_of_zone(row), row.end)
        if self._reader.last_column(users) >= changes.first_column:
            return self._rebuilt(row, answers)
        return self._written(row, data[users.cells_start : users.cells_end] + answers)

    def _start_of_zone(self, row: Row) -> int:
        """Where the row's first cell in our columns begins, as far as that can be told at a glance."""
        if not self._changes.removed:
            return row.cells_end
        for letters in self._letters:
            cell = b'<%sc r="%s%d"' % (self._prefix, letters, row.number)
            if (start := self._reader.data.find(cell, row.cells_start, row.cells_end)) >= 0:
                return start
        return row.cells_end

    def new_row(self, number: int) -> bytes:
        """A row that the sheet did not have."""
        row = RowReader(RowData(b'<%srow r="%d"/>' % (self._prefix, number), 0, 0, self._prefix))
        made = Row(number, 0, len(row.data), len(row.data), len(row.data))
        return RowEditor(row, self._changes)._rebuilt(made, self._changes.answers.get(number, b""))

    def _rebuilt(self, row: Row, answers: bytes) -> bytes:
        cells, tail = self._reader.cells(row)
        gone = self._changes.removed | (self._zone if answers else frozenset())
        kept = {cell.column: self._restored(cell.xml) for cell in cells if cell.column not in gone}
        for column in self._changes.failing.get(row.number, ()):
            kept[column] = self._failing(row, column, kept.get(column))
        if answers:
            kept[self._changes.first_column] = answers
        if not kept and not tail.strip():
            return self._reader.data[row.start : row.end] if row.cells_start == row.end else self._written(row, tail)
        return self._written(row, b"".join([*(kept[column] for column in sorted(kept)), tail]))

    def _written(self, row: Row, content: bytes) -> bytes:
        opening = _without(self._reader.data[row.start : row.cells_start], b"spans")
        height = self._changes.heights.get(row.number, 0.0)
        known = _attribute(opening, b"ht")
        as_it_is = 0.0 if known is None else measured(known.decode("utf-8", "replace"), "ht")
        if height > as_it_is and _attribute(opening, b"customHeight") in (None, b"0", b"false"):
            opening = _with(opening, b"ht", b"%.1f" % height)
        if opening.endswith(b"/>"):
            opening = opening[:-2].rstrip() + b">"
        return b"".join([opening, content, b"</", self._prefix, b"row>"])

    def _restored(self, cell: bytes) -> bytes:
        earlier = self._changes.styles.restored
        style = _number(_opening(cell), b"s") if earlier else 0
        return _styled(cell, earlier[style]) if style in earlier else cell

    def _failing(self, row: Row, column: int, cell: bytes | None) -> bytes:
        if cell is not None:
            return _styled(cell, self._changes.styles.failing(_number(_opening(cell), b"s")))
        opening = self._reader.data[row.start : row.cells_start]
        is_styled = _attribute(opening, b"customFormat") in (b"1", b"true")
        style = _number(opening, b"s") if is_styled else self._changes.column_style(column)
        blank = b'<%sc r="%s%d"/>' % (self._prefix, column_letters(column).encode(), row.number)
        return _styled(blank, self._changes.styles.failing(style))


def _styled(cell: bytes, style: int) -> bytes:
    opening = _opening(cell)
    return _with(opening, b"s", str(style).encode()) + cell[len(opening) :]


def column_number(letters: bytes) -> int:
    """The number of a column from 1.

    >>> column_number(b"AB")
    28
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _column_of(attributes: bytes) -> int:
    """The column of a cell, 0 where it has no address."""
    address = _attribute(attributes, b"r")
    if address is None:
        return 0
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise NotPatchable("a cell of the sheet has no sound address")
    return column_number(found[1])


# -- small edits of tags ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _element(tag: bytes) -> re.Pattern[bytes]:
    """Matches an element of that (prefixed) name which cannot nest in itself; group 1: attributes, 2: content."""
    name = re.escape(tag)
    return re.compile(rb"<" + name + rb"(?=[\s/>])([^>]*?)(?:/>|>(.*?)</" + name + rb"\s*>)", re.DOTALL)


@lru_cache(maxsize=64)
def _attribute_pattern(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s" + re.escape(name) + rb"\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def _attribute(tag: bytes, name: bytes) -> bytes | None:
    """The raw value of an attribute in an opening tag (or in its attributes), None where it is not there."""
    found = _attribute_pattern(name).search(tag)
    return found[found.lastindex or 0] if found is not None else None


def _number(tag: bytes, name: bytes, default: int = 0) -> int:
    value = _attribute(tag, name)
    if value is None:
        return default
    if not value.isdigit() or len(value) > 10:
        raise NotPatchable(f"{name.decode()} is no number somewhere in the workbook")
    return int(value)


def _without(tag: bytes, name: bytes) -> bytes:
    return _attribute_pattern(name).sub(b"", tag, count=1)


def _with(tag: bytes, name: bytes, value: bytes) -> bytes:
    """The opening tag (`<name …>` or `<name …/>`) with the attribute set."""
    bare = _without(tag, name)
    end = len(bare) - 2 if bare.endswith(b"/>") else len(bare) - 1
    return b"".join([bare[:end].rstrip(), b" ", name, b'="', value, b'"', bare[end:]])


def _opening(element: bytes) -> bytes:
    return element[: element.index(b">") + 1]
