"""Where the boxes of comments stand: right of their cell, wide enough for a sentence, as high as their text."""

from collections.abc import Sequence

from logistics_batch.paper.column_widths import ColumnWidths
from logistics_batch.paper.xlsx_comments import Note
from logistics_batch.paper.xlsx_sheet import SheetPart

_BOX_PIXELS = 330
_CHARACTERS_A_LINE = 48
_LINE_PIXELS = 16
_ROW_PIXELS = 20
_GAP_PIXELS = 12


def placed_notes(part: SheetPart, notes: Sequence[tuple[int, int, str]]) -> list[Note]:
    """The notes (row and column from 1, text) with their boxes, which stand over the columns of that sheet."""
    widths = ColumnWidths(part)
    return [_placed(widths, row, column, text) for row, column, text in notes]


def _placed(widths: ColumnWidths, row: int, column: int, text: str) -> Note:
    lines = sum(1 + len(line) // _CHARACTERS_A_LINE for line in text.split("\n"))
    height = (lines + 2) * _LINE_PIXELS  # the first line names us
    rows, rest = divmod(height, _ROW_PIXELS)
    right, wide = column + 1, _BOX_PIXELS + _GAP_PIXELS
    while wide >= (width := widths.pixels(right)):
        wide -= width
        right += 1
    top = max(row - 2, 0)
    return Note(row, column, text, (column, _GAP_PIXELS, top, 4, right - 1, wide, top + rows, rest + 4), height)
