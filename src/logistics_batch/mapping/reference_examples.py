"""The worked examples of the mapping reference: a mapping, a sheet, and nothing of what comes of them.

What comes of them is worked out when the reference is written, by the interpreter itself.
"""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from logistics_batch.mapping.reference_rows import ROWS_AND_TOTALS

DAY: Final = date(2026, 11, 3)
"""The business date of the examples."""

_ORDER: Final = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
"""

_TEXT: Final = """\
### Rows, documents and names of columns
Rows with the same `key` are one document, also when others stand between them. A column may have several
names; case, spaces, punctuation, a leading `*` and a trailing `(…)` do not count. `%` and currencies count, and
so do brackets that say different things: a file with `Qty (Box)` for `Qty (Pcs)`, or `Weight (g)` where
kilograms are read, is held.
~~~ mapping
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: [Phone, "Mobile No"], read: mobile}
  delivery_address: {from: Address}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
~~~ sheet
ORDER-NO | *Mobile No. | Address | SKU | Qty (Pcs)
A1 | 9876543210 | 12 MG Road | tea | 2
A2 | 9876500000 | 3 Lake View | salt | 1
A1 | 98765-43210 | 12 MG Road | rice | 5.0
### Joined, default, constant, conditional values, and values of the run
`join` puts the filled cells together; `default` stands where the cell is empty; `constant` is the same for
all; `when` fills a target only in rows that fit; `run` is the file's name or the business date.
~~~ mapping
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {join: [Street, City], with: ", "}
  priority: {from: Prio, default: "1"}
  division: {constant: South}
  return_address: {from: Back to, when: {Return: ["Y*"]}}
  customer_reference_number: {run: file_name}
~~~ sheet
Order No | Phone | Street | City | Prio | Return | Back to
A1 | 9876543210 | 12 MG Road | Mysuru |  | yes | 9 Dock Road
A2 | 9876543211 | 3 Lake View |  | 2 | no | 9 Dock Road
### Sums and firsts of a document
`sum` adds a column up over the document's rows; `less` is taken off each cell first, then it is multiplied by
`times`; `plus` and `minus` are added or taken off once. `first` takes the first filled cell, and the other
rows may say something else. A text that no target takes can be kept for reports with `keep`.
~~~ mapping
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {first: Phone, read: mobile}
  delivery_address: {first: Address}
  is_cod: {constant: "true"}
  cash_on_delivery: {sum: Rate, times: Qty, plus: [Shipping]}
lines:
  item_name: {from: SKU}
  item_quantity: {from: Qty}
keep: {route: {from: Route}}
~~~ sheet
Order No | Phone | Address | SKU | Qty | Rate | Shipping | Route
A1 | 9876543210 | 12 MG Road | tea | 2 | 149.50 | 40 | N-2
A1 |  |  | rice | 1 | 60 |  | N-2
### A lookup kept in a file
The table stands in a CSV file beside the mapping. Steps of `read` follow one another.
~~~ mapping
@order
lines:
  item_name: {from: SKU, read: [upper, {lookup: {file: skus.csv, from: code, to: name}}]}
  item_quantity: {from: Qty}
~~~ table skus.csv
code,name
T-100,Assam tea 100 g
R-5,Rice 5 kg
~~~ sheet
Order No | Phone | Address | SKU | Qty
A1 | 9876543210 | 12 MG Road | t-100 | 2
A2 | 9876543210 | 12 MG Road | x-1 | 1
### Several items in one cell
`split` names the column, `on` what stands between the pieces, `pattern` how each is written. A piece that
does not fit, or could be read in two ways, is told at its cell.
~~~ mapping
@order
lines_from: {split: Items, on: ["|", ";"], pattern: "{sku} x {qty}"}
lines: {item_name: {from: sku, required: true}, item_quantity: {from: qty, read: integer}}
~~~ sheet
Order No | Phone | Address | Items
A1 | 9876543210 | 12 MG Road | tea x 2; rice x 1
A2 | 9876543210 | 12 MG Road | tea, two
### Cells side by side that hold several values
The first of one cell belongs to the first of the other; both must hold equally many.
~~~ mapping
@order
lines_from: {split: [SKU, Qty], on: ";"}
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
~~~ sheet
Order No | Phone | Address | SKU | Qty
A1 | 9876543210 | 12 MG Road | tea;rice | 2;1
A2 | 9876543210 | 12 MG Road | tea;rice | 2
### Numbered columns
`{n}` stands for 1, 2, 3 …, as many as the sheet has; a number without anything in its columns is passed over. An item
is not sent without what a column of its number would say: its row is invalid where the sheet lacks that column. A note
says so, and which numbers are missing between others; with `up_to: 4` a sheet without one of the first four is held.
~~~ mapping
@order
lines_from: {columns: ["SKU {n}", "Qty {n}"]}
lines: {item_name: {from: "SKU {n}"}, item_quantity: {from: "Qty {n}"}}
~~~ sheet
Order No | Phone | Address | SKU 1 | Qty 1 | SKU 2 | Qty 2 | SKU 3
A1 | 9876543210 | 12 MG Road | tea | 2 | rice | 1 |
A2 | 9876543210 | 12 MG Road | tea | 3 |  |  |
A3 | 9876543210 | 12 MG Road | tea | 3 | rice | 1 | salt
### Numbered columns that each hold a whole item
~~~ mapping
@order
lines_from: {columns: "Item {n}", pattern: "{sku} x {qty}"}
lines: {item_name: {from: sku, required: true}, item_quantity: {from: qty, read: integer}}
~~~ sheet
Order No | Phone | Address | Item 1 | Item 2
A1 | 9876543210 | 12 MG Road | tea x 2 | rice x 1
A2 | 9876543210 | 12 MG Road | tea x 3 | two of rice
### Lines on a sheet of their own
Each row of the first sheet takes the rows of the second whose `key` is the same. `lines`, and the columns of
a `sum`, are read from the second sheet, everything else from the first. Each row of both sheets has an answer
beside it.
~~~ mapping
@order
lines_sheet: {name: Items, key: [Order]}
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
~~~ sheet Orders
Order No | Phone | Address
A1 | 9876543210 | 12 MG Road
A2 | 9876543210 | 12 MG Road
A3 | 9876543210 | 12 MG Road
~~~ sheet Items
Order | SKU | Qty
A1 | tea | 2
A1 | rice | 1
A2 | salt | many
A7 | tea | 1
### Kits
Rows in which the key of `kits` is filled are the contents of a kit; the others are items of the order.
~~~ mapping
@order
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
kits:
  key: [Kit]
  name: {from: Kit}
  lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
