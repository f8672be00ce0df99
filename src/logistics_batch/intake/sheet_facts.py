"""What a sheet of a workbook says about its cells beyond their values; each format is scanned for it in its own way."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

Address = tuple[int, int]  # row and column, both from 1


@dataclass(slots=True)
class SheetFacts:
    """What was found in one sheet; rows and columns count from 1.

    last_row, last_column: nothing stands beyond them; `exact_extent` tells how far the content really reaches.
    too_far: the corner of what stands below all rows that are read; the scan ended there. gap: a filled row below very
    many empty ones, and how many. hidden_columns: the first and last of each group. is_filtered: rows are hidden by a
    filter. shared_texts: at most so many cells hold one. characters: of all texts; merges: as
    `Sheet.merges`; both only where no other reader tells. padded: rows of cells whose number format shows leading
    zeros, by column and width. worded: what cells show, with 0 for the number, whose number format shows more than it.
    typed: the values of cells that the fast reader takes for something else. struck: cells that are struck through: of
    which part of the text, and what is left; both "" where the whole cell is by its style.
    """

    last_row: int = 0
    last_column: int = 0
    too_far: Address | None = None
    gap: tuple[int, int] = (0, 0)
    shared_texts: int = 0
    characters: int = 0
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    is_filtered: bool = False
    errors: dict[Address, str] = field(default_factory=dict)
    without_value: set[Address] = field(default_factory=set)
    padded: dict[tuple[int, int], "array[int]"] = field(default_factory=dict)
    worded: dict[Address, str] = field(default_factory=dict)
    typed: dict[Address, bool | timedelta | str] = field(default_factory=dict)
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)
    struck: dict[Address, tuple[str, str]] = field(default_factory=dict)

    def note_padded(self, address: Address, width: int) -> None:
        """Put down a cell that shows its number in so many digits."""
        row, column = address
        rows = self.padded.get((column, width))
        if rows is None:
            rows = self.padded[column, width] = array("L")
        rows.append(row)

    def note_gaps(self, rows: Iterable[int], *, after: int = 0) -> None:
        """Keep the largest gap between filled rows, which come in order; after: the filled row before them."""
        for row in rows:
            if row - after - 1 > self.gap[1]:
                self.gap = row, row - after - 1
            after = row
