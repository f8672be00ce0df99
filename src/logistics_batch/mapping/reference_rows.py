"""Worked examples of the mapping reference on rows that are no data, and on the sheet's own totals."""

from typing import Final

ROWS_AND_TOTALS: Final = """\
### Rows that are left out without a rule
These, and no others; each is listed with its reason:
- blank rows, and rows above the header;
- the header again, as on each page of a print: every mapped cell bears the name of its column;
- rows that begin with `;` and lack a cell that data needs, and lines of dashes;
- totals: the first filled cell begins with Total, Sub total, Grand total, Page total, Net total or Running total, a
  cell that data needs is blank, and the key is blank, too, or such a word;
- rows in which no mapped column is filled, as remarks and signatures beside the table.

What else stands below the table, as a signature in a mapped column, is invalid until `skip_rows_where` names it.
~~~ mapping
@order
lines: {item_name: {from: SKU, required: true}, item_quantity: {from: Qty}}
~~~ sheet
Dispatch of 3 November
Order No | Phone | Address | SKU | Qty | Remarks
; morning | | | | |
A1 | 9876543210 | 12 MG Road | tea | 2 |
---- | ---- | ---- | ---- | ---- |
 | | | | |
Order No | Phone | Address | SKU | Qty | Remarks
A2 | 9876543210 | 12 MG Road | rice | 1 |
Grand total | | | | 3 |
 | | | | | Checked: Mohan
Prepared by Latha | | | | |
### Totals as the sheet's sender counts them
A total row that does not say what the rows come to holds the file. `says` is what the row states: the column's `sum`,
or how many `rows` or `documents` there are. Cells count as they stand, not as they are filled down; a row of several
items counts once. Rows that a rule leaves out do not count, unless they fit `also_rows_where`: here the sender's
quantity includes what was cancelled. Numbered columns, and what `lines_from` makes by a pattern, have none.
~~~ mapping
@order
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
sheet: {only_rows_where: {Status: Ready}}
checks:
  control_total:
    - {column: Qty, row_where: {Order No: "TOTAL*"}, also_rows_where: {Status: Cancelled}}
    - {column: Qty, row_where: {Order No: Orders}, says: documents}
~~~ sheet
Order No | Phone | Address | SKU | Qty | Status
A1 | 9876543210 | 12 MG Road | tea | 2 | Ready
A1 | 9876543210 | 12 MG Road | rice | 1 | Ready
A2 | 9876543210 | 3 Lake View | salt | 4 | Cancelled
TOTAL |  |  |  | 7 |
Orders |  |  |  | 1 |
"""
