"""How likely a column's name stands for a target: by the words that people use for it."""

import re
import unicodedata
from functools import cache
from typing import Final

from logistics_batch.mapping.names import ColumnName
from logistics_batch.model.document import Operation

LIKELY: Final = 0.66
"""From this likeness on a name alone is a reason."""

_SAME_WORDS: Final = 0.97  # words of the same meaning are a little less than the same words

_WORDS: Final[dict[str, str]] = {
    word: meaning
    for meaning, words in {
        "number": "no num nr nbr nmbr number id code ref reference #",
        "phone": "mobile phone mob contact tel telephone cell ph cellphone",
        "pin": "pin pincode zip zipcode postcode postal",
        "qty": "qty quantity pcs units nos",
        "address": "address addr add street shipto",
        "ship": "shipping ship delivery deliver customer cust buyer consignee recipient receiver to",
        "bill": "billing bill",
        "item": "item product article goods lineitem",
        "sku": "sku code itemcode productcode merchantsku upc ean",
        "price": "price rate selling cost declared",
        "amount": "amount amt value total",
        "cod": "cod collect collectable payable",
        "pay": "payment pay paymode method mode",
        "supplier": "supplier vendor party seller account",
        "site": "site warehouse facility location wh branch fc fulfillment fulfilment center centre",
        "invoice": "invoice inv bill challan",
        "date": "date dt on by",
        "expiry": "expiry exp expires expiration bbd",
        "name": "name full",
        "email": "email mail",
        "order": "order ord",
        "line": "line",
        "desc": "description desc details particulars",
        "alternate": "alternate alternative alt second other secondary",
    }.items()
    for word in words.split()
}
_SILENT: Final = frozenset(
    [
        "of",
        "the",
        "optional",
        "required",
        "as",
        "per",
        "shipment",
        "dd",
        "mm",
        "yyyy",
        "in",
        "inr",
        "header",
        "merchant",
    ]
)
_ORDER: Final[dict[str, str]] = {
    "reference_number": "order number|order id|order|reference number|order no|channel order id|name",
    "customer_reference_number": "customer order id|customer reference|external id|po number",
    "customer_name": "customer name|shipping name|ship to name|buyer full name|consignee|recipient|name|ship to",
    "customer_mobile": "customer mobile|phone|mobile|contact number|shipping phone|ship to phone",
    "alternate_customer_mobile": "alternate mobile|customer alternate mobile|alternate phone",
    "customer_email": "email|customer email|buyer email|shipping email id",
    "delivery_address": "address|shipping address|delivery address|shipping full address|ship to address",
    "delivery_postal_code": "pin|pincode|shipping zip|shipping address postcode|postal code|ship to postal code",
    "is_cod": "payment method|payment|payment mode|cod",
    "cash_on_delivery": "cod amount|amount to collect|collectable amount|cash on delivery|amount|order total|total",
    "is_commercial_address": "is commercial|commercial address",
    "expected_delivery_time": (
        "deliver by|expected delivery date|delivery date|delivery by|promised date|due|due date"
        "|delivery window max date"
    ),
    "weight": "weight|weight of shipment|shipment weight|order weight",
    "length": "length",
    "breadth": "breadth|width",
    "height": "height",
    "priority": "priority|prio",
    "division": "division",
    "delivery_hub": "delivery hub|hub",
    "pickup_hub": "pickup hub",
    "packages_count": "packages|boxes|number of packages|no of boxes",
    "return_address": "return address|ret address",
    "return_postal_code": "return pin|return pincode",
    "delivery_lat": "latitude|lat",
    "delivery_long": "longitude|long|lng|lon",
}
_ITEM: Final[dict[str, str]] = {
    "item_name": "sku|item code|product sku|master sku|lineitem sku|item sku|product id|item|product name|item name",
    "item_quantity": "qty|quantity|product quantity|lineitem quantity|item quantity|order qty",
    "item_price_per_each": "price|rate|unit price|selling price|item price|lineitem price",
    "total_item_price": "line total|item total|line amount",
    "item_category": "category|product group",
    "brand": "brand",
    "item_id": "item id",
    "package_id": "package id|box number|carton number",
}
_ASN: Final[dict[str, str]] = {
    "invoice_number": (
        "invoice number|inv no|purchase order code|po number|asn number|bill no|document number|doc num|reference"
    ),
    "supplier": "supplier id|vendor code|supplier code",
    "supplier_name": "supplier|supplier name|vendor|vendor name|party|party name|account short name",
    "site": (
        "site id|facility code|warehouse code|site code|location code|branch code|site|warehouse|fulfillment center"
    ),
    "site_name": "site|site name|warehouse|facility|location",
    "delivery_date": "delivery date|expected date|eta|arrival date|expected arrival|due|due date",
    "expiry_date": "po expiry|asn expiry",
    "description": "po description",
    "total_price": "",
    "batch": "",
}
_SKU_LINE: Final[dict[str, str]] = {
    "sku_name": "sku|item code|product code|sku name|channel sku|part number|article code|product id",
    "qty": "qty|quantity|item quantity|proposed qty|dispatched qty",
    "price_per_qty": "rate|unit price|price|cost price|declared value",
    "item_desc": "item description|description|item desc|product name|particulars|item name",
    "maximum_retail_price": "mrp|maximum retail price",
    "discount": "discount|discount amount",
}
_RECEIPT: Final[dict[str, str]] = {
    "invoice_number": "invoice number|invoice no|po number|asn number",
    "sku_name": "sku|item code|product code|sku name|item",
    "qty": "received qty|qty received|qty|quantity",
    "condition": "condition|quality|status",
    "received_date": "received date|grn date|receipt date|date received",
    "supplier_name": "supplier|vendor|party|supplier name",
    "site_name": "site|warehouse|facility|location",
}

