"""The manifest on A4: what is missing first, then subtotals and signatures, then every label."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.model.counting import counted
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.paper.fonts import Style, Typesetter, text_width, wrap
from logistics_batch.paper.labels.manifest import (
    GroupTotal,
    Manifest,
    ManifestLine,
    PrintedBefore,
    rows_in_words,
    rupees,
)

PAPER = (210 * mm, 297 * mm)
LEFT, RIGHT = 12 * mm, 198 * mm
_WIDTH = RIGHT - LEFT
_TOP, _BOTTOM = 285 * mm, 16 * mm
_ALARM = (0.72, 0.07, 0.07)
_GREY, _PALE = 0.35, 0.93

_TITLE = Style(22, bold=True)
_HEADING = Style(11, bold=True)
_FIGURE = Style(17, bold=True)
_NAME = Style(7.5)
_TEXT = Style(8.5)
_STRONG = Style(8.5, bold=True)
_CELL = Style(7.5)
_HEAD = Style(7, bold=True)
_LEADING = 4.1 * mm
_LINE_HEIGHT = 4.6 * mm
_KEPT_TOGETHER = 12  # lines of one row
_MOST_BAND_LINES = 20
_FILE_TITLE = "Label manifest"
_PAGE, _FILE_AND_PAGE = "Page", "File/page"
_TITLE_IN_BYTES = re.compile(rb"/Title \(Label manifest ([0-9A-Za-z-]+)\)")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table; width in mm.

    right: of numbers, which are set smaller where they are too long, and never cut. whole: a text that is too long goes
    on in the next lines, of which there are at most `most`; otherwise its end is cut.
    """

    title: str
    width: float
    right: bool = False
    whole: bool = False
    bold: bool = False
    most: int = 1_000_000


@dataclass(frozen=True, slots=True)
class TableLook:
    """How a table is set; lengths in points.

    below: the room between a row and the rule that ends it, 0 without a rule. gutter: what stays free of each column.
    """

    cell: Style
    head: Style
    leading: float
    below: float = 0.0
    gutter: float = 2.5 * mm


class Table:
    """Rows below heads, which stand again on every page that the table goes on to."""

    def __init__(self, pages: "Pages", columns: Sequence[TableColumn], look: TableLook) -> None:
        """Write the heads."""
        self._pages, self._columns, self._look = pages, columns, look
        self._head()

    def row(self, cells: Sequence[str], *, shaded: bool = False) -> float:
        """Write a row of as many lines as its longest cell has; the base line of the first one."""
        pages, look = self._pages, self._look
        wrapped = [self._lines(column, cell) for column, cell in zip(self._columns, cells, strict=True)]
        lines = list(zip_longest(*wrapped, fillvalue=""))
        if pages.need(look.leading * min(len(lines), _KEPT_TOGETHER) + look.below):
            self._head()
        first = pages.y - look.leading
        for line in lines:
            if pages.need(look.leading + look.below):
                self._head()
            if shaded:
                pages.canvas.setFillGray(0.955)
                pages.canvas.rect(LEFT, pages.y - look.leading - 1.3 * mm, _WIDTH, look.leading, stroke=0, fill=1)
                pages.canvas.setFillGray(0)
            pages.y -= look.leading
            self._line(line, look.cell)
        if look.below:
            pages.y -= look.below
            self._rule(0.25)
        return first

    def _head(self) -> None:
        self._pages.y -= _LINE_HEIGHT
        self._line([column.title for column in self._columns], self._look.head)
        self._pages.y -= 1.2 * mm
        self._rule(0.6)

    def _rule(self, thickness: float) -> None:
        self._pages.canvas.setLineWidth(thickness)
        self._pages.canvas.line(LEFT, self._pages.y, RIGHT, self._pages.y)

    def _lines(self, column: TableColumn, cell: str) -> list[str]:
        if not column.whole:
            return [cell]
        lines = wrap(
            cell, width=column.width * mm - self._look.gutter, style=replace(self._look.cell, bold=column.bold)
        )
        return lines if len(lines) <= column.most else [*lines[: column.most - 1], f"{lines[column.most - 1][:-1]}…"]

    def _line(self, cells: Sequence[str], style: Style) -> None:
        x = LEFT
        for column, cell in zip(self._columns, cells, strict=True):
            inner = column.width * mm - self._look.gutter
            look = replace(style, bold=True) if column.bold else style
            if column.right:
                look = replace(look, align="right")
                wide = text_width(cell, look)
                look = replace(look, size=look.size * inner / wide) if wide > inner else look
                self._pages.pen.draw(cell, at=(x + inner, self._pages.y), style=look)
            else:
                self._pages.pen.draw(cell, at=(x, self._pages.y), style=look, fit=inner)
            x += column.width * mm


