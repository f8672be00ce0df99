"""What an .ods spreadsheet says about its cells beyond their values, and how far it reaches once it is unfolded.

A few bytes of it can stand for millions of cells: rows and cells say how often they are repeated.
"""

import re
import zipfile
from datetime import timedelta

from logistics_batch.intake.number_formats import added_to
from logistics_batch.intake.sheet_facts import Address, SheetFacts
from logistics_batch.intake.xml_events import read_events

_HIDDEN = ("collapse", "filter")
_CELLS = ("table-cell", "covered-table-cell")
_WITHIN_TEXT = {"p": "\n", "tab": "\t", "line-break": "\n", "s": " "}
_PADDED = re.compile(r"0\d+")
_NUMBERS = ("float", "percentage", "currency")
_TRUTHS = ("TRUE", "FALSE")  # also shown by numbers: so LibreOffice keeps what came from Excel
_LASTING = re.compile(r"PT(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,7}(?:\.\d{0,9})?)S)?")
_LINES_THROUGH = ("style:text-line-through-style", "style:text-line-through-type")
_MOST_LISTED = 1_000_000  # rows and cells that a repetition may stand for in these facts


def scan_ods(archive: zipfile.ZipFile) -> dict[str, SheetFacts]:
    """The facts of each sheet by its name, in one pass; last_row and last_column are those in which something stands.

    Raises ValueError for XML that is damaged or unsafe."""
    reader = _Reader()
    with archive.open("content.xml") as content:
        read_events(content, start=reader.start, end=reader.end, text=reader.text)
    return reader.sheets