_CHANGED: Final = {"order_id": "awb number|awb|waybill|order number|reference number"}
_MEASURES: Final = {name: _ORDER[name] for name in ("weight", "length", "breadth", "height")}
_LABEL: Final[dict[str, str]] = {
    "order_numbers": "order number|order no|waybill|reference number",
    "awb_number": "awb number|awb",
    "primary_mobile_no": _ORDER["customer_mobile"],
    "shipping_address": _ORDER["delivery_address"],
    "delivery_pincode": _ORDER["delivery_postal_code"],
    "customer_name": _ORDER["customer_name"],
    "is_cod": _ORDER["is_cod"],
    "amount_to_collect": _ORDER["cash_on_delivery"],
    "date_placed": "date placed|placed|order date",
    "return_address": _ORDER["return_address"],
    **_MEASURES,
}
_LABEL_ITEM: Final[dict[str, str]] = {
    "name": _ITEM["item_name"],
    "quantity": _ITEM["item_quantity"],
    "each_item_price": _ITEM["item_price_per_each"],
    "total_item_price": _ITEM["total_item_price"],
}


def names_of_targets(operation: Operation) -> tuple[dict[str, str], dict[str, str]]:
    """For fields and for lines the names that people give each target, the likeliest first, parted by `|`."""
    match operation:
        case Operation.RECEIPT_READ:
            return _RECEIPT, {}
        case Operation.ASN_CREATE | Operation.ASN_UPDATE:
            return _ASN, _SKU_LINE
        case Operation.LABEL_CREATE:
            return _LABEL, _LABEL_ITEM
        case Operation.ORDER_CREATE:
            return _ORDER, _ITEM
        case Operation.ORDER_ADD_ITEMS:
            return _CHANGED | _ORDER, _ITEM | _MEASURES
        case _:
            return _CHANGED | _ORDER, _ITEM


@cache
def words_of(name: str) -> frozenset[str]:
    """The words of a name by their meaning.

    >>> sorted(words_of("Cust. Mob. No.")), sorted(words_of("ShippingZip"))
    (['number', 'phone', 'ship'], ['pin', 'ship'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name).split("(")[0].split("[")[-1])
    words = re.findall(r"[a-z]+|#", spaced.casefold())
    meanings = [_WORDS.get(word, _WORDS.get(word.rstrip("s"), word)) for word in words if word not in _SILENT]
    found = frozenset(meanings)
    return found - {"number", "sku"} if "pin" in found else found


def likeness(column: str, names: str) -> tuple[float, str]:
    """How alike a column's name is to the likeliest of some names (0 to 1), and which.

    >>> likeness("Shipping Pin Code", "pincode|shipping zip"), likeness("PINCODE", "pincode|shipping zip")
    ((0.97, 'shipping zip'), (1.0, 'pincode'))
    """
    identity, own = ColumnName.of(column).short, words_of(column)
    best = (0.0, "")
    for name in filter(None, names.split("|")):
        other = words_of(name)
        together = len(own) + len(other)
        score = _SAME_WORDS * 2 * len(own & other) / together if together else 0.0
        score = 1.0 if identity == ColumnName.of(name).short else score
        best = max(best, (round(score, 2), name), key=lambda pair: pair[0])
    return best
