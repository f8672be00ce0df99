"""Text in any script on a PDF page: the first font of this folder that has a letter draws it.

The fonts of PDF itself know Latin letters only and drop all others without a word. Scripts that join or reorder their
letters (Devanagari, Arabic …) are shaped when HarfBuzz is installed. Letters that no font has become a box.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from reportlab.pdfbase.pdfmetrics import getFont, registerFont, stringWidth
from reportlab.pdfbase.ttfonts import ShapedStr, TTFont, shapeStr
from reportlab.pdfgen.canvas import Canvas

_FOLDER = Path(__file__).parent
_REGULAR, _BOLD = "NotoSans-Regular", "NotoSans-Bold"
_MISSING = "\ufffd"
_SCRIPTS = (
    (0x0600, 0x077F, "NotoSansArabic-Regular"),
    (0x0900, 0x097F, "NotoSansDevanagari-Regular"),
    (0x0980, 0x09FF, "NotoSansBengali-Regular"),
    (0x0A00, 0x0A7F, "NotoSansGurmukhi-Regular"),
    (0x0A80, 0x0AFF, "NotoSansGujarati-Regular"),
    (0x0B00, 0x0B7F, "NotoSansOriya-Regular"),
    (0x0B80, 0x0BFF, "NotoSansTamil-Regular"),
    (0x0C00, 0x0C7F, "NotoSansTelugu-Regular"),
    (0x0C80, 0x0CFF, "NotoSansKannada-Regular"),
    (0x0D00, 0x0D7F, "NotoSansMalayalam-Regular"),
    (0x1CD0, 0x1CFF, "NotoSansDevanagari-Regular"),
    (0xA830, 0xA8FF, "NotoSansDevanagari-Regular"),
)
# They belong to the word around them, whatever its script: joiners, dandas, spaces between words of one script.
_FOLLOWERS = frozenset("\u200c\u200d\u0964\u0965 ")


@dataclass(frozen=True, slots=True)
class Style:
    """How a line of text looks; size in points."""

    size: float
    bold: bool = False
    align: Literal["left", "right", "centre"] = "left"


class Typesetter:
    """Writes lines on a canvas and measures them."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas

    def draw(self, text: str, *, at: tuple[float, float], style: Style, fit: float | None = None) -> None:
        """Write one line; `at` is its left end, right end or middle on the base line, as the style aligns.

        fit: the width that is there; text that is longer ends with an ellipsis.
        """
        pieces = _set(text, style)
        if fit is not None and _width(pieces) > fit:
            pieces = _set(shorten(text, width=fit, style=style), style)
        x, y = at
        if style.align != "left":
            x -= _width(pieces) * (1 if style.align == "right" else 0.5)
        for piece in pieces:
            if piece.spoken:
                self._shaped(piece, (x, y), style.size)
            else:
                self._plain(piece, (x, y), style.size)
            x += piece.width

    def _plain(self, piece: "_Piece", at: tuple[float, float], size: float) -> None:
        """As a text object of reportlab would, which takes three times as long; a long manifest is mostly this."""
        canvas: Any = self._canvas
        font: Any = getFont(piece.font)
        shown = " ".join(
            f"{font.getSubsetInternalName(subset, canvas._doc)} {size:g} Tf ({canvas._escape(codes)}) Tj"
            for subset, codes in font.splitString(piece.text, canvas._doc)
        )
        canvas.addLiteral(f"BT 1 0 0 1 {at[0]:.3f} {at[1]:.3f} Tm {shown} ET")

    def _shaped(self, piece: "_Piece", at: tuple[float, float], size: float) -> None:
        line = self._canvas.beginText(*at)
        line.setFont(piece.font, size)
        line.textOut(piece.text)
        self._canvas.addLiteral(_spoken(piece.spoken))
        self._canvas.drawText(line)
        self._canvas.addLiteral("EMC")


@dataclass(frozen=True, slots=True)
class _Piece:
    font: str
    text: str
    width: float
    spoken: str = ""  # the letters, where the glyphs do not tell them


