"""A godown's register as its clerk keeps it: one workbook, three sheets, and the despatch sheet saved as CSV.

Written down as a clerk would, from the habits of clerks, not from what any program can read.
"""

import csv
from datetime import date
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

SLIP = ["Sl.\nNo", "Bill No.", "Consignee  Name", "Address", "PIN\nCODE", "Ph. No"]
GOODS = ["Item-1", "Nos-1", "Item-2", "Nos-2", "Item-3", "Nos-3"]
MONEY = ["Mode", "Amt. (Rs.)", "Wt. (gms)", "Del. on", "Van", "Remarks"]
HEADER = [*SLIP, *GOODS, *MONEY]

CONSIGNEES = {
    "faisal": ("Faisal Kutty", "Puthen Veedu,\nBoat Jetty Road, Kochi", 682005, 9495038812),
    "arul": ("Arul Prakasam", "Block D, Flat 6, Marina Nest,  Chennai", "600 004", "+91-89390 02716"),
    "selvi": ("Thamarai Selvi", "New 17 (Old 9), Canal Bank Road, Chennai", "6,00,028", "9003311250 / 8939002716"),
    "ayesha": ("Ayesha Fernandes", "2nd Floor, Seagull Chambers, Mangaluru", 575001, "094480-12876"),
    "kavya": ("Kavya Reddy", "H.No. 8-3-229/B, Pearl Colony, Hyderabad", "PIN-500033", 9052211378),
    "sunita": ("सुनीता यादव", "मकान नं. 12, नीम गली, Bengaluru", 560027, 7019234561),
    "hegde": ("Prakash Hegde", "Survey 41/3, Arecanut Estate, Shivamogga", 577201, 9632107754),
}


def _slip(bill: Any, who: str, goods: list[Any], money: list[Any]) -> list[Any]:
    return [None, bill, *CONSIGNEES[who], *goods, *[None] * (6 - len(goods)), *money, *[None] * (6 - len(money))]


def despatch_rows() -> list[list[Any]]:
    """The despatch register below its heading."""
    page_1 = [
        _slip(231, "faisal", ["KTL-15-SS", 1, "MUG-2-CR", 2], ["C.O.D", "1,697/-", 2430, "05.11.26", "Van 1"]),
        _slip(232, "arul", ["AGB-100", 12], ["Paid", "-", "1,920", "06.11.26", "Van 2", "gate no. 2"]),
        _slip(
            233,
            "selvi",
            ["TIF-3-SS", 2, "TIF-4-SS", 1, "SPB-7-WD", 1],
            ["COD", "₹ 3,096.00", 3800, "06.11.26", "Van 2"],
        ),
        _slip(234, "ayesha", ["PCK-5L-AL", 1], ["To pay", 1549, 2300, "05.11.26"]),
        _slip(235, "kavya", ["DYA-12-TC", "1 doz"], ["Paid", None, 540, "05.11.26"]),
        _slip(236, "hegde", ["CSH-5-JT", 2, "TWL-4-CT"], ["Paid", None, 2340, "07.11.26"]),
        _slip(237, "kavya", ["LMP-BR-M", 1], ["COD", None, 1350, "07.11.26"]),
    ]
    page_2 = [
        _slip(238, "sunita", ["BTL-1L-CU", 3], ["UPI", "NIL", 930, "06.11.26", "Van 1"]),
        _slip(239, "arul", ["RNG-KIT-6", 5], ["Paid", None, 3600, "06.11.26"]),  # he hides what is called off
        _slip(240, "hegde", ["YGM-6-GR", 1], ["COD", "=799+0", 980, "08.11.26"]),
        _slip(241, "ayesha", ["BED-QN-IN", 1], ["COD", "1099", "1.25 kg", "31.11.26"]),
        _slip(242, "faisal", ["TAW-28-NS", 1], ["Paid", None, 960, "08.11.26", "Van 1"]),
        _slip(242, "selvi", ["TAW-28-NS", 1], ["Paid", None, 960, "08.11.26", "Van 1"]),  # a number taken twice
    ]
    page_2[2][5] = "9.63E+09"
    carried = [[None, word, *[None] * 5, 24] for word in ("C/F", "B/F")]
    foot = [[], [None, "Total", *[None] * 5, 38], ["E. & O. E."], ["Prepared by: Ramesan", *[None] * 12, "Checked by"]]
    return [*page_1, carried[0], HEADER, carried[1], *page_2, *foot]


