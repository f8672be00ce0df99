"""What is on its way to the warehouse: a hand-made sheet from Bhiwandi, and an export of purchase orders."""

import random
from datetime import date, datetime, timedelta
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet
from people_and_goods import GOODS, Goods

COLUMNS = {
    "Sr No": 6,
    "Invoice No.": 17,
    "Inv Dt": 11,
    "Party": 28,
    "Item Code": 13,
    "Item Desc": 30,
    "Batch": 11,
    "Exp": 11,
    "MRP": 9,
    "Rate": 9,
    "Qty (Pcs)": 9,
    "Box": 6,
    "Amount": 14,
    "Remarks": 20,
}
PARTIES = (
    "Suvarna Metal Works",
    "Neelkanth Home Textiles",
    "Godavari Handicrafts Co-op",
    "Padma Kitchenware LLP",
)
UNICOMMERCE = (
    "Vendor Code",
    "Facility Code",
    "Agreement Name",
    "Agreement Start Time As Dd/Mm/Yyyy Hh:Mm:Ss",
    "Agreement End Time As Dd/Mm/Yyyy Hh:Mm:Ss",
    "Product Code",
    "Quantity",
    "Unit Price",
    "Discount",
    "Logistic Charges",
    "Expiry Date As Dd/MM/Yyyy",
    "Delivery Date As Dd/MM/Yyyy",
    "Purchase Order Code",
    "Currency Code",
)
THIN = Side(style="thin", color="000000")
GRID = Border(left=THIN, right=THIN, top=THIN, bottom=THIN)
MONEY = "#,##0.00"


def handmade_asns(anchor: date, chance: random.Random) -> Workbook:
    """Eight invoices on forty lines, with titles above, merged cells, subtotals, a total and signatures below."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Inward"
    _titles(sheet, anchor)
    serial, total = 0, 0
    for number, lines in enumerate((5, 4, 6, 5, 3, 7, 4, 6)):
        serial, quantity = _invoice(sheet, number, anchor, chance.sample(GOODS, lines), serial)
        total += quantity
    _sum_row(sheet, "TOTAL", total, colour="FFE699")
    sheet.append([])
    sheet.append([])
    sheet.append(["Prepared by: S. Mhatre" if number == 0 else None for number in range(13)] + ["Checked by:"])
    for column, width in enumerate(COLUMNS.values(), 1):
        sheet.column_dimensions[sheet.cell(5, column).column_letter].width = width
    sheet.freeze_panes = "A6"
    return book


def _titles(sheet: Worksheet, anchor: date) -> None:
    titles = (
        ("Aravalli Fulfilment Services", Font(bold=True, size=16)),
        ("Inward / ASN - Bhiwandi WH", Font(bold=True, size=12)),
        (f"Date: {anchor:%d.%m.%y}    Vehicle: MH04 XX 0000    Dock: 3", Font(italic=True)),
    )
    for row, (text, font) in enumerate(titles, 1):
        sheet.cell(row, 1, text).font = font
        sheet.cell(row, 1).alignment = Alignment(horizontal="center")
        sheet.merge_cells(start_row=row, end_row=row, start_column=1, end_column=len(COLUMNS))
    for column, name in enumerate(COLUMNS, 1):
        head = sheet.cell(5, column, name)
        head.font, head.fill, head.border = Font(bold=True), PatternFill("solid", fgColor="C6E0B4"), GRID
        head.alignment = Alignment(horizontal="center", wrap_text=True)


def _invoice(sheet: Worksheet, number: int, anchor: date, goods: list[Goods], serial: int) -> tuple[int, int]:
    """One invoice with its subtotal; the last serial number and the quantity."""
    first, total = sheet.max_row + 1, 0
    dated = anchor - timedelta(days=1 + number % 3)
    for item in goods:
        serial += 1
        quantity = 12 * (1 + serial * 5 % 9)
        rate = round(item.price * 0.62)
        total += quantity
        spoilt = number == 3 and item is goods[1]
        cells: dict[str, Any] = {
            "Sr No": serial,
            "Invoice No.": f"INV/26-27/{4471 + number * 3:04d}" if item is goods[0] else None,
            "Inv Dt": f"{dated:%d.%m.%y}" if item is goods[0] else None,
            "Party": PARTIES[number % len(PARTIES)] if item is goods[0] else None,
            "Item Code": item.sku,
            "Item Desc": item.name,
            "Batch": f"B{2600 + serial}",
            "Exp": f"{anchor + timedelta(days=540 + 11 * serial):%d.%m.%y}" if item.sku.startswith("AGB") else None,
            "MRP": item.mrp,
            "Rate": rate,
            "Qty (Pcs)": "5 ctn" if spoilt else quantity,
            "Box": max(1, quantity // 24),
            "Amount": rate * quantity,
            "Remarks": "cartons not opened" if spoilt else None,
        }
        sheet.append([cells[name] for name in COLUMNS])
        for cell in sheet[sheet.max_row]:
            cell.border = GRID
            cell.number_format = MONEY if cell.column in (9, 10, 13) else "General"
    last = sheet.max_row
    for column in (2, 3, 4):
        sheet.merge_cells(start_row=first, end_row=last, start_column=column, end_column=column)
        sheet.cell(first, column).alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
    _sum_row(sheet, "Sub Total", total, colour="F2F2F2")
    return serial, total


def _sum_row(sheet: Worksheet, word: str, quantity: int, *, colour: str) -> None:
    sheet.append([{"Invoice No.": word, "Qty (Pcs)": quantity}.get(name) for name in COLUMNS])
    for cell in sheet[sheet.max_row]:
        cell.font, cell.border, cell.fill = Font(bold=True), GRID, PatternFill("solid", fgColor=colour)


def unicommerce_asns(anchor: date, chance: random.Random) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Five purchase orders as a panel exports them: the order's cells stand on every line."""
    rows = []
    for number in range(5):
        begun = datetime.combine(anchor, datetime.min.time()) - timedelta(days=30 + number)
        due = anchor - timedelta(days=2 + number % 2)
        for item in chance.sample(GOODS, (3, 2, 4, 3, 2)[number]):
            rows.append(
                {
                    "Vendor Code": f"VEN{210 + number % 3}",
                    "Facility Code": "BHIWANDI-01",
                    "Agreement Name": "Default",
                    "Agreement Start Time As Dd/Mm/Yyyy Hh:Mm:Ss": f"{begun:%d/%m/%Y %H:%M:%S}",
                    "Agreement End Time As Dd/Mm/Yyyy Hh:Mm:Ss": f"{begun + timedelta(days=365):%d/%m/%Y %H:%M:%S}",
                    "Product Code": item.sku,
                    "Quantity": str(20 * chance.randint(1, 9)),
                    "Unit Price": f"{item.price * 0.6:.2f}",
                    "Discount": "0",
                    "Logistic Charges": "0",
                    "Delivery Date As Dd/MM/Yyyy": f"{due:%d/%m/%Y}",
                    "Purchase Order Code": f"PO-BHW-{7701 + number}",
                    "Currency Code": "INR",
                }
            )
    return UNICOMMERCE, rows
