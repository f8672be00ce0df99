"""Inputs of the examples for order layouts: each with what such files get wrong."""

from example_tables import Cell, TextFile, under
from people_and_goods import PEOPLE, Person, goods

AGGREGATOR = (
    "*Order Id",
    "Order Date [DD-MM-YYYY] (Optional)",
    "*Sales Channel Id",
    "*Payment Method(COD/Prepaid)",
    "*Buyer Full Name",
    "Buyer Email (Optional)",
    "*Buyer Mobile",
    "*Shipping Full Address",
    "*Shipping Address Zipcode(Pincode)",
    "*Shipping Address City",
    "*Shipping Address State",
    "*Shipping Address Country",
    "*Product SKU",
    "*Product Name",
    "*Product Quantity",
    "Tax %",
    "*Selling Price(Per Unit Item, Inclusive of Tax)",
    "Discount(Per Unit Item)",
    "Shipping Charges(Per Order)",
    "COD Charges(Per Order)",
    "Total Discount(Per Order)",
    "*Length (cm)",
    "*Breadth (cm)",
    "*Height (cm)",
    "*Weight Of Shipment(kg)",
    "HSN Code",
)
ESHOPBOX = (
    "Channel order id",
    "Customer order id",
    "Order item id",
    "Payment method",
    "COD Amount",
    "Replacement for order item id",
    "Shipping customer name",
    "Shipping email id",
    "Shipping contact number",
    "Shipping address",
    "Shipping pin code",
    "Shipping city",
    "Shipping state",
    "Product ID",
    "Quantity",
    "Expected delivery date",
)
SHIPWIRE = (
    "[order_no]",
    "[external_id]",
    "[order_date]",
    "[ship_to_name]",
    "[ship_to_address_1]",
    "[ship_to_address_2]",
    "[ship_to_address_3]",
    "[ship_to_city]",
    "[ship_to_state]",
    "[ship_to_ZIP]",
    "[ship_to_country]",
    "[ship_to_email]",
    "[ship_to_phone]",
    "[ship_to_is_commercial]",
    "[ship_to_company_name]",
    "[sku]",
    "[retailer_sku]",
    "[upc]",
    "[retailer_line_no]",
    "[quantity]",
    "[shipping_method]",
    "[packing_list_message_1]",
    "[delivery_window_type]",
    "[delivery_window_min_date]",
    "[delivery_window_max_date]",
)


