"""Make the sample files again: python sample_data/make_samples.py [FOLDER]

Everything is drawn from one seed and dated around one day, the anchor (anchor.txt), so that two runs make the same
contents. The demo shifts the dates from the anchor to the day on which it runs.
"""

import csv
import random
import sys
from datetime import date, datetime, timedelta
from pathlib import Path

from asn_files import handmade_asns, unicommerce_asns
from order_workbook import standard_orders
from people_and_goods import GOODS, PEOPLE, Person

HERE = Path(__file__).parent
SEED = 20261103
PROVINCES = {  # as the shop writes them
    "Delhi": "DL",
    "Gujarat": "GJ",
    "Haryana": "HR",
    "Karnataka": "KA",
    "Kerala": "KL",
    "Maharashtra": "MH",
    "Odisha": "OR",
    "Rajasthan": "RJ",
    "Tamil Nadu": "TN",
    "Telangana": "TS",
    "Uttar Pradesh": "UP",
    "West Bengal": "WB",
}

SHIPROCKET = (
    "*Order Id",
    "*Order Date as dd-mm-yyyy hh:MM",
    "*Channel",
    "*Payment Method(COD/Prepaid)",
    "*Customer First Name",
    "Customer Last Name",
    "Email (Optional)",
    "*Customer Mobile",
    "Customer Alternate Mobile",
    "*Shipping Address Line 1",
    "Shipping Address Line 2",
    "*Shipping Address Country",
    "*Shipping Address State",
    "*Shipping Address City",
    "*Shipping Address Postcode",
    "Billing Address Line 1",
    "Billing Address Line 2",
    "Billing Address Country",
    "Billing Address State",
    "Billing Address City",
    "Billing Address Postcode",
    "*Master SKU",
    "*Product Name",
    "*Product Quantity",
    "Tax %",
    "*Selling Price(Per Unit Item, Inclusive of Tax)",
    "Discount(Per Unit Item)",
    "Shipping Charges(Per Order)",
    "COD Charges(Per Order)",
    "Gift Wrap Charges(Per Order)",
    "Total Discount (Per Order)",
    "*Length (cm)",
    "*Breadth (cm)",
    "*Height (cm)",
    "*Weight Of Shipment(kg)",
    "Send Notification(True/False)",
    "Comment",
    "HSN Code",
    "Location Id",
    "Reseller Name",
    "Company Name",
    "latitude",
    "longitude",
    "Verified Order",
    "Is documents",
    "Order Type",
    "Order tag",
)
SHOPIFY = (
    "Name",
    "Email",
    "Financial Status",
    "Paid at",
    "Fulfillment Status",
    "Fulfilled at",
    "Accepts Marketing",
    "Currency",
    "Subtotal",
    "Shipping",
    "Taxes",
    "Total",
    "Discount Code",
    "Discount Amount",
    "Shipping Method",
    "Created at",
    "Lineitem quantity",
    "Lineitem name",
    "Lineitem price",
    "Lineitem compare at price",
    "Lineitem sku",
    "Lineitem requires shipping",
    "Lineitem taxable",
    "Lineitem fulfillment status",
    "Billing Name",
    "Billing Street",
    "Billing Address1",
    "Billing Address2",
    "Billing Company",
    "Billing City",
    "Billing Zip",
    "Billing Province",
    "Billing Country",
    "Billing Phone",
    "Shipping Name",
    "Shipping Street",
    "Shipping Address1",
    "Shipping Address2",
    "Shipping Company",
    "Shipping City",
    "Shipping Zip",
    "Shipping Province",
    "Shipping Country",
    "Shipping Phone",
    "Notes",
    "Note Attributes",
    "Cancelled at",
    "Payment Method",
    "Payment Reference",
    "Refunded Amount",
    "Vendor",
    "Id",
    "Tags",
    "Risk Level",
    "Source",
)
PHONE_SPELLINGS = ("{0}", "+91 {1} {2}", "0{0}", "91{0}", "+91-{0}", "{1}-{2}")


def spelt(phone: str, number: int) -> str:
    """A phone as people type it, another way each time."""
    return PHONE_SPELLINGS[number % len(PHONE_SPELLINGS)].format(phone, phone[:5], phone[5:])


def shiprocket_orders(anchor: date, chance: random.Random) -> list[dict[str, str]]:
    """Fifteen orders of a marketplace panel, one row an item; the phone of one went through scientific notation."""
    rows = []
    for number in range(15):
        person = PEOPLE[(number * 7 + 3) % len(PEOPLE)]
        first, _, last = person.name.partition(" ")
        placed = datetime.combine(anchor, datetime.min.time()) - timedelta(hours=5 + number, minutes=7 * number % 60)
        items = chance.sample(GOODS, 2 if number in (2, 6, 11) else 1)
        cod = number % 3 != 1
        weight = sum(item.weight for item in items) / 1000
        for item in items:
            rows.append(
                {
                    "*Order Id": f"SRK-{88120 + number}",
                    "*Order Date as dd-mm-yyyy hh:MM": f"{placed:%d-%m-%Y %H:%M}",
                    "*Channel": "CUSTOM",
                    "*Payment Method(COD/Prepaid)": "COD" if cod else "Prepaid",
                    "*Customer First Name": first,
                    "Customer Last Name": last,
                    "*Customer Mobile": "9.73E+09" if number == 8 else spelt(person.phone, number),
                    "*Shipping Address Line 1": person.street,
                    "Shipping Address Line 2": person.area,
                    "*Shipping Address Country": "India",
                    "*Shipping Address State": person.state,
                    "*Shipping Address City": person.city,
                    "*Shipping Address Postcode": person.pin,
                    "*Master SKU": item.sku,
                    "*Product Name": item.name,
                    "*Product Quantity": str(chance.choice((1, 1, 1, 2, 3))),
                    "Tax %": "18",
                    "*Selling Price(Per Unit Item, Inclusive of Tax)": f"{item.price}",
                    "Shipping Charges(Per Order)": "0",
                    "COD Charges(Per Order)": "40" if cod else "0",
                    "*Length (cm)": "30",
                    "*Breadth (cm)": "22",
                    "*Height (cm)": "18",
                    "*Weight Of Shipment(kg)": f"{weight:g}",
                    "Send Notification(True/False)": "FALSE",
                    "HSN Code": "7323",
                }
            )
    return rows


