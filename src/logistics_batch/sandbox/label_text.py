"""Lines of text in any script: the font of each piece, its glyphs, and where a line may end.

Lengths are in thousandths of the type size until a size is chosen. A letter that no font has becomes a box with its
code point in it, as browsers show it: nothing is left out without a sign.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice

from logistics_batch.sandbox.label_bidi import in_visual_order, levels, runs_leftward
from logistics_batch.sandbox.label_fonts import BOLD, NO_FONT, REGULAR, Glyph, face, font_by_letter, shaped

ELLIPSIS = "…"
BOX_WIDTHS = {4: 820.0, 6: 1100.0}  # by hexadecimal digits
_VIRAMA = 9
_SPACE_WIDTH = 260.0
LONGEST_LINE = 400  # letters; in the smallest type a line of a label holds 150
_JOINERS = "\u200c\u200d"
# Scripts without spaces between words: a line may end after any letter.
_UNSPACED = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_BEFORE_ITS_CONSONANT = "เแโใไເແໂໃໄ"
_SOFT_ENDS = ",;/-)।、。，"


@dataclass(frozen=True, slots=True)
class Piece:
    """Letters in one font and one direction; `glyphs` from left to right, none when no font has the letters."""

    font: str
    text: str
    glyphs: tuple[Glyph, ...]
    width: float
    leftward: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it stands on the page, from left to right; it begins at the right when its script does."""

    pieces: tuple[Piece, ...]
    width: float
    leftward: bool


def code_point(letter: str) -> str:
    """What stands in the box of a letter that no font has: four or six hexadecimal digits."""
    return f"{ord(letter):04X}" if ord(letter) < 0x10000 else f"{ord(letter):06X}"


@lru_cache(maxsize=4096)
def set_line(text: str, bold: bool = False, leftward: bool | None = None) -> Line:
    """The text as one line; `leftward` is the direction of its paragraph, by default its own."""
    leftward = runs_leftward(text) if leftward is None else leftward
    runs = list(_runs(text, levels(text, leftward=leftward), bold))
    pieces = tuple(_piece(*runs[index]) for index in in_visual_order([level for level, _, _ in runs]))
    return Line(pieces, sum(piece.width for piece in pieces), leftward)


def wrap(text: str, *, width: float, most: int, bold: bool = False) -> list[str]:
    """The text in lines that fit in `width`, as far as `most` and one more: so the caller sees that there is more.

    Lines end between words, else after a sign like a comma, else between whole letters.
    """
    lines: list[tuple[str, float]] = []
    for space, word in _words(text):
        gap = _SPACE_WIDTH * len(space)
        longer = gap + _width(word[:LONGEST_LINE], bold)
        if lines and len(word) < LONGEST_LINE and lines[-1][1] + longer <= width:
            lines[-1] = (lines[-1][0] + space + word, lines[-1][1] + longer)
            continue
        lines += [(part, _width(part, bold)) for part in islice(_cut(word, width, bold), most + 1)]
        if len(lines) > most:
            break
    return [line for line, _ in lines]


def shortened(text: str, *, width: float, bold: bool = False) -> str:
    """The text, or as many of its letters as fit with an ellipsis."""
    if len(text) <= LONGEST_LINE and _width(text, bold) <= width:
        return text
    ends = _ends(text[:LONGEST_LINE])
    fitting = bisect_right(ends, width, key=lambda end: _width(text[:end].rstrip() + ELLIPSIS, bold))
    return text[: ends[max(0, fitting - 1)]].rstrip() + ELLIPSIS


def letters(text: str) -> list[str]:
    """The text in units that a reader sees as one letter: with its marks, its joiners and its whole conjunct."""
    units: list[str] = []
    for letter in text:
        last = units[-1][-1] if units else ""
        joined = unicodedata.category(letter)[0] == "M" or letter in _JOINERS
        after = last and (last in "\u200d" + _BEFORE_ITS_CONSONANT or _joins_next(last, letter))
        if units and (joined or after):
            units[-1] += letter
        else:
            units.append(letter)
    return units


def _joins_next(sign: str, letter: str) -> bool:
    return unicodedata.combining(sign) == _VIRAMA and letter.isalpha()


def _width(text: str, bold: bool) -> float:
    return set_line(text, bold).width


def _ends(text: str) -> list[int]:
    ends = [0]
    for unit in letters(text):
        ends.append(ends[-1] + len(unit))
    return ends


def _words(text: str) -> Iterator[tuple[str, str]]:
    """What stays together on a line, each with the space before it: words, or letters of scripts without spaces."""
    for number, word in enumerate(text.split()):
        parts = [word]
        if _UNSPACED.search(word):
            parts = []
            for unit in letters(word):
                alone = _UNSPACED.match(unit) and unicodedata.category(unit[0])[0] != "P"
                if (parts and not alone and not _UNSPACED.match(parts[-1])) or (parts and unit[0] in _SOFT_ENDS):
                    parts[-1] += unit
                else:
                    parts.append(unit)
        yield (" " if number else ""), parts[0]
        yield from (("", part) for part in parts[1:])


def _cut(word: str, width: float, bold: bool) -> Iterator[str]:
    """The word in pieces that fit."""
    while word:
        ends = _ends(word[:LONGEST_LINE])[1:]
        count = bisect_right(ends, width, key=lambda end: _width(word[:end], bold))
        if count == len(ends) == len(letters(word)):
            yield word
            return
        end = ends[count - 1] if count else _forced(word, ends[0], width, bold)
        soft = max(word.rfind(sign, 0, end) for sign in _SOFT_ENDS) + 1
        end = soft if soft > end // 2 else end
        yield word[:end]
        word = word[end:]


def _forced(word: str, end: int, width: float, bold: bool) -> int:
    """Where a single letter ends the line that is wider than it (a long chain of joined consonants)."""
    return max(1, bisect_right(range(1, end), width, key=lambda count: _width(word[:count], bold)))


def _piece(level: int, font: str, text: str) -> Piece:
    if font == NO_FONT:
        return Piece(font, text, (), sum(BOX_WIDTHS[len(code_point(letter))] for letter in text))
    leftward = bool(level % 2)
    glyphs = shaped(font, text, leftward)
    return Piece(font, text, glyphs, sum(glyph.advance for glyph in glyphs), leftward)


def _runs(text: str, levels_of_text: list[int], bold: bool) -> Iterator[tuple[int, str, str]]:
    """Level, font and letters of each stretch that has one of each."""
    fonts = _fonts(text, BOLD if bold else REGULAR)
    for (level, font), group in groupby(zip(levels_of_text, fonts, text, strict=True), key=lambda one: one[:2]):
        yield level, font, "".join(letter for _, _, letter in group)


def _fonts(text: str, latin: str) -> list[str]:
    """A font for each letter; signs that many scripts share (spaces, joiners, dandas) follow the letter before."""
    by_letter = font_by_letter()
    fonts: list[str] = []
    last = latin
    for letter in text:
        code = ord(letter)
        first = by_letter.get(code, NO_FONT)
        if _follows(letter, last):
            fonts.append(last)
            continue
        last = latin if first == REGULAR else first
        fonts.append(last)
    return fonts


def _follows(letter: str, font: str) -> bool:
    """Whether a letter without a script of its own is drawn in the font of the letter before it."""
    if font == NO_FONT:
        return False
    category = unicodedata.category(letter)
    if category == "Cf":
        return True  # nothing to see: it only tells how to join
    return (category[0] in "MZ" or letter in "\u0964\u0965\u25cc") and ord(letter) in face(font).letters