_MISSING_COLUMNS = (
    TableColumn("Reference", 28, whole=True),
    TableColumn("AWB", 24, whole=True),
    TableColumn("Why", 62, whole=True),
    TableColumn("What to do", 42, whole=True),
    TableColumn("File, row", 30, whole=True),
)
_GROUP_COLUMNS = (
    TableColumn("Group", 58),
    TableColumn("Labels", 14, right=True),
    TableColumn("No.", 24, right=True),
    TableColumn("First AWB", 31, whole=True),
    TableColumn("Last AWB", 31, whole=True),
    TableColumn("COD", 28, right=True),
)


_LOOK = TableLook(_CELL, _HEAD, _LINE_HEIGHT)
_MISSING_LOOK = TableLook(_CELL, _HEAD, 3.5 * mm, below=2.2 * mm)


def manifest_pdf(manifest: Manifest) -> bytes:
    """The manifest as a PDF of A4 pages; the same manifest gives the same bytes."""
    out = io.BytesIO()
    pages = Pages(Canvas(out, pagesize=PAPER, invariant=1, pageCompression=1), f"{_FILE_TITLE} {manifest.bundle_id}")
    _first_page(pages, manifest)
    if manifest.lines:
        pages.turn()
        _label_tables(pages, manifest)
    _printed_before(pages, manifest.printed_before)
    pages.finish()
    return out.getvalue()


def bundle_of(content: bytes) -> str:
    """The id of the bundle whose manifest this is, "" if it is no manifest of ours."""
    found = _TITLE_IN_BYTES.search(content)
    return found[1].decode("ascii") if found else ""


class Pages:
    """A cursor that goes down the page and turns it."""

    def __init__(self, canvas: Canvas, title: str) -> None:
        self.canvas = canvas
        self.pen = Typesetter(canvas)
        self.y = _TOP
        self._title = title
        self._number = 1
        canvas.setTitle(title)

    def need(self, height: float) -> bool:
        """Make sure that so much of the page is left; True if a new page was begun for it."""
        if self.y - height >= _BOTTOM:
            return False
        self.turn()
        return True

    def turn(self) -> None:
        """Go on at the top of a new page."""
        self._foot()
        self.canvas.showPage()
        self._number += 1
        self.y = _TOP

    def finish(self) -> None:
        """Complete the file."""
        self._foot()
        self.canvas.showPage()
        # The number of pages is known only now; every foot refers to this form.
        self.canvas.beginForm("page_count")
        self.pen.draw(str(self._number), at=(0, 0), style=_NAME)
        self.canvas.endForm()
        self.canvas.save()

    def _foot(self) -> None:
        self.canvas.setFillGray(_GREY)
        self.pen.draw(self._title, at=(LEFT, 9 * mm), style=_NAME)
        self.pen.draw(f"page {self._number} of", at=(RIGHT - 5 * mm, 9 * mm), style=Style(7.5, align="right"))
        self.canvas.saveState()
        self.canvas.translate(RIGHT - 4 * mm, 9 * mm)
        self.canvas.doForm("page_count")
        self.canvas.restoreState()
        self.canvas.setFillGray(0)


def _first_page(pages: Pages, manifest: Manifest) -> None:
    pages.y -= 7 * mm
    pages.pen.draw("Label manifest", at=(LEFT, pages.y), style=_TITLE)
    pages.pen.draw(manifest.bundle_id, at=(RIGHT, pages.y), style=Style(11, bold=True, align="right"))
    pages.y -= 5 * mm
    if manifest.reprint_reason:
        _band(pages, f"REPRINT: {manifest.reprint_reason}", colour=(0, 0, 0))
    _figures(pages, manifest)
    _facts(pages, manifest)
    _notes(pages, manifest.notes)
    if manifest.missing:
        _missing_table(pages, manifest.missing)
    if not manifest.lines:
        pages.y -= 8 * mm
        pages.pen.draw("There is nothing to print.", at=(LEFT, pages.y), style=_HEADING)
        return
    _group_table(pages, manifest.groups)
    _signatures(pages)


