"""A4 pages that are written from top to bottom: lines, bands and tables that go on over the pages."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.paper.fonts import Style, Typesetter, text_width, wrap

LEFT, RIGHT = 12 * mm, 198 * mm
WIDTH = RIGHT - LEFT
LINE_HEIGHT = 4.6 * mm
GREY = 0.35
_TOP, _BOTTOM = 285 * mm, 16 * mm
_FOOT, _BAND = Style(7.5), Style(11, bold=True)
_MOST_BAND_LINES = 20
_KEPT_TOGETHER = 12  # lines of one row


class Pages:
    """A cursor that goes down the page and turns it. y: the base line of what was written last."""

    def __init__(self, title: str) -> None:
        self._out = io.BytesIO()
        self.canvas = Canvas(self._out, pagesize=(210 * mm, 297 * mm), invariant=1, pageCompression=1)
        self.canvas.setTitle(title)
        self.y = _TOP
        self._pen = Typesetter(self.canvas)
        self._title, self._number = title, 1

    def write(
        self,
        text: str,
        style: Style,
        *,
        x: float = LEFT,
        y: float | None = None,
        fit: float | None = None,
        grey: float = 0,
    ) -> None:
        """Write one line at the cursor, or at y; see `Typesetter.draw`."""
        self.canvas.setFillGray(grey)
        self._pen.draw(text, at=(x, self.y if y is None else y), style=style, fit=fit)
        self.canvas.setFillGray(0)

    def write_head(self, title: str, number: str) -> None:
        """Write what the paper is, and of which bundle."""
        self.y -= 7 * mm
        self.write(title, Style(22, bold=True))
        self.write(number, Style(11, bold=True, align="right"), x=RIGHT)

    def write_lines(self, text: str, style: Style, leading: float, *, indent: float = 0) -> int:
        """Write a text below the cursor in as many lines as it takes, and return how many."""
        lines = wrap(text, width=WIDTH - indent, style=style)
        for line in lines:
            self.need(leading)
            self.y -= leading
            self.write(line, style, x=LEFT + indent)
        return len(lines)

    def write_band(self, text: str, *, colour: tuple[float, float, float]) -> None:
        """Write white words on a coloured band."""
        lines = wrap(text, width=WIDTH - 6 * mm, style=_BAND)[:_MOST_BAND_LINES]
        height = 2 * mm + 5 * mm * len(lines)
        self.need(height + 3 * LINE_HEIGHT)
        top = self.y - 1 * mm
        self.y = top - height
        self.canvas.setFillColorRGB(*colour)
        self.canvas.rect(LEFT, self.y, WIDTH, height, stroke=0, fill=1)
        for number, line in enumerate(lines):
            self.write(line, _BAND, x=LEFT + 3 * mm, y=top - 4.8 * mm - number * 5 * mm, grey=1)
        self.y -= 1 * mm

    def need(self, height: float) -> bool:
        """Make sure that so much of the page is left; True if a new page was begun for it."""
        if self.y - height >= _BOTTOM:
            return False
        self.turn()
        return True

    def turn(self) -> None:
        """Go on at the top of a new page."""
        self.write(self._title, _FOOT, y=9 * mm, grey=GREY)
        self.write(f"page {self._number} of", replace(_FOOT, align="right"), x=RIGHT - 5 * mm, y=9 * mm, grey=GREY)
        self.canvas.saveState()
        self.canvas.setFillGray(GREY)
        self.canvas.translate(RIGHT - 4 * mm, 9 * mm)
        self.canvas.doForm("page_count")
        self.canvas.restoreState()
        self.canvas.showPage()
        self._number += 1
        self.y = _TOP

    def finished(self) -> bytes:
        """The complete file."""
        self.turn()
        # The number of pages is known only now; every foot refers to this form.
        self.canvas.beginForm("page_count")
        self._pen.draw(str(self._number - 1), at=(0, 0), style=_FOOT)
        self.canvas.endForm()
        self.canvas.save()
        return self._out.getvalue()


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table; width in mm.

    right: of numbers, which are set smaller where they are too long, and never cut. most: a text that is too long goes
    on in the next lines, of which there are at most so many; otherwise its end is cut.
    """

    title: str
    width: float
    right: bool = False
    bold: bool = False
    most: int = 1


WHOLE = 1_000_000
"""As many lines as a text takes."""


@dataclass(frozen=True, slots=True)
class TableLook:
    """How a table is set; lengths in points.

    below: the room between a row and the rule that ends it, 0 without a rule. gutter: what stays free of each column.
    """

    cell: Style
    head: Style
    leading: float
    below: float = 0.0
    gutter: float = 2.5 * mm


class Table:
    """Rows below heads, which stand again on every page that the table goes on to."""

    def __init__(self, pages: Pages, columns: Sequence[TableColumn], look: TableLook) -> None:
        """Write the heads."""
        self._pages, self._columns, self._look = pages, columns, look
        self._head()

    def row(self, cells: Sequence[str], *, shaded: bool = False) -> float:
        """Write a row of as many lines as its longest cell has; the base line of the first one."""
        pages, look = self._pages, self._look
        wrapped = [self._lines(column, cell) for column, cell in zip(self._columns, cells, strict=True)]
        lines = list(zip_longest(*wrapped, fillvalue=""))
        if pages.need(look.leading * min(len(lines), _KEPT_TOGETHER) + look.below):
            self._head()
        first = pages.y - look.leading
        for line in lines:
            if pages.need(look.leading + look.below):
                self._head()
            if shaded:
                pages.canvas.setFillGray(0.955)
                pages.canvas.rect(LEFT, pages.y - look.leading - 1.3 * mm, WIDTH, look.leading, stroke=0, fill=1)
            pages.y -= look.leading
            self._line(line, look.cell)
        if look.below:
            self._rule(look.below, 0.25)
        return first

    def _head(self) -> None:
        self._pages.y -= LINE_HEIGHT
        self._line([column.title for column in self._columns], self._look.head)
        self._rule(1.2 * mm, 0.6)

    def _rule(self, below: float, thickness: float) -> None:
        self._pages.y -= below
        self._pages.canvas.setLineWidth(thickness)
        self._pages.canvas.line(LEFT, self._pages.y, RIGHT, self._pages.y)

    def _lines(self, column: TableColumn, cell: str) -> list[str]:
        if column.most == 1:
            return [cell]
        style = replace(self._look.cell, bold=column.bold)
        lines = wrap(cell, width=column.width * mm - self._look.gutter, style=style)
        return lines if len(lines) <= column.most else [*lines[: column.most - 1], f"{lines[column.most - 1][:-1]}…"]

    def _line(self, cells: Sequence[str], style: Style) -> None:
        x = LEFT
        for column, cell in zip(self._columns, cells, strict=True):
            inner = column.width * mm - self._look.gutter
            look = replace(style, bold=True) if column.bold else style
            if column.right:
                wide = text_width(cell, look)
                look = replace(look, align="right", size=look.size * min(1, inner / wide) if wide else look.size)
                self._pages.write(cell, look, x=x + inner)
            else:
                self._pages.write(cell, look, x=x, fit=inner)
            x += column.width * mm
