"""Shipping labels: PDF pages of 4 x 6 inches with the AWB as Code128, an address in any script, and the COD mark."""

import io
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import inch
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 4 * inch, 6 * inch
MARGIN = 0.18 * inch
LEADING = 1.32  # of a line, in sizes of its type
DOT = inch / 203  # one dot of a common thermal printer: bars are whole numbers of dots
FONTS = ("NotoSans", "NotoSansDevanagari", "NotoSansTamil", "NotoSansBengali", "NotoSansGujarati", "NotoSansTelugu")


@dataclass(frozen=True)
class LabelPage:
    """What stands on one label; `awb_number` is the package's own where an order has several."""

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

    def as_dict(self) -> dict[str, Any]:
        """All fields, for storing."""
        return asdict(self)


def page_from(stored: dict[str, Any]) -> LabelPage:
    """A page as it was stored."""
    return LabelPage(**{field.name: stored[field.name] for field in fields(LabelPage)})


class _Barcode(Code128):
    """All bars as one path: single rectangles are rounded to pixels one by one, and thin bars change their widths."""

    def draw(self) -> None:
        self._path = self.canv.beginPath()
        super().draw()
        self.canv.drawPath(self._path, stroke=0, fill=1)

    def rect(self, x: float, y: float, w: float, h: float) -> None:
        self._path.rect(x, y, w, h)


def label_pdf(pages: list[LabelPage]) -> bytes:
    """One PDF with a page for each package, the same bytes for the same pages."""
    _register_fonts()
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1)
    canvas.setTitle("Shipping labels")
    canvas.setViewerPreference("PrintScaling", "None")
    for page in pages:
        _draw_page(canvas, page)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _draw_page(canvas: Canvas, page: LabelPage) -> None:
    canvas.setLineWidth(2 * DOT)
    canvas.rect(MARGIN / 2, MARGIN / 2, WIDTH - MARGIN, HEIGHT - MARGIN)
    _draw_head(canvas, page)
    _draw_barcode(canvas, page.awb_number)
    _draw_address(canvas, page)
    _draw_payment(canvas, page)
    _draw_foot(canvas, page)


def _draw_head(canvas: Canvas, page: LabelPage) -> None:
    top = HEIGHT - MARGIN
    canvas.setFont("Helvetica-Bold", 13)
    canvas.drawString(MARGIN, top - 14, "SANDBOX LOGISTICS")
    canvas.drawRightString(WIDTH - MARGIN, top - 14, f"{page.package} of {page.packages}")
    _write(canvas, page.hub, (MARGIN, top - 30), size=10)
    canvas.line(MARGIN / 2, top - 38, WIDTH - MARGIN / 2, top - 38)


def _draw_barcode(canvas: Canvas, awb_number: str) -> None:
    top = HEIGHT - MARGIN - 38
    barcode = _Barcode(awb_number, barHeight=0.85 * inch, barWidth=3 * DOT, quiet=0)
    if barcode.width > WIDTH - 4 * MARGIN:
        barcode = _Barcode(awb_number, barHeight=0.85 * inch, barWidth=2 * DOT, quiet=0)
    left = round((WIDTH - barcode.width) / 2 / DOT) * DOT  # bars begin and end where dots do
    barcode.drawOn(canvas, left, top - 0.85 * inch - 8)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawCentredString(WIDTH / 2, top - 0.85 * inch - 24, awb_number)
    canvas.line(MARGIN / 2, top - 94, WIDTH - MARGIN / 2, top - 94)


