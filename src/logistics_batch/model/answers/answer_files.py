"""The names of the files that answer a file, and how they are known again when they come back."""

import re
from pathlib import PurePosixPath
from typing import Final

READ_ENDINGS: Final = ("csv", "tsv", "txt", "tab", "xlsx", "xls", "xlsb", "ods")
"""The endings of files that are read."""

_LONGEST_STEM_BYTES: Final = 200
EARLIER: Final = "earlier"
"""The folder beside the answers for what they were before: earlier/NAME.<run>.*"""

_RUN: Final = r"\d{8}-\d{6}-[0-9a-f]{4}"
# NAME.result.xlsx as it was, as it lies in `earlier`, or as a second copy of it is named.
_ENDING: Final = rf"(?:\.(?:before-)?{_RUN}(?:-\d+)?)?\.(?:result|fix)"
_COPY: Final = r"(?: ?\(\d+\)| - Copy(?: \(\d+\))?|\.\d{1,2})?$"
_ENDINGS: Final = re.compile(f"(?:{_ENDING})+{_COPY}")


def is_run(text: str) -> bool:
    """Whether a text is the id of a run that pushed files."""
    return re.fullmatch(_RUN, text) is not None


def result_stem(name: str) -> str:
    """NAME of a file's answers: its stem; a corrected answer of ours that was dropped keeps the name it had.

    >>> result_stem("orders_0903.result.xlsx")
    'orders_0903'
    >>> result_stem("orders_0903.result (1).xlsx"), result_stem("orders_0903.20260903-211500-ab12.fix.xlsx")
    ('orders_0903', 'orders_0903')
    """
    stem = _ENDINGS.sub("", PurePosixPath(name).stem)
    # Our endings come behind it, and file systems end at 255 bytes.
    return stem.encode()[:_LONGEST_STEM_BYTES].decode(errors="ignore") or "file"


def answered_name(name: str) -> str:
    """The name of the file that an answer of ours belongs to, as far as its own name tells; else the file's own.

    >>> answered_name("STA-118.result.xlsx"), answered_name("STA-118.fix (1).xlsx")
    ('STA-118.xlsx', 'STA-118.xlsx')
    """
    path = PurePosixPath(name)
    return f"{_ENDINGS.sub('', path.stem)}{path.suffix}"


def names_it_answers(name: str) -> tuple[str, ...]:
    """The names that a file may have had whose answer this is; () if it is none.

    >>> names_it_answers("orders.fix.xlsx")[:2], names_it_answers("orders.xlsx")
    (('orders.csv', 'orders.tsv'), ())
    """
    stem = _ENDINGS.sub("", PurePosixPath(name).stem)
    return () if stem == PurePosixPath(name).stem else tuple(f"{stem}.{ending}" for ending in READ_ENDINGS)
