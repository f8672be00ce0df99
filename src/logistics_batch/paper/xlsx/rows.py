"""The rows of a sheet part, changed while they stream by: our cells added, an earlier round's taken out.

A sheet of 100,000 rows is far too slow and large as a tree of objects. Rows that only get our cells at their end are
copied as bytes; the cells of a row are looked at one by one only where one of them changes.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from logistics_batch.model.issue import column_letters
from logistics_batch.paper.xlsx.xml_bytes import (
    NotPatchable,
    attribute,
    element_pattern,
    measure,
    opening_tag,
    whole_number,
    with_attribute,
    without_attribute,
)

_ADDRESS = re.compile(rb"([A-Za-z]{1,3})(\d+)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row: its column from 1, and its XML."""

    column: int
    xml: bytes


@dataclass(frozen=True, slots=True)
class RowData:
    """Where the rows of a sheet lie in the bytes of its part: a part of 100 MB is not copied for them."""

    data: bytes
    start: int
    end: int

    @classmethod
    def of(cls, rows: bytes) -> "RowData":
        """Rows alone."""
        return cls(rows, 0, len(rows))


@dataclass(frozen=True, slots=True)
class Row:
    """One row element of a sheet part: its number, and where its opening tag, its cells and its whole lie."""

    number: int
    start: int
    cells_start: int
    cells_end: int
    end: int

    @property
    def is_empty_tag(self) -> bool:
        """Whether the row is written as `<row …/>`."""
        return self.cells_end == self.end


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What happens to the rows of a sheet.

    answers: our cells for a row number; none for rows that we say nothing about. answered: the numbers of the rows that
    have some. failing: for a row the columns to colour. failing_style: from a cell's style to that of a failing cell.
    removed: columns of an earlier round. restored: from styles of an earlier round's failing cells to what they were.
    column_styles: the styles of columns, for cells that do not exist yet. heights: what rows need for our text, in
    points; a row whose height the user has set keeps it.
    """

    first_column: int
    width: int
    answers: Callable[[int], Sequence[Cell]]
    answered: frozenset[int]
    failing: Mapping[int, frozenset[int]]
    failing_style: Callable[[int], int]
    removed: frozenset[int] = frozenset()
    restored: Mapping[int, int] = field(default_factory=dict)
    column_styles: Callable[[int], int] = lambda _column: 0
    heights: Mapping[int, float] = field(default_factory=dict)


class RowReader:
    """Finds the rows and cells of sheet data, whose tags carry that namespace prefix."""

    def __init__(self, rows: RowData, *, prefix: bytes) -> None:
        self.data, self.start, self.end = rows.data, rows.start, rows.end
        self.prefix = prefix
        self._row = re.compile(rb"<" + re.escape(prefix) + rb"row(?=[\s/>])([^>]*)>")
        self._row_end = b"</" + prefix + b"row>"
        self.cell = element_pattern(prefix + b"c")
        self._cell_start = b"<" + prefix + b"c"
        self._value = re.compile(rb"<" + re.escape(prefix) + rb"(?:v|f|is)[\s/>]")

    def rows(self) -> Iterator[Row]:
        """The rows in their order. Raises NotPatchable where their numbers do not rise or a row is not closed."""
        position, number = self.start, 0
        while (found := self._row.search(self.data, position, self.end)) is not None:
            following = whole_number(found[1], b"r", number + 1)
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
            column = _column_of(found[1], after=column)
            cells.append(Cell(column, found[0]))
            end = found.end()
        return cells, self.data[end : row.cells_end]

    def last_column(self, row: Row) -> int | None:
        """The column of the row's last cell, 0 if it has none, None where that needs a closer look."""
        start = self.data.rfind(self._cell_start, row.cells_start, row.cells_end)
        if start < 0:
            return 0
        found = self.cell.match(self.data, start, row.cells_end)
        if found is None or attribute(found[1], b"r") is None:
            return None
        return _column_of(found[1], after=0)

    def last_used_column(self, row: Row, *, ignoring: frozenset[int]) -> int:
        """The column of the row's last cell that holds a value or a formula, 0 if none does."""
        end = row.cells_end
        while (start := self.data.rfind(self._cell_start, row.cells_start, end)) >= 0:
            found = self.cell.match(self.data, start, row.cells_end)
            if found is None or attribute(found[1], b"r") is None:
                cells, _ = self.cells(row)
                used = [cell.column for cell in cells if self._value.search(cell.xml) and cell.column not in ignoring]
                return max(used, default=0)
            column = _column_of(found[1], after=0)
            if found[2] and column not in ignoring and self._value.search(found[2]):
                return column
            end = start
        return 0


