"""The pick list on A4: what to take, group by group, before the labels go on; large enough to read while walking."""

import io
from itertools import groupby

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.model.counting import counted
from logistics_batch.paper.fonts import Style
from logistics_batch.paper.labels.manifest import Manifest, rows_in_words
from logistics_batch.paper.labels.manifest_pages import LEFT, PAPER, RIGHT, Pages, Table, TableColumn, TableLook

_TITLE, _HEADING, _CELL = Style(22, bold=True), Style(13, bold=True), Style(11)
_LOOK = TableLook(_CELL, Style(8, bold=True), 5.2 * mm, below=2.4 * mm, gutter=5 * mm)
_BOX = 4 * mm  # to tick
_COLUMNS = (
    TableColumn("", 8),
    TableColumn("Bin", 30, whole=True, bold=True, most=4),
    TableColumn("SKU", 70, whole=True, most=4),
    TableColumn("Take", 20, right=True, bold=True),
    TableColumn("Orders", 20, right=True),
    TableColumn("Labels No.", 38, whole=True, most=4),
)


def pick_list_pdf(manifest: Manifest) -> bytes:
    """The pick list of a bundle; the same bundle gives the same bytes."""
    out = io.BytesIO()
    title = f"Pick list {manifest.bundle_id}"
    pages = Pages(Canvas(out, pagesize=PAPER, invariant=1, pageCompression=1), title)
    pages.y -= 7 * mm
    pages.pen.draw("Pick list", at=(LEFT, pages.y), style=_TITLE)
    pages.pen.draw(manifest.bundle_id, at=(RIGHT, pages.y), style=Style(11, bold=True, align="right"))
    pages.y -= 7 * mm
    pages.pen.draw(_summary(manifest), at=(LEFT, pages.y), style=_CELL, fit=RIGHT - LEFT)
    pages.y -= 3 * mm
    for group, picks in groupby(manifest.picks, key=lambda pick: pick.group):
        pages.need(30 * mm)
        pages.y -= 9 * mm
        pages.pen.draw(group or "All orders", at=(LEFT, pages.y), style=_HEADING, fit=RIGHT - LEFT)
        pages.y -= 1 * mm
        table = Table(pages, _COLUMNS, _LOOK)
        for pick in picks:
            cells = ("", pick.bin, pick.sku, f"{pick.quantity:,f}", str(pick.orders), rows_in_words(pick.labels))
            base = table.row(cells)
            pages.canvas.setLineWidth(0.7)
            pages.canvas.rect(LEFT, base - 0.6 * mm, _BOX, _BOX)
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
