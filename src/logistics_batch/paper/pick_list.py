"""The pick list on A4: what to take, group by group, before the labels go on; large enough to read while walking."""

import io
from collections.abc import Iterator, Sequence
from itertools import groupby

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.model.counting import counted
from logistics_batch.paper.fonts import Style, wrap
from logistics_batch.paper.manifest import Manifest, Pick, rows_in_words
from logistics_batch.paper.manifest_pages import PAPER, Column, Pages

_TITLE, _HEADING = Style(22, bold=True), Style(13, bold=True)
_CELL, _STRONG, _HEAD = Style(11), Style(11, bold=True), Style(8, bold=True)
_LEADING, _PADDING = 5.2 * mm, 2.4 * mm
_MOST_LINES = 4  # of one SKU's name or label numbers
_LEFT, _RIGHT = 12 * mm, 198 * mm
_BOX = 4 * mm
_GUTTER = 3 * mm
_COLUMNS = (
    Column("", 8),
    Column("Bin", 30),
    Column("SKU", 70),
    Column("Take", 20, right=True),
    Column("Orders", 20, right=True),
    Column("Labels No.", 38),
)


def pick_list_pdf(manifest: Manifest) -> bytes:
    """The pick list of a bundle; the same bundle gives the same bytes."""
    out = io.BytesIO()
    title = f"Pick list {manifest.bundle_id}"
    pages = Pages(Canvas(out, pagesize=PAPER, invariant=1, pageCompression=1), title)
    pages.y -= 7 * mm
    pages.pen.draw("Pick list", at=(_LEFT, pages.y), style=_TITLE)
    pages.pen.draw(manifest.bundle_id, at=(_RIGHT, pages.y), style=Style(11, bold=True, align="right"))
    pages.y -= 7 * mm
    pages.pen.draw(_summary(manifest), at=(_LEFT, pages.y), style=_CELL, fit=_RIGHT - _LEFT)
    pages.y -= 3 * mm
    for group, members in groupby(manifest.picks, key=lambda pick: pick.group):
        _group(pages, group, list(members))
    pages.finish()
    return out.getvalue()


def _summary(manifest: Manifest) -> str:
    pieces = sum(pick.quantity for pick in manifest.picks)
    skus = len({pick.sku for pick in manifest.picks})
    labels = len({number for pick in manifest.picks for number in pick.labels})
    words = f"{counted(labels, 'label')}, {counted(skus, 'SKU')}, pieces: {pieces:,f}"
    lost = len(manifest.missing)
    words += f"; {counted(lost, 'order')} without a label not among them" if lost else ""
    return f"{words}; nothing for labels that are printed again" if labels < len(manifest.lines) else words


def _group(pages: Pages, group: str, picks: Sequence[Pick]) -> None:
    pages.need(30 * mm)
    pages.y -= 9 * mm
    pages.pen.draw(group or "All orders", at=(_LEFT, pages.y), style=_HEADING, fit=_RIGHT - _LEFT)
    pages.y -= 1 * mm
    _head(pages)
    for pick in picks:
        _row(pages, pick)


def _head(pages: Pages) -> None:
    pages.y -= 5 * mm
    for column, x in _placed():
        _cell(pages, column, column.title, at=(x, pages.y), style=_HEAD)
    pages.y -= 1.4 * mm
    pages.canvas.setLineWidth(0.8)
    pages.canvas.line(_LEFT, pages.y, _RIGHT, pages.y)


def _row(pages: Pages, pick: Pick) -> None:
    texts: tuple[list[str], ...] = (
        [],
        _lines(pick.bin, _COLUMNS[1]),
        _lines(pick.sku, _COLUMNS[2]),
        [f"{pick.quantity:,f}"],
        [str(pick.orders)],
        _lines(rows_in_words(pick.labels), _COLUMNS[5]),
    )
    height = max(map(len, texts)) * _LEADING + _PADDING
    if pages.need(height):
        _head(pages)
    top = pages.y
    pages.canvas.setLineWidth(0.7)
    pages.canvas.rect(_LEFT, top - _PADDING / 2 - _BOX - 0.6 * mm, _BOX, _BOX)  # to tick
    for (column, x), lines in zip(_placed(), texts, strict=True):
        style = _STRONG if column.title in ("Bin", "Take") else _CELL
        for number, line in enumerate(lines):
            _cell(pages, column, line, at=(x, top - _PADDING / 2 - 4 * mm - number * _LEADING), style=style)
    pages.y -= height
    pages.canvas.setLineWidth(0.25)
    pages.canvas.line(_LEFT, pages.y, _RIGHT, pages.y)


def _cell(pages: Pages, column: Column, text: str, *, at: tuple[float, float], style: Style) -> None:
    x, y = at
    if column.right:
        x, style = x + column.width * mm - 2 * _GUTTER, Style(style.size, bold=style.bold, align="right")
    pages.pen.draw(text, at=(x, y), style=style)


def _lines(text: str, column: Column) -> list[str]:
    lines = wrap(text, width=column.width * mm - _GUTTER, style=_STRONG if column.title == "Bin" else _CELL)
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1][:-1]}…"]


def _placed() -> Iterator[tuple[Column, float]]:
    x = _LEFT
    for column in _COLUMNS:
        yield column, x
        x += column.width * mm
