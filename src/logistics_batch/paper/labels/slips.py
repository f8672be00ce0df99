"""Separator slips: a page of label stock before each group, to be seen in a stack and never scanned."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from reportlab.pdfgen.canvas import Canvas

from logistics_batch.model.counting import counted
from logistics_batch.paper.fonts import Style, Typesetter, wrap
from logistics_batch.paper.labels.layout import STOCK_HEIGHT, STOCK_WIDTH
from logistics_batch.paper.labels.manifest import rupees

_MARGIN = 20.0
_BAR = 46.0
_TITLE = Style(26, bold=True)
_NAME = Style(10)
_VALUE = Style(17, bold=True)


@dataclass(frozen=True, slots=True)
class Slip:
    """What a separator says; it carries no barcode. first_number: of its first label, in walking order."""

    title: str
    labels: int
    first_number: int
    orders: int
    first_awb: str
    last_awb: str
    cash: Decimal


def slips_pdf(slips: Sequence[Slip], *, total: int) -> bytes:
    """One 4x6 page for each slip of a bundle with `total` labels."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(STOCK_WIDTH, STOCK_HEIGHT), invariant=True, pageCompression=1)
    pen = Typesetter(canvas)
    for slip in slips:
        _draw(canvas, pen, slip, total)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw(canvas: Canvas, pen: Typesetter, slip: Slip, total: int) -> None:
    for bottom in (0.0, STOCK_HEIGHT - _BAR):
        canvas.rect(0, bottom, STOCK_WIDTH, _BAR, stroke=0, fill=1)
    width = STOCK_WIDTH - 2 * _MARGIN
    top = STOCK_HEIGHT - _BAR - 46
    for line in wrap(slip.title, width=width, style=_TITLE)[:3]:
        pen.draw(line, at=(_MARGIN, top), style=_TITLE, fit=width)
        top -= 34
    for name, value in _facts(slip, total):
        pen.draw(name, at=(_MARGIN, top - 8), style=_NAME)
        pen.draw(value, at=(_MARGIN, top - 29), style=_VALUE, fit=width)
        top -= 45


def _facts(slip: Slip, total: int) -> list[tuple[str, str]]:
    return [
        ("In this group", f"{counted(slip.labels, 'label')}, {counted(slip.orders, 'order')}"),
        ("Labels", f"{_span(slip)} of {total}"),
        ("First AWB", slip.first_awb),
        ("Last AWB", slip.last_awb),
        ("Cash to collect", rupees(slip.cash)),
    ]


def _span(slip: Slip) -> str:
    last = slip.first_number + slip.labels - 1
    return f"{slip.first_number} to {last}" if last > slip.first_number else str(last)