def aggregator_orders() -> TextFile:
    """One-cell addresses, as an office in the Konkan would paste them; saved by a Windows program (cp1252)."""

    def line(order: int, person: Person, sku: str, quantity: Cell = 1, **changes: Cell) -> dict[str, Cell]:
        item = goods(sku)
        common: dict[str, Cell] = {
            "*Order Id": f"AGG/26/{order:05d}",
            "Order Date [DD-MM-YYYY] (Optional)": "02-11-2026",
            "*Sales Channel Id": "7714",
            "*Payment Method(COD/Prepaid)": "Prepaid",
            "*Buyer Full Name": person.name,
            "*Buyer Mobile": person.phone,
            "*Shipping Full Address": f"{person.street}, {person.area}, {person.city} - {person.pin}",
            "*Shipping Address Zipcode(Pincode)": person.pin,
            "*Shipping Address City": person.city,
            "*Shipping Address State": person.state,
            "*Shipping Address Country": "India",
            "*Product SKU": sku,
            "*Product Name": item.name,
            "*Product Quantity": quantity,
            "Tax %": "18",
            "*Selling Price(Per Unit Item, Inclusive of Tax)": item.price,
            "*Length (cm)": "30",
            "*Breadth (cm)": "22.0",
            "*Height (cm)": "18",
            "*Weight Of Shipment(kg)": f"{item.weight / 1000:g}",
            "HSN Code": "07323",
        }
        return common | {names[name]: value for name, value in changes.items()}

    names = {
        "reference": "*Order Id",
        "name": "*Buyer Full Name",
        "pay": "*Payment Method(COD/Prepaid)",
        "mobile": "*Buyer Mobile",
        "address": "*Shipping Full Address",
        "pin": "*Shipping Address Zipcode(Pincode)",
        "cod_charges": "COD Charges(Per Order)",
        "discount": "Discount(Per Unit Item)",
        "off": "Total Discount(Per Order)",
        "price": "*Selling Price(Per Unit Item, Inclusive of Tax)",
        "weight": "*Weight Of Shipment(kg)",
        "height": "*Height (cm)",
        "email": "Buyer Email (Optional)",
    }
    pune, pimpri, mumbai, thane = PEOPLE[15:19]
    lines = [
        line(1, pune, "KTL-15-SS", pay="COD", cod_charges="40", email="order1@example.com"),
        # Two items of one order: (649 - 50) x 2 + 399 + 40 - 100 = 1537 to collect; the en dash is Windows' own.
        line(2, pimpri, "TIF-3-SS", "2", pay="cod", discount="50", cod_charges="40", off="100", weight="1.94"),
        line(2, pimpri, "MUG-2-CR", pay="cod", cod_charges="40", off="100", weight="1.94"),
        line(3, mumbai, "SPB-7-WD", mobile="+91 98200 45561 / 022 2555 0100", address="3, Sea Breeze – St. Anne’s Rd"),
        line(4, thane, "BTL-1L-CU", pin="400 607", mobile="97690 34412 / 98200 45561"),
        line(5, PEOPLE[20], "LMP-BR-M", mobile="9.81E+09"),  # went through Excel
        line(6, PEOPLE[21], "AGB-100", "10", pin="11005"),  # a digit is gone
        line(7, PEOPLE[22], "CSH-5-JT", pay="Wallet"),
        line(8, PEOPLE[23], "TWL-4-CT", height="180mm"),
        line(9, PEOPLE[24], "YGM-6-GR", pay="COD", price="Rs. 799/-"),
        line(10, PEOPLE[25], "BED-QN-IN", weight="1.68"),
        line(10, PEOPLE[25], "CSH-5-JT", weight="1.68", address="12, Canal Street, Kolkata"),  # which door?
        line(11, PEOPLE[27], "DYA-12-TC", "2 box"),
        line(12, PEOPLE[28], "RNG-KIT-6", "3", mobile="+91-7838114409", pay="PREPAID "),
        line(13, PEOPLE[29], "TAW-28-NS", pay="COD", price="0"),  # nothing to collect?
        line(14, PEOPLE[20], "BTL-1L-CU", reference="ORD001", name="John Doe"),  # the template's own row
    ]
    total: dict[str, Cell] = {"*Order Id": "TOTAL", "*Product Quantity": "29"}
    return TextFile(under(AGGREGATOR, [*lines, total]), encoding="cp1252")


def eshopbox_orders() -> TextFile:
    """Comment rows above and between, dates as 05-Nov-26, an order number with zeros in front."""

    def line(order: str, person: Person, sku: str, number: int, **changes: Cell) -> dict[str, Cell]:
        common: dict[str, Cell] = {
            "Channel order id": order,
            "Customer order id": f"WEB{order[-3:]}",
            "Order item id": f"{order}-{number}",
            "Payment method": "Prepaid",
            "Shipping customer name": person.name,
            "Shipping email id": f"web{order[-3:]}@example.com",
            "Shipping contact number": person.phone,
            "Shipping address": f"{person.street}\n{person.area}",
            "Shipping pin code": person.pin,
            "Shipping city": person.city,
            "Shipping state": person.state,
            "Product ID": sku,
            "Quantity": "1",
            "Expected delivery date": "06-Nov-26",
        }
        return common | {names[name]: value for name, value in changes.items()}

    names = {
        "pay": "Payment method",
        "cod": "COD Amount",
        "replaces": "Replacement for order item id",
        "phone": "Shipping contact number",
        "quantity": "Quantity",
        "due": "Expected delivery date",
        "pin": "Shipping pin code",
        "product": "Product ID",
    }
    hyderabad, charminar, chennai, marina, kochi = PEOPLE[10:15]
    lines = [
        line("00718001", hyderabad, "KTL-18-GL", 1, pay="COD", cod="₹1,848.00"),
        line("00718001", hyderabad, "TIF-3-SS", 2, pay="COD", cod="₹1,848.00"),
        line("00718002", charminar, "8901234500012", 1),  # an EAN in the place of the SKU
        line("00718003", chennai, "PCK-5L-AL", 1, pay="COD", cod=""),  # how much?
        line("00718004", marina, "TAW-28-NS", 1, cod="749"),  # prepaid, and yet an amount
        line("00718005", kochi, "BTL-750-SS", 1, due="Nov-26"),  # which day?
        line("00718006", PEOPLE[13], "8.90E+12", 1),
        line("00718007", PEOPLE[14], "SPB-7-WD", 1, due="07-11-2026", replaces="00717311-1"),
        line("00718008", PEOPLE[9], "LMP-BR-M", 1, pay="COD", cod="1,899", phone="", quantity="1.0"),
        line("00718009", PEOPLE[7], "LMP-BR-M", 1, pay="COD", cod="1,899", quantity="1.0"),
    ]
    table = under(ESHOPBOX, lines)
    above = [
        ["; Fill in the rows below the header. A row that begins with a semicolon is not read."],
        [";Channel order id", "the order's number in the channel; mandatory"],
    ]
    between = [[";" + str(cell) if number == 0 else cell for number, cell in enumerate(table[1])]]
    return TextFile([*above, table[0], *between, *table[1:]], encoding="utf-8-sig")


