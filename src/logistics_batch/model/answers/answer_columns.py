"""By what our answers and reports are known again when they come back: columns, and the name of a sheet."""

from collections.abc import Iterator, Sequence
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
