"""Where a label page goes on the paper: 4 x 6 inch stock as it is, or several labels to a sheet.

All lengths are in PDF points (1/72 inch) unless their name says otherwise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pikepdf

POINTS_PER_MM = 72 / 25.4
STOCK_WIDTH, STOCK_HEIGHT = 288.0, 432.0  # 4 x 6 in

Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""
Fitted = Sequence[Box | None] | str
"""For each page of a label that is larger than the stock the box that is painted, None for the whole; or why not."""

_SAME_SIZE = 1.5  # what printers and makers of labels call the same size
_SMALL = 0.9
_CAPTION_LARGEST, _CAPTION_SMALLEST, _CAPTION_STRIP = 10.0, 6.0, 15.0
_SHEET_MARGIN = 5 * POINTS_PER_MM  # most lasers cannot print nearer to the edge


class StockLayout(StrEnum):
    """How labels lie on the paper."""

    STOCK_4X6 = "4x6"
    A4_2UP = "a4-2up"
    A4_4UP = "a4-4up"
    LETTER_4UP = "letter-4up"


@dataclass(frozen=True, slots=True)
class LabelPage:
    """The visible part of a source page.

    box: in the page's own units. turn: degrees clockwise for display. unit: points per unit.
    """

    box: Box
    turn: int
    unit: float

    @property
    def shown_size(self) -> tuple[float, float]:
        """Width and height as a viewer shows them."""
        left, bottom, right, top = self.box
        width, height = (right - left) * self.unit, (top - bottom) * self.unit
        return (height, width) if self.turn in (90, 270) else (width, height)


@dataclass(frozen=True, slots=True)
class StockSlot:
    """A free rectangle of the paper; captioned: a line of text goes beside the label where there is room."""

    left: float
    bottom: float
    width: float
    height: float
    captioned: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """How a label page is painted.

    matrix: (a b c d e f) from the page's own units to the paper. scale: what it is shrunk to. caption: where a line at
    its left that is read from below to above begins, on its base line, and the size of its letters; None without room.
    """

    matrix: tuple[float, float, float, float, float, float]
    scale: float
    caption: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class StockSheet:
    """A sheet of paper and its slots, in the order in which they are filled."""

    width: float
    height: float
    slots: tuple[StockSlot, ...]


def sheet_of(layout: StockLayout) -> StockSheet:
    """The paper of a layout."""
    if layout is StockLayout.STOCK_4X6:
        return StockSheet(STOCK_WIDTH, STOCK_HEIGHT, (StockSlot(0, 0, STOCK_WIDTH, STOCK_HEIGHT),))
    if layout is StockLayout.LETTER_4UP:
        return _grid(612.0, 792.0, columns=2)
    return _grid(210 * POINTS_PER_MM, 297 * POINTS_PER_MM, columns=1 if layout is StockLayout.A4_2UP else 2)


def _grid(width: float, height: float, *, columns: int) -> StockSheet:
    inner_width, inner_height = (width - 2 * _SHEET_MARGIN) / columns, (height - 2 * _SHEET_MARGIN) / 2
    slots = tuple(
        StockSlot(
            _SHEET_MARGIN + column * inner_width,
            _SHEET_MARGIN + row * inner_height,
            inner_width,
            inner_height,
            captioned=True,
        )
        for row in (1, 0)
        for column in range(columns)
    )
    return StockSheet(width, height, slots)


def read_page(page: pikepdf.Page) -> LabelPage:
    """The visible box, rotation and unit of a source page; raises ValueError where they make no sense."""
    media, crop = _box(page.mediabox), _box(page.cropbox)
    box = (max(media[0], crop[0]), max(media[1], crop[1]), min(media[2], crop[2]), min(media[3], crop[3]))
    if box[2] - box[0] < 1 or box[3] - box[1] < 1:
        raise ValueError("the page has no visible area")
    unit = float(page.obj.get("/UserUnit", 1))
    if not 0.1 <= unit <= 100:
        raise ValueError("the page's unit makes no sense")
    return LabelPage(box, _rotation(page), unit)


def _box(rectangle: Iterable[Any]) -> Box:
    x1, y1, x2, y2 = (float(value) for value in rectangle)
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _rotation(page: pikepdf.Page) -> int:
    node: pikepdf.Object | None = page.obj
    for _ in range(32):  # inherited from the page tree, which a hostile file may bend into a ring
        if node is None:
            return 0
        if "/Rotate" in node:
            return int(node["/Rotate"]) % 360 // 90 * 90
        node = node.get("/Parent")
    return 0


def is_stock_size(page: LabelPage) -> bool:
    """Whether a page measures 4 x 6 inches, upright or lying."""
    short, long = sorted(page.shown_size)
    return abs(short - STOCK_WIDTH) <= _SAME_SIZE and abs(long - STOCK_HEIGHT) <= _SAME_SIZE


def is_larger(page: LabelPage) -> bool:
    """Whether a page goes beyond the 4x6 stock, upright or lying."""
    short, long = sorted(page.shown_size)
    return short > STOCK_WIDTH + _SAME_SIZE or long > STOCK_HEIGHT + _SAME_SIZE


def too_large(page: LabelPage, why: str = "") -> str:
    """Why a page is not printed on the 4x6 stock, and what helps."""
    return (
        f"its page measures {size_in_words(page)}, more than the 4x6 stock (101.6 x 152.4 mm){why}; "
        f"use --layout {StockLayout.A4_2UP} or {StockLayout.A4_4UP}"
    )


def is_small(page: LabelPage) -> bool:
    """Whether a page fills less than nine tenths of a 4 x 6 label."""
    short, long = sorted(page.shown_size)
    return short < STOCK_WIDTH * _SMALL or long < STOCK_HEIGHT * _SMALL


def size_in_words(page: LabelPage) -> str:
    """A page's shown size for a report.

    >>> size_in_words(LabelPage((0, 0, 288, 432), 90, 1.0))
    '152.4 x 101.6 mm'
    """
    width, height = page.shown_size
    return f"{_mm(width)} x {_mm(height)} mm"


def _mm(points: float) -> str:
    return f"{points / POINTS_PER_MM:.1f}".removesuffix(".0")


def place(page: LabelPage, slot: StockSlot) -> Placement:
    """Put a page into a slot: turned to the slot's direction, shrunk only if it must, never enlarged.

    It stands in the middle, or to the right where otherwise no line of text had room at its left.
    """
    turn, (width, height) = page.turn, page.shown_size
    if (width > height) != (slot.width > slot.height) and width != height:
        turn, width, height = (turn + 90) % 360, height, width
    fits = width <= slot.width + _SAME_SIZE and height <= slot.height + _SAME_SIZE
    scale = 1.0 if fits else min(1.0, slot.width / width, slot.height / height)
    free = max(0.0, slot.width - width * scale)
    strip = free if slot.captioned and free < 2 * _CAPTION_STRIP else free / 2
    left, bottom = slot.left + strip, slot.bottom + (slot.height - height * scale) / 2
    a, b, c, d, e, f = _turned(page.box, turn)
    k = scale * page.unit
    size = min(_CAPTION_LARGEST, strip * 0.8)
    has_caption = slot.captioned and size >= _CAPTION_SMALLEST
    caption = (left - max(2.5, (strip - size) / 2 - size * 0.2), bottom + 3, size) if has_caption else None
    return Placement((a * k, b * k, c * k, d * k, e * k + left, f * k + bottom), scale, caption)


def _turned(box: Box, turn: int) -> tuple[float, float, float, float, float, float]:
    """The matrix that turns a box clockwise and moves its lower left corner to the origin."""
    left, bottom, right, top = box
    if turn == 90:
        return 0, -1, 1, 0, -bottom, right
    if turn == 180:
        return -1, 0, 0, -1, right, top
    if turn == 270:
        return 0, 1, -1, 0, top, -left
    return 1, 0, 0, 1, -left, -bottom