def _figures(pages: Pages, manifest: Manifest) -> None:
    collected = sum(line.cash > 0 for line in manifest.lines)
    boxes = (
        (str(len(manifest.lines)), "labels"),
        (str(manifest.orders), "orders"),
        (str(len(manifest.missing)), "missing"),
        (rupees(manifest.cash), f"to collect, {counted(collected, 'COD order')}"),
    )
    widths = (34 * mm, 34 * mm, 34 * mm, 78 * mm)
    height, gap, x = 17 * mm, 2 * mm, LEFT
    pages.y -= height
    for (figure, name), width in zip(boxes, widths, strict=True):
        alarm = name == "missing" and manifest.missing
        pages.canvas.setFillColorRGB(*_ALARM) if alarm else pages.canvas.setFillGray(_PALE)
        pages.canvas.roundRect(x, pages.y, width, height, 2 * mm, stroke=0, fill=1)
        pages.canvas.setFillGray(1 if alarm else 0)
        pages.pen.draw(figure, at=(x + 4 * mm, pages.y + 8 * mm), style=_FIGURE, fit=width - 8 * mm)
        pages.pen.draw(name, at=(x + 4 * mm, pages.y + 3.2 * mm), style=_NAME)
        pages.canvas.setFillGray(0)
        x += width + gap
    pages.y -= 3 * mm


def _facts(pages: Pages, manifest: Manifest) -> None:
    facts = [*manifest.facts, ("Files", _files_in_words(manifest.files))]
    for name, value in facts:
        if not value:
            continue
        lines = wrap(value, width=_WIDTH - 32 * mm, style=_TEXT) or [""]
        pages.need(_LEADING * len(lines))
        for number, line in enumerate(lines):
            pages.y -= _LEADING
            if number == 0:
                pages.canvas.setFillGray(_GREY)
                pages.pen.draw(name, at=(LEFT, pages.y), style=_TEXT)
                pages.canvas.setFillGray(0)
            pages.pen.draw(line, at=(LEFT + 32 * mm, pages.y), style=_TEXT)
    pages.y -= 2 * mm


def _files_in_words(files: tuple[str, ...]) -> str:
    return files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}" if files else ""


def _notes(pages: Pages, notes: Sequence[str]) -> None:
    for note in notes:
        for line in wrap(f"Note: {note}", width=_WIDTH, style=_STRONG):
            pages.need(_LEADING)
            pages.y -= _LEADING
            pages.pen.draw(line, at=(LEFT, pages.y), style=_STRONG)


def _band(pages: Pages, text: str, *, colour: tuple[float, float, float]) -> None:
    lines = wrap(text, width=_WIDTH - 6 * mm, style=_HEADING)[:_MOST_BAND_LINES]
    height = 2 * mm + 5 * mm * len(lines)
    pages.need(height + 3 * _LINE_HEIGHT)
    top = pages.y - 1 * mm
    pages.y = top - height
    pages.canvas.setFillColorRGB(*colour)
    pages.canvas.rect(LEFT, pages.y, _WIDTH, height, stroke=0, fill=1)
    pages.canvas.setFillGray(1)
    for number, line in enumerate(lines):
        pages.pen.draw(line, at=(LEFT + 3 * mm, top - 4.8 * mm - number * 5 * mm), style=_HEADING)
    pages.canvas.setFillGray(0)
    pages.y -= 1 * mm


def _heading(pages: Pages, text: str) -> None:
    pages.need(12 * mm + 2 * _LINE_HEIGHT)
    pages.y -= 9 * mm
    pages.pen.draw(text, at=(LEFT, pages.y), style=_HEADING, fit=_WIDTH)
    pages.y -= 1.5 * mm


def _missing_table(pages: Pages, missing: Sequence[MissingLabel]) -> None:
    pages.y -= 2 * mm
    verb = "has" if len(missing) == 1 else "have"
    _band(pages, f"MISSING: {counted(len(missing), 'order')} {verb} no label in this bundle", colour=_ALARM)
    table = Table(pages, _MISSING_COLUMNS, _MISSING_LOOK)
    for lost in missing:
        place = " ".join(filter(None, (lost.file, f"row {rows_in_words(lost.rows)}" if lost.rows else "")))
        cells = (lost.reference_number, lost.awb_number or "not known", lost.reason, lost.remedy, place)
        table.row(cells)


