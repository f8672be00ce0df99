"""Some rows of a sheet, close up under its header: their cells, formulas, merged areas and links at new numbers.

A formula that looks only at rows that are kept and still stand together, at the rows above the header's end or at
other sheets goes with its row. Any other gives way to the value it had, for it would look at rows that are not there.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from xml.sax.saxutils import escape

from openpyxl.formula import Tokenizer
from openpyxl.formula.tokenizer import Token, TokenizerError
from openpyxl.formula.translate import Translator, TranslatorError

from logistics_batch.model.issue import cell_address
from logistics_batch.paper.xlsx_rows import Cell, Row, RowReader
from logistics_batch.paper.xlsx_sheet import Area, SheetPart
from logistics_batch.paper.xml_bytes import (
    attribute,
    element_pattern,
    opening_tag,
    with_attribute,
    without_attribute,
)

_REFERENCE = re.compile(r"(\$?[A-Za-z]{1,3}\$?)(\d+)")
_WHOLE_REFERENCE = re.compile(r"\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?")
_ROWS_ONLY = re.compile(r"\$?\d+:\$?\d+")


class RowMover:
    """Gives rows new numbers. `moves` holds every row that is kept, in their order; rows up to `fixed_row` stay.

    moving: the names of all sheets whose rows move.
    frozen: the new places (row, column) of the formulas that gave way to their values, once the rows are read.
    """

    def __init__(
        self, reader: RowReader, moves: Mapping[int, int], *, fixed_row: int, moving: frozenset[str] = frozenset()
    ) -> None:
        self._reader = reader
        self._moves = moves
        self._fixed_row = fixed_row
        self._moving = moving
        self._formula = element_pattern(reader.prefix + b"f")
        self._shared: dict[bytes, tuple[str, str]] = {}
        self.frozen: list[tuple[int, int]] = []

    def moved(self, row: int) -> int | None:
        """The new number of a row, None where it is left out."""
        return row if row <= self._fixed_row else self._moves.get(row)

    def rows(self) -> Iterator[bytes]:
        """The kept rows at their new numbers."""
        for row in self._reader.rows():
            self._learn_shared_formulas(row)
            number = self.moved(row.number)
            if number is not None:
                yield self._row(row, number)

    def _row(self, row: Row, number: int) -> bytes:
        cells, tail = self._reader.cells(row)
        opening = with_attribute(self._reader.data[row.start : row.cells_start], b"r", str(number).encode())
        opening = without_attribute(opening, b"hidden") if row.number > self._fixed_row else opening
        if row.is_empty_tag:
            return opening
        content = b"".join(self._cell(cell, row.number, number) for cell in cells)
        return b"".join([opening, content, tail, b"</", self._reader.prefix, b"row>"])

    def _cell(self, cell: Cell, old: int, new: int) -> bytes:
        opening = opening_tag(cell.xml)
        moved = with_attribute(opening, b"r", cell_address(new, cell.column).encode())
        rest = cell.xml[len(opening) :]
        if old > self._fixed_row and self._formula.search(rest) is not None:
            rest = self._formula.sub(lambda found: self._moved_formula(found, cell.column, old), rest, count=1)
            if self._formula.search(rest) is None:
                self.frozen.append((new, cell.column))
        return moved + rest

    def _learn_shared_formulas(self, row: Row) -> None:
        data = self._reader.data
        if data.find(b"shared", row.cells_start, row.cells_end) < 0:
            return
        for cell in self._reader.cells(row)[0]:
            found = self._formula.search(cell.xml)
            if found is not None and attribute(found[1], b"t") == b"shared" and found[2]:
                text = "=" + unescape(found[2].decode("utf-8", "replace"))
                self._shared[attribute(found[1], b"si") or b""] = (text, cell_address(row.number, cell.column))

    def _moved_formula(self, found: re.Match[bytes], column: int, old: int) -> bytes:
        text = self._text_of(found, column, old)
        looks_there = text is not None and _looks_at(text, self._moving)
        moved = moved_formula(text, moves=self._moves, fixed_row=self._fixed_row) if text and not looks_there else None
        if moved is None:
            return b""
        p = self._reader.prefix
        return b"<%sf>%s</%sf>" % (p, escape(moved[1:]).encode(), p)

    def _text_of(self, found: re.Match[bytes], column: int, row: int) -> str | None:
        """The formula of a cell in full, None for those over several cells."""
        kind = attribute(found[1], b"t") or b"normal"
        if kind == b"normal":
            return "=" + unescape((found[2] or b"").decode("utf-8", "replace"))
        known = self._shared.get(attribute(found[1], b"si") or b"") if kind == b"shared" else None
        if known is None:
            return None
        text, origin = known
        try:
            return str(Translator(text, origin=origin).translate_formula(cell_address(row, column)))
        except (TokenizerError, TranslatorError):
            return None


def _looks_at(formula: str, sheets: frozenset[str]) -> bool:
    """Whether a formula names rows of one of these sheets.

    >>> _looks_at("=VLOOKUP(A2,'Order lines'!A2:B9,2)", frozenset({"Order lines"}))
    True
    """
    try:
        operands = [token.value for token in Tokenizer(formula).items if token.subtype == Token.RANGE]
    except TokenizerError:
        return False
    named = (operand.rpartition("!") for operand in operands)
    return any(sheet.strip("'").replace("''", "'") in sheets and bool(re.search(r"\d", at)) for sheet, _, at in named)


def moved_formula(formula: str, *, moves: Mapping[int, int], fixed_row: int) -> str | None:
    """The formula of a cell whose row goes with others to new numbers; None where it looks at one that is left out.

    >>> moved_formula("=F17*G17*$B$2+VLOOKUP(A17,Rates!A1:B9,2)", moves={17: 5}, fixed_row=4)
    '=F5*G5*$B$2+VLOOKUP(A5,Rates!A1:B9,2)'
    >>> moved_formula("=SUM(F17:F18)", moves={17: 5, 18: 6}, fixed_row=4)
    '=SUM(F5:F6)'
    >>> moved_formula("=A16+1", moves={17: 5}, fixed_row=4) is None
    True
    """
    try:
        tokens = Tokenizer(formula)
    except TokenizerError:
        return None
    for token in tokens.items:
        if token.type != Token.OPERAND or token.subtype != Token.RANGE or "!" in token.value:
            continue
        if _ROWS_ONLY.fullmatch(token.value):
            return None
        if not _WHOLE_REFERENCE.fullmatch(token.value):
            continue  # a name, a whole column, or a column of a table
        rows = [int(found[2]) for found in _REFERENCE.finditer(token.value)]
        if max(rows) > fixed_row:
            if not _stay_together(min(rows), max(rows), moves):
                return None
            token.value = _REFERENCE.sub(lambda found: f"{found[1]}{moves[int(found[2])]}", token.value)
    return "=" + "".join(token.value for token in tokens.items)


def _stay_together(first: int, last: int, moves: Mapping[int, int]) -> bool:
    """Whether every row from the first to the last is kept: as they keep their order, the distance tells."""
    return first in moves and last in moves and moves[last] - moves[first] == last - first


def move_surroundings(part: SheetPart, mover: RowMover) -> None:
    """Lets merged areas and links go with their rows, and takes away what speaks of rows that are gone."""
    _move_areas(part, mover, element="mergeCells", child="mergeCell")
    _move_areas(part, mover, element="hyperlinks", child="hyperlink")
    for name in ("dimension", "sortState", "rowBreaks", "autoFilter"):
        part.put(name, None)


def _move_areas(part: SheetPart, mover: RowMover, *, element: str, child: str) -> None:
    xml = part.get(element)
    if xml is None:
        return
    kept: list[bytes] = []
    for found in element_pattern(part.prefix + child.encode()).finditer(xml):
        area = Area.of(attribute(found[1], b"ref") or b"")
        moved = _moved_area(area, mover) if area is not None else None
        if moved is not None:
            opening = with_attribute(opening_tag(found[0]), b"ref", str(moved).encode())
            kept.append(opening + found[0][len(opening_tag(found[0])) :])
    tag = part.prefix + element.encode()
    part.put(element, b"<%s>%s</%s>" % (tag, b"".join(kept), tag) if kept else None)


def _moved_area(area: Area, mover: RowMover) -> Area | None:
    rows = [mover.moved(row) for row in range(area.top, area.bottom + 1)]
    kept = [row for row in rows if row is not None]
    if not kept or rows[0] is None or (len(kept) == 1 and area.left == area.right and area.top != area.bottom):
        return None
    return Area(kept[0], area.left, kept[-1], area.right)
