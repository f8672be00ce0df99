"""How wide the columns of a sheet are on a screen."""

from bisect import bisect_right

from logistics_batch.paper.xlsx.sheet import LAST_COLUMN, SheetPart
from logistics_batch.paper.xlsx.xml_bytes import attribute, measure, opening_tag, whole_number

_COLUMN_PIXELS = 64


class ColumnWidths:
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

    def last_under(self, first: int, pixels: int) -> int:
        """The last column that something lies over which begins with column `first` and is so wide."""
        column, left = first, pixels - self.pixels(first)
        while left > 0 and column < LAST_COLUMN:
            column += 1
            left -= self.pixels(column)
        return column

    def pixels(self, column: int) -> int:
        """The width of a column from 1."""
        index = bisect_right(self._starts, column) - 1
        if index >= 0 and column <= self._ranges[index][1]:
            return self._ranges[index][2]
        return self._default


def _pixels(characters: float) -> int:
    return int(characters * 7 + 5)
