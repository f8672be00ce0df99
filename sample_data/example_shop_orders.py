"""Inputs of the examples for exports of a web shop: each with what such files get wrong."""

from typing import Any

from example_tables import TextFile, under
from people_and_goods import PEOPLE, Person, goods

WOOCOMMERCE = (
    "order_id",
    "order_number",
    "order_date",
    "status",
    "shipping_total",
    "tax_total",
    "order_total",
    "order_currency",
    "payment_method",
    "payment_method_title",
    "customer_email",
    "billing_first_name",
    "billing_last_name",
    "billing_phone",
    "shipping_first_name",
    "shipping_last_name",
    "shipping_address_1",
    "shipping_address_2",
    "shipping_city",
    "shipping_state",
    "shipping_postcode",
    "shipping_country",
    "customer_note",
)
WOOCOMMERCE_ITEM = ("item_name", "item_sku", "item_quantity", "item_total")


def woocommerce_order(number: int, person: Person, *, total: str, **changes: str) -> dict[str, Any]:
    """The cells of an order that a shop repeats on each of its rows."""
    first, _, last = person.name.partition(" ")
    return {
        "order_id": f"{8800 + number}",
        "order_number": f"{1040 + number}",
        "order_date": f"11/2/2026  {9 + number % 9}:29:00",  # month first, and two blanks
        "status": "processing",
        "shipping_total": "0",
        "tax_total": "0",
        "order_total": total,
        "order_currency": "INR",
        "payment_method": "razorpay",
        "payment_method_title": "UPI, cards and net banking",
        "customer_email": f"shop{1040 + number}@example.com",
        "billing_first_name": first,
        "billing_last_name": last,
        "billing_phone": f"+91{person.phone}",
        "shipping_first_name": first,
        "shipping_last_name": last,
        "shipping_address_1": person.street,
        "shipping_address_2": person.area,
        "shipping_city": person.city,
        "shipping_state": "KA",
        "shipping_postcode": person.pin,
        "shipping_country": "IN",
        **changes,
    }


def woocommerce_orders() -> TextFile:
    """One row an item, the order's cells on each; orders that are not to be sent, too."""

    def item(sku: str, quantity: int = 1) -> dict[str, str]:
        found = goods(sku)
        worth = f"{found.price * quantity:.2f}"
        return dict(zip(WOOCOMMERCE_ITEM, (found.name, sku, str(quantity), worth), strict=True))

    cod = {"payment_method": "cod", "payment_method_title": "Cash on delivery"}
    mysuru = PEOPLE[7]
    lines = [
        woocommerce_order(1, PEOPLE[0], total="1548.00", **cod) | item("KTL-15-SS"),
        woocommerce_order(1, PEOPLE[0], total="1548.00", **cod) | item("TIF-3-SS"),
        woocommerce_order(2, PEOPLE[3], total="298.00") | item("AGB-100", 2),
        woocommerce_order(3, PEOPLE[4], total="699.00", status="cancelled") | item("BTL-1L-CU"),
        woocommerce_order(4, PEOPLE[5], total="799.00", status="completed") | item("TIF-4-SS"),
        woocommerce_order(5, mysuru, total="1299.00", shipping_postcode="570 009") | item("TWL-4-CT"),
        woocommerce_order(6, PEOPLE[8], total="0.00", **cod) | item("CSH-5-JT"),  # collect nothing?
        woocommerce_order(7, PEOPLE[9], total="1099.00", billing_phone="9.63E+09") | item("BED-QN-IN"),
        woocommerce_order(8, PEOPLE[6], total="399.00", payment_method="paystack") | item("MUG-2-CR"),
        woocommerce_order(9, PEOPLE[1], total="948.00", **cod) | item("RNG-KIT-6"),
        woocommerce_order(9, PEOPLE[1], total="749.00", **cod) | item("TAW-28-NS"),  # two totals of one order
        woocommerce_order(10, PEOPLE[2], total="849.00") | item("BTL-750-SS") | {"item_sku": ""},
        woocommerce_order(11, PEOPLE[2], total="249.00", status="on-hold") | item("DYA-12-TC"),
    ]
    columns = (*WOOCOMMERCE[:9], *WOOCOMMERCE_ITEM, *WOOCOMMERCE[9:])  # exporters move columns
    return TextFile(under(columns, lines))


