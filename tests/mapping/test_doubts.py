"""Notes on values that can be right and seldom are. They hold nothing back."""

from datetime import timedelta

import pytest
from mapping.sheets import DAY, HEADER, ORDERS, notes_in, orders, run, sheet_of

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
    assert notes_in(found) == ('Column "Kg": a weight below 10 g or above 100 kg; check the unit in rows 3, 6.',)
    assert len(found.documents) == 6


def test_ordinary_weights_and_cells_that_are_wrong_anyway_are_not_told() -> None:
    assert notes_in(weights("0.82", "99.9", "0", "", "-500", "heavy")) == ()


def test_the_weight_of_a_label_is_in_grams() -> None:
    header = ["AWB", "Phone", "Address", "PIN", "Grams"]
    rows = [[f"SH-{n}", "9876543210", "12 MG Road", "560001", grams] for n, grams in enumerate(("820", "0.82", "9"))]
    assert notes_in(run(LABELS, sheet_of([header, *rows]))) == (
        'Column "Grams": a weight below 10 g or above 100 kg; check the unit in rows 3-4.',
    )


def test_a_code_in_the_column_of_pieces_is_told() -> None:
    found = orders(row(1, qty="100000"), row(2, qty="99999"))
    assert notes_in(found) == ('Column "Qty": more than 99,999 pieces in row 2.',)


@pytest.mark.parametrize("target", ["expected_delivery_time", "pickup_datetime"])
def test_a_day_of_delivery_that_is_over_is_told_and_sent(target: str) -> None:
    mapping = ORDERS.replace("lines:", f"  {target}: {{from: Due}}\nlines:")
    days = [(DAY + timedelta(days=days)).isoformat() for days in (-1, 0, 1)]
    found = orders(*(row(number, day) for number, day in enumerate(days)), mapping=mapping, header=[*HEADER, "Due"])
    is_told = target == "expected_delivery_time"
    assert notes_in(found) == ((f'Column "Due": a day of delivery before the business date {DAY} in row 2.',) * is_told)
    assert len(found.documents) == 3


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
    assert notes_in(found) == (('Column "PIN": the address holds another PIN in row 2.',) if told else ())
    assert len(found.documents) == 1


def test_an_mrp_below_the_price_is_told_with_its_own_row() -> None:
    header = ["Invoice", "SKU", "Qty", "Rate", "MRP"]
    rows = [["I1", "tea", "1", "100", "120"], ["I1", "mug", "1", "200", "150"], ["I1", "jar", "1", "200", ""]]
    assert notes_in(run(NOTICES, sheet_of([header, *rows]))) == ('Column "MRP": an MRP below the price in row 3.',)


TAXED = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Name}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
  customer_email: {from: Mail}
  delivery_lat: {from: Lat}
  delivery_long: {from: Long}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
  item_price_per_each: {from: Rate, read: money}
  cgst: {from: CGST, read: money}
  sgst: {from: SGST, read: money}
  igst: {from: IGST, read: money}
"""
MORE = ["Mail", "Lat", "Long", "Rate", "CGST", "SGST", "IGST"]


def taxed(*cells: list[str]) -> tuple[str, ...]:
    rows = [row(number, *each) for number, each in enumerate(cells, 1)]
    return notes_in(orders(*rows, mapping=TAXED, header=[*HEADER, *MORE]))


def test_what_is_usual_in_india_is_not_told() -> None:
    assert taxed(["a@b.in", "12.97", "77.59", "100", "9", "9", ""], ["", "", "", "25000", "", "", "18"]) == ()


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["", "", "", "100", "9", "5", ""], 'Column "CGST": CGST and SGST differ in row 2.'),
        (["", "", "", "100", "9", "9", "18"], 'Column "IGST": IGST beside CGST or SGST in row 2.'),
        (["", "", "", "25000.01", "", "", ""], 'Column "Rate": goods of an order above INR 50,000'),
        (["", "77.59", "12.97", "1", "", "", ""], 'Column "Lat": a place outside India'),
        (["not a mail", "", "", "1", "", "", ""], 'Column "Mail": not the form of an e-mail address in row 2.'),
    ],
)
def test_what_seldom_is_right_in_india_is_told(cells: list[str], told: str) -> None:
    notes = taxed(cells)
    assert any(note.startswith(told) for note in notes), notes


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("12 MG Road, Mumbai, Maharashtra", True),
        ("12 MG Road, Mumbai, Maharashtra - 560001, India", True),
        ("12 MG Road, Bengaluru, Karnataka 560 001", False),
        ("4 Maharashtra Mandal Road, Bengaluru", False),  # a road is named after it
        ("Lagoa", False),
    ],
)
def test_a_pin_of_another_state_than_the_address_is_told(address: str, told: bool) -> None:
    mapping = ORDERS.replace("lines:", "  delivery_postal_code: {from: PIN}\nlines:")
    found = orders(row(1, "560001", address=address), mapping=mapping, header=[*HEADER, "PIN"])
    assert ('Column "PIN": the PIN is of another state than the address in row 2.' in notes_in(found)) is told


def test_goods_may_keep_for_years_but_not_for_a_century() -> None:
    mapping = NOTICES.replace("lines:", '  expiry_date: {from: Best before, read: {date: "%d/%m/%Y"}}\nlines:')
    header = ["Invoice", "SKU", "Qty", "Rate", "MRP", "Best before"]
    rows = [["I1", "tea", "1", "", "", "31/12/2031"], ["I2", "mug", "1", "", "", "31/12/2131"]]
    found = run(mapping, sheet_of([header, *rows]))
    assert [document.reference for document in found.documents] == ["I1"]
    assert "or 7305 days after" in found.issues[0].reason, found.issues


@pytest.mark.parametrize("address", ["-", "0", "N/A", "null", "...", "560001"])
def test_what_is_no_address_is_not_sent(address: str) -> None:
    found = orders(row(1, address=address), row(2, address="१२ रोड"))
    assert [(issue.row, issue.rule) for issue in found.issues] == [(2, "delivery_address|placeholder")]
    assert [document.key for document in found.documents] == ["A2"]


def test_rules_that_leave_nothing_of_a_file_are_told() -> None:
    mapping = ORDERS.replace("fields:", 'sheet: {skip_rows_where: {Name: ["*"]}}\nfields:')
    told = "The rules of the mapping leave out all rows with data (2): nothing of this file is sent."
    assert told in notes_in(orders(row(1), row(2), mapping=mapping))
    assert told not in notes_in(orders(row(1), ["A2", "", *row(2)[2:]], mapping=mapping))
