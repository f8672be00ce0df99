"""Workbooks as warehouses send them, and reports over their rows."""

import io
import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Border, Font, PatternFill, Side
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet
from support.issues import issue, own, said

from logistics_batch import messages
from logistics_batch.intake.readers import read_file
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import FATES, Fate, FileReport
from logistics_batch.model.sheet import ReadOptions, Sheet

SHEET = "Orders"
HEADER_ROW = 4
HEADERS = ("Order No", "Customer", "Phone", "PIN", "SKU", "Qty", "Rate", "Amount")
STATUS = ("Status", "Reason", "What to do", "AWB / reference", "Run")
FIRST_ROW, LAST_ROW, TOTAL_ROW = 5, 10, 11
OWN_COLOUR = "FFFFF2CC"

TEXT_BOX = (
    '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor><xdr:from><xdr:col>{left}</xdr:col>'
    "<xdr:colOff>0</xdr:colOff><xdr:row>{top}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>{right}"
    "</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>{bottom}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to><xdr:sp>"
    '<xdr:nvSpPr><xdr:cNvPr id="2" name="Box"/><xdr:cNvSpPr txBox="1"/></xdr:nvSpPr><xdr:spPr><a:prstGeom prst="rect">'
    "<a:avLst/></a:prstGeom></xdr:spPr><xdr:txBody><a:bodyPr/><a:p><a:r><a:t>Cut-off 21:00</a:t></a:r></a:p>"
    "</xdr:txBody></xdr:sp><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>"
)


def order_workbook(change: Callable[[Worksheet], None] | None = None) -> bytes:
    """Title, header in row 4, six orders with formulas and their values, a total, formats, a chart, a comment."""
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = SHEET
    sheet["A1"] = "Bhiwandi — outbound"
    sheet["A1"].font = Font(size=16, bold=True)
    sheet.merge_cells("A1:H1")
    sheet["A2"] = "Shift B"
    side = Side(style="thin", color="FFB0B0B0")
    for column, header in enumerate(HEADERS, start=1):
        cell = sheet.cell(HEADER_ROW, column, header)
        cell.font, cell.border = Font(bold=True), Border(side, side, side, side)
    for row in range(FIRST_ROW, TOTAL_ROW):
        order = f"SO-{1000 + (row - FIRST_ROW) // 2}"
        values = (order, "अनीता शर्मा", f"+9198765432{row:02}", "056001", f"SKU-{row}", row, 99.5, f"=F{row}*G{row}")
        for column, value in enumerate(values, start=1):
            sheet.cell(row, column, value).border = Border(side, side, side, side)
        sheet.cell(row, 3).number_format = "@"
        sheet.cell(row, 8).number_format = "#,##0.00"
    sheet["D6"].fill = PatternFill("solid", fgColor=OWN_COLOUR)
    sheet.cell(TOTAL_ROW, 5, "TOTAL")
    sheet.cell(TOTAL_ROW, 6, f"=SUM(F{FIRST_ROW}:F{LAST_ROW})")
    sheet["B6"].comment = Comment("VIP customer", "Ravi")
    choice = DataValidation(type="list", formula1='"1,2,3"')
    choice.add("F5:F100")
    sheet.add_data_validation(choice)
    red = PatternFill("solid", bgColor="FFFF0000")
    sheet.conditional_formatting.add("F5:F100", CellIsRule(operator="greaterThan", formula=["100"], fill=red))
    other = workbook.create_sheet("Summary")
    other["A1"] = f"=SUM({SHEET}!F5:F10)"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=6, min_row=HEADER_ROW, max_row=LAST_ROW), titles_from_data=True)
    other.add_chart(chart, "C3")
    if change is not None:
        change(sheet)
    return with_shared_strings(with_values(saved(workbook)))


def saved(workbook: Workbook) -> bytes:
    """The workbook as bytes."""
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def parts_of(content: bytes) -> dict[str, bytes]:
    """The parts of a package, unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return {name: package.read(name) for name in package.namelist()}


def packed(parts: dict[str, bytes]) -> bytes:
    """A package of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, part in parts.items():
            package.writestr(name, part)
    return out.getvalue()


def edited(content: bytes, part: str, edit: Callable[[bytes], bytes]) -> bytes:
    """The package with one part edited."""
    parts = parts_of(content)
    parts[part] = edit(parts[part])
    return packed(parts)


def with_values(content: bytes) -> bytes:
    """Gives the formulas of the orders the values that Excel would have stored with them."""

    def calculate(xml: bytes) -> bytes:
        for row in range(FIRST_ROW, TOTAL_ROW):
            formula = f"F{row}*G{row}</f>".encode()
            xml = re.sub(re.escape(formula) + rb"<v\s*/?>(</v>)?", formula + b"<v>%.1f</v>" % (row * 99.5), xml)
        return xml

    return edited(content, "xl/worksheets/sheet1.xml", calculate)


