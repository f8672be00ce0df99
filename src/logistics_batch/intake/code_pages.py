"""Text of another code page that was read as cp1252: every byte fits, and the letters are wrong."""

import re
from collections.abc import Iterator
from itertools import islice

from logistics_batch.errors import FileHeld
from logistics_batch.intake.names import printable

_MOST_LINES = 8  # named in a note
# No language of Western Europe has four letters with accents in a row; Cyrillic ones are all written by these bytes.
_OTHER_ALPHABET = re.compile(rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff]{4}")
# Where DOS and old Macintosh programs have letters, cp1252 has signs, which stand behind no letter or between none.
_SIGN_AS_LETTER = re.compile(
    rb"[A-Za-z][\x82\x83\x86-\x89\x8b\x98]"
    rb"|[A-Za-z][\x80\x84\x93\x94\x99\x9b\xa1-\xa5][a-z]"
)


def notes_on_letters(data: bytes, *, name: str) -> Iterator[str]:
    """What should be said about letters that look wrong in cp1252; raises FileHeld where whole words are."""
    if found := _OTHER_ALPHABET.search(data):
        word, line = found[0].decode("cp1252", "replace"), data.count(b"\n", 0, found.start()) + 1
        raise FileHeld(
            f"{printable(name)} is not UTF-8, and as cp1252 (Windows) its words are gibberish, such as "
            f"“{word}” in line {line:,}: it is written in another alphabet.",
            rule="csv|encoding",
            remedy='Save it again as "CSV UTF-8" or as .xlsx and send that, or name its encoding in the mapping '
            "(sheet.encoding, such as cp1251 for Cyrillic).",
        )
    if lines := lines_with(_SIGN_AS_LETTER, data):
        yield f"signs stand in words where letters should (is it cp850 or cp437 of DOS?): {lines}"


def lines_with(pattern: re.Pattern[bytes], content: bytes) -> str:
    """The first lines that hold a pattern, in words; "" if none does."""
    places = islice((found.start() for found in pattern.finditer(content)), 100 * _MOST_LINES)
    lines: list[int] = []
    at, line = 0, 1
    for place in places:
        line += content.count(b"\n", at, place)
        at = place
        if line not in lines[-1:]:
            lines.append(line)
    shown = ", ".join(f"{number:,}" for number in lines[:_MOST_LINES])
    more = " …" if len(lines) > _MOST_LINES else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}" if lines else ""