def shipwire_orders() -> TextFile:
    """Tabs, a header in brackets, and an example above it: the same rows behind semicolons."""

    def line(order: str, shop: Person, sku: str, number: int, **changes: Cell) -> dict[str, Cell]:
        common: dict[str, Cell] = {
            "[order_no]": order,
            "[order_date]": "11/2/26",
            "[ship_to_name]": shop.name,
            "[ship_to_address_1]": shop.street,
            "[ship_to_address_2]": shop.area,
            "[ship_to_city]": shop.city,
            "[ship_to_state]": shop.state,
            "[ship_to_ZIP]": shop.pin,
            "[ship_to_country]": "IN",
            "[ship_to_email]": "receiving@example.com",
            "[ship_to_phone]": f"{shop.phone[:5]}-{shop.phone[5:]}",
            "[ship_to_is_commercial]": "1",
            "[sku]": sku,
            "[retailer_sku]": f"R{order}-{number}",
            "[upc]": f"89012345{number:05d}",
            "[retailer_line_no]": str(number),
            "[quantity]": "24",
            "[shipping_method]": "GD",
            "[delivery_window_type]": "BEFORE",
            "[delivery_window_max_date]": "11/9/26",
        }
        return common | {names[name]: value for name, value in changes.items()}

    names = {
        "quantity": "[quantity]",
        "by": "[delivery_window_max_date]",
        "country": "[ship_to_country]",
        "pin": "[ship_to_ZIP]",
        "name": "[ship_to_name]",
        "commercial": "[ship_to_is_commercial]",
    }
    stores, pearl, gala = PEOPLE[6], PEOPLE[10], PEOPLE[16]
    lines = [
        line("W-1000", stores, "TIF-3-SS", 1),
        line("W-1000", stores, "MUG-2-CR", 2, quantity="1,200"),
        line("W-1001", pearl, "AGB-100", 1, by="11/13/26"),  # no thirteenth month: month first
        line("W-1002", gala, "KTL-15-SS", 1, by="13/11/26"),  # day first: not what was agreed
        line("W-1003", pearl, "KTL-18-GL", 1, quantity="0"),
        line("W-1003", pearl, "LMP-BR-M", 2),
        line("W-1004", gala, "CSH-5-JT", 1, pin="41026"),
        line("W-1005", stores, "DYA-12-TC", 1, commercial="0", by=""),
        line("W-1006", gala, "SPB-7-WD", 1),
        line("W-1006", gala, "SPB-7-WD", 2, name="Shree Traders"),  # one order, two shops
    ]
    table = under(SHIPWIRE, lines)
    example = under(SHIPWIRE, [line("1000", stores, "diamond", 1), line("1000", stores, "ruby", 2)])
    commented: list[list[Cell]] = [[f";{row[0]}", *row[1:]] for row in example]
    above: list[list[Cell]] = [
        ["; This is the template for wholesale orders.", *[""] * (len(SHIPWIRE) - 1)],
        [";", *[""] * (len(SHIPWIRE) - 1)],
        ["; -------------------- EXAMPLE ORDERS ----------------", *[""] * (len(SHIPWIRE) - 1)],
    ]
    return TextFile([*above, *commented, *table], suffix=".tsv", delimiter="\t")
