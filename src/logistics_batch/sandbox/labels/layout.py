"""Shipping labels: PDF pages of 4 x 6 inches with the AWB as Code128, an address in any script, and the COD mark."""

import io
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import inch
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.sandbox.labels.typesetting import (
    ELLIPSIS,
    LONGEST_TEXT,
    begin,
    shortened,
    width_of,
    wrapped,
    write,
)

DOT = inch / 203  # one dot of a common thermal printer: bars are whole numbers of dots
WIDTH, HEIGHT = 4 * inch, 6 * inch
FRAME = 25 * DOT
LEFT, RIGHT = FRAME + 7, WIDTH - FRAME - 7
LEADING = 1.3  # of a line, in sizes of its type
# The upper edges of the fields, in points from below.
HEAD, BARCODE, RECIPIENT, PAYMENT, DETAILS = HEIGHT - FRAME, 380.0, 282.0, 152.0, 114.0
BAR_HEIGHT = round(0.87 * 203) * DOT
_ONE_AT_A_TIME = threading.Lock()  # all files share the fonts, which are read at a position
QUIET = 10  # narrow bars left white on both sides of a Code128


@dataclass(frozen=True)
class LabelPage:
    """What stands on one label; `awb_number` is the package's own where an order has several.

    ``collect`` is the amount of a COD order, "" for a prepaid one; ``weight`` is in grams.
    """

    awb_number: str
    order_awb_number: str
    reference: str
    hub: str
    name: str
    address: str
    postal_code: str
    mobile: str
    collect: str
    return_to: str
    contents: str
    package: int = 1
    packages: int = 1
    hub_name: str = ""
    date_placed: str = ""
    weight: str = ""
    dimensions: str = ""

    def as_dict(self) -> dict[str, Any]:
        """All fields, for storing."""
        return asdict(self)


def page_from(stored: dict[str, Any]) -> LabelPage:
    """A page as it was stored."""
    return LabelPage(**{field.name: stored[field.name] for field in fields(LabelPage) if field.name in stored})


def label_pdf(pages: list[LabelPage]) -> bytes:
    """One PDF with a page for each package, the same bytes for the same pages."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1, pageCompression=1)
    draw_pages(canvas, pages)
    return saved(canvas, buffer)


def draw_pages(canvas: Canvas, pages: list[LabelPage], *, place: Callable[[], None] | None = None) -> None:
    """Draw each label on a page of its own; `place` moves the canvas to where a page's label shall be."""
    canvas.setTitle("Shipping labels")
    canvas.setViewerPreference("PrintScaling", "None")
    with _ONE_AT_A_TIME:
        begin(canvas)
        for page in pages:
            if place:
                place()
            _Label(canvas, page).draw()
            canvas.showPage()


def saved(canvas: Canvas, buffer: io.BytesIO) -> bytes:
    """The finished file."""
    with _ONE_AT_A_TIME:
        canvas.save()
    return buffer.getvalue()


class _Barcode(Code128):
    """All bars as one path: single rectangles are rounded to pixels one by one, and thin bars change their widths.

    They are drawn in dots, so that each is a few whole numbers: a label takes an eighth less room.
    """

    def draw(self) -> None:
        self._rectangles: list[str] = []
        super().draw()
        self.canv.addLiteral(" ".join([f"{DOT:.8f} 0 0 {DOT:.8f} 0 0 cm", *self._rectangles, "f"]))

    def rect(self, x: float, y: float, w: float, h: float) -> None:
        self._rectangles.append(" ".join(str(round(points / DOT)) for points in (x, y, w, h)) + " re")