def column_number(letters: bytes) -> int:
    """The number of a column from 1.

    >>> column_number(b"AB")
    28
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _column_of(attributes: bytes, *, after: int) -> int:
    address = attribute(attributes, b"r")
    if address is None:
        return after + 1
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise NotPatchable("a cell of the sheet has no sound address")
    return column_number(found[1])


def changed_rows(reader: RowReader, changes: RowChanges) -> Iterator[bytes]:
    """The sheet data's content with the changes made, in pieces of some hundred kilobytes."""
    waiting = sorted(changes.answered, reverse=True)
    editor = _RowEditor(reader, changes)
    pieces: list[bytes] = []
    held_bytes, position = 0, reader.start
    for row in reader.rows():
        while waiting and waiting[-1] < row.number:
            pieces.append(editor.new_row(waiting.pop()))
        if waiting and waiting[-1] == row.number:
            waiting.pop()
        pieces.append(reader.data[position : row.start])
        pieces.append(editor.changed(row))
        position = row.end
        held_bytes += len(pieces[-1])
        if held_bytes > 400_000:
            yield b"".join(pieces)
            pieces, held_bytes = [], 0
    pieces.append(reader.data[position : reader.end])
    pieces.extend(editor.new_row(number) for number in reversed(waiting))
    yield b"".join(pieces)


class _RowEditor:
    """Makes one row's new bytes."""

    def __init__(self, reader: RowReader, changes: RowChanges) -> None:
        self._reader = reader
        self._changes = changes
        self._prefix = reader.prefix
        self._zone = frozenset(range(changes.first_column, changes.first_column + changes.width))
        self._every_cell = bool(changes.removed - self._zone) or (
            reader.data.find(b"extLst", reader.start, reader.end) >= 0
        )
        self._letters = [column_letters(column).encode() for column in sorted(self._zone)]
        marks = b"|".join(str(style).encode() for style in changes.restored)
        self._marked = re.compile(rb"\ss\s*=\s*[\"'](?:" + marks + rb")[\"']") if marks else None

    def changed(self, row: Row) -> bytes:
        """The row's new bytes; most rows only lose our earlier cells at their end and get the new ones there."""
        changes, data = self._changes, self._reader.data
        answers = changes.answers(row.number) if row.number in changes.answered else ()
        if self._every_cell or row.number in changes.failing:
            return self._rebuilt(row, answers)
        if self._marked is not None and self._marked.search(data, row.cells_start, row.cells_end):
            return self._rebuilt(row, answers)
        if not answers and not changes.removed:
            return data[row.start : row.end]
        users = Row(row.number, row.start, row.cells_start, self._start_of_zone(row), row.end)
        last = self._reader.last_column(users)
        if last is None or last >= changes.first_column:
            return self._rebuilt(row, answers)
        return self._written(row, [data[users.cells_start : users.cells_end], *(cell.xml for cell in answers)])

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
        answers = self._changes.answers(number)
        marked = self._failing_cells(number, {}, row_style=None)
        cells = sorted([*marked, *answers], key=lambda cell: cell.column)
        content = b"".join(cell.xml for cell in cells)
        height = self._changes.heights.get(number)
        needed = b' ht="%.1f"' % height if height else b""
        return b'<%srow r="%d"%s>%s</%srow>' % (self._prefix, number, needed, content, self._prefix)

    def _rebuilt(self, row: Row, answers: Sequence[Cell]) -> bytes:
        cells, tail = self._reader.cells(row)
        gone = self._changes.removed | (self._zone if answers else frozenset())
        kept = {cell.column: self._restored(cell) for cell in cells if cell.column not in gone}
        for marked in self._failing_cells(row.number, kept, row_style=self._row_style(row)):
            kept[marked.column] = marked
        kept.update((cell.column, cell) for cell in answers)
        if not kept and not tail.strip() and row.is_empty_tag:
            return self._reader.data[row.start : row.end]
        return self._written(row, [*(kept[column].xml for column in sorted(kept)), tail])

    def _written(self, row: Row, content: Sequence[bytes]) -> bytes:
        opening = without_attribute(self._reader.data[row.start : row.cells_start], b"spans")
        height = self._changes.heights.get(row.number, 0.0)
        if height > measure(opening, b"ht") and attribute(opening, b"customHeight") in (None, b"0", b"false"):
            opening = with_attribute(opening, b"ht", b"%.1f" % height)
        if row.is_empty_tag:
            opening = opening[:-2].rstrip() + b">"
        return b"".join([opening, *content, b"</", self._prefix, b"row>"])

    def _row_style(self, row: Row) -> int | None:
        opening = self._reader.data[row.start : row.cells_start]
        if attribute(opening, b"customFormat") not in (b"1", b"true"):
            return None
        return whole_number(opening, b"s")

    def _restored(self, cell: Cell) -> Cell:
        if not self._changes.restored:
            return cell
        opening = opening_tag(cell.xml)
        style = whole_number(opening, b"s")
        if style not in self._changes.restored:
            return cell
        return Cell(cell.column, _styled(cell.xml, self._changes.restored[style]))

    def _failing_cells(self, number: int, cells: Mapping[int, Cell], *, row_style: int | None) -> list[Cell]:
        marked: list[Cell] = []
        for column in sorted(self._changes.failing.get(number, ())):
            cell = cells.get(column)
            if cell is None:
                style = row_style if row_style is not None else self._changes.column_styles(column)
                address = f"{column_letters(column)}{number}".encode()
                xml = b'<%sc r="%s"/>' % (self._prefix, address)
            else:
                style = whole_number(opening_tag(cell.xml), b"s")
                xml = cell.xml
            marked.append(Cell(column, _styled(xml, self._changes.failing_style(style))))
        return marked


def _styled(cell: bytes, style: int) -> bytes:
    end = cell.index(b">") + 1
    return with_attribute(cell[:end], b"s", str(style).encode()) + cell[end:]