def _spoken(text: str) -> str:
    """What follows shows this text: it is what a reader finds, marks and copies."""
    return f"/Span <</ActualText <FEFF{text.encode('utf-16-be').hex().upper()}>>> BDC"


def text_width(text: str, style: Style) -> float:
    """How wide a line is, in points."""
    return _width(_set(text, style))


def _width(pieces: Iterable[_Piece]) -> float:
    return sum(piece.width for piece in pieces)


@lru_cache(maxsize=16_384)
def _set(text: str, style: Style) -> tuple[_Piece, ...]:
    return tuple(_shape(piece, font, style.size) for font, piece in _runs(text, bold=style.bold))


def shorten(text: str, *, width: float, style: Style) -> str:
    """The text, or as much of its beginning as fits into `width` points with an ellipsis."""
    if text_width(text, style) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(_cut(text, middle), style) <= width:
            low = middle
        else:
            high = middle - 1
    return _cut(text, low)


def wrap(text: str, *, width: float, style: Style) -> list[str]:
    """The text in lines of at most `width` points, broken at spaces; a word longer than a line is cut."""
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined, style) <= width:
            lines[-1] = joined
        else:
            lines += _pieces(word, width, style)
    return lines


def _pieces(word: str, width: float, style: Style) -> Iterator[str]:
    while word and text_width(word, style) > width:
        end = next((end for end in range(len(word) - 1, 1, -1) if text_width(word[:end], style) <= width), 1)
        yield word[:end]
        word = word[end:]
    if word:
        yield word


def _cut(text: str, length: int) -> str:
    while length and unicodedata.category(text[length : length + 1] or " ").startswith("M"):
        length -= 1  # a vowel sign stays with its letter
    return text[:length].rstrip() + "…"


def _runs(text: str, *, bold: bool) -> list[tuple[str, str]]:
    """The text in pieces of one font each."""
    latin = _BOLD if bold else _REGULAR
    if text.isascii() and text.isprintable():
        return [(latin, text)] if text else []
    runs: list[tuple[str, str]] = []
    for letter in unicodedata.normalize("NFC", text):
        shown = letter if letter.isprintable() or letter in _FOLLOWERS else " "
        last = runs[-1][0] if runs else latin
        font = last if shown in _FOLLOWERS and _has(last, shown) else _font_for(shown, latin)
        shown = shown if _has(font, shown) else _MISSING
        if runs and font == last:
            runs[-1] = (font, runs[-1][1] + shown)
        else:
            runs.append((font, shown))
    return runs


def _font_for(letter: str, latin: str) -> str:
    code = ord(letter)
    if code < _SCRIPTS[0][0]:
        return latin
    found = next((font for first, last, font in _SCRIPTS if first <= code <= last), latin)
    return found if _has(found, letter) else latin


def _has(font: str, letter: str) -> bool:
    return ord(letter) in _letters(font)


@cache
def _letters(font: str) -> frozenset[int]:
    """The code points that a font of this folder can draw; registers it with reportlab on first use."""
    face = TTFont(font, str(_FOLDER / f"{font}.ttf"))
    registerFont(face)
    return frozenset(face.face.charToGlyph)


@lru_cache(maxsize=16_384)
def _letter_width(font: str, letter: str) -> float:
    """How wide a letter is, in thousandths of its size."""
    return stringWidth(letter, font, 1000)


def _shape(text: str, font: str, size: float) -> _Piece:
    """A run with its letters joined and ordered as its script wants."""
    _letters(font)
    if font not in (_REGULAR, _BOLD) and getFont(font).shapable:
        shaped = shapeStr(text, font, size, force=True)
        if isinstance(shaped, ShapedStr):
            glyphs: Any = shaped.__shapeData__  # type: ignore[attr-defined]
            return _Piece(font, shaped, sum(glyph.x_advance for glyph in glyphs) * size / 1000, text)
    return _Piece(font, text, sum(map(partial(_letter_width, font), text)) * size / 1000)
