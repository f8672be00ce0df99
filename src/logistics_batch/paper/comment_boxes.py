"""Where the boxes of comments stand: right of their cell, wide enough for a sentence, as high as their text."""

from bisect import bisect_right
from collections.abc import Sequence

from logistics_batch.paper.xlsx_comments import Note
from logistics_batch.paper.xlsx_sheet import SheetPart
from logistics_batch.paper.xml_bytes import attribute, measure, opening_tag, whole_number

_BOX_PIXELS = 330
_CHARACTERS_A_LINE = 48
_LINE_PIXELS = 16
_ROW_PIXELS = 20
_COLUMN_PIXELS = 64
_GAP_PIXELS = 12


def placed_notes(part: SheetPart, notes: Sequence[tuple[int, int, str]]) -> list[Note]:
    """The notes (row and column from 1, text) with their boxes, which stand over the columns of that sheet."""
    widths = _ColumnWidths(part)
    return [_placed(widths, row, column, text) for row, column, text in notes]


def _placed(widths: "_ColumnWidths", row: int, column: int, text: str) -> Note:
    lines = sum(1 + len(line) // _CHARACTERS_A_LINE for line in text.split("\n"))
    height = (lines + 2) * _LINE_PIXELS  # the first line names us
    rows, rest = divmod(height, _ROW_PIXELS)
    right, wide = column + 1, _BOX_PIXELS + _GAP_PIXELS
    while wide >= (width := widths.pixels(right)):
        wide -= width
        right += 1
    top = max(row - 2, 0)
    return Note(row, column, text, (column, _GAP_PIXELS, top, 4, right - 1, wide, top + rows, rest + 4), height)


class _ColumnWidths:
    """The widths of a sheet's columns in pixels (seven a character, and five of padding)."""

    def __init__(self, part: SheetPart) -> None:
        sheet_format = part.get("sheetFormatPr")
        written = measure(opening_tag(sheet_format), b"defaultColWidth") if sheet_format is not None else 0.0
        self._default = _pixels(written) if written else _COLUMN_PIXELS
        self._ranges = sorted(
            (whole_number(tag, b"min", 1), whole_number(tag, b"max", 1), self._of(tag))
            for tag in part.children("cols", "col")
        )
        self._starts = [low for low, _, _ in self._ranges]

    def _of(self, tag: bytes) -> int:
        if attribute(tag, b"hidden") in (b"1", b"true"):
            return 0
        return _pixels(measure(tag, b"width")) if b"width" in tag else self._default

    def pixels(self, column: int) -> int:
        """The width of a column from 1."""
        index = bisect_right(self._starts, column) - 1
        if index >= 0 and column <= self._ranges[index][1]:
            return self._ranges[index][2]
        return self._default


def _pixels(characters: float) -> int:
    return int(characters * 7 + 5)
