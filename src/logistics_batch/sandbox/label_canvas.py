"""Writing on a PDF page in any script, and the fonts that the file carries for it."""

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFDocument, PDFObject, PDFStream, PDFString
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.sandbox.label_fonts import BOLD, FONTS, NO_FONT, REGULAR, face
from logistics_batch.sandbox.label_text import BOX_WIDTHS, Line, Piece, code_point, set_line

Align = Literal["left", "right", "centre"]
_SPECIMEN = "".join(map(chr, range(0x20, 0x7F))) + "₹…·×"
_BOX_HEIGHT, _DIGIT_SIZE = 0.72, 0.42  # in sizes of the type around
_STROKE = 0.028  # of the size: how much thicker letters of a font without bold are drawn
_SYMBOLIC = 4


class Typesetter:
    """Writes lines on the pages of one document and remembers which glyphs it has used."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._used: dict[str, dict[int, str]] = {}
        canvas._doc.delayedFonts.append(self)  # type: ignore[attr-defined]  # reportlab calls addObjects when the pages are done

    def write(
        self, text: str | Line, at: tuple[float, float], *, size: float, bold: bool = False, align: Align = "left"
    ) -> float:
        """Write a line; `at` is its left end, right end or middle on the base line. Gives its width in points."""
        line = set_line(text, bold) if isinstance(text, str) else text
        x, y = at
        width = line.width * size / 1000
        x -= {"left": 0.0, "right": width, "centre": width / 2}[align]
        for piece in line.pieces:
            if piece.font == NO_FONT:
                self._boxes(piece, (x, y), size)
            else:
                thick = bold and piece.font != BOLD
                self._canvas.addLiteral(self._shown(piece, (x, y), size, thick))
            x += piece.width * size / 1000
        return width

    def addObjects(self, document: PDFDocument) -> None:
        """Put the fonts into the file, cut down to what is used; Latin ones always with the same letters, so that many
        labels in one file can share them."""
        fonts: dict[str, PDFDictionary] = document.idToObject["BasicFonts"].dict  # type: ignore[attr-defined]
        for name in sorted(self._used, key=FONTS.index):
            meanings = _specimen(name) | self._used[name] if name in (REGULAR, BOLD) else self._used[name]
            fonts[_resource(name)] = _font_object(document, name, meanings)

    def _shown(self, piece: Piece, at: tuple[float, float], size: float, thick: bool) -> str:
        """The operators that draw a piece; the letters are kept beside the glyphs where these tell less."""
        used = self._used.setdefault(piece.font, {})
        for glyph in piece.glyphs:
            used.setdefault(glyph.number, glyph.text)
        weight = f"{size * _STROKE:.3f} w 2 Tr " if thick else "0 Tr "
        shown = (
            f"BT {weight}/{_resource(piece.font)} {size:g} Tf {at[0]:.3f} {at[1]:.3f} Td "
            f"{_glyphs_shown(piece, size)} ET"
        )
        # readers turn what runs leftward round by themselves, letter by letter
        plain = piece.font in (REGULAR, BOLD) and piece.text == "".join(used[one.number] for one in piece.glyphs)
        return shown if plain or piece.leftward else _spoken(piece.text, shown)

    def _boxes(self, piece: Piece, at: tuple[float, float], size: float) -> None:
        x, y = at
        for letter in piece.text:
            digits = code_point(letter)
            width = BOX_WIDTHS[len(digits)] * size / 1000
            half = len(digits) // 2
            self._canvas.addLiteral(_spoken(letter, "", closed=False))
            self._canvas.setLineWidth(size * 0.04)
            self._canvas.rect(x + size * 0.04, y, width - size * 0.08, size * _BOX_HEIGHT)
            for row, part in ((0.38, digits[:half]), (0.05, digits[half:])):
                self.write(part, (x + width / 2, y + row * size), size=size * _DIGIT_SIZE, align="centre")
            self._canvas.addLiteral("EMC")
            x += width


def _spoken(text: str, shown: str, *, closed: bool = True) -> str:
    """Operators with the text that they show: it is what a reader finds, marks and copies."""
    begun = f"/Span <</ActualText <FEFF{text.encode('utf-16-be').hex().upper()}>>> BDC {shown}"
    return f"{begun} EMC" if closed else begun


def _glyphs_shown(piece: Piece, size: float) -> str:
    """TJ operators; marks that stand off the base line are raised."""
    operators, row, rise = [], "", 0.0
    carry = 0.0
    for glyph in piece.glyphs:
        if glyph.y_offset != rise:
            operators.append(f"[{row}] TJ {glyph.y_offset * size / 1000:.3f} Ts")
            row, rise = "", glyph.y_offset
        carry += glyph.x_offset
        row += f"{-carry:.0f} " if round(carry) else ""
        row += f"<{glyph.number:04X}>"
        carry = glyph.advance - glyph.x_offset - _own_width(piece.font, glyph.number)
    operators.append(f"[{row}] TJ" + (" 0 Ts" if rise else ""))
    return " ".join(operators).replace("><", "")


@lru_cache(maxsize=8192)
def _own_width(font: str, glyph: int) -> float:
    return face(font).width(glyph)


def _resource(font: str) -> str:
    return f"F{FONTS.index(font)}"


@cache
def _specimen(font: str) -> dict[int, str]:
    one = face(font)
    return {one.glyph_of(letter): letter for letter in _SPECIMEN}


def _put(document: PDFDocument, thing: PDFObject, name: str) -> PDFObject:
    """Make an object of the file's own of it; what stands in its place."""
    reference: PDFObject = document.Reference(thing, name)  # type: ignore[no-untyped-call]
    return reference


