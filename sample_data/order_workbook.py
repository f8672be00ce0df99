"""The day's orders of a warehouse in Bengaluru, as its office keeps them in Excel."""

import random
from datetime import date, datetime, timedelta
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet
from people_and_goods import GOODS, PEOPLE, Goods, Person

# Heading, width of the column.
COLUMNS = {
    "Order No": 12,
    "Order Date": 11,
    "Ship To": 26,
    "Phone": 16,
    "Addr 1": 30,
    "Addr 2": 26,
    "City": 13,
    "State": 14,
    "PIN": 9,
    "Payment": 10,
    "Amount": 14,
    "SKU": 12,
    "Qty": 6,
    "Price": 10,
    "Weight (g)": 10,
    "Deliver by": 12,
    "Prio": 5,
    "Bin": 8,
    "Route": 8,
    "PO": 13,
    "Remarks": 24,
}
ROUTES = {"Bengaluru": "BLR-", "Mysuru": "KA-1", "Mangaluru": "KA-2", "Shivamogga": "KA-2"}
TWO_ITEMS = {1, 4, 5, 9, 12, 15, 18, 21, 24, 27}
THREE_ITEMS = {7, 20, 26}
LARGE = 16  # the bulk order, whose amount needs lakh grouping
LAKH = '[>=10000000]"₹"##\\,##\\,##\\,##0.00;[>=100000]"₹"##\\,##\\,##0.00;"₹"##,##0.00'
HEAD = PatternFill("solid", fgColor="1F4E79")
BAND = PatternFill("solid", fgColor="EAF1F8")
THIN = Side(style="thin", color="BFBFBF")