def _group_table(pages: Pages, groups: Sequence[GroupTotal]) -> None:
    _heading(pages, "Groups in walking order")
    table = Table(pages, _GROUP_COLUMNS, _LOOK)
    for total in groups:
        first, last = total.lines[0], total.lines[-1]
        cells = (
            total.group or "all",
            str(len(total.lines)),
            f"{first.sequence}-{last.sequence}" if first is not last else str(first.sequence),
            first.awb_number,
            last.awb_number,
            rupees(total.cash),
        )
        table.row(cells)


def _signatures(pages: Pages) -> None:
    height = 34 * mm
    pages.need(height)
    pages.y -= height
    width = (_WIDTH - 12 * mm) / 3
    for number, role in enumerate(("Printed by", "Picked and checked by", "Handed over to")):
        x = LEFT + number * (width + 6 * mm)
        pages.canvas.setLineWidth(0.6)
        pages.canvas.line(x, pages.y + 8 * mm, x + width, pages.y + 8 * mm)
        pages.pen.draw(role, at=(x, pages.y + 4 * mm), style=_STRONG)
        pages.canvas.setFillGray(_GREY)
        pages.pen.draw("name, signature, date and time", at=(x, pages.y + 0.5 * mm), style=_NAME)
        pages.canvas.setFillGray(0)


def _group_title(total: GroupTotal, manifest: Manifest) -> str:
    """What a group is, which labels of how many it has, and where they are printed."""
    first, last = total.lines[0], total.lines[-1]
    span = f"labels {first.sequence} to {last.sequence}" if first is not last else f"label {first.sequence}"
    words = f"{total.group or 'All'}: {span} of {len(manifest.lines)}, {rupees(total.cash)} to collect"
    parts = sorted({line.part for line in total.lines})
    if len(manifest.files) < 2:
        return words
    names = " and ".join(dict.fromkeys(manifest.files[part - 1] for part in (parts[0], parts[-1])))
    return f"{words}, in {names}"


def _label_tables(pages: Pages, manifest: Manifest) -> None:
    columns = _label_columns(manifest)
    for total in manifest.groups:
        _heading(pages, _group_title(total, manifest))
        table = Table(pages, columns, _LOOK)
        for number, line in enumerate(total.lines):
            cells = _label_cells(line)
            table.row([cells[column.title] for column in columns], shaded=number % 2 == 1)


def _label_columns(manifest: Manifest) -> tuple[TableColumn, ...]:
    """The columns of the label tables: which copy it is only where labels are printed again."""
    page = _PAGE if len(manifest.files) < 2 else _FILE_AND_PAGE
    reprints = any(line.copy > 1 for line in manifest.lines)
    return (
        TableColumn("No.", 10, right=True),
        TableColumn(page, 14, right=True),
        TableColumn("AWB", 30, whole=True),
        *([TableColumn("Copy", 16)] if reprints else []),
        TableColumn("Reference", 27 if reprints else 28, whole=True),
        TableColumn("Name", 22 if reprints else 28),
        TableColumn("PIN", 12),
        TableColumn("Items", 28 if reprints else 37, whole=True),
        TableColumn("Qty", 11, right=True),
        TableColumn("COD", 16, right=True),
    )


def _label_cells(line: ManifestLine) -> dict[str, str]:
    reference = f"{line.reference_number} ({line.package})" if line.package else line.reference_number
    return {
        "No.": str(line.sequence),
        _PAGE: str(line.page),
        _FILE_AND_PAGE: f"{line.part}/{line.page}",
        "AWB": line.awb_number,
        "Copy": f"REPRINT {line.copy}" if line.copy > 1 else "",
        "Reference": reference,
        "Name": line.name,
        "PIN": line.pincode,
        "Items": line.items,
        "Qty": line.quantity,
        "COD": rupees(line.cash).removeprefix("₹ ") if line.cash else "",
    }


def _printed_before(pages: Pages, orders: Sequence[PrintedBefore]) -> None:
    if not orders:
        return
    _heading(pages, f"Printed before and left out: {counted(len(orders), 'order')}")
    names = ", ".join(order.reference_number or order.awb_number for order in orders)
    for line in wrap(names, width=_WIDTH, style=_TEXT):
        pages.need(_LEADING)
        pages.y -= _LEADING
        pages.pen.draw(line, at=(LEFT, pages.y), style=_TEXT)
