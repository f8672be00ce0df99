"""Draw the pictures of docs/how-to/warehouse.md anew: .venv/bin/python docs/images/clerk_pictures.py

It plays the clerk's loop in a temporary folder, against the sandbox, and takes what LibreOffice shows of the answers.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from openpyxl import Workbook, load_workbook
from PIL import Image, ImageOps

from logistics_batch.demo.service import running_sandbox

HERE = Path(__file__).parent
HEADER = ["Order No", "Ship To", "Phone", "Addr 1", "PIN", "Payment", "SKU", "Qty"]
ORDERS = [
    ["ORD-1001", "Asha Rao", "9876543201", "1 MG Road, Pune", "411001", "Prepaid", "TEA-250", 2],
    ["ORD-1002", "Meena Shah", "98765", "2 MG Road, Pune", "411001", "Prepaid", "TEA-250", 1],
    ["ORD-1003", "Farah Khan", "9876543203", "3 MG Road, Pune", "411001", "Prepaid", "TEA-250", 4],
    ["ORD-1003", "Farah Khan", "9876543203", "9 FC Road, Pune", "411001", "Prepaid", "CUP-1", 1],
    ["ORD-1004", "John Pinto", "9876543204", "4 MG Road, Pune", "411001", "Prepaid", "CUP-1", 6],
]
CORRECT = {"98765": "9876543202", "9 FC Road, Pune": "3 MG Road, Pune"}
WIDTHS = {
    "Status": 11,
    "Reason": 40,
    "What to do": 38,
    "AWB / reference": 17,
    "Addr 1": 17,
    "PIN": 8,
    "Payment": 9,
    "SKU": 9,
    "Qty": 5,
}


def main() -> None:
    """Push, correct, push, push the first file again; a picture after each."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        key = Path("key")
        key.write_text("sandbox-key\n")
        key.chmod(0o600)
        _program("init", "workspace")
        with running_sandbox(Path("sandbox"), api_key_file=key.resolve(), sftp_root=Path("sftp").resolve()) as sandbox:
            given = {"BASE_URL": sandbox.url, "API_KEY": sandbox.api_key, "RATE": "none"}
            os.environ |= {f"LOGISTICS_BATCH_SERVICE__{name}": value for name, value in given.items()}
            book = Workbook()
            for row in [HEADER, *ORDERS]:
                book.active.append(row)
            book.save("orders.xlsx")
            _push("orders.xlsx")
            _take("result.xlsx", "clerk-1-result.png")
            _take("fix.xlsx", "clerk-2-fix.png")
            book = load_workbook("results/orders.fix.xlsx")
            for cell in [cell for row in book.active for cell in row]:
                cell.value = CORRECT.get(cell.value, cell.value)
            book.save("orders.fix.xlsx")
            _push("orders.fix.xlsx")
            _push("orders.xlsx")
            _take("result.xlsx", "clerk-3-again.png")


def _push(name: str) -> None:
    _program("--workspace", "workspace", "push", name, "--mapping", "orders_standard", "--results", "results")


def _program(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "logistics_batch", *arguments], check=False)
    assert done.returncode in (0, 3)


def _take(ending: str, picture: str) -> None:
    """The sheet on one page, without the column Run, cut to what is filled."""
    book = load_workbook(f"results/orders.{ending}")
    sheet = book.active
    for cell in sheet[1]:
        sheet.column_dimensions[cell.column_letter].width = WIDTHS.get(cell.value, 12)
        sheet.column_dimensions[cell.column_letter].hidden = cell.value == "Run"
    for row in range(2, sheet.max_row + 1):
        sheet.row_dimensions[row].height = 44 if "again" in picture else 30
    sheet.page_setup.orientation, sheet.print_options.gridLines = "landscape", True
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight, sheet.sheet_properties.pageSetUpPr.fitToPage = 1, 1, True
    book.save("page.xlsx")
    office = ["soffice", f"-env:UserInstallation={Path('office').resolve().as_uri()}", "--headless"]
    subprocess.run([*office, "--convert-to", "pdf", "page.xlsx"], check=True)
    subprocess.run(["pdftoppm", "-png", "-r", "130", "-singlefile", "page.pdf", "page"], check=True)
    page = Image.open("page.png").convert("RGB")
    filled = ImageOps.invert(page).getbbox()
    ImageOps.expand(page.crop(filled), 6, "white").quantize(32).save(HERE / picture, optimize=True)


if __name__ == "__main__":
    main()
