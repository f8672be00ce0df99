"""By what our answers and reports are known again when they come back: columns, and the name of a sheet.

The names of the files that answer a file, and how they are known again when they come back.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

ANSWER_COLUMNS: Final = ("Status", "Reason", "What to do", "AWB / reference", "Run")
"""What a result workbook adds to the user's sheet."""

HELD_SHEET: Final = "Not processed"
"""The only sheet of the answer to a file that was held as a whole."""

INDEX_COLUMNS: Final = (
    "page",
    "part",
    "sequence",
    "awb_number",
    "reference_number",
    "file",
    "sheet",
    "row",
    "status",
    "group",
    "copy",
    "label_sha256",
    "reason",
)
"""The index of a bundle of labels."""

RESULT_LIST_BEGINS: Final = ("file", "sheet", "row", "document", "fate")
RECONCILIATION_LIST_BEGINS: Final = ("exception_id", "outcome", "code", "severity", "level")
"""The first columns of NAME.result.csv and of reconciliation.csv: more than a sender's sheet begins with by chance."""

_TELLING = frozenset({"What to do", "AWB / reference"})  # users hardly have columns of these names


def earlier_columns(headers: Sequence[str]) -> tuple[int, ...]:
    """Where an earlier result's columns stand among a header row's texts (positions from 0); empty if there are none.

    They stand side by side in their order. Users have columns named "Status" or "Reason" themselves: where some of ours
    were deleted, the rest is known if one is left that users hardly have, and another beside it.

    >>> earlier_columns(["Status", "Qty", "Status", "Reason", "What to do", "AWB / reference", "Run"])
    (2, 3, 4, 5, 6)
    >>> earlier_columns(["Qty", "Reason", "What to do"]), earlier_columns(["Qty", "Status", "Reason"])
    ((1, 2), ())
    """
    texts = [text.strip() for text in headers]
    found: list[int] = []
    for start, end in _in_our_order(texts):
        if end - start > 1 and _TELLING & set(texts[start:end]):
            found.extend(range(start, end))
    return tuple(found)


def _in_our_order(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The longest stretches of names of ours that follow each other as ours do."""
    start, before = 0, len(ANSWER_COLUMNS)
    for position, text in enumerate(texts):
        rank = ANSWER_COLUMNS.index(text) if text in ANSWER_COLUMNS else -1
        if rank <= before:
            if position > start:
                yield start, position
            start = position if rank >= 0 else position + 1
        before = rank if rank >= 0 else len(ANSWER_COLUMNS)
    if len(texts) > start:
        yield start, len(texts)


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
