"""Numbers with their nouns."""

from collections.abc import Mapping
from typing import Final

_NOUNS: Final = {
    "orders": "order",
    "ASNs": "ASN",
    "documents": "document",
    "labels": "label",
    "differences": "difference",
    "pauses": "pause",
    "paused_seconds": "paused second",
}


def counted(number: int, noun: str) -> str:
    """A number with its noun, and with thousands apart.

    >>> counted(1, "label"), counted(2000, "label")
    ('1 label', '2,000 labels')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def summed_up(summary: Mapping[str, int]) -> str:
    """The counts of a run, or of several, in words; what is none of it is left out.

    >>> summed_up({"accepted": 2, "in_doubt": 1, "held": 0, "files_held": 1, "orders": 1, "pauses": 1})
    '2 accepted, 1 in doubt, 1 file held as a whole, 1 order, 1 pause'
    """
    words = []
    for name, count in summary.items():
        if name == "files_held" and count:
            words.append(f"{counted(count, 'file')} held as a whole")
        elif count:
            words.append(counted(count, _NOUNS[name]) if name in _NOUNS else f"{count} {name.replace('_', ' ')}")
    return ", ".join(words)
