"""The sheets of an .ods spreadsheet by the values of their cells.

A few bytes of its XML can stand for millions of cells: rows and cells say how often they are repeated. So each is
judged before it is unfolded. The library that reads other workbooks gives 0 for an error cell, and drops tabs.
"""

import re
import zipfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree.ElementTree import Element

from logistics_batch.intake.names import held
from logistics_batch.intake.readers.cells import Cell
from logistics_batch.intake.readers.limits import ReadBudget
from logistics_batch.intake.readers.xml_trees import read_tree
from logistics_batch.model.sheet import CellFact, CellRange

_TABLE = ["document-content", "body", "spreadsheet", "table"]
_CELLS = ("table-cell", "covered-table-cell")
_BLANKS = {"tab": "\t", "line-break": "\n"}
_NUMBERS = ("float", "percentage", "currency")
_TRUTHS = ("TRUE", "FALSE")  # also shown by numbers: so LibreOffice keeps what came from Excel
_ERROR_SIGNS = ("#", "Err:")
_LASTING = re.compile(r"PT(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,7}(?:\.\d{0,9})?)S)?")


@dataclass(slots=True)
class OdsSheet:
    """A sheet; rows: their cells, all rows from the first to the last filled one, none longer than it is filled.
    last_row: also of the empty ones. characters: of all texts."""

    name: str
    is_visible: bool
    rows: list[list[Cell]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    merged: list[CellRange] = field(default_factory=list)
    last_row: int = 0
    characters: int = 0


def read_ods(path: Path, budget: ReadBudget) -> list[OdsSheet]:
    """All sheets. Raises ValueError for XML that is damaged or unsafe, FileHeld for more than is read."""
    sheets: list[OdsSheet] = []
    hidden_styles: set[str] = set()  # of sheets

    def start(path: list[str], element: Element) -> None:
        if path == _TABLE:
            is_visible = element.get("table:style-name", "") not in hidden_styles
            sheets.append(OdsSheet(element.get("table:name", ""), is_visible))

    def end(path: list[str], element: Element) -> None:
        name = path[-1]
        if name == "style" and any(each.get("table:display") == "false" for each in element.iter("table-properties")):
            hidden_styles.add(element.get("style:name", ""))
        elif path[:4] == _TABLE and name == "table-row" and path.count(name) == 1:  # else it is a part of a cell
            _take_row(sheets[-1], element, budget)
            element.clear()

    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as content:
        read_tree(content, start=start, end=end)
    return sheets


def _take_row(sheet: OdsSheet, row: Element, budget: ReadBudget) -> None:
    """Put down the filled cells of a row, with all their repetitions and its own."""
    above, repeats = sheet.last_row, _count(row, "table:number-rows-repeated")
    sheet.last_row += repeats
    cells: list[Cell] = []
    column = 0
    for element in row:
        if element.tag not in _CELLS:
            continue
        left, times = column, _count(element, "table:number-columns-repeated")
        column += times
        if (cell := _value(element)) == "":
            continue
        budget.check(sheet.name, sheet.last_row, column)
        sheet.characters += len(cell) * times * repeats if isinstance(cell, str) else 0
        budget.check_texts(sheet.name, sheet.characters)
        cells += [""] * (left - len(cells)) + [cell] * times
        down, across = (_count(element, f"table:number-{way}-spanned") for way in ("rows", "columns"))
        if down > 1 or across > 1:
            sheet.merged.append((above + 1, left + 1, above + down, left + across))
    if cells:
        if (empty := above - len(sheet.rows)) > budget.limits.max_gap_rows:
            raise held("sheet|gap", budget.sheet(sheet.name), row=above + 1, count=empty)
        sheet.rows += [[]] * (above - len(sheet.rows)) + [cells] * repeats
        if row.get("table:visibility") in ("collapse", "filter"):
            sheet.hidden_rows += range(above + 1, sheet.last_row + 1)


def _value(cell: Element) -> Cell:
    """What a cell holds. Raises ValueError for a number that is none."""
    kind = cell.get("calcext:value-type") or cell.get("office:value-type", "")
    paragraphs = [each for place in cell.iter() if place.tag in _CELLS for each in place.iterfind("p")]
    shown = "\n".join(map(_said, paragraphs))
    if not (kind or paragraphs):
        return ("", CellFact.NO_VALUE) if "table:formula" in cell.attrib else ""
    if kind == "error" or (kind not in ("", "string") and shown.startswith(_ERROR_SIGNS)):
        return shown or "#VALUE!", CellFact.ERROR
    if kind in (*_NUMBERS, "boolean") and shown.upper() in _TRUTHS:
        return shown.upper() == "TRUE"
    if kind in _NUMBERS:
        return float(cell.get("office:value", ""))
    if kind == "boolean":
        return cell.get("office:boolean-value") == "true"
    if kind == "time" and (lasting := _LASTING.fullmatch(cell.get("office:time-value", ""))):
        hours, minutes, seconds = (float(number or 0) for number in lasting.groups())
        return timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if kind == "date":
        try:
            moment = datetime.fromisoformat(cell.get("office:date-value", "")).replace(tzinfo=None)
        except ValueError:
            return shown
        return moment if moment.time() != datetime.min.time() else moment.date()
    return cell.get("office:string-value", shown) if kind == "string" else shown


def _said(element: Element) -> str:
    """The text of a paragraph, or of what stands in it."""
    blanks = " " * _count(element, "text:c") if element.tag == "s" else _BLANKS.get(element.tag, "")
    return blanks + (element.text or "") + "".join(_said(each) + (each.tail or "") for each in element)


def _count(element: Element, name: str) -> int:
    return max(int(element.get(name, "1")), 1)
