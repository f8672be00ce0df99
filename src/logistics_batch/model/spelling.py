"""What people read as one name, however it is typed: references that look alike are rarely two. Pure."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

_Step: TypeAlias = tuple[str, Callable[[str], str]]

_QUOTES: Final = str.maketrans("\u2018\u2019\u201a\u201b\u2032\u00b4`\u201c\u201d\u201e\u2033", "'" * 7 + '"' * 4)
_MORE_DASHES: Final = "\u2212\u2043\u02d7"  # minus sign, hyphen bullet, modifier minus: no dashes to Unicode
_LEADING_ZEROS: Final = re.compile("^0+(?=[0-9]+([.][0-9]+)?$)")  # of a number
_BETWEEN_PARTS: Final = " | "  # of a document's key
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5")  # unseen, but no format characters


def folded(text: str) -> str:
    """A name as it is read: without letter case, kinds of dashes, quotes and blanks, Unicode form, and unseen marks.

    >>> folded("Zé\u20111") == folded("ze\u0301-1") == folded(" ＺÉ\u200b-1")
    True
    """
    if text.isascii():
        return " ".join(text.replace("`", "'").lower().split())
    return _read(text, _STEPS)


def folded_key(key: str) -> str:
    """The key of a document as it is read, whatever became of it in a spreadsheet program, which takes 00992 for 992.

    Only where a part of it is nothing but a number; 007-A and 07-A stay two. Zeros at the end stay: 1001.1 and 1001.10
    are sub-orders. Not for SKUs: they may differ in it.

    >>> folded_key("ACME | 0087"), folded_key("010.50")
    ('acme | 87', '10.50')
    """
    return _without_zeros(folded(key))


def differences(one: str, other: str) -> tuple[str, ...]:
    """In what two keys differ that are read as one, in words.

    >>> differences("Z-1", "z\u20131")
    ('a dash', 'capital letters')
    """
    names = dict.fromkeys(name for name, _ in _KEY_STEPS)
    fewer = {name: [step for step in _KEY_STEPS if step[0] != name] for name in names}
    found = tuple(name for name in names if _read(one, fewer[name]) != _read(other, fewer[name]))
    return found or ("the way it is typed",)


def _read(text: str, steps: Iterable[_Step]) -> str:
    for _, step in steps:
        text = step(text)
    return text


def _without_zeros(key: str) -> str:
    if not key.startswith("0") and f"{_BETWEEN_PARTS}0" not in key:  # as most are
        return key
    return _BETWEEN_PARTS.join(_LEADING_ZEROS.sub("", part) for part in key.split(_BETWEEN_PARTS))


def _without_dashes(text: str) -> str:
    return "".join("-" if _is_dash(char) else char for char in text)


def _is_dash(char: str) -> bool:
    return unicodedata.category(char) == "Pd" or char in _MORE_DASHES


def _seen(text: str) -> str:
    return "".join(char for char in text if not is_unseen(char))


def is_unseen(char: str) -> bool:
    """Whether a letter is a mark that nobody sees, such as a zero width space; also those that join letters."""
    chooses_a_form = 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF
    return unicodedata.category(char) == "Cf" or chooses_a_form or char in _FILLERS


def _same_form(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _same_quotes(text: str) -> str:
    return text.translate(_QUOTES)


_FORM: Final[_Step] = ("the form of a letter", _same_form)
_QUOTE: Final[_Step] = ("a quotation mark", _same_quotes)
_STEPS: Final[tuple[_Step, ...]] = (
    _QUOTE,  # some fall apart by their form, and others come of it
    _FORM,
    _QUOTE,
    ("a mark that nobody sees", _seen),
    ("a dash", _without_dashes),
    ("capital letters", str.casefold),
    _FORM,
    ("blanks", lambda text: " ".join(text.split())),
)
_KEY_STEPS: Final = (*_STEPS, ("leading zeros", _without_zeros))