class _Reader:
    def __init__(self) -> None:
        self.sheets: dict[str, SheetFacts] = {}
        self._facts = SheetFacts()
        self._row = self._row_repeats = self._column = 0
        self._columns = 0  # that the sheet has described
        self._hidden = False
        self._filled_to = 0  # last filled column of the row
        self._cell: dict[str, str] | None = None
        self._has_paragraph = False
        self._shown: list[str] = []
        self._is_parted = False  # by tabs or line breaks, which the fast reader drops
        self._in_comment = False
        self._style = ""  # that is being described
        self._strikes: dict[str, bool] = {}  # whether text of a style is struck through, where the style says it
        self._spans = [False]  # whether the text of the cell, and of each span that is open in it, is
        self._struck: list[str] = []
        self._left: list[str] = []

    def start(self, path: list[str], attributes: dict[str, str]) -> None:
        name = path[-1]
        if name in _CELLS:
            if self._cell is None:
                self._cell, self._shown, self._has_paragraph = attributes, [], False
                self._is_parted = self._in_comment = False
                self._struck, self._left = [], []
                self._spans = [self._strikes.get(attributes.get("table:style-name", ""), False)]
        elif name == "span":
            self._spans.append(self._strikes.get(attributes.get("text:style-name", ""), self._spans[-1]))
        elif name == "style":
            self._style = attributes.get("style:name", "")
        elif name == "text-properties" and (said := [attributes[key] for key in _LINES_THROUGH if key in attributes]):
            self._strikes[self._style] = "none" not in said
        elif name == "annotation":
            self._in_comment = True
        elif name in _WITHIN_TEXT:
            self._within(name, attributes)
        elif name == "table-row":
            self._row_repeats = _count(attributes, "table:number-rows-repeated")
            self._hidden = attributes.get("table:visibility") in _HIDDEN
            self._facts.is_filtered |= attributes.get("table:visibility") == "filter"
            self._column = self._filled_to = 0
        elif name == "table-column":
            first, self._columns = (
                self._columns + 1,
                self._columns + _count(attributes, "table:number-columns-repeated"),
            )
            if attributes.get("table:visibility") in _HIDDEN:
                self._facts.hidden_columns.append((first, self._columns))
        elif name == "table" and len(path) <= 4:  # a deeper one is a table within a cell
            self._facts = self.sheets.setdefault(attributes.get("table:name", ""), SheetFacts())
            self._row = self._columns = 0

    def _within(self, name: str, attributes: dict[str, str]) -> None:
        """A paragraph begins, or what stands for blanks in it; not in a comment."""
        if self._cell is None or self._in_comment:
            return
        if name != "p" or self._has_paragraph:
            self._shown.append(_WITHIN_TEXT[name] * (_count(attributes, "text:c") if name == "s" else 1))
        self._has_paragraph |= name == "p"
        self._is_parted |= name in ("tab", "line-break")

    def text(self, text: str) -> None:
        if self._cell is not None and not self._in_comment:
            self._shown.append(text)
            (self._struck if self._spans[-1] else self._left).append(text)

    def end(self, name: str) -> None:
        if name in _CELLS and self._cell is not None:
            self._take(self._cell, "".join(self._shown))
            self._cell = None
        elif name == "span" and len(self._spans) > 1:
            self._spans.pop()
        elif name == "annotation":
            self._in_comment = False
        elif name == "table-row":
            self._end_row()

    def _end_row(self) -> None:
        facts, last = self._facts, self._row + self._row_repeats
        if self._filled_to:
            facts.note_gaps([self._row + 1], after=facts.last_row)
            facts.last_row = last
            facts.last_column = max(facts.last_column, self._filled_to)
            if self._hidden and self._row_repeats < _MOST_LISTED:
                facts.hidden_rows += range(self._row + 1, last + 1)
        self._row = last

    def _take(self, cell: dict[str, str], shown: str) -> None:
        """One cell, with all its repetitions."""
        facts, at = self._facts, (self._row + 1, self._column + 1)
        repeats = _count(cell, "table:number-columns-repeated")
        self._column += repeats
        kind = cell.get("calcext:value-type") or cell.get("office:value-type", "")
        no_value = "table:formula" in cell and not kind and not self._has_paragraph
        if not kind and not shown and not no_value:
            return
        self._filled_to = self._column
        facts.characters += max(len(shown), len(cell.get("office:string-value", ""))) * repeats * self._row_repeats
        down, across = _count(cell, "table:number-rows-spanned"), _count(cell, "table:number-columns-spanned")
        if down > 1 or across > 1:
            facts.merges.append((*at, at[0] + down - 1, at[1] + across - 1))
        struck, left = "".join(self._struck).strip(), "".join(self._left).strip()
        for address in self._addresses(at, repeats):
            if struck:
                facts.struck[address] = struck, left
            if no_value:
                facts.without_value.add(address)
            elif kind == "error" or (kind != "string" and shown.startswith(("#", "Err:"))):
                facts.errors[address] = shown or "#VALUE!"
            elif kind == "time" and (lasting := _LASTING.fullmatch(cell.get("office:time-value", ""))):
                hours, minutes, seconds = (float(number or 0) for number in lasting.groups())
                facts.typed[address] = timedelta(hours=hours, minutes=minutes, seconds=seconds)
            elif kind in (*_NUMBERS, "boolean") and shown.upper() in _TRUTHS:
                facts.typed[address] = shown.upper() == "TRUE"
            elif kind == "string" and self._is_parted and "office:string-value" not in cell:
                facts.typed[address] = shown
            elif kind in _NUMBERS and shown:
                _note_format(facts, address, shown, value=cell.get("office:value", ""))

    def _addresses(self, at: Address, repeats: int) -> list[Address]:
        if repeats * self._row_repeats > _MOST_LISTED:
            return []  # far more than is read: the extent tells
        row, column = at
        return [(row + down, column + across) for down in range(self._row_repeats) for across in range(repeats)]


def _note_format(facts: SheetFacts, address: Address, shown: str, *, value: str) -> None:
    """What a number shows beyond its digits."""
    if _PADDED.fullmatch(shown):
        facts.note_padded(address, len(shown))
    elif "E" not in shown and (more := added_to(shown, value)):
        facts.worded[address] = more


def _count(attributes: dict[str, str], name: str) -> int:
    return max(int(attributes.get(name, "1")), 1)
