"""How rows of a second sheet are numbered in the ledger, which numbers a file's rows through.

Row 17 of the second sheet is 10,000,017. Its name and header row stand in the file's origin. So ledgers of every
version hold such files, and those that read them without writing need not be brought up to date for it.
"""

from collections.abc import Mapping
from typing import Any, Final

from logistics_batch.model.document import MappedFile

SECOND_SHEET: Final = (
    10_000_000  # far beyond the last row of a workbook; a text file, which may be longer, has one sheet
)
_ORIGIN: Final = "lines_sheet"


def stored_row(row: int, *, sheet: str) -> int:
    """The number of a row in the ledger. sheet: the second sheet's name, "" for the file's own.

    >>> stored_row(17, sheet="Items")
    10000017
    """
    return row + SECOND_SHEET if sheet else row


def shown_row(stored: int, origin: Mapping[str, Any]) -> tuple[int, str]:
    """A row as the spreadsheet program numbers it, and the second sheet's name if it is one of that, else "".

    >>> shown_row(10_000_017, {"lines_sheet": {"name": "Items", "header_row": 1}})
    (17, 'Items')
    """
    second = origin.get(_ORIGIN)
    return (stored - SECOND_SHEET, second["name"]) if second and stored > SECOND_SHEET else (stored, "")


def lines_origin(mapped: MappedFile | None) -> dict[str, object]:
    """What a file's origin says about its second sheet; empty if it has none."""
    if mapped is None or not mapped.lines_sheet:
        return {}
    return {_ORIGIN: {"name": mapped.lines_sheet, "header_row": mapped.lines_header_row}}


def without_lines(origin: Mapping[str, object]) -> dict[str, object]:
    """A file's origin without what it says about a second sheet."""
    return {name: value for name, value in origin.items() if name != _ORIGIN}


def lines_sheet(origin: Mapping[str, Any]) -> tuple[str, int]:
    """The name and the header row of a file's second sheet; "" and 0 if it has none."""
    second = origin.get(_ORIGIN)
    return (second["name"], second["header_row"]) if second else ("", 0)
