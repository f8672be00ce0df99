"""The columns that a result workbook adds to the user's sheet, and how they are known again when it comes back."""

from collections.abc import Sequence
from typing import Final

ANSWER_COLUMNS: Final = ("Status", "Reason", "What to do", "AWB / reference", "Run")


def earlier_columns(headers: Sequence[str]) -> tuple[int, ...]:
    """Where an earlier result's columns stand among a header row's texts (positions from 0); empty if there are none.

    Only all five side by side in their order are ours: users have columns named "Status" or "Reason" themselves.

    >>> earlier_columns(["Status", "Qty", "Status", "Reason", "What to do", "AWB / reference", "Run"])
    (2, 3, 4, 5, 6)
    """
    width = len(ANSWER_COLUMNS)
    found: list[int] = []
    for start in range(len(headers) - width + 1):
        if tuple(text.strip() for text in headers[start : start + width]) == ANSWER_COLUMNS:
            found.extend(range(start, start + width))
    return tuple(found)
