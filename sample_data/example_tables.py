"""How the inputs of examples are written down: text files and workbooks from rows of cells."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openpyxl import Workbook

Cell = str | int | float | None


@dataclass(frozen=True)
class TextFile:
    """A text file of rows; a cell that holds the delimiter is quoted."""

    rows: Sequence[Sequence[Cell]]
    suffix: str = ".csv"
    delimiter: str = ","
    encoding: str = "utf-8"

    def write(self, path: Path) -> None:
        """Write it."""
        with path.open("w", encoding=self.encoding, newline="") as file:
            csv.writer(file, delimiter=self.delimiter, lineterminator="\n").writerows(self.rows)


@dataclass(frozen=True)
class Tab:
    """A sheet of a workbook. merges: ranges such as A2:A4. hidden: whether the user sees the tab."""

    name: str
    rows: Sequence[Sequence[Cell]]
    merges: Sequence[str] = ()
    hidden: bool = False


@dataclass(frozen=True)
class ExcelFile:
    """A workbook of sheets."""

    tabs: Sequence[Tab] = field(default_factory=tuple)
    suffix: str = ".xlsx"

    def write(self, path: Path) -> None:
        """Write it."""
        book = Workbook()
        book.remove(book.worksheets[0])
        for tab in self.tabs:
            sheet = book.create_sheet(tab.name)
            for row in tab.rows:
                sheet.append(row)
            for cells in tab.merges:
                sheet.merge_cells(cells)
            sheet.sheet_state = "hidden" if tab.hidden else "visible"
        book.save(path)


def rows(text: str) -> list[list[Cell]]:
    """Rows from lines with `|` between the cells.

    >>> rows("Item|Qty\\nTEA|2")
    [['Item', 'Qty'], ['TEA', '2']]
    """
    return [list(line.split("|")) for line in text.strip("\n").split("\n")]


def under(columns: Sequence[str], lines: Iterable[dict[str, Cell]]) -> list[list[Cell]]:
    """Rows below a header; a cell that a line does not have is blank. A line with an unknown column is a mistake."""
    found: list[list[Cell]] = [list(columns)]
    for line in lines:
        if unknown := set(line) - set(columns):
            raise KeyError(sorted(unknown))
        found.append([line.get(name, "") for name in columns])
    return found