def _draw_address(canvas: Canvas, page: LabelPage) -> None:
    top = HEIGHT - MARGIN - 132
    canvas.setFont("Helvetica", 8)
    canvas.drawString(MARGIN, top - 12, "SHIP TO")
    _write(canvas, page.name, (MARGIN, top - 27), size=12)
    size, lines = _fitted(page.address, width=WIDTH - 2 * MARGIN, height=86)
    for number, line in enumerate(lines):
        _write(canvas, line, (MARGIN, top - 33 - size - LEADING * size * number), size=size)
    canvas.setFont("Helvetica-Bold", 22)
    canvas.drawString(MARGIN, top - 146, page.postal_code)
    _write(canvas, page.mobile, (WIDTH / 2, top - 144), size=11)
    canvas.line(MARGIN / 2, top - 154, WIDTH - MARGIN / 2, top - 154)


def _draw_payment(canvas: Canvas, page: LabelPage) -> None:
    top = HEIGHT - MARGIN - 286
    canvas.setFont("Helvetica-Bold", 20)
    if page.collect:
        canvas.rect(MARGIN, top - 30, 58, 26, fill=1)
        canvas.setFillGray(1)
        canvas.drawCentredString(MARGIN + 29, top - 24, "COD")
        canvas.setFillGray(0)
        _write(canvas, f"₹ {page.collect}", (MARGIN + 70, top - 24), size=18)
    else:
        canvas.drawString(MARGIN, top - 24, "PREPAID")
    canvas.line(MARGIN / 2, top - 36, WIDTH - MARGIN / 2, top - 36)


def _draw_foot(canvas: Canvas, page: LabelPage) -> None:
    top = HEIGHT - MARGIN - 322
    _write(canvas, f"Order {page.reference}   AWB {page.order_awb_number}", (MARGIN, top - 14), size=9)
    lines = _wrapped(page.contents, size=8, width=WIDTH - 2 * MARGIN)[:3]
    lines += _wrapped(page.return_to, size=8, width=WIDTH - 2 * MARGIN)[:3]
    for number, line in enumerate(lines):
        _write(canvas, line, (MARGIN, top - 28 - 10.5 * number), size=8)


@cache
def _font(name: str) -> TTFont:
    return TTFont(name, Path(__file__).parent / "fonts" / f"{name}-Regular.ttf", shapable=False)


def _register_fonts() -> None:
    for name in FONTS:
        registerFont(_font(name))


@cache
def _glyphs(font: str) -> frozenset[int]:
    return frozenset(_font(font).face.charToGlyph)


def _runs(text: str) -> list[tuple[str, str]]:
    """The text in pieces, each with the first font that has its letters."""
    runs: list[tuple[str, str]] = []
    for letter in text:
        last = runs[-1][0] if runs else FONTS[0]
        candidates = (last, *FONTS) if letter != " " or last == FONTS[0] else (last,)
        font = next((name for name in candidates if ord(letter) in _glyphs(name)), FONTS[0])
        if runs and runs[-1][0] == font:
            runs[-1] = (font, runs[-1][1] + letter)
        else:
            runs.append((font, letter))
    return runs


def _write(canvas: Canvas, text: str, at: tuple[float, float], *, size: float) -> None:
    x, y = at
    for font, piece in _runs(text):
        canvas.setFont(font, size)
        canvas.drawString(x, y, piece)
        x += stringWidth(piece, font, size)


def _wrapped(text: str, *, size: float, width: float) -> list[str]:
    """The text in lines that fit; a word longer than a line is cut."""
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and _width(joined, size) <= width:
            lines[-1] = joined
            continue
        lines.extend(_cut(word, size=size, width=width))
    return lines


def _fitted(text: str, *, width: float, height: float) -> tuple[float, list[str]]:
    """The largest type in which the text fits, and its lines; in the smallest, what does not fit is left out."""
    for size in (10.5, 9.0, 7.5, 6.0):
        lines = _wrapped(text, size=size, width=width)
        if len(lines) * LEADING * size <= height:
            return size, lines
    return size, lines[: int(height / (LEADING * size))]


def _cut(word: str, *, size: float, width: float) -> list[str]:
    """The word in pieces that fit."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and _width(pieces[-1] + letter, size) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _width(text: str, size: float) -> float:
    return sum(stringWidth(piece, font, size) for font, piece in _runs(text))
