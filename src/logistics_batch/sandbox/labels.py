"""Shipping labels: PDF pages of 4 x 6 inches with the AWB as Code128, an address in any script, and the COD mark."""

import io
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import inch
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.sandbox.label_bidi import runs_leftward
from logistics_batch.sandbox.label_canvas import Typesetter
from logistics_batch.sandbox.label_text import ELLIPSIS, LONGEST_LINE, set_line, shortened, wrap

DOT = inch / 203  # one dot of a common thermal printer: bars are whole numbers of dots
WIDTH, HEIGHT = 4 * inch, 6 * inch
FRAME = 25 * DOT
LEFT, RIGHT = FRAME + 7, WIDTH - FRAME - 7
LEADING = 1.3  # of a line, in sizes of its type
# The upper edges of the fields, in points from below.
HEAD, BARCODE, RECIPIENT, PAYMENT, DETAILS = HEIGHT - FRAME, 380.0, 282.0, 152.0, 114.0
BAR_HEIGHT = round(0.87 * 203) * DOT
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
    canvas.save()
    return buffer.getvalue()


def draw_pages(canvas: Canvas, pages: list[LabelPage], *, place: Callable[[], None] | None = None) -> None:
    """Draw each label on a page of its own; `place` moves the canvas to where a page's label shall be."""
    canvas.setTitle("Shipping labels")
    canvas.setViewerPreference("PrintScaling", "None")
    typesetter = Typesetter(canvas)
    for page in pages:
        if place:
            place()
        _Label(canvas, typesetter, page).draw()
        canvas.showPage()


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
    typesetter: Typesetter
    page: LabelPage

    def draw(self) -> None:
        self.canvas.setLineWidth(3 * DOT)
        self.canvas.rect(FRAME, FRAME, WIDTH - 2 * FRAME, HEIGHT - 2 * FRAME)
        self._rule(BARCODE, RECIPIENT, PAYMENT, DETAILS)
        self._head()
        self._barcode()
        self._recipient()
        self._payment()
        self._details()

    def _head(self) -> None:
        count = f"{self.page.package} of {self.page.packages}"
        box = set_line(count, bold=True).width * 0.015 + 14
        self.canvas.rect(RIGHT - box + 7, BARCODE, box, HEAD - BARCODE, fill=1)
        self.canvas.setFillGray(1)
        self.typesetter.write(count, (RIGHT + 7 - box / 2, BARCODE + 17), size=15, bold=True, align="centre")
        self.canvas.setFillGray(0)
        room = RIGHT - box - LEFT
        self._fitted(self.page.hub, (LEFT, BARCODE + 17), sizes=(24, 18, 13), width=room, bold=True)
        self._fitted(f"{self.page.hub_name} · Sandbox Logistics", (LEFT, BARCODE + 6), sizes=(7.5,), width=room)

    def _barcode(self) -> None:
        bars = _bars(self.page.awb_number)
        left = round((WIDTH - bars.width) / 2 / DOT) * DOT  # bars begin and end where dots do
        base = round((BARCODE - 7 - BAR_HEIGHT) / DOT) * DOT
        bars.drawOn(self.canvas, left, base)
        middle = WIDTH / 2
        self.typesetter.write(self.page.awb_number, (middle, base - 14), size=14, bold=True, align="centre")
        if self.page.awb_number != self.page.order_awb_number:
            order = f"package of order AWB {self.page.order_awb_number}"
            self.typesetter.write(order, (middle, RECIPIENT + 4), size=7, align="centre")

    def _recipient(self) -> None:
        self._caption("SHIP TO", (LEFT, RECIPIENT - 11))
        width = RIGHT - LEFT
        edge = RIGHT if runs_leftward(self.page.name) else LEFT
        self._fitted(self.page.name, (edge, RECIPIENT - 25), sizes=(13, 11, 9), width=width, bold=True)
        self._block(self.page.address, RECIPIENT - 29, sizes=(12, 11, 10, 9, 8, 7, 6), height=70)
        self._fitted(self.page.postal_code, (LEFT, PAYMENT + 7), sizes=(26, 18, 11), width=0.58 * width, bold=True)
        at = (LEFT + 0.6 * width, PAYMENT + 8)
        self._fitted(self.page.mobile, at, sizes=(12, 10, 8), width=0.4 * width, bold=True)
        if self.page.mobile:
            self._caption("PHONE", (at[0], PAYMENT + 21))

    def _payment(self) -> None:
        base = DETAILS + 11
        if not self.page.collect:
            self.typesetter.write("PREPAID", (LEFT, base), size=22, bold=True)
            self.typesetter.write("collect no cash", (RIGHT, base + 2), size=10, align="right")
            return
        self.canvas.rect(FRAME, DETAILS, WIDTH - 2 * FRAME, PAYMENT - DETAILS, fill=1)
        self.canvas.setFillGray(1)
        self.typesetter.write("COD", (LEFT, base - 2), size=26, bold=True)
        self.typesetter.write("collect", (LEFT + 66, base + 10), size=8)
        self.typesetter.write("cash", (LEFT + 66, base), size=8)
        self._fitted(
            f"₹ {self.page.collect}", (RIGHT, base - 1), sizes=(24, 17, 11), width=RIGHT - LEFT - 100, bold=True
        )
        self.canvas.setFillGray(0)

    def _details(self) -> None:
        page = self.page
        width = RIGHT - LEFT
        self._caption("ORDER", (LEFT, DETAILS - 10))
        self._fitted(page.reference, (LEFT + 26, DETAILS - 11), sizes=(10, 9, 8, 7, 6, 5), width=width - 26, bold=True)
        weight = f"{page.weight} g" if page.weight else ""
        parcel = " · ".join(filter(None, (page.date_placed, weight, page.dimensions)))
        self._fitted(parcel, (LEFT + 26, DETAILS - 21), sizes=(8, 7, 6, 5), width=width - 26)
        self.canvas.setLineWidth(DOT)
        self._rule(DETAILS - 26)
        self._caption("CONTENTS", (LEFT, DETAILS - 34))
        self._block(page.contents, DETAILS - 35, sizes=(8, 7, 6), height=23)
        self._caption("IF UNDELIVERED, RETURN TO", (LEFT, DETAILS - 66))
        self._block(page.return_to, DETAILS - 67, sizes=(8, 7, 6), height=34)

    def _rule(self, *heights: float) -> None:
        for height in heights:
            self.canvas.line(FRAME, height, WIDTH - FRAME, height)

    def _caption(self, text: str, at: tuple[float, float]) -> None:
        self.typesetter.write(text, at, size=6, bold=True)

    def _fitted(
        self, text: str, at: tuple[float, float], *, sizes: tuple[float, ...], width: float, bold: bool = False
    ) -> None:
        """One line in the first size that has room for it; in the last it ends with an ellipsis.

        It stands right of `at`, left of it when `at` is the right edge.
        """
        text = " ".join(text.split())
        wanted = set_line(text[:LONGEST_LINE], bold).width / 1000
        size = next((one for one in sizes if wanted * one <= width), sizes[-1])
        text = shortened(text, width=width * 1000 / size, bold=bold)
        self.typesetter.write(text, at, size=size, bold=bold, align="right" if at[0] == RIGHT else "left")

    def _block(self, text: str, top: float, *, sizes: tuple[float, ...], height: float) -> None:
        """Lines in the first size in which all fit below `top`; in the last the end is marked with an ellipsis."""
        for size in sizes:
            room = (RIGHT - LEFT) * 1000 / size
            most = int(height / (LEADING * size))
            lines = wrap(text, width=room, most=most)
            if len(lines) <= most:
                break
        else:
            lines = [*lines[: most - 1], shortened(f"{lines[most - 1]} {lines[most]}{ELLIPSIS}", width=room)]
        leftward = runs_leftward(text)
        for number, line in enumerate(lines):
            at = (RIGHT if leftward else LEFT, top - size - LEADING * size * number)
            set_text = set_line(line, False, leftward)
            self.typesetter.write(set_text, at, size=size, align="right" if leftward else "left")


def _bars(awb_number: str) -> _Barcode:
    """The AWB as Code128 in the widest bars that fit with their white margins."""
    for dots in (4, 3, 2):
        bars = _Barcode(awb_number, barHeight=BAR_HEIGHT, barWidth=dots * DOT, quiet=0)
        if bars.width + 2 * QUIET * dots * DOT <= WIDTH - 2 * FRAME:
            return bars
    return bars
