"""What the sheets of a workbook say about their cells, and whether they fit into memory, before a sheet is unfolded."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from logistics_batch.errors import FileHeld
from logistics_batch.intake.grid import gap_fault
from logistics_batch.intake.guards import Limits, damaged
from logistics_batch.intake.names import printable
from logistics_batch.intake.ods_facts import scan_ods
from logistics_batch.intake.shared_texts import text_lengths, unfolded_characters
from logistics_batch.intake.sheet_facts import SheetFacts
from logistics_batch.intake.xls_facts import scan_xls
from logistics_batch.intake.xlsb_facts import scan_xlsb
from logistics_batch.intake.xlsx_facts import exact_extent, scan_sheet
from logistics_batch.intake.xlsx_parts import cell_styles, has_filtered_table, read_book
from logistics_batch.model.issue import column_letters


@dataclass(slots=True)
class Room:
    """What is left of the limits for the sheets to come; name: the file's, for messages."""

    name: str
    limits: Limits
    rows: int
    cells: int

    def check(self, sheet: str, last_row: int, last_column: int) -> None:
        """Raise FileHeld before a sheet is unfolded that would not fit: one stray cell far away is enough for that."""
        limits = self.limits
        table = f"{limits.max_columns} columns and {limits.max_workbook_rows:,} rows of a workbook"
        if last_column > limits.max_columns:
            raise self._too_large(sheet, f"a cell in column {column_letters(last_column)}", table, "columns right of")
        if last_row > self.rows:
            raise self._too_large(sheet, f"a cell in row {last_row:,}", table, "rows below")
        if last_row * last_column > self.cells:
            cells = f"room for {last_row * last_column:,} cells up to its last row and column"
            raise self._too_large(sheet, cells, f"{limits.max_workbook_cells:,}", "rows below and columns right of")

    def check_texts(self, sheet: str, characters: int) -> None:
        """Raise FileHeld where the texts of all cells together would not fit."""
        most = self.limits.max_text_characters
        if characters > most:
            texts = f"texts of {characters:,} characters together"
            raise self._too_large(sheet, texts, f"{most:,}", "long texts right of or below")

    def check_longest(self, sheet: str, characters: int) -> None:
        """Raise FileHeld for a text that no cell can hold."""
        most = self.limits.max_cell_characters
        if characters > most:
            raise FileHeld(
                f'{self.name}, sheet "{printable(sheet)}" has a text of {characters:,} characters, and no cell is '
                f"longer than {most:,} characters.",
                rule="sheet|long_cell",
                remedy="Shorten the cell and send the file again.",
            )

    def check_gap(self, sheet: str, facts: SheetFacts) -> None:
        """Raise FileHeld where a cell stands far below all others: unfolded, the empty rows would fill the memory."""
        row, empty = facts.gap
        if empty > self.limits.max_gap_rows:
            raise gap_fault(f'{self.name}, sheet "{printable(sheet)}"', row=row, empty=empty)

    def fits(self, last_row: int, last_column: int) -> bool:
        """Whether a sheet that reaches so far may be unfolded."""
        fits_across = last_column <= self.limits.max_columns
        return fits_across and last_row <= self.rows and last_row * last_column <= self.cells

    def take(self, rows: int, cells: int) -> None:
        """A sheet has been read."""
        self.rows -= rows
        self.cells -= cells

    def _too_large(self, sheet: str, what: str, most: str, where: str) -> FileHeld:
        return FileHeld(
            f'{self.name}, sheet "{printable(sheet)}" has {what}; at most {most} are read.',
            rule="sheet|too_large",
            remedy=f"Delete the {where} the table, also those that look empty, or split the file.",
        )


class WorkbookFacts:
    """The facts of the sheets of one workbook; of .xlsx each sheet is scanned when it is asked for."""

    def __init__(self, path: Path, *, kind: str, room: Room) -> None:
        self._path = path
        self._room = room
        self._is_xlsx = kind == "xlsx"
        self._known: Mapping[str, SheetFacts] | None = {}
        limits = room.limits
        if kind == "xls":
            self._known = scan_xls(path.read_bytes())
        elif not self._is_xlsx:
            with zipfile.ZipFile(path) as archive:
                most_cells = limits.max_workbook_cells
                self._known = scan_ods(archive) if kind == "ods" else scan_xlsb(archive, most_cells=most_cells)
        for sheet, facts in (self._known or {}).items():  # the parser unfolds them all at once
            room.check(sheet, facts.last_row, facts.last_column)
            room.check_gap(sheet, facts)
            room.check_texts(sheet, facts.characters)

    @property
    def are_known(self) -> bool:
        """Whether the workbook is of a kind that tells."""
        return self._known is not None

    def of(self, sheet: str) -> SheetFacts:
        """The facts of one sheet; raises FileHeld where it would not fit."""
        if not self._is_xlsx:
            return (self._known or {}).get(sheet) or SheetFacts()
        room, limits = self._room, self._room.limits
        with zipfile.ZipFile(self._path) as archive:
            book = read_book(archive)
            part = book.sheets.get(sheet, "")
            if part not in archive.namelist():
                raise damaged(room.name)
            styles = cell_styles(archive)
            facts = scan_sheet(archive, part, styles=styles, is_stale=book.is_stale, max_rows=room.rows)
            facts.is_filtered |= has_filtered_table(archive, part)
            if facts.too_far:
                room.check(sheet, *facts.too_far)
            if not room.fits(facts.last_row, facts.last_column):
                room.check(sheet, *exact_extent(archive, part))
            room.check_gap(sheet, facts)
            lengths = text_lengths(archive, exactly_from=limits.max_cell_characters)
            room.check_longest(sheet, max(lengths, default=0))
            if facts.shared_texts * max(lengths, default=0) > limits.max_text_characters:
                room.check_texts(sheet, unfolded_characters(archive, part, lengths))
        return facts