~~~ sheet
Order No | Phone | Address | Kit | SKU | Qty
A1 | 9876543210 | 12 MG Road | Tea set | pot | 1
A1 | 9876543210 | 12 MG Road | Tea set | cup | 4
A1 | 9876543210 | 12 MG Road |  | rice | 1
### Packages
Either each item names its package, with `package_id` under `lines`, or `packages_count` under `fields` says
how many there are; not both.
~~~ mapping
@order
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}, package_id: {from: Box}}
~~~ sheet
Order No | Phone | Address | SKU | Qty | Box
A1 | 9876543210 | 12 MG Road | tea | 2 | B1
A1 | 9876543210 | 12 MG Road | rice | 1 | B2
### An announcement of goods
An ASN is known by supplier, site and invoice number. A true date cell needs no format.
~~~ mapping
operation: asn.create
key: [Party, Invoice No]
fields:
  supplier_name: {from: Party, required: true}
  site: {constant: BHIWANDI-01}
  invoice_number: {from: Invoice No, required: true}
  delivery_date: {from: Due, read: {date: ["%d/%m/%Y", "%d-%b-%y"]}}
lines:
  sku_name: {from: Item, required: true}
  qty: {from: Qty, required: true}
  price_per_qty: {from: Rate}
keep: {po_number: {from: PO}}
~~~ sheet
Party | Invoice No | Due | Item | Qty | Rate | PO
Acme | I-77 | 05/11/2026 | Drum 50 l | 12 | ₹ 1,05,000/- | P-9
Acme | I-77 | 05/11/2026 | Lid | 12 | 40 | P-9
### A change of an order that was sent from here
`order_id: {ledger: …}` names the column of reference numbers; the AWB number comes from the ledger, and so do
the ids of items where their names are unique in the order; below stands the body before that look-up.
~~~ mapping
operation: order.update
order_id: {ledger: Order No}
key: [Order No]
fields: {customer_mobile: {from: Phone}, delivery_address: {from: Address}}
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
~~~ sheet
Order No | Phone | Address | SKU | Qty
A1 | 9876543210 | 14 MG Road | tea | 3
### Items added
`order_id: {from: …}` names a column of AWB numbers or order ids. Added items bring their own ids.
~~~ mapping
operation: order.add_items
order_id: {from: AWB}
key: [AWB]
lines:
  item_id: {from: Item}
  item_name: {from: SKU}
  item_quantity: {from: Qty}
  weight: {from: Weight (kg), read: {unit: kg -> g}}
~~~ sheet
AWB | Item | SKU | Qty | Weight (kg)
SH-22T70ZX | 901 | tea | 3 | 0.25
### Items deleted, and an order cancelled
A deletion names items; a cancellation has no body at all: `operation: order.cancel`, `order_id` and `key`.
~~~ mapping
operation: order.delete_items
order_id: {from: AWB}
key: [AWB]
lines: {item_id: {from: Item}}
~~~ sheet
AWB | Item
SH-22T70ZX | 901
SH-22T70ZX | 902
### Labels
Used by `logistics-batch labels --orders FILE --mapping NAME`; a push with it sends nothing.
~~~ mapping
operation: label.create
key: [Order No]
fields: {order_numbers: {from: Order No}}
keep: {bin: {from: Bin}}
~~~ sheet
Order No | Bin
A1 | 7
A2 | 3
### Receipts
Sends nothing: what was received is held against the announcements by the reconciliation. Each row stands
alone, so there is no `key`.
~~~ mapping
operation: receipt.read
fields:
  invoice_number: {from: Invoice}
  sku_name: {from: Item}
  qty: {from: Received}
  condition: {from: Condition, read: {lookup: {OK: good, Dmg: damaged}}}
