"""The sound files that are damaged: each has something that makes its readers take another path."""

import io
import random
import zipfile
from pathlib import Path

from fuzz.mutations import repacked
from hostile.workbook_parts import row_xml, workbook_parts
from intake.binary_workbooks import ods_parts, write_ods, write_parts
from intake.quirky_workbooks import write_quirky_ods, write_xlsx

HEADER = ["Order No", "Name", "Phone", "Address", "SKU", "Qty"]
MAPPINGS = Path(__file__).parents[2] / "mappings"
_MAPPING = """
operation: order.create
key: [Order No]
sheet: {name: "Orders*", hidden_rows: skip, fill_down: [Order No, Name], max_embedded_newlines: 3}
columns: {Order No: [Order Number, Ref]}
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Name, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {join: [Address, Area], with: ", "}
  is_cod: {from: Payment, read: {lookup: {COD: "true", Prepaid: "false"}}}
  cash_on_delivery: {sum: Price, times: Qty, when: {Payment: COD}}
  expected_delivery_time: {from: Due, read: {date: "%d/%m/%Y", at: "18:00"}}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer, required: true}
  weight: {from: Weight (g), read: {unit: g -> kg}}
keep:
  bin: {from: Bin}
ignore: [Remarks]
"""


def orders(chance: random.Random, count: int) -> list[list[str]]:
    """A header and some rows of orders."""
    rows = [HEADER]
    for number in range(count):
        phone = f"9{chance.randrange(10**9):09d}"
        rows.append([f"A-{number // 2}", "Asha Rao", phone, f"{number} MG Road", "tea", str(chance.randint(1, 9))])
    return rows


def csv_seeds(chance: random.Random) -> list[bytes]:
    """Text in several encodings, with several delimiters, quoted and not."""
    rows = orders(chance, 12)
    plain = "".join(",".join(row) + "\r\n" for row in rows)
    quoted = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    broken = quoted.replace("5 MG Road", "5 MG\nRoad, East")
    hindi = plain.replace("Asha", "आशा")
    return [
        plain.encode(),
        quoted.encode(),
        broken.encode(),
        f"sep=;\n{plain.replace(',', ';')}".encode(),
        plain.replace(",", "\t").encode("utf-16"),
        hindi.encode("utf-8-sig"),
        plain.replace("Rao", "Räo").encode("cp1252"),
        ("Acme Warehousing\n\n" + plain + "TOTAL,,,,,60\n").encode(),
    ]


def xlsx_seeds(chance: random.Random, folder: Path) -> list[bytes]:
    """As openpyxl and as other programs write them, with orders and with everything that a cell can be."""
    rows = orders(chance, 12)
    text = write_parts(folder / "a", workbook_parts("".join(row_xml(at, row) for at, row in enumerate(rows, start=1))))
    quirky, of_1904 = write_xlsx(folder / "b"), write_xlsx(folder / "c", is_1904=True)
    return [undated(each.read_bytes()) for each in (text, quirky, of_1904)]


def ods_seeds(chance: random.Random, folder: Path) -> list[bytes]:
    """The same as .ods."""
    rows: list[list[str | float]] = [list(row) for row in orders(chance, 12)]
    compact = ods_parts(rows)
    compact["content.xml"] = compact["content.xml"].replace(b"<table:table-row>", b"<table:table-row   >", 3)
    plain, quirky = write_ods(folder / "a", rows), write_quirky_ods(folder / "c")
    return [undated(each.read_bytes()) for each in (plain, write_parts(folder / "b", compact), quirky)]


def undated(content: bytes) -> bytes:
    """An archive without the times at which it was written: the same bytes each time."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if not name.startswith("docProps/")}
    return repacked(parts)


def yaml_seeds() -> list[bytes]:
    """The shipped mappings, and one that uses most of the language in little room."""
    return [_MAPPING.encode(), *(path.read_bytes() for path in sorted(MAPPINGS.rglob("*.yaml")))]
