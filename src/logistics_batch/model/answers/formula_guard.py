"""The `'` before text that a spreadsheet program might run as a formula: where our CSV files set it, and how it goes.

A program that opens a CSV file runs what begins with `=`, `+`, `-`, `@` or their wide forms; blanks, quotes and signs
that cannot be seen may stand before them. Where it parts cells at another separator than the file's own, the text
behind that separator becomes a cell, too: then the `'` stands there.
"""

from typing import Final

_SIGNS: Final = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_UNSEEN: Final = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x20\\x7f-\\xa0\\xad"
    "\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
)
_BEFORE: Final = f'[{_UNSEEN}"]*'
SEPARATORS: Final = "[;\\t\\r\\n]"
"""What programs part cells and rows at besides the comma that our files have."""

FORMULA_START: Final = f'^(?:[\\t\\r]|[{_UNSEEN}\\t\\r\\n"]*{_SIGNS})'
"""How a cell begins that might be run."""

FORMULA_INSIDE: Final = f"({SEPARATORS})({_BEFORE}{_SIGNS})"
"""A place inside of a cell that would begin one that might be run; the sign is set between the two groups."""

GUARDED_START: Final = f"^'([\\t\\r].*|[{_UNSEEN}\\t\\r\\n\"]*{_SIGNS}.*)$"
"""A whole cell with the sign before it; the rest is group 1."""

GUARDED_INSIDE: Final = f"({SEPARATORS})'({_BEFORE}{_SIGNS})"
"""A place inside of a cell with the sign between the two groups."""
