"""Notes on values that can be right and seldom are. They hold nothing back."""

import pytest
from mapping.sheets import HEADER, ORDERS, orders, run, sheet_of

from logistics_batch.model.document import MappedFile

WEIGHED = ORDERS.replace("lines:", "  weight: {from: Kg}\nlines:")
NOTICES = """
operation: asn.create
key: [Invoice]
fields:
  invoice_number: {from: Invoice, required: true}
  supplier_name: {constant: Suvarna}
  site: {constant: BLR}
lines:
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, read: integer, required: true}
  price_per_qty: {from: Rate, read: money}
  maximum_retail_price: {from: MRP, read: money}
"""
LABELS = """
operation: label.create
key: [AWB]
fields:
  awb_number: {from: AWB, required: true}
  primary_mobile_no: {from: Phone, read: mobile}
  shipping_address: {from: Address}
  delivery_pincode: {from: PIN, read: pincode}
  weight: {from: Grams}
"""


def row(number: int, *more: str, address: str = "12 MG Road", qty: str = "2") -> list[str]:
    return [f"A{number}", "Asha", "9876543210", address, "tea", qty, *more]


def weights(*cells: str) -> MappedFile:
    rows = [row(number, cell) for number, cell in enumerate(cells, 1)]
    return orders(*rows, mapping=WEIGHED, header=[*HEADER, "Kg"])


def test_grams_in_a_column_of_kilograms_are_told_and_sent() -> None:
    found = weights("0.82", "820", "0.01", "100", "0.005", "")
    assert found.notes == ('Column "Kg": a weight below 10 g or above 100 kg; check the unit in rows 3, 6.',)
    assert len(found.documents) == 6


def test_ordinary_weights_and_cells_that_are_wrong_anyway_are_not_told() -> None:
    assert weights("0.82", "99.9", "0", "", "-500", "heavy").notes == ()


def test_the_weight_of_a_label_is_in_grams() -> None:
    header = ["AWB", "Phone", "Address", "PIN", "Grams"]
    rows = [[f"SH-{n}", "9876543210", "12 MG Road", "560001", grams] for n, grams in enumerate(("820", "0.82", "9"))]
    assert run(LABELS, sheet_of([header, *rows])).notes == (
        'Column "Grams": a weight below 10 g or above 100 kg; check the unit in rows 3-4.',
    )


def test_a_code_in_the_column_of_pieces_is_told() -> None:
    found = orders(row(1, qty="100000"), row(2, qty="99999"))
    assert found.notes == ('Column "Qty": more than 99,999 pieces in row 2.',)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("12 MG Road, Pune - 411 038", True),
        ("12 MG Road, Bengaluru 560001", False),
        ("12 MG Road, Bengaluru - 560 001", False),
        ("12 MG Road", False),
        ("Plot 4110381, MG Road", False),
    ],
)
def test_another_pin_in_the_address_is_told(address: str, told: bool) -> None:
    mapping = ORDERS.replace("lines:", "  delivery_postal_code: {from: PIN}\nlines:")
    found = orders(row(1, "560001", address=address), mapping=mapping, header=[*HEADER, "PIN"])
    assert found.notes == (('Column "PIN": the address holds another PIN in row 2.',) if told else ())
    assert len(found.documents) == 1


def test_an_mrp_below_the_price_is_told_with_its_own_row() -> None:
    header = ["Invoice", "SKU", "Qty", "Rate", "MRP"]
    rows = [["I1", "tea", "1", "100", "120"], ["I1", "mug", "1", "200", "150"], ["I1", "jar", "1", "200", ""]]
    assert run(NOTICES, sheet_of([header, *rows])).notes == ('Column "MRP": an MRP below the price in row 3.',)
