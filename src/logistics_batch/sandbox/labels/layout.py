"""Shipping labels: PDF pages of 4 x 6 inches with the AWB as Code128, an address in any script, and the COD mark.

A line of text on a label: the first font that has a letter draws it, HarfBuzz joins letters as their script wants.

A letter that no font here has (Chinese, Japanese, emoji …) becomes a replacement sign, so that nobody takes the text
for whole.
"""

import io
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.units import inch
from reportlab.pdfbase.pdfmetrics import getFont, registerFont, stringWidth
from reportlab.pdfbase.ttfonts import ShapedStr, TTFont, shapeStr
from reportlab.pdfgen.canvas import Canvas

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


REGULAR, BOLD = "NotoSans-Regular", "NotoSans-Bold"
SCRIPTS = (
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam"),
    "Arabic",
)
LEFTWARD = "NotoSansArabic-Regular"
FONTS = (REGULAR, BOLD, *(f"NotoSans{script}-Regular" for script in SCRIPTS))
MISSING = "\ufffd"
_SPECIMEN = "".join(map(chr, range(0x20, 0x7F))) + "₹…·×"
_SHARED = " \u200c\u200d\u0964\u0965"  # spaces, joiners and dandas are drawn in the font of the letter before

Align = Literal["left", "right", "centre"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one font; `spoken` are its letters where the glyphs alone do not tell them. width in points."""

    font: str
    shown: str
    width: float
    spoken: str = ""


def begin(canvas: Canvas) -> None:
    """Give the Latin fonts of a file always the same letters: labels in one file then can share them."""
    document: Any = canvas._doc  # type: ignore[attr-defined]
    for name in (REGULAR, BOLD):
        _letters(name)
        font: Any = getFont(name)
        for subset, _ in font.splitString(_SPECIMEN, document):
            font.getSubsetInternalName(subset, document)


def write(
    canvas: Canvas,
    text: str,
    at: tuple[float, float],
    *,
    size: float,
    room: float,
    bold: bool = False,
    align: Align = "left",
) -> None:
    """Write a line, smaller where it would be wider than `room`; `at` is its left end, right end or middle."""
    size *= min(1.0, room / max(_width(set_line(text, size, bold)), 1.0))
    pieces = set_line(text, size, bold)
    x = at[0] - _width(pieces) * {"left": 0.0, "right": 1.0, "centre": 0.5}[align]
    for piece in pieces:
        line = canvas.beginText(x, at[1])
        line.setFont(piece.font, size)
        line.textOut(piece.shown)
        if piece.spoken:  # what a reader finds, marks and copies
            letters = piece.spoken.encode("utf-16-be").hex().upper()
            canvas.addLiteral(f"/Span <</ActualText <FEFF{letters}>>> BDC")
        canvas.drawText(line)
        if piece.spoken:
            canvas.addLiteral("EMC")
        x += piece.width


@lru_cache(maxsize=8192)
def set_line(text: str, size: float, bold: bool = False) -> tuple[Piece, ...]:
    """The line in pieces of one font each."""
    return tuple(_shape(font, piece, size) for font, piece in _runs(text, BOLD if bold else REGULAR))


def _width(pieces: tuple[Piece, ...]) -> float:
    return sum(piece.width for piece in pieces)


def _runs(text: str, latin: str) -> list[tuple[str, str]]:
    """Font and letters of each stretch that has one font."""
    if text.isascii() and text.isprintable():
        return [(latin, text)] if text else []
    placed: list[tuple[str, str]] = []
    for letter in unicodedata.normalize("NFC", text):
        before = placed[-1][0] if placed else latin
        if (letter in _SHARED or unicodedata.category(letter)[0] == "M") and ord(letter) in _letters(before):
            placed.append((before, letter))
            continue
        font = next((name for name in (latin, *FONTS[2:]) if ord(letter) in _letters(name)), "")
        placed.append((font or latin, letter if font else " " if letter.isspace() else MISSING))
    runs = [(font, "".join(letter for _, letter in group)) for font, group in groupby(placed, key=lambda one: one[0])]
    ordered: list[tuple[str, str]] = []
    for is_leftward, group in groupby(runs, key=lambda run: run[0] == LEFTWARD or run[1].isspace()):
        ordered += list(group)[:: -1 if is_leftward else 1]  # words of this script stand from right to left
    return ordered


def _shape(font: str, text: str, size: float) -> Piece:
    _letters(font)
    if font not in (REGULAR, BOLD):
        shaped = shapeStr(text, font, size, force=True)
        if isinstance(shaped, ShapedStr):
            glyphs: Any = shaped.__shapeData__  # type: ignore[attr-defined]
            width = sum(glyph.x_advance for glyph in glyphs) * size / 1000
            return Piece(font, shaped, width, text)
    return Piece(font, text, stringWidth(text, font, size))


@cache
def _letters(font: str) -> frozenset[int]:
    """The code points that a font can draw; registers it with reportlab on first use."""
    found = TTFont(font, str(Path(__file__).parent / "fonts" / f"{font}.ttf"))
    registerFont(found)
    face: Any = found.face
    subsets = lru_cache(maxsize=256)(face.makeSubset)  # most labels need the same letters
    face.makeSubset = lambda letters: subsets(tuple(letters))
    return frozenset(found.face.charToGlyph)
