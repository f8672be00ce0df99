"""A line of text on a label: the first font that has a letter draws it, HarfBuzz joins letters as their script wants.

A letter that no font here has (Chinese, Japanese, emoji …) becomes a replacement sign, so that nobody takes the text
for whole.
"""

import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from reportlab.pdfbase.pdfmetrics import getFont, registerFont, stringWidth
from reportlab.pdfbase.ttfonts import ShapedStr, TTFont, shapeStr
from reportlab.pdfgen.canvas import Canvas

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