def with_shared_strings(content: bytes) -> bytes:
    """The package with the first sheet's texts as shared strings, as Excel writes them; openpyxl writes them inline."""
    parts = parts_of(content)
    strings: dict[bytes, int] = {}

    def share(found: re.Match[bytes]) -> bytes:
        index = strings.setdefault(found[2], len(strings))
        return b'<c%s t="s"><v>%d</v></c>' % (found[1], index)

    name = "xl/worksheets/sheet1.xml"
    parts[name] = re.sub(rb'<c([^>]*?) t="inlineStr"><is>(.*?)</is></c>', share, parts[name], flags=re.DOTALL)
    items = b"".join(b"<si>%s</si>" % text for text in strings)
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts["xl/sharedStrings.xml"] = b'<sst xmlns="%s" count="%d">%s</sst>' % (main, len(strings), items)
    line = (
        b'<Relationship Id="rIdStrings" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        b'sharedStrings" Target="sharedStrings.xml"/></Relationships>'
    )
    rels = "xl/_rels/workbook.xml.rels"
    parts[rels] = parts[rels].replace(b"</Relationships>", line)
    kind = (
        b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        b'spreadsheetml.sharedStrings+xml"/></Types>'
    )
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", kind)
    return packed(parts)


Row = dict[str, object]


def row_result(row: int, fate: Fate, *, rule: str = "", reason: str = "", fix: str = "", **more: str) -> Row:
    """One row's fate, with its order as document; reason and fix are a test's own words."""
    order = f"SO-{1000 + (row - FIRST_ROW) // 2}" if FIRST_ROW <= row < TOTAL_ROW else ""
    words = {"reason": reason, "remedy": fix} if reason else {}
    more = {"code": own(rule) if words else rule, "values": messages.packed(words)} | more
    texts = dict.fromkeys(FATES, "") | {"reference_number": order} | more
    return texts | {
        "sheet": more.get("sheet", SHEET),
        "row": row,
        "document": more.get("document", order),
        "fate": fate.value,
    }


def fates_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """Rows as a report holds them."""
    return pl.DataFrame(list(rows), schema=FATES)


def bad_phone(row: int, column: str = "C") -> Issue:
    """An issue of a telephone number."""
    return issue(
        row,
        "customer_mobile|mobile",
        column="Phone",
        cell=f"{column}{row}",
        value="+91 98",
        reason="Four digits, ten are needed.",
        remedy="Write ten.",
    )


ORDER_ROWS = (
    row_result(1, Fate.SKIPPED, rule="title", reason="Above the header."),
    row_result(2, Fate.SKIPPED, rule="title", reason="Above the header."),
    row_result(3, Fate.SKIPPED, rule="blank", reason="The row is empty."),
    row_result(5, Fate.ACCEPTED, awb_number="SH-22T70ZX"),
    row_result(6, Fate.ACCEPTED, awb_number="SH-22T70ZX"),
    row_result(7, Fate.BLOCKED, rule="sibling", reason="The document is not sent: row 8 is invalid."),
    row_result(8, Fate.INVALID),
    row_result(9, Fate.REFUSED, reason="PIN 056001 is not served."),
    row_result(10, Fate.REFUSED, reason="PIN 056001 is not served."),
    row_result(11, Fate.SKIPPED, rule="total", reason="A total."),
)


def order_report(**more: object) -> FileReport:
    """SO-1000 accepted, SO-1001 with a bad telephone number in its second row, SO-1002 refused; the rest skipped."""
    values: dict[str, object] = {
        "file": "orders.xlsx",
        "sha256": "ab" * 32,
        "size": 1234,
        "run": "run-1",
        "mapping": "orders_standard",
        "mapping_digest": "cd" * 32,
        "sheet": SHEET,
        "header_row": HEADER_ROW,
        "rows_read": len(ORDER_ROWS),
        "rows": ORDER_ROWS,
        "issues": (bad_phone(8),),
    }
    values |= more
    if "reason" in values or "remedy" in values:
        values["held"] = said(str(values.pop("reason", "")), str(values.pop("remedy", "")))
    if not isinstance(values["rows"], pl.DataFrame):
        values["rows"] = fates_frame(values["rows"])  # type: ignore[arg-type]
    return FileReport(**values)  # type: ignore[arg-type]


def opened(content: bytes, *, values: bool = False, sheet: str = SHEET) -> Worksheet:
    """A sheet of the workbook as openpyxl sees it, with formulas or with their stored values."""
    return load_workbook(io.BytesIO(content), data_only=values)[sheet]


def read_again(content: bytes, tmp_path: Path, *, name: str = "again.xlsx") -> tuple[Sheet, ...]:
    """The sheets as our own intake reads them."""
    path = tmp_path / name
    path.write_bytes(content)
    return read_file(path, name=name, options=ReadOptions())


def read_sheet(content: bytes, sheet: str = SHEET) -> Sheet:
    """One sheet as our own intake reads it."""
    with TemporaryDirectory() as folder:
        return next(each for each in read_again(content, Path(folder)) if each.name == sheet)