def standard_orders(anchor: date, chance: random.Random) -> Workbook:
    """Thirty orders on some forty-five rows, with seven mistakes that people make, a TOTAL row and a sheet of notes."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Orders"
    sheet.append(list(COLUMNS))
    rows = [row for number in range(30) for row in _order(number, anchor, chance)]
    _spoil(rows)
    for row in rows:
        sheet.append([row[name] for name in COLUMNS])
    whole = sum(row["Qty"] for row in rows if isinstance(row["Qty"], int))
    sheet.append([{"Order No": "TOTAL", "Qty": whole}.get(name) for name in COLUMNS])
    _dress(sheet)
    _notes(book)
    return book


def _order(number: int, anchor: date, chance: random.Random) -> list[dict[str, Any]]:
    person = PEOPLE[number]
    items = chance.sample(GOODS, 3 if number in THREE_ITEMS else 2 if number in TWO_ITEMS else 1)
    quantities = [150 if number == LARGE else chance.choice((1, 1, 1, 2, 2, 3)) for _ in items]
    cod = number % 5 in (0, 2, 3)
    worth = sum(item.price * quantity for item, quantity in zip(items, quantities, strict=True))
    weight = sum(item.weight * quantity for item, quantity in zip(items, quantities, strict=True))
    amount: float | str | None = worth if cod else None
    if cod and number % 4 == 2:
        amount = f"₹ {worth:,}/-"
    if number == LARGE:
        weight, cod, amount = 96000, True, 134850
    common = {
        "Order No": f"{104511 + number:07d}",
        "Order Date": datetime.combine(anchor, datetime.min.time()),
        "Payment": chance.choice(("COD", "COD", "C.O.D.")) if cod else chance.choice(("Prepaid", "Prepaid", "PPD")),
        "Amount": amount,
        "Weight (g)": weight,
        "Deliver by": datetime.combine(anchor + timedelta(days=2 + number % 4), datetime.min.time()),
        "Prio": 1 if number % 9 == 4 else 2,
        "Route": _route(person, number),
        "PO": f"PO/26-27/{3310 + number // 4}",
        "Remarks": "Call before delivery" if number == 3 else None,
    }
    return [
        {**common, **_address(person, number), **_item(item, quantity)}
        for item, quantity in zip(items, quantities, strict=True)
    ]


def _route(person: Person, number: int) -> str:
    route = ROUTES.get(person.city, "LINEHAUL")
    return f"{route}{1 + number % 3}" if route.endswith("-") else route


def _address(person: Person, number: int) -> dict[str, Any]:
    phone: int | str = int(person.phone)
    if number % 6 == 1:
        phone = f"+91 {person.phone[:5]} {person.phone[5:]}"
    return {
        "Ship To": person.name,
        "Phone": phone,
        "Addr 1": person.street,
        "Addr 2": person.area,
        "City": person.city,
        "State": person.state,
        "PIN": int(person.pin),
    }


def _item(item: Goods, quantity: int) -> dict[str, Any]:
    return {"SKU": item.sku, "Qty": quantity, "Price": item.price, "Bin": item.bin}


def _spoil(rows: list[dict[str, Any]]) -> None:
    """The mistakes: each in the first or last row of its order, so that sound siblings stand beside some."""

    def of(number: int) -> list[dict[str, Any]]:
        return [row for row in rows if row["Order No"] == f"{104511 + number:07d}"]

    for row in of(2):
        row["PIN"] = 56076  # a digit was lost
    of(4)[-1]["Qty"] = "two"
    for row in of(8):
        row["Phone"] = 944801287  # nine digits
    of(11)[0]["Qty"] = 0
    of(12)[-1]["SKU"] = "#N/A"  # a look-up that found nothing
    for row in of(23):
        row["Amount"] = None  # cash on delivery, but how much?
        row["Payment"] = "COD"
    of(18)[-1]["Addr 1"] = "Row House 11, Mango Grove"  # two rows of one order, two doors


def _dress(sheet: Worksheet) -> None:
    for column, (name, width) in enumerate(COLUMNS.items(), 1):
        head = sheet.cell(1, column)
        head.font, head.fill = Font(bold=True, color="FFFFFF", name="Calibri"), HEAD
        head.alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
        sheet.column_dimensions[head.column_letter].width = width
        for row in range(2, sheet.max_row + 1):
            cell = sheet.cell(row, column)
            cell.border = Border(bottom=THIN)
            if name in ("Order Date", "Deliver by"):
                cell.number_format = "dd-mmm-yy"
            elif name in ("Amount", "Price"):
                cell.number_format = LAKH
            elif name in ("PIN", "Phone"):
                cell.number_format = "0"
    previous, shaded = "", False
    for row in range(2, sheet.max_row):
        order = str(sheet.cell(row, 1).value)
        shaded = shaded if order == previous else not shaded
        previous = order
        for column in range(1, len(COLUMNS) + 1) if shaded else ():
            sheet.cell(row, column).fill = BAND
    _as_number(sheet, row=6)
    for cell in sheet[sheet.max_row]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="D9D9D9")
    sheet.row_dimensions[1].height = 30
    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = f"A1:{sheet.cell(1, len(COLUMNS)).column_letter}{sheet.max_row - 1}"


def _as_number(sheet: Worksheet, *, row: int) -> None:
    """An order number that somebody typed as a number: only its format still shows the zero in front."""
    cell = sheet.cell(row, 1)
    cell.value, cell.number_format = int(str(cell.value)), "0000000"


def _notes(book: Workbook) -> None:
    notes = book.create_sheet("Notes")
    lines = (
        "How this sheet is filled",
        "One row for each item; repeat the order's cells on every row of the order.",
        "Weight is that of the whole parcel in grams. Amount only for COD.",
        "Save by 21:00 and copy it to /inbound/orders. Answers come back in /outbound/results.",
        "Vendors on hold this week: none",
    )
    for line in lines:
        notes.append([line])
    notes["A1"].font = Font(bold=True, size=14, color="1F4E79")
    notes.column_dimensions["A"].width = 90
    notes.sheet_view.showGridLines = False