@dataclass(frozen=True)
class _Label:
    """One page in the making."""

    canvas: Canvas
    page: LabelPage

    def draw(self) -> None:
        page, canvas = self.page, self.canvas
        canvas.setLineWidth(2 * DOT)
        canvas.rect(FRAME, FRAME, WIDTH - 2 * FRAME, HEIGHT - 2 * FRAME)
        for height in (BARCODE, RECIPIENT, PAYMENT, DETAILS):
            canvas.line(FRAME, height, WIDTH - FRAME, height)
        count = f"{page.package} of {page.packages}"
        write(canvas, count, (RIGHT, BARCODE + 15), size=15, bold=True, align="right")
        room = RIGHT - LEFT - width_of(count, 15, bold=True) - 14
        self._line(page.hub, (LEFT, BARCODE + 15), sizes=(22, 17, 13), width=room)
        self._line(f"{page.hub_name} · Sandbox Logistics", (LEFT, BARCODE + 5), sizes=(7.5,), width=room, bold=False)
        self._barcode()
        self._recipient()
        self._payment()
        self._details()

    def _barcode(self) -> None:
        bars = _bars(self.page.awb_number)
        left = round((WIDTH - bars.width) / 2 / DOT) * DOT  # bars begin and end where dots do
        base = round((BARCODE - 7 - BAR_HEIGHT) / DOT) * DOT
        bars.drawOn(self.canvas, left, base)
        middle = WIDTH / 2
        write(self.canvas, self.page.awb_number, (middle, base - 14), size=14, bold=True, align="centre")
        if self.page.awb_number != self.page.order_awb_number:
            order = f"package of order AWB {self.page.order_awb_number}"
            write(self.canvas, order, (middle, RECIPIENT + 4), size=7, align="centre")

    def _recipient(self) -> None:
        page, width = self.page, RIGHT - LEFT
        self._caption("SHIP TO", RECIPIENT - 11)
        self._line(page.name, (LEFT, RECIPIENT - 25), sizes=(13, 11, 9), width=width)
        self._block(page.address, RECIPIENT - 29, sizes=(12, 11, 10, 9, 8, 7, 6), height=70)
        self._line(page.postal_code, (LEFT, PAYMENT + 7), sizes=(26, 18, 11), width=0.58 * width)
        self._line(page.mobile, (LEFT + 0.6 * width, PAYMENT + 8), sizes=(12, 10, 8), width=0.4 * width)

    def _payment(self) -> None:
        base, collect = DETAILS + 11, self.page.collect
        write(self.canvas, "COD" if collect else "PREPAID", (LEFT, base), size=22, bold=True)
        if collect:
            self._line(f"₹ {collect}", (LEFT + 100, base), sizes=(22, 17, 11), width=RIGHT - LEFT - 100)

    def _details(self) -> None:
        page, width = self.page, RIGHT - LEFT
        self._caption("ORDER", DETAILS - 10)
        self._line(page.reference, (LEFT + 30, DETAILS - 11), sizes=(10, 9, 8, 7, 6, 5), width=width - 30)
        weight = f"{page.weight} g" if page.weight else ""
        parcel = " · ".join(filter(None, (page.date_placed, weight, page.dimensions)))
        self._line(parcel, (LEFT + 30, DETAILS - 21), sizes=(8, 7, 6, 5), width=width - 30, bold=False)
        self._caption("CONTENTS", DETAILS - 34)
        self._block(page.contents, DETAILS - 35, sizes=(8, 7, 6), height=23)
        self._caption("IF UNDELIVERED, RETURN TO", DETAILS - 66)
        self._block(page.return_to, DETAILS - 67, sizes=(8, 7, 6), height=34)

    def _caption(self, text: str, height: float) -> None:
        write(self.canvas, text, (LEFT, height), size=6, bold=True)

    def _line(
        self, text: str, at: tuple[float, float], *, sizes: tuple[float, ...], width: float, bold: bool = True
    ) -> None:
        """One line in the first size that has room for it; in the last it ends with an ellipsis."""
        shown = " ".join(text[:LONGEST_TEXT].split())
        size = next((one for one in sizes if width_of(shown, one, bold) <= width), sizes[-1])
        write(self.canvas, shortened(shown, width, size, bold), at, size=size, bold=bold)

    def _block(self, text: str, top: float, *, sizes: tuple[float, ...], height: float) -> None:
        """Lines in the first size in which all fit below `top`; in the last the end is marked with an ellipsis."""
        for size in sizes:
            most = int(height / (LEADING * size))
            lines = wrapped(text, RIGHT - LEFT, size)
            if len(lines) <= most and len(text) <= LONGEST_TEXT:
                break
        else:
            lines = [*lines[: most - 1], shortened(" ".join(lines[most - 1 : most + 1]) + ELLIPSIS, RIGHT - LEFT, size)]
        for number, line in enumerate(lines):
            write(self.canvas, line, (LEFT, top - size - LEADING * size * number), size=size)


def _bars(awb_number: str) -> _Barcode:
    """The AWB as Code128 in the widest bars that fit with their white margins."""
    for dots in (4, 3, 2):
        bars = _Barcode(awb_number, barHeight=BAR_HEIGHT, barWidth=dots * DOT, quiet=0)
        if bars.width + 2 * QUIET * dots * DOT <= WIDTH - 2 * FRAME:
            return bars
    return bars
