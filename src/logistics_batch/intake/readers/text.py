"""From the bytes of a text file to its characters: one encoding, strictly, and said which. Nothing is ever replaced."""

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from logistics_batch.intake.names import held
from logistics_batch.intake.readers.limits import Limits
from logistics_batch.model.issue import Issue

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16, so it is asked first
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF7_MARKS = (b"+/v8", b"+/v9", b"+/v+", b"+/v/")
_HALF_CHARACTER = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")  # one surrogate of UTF-16 by itself, written as UTF-8
_DOS_END = b"\x1a"
_MOJIBAKE = re.compile(rb"\xc3(?:\xa2\xe2\x82\xac|\x83\xc2[\xa9\xbc]|\x82 |\xa0\xc2\xa4)")  # â€ Ã© Ã¼ Â à¤
_PADDING = b"\0" * 8  # no character takes so many
_MOJIBAKE_BEGIN = b"\xc3"  # of each of them in UTF-8
_MOST_LINES = 8  # named in a note
# No language of Western Europe has four letters with accents in a row; Cyrillic ones are all written by these bytes.
_OTHER_ALPHABET = re.compile(rb"[\xc0-\xd6\xd8-\xf6\xf8-\xff]{4}")
# Where DOS and old Macintosh programs have letters, cp1252 has signs, which stand behind no letter or between none.
_SIGN_AS_LETTER = re.compile(
    rb"[A-Za-z][\x82\x83\x86-\x89\x8b\x98]"
    rb"|[A-Za-z][\x80\x84\x93\x94\x99\x9b\xa1-\xa5][a-z]"
)
_CHECKED_AT_ONCE = 4 << 20


def read_text(path: Path, *, name: str, encoding: str, limits: Limits) -> tuple[bytes, list[Issue]]:
    """The characters of a file as UTF-8 without a byte order mark, and what had to be decided.

    Raises FileHeld where a byte does not fit the encoding, a zero byte stands in it, or a line never ends.

    Other control characters stay: they spoil a row, not the file.
    """
    data = path.read_bytes()
    _refuse_endless_lines(data, name=name, most=limits.max_line_bytes)
    if (offset := data.find(_PADDING)) >= 0:  # as broken transfers leave it behind
        raise held("csv|zero_bytes", name, line=_line(data, offset))
    notes: list[Issue] = []
    marked = ((label, data[len(mark) :]) for mark, label in _BYTE_ORDER_MARKS if data.startswith(mark))
    found = next(marked, None) if encoding == "auto" else (encoding, data)
    is_known = found is None
    if found is None:
        found = _unmarked(data, name=name), data
        if found[0] == "cp1252":
            notes.append(Issue.of("read_as.cp1252"))
            notes += _notes_on_letters(data, name=name)
    label, body = found
    if label not in ("utf-8", "cp1252"):
        notes.append(Issue.of("read_as", encoding=label))
    content = body if is_known and label == "utf-8" else _as_utf8(body, name=name, encoding=label)
    if content.endswith(_DOS_END):
        content = content.removesuffix(_DOS_END)
    if (offset := content.find(b"\0")) >= 0:
        raise held("csv|control_character", name, line=_line(content, offset))
    if _MOJIBAKE_BEGIN in content and (lines := _lines_with(_MOJIBAKE, content)):
        notes.append(Issue.of("wrong_letters", lines=lines))
    return content, notes


def _refuse_endless_lines(data: bytes, *, name: str, most: int) -> None:
    """Raise FileHeld for a line that is none of a table."""
    begin = 0
    while len(data) - begin > most:
        end = max(data.rfind(sign, begin, begin + most + 1) for sign in (b"\n", b"\r"))
        if end < 0:
            line = 1 + (data.count(b"\n", 0, begin) or data.count(b"\r", 0, begin))
            raise held("csv|long_line", name, line=line, most=most >> 20)
        begin = end + 1


def _unmarked(data: bytes, *, name: str) -> str:
    """The encoding of a file without a mark: UTF-16 by its zero bytes, UTF-8 if it is that throughout, else cp1252."""
    head = data[:2000]
    if head.startswith(_UTF7_MARKS):
        raise held("csv|encoding.utf_7", name)
    for encoding, filled in (("utf-32-le", 0), ("utf-32-be", 3)):
        if all(head[at::4].count(0) > len(head) // 6 for at in range(4) if at != filled):
            return encoding
    if head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    if head[0::2].count(0) > len(head) // 4:
        return "utf-16-be"
    try:
        _check_utf8(data)
    except UnicodeDecodeError as error:
        if half := _HALF_CHARACTER.search(data):
            raise held("csv|encoding.half", name, line=_line(data, half.start())) from error
        _refuse_mixture(data, error.start, name=name)
        return "cp1252"
    return "utf-8"


def _notes_on_letters(data: bytes, *, name: str) -> Iterator[Issue]:
    """What should be said about letters that look wrong in cp1252; raises FileHeld where whole words are.

    Every byte of another code page fits it, and the letters are wrong.
    """
    if found := _OTHER_ALPHABET.search(data):
        word, line = found[0].decode("cp1252", "replace"), data.count(b"\n", 0, found.start()) + 1
        raise held("csv|encoding.alphabet", name, word=word, line=line)
    if lines := _lines_with(_SIGN_AS_LETTER, data):
        yield Issue.of("signs_in_words", lines=lines)


def _lines_with(pattern: re.Pattern[bytes], content: bytes) -> str:
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


def _check_utf8(data: bytes) -> None:
    """Raise UnicodeDecodeError unless all bytes are UTF-8; a part at a time, for the characters take up to four times
    the memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(data), _CHECKED_AT_ONCE):
            decoder.decode(data[begin : begin + _CHECKED_AT_ONCE], final=begin + _CHECKED_AT_ONCE >= len(data))
    except UnicodeDecodeError:
        data.decode("utf-8")  # which tells the place in the whole


def _refuse_mixture(data: bytes, offset: int, *, name: str) -> None:
    """Raise FileHeld where some lines are UTF-8 and others are not: either choice would spoil letters."""
    lenient = data.decode("utf-8", "surrogateescape")
    if any(char > "\x7f" and not "\udc80" <= char <= "\udcff" for char in lenient):
        raise held("csv|encoding.mixed", name, line=_line(data, offset))


def _as_utf8(body: bytes, *, name: str, encoding: str) -> bytes:
    try:
        if codecs.lookup(encoding).name == "utf-8":
            _check_utf8(body)
            return body.removeprefix(codecs.BOM_UTF8)
        text = body.decode(encoding)
    except LookupError as error:
        raise held("csv|encoding.unknown", name, encoding=encoding) from error
    except UnicodeDecodeError as error:
        line, character = _place(error, encoding)
        raise held("csv|encoding.misfit", name, encoding=encoding, line=line, character=character) from error
    return text.removeprefix("\ufeff").encode()


def _place(error: UnicodeDecodeError, encoding: str) -> tuple[int, int]:
    """Line and character of what cannot be read, as an editor counts."""
    before = error.object[: error.start].decode(encoding, "ignore").removeprefix("\ufeff")
    *lines, last = before.split("\n")
    return len(lines) + 1, len(last) + 1


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
