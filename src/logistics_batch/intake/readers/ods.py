"""The sheets of an .ods spreadsheet by the values of their cells, in one pass over its XML.

A few bytes of it can stand for millions of cells: rows and cells say how often they are repeated. So each is judged
before it is unfolded.
"""

import re
import zipfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from logistics_batch.intake.readers.cells import Cell, SheetCells, cells_of
from logistics_batch.intake.readers.limits import ReadBudget
from logistics_batch.intake.readers.xml_events import read_events
from logistics_batch.model.sheet import CellFact, CellRange

_TABLE = ["document-content", "body", "spreadsheet", "table"]
_CELLS = ("table-cell", "covered-table-cell")
_HIDDEN = ("collapse", "filter")
_BLANKS = {"tab": "\t", "line-break": "\n", "s": " "}
_NUMBERS = ("float", "percentage", "currency")
_TRUTHS = ("TRUE", "FALSE")  # also shown by numbers: so LibreOffice keeps what came from Excel
_ERROR_SIGNS = ("#", "Err:")
_LASTING = re.compile(r"PT(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,7}(?:\.\d{0,9})?)S)?")


@dataclass(slots=True)
class OdsSheet:
    """A sheet; rows: their cells, all rows from the first to the last filled one, none longer than it is filled."""

    name: str
    is_visible: bool
    rows: list[list[Cell]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    merged: list[CellRange] = field(default_factory=list)

    def cells(self) -> SheetCells:
        """The cells as texts and facts."""
        sheet = cells_of(self.rows)
        sheet.hidden_rows, sheet.merged = self.hidden_rows, self.merged
        return sheet


def read_ods(path: Path, budget: ReadBudget) -> list[OdsSheet]:
    """All sheets. Raises ValueError for XML that is damaged or unsafe, FileHeld for more than is read."""
    reader = _Reader(budget)
    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as content:
        read_events(content, start=reader.start, end=reader.end, text=reader.text)
    return reader.sheets


class _Reader:
    def __init__(self, budget: ReadBudget) -> None:
        self.sheets: list[OdsSheet] = []
        self._budget = budget
        self._style = ""  # that is being described
        self._hidden_styles: set[str] = set()  # of sheets
        self._row = self._row_repeats = self._column = self._characters = 0
        self._row_cells: list[Cell] = []
        self._is_hidden = False
        self._cell: dict[str, str] | None = None
        self._shown: list[str] = []
        self._paragraphs = self._depth = 0  # of the cell, and how many of them are open

    def start(self, path: list[str], attributes: dict[str, str]) -> None:
        name = path[-1]
        if self._cell is not None:
            self._start_within(path, attributes)
        elif name == "style":
            self._style = attributes.get("style:name", "")
        elif name == "table-properties" and attributes.get("table:display") == "false":
            self._hidden_styles.add(self._style)
        elif path == _TABLE:
            is_visible = attributes.get("table:style-name", "") not in self._hidden_styles
            self.sheets.append(OdsSheet(attributes.get("table:name", ""), is_visible))
            self._row = self._characters = 0
        elif path[:4] != _TABLE:
            return
        elif name == "table-row":
            self._row_repeats = _count(attributes, "table:number-rows-repeated")
            self._is_hidden = attributes.get("table:visibility") in _HIDDEN
            self._column, self._row_cells = 0, []
        elif name in _CELLS:
            self._cell, self._shown, self._paragraphs, self._depth = attributes, [], 0, 0

    def _start_within(self, path: list[str], attributes: dict[str, str]) -> None:
        """A paragraph of the cell begins, or what stands for blanks in it; a comment is no part of the cell."""
        name = path[-1]
        if name == "p" and (self._depth or path[-2] in _CELLS):
            self._shown += ["\n"] if self._paragraphs else []
            self._paragraphs += 1
            self._depth += 1
        elif self._depth and name in _BLANKS:
            self._shown.append(_BLANKS[name] * (_count(attributes, "text:c") if name == "s" else 1))

    def text(self, text: str) -> None:
        if self._depth:
            self._shown.append(text)

    def end(self, name: str) -> None:
        if self._cell is not None:
            if name == "p" and self._depth:
                self._depth -= 1
            elif name in _CELLS:
                self._take(self._cell, "".join(self._shown))
                self._cell = None
        elif name == "table-row" and self.sheets:
            self._end_row()

    def _take(self, attributes: dict[str, str], shown: str) -> None:
        """One cell, with all its repetitions."""
        repeats = _count(attributes, "table:number-columns-repeated")
        left, self._column = self._column, self._column + repeats
        is_uncalculated = "table:formula" in attributes and not self._paragraphs and not _kind(attributes)
        cell = ("", CellFact.NO_VALUE) if is_uncalculated else _value(attributes, shown)
        if cell == "":
            return
        sheet, last_row = self.sheets[-1], self._row + self._row_repeats
        self._budget.check(sheet.name, last_row, self._column)
        self._characters += len(cell) * repeats * self._row_repeats if isinstance(cell, str) else 0
        self._budget.check_texts(sheet.name, self._characters)
        self._row_cells += [""] * (left - len(self._row_cells)) + [cell] * repeats
        down, across = (_count(attributes, f"table:number-{way}-spanned") for way in ("rows", "columns"))
        if down > 1 or across > 1:
            sheet.merged.append((self._row + 1, left + 1, self._row + down, left + across))

    def _end_row(self) -> None:
        sheet, above, self._row = self.sheets[-1], self._row, self._row + self._row_repeats
        if self._row_cells:
            self._budget.check_gap(sheet.name, above + 1, above - len(sheet.rows))
            sheet.rows += [[]] * (above - len(sheet.rows)) + [self._row_cells] * self._row_repeats
            if self._is_hidden:
                sheet.hidden_rows += range(above + 1, self._row + 1)


def _value(attributes: dict[str, str], shown: str) -> Cell:
    """What a cell holds. Raises ValueError for a number that is none."""
    kind = _kind(attributes)
    if kind == "error" or (kind not in ("", "string") and shown.startswith(_ERROR_SIGNS)):
        return shown or "#VALUE!", CellFact.ERROR
    if kind in (*_NUMBERS, "boolean") and shown.upper() in _TRUTHS:
        return shown.upper() == "TRUE"
    if kind in _NUMBERS:
        return float(attributes.get("office:value", ""))
    if kind == "boolean":
        return attributes.get("office:boolean-value") == "true"
    if kind == "time" and (lasting := _LASTING.fullmatch(attributes.get("office:time-value", ""))):
        hours, minutes, seconds = (float(number or 0) for number in lasting.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if kind == "date":
        try:
            moment = datetime.fromisoformat(attributes.get("office:date-value", "")).replace(tzinfo=None)
        except ValueError:
            return shown
        return moment if moment.time() != datetime.min.time() else moment.date()
    return attributes.get("office:string-value", shown) if kind == "string" else shown


def _kind(attributes: dict[str, str]) -> str:
    return attributes.get("calcext:value-type") or attributes.get("office:value-type", "")


def _count(attributes: dict[str, str], name: str) -> int:
    return max(int(attributes.get(name, "1")), 1)
