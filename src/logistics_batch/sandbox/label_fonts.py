"""The fonts of the labels: which letters each has, and the glyphs that a text becomes in it.

HarfBuzz joins and orders the letters as their script wants (conjuncts, vowel signs, Arabic forms) and cuts the fonts
down to what a label shows. Scripts that no font here has (Chinese, Japanese, Korean, emoji …) have none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import uharfbuzz  # type: ignore[import-untyped]

REGULAR, BOLD = "NotoSans-Regular", "NotoSans-Bold"
SCRIPTS = (
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"),
    *("Arabic", "Hebrew", "Thai", "Lao", "Khmer", "Myanmar", "Georgian", "Armenian"),
)
FONTS = (REGULAR, BOLD, *(f"NotoSans{script}-Regular" for script in SCRIPTS))
NO_FONT = ""
_UNUSED_TABLES = ("GSUB", "GPOS", "GDEF", "cmap", "OS/2", "post", "name", "gasp", "STAT")


@dataclass(frozen=True, slots=True)
class Glyph:
    """A glyph in its place; lengths in thousandths of the type size.

    ``text``: the letters it stands for, as far as a single glyph can tell ("" for the second glyph of a letter).
    """

    number: int
    advance: float
    x_offset: float
    y_offset: float
    text: str


class Face:
    """One font file."""

    def __init__(self, name: str) -> None:
        blob = uharfbuzz.Blob.from_file_path(str(Path(__file__).parent / "fonts" / f"{name}.ttf"))
        self.name = name
        self._face = uharfbuzz.Face(blob)
        self._font = uharfbuzz.Font(self._face)
        self._scale = 1000 / self._face.upem
        self.letters = frozenset(self._face.unicodes)
        # joined Latin letters (fi) would be copied out of the PDF as one strange sign
        self._features = {"liga": False} if name in (REGULAR, BOLD) else {}

    def shape(self, text: str, *, leftward: bool = False) -> tuple[Glyph, ...]:
        """The glyphs of a text in one script, from left to right on the page."""
        buffer = uharfbuzz.Buffer()
        buffer.add_str(text)
        buffer.guess_segment_properties()
        buffer.direction = "rtl" if leftward else "ltr"
        buffer.language = "und"  # else it depends on the machine
        uharfbuzz.shape(self._font, buffer, self._features)
        infos = buffer.glyph_infos
        meanings = _meanings(text, [(info.codepoint, info.cluster) for info in infos], self._nominal())
        scale = self._scale
        return tuple(
            Glyph(info.codepoint, place.x_advance * scale, place.x_offset * scale, place.y_offset * scale, meaning)
            for info, place, meaning in zip(infos, buffer.glyph_positions, meanings, strict=True)
        )

    def width(self, glyph: int) -> float:
        """How far the font itself moves on after a glyph, in thousandths of the size."""
        return float(self._font.get_glyph_h_advance(glyph) * self._scale)

    def glyph_of(self, letter: str) -> int:
        """The plain glyph of a letter that the font has."""
        return int(self._font.get_nominal_glyph(ord(letter)) or 0)

    def cut_down(self, glyphs: Iterable[int]) -> bytes:
        """A TrueType file with these glyphs alone, under their old numbers."""
        wanted = uharfbuzz.SubsetInput()
        wanted.flags = (
            uharfbuzz.SubsetFlags.NO_HINTING
            | uharfbuzz.SubsetFlags.RETAIN_GIDS
            | uharfbuzz.SubsetFlags.NO_LAYOUT_CLOSURE
        )
        wanted.glyph_set.update(glyphs)
        wanted.drop_table_tag_set.update(int.from_bytes(tag.encode(), "big") for tag in _UNUSED_TABLES)
        return bytes(uharfbuzz.subset(self._face, wanted).blob.data)

    def metrics(self) -> dict[str, int]:
        """What a PDF font descriptor says of the font's height, in thousandths of the size."""
        extents = self._font.get_font_extents("ltr")
        return {"Ascent": round(extents.ascender * self._scale), "Descent": round(extents.descender * self._scale)}

    def _nominal(self) -> dict[int, str]:
        return _letters_by_glyph(self.name)


@cache
def face(name: str) -> Face:
    """The font of this name, loaded on first use."""
    return Face(name)


@lru_cache(maxsize=4096)
def shaped(font: str, text: str, leftward: bool) -> tuple[Glyph, ...]:
    """`Face.shape`, kept: hubs, names of towns and return addresses come again and again."""
    return face(font).shape(text, leftward=leftward)


@cache
def _letters_by_glyph(name: str) -> dict[int, str]:
    """Glyphs that stand for one letter, with the letter."""
    one = face(name)
    return {one.glyph_of(chr(code)): chr(code) for code in sorted(one.letters, reverse=True)}


@cache
def font_by_letter() -> dict[int, str]:
    """The first font that has a letter, by code point; bold type is chosen later."""
    found: dict[int, str] = {}
    for name in FONTS:
        for code in face(name).letters:
            found.setdefault(code, name)
    return found


def _meanings(text: str, glyphs: list[tuple[int, int]], nominal: dict[int, str]) -> list[str]:
    """For each (glyph, cluster) its letters: its own, and for the first that has none those left in its cluster."""
    starts = sorted({cluster for _, cluster in glyphs})
    ends = dict(zip(starts, [*starts[1:], len(text)], strict=True))
    left = {start: list(text[start : ends[start]]) for start in starts}
    meanings: list[str | None] = []
    for number, cluster in glyphs:
        letter = nominal.get(number)
        if letter is not None and letter in left[cluster]:
            left[cluster].remove(letter)
            meanings.append(letter)
        else:
            meanings.append(None)
    for place, (_, cluster) in enumerate(glyphs):
        if meanings[place] is None:
            meanings[place] = "".join(left[cluster])
            left[cluster].clear()
    return [meaning or "" for meaning in meanings]