~~~ sheet
Invoice | Item | Received | Condition
I-77 | Drum 50 l | 11 | ok
I-77 | Lid | 0 | lost
### Rows that are no data, and cells that are written once
Skip rules apply first; patterns know `*` and `?`. `fill_down` copies a cell into the blank ones below, from a
filled key to the next different one, or to a blank or skipped row. Every column that is written on the first row of a
document only must be named there, the key and those of `fields`: elsewhere a blank beside a value disagrees, unless
`{first: …}` reads it. Where a rule asks for a column that is filled down,
the rows that follow with the same key or none, blank in that column, are left out with the first. A column of such a
rule that no sheet has holds the file. A cell that says "as above" (〃, ", -do-, ditto) takes what stands above it where
its column is filled down, also from another document's row, and is an issue elsewhere. Goods without a key below a
blank or skipped row hold back the document above them: they may be its lines.
~~~ mapping
@order
lines: {item_name: {from: SKU}}
sheet:
  header: auto
  skip_rows_where: {Order No: ["Sub total*"]}
  only_rows_where: {Status: [Ready, Packed]}
  fill_down: [Order No, Phone, Address]
~~~ sheet
Dispatch of the day
Order No | Phone | Address | Status | SKU
A1 | 9876543210 | 12 MG Road | Ready | tea
 |  |  | Packed | rice
Sub total | | | |
A2 | 9876543210 | 12 MG Road | Draft | salt
### Checks that are asked for
`line_total` multiplies, `control_total` adds up and compares with the sheet's own total row, and
`sample_values` finds rows that a template brought along. A document in which a row stands twice, equal in every cell,
is not sent, asked for or not: pasted twice it doubles the goods. With `equal_rows: note` it is sent and told in a note,
with `allow` such rows are right as they are, as where each scanned piece has a row.
~~~ mapping
@order
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
checks:
  line_total: {quantity: Qty, price: Rate, total: Amount, tolerance: "1.00"}
  control_total: {column: Qty, row_where: {Order No: "TOTAL*"}}
  sample_values: true
~~~ sheet
Order No | Phone | Address | SKU | Qty | Rate | Amount
A1 | 9876543210 | 12 MG Road | tea | 2 | 50 | 100
A2 | 9876543210 | 12 MG Road | rice | 1 | 60 | 80
ORD001 | 9876543210 | 12 MG Road | salt | 1 | 5 | 5
A3 | 9876543210 | 12 MG Road | tea | 1 | 50 | 50
A3 | 9876543210 | 12 MG Road | tea | 1 | 50 | 50
TOTAL |  |  |  | 6 |  |
"""


@dataclass(frozen=True, slots=True)
class Example:
    """One form and what it is for.

    mapping: the whole file. sheets: by name the rows of cells. tables: lookup files by name.
    """

    title: str
    words: str
    mapping: str
    sheets: dict[str, list[list[str]]]
    tables: dict[str, str] = field(default_factory=dict)


def examples() -> list[Example]:
    """Every form once, the ordinary ones first."""
    return [_example(text) for text in (_TEXT + ROWS_AND_TOTALS).split("### ") if text]


def _example(text: str) -> Example:
    opening, *blocks = re.split(r"^~~~ (.*)\n", text, flags=re.MULTILINE)
    title, words = opening.split("\n", 1)
    named = list(zip(blocks[::2], blocks[1::2], strict=True))
    sheets = {
        name.removeprefix("sheet").strip(): [[cell.strip() for cell in row.split("|")] for row in rows.splitlines()]
        for name, rows in named
        if name.startswith("sheet")
    }
    tables = {name.removeprefix("table "): rows for name, rows in named if name.startswith("table")}
    mapping = next(content for name, content in named if name == "mapping").replace("@order\n", _ORDER)
    return Example(title, words.strip(), mapping, sheets, tables)


VERB_CELLS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("  Asha  Rao ", "007"),
    "upper": ("t-100",),
    "lower": ("Asha@Example.com",),
    "integer": ("12.0", "1,200", "1.5"),
    "decimal": ("0.750", "1,23,456.5", "a lot"),
    "percent": ("5", "12.5 %", "5 per cent"),
    "before": ("South",),
    "money": ("₹ 1,499/-", "(250)", "12"),
    "mobile": ("+91 98765-43210", "098765 43210 / 98765 11111", "Mob: 98765 43210", "98765*****"),
    "pincode": ("560 001", "PIN-560001", "56001"),
    "date": ("05/11/2026", "5-Nov-2026", "11.05.2026"),
    "unit": ("1970", "1970 g", "1.97 kg"),
    "lookup": ("return", " FORWARD ", "exchange"),
}
"""Cells that show what each verb reads and what it refuses."""
