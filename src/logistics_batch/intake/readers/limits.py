"""How much of a file is read at most, and what is said where a table is larger, wider or emptier than any is."""

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.intake.names import held, printable
from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import CellRange


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is read at most; beyond, it is held.

    max_gap_rows: empty rows between two rows with content. max_line_bytes: of a text file, up to the next line break.
    max_ratio: unpacked to packed bytes, of a part of a workbook and of all parts so far.
    """

    max_file_bytes: int = 512 << 20
    max_line_bytes: int = 1 << 20

    max_columns: int = 512
    max_gap_rows: int = 1_000
    max_csv_rows: int = 1_048_576  # as many as a spreadsheet program shows
    max_csv_cells: int = 32_000_000  # also empty ones, as far as there are separators
    max_sheets: int = 100  # visible ones, of a name that fits
    max_workbook_rows: int = 200_000
    max_workbook_cells: int = 25_000_000
    max_cell_characters: int = 32_767
    max_text_characters: int = 256 << 20  # of all cells of a sheet of a workbook together
    max_entries: int = 1_000
    max_unpacked_bytes: int = 512 << 20
    max_ratio: int = 200


@dataclass(slots=True)
class ReadBudget:
    """What is left of the limits for the sheets of a workbook that are still to come; name: the file's, for messages.

    A sheet is judged before it is unfolded in memory: one stray cell far away is enough to fill that.
    """

    name: str
    limits: Limits
    rows: int
    cells: int

    @classmethod
    def whole(cls, name: str, limits: Limits) -> "ReadBudget":
        """All that the limits allow."""
        return cls(printable(name), limits, rows=limits.max_workbook_rows, cells=limits.max_workbook_cells)

    def sheet(self, sheet: str) -> str:
        """The file and one of its sheets, for messages."""
        return f'{self.name}, sheet "{printable(sheet)}"'

    def check(self, sheet: str, last_row: int, last_column: int) -> None:
        """Raise FileHeld where something stands so far below or to the right that the sheet would not fit."""
        limits, name = self.limits, self.sheet(sheet)
        most = {"most_columns": limits.max_columns, "most_rows": limits.max_workbook_rows}
        if last_column > limits.max_columns:
            raise held("sheet|too_large.column", name, column=column_letters(last_column), **most)
        if last_row > self.rows:
            raise held("sheet|too_large.row", name, row=last_row, **most)
        if (cells := last_row * last_column) > self.cells:
            raise held("sheet|too_large.cells", name, count=cells, most=limits.max_workbook_cells)

    def check_texts(self, sheet: str, characters: int) -> None:
        """Raise FileHeld where the texts of all cells together would not fit."""
        most = self.limits.max_text_characters
        if characters > most:
            raise held("sheet|too_large.texts", self.sheet(sheet), count=characters, most=most)

    def check_longest(self, sheet: str, characters: int) -> None:
        """Raise FileHeld for a text that no cell can hold."""
        most = self.limits.max_cell_characters
        if characters > most:
            raise held("sheet|long_cell.text", self.sheet(sheet), count=characters, most=most)

    def take(self, frame: pl.DataFrame) -> None:
        """A sheet has been read."""
        self.rows -= frame.height
        self.cells -= frame.height * frame.width


def trimmed(frame: pl.DataFrame, *, what: str, limits: Limits, at_least: tuple[int, int] = (0, 0)) -> pl.DataFrame:
    """A frame without the empty rows below and the empty columns right of its content.

    what: the file or sheet, for messages. at_least: rows and columns to keep though they look empty. Raises FileHeld
    for more columns than are read, for a cell longer than any is, and where too many empty rows lie above a filled one:
    something stands there by mistake, and it is not dropped unseen.
    """
    filled = frame.select(pl.all().is_not_null().any()).row(0) if frame.width else ()
    width = max([at_least[1], *(number for number, has in enumerate(filled, start=1) if has)])
    if width > limits.max_columns:
        raise too_many_columns(what, width, limits)
    frame = frame.select(frame.columns[:width])
    if not width:
        return frame.clear()
    rows = frame.select(pl.any_horizontal(pl.all().is_not_null()).alias("has")).to_series().arg_true()
    refuse_gap(pl.concat([pl.Series([0], dtype=rows.dtype), rows + 1]), what=what, limits=limits)
    refuse_long_cells(frame, what=what, limits=limits)
    return frame.slice(0, max(at_least[0], int(rows[-1]) + 1 if rows.len() else 0))


def too_many_columns(what: str, width: int, limits: Limits) -> FileHeld:
    """A table that is wider than any is."""
    return held("sheet|too_many_columns", what, count=width, most=limits.max_columns)


def refuse_gap(rows: pl.Series, *, what: str, limits: Limits) -> None:
    """Raise FileHeld where too many rows above a filled one are empty; rows: the numbers of the filled ones, and first
    the one above them, 0 where there is none."""
    steps = rows.diff().fill_null(0)
    at = int(steps.arg_max() or 0)
    if (empty := int(steps[at]) - 1) > limits.max_gap_rows:
        raise held("sheet|gap", what, row=int(rows[at]), count=empty)


def refuse_long_cells(frame: pl.DataFrame, *, what: str, limits: Limits) -> None:
    """Raise FileHeld for a cell that is longer than any spreadsheet program keeps."""
    for column in frame.columns:
        if (frame[column].str.len_bytes().max() or 0) > limits.max_cell_characters:  # type: ignore[operator]
            # Before what looks like a formula a fix file of ours has one sign more.
            is_long = frame[column].str.strip_prefix("'").str.len_chars() > limits.max_cell_characters
            if is_long.any():
                cell = cell_address(int(is_long.arg_max() or 0) + 1, int(column))
                raise held("sheet|long_cell", what, cell=cell, most=limits.max_cell_characters)


def hidden_by_merge(frame: pl.DataFrame, merged: Iterable[CellRange]) -> list[tuple[int, int]]:
    """The cells (row, column) under merged cells that hold another value than the one that is seen, from 1.

    frame: all rows from the first. Merged cells never overlap, and where they do all the same, each is looked at once.
    """
    found: list[tuple[int, int]] = []
    done = dict.fromkeys(range(1, frame.width + 1), 0)
    for top, left, bottom, right in sorted(merged):
        seen = (frame[str(left)][top - 1] or "").strip() if left <= frame.width and top <= frame.height else ""
        for column in range(left, min(right, frame.width) + 1):
            first = max(top + (column == left), done[column] + 1)
            done[column] = max(done[column], bottom)
            own = frame[str(column)].slice(first - 1, max(0, bottom - first + 1))
            if own.null_count() < own.len():
                texts = ((text or "").strip() for text in own.to_list())
                found += [(row, column) for row, text in enumerate(texts, first) if text not in ("", seen)]
    return sorted(found)
