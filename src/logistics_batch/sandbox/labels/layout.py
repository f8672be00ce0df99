"""Shipping labels: PDF pages of 4 x 6 inches with the AWB as Code128, an address in any script, and the COD mark."""

import io
import threading
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap

from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import inch
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.sandbox.labels.typesetting import begin, write

DOT = inch / 203  # one dot of a common thermal printer: bars are whole numbers of dots
WIDTH, HEIGHT = 4 * inch, 6 * inch
FRAME = 25 * DOT
LEFT, RIGHT, MIDDLE = FRAME + 7, WIDTH - FRAME - 7, WIDTH / 2
ROOM = RIGHT - LEFT
LEADING, LETTER = 1.3, 0.55  # height of a line and width of a letter, in sizes of its type
LONGEST_LINE, LONGEST_TEXT = 80, 2_000  # letters
# The upper edges of the fields, in points from below.
BARCODE, RECIPIENT, PAYMENT, DETAILS = 380.0, 282.0, 152.0, 114.0
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
            _draw(canvas, page)
            canvas.showPage()


def saved(canvas: Canvas, buffer: io.BytesIO) -> bytes:
    """The finished file."""
    with _ONE_AT_A_TIME:
        canvas.save()
    return buffer.getvalue()


class _Barcode(Code128):
    """All bars as one path in dots: single rectangles are rounded to pixels one by one, and thin bars change widths."""

    def draw(self) -> None:
        self._rectangles: list[str] = []
        super().draw()
        self.canv.addLiteral(" ".join([f"{DOT:.8f} 0 0 {DOT:.8f} 0 0 cm", *self._rectangles, "f"]))

    def rect(self, x: float, y: float, w: float, h: float) -> None:
        self._rectangles.append(" ".join(str(round(points / DOT)) for points in (x, y, w, h)) + " re")


def _draw(canvas: Canvas, page: LabelPage) -> None:
    canvas.setLineWidth(2 * DOT)
    canvas.rect(FRAME, FRAME, WIDTH - 2 * FRAME, HEIGHT - 2 * FRAME)
    for height in (BARCODE, RECIPIENT, PAYMENT, DETAILS):
        canvas.line(FRAME, height, WIDTH - FRAME, height)
    write(
        canvas, f"{page.package} of {page.packages}", (RIGHT, BARCODE + 15), size=15, room=60, bold=True, align="right"
    )
    _line(canvas, page.hub, BARCODE + 15, size=22, room=180)
    _line(canvas, f"{page.hub_name} · Sandbox Logistics", BARCODE + 5, size=7.5, bold=False)
    bars = _bars(page.awb_number)
    left = round((WIDTH - bars.width) / 2 / DOT) * DOT  # bars begin and end where dots do
    base = round((BARCODE - 7 - BAR_HEIGHT) / DOT) * DOT
    bars.drawOn(canvas, left, base)
    write(canvas, page.awb_number, (MIDDLE, base - 14), size=14, room=ROOM, bold=True, align="centre")
    if page.awb_number != page.order_awb_number:
        order = f"package of order AWB {page.order_awb_number}"
        write(canvas, order, (MIDDLE, RECIPIENT + 4), size=7, room=ROOM, align="centre")
    _line(canvas, "SHIP TO", RECIPIENT - 11, size=6)
    _line(canvas, page.name, RECIPIENT - 25, size=13)
    _block(canvas, page.address, RECIPIENT - 29, sizes=(12, 10, 8, 6), height=70)
    _line(canvas, page.postal_code, PAYMENT + 7, size=26, room=140)
    write(canvas, page.mobile, (RIGHT, PAYMENT + 8), size=12, room=95, bold=True, align="right")
    _line(canvas, f"COD ₹ {page.collect}" if page.collect else "PREPAID", DETAILS + 11, size=22)
    _line(canvas, f"ORDER {page.reference}", DETAILS - 11, size=10)
    weight = f"{page.weight} g" if page.weight else ""
    parcel = " · ".join(filter(None, (page.date_placed, weight, page.dimensions)))
    _line(canvas, parcel, DETAILS - 21, size=8, bold=False)
    _line(canvas, "CONTENTS", DETAILS - 34, size=6)
    _block(canvas, page.contents, DETAILS - 35, sizes=(8, 6), height=23)
    _line(canvas, "IF UNDELIVERED, RETURN TO", DETAILS - 66, size=6)
    _block(canvas, page.return_to, DETAILS - 67, sizes=(8, 6), height=34)


def _line(canvas: Canvas, text: str, height: float, *, size: float, room: float = ROOM, bold: bool = True) -> None:
    """One line, cut where it is much too long."""
    shown = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
    write(canvas, shown, (LEFT, height), size=size, room=room, bold=bold)


def _block(canvas: Canvas, text: str, top: float, *, sizes: tuple[int, ...], height: float) -> None:
    """Lines in the first size in which all of them fit below `top`; in the last one the end is marked."""
    lines: list[str] = []
    for size in sizes:
        most = int(height / (LEADING * size))
        lines = wrap(text[:LONGEST_TEXT], int(ROOM / (LETTER * size)), max_lines=most, placeholder=" …")
        if not lines or not lines[-1].endswith("…"):
            break
    for number, line in enumerate(lines):
        write(canvas, line, (LEFT, top - size - LEADING * size * number), size=size, room=ROOM)


def _bars(awb_number: str) -> _Barcode:
    """The AWB as Code128 in the widest bars that fit with their white margins."""
    for dots in (4, 3, 2):
        bars = _Barcode(awb_number, barHeight=BAR_HEIGHT, barWidth=dots * DOT, quiet=0)
        if bars.width + 2 * QUIET * dots * DOT <= WIDTH - 2 * FRAME:
            break
    return bars