def packed_items(*items: tuple[str, int]) -> list[str]:
    """Each item of an order as one text of all its parts."""
    pieces = []
    for number, (sku, quantity) in enumerate(items, 501):
        found = goods(sku)
        worth = f"quantity:{quantity}|total:{found.price * quantity:.2f}"
        pieces.append(f"name:{found.name}|product_id:{number}|sku:{sku}|{worth}")
    return pieces


def woocommerce_orders_packed() -> TextFile:
    """One row an order, its items in one cell; an item's own name may hold the mark between items."""

    def packed(*items: tuple[str, int]) -> str:
        return ";".join(packed_items(*items))

    cod = {"payment_method": "cod", "payment_method_title": "Cash on delivery"}
    lines = [
        woocommerce_order(21, PEOPLE[0], total="1947.00", **cod)
        | {"line_items": packed(("KTL-15-SS", 1), ("TIF-3-SS", 1), ("MUG-2-CR", 1))},
        woocommerce_order(22, PEOPLE[3], total="745.00") | {"line_items": packed(("AGB-100", 5)) + "; "},
        woocommerce_order(23, PEOPLE[4], total="699.00")
        | {"line_items": "name:Bottle; 1 L|product_id:501|sku:BTL-1L-CU|quantity:1|total:699.00"},
        woocommerce_order(24, PEOPLE[5], total="799.00")
        | {"line_items": packed(("TIF-4-SS", 1)).replace("quantity:1", "quantity:one")},
        woocommerce_order(25, PEOPLE[7], total="1299.00") | {"line_items": ""},
        woocommerce_order(26, PEOPLE[8], total="599.00") | {"line_items": packed(("CSH-5-JT", 0))},
        woocommerce_order(27, PEOPLE[9], total="1099.00")
        | {"line_items": packed(("BED-QN-IN", 1)).replace("sku:BED-QN-IN", "sku:")},
        woocommerce_order(28, PEOPLE[6], total="399.00", status="refunded") | {"line_items": packed(("MUG-2-CR", 1))},
        woocommerce_order(29, PEOPLE[1], total="948.00", shipping_postcode="5,60,051", **cod)
        | {"line_items": packed(("TAW-28-NS", 1), ("RNG-KIT-6", 1))},
    ]
    return TextFile(under((*WOOCOMMERCE, "line_items"), lines))


def woocommerce_orders_numbered() -> TextFile:
    """One row an order, each of its items in a column of its own; an item's own name may hold any mark."""

    def numbered(*items: str) -> dict[str, str]:
        return {f"line_item_{number}": item for number, item in enumerate(items, 1)}

    cod = {"payment_method": "cod", "payment_method_title": "Cash on delivery"}
    lines = [
        woocommerce_order(31, PEOPLE[0], total="1947.00", **cod)
        | numbered(*packed_items(("KTL-15-SS", 1), ("TIF-3-SS", 1), ("MUG-2-CR", 1))),
        woocommerce_order(32, PEOPLE[3], total="745.00") | numbered(*packed_items(("AGB-100", 5))),
        woocommerce_order(33, PEOPLE[4], total="699.00")
        | numbered("name:Bottle; 1 L|product_id:501|sku:BTL-1L-CU|quantity:1|total:699.00"),
        woocommerce_order(34, PEOPLE[5], total="1498.00")  # the item between was taken back
        | numbered(*packed_items(("TIF-4-SS", 1)), "", *packed_items(("BTL-1L-CU", 1))),
        woocommerce_order(35, PEOPLE[7], total="1299.00"),  # no item at all
        woocommerce_order(36, PEOPLE[8], total="998.00")
        | numbered(*packed_items(("CSH-5-JT", 1)), "Ceramic mugs, set of 2"),
        woocommerce_order(37, PEOPLE[9], total="1498.00") | numbered(*packed_items(("BED-QN-IN", 1), ("MUG-2-CR", 0))),
        woocommerce_order(38, PEOPLE[6], total="399.00", status="refunded") | numbered(*packed_items(("MUG-2-CR", 1))),
        woocommerce_order(39, PEOPLE[1], total="948.00", shipping_postcode="5,60,051", **cod)
        | numbered(*packed_items(("TAW-28-NS", 1), ("RNG-KIT-6", 1))),
    ]
    return TextFile(under((*WOOCOMMERCE, "line_item_1", "line_item_2", "line_item_3"), lines))