@dataclass(frozen=True, slots=True)
class _PackedFont:
    """The parts of a font in a file: two deflated streams, and how far each glyph moves on."""

    file: bytes
    file_length: int
    unicodes: bytes
    widths: str


@lru_cache(maxsize=256)
def _packed(font: str, meanings: tuple[tuple[int, str], ...]) -> _PackedFont:
    """The font cut down to these glyphs (each with its letters), kept: most labels need the same ones."""
    one = face(font)
    content = one.cut_down(glyph for glyph, _ in meanings)
    widths = " ".join(f"{glyph} [{one.width(glyph):g}]" for glyph, _ in meanings)
    return _PackedFont(zlib.compress(content, 9), len(content), _unicodes(meanings), f"[{widths}]")


def _font_object(document: PDFDocument, font: str, meanings: dict[int, str]) -> PDFDictionary:
    packed = _packed(font, tuple(sorted(meanings.items())))
    key, name = _resource(font), f"/LABELS+{font}"
    file = PDFStream(PDFDictionary({"Filter": "/FlateDecode", "Length1": packed.file_length}), packed.file, filters=[])
    descriptor = {
        "Type": "/FontDescriptor",
        "FontName": name,
        "Flags": _SYMBOLIC,
        "FontBBox": "[-1000 -500 2500 1200]",
        "ItalicAngle": 0,
        **face(font).metrics(),
        "CapHeight": 714,
        "StemV": 80,
        "FontFile2": _put(document, file, f"{key}-file"),
    }
    system = {"Registry": PDFString("Adobe"), "Ordering": PDFString("Identity"), "Supplement": 0}
    descendant = {
        "Type": "/Font",
        "Subtype": "/CIDFontType2",
        "BaseFont": name,
        "CIDSystemInfo": PDFDictionary(system),
        "CIDToGIDMap": "/Identity",
        "FontDescriptor": _put(document, PDFDictionary(descriptor), f"{key}-descriptor"),
        "W": packed.widths,
    }
    unicodes = PDFStream(PDFDictionary({"Filter": "/FlateDecode"}), packed.unicodes, filters=[])
    return PDFDictionary(
        {
            "Type": "/Font",
            "Subtype": "/Type0",
            "BaseFont": name,
            "Encoding": "/Identity-H",
            "DescendantFonts": PDFArray([_put(document, PDFDictionary(descendant), f"{key}-descendant")]),
            "ToUnicode": _put(document, unicodes, f"{key}-unicodes"),
        }
    )


def _unicodes(meanings: tuple[tuple[int, str], ...]) -> bytes:
    """The letters behind each glyph, packed (PDF 32000, 9.10.3)."""
    rows = [f"<{glyph:04X}> <{text.encode('utf-16-be').hex().upper()}>" for glyph, text in meanings if text]
    blocks = [rows[start : start + 100] for start in range(0, len(rows), 100)]
    lines = [
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
        "/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def",
        "/CMapName /Adobe-Identity-UCS def /CMapType 2 def",
        "1 begincodespacerange <0000> <FFFF> endcodespacerange",
    ]
    for block in blocks:
        lines += [f"{len(block)} beginbfchar", *block, "endbfchar"]
    lines.append("endcmap CMapName currentdict /CMap defineresource pop end end")
    return zlib.compress("\n".join(lines).encode(), 9)