def shopify_orders(anchor: date, chance: random.Random) -> list[dict[str, str]]:
    """Ten orders as a web shop exports them: order cells on the first row only; one zip has five digits."""
    rows: list[dict[str, str]] = []
    for number in range(10):
        person = PEOPLE[(number * 11 + 5) % len(PEOPLE)]
        items = chance.sample(GOODS, 1 + (number % 4 == 1) + 2 * (number % 5 == 3))
        quantities = [chance.choice((1, 1, 2)) for _ in items]
        order = shopify_order(number, person, anchor)
        total = sum(item.price * quantity for item, quantity in zip(items, quantities, strict=True))
        order |= {"Subtotal": f"{total}.00", "Shipping": "0.00", "Taxes": f"{total * 0.18 / 1.18:.2f}"}
        order |= {"Total": f"{total}.00", "Discount Amount": "0.00"}
        for item, quantity in zip(items, quantities, strict=True):
            line = {
                "Lineitem quantity": str(quantity),
                "Lineitem name": item.name,
                "Lineitem price": f"{item.price}.00",
                "Lineitem compare at price": f"{item.mrp}.00",
                "Lineitem sku": item.sku,
                "Lineitem requires shipping": "true",
                "Lineitem taxable": "true",
                "Lineitem fulfillment status": "pending",
                "Vendor": "Home & Hearth",
            }
            rows.append(order | line)
            order = {name: order[name] for name in ("Name", "Email")}
    return rows


def shopify_order(number: int, person: Person, anchor: date) -> dict[str, str]:
    """The cells that stand on an order's first row."""
    placed = datetime.combine(anchor, datetime.min.time()) - timedelta(
        hours=2 + 3 * number, seconds=977 * number % 3600
    )
    paid = number % 2 == 0
    zip_code = "'56003" if number == 6 else f"'{person.pin}"
    order = {
        "Name": f"#{2041 + number}",
        "Email": f"customer{2041 + number}@example.com",
        "Financial Status": "paid" if paid else "pending",
        "Paid at": f"{placed + timedelta(seconds=41):%Y-%m-%d %H:%M:%S} +0530" if paid else "",
        "Fulfillment Status": "unfulfilled",
        "Accepts Marketing": "no",
        "Currency": "INR",
        "Shipping Method": "Standard",
        "Created at": f"{placed:%Y-%m-%d %H:%M:%S} +0530",
        "Notes": "Leave with the guard" if number == 4 else "",
        "Payment Method": "Razorpay" if paid else "Cash on Delivery (COD)",
        "Id": str(6120448130000 + 137 * number),
        "Risk Level": "Low",
        "Source": "web",
    }
    for side in ("Billing", "Shipping"):
        order |= {
            f"{side} Name": person.name,
            f"{side} Street": f"{person.street}, {person.area}",
            f"{side} Address1": person.street,
            f"{side} Address2": person.area,
            f"{side} City": person.city,
            f"{side} Zip": zip_code,
            f"{side} Province": PROVINCES[person.state],
            f"{side} Country": "IN",
            f"{side} Phone": f"+91{person.phone}",
        }
    return order


def write_csv(path: Path, columns: tuple[str, ...], rows: list[dict[str, str]], *, encoding: str = "utf-8") -> None:
    """One CSV; a cell that a row does not have is blank."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


def chance(seed: int) -> random.Random:
    """Draws that are the same in every run."""
    return random.Random(seed)  # noqa: S311


def main(folder: Path) -> None:
    """Write every sample."""
    anchor = date.fromisoformat((HERE / "anchor.txt").read_text(encoding="ascii").strip())
    folder.mkdir(parents=True, exist_ok=True)
    standard_orders(anchor, chance(SEED)).save(folder / "orders_standard_blr.xlsx")
    write_csv(folder / "shiprocket_orders.csv", SHIPROCKET, shiprocket_orders(anchor, chance(SEED + 1)))
    shopify = shopify_orders(anchor, chance(SEED + 2))
    write_csv(folder / "shopify_orders_export.csv", SHOPIFY, shopify)
    handmade_asns(anchor, chance(SEED + 3)).save(folder / "asn_bhiwandi_handmade.xlsx")
    columns, rows = unicommerce_asns(anchor, chance(SEED + 4))
    write_csv(folder / "asn_unicommerce.csv", columns, rows, encoding="utf-8-sig")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