def _despatch(sheet: Worksheet) -> None:
    sheet.append(["SREE DURGA TRADERS, MATTANCHERRY"])
    sheet.append(["DESPATCH REGISTER", *[None] * 14, date(2026, 11, 3)])
    sheet.append([])
    sheet.append([None, None, "CONSIGNEE", *[None] * 3, "GOODS", *[None] * 5, "RUPEES"])
    sheet.append(HEADER)
    sheet.append([None] * 4 + ["6 fig.", "10 fig."] + ["code", "nos"] * 3 + ["COD/Paid", "Rs.", "gms", "dd.mm.yy"])
    for cells in ("A1:R1", "C4:F4", "G4:L4", "M4:N4"):
        sheet.merge_cells(cells)
    serial = 0
    for row in despatch_rows():
        is_slip = len(row) > 2 and isinstance(row[1], int)
        serial += is_slip
        sheet.append([serial if is_slip else row[0] if row else None, *row[1:]])
        if is_slip:
            sheet.cell(sheet.max_row, 2).number_format = "00000"
        if is_slip and row[1] == 239:
            sheet.row_dimensions[sheet.max_row].hidden = True


def _inward(sheet: Worksheet) -> None:
    sheet.append(["INWARD INTIMATION", None, None, "week of 2.11.26"])
    sheet.append(
        ["Exp. Date", "Recd. from M/s.", "Bill\xa0No.", "Particulars", "Code", "Pkgs", "Qty.", "Rate", "MRP", "Value"]
    )
    suvarna, coir = "Suvarna Metal Works", "Malabar Coir Works (Regd.)"
    lines: list[list[Any]] = [
        [date(2026, 11, 5), suvarna, "SMW/0118", "Kettle 1.5 ltr", "ktl-15-ss", 2, 24, 557, 1299, 13368],
        [None, None, None, "Kettle 1.8 ltr", "KTL-18-GL ", 1, 12, "Rs.743.50", 1699, 8922],
        [None, None, None, "Tiffin 3 tier", "TIF-3-SS", 1, 24, 402, 899, 9648],
        [date(2026, 11, 6), coir, "MCW-77", "Cushion cover set", "CSH-5-JT", 4, 60, 371, 899, 22260],
        [None, None, None, "Door mat", "#N/A", 2, 20, 150, 299, 3000],
        [date(2026, 11, 6), coir, "MCW-78", "Cushion cover set", "CSH-5-JT", 4, 40, 371, 899, 18840],
        [date(2062, 11, 6), suvarna, "SMW/0119", "Tiffin 4 tier", "TIF-4-SS", 1, 18, 495, 1099, 8910],
        [None, None, "TOTAL", None, None, 15, 198],
        ["Sd/- Ramesan"],
    ]
    for line in lines:
        sheet.append(line)
    for column in "ABC":
        sheet.merge_cells(f"{column}3:{column}5")
        sheet.merge_cells(f"{column}6:{column}7")
    for row in range(3, 10):
        sheet.cell(row, 1).number_format = "d-mmm"


def _called_off(sheet: Worksheet) -> None:
    sheet.append(["Called off / RTO"])
    sheet.append(["Sl", "Bill No", "Name", "Why", "OK by"])
    for row in (
        [1, "00228", "Arul Prakasam", "double bill", "R"],
        [2, 230, "Kavya Reddy", "does not pick phone", "R"],
        [3, "00231 / 00232", "Faisal Kutty", "wrong rate", "R"],
        [4, None, "Hegde", "will tell", None],
        [5, "00229", "Ayesha Fernandes", "party wants next week", "not yet"],
    ):
        sheet.append(row)
    sheet["B4"].number_format = "00000"


def write_workbook(path: Path) -> None:
    """The register of 3 November."""
    book = Workbook()
    book.remove(book.worksheets[0])
    _called_off(book.create_sheet("CALLED OFF"))
    _inward(book.create_sheet("INWARD Nov"))
    _despatch(book.create_sheet("DESPATCH 3-11"))
    old = book.create_sheet("DESPATCH 2-11")
    _despatch(old)
    old.sheet_state = "hidden"
    book.save(path)


def write_csv(path: Path) -> None:
    """The despatch sheet as his program saves it: as shown, cp1252, with the phones that did not fit their column."""

    def shown(row: list[Any], number: int, cell: Any) -> str:
        if number == 1 and isinstance(cell, int):
            return f"{cell:05d}"
        if number == 5 and isinstance(cell, int) and row[1] in (231, 238):
            return f"{cell:.2E}"
        if isinstance(cell, str) and cell.startswith("="):
            return "799"
        return "" if cell is None else str(cell).replace("₹", "Rs.").replace("सुनीता यादव", "Sunita Yadav")

    head: list[list[Any]] = [["SREE DURGA TRADERS, MATTANCHERRY"], ["DESPATCH REGISTER"], [], HEADER]
    with path.open("w", encoding="cp1252", errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        for row in [*head, *despatch_rows()]:
            cells = [shown(row, number, cell) for number, cell in enumerate(row)]
            writer.writerow([*cells, *[""] * (len(HEADER) - len(cells))])
