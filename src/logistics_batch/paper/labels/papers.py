"""What is printed beside the labels: the manifest that people sign, the pick list, and the separator slips.

The manifest has what is missing first, then subtotals and signatures, then every label. The pick list says what to
take, group by group, before the labels go on, large enough to read while walking. A slip is a page of label stock
before each group, to be seen in a stack and never scanned: only label pages carry a barcode. The same bundle gives the
same bytes.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from logistics_batch.messages.words import rupees
from logistics_batch.model.counting import counted
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.paper.fonts import Style, Typesetter, wrap
from logistics_batch.paper.labels.layout import STOCK_HEIGHT, STOCK_WIDTH
from logistics_batch.paper.labels.manifest import GroupTotal, Manifest, ManifestLine, rows_in_words
from logistics_batch.paper.labels.pages import (
    GREY,
    LEFT,
    LINE_HEIGHT,
    WHOLE,
    WIDTH,
    Pages,
    Table,
    TableColumn,
    TableLook,
)

_ALARM = (0.72, 0.07, 0.07)
_HEADING, _FIGURE = Style(11, bold=True), Style(17, bold=True)
_NAME, _TEXT, _STRONG = Style(7.5), Style(8.5), Style(8.5, bold=True)
_HEAD = Style(7, bold=True)
_LEADING, _INDENT = 4.1 * mm, 32 * mm
_LOOK = TableLook(_NAME, _HEAD, LINE_HEIGHT)
_MISSING_LOOK = TableLook(_NAME, _HEAD, 3.5 * mm, below=2.2 * mm)
_TITLE_IN_BYTES = re.compile(rb"/Title \(Label manifest ([0-9A-Za-z-]+)\)")
_MISSING_COLUMNS = (
    TableColumn("Reference", 28, most=WHOLE),
    TableColumn("AWB", 24, most=WHOLE),
    TableColumn("Why", 62, most=WHOLE),
    TableColumn("What to do", 42, most=WHOLE),
    TableColumn("File, row", 30, most=WHOLE),
)
_GROUP_COLUMNS = (
    TableColumn("Group", 58),
    TableColumn("Labels", 14, right=True),
    TableColumn("No.", 24, right=True),
    TableColumn("First AWB", 31, most=WHOLE),
    TableColumn("Last AWB", 31, most=WHOLE),
    TableColumn("COD", 28, right=True),
)


def manifest_pdf(manifest: Manifest) -> bytes:
    """The manifest as a PDF of A4 pages."""
    pages = Pages(f"Label manifest {manifest.bundle_id}")
    pages.write_head("Label manifest", manifest.bundle_id)
    pages.y -= 5 * mm
    if manifest.reprint_reason:
        pages.write_band(f"REPRINT: {manifest.reprint_reason}", colour=(0, 0, 0))
    _figures(pages, manifest)
    _facts(pages, manifest)
    for note in manifest.notes:
        pages.write_lines(f"Note: {note}", _STRONG, _LEADING)
    if manifest.missing:
        _missing(pages, manifest.missing)
    if manifest.lines:
        _groups(pages, manifest.groups)
        _signatures(pages)
        pages.turn()
        _labels(pages, manifest)
    else:
        pages.y -= 8 * mm
        pages.write("There is nothing to print.", _HEADING)
    if manifest.printed_before:
        _heading(pages, f"Printed before and left out: {counted(len(manifest.printed_before), 'order')}")
        names = ", ".join(order.reference_number or order.awb_number for order in manifest.printed_before)
        pages.write_lines(names, _TEXT, _LEADING)
    return pages.finished()


def bundle_of(content: bytes) -> str:
    """The id of the bundle whose manifest this is, "" if it is no manifest of ours."""
    found = _TITLE_IN_BYTES.search(content)
    return found[1].decode("ascii") if found else ""


def _figures(pages: Pages, manifest: Manifest) -> None:
    collected = sum(line.cash > 0 for line in manifest.lines)
    boxes = (
        (str(len(manifest.lines)), "labels", 34 * mm),
        (str(manifest.orders), "orders", 34 * mm),
        (str(len(manifest.missing)), "missing", 34 * mm),
        (rupees(manifest.cash), f"to collect, {counted(collected, 'COD order')}", 78 * mm),
    )
    x = LEFT
    pages.y -= 17 * mm
    for figure, name, width in boxes:
        alarm = name == "missing" and bool(manifest.missing)
        pages.canvas.setFillColorRGB(*_ALARM if alarm else (0.93,) * 3)
        pages.canvas.roundRect(x, pages.y, width, 17 * mm, 2 * mm, stroke=0, fill=1)
        pages.write(figure, _FIGURE, x=x + 4 * mm, y=pages.y + 8 * mm, fit=width - 8 * mm, grey=alarm)
        pages.write(name, _NAME, x=x + 4 * mm, y=pages.y + 3.2 * mm, grey=alarm)
        x += width + 2 * mm
    pages.y -= 3 * mm


def _facts(pages: Pages, manifest: Manifest) -> None:
    files = manifest.files
    named = files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}" if files else ""
    for name, value in [*manifest.facts, ("Files", named)]:
        if value:
            pages.need(_LEADING)
            pages.write(name, _TEXT, y=pages.y - _LEADING, grey=GREY)
            pages.write_lines(value, _TEXT, _LEADING, indent=_INDENT)
    pages.y -= 2 * mm


def _heading(pages: Pages, text: str) -> None:
    pages.need(12 * mm + 2 * LINE_HEIGHT)
    pages.y -= 9 * mm
    pages.write(text, _HEADING, fit=WIDTH)
    pages.y -= 1.5 * mm


def _missing(pages: Pages, missing: Sequence[MissingLabel]) -> None:
    pages.y -= 2 * mm
    verb = "has" if len(missing) == 1 else "have"
    pages.write_band(f"MISSING: {counted(len(missing), 'order')} {verb} no label in this bundle", colour=_ALARM)
    table = Table(pages, _MISSING_COLUMNS, _MISSING_LOOK)
    for lost in missing:
        place = " ".join(filter(None, (lost.file, f"row {rows_in_words(lost.rows)}" if lost.rows else "")))
        table.row((lost.reference_number, lost.awb_number or "not known", lost.reason, lost.remedy, place))


def _groups(pages: Pages, groups: Sequence[GroupTotal]) -> None:
    _heading(pages, "Groups in walking order")
    table = Table(pages, _GROUP_COLUMNS, _LOOK)
    for total in groups:
        first, last = total.lines[0], total.lines[-1]
        span = f"{first.sequence}-{last.sequence}" if first is not last else str(first.sequence)
        ends = first.awb_number, last.awb_number
        table.row((total.group or "all", str(len(total.lines)), span, *ends, rupees(total.cash)))


def _signatures(pages: Pages) -> None:
    pages.need(34 * mm)
    pages.y -= 34 * mm
    width = (WIDTH - 12 * mm) / 3
    for number, role in enumerate(("Printed by", "Picked and checked by", "Handed over to")):
        x = LEFT + number * (width + 6 * mm)
        pages.canvas.setLineWidth(0.6)
        pages.canvas.line(x, pages.y + 8 * mm, x + width, pages.y + 8 * mm)
        pages.write(role, _STRONG, x=x, y=pages.y + 4 * mm)
        pages.write("name, signature, date and time", _NAME, x=x, y=pages.y + 0.5 * mm, grey=GREY)


def _labels(pages: Pages, manifest: Manifest) -> None:
    """A table of the labels of each group."""
    columns = _label_columns(manifest)
    in_parts = len(manifest.files) > 1
    for total in manifest.groups:
        first, last = total.lines[0], total.lines[-1]
        span = f"labels {first.sequence} to {last.sequence}" if first is not last else f"label {first.sequence}"
        words = f"{total.group or 'All'}: {span} of {len(manifest.lines)}, {rupees(total.cash)} to collect"
        parts = [line.part for line in total.lines]
        names = dict.fromkeys(manifest.files[part - 1] for part in (min(parts), max(parts))) if in_parts else {}
        _heading(pages, f"{words}, in {' and '.join(names)}" if names else words)
        table = Table(pages, columns, _LOOK)
        for number, line in enumerate(total.lines):
            cells = _label_cells(line, in_parts=in_parts)
            table.row([cells[column.title] for column in columns], shaded=number % 2 == 1)


def _label_columns(manifest: Manifest) -> tuple[TableColumn, ...]:
    """The columns of the label tables: which copy it is only where labels are printed again."""
    reprints = any(line.copy > 1 for line in manifest.lines)
    return (
        TableColumn("No.", 10, right=True),
        TableColumn("File/page" if len(manifest.files) > 1 else "Page", 14, right=True),
        TableColumn("AWB", 30, most=WHOLE),
        *([TableColumn("Copy", 16)] if reprints else []),
        TableColumn("Reference", 27 if reprints else 28, most=WHOLE),
        TableColumn("Name", 22 if reprints else 28, most=WHOLE),
        TableColumn("PIN", 12),
        TableColumn("Items", 28 if reprints else 37, most=WHOLE),
        TableColumn("Qty", 11, right=True),
        TableColumn("COD", 16, right=True),
    )


def _label_cells(line: ManifestLine, *, in_parts: bool) -> dict[str, str]:
    return {
        "No.": str(line.sequence),
        "File/page" if in_parts else "Page": f"{line.part}/{line.page}" if in_parts else str(line.page),
        "AWB": line.awb_number,
        "Copy": f"REPRINT {line.copy}" if line.copy > 1 else "",
        "Reference": f"{line.reference_number} ({line.package})" if line.package else line.reference_number,
        "Name": line.name,
        "PIN": line.pincode,
        "Items": line.items,
        "Qty": line.quantity,
        "COD": rupees(line.cash).removeprefix("₹ ") if line.cash else "",
    }


# -- the pick list ----------------------------------------------------------------------------------------------------

_PICK_LOOK = TableLook(Style(11), Style(8, bold=True), 5.2 * mm, below=2.4 * mm, gutter=5 * mm)
_PICK_COLUMNS = (
    TableColumn("", 8),  # a box to tick
    TableColumn("Bin", 30, bold=True, most=4),
    TableColumn("SKU", 70, most=4),
    TableColumn("Take", 20, right=True, bold=True),
    TableColumn("Orders", 20, right=True),
    TableColumn("Labels No.", 38, most=4),
)


def pick_list_pdf(manifest: Manifest) -> bytes:
    """The pick list of a bundle."""
    pages = Pages(f"Pick list {manifest.bundle_id}")
    pages.write_head("Pick list", manifest.bundle_id)
    pages.y -= 7 * mm
    pages.write(_picks_in_words(manifest), _PICK_LOOK.cell, fit=WIDTH)
    pages.y -= 3 * mm
    for group, picks in groupby(manifest.picks, key=lambda pick: pick.group):
        pages.need(30 * mm)
        pages.y -= 9 * mm
        pages.write(group or "All orders", Style(13, bold=True), fit=WIDTH)
        pages.y -= 1 * mm
        table = Table(pages, _PICK_COLUMNS, _PICK_LOOK)
        for pick in picks:
            counts = f"{pick.quantity:,f}", str(pick.orders), rows_in_words(pick.labels)
            base = table.row(("", pick.bin, pick.sku, *counts))
            pages.canvas.setLineWidth(0.7)
            pages.canvas.rect(LEFT, base - 0.6 * mm, 4 * mm, 4 * mm)
    return pages.finished()


def _picks_in_words(manifest: Manifest) -> str:
    pieces = sum(pick.quantity for pick in manifest.picks)
    skus = len({pick.sku for pick in manifest.picks})
    labels = len({number for pick in manifest.picks for number in pick.labels})
    words = f"{counted(labels, 'label')}, {counted(skus, 'SKU')}, pieces: {pieces:,f}"
    lost = len(manifest.missing)
    words += f"; {counted(lost, 'order')} without a label not among them" if lost else ""
    return f"{words}; nothing for labels that are printed again" if labels < len(manifest.lines) else words


# -- separator slips --------------------------------------------------------------------------------------------------

_MARGIN, _BAR = 20.0, 46.0
_SLIP_TITLE, _SLIP_NAME, _SLIP_VALUE = Style(26, bold=True), Style(10), Style(17, bold=True)


@dataclass(frozen=True, slots=True)
class Slip:
    """What a separator says; first_number: of its first label, in walking order."""

    title: str
    labels: int
    first_number: int
    orders: int
    first_awb: str
    last_awb: str
    cash: Decimal


def slips_pdf(slips: Sequence[Slip], *, total: int) -> bytes:
    """One 4x6 page for each slip of a bundle with `total` labels."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(STOCK_WIDTH, STOCK_HEIGHT), invariant=True, pageCompression=1)
    pen = Typesetter(canvas)
    width = STOCK_WIDTH - 2 * _MARGIN
    for slip in slips:
        for bottom in (0.0, STOCK_HEIGHT - _BAR):
            canvas.rect(0, bottom, STOCK_WIDTH, _BAR, stroke=0, fill=1)
        top = STOCK_HEIGHT - _BAR - 46
        for line in wrap(slip.title, width=width, style=_SLIP_TITLE)[:3]:
            pen.draw(line, at=(_MARGIN, top), style=_SLIP_TITLE, fit=width)
            top -= 34
        for name, value in _slip_facts(slip, total):
            pen.draw(name, at=(_MARGIN, top - 8), style=_SLIP_NAME)
            pen.draw(value, at=(_MARGIN, top - 29), style=_SLIP_VALUE, fit=width)
            top -= 45
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _slip_facts(slip: Slip, total: int) -> list[tuple[str, str]]:
    last = slip.first_number + slip.labels - 1
    span = f"{slip.first_number} to {last}" if last > slip.first_number else str(last)
    return [
        ("In this group", f"{counted(slip.labels, 'label')}, {counted(slip.orders, 'order')}"),
        ("Labels", f"{span} of {total}"),
        ("First AWB", slip.first_awb),
        ("Last AWB", slip.last_awb),
        ("Cash to collect", rupees(slip.cash)),
    ]
