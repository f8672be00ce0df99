"""The bodies of the API document: which fields they know, which they need, and which rules hold between them."""

import re
from collections.abc import Iterable
from typing import Any

from logistics_batch.sandbox.forms import (
    AMOUNT,
    AWB,
    BOOLEAN,
    BY_ID,
    COORDINATE,
    COUNT,
    DATE,
    DATE_TIME,
    FLAG,
    LIST,
    MISSING,
    NUMBER,
    PHONE,
    QUANTITY,
    TEXT,
    Form,
    Refused,
    check_fields,
    has,
    one_of,
    require,
)

Body = dict[str, Any]

ASN_STATUSES = ("New", "In-Progress", "Completed", "Expired")
REFERENCE_MISSING = "Shipment Reference Number is required"
AWB_MISSING = "AWB Number is mandatory for shipping label"
AMOUNT_WITHOUT_COD = "Malformed value of amount_to_collect: 0.00 is expected unless is_cod is true"
TWO_PACKAGINGS = "Both packages_count and package_id cannot be sent"

ASN = {  # API §2.1
    **dict.fromkeys(("supplier", "supplier_name", "description", "site", "site_name"), TEXT),
    **dict.fromkeys(("batch", "serial_number", "invoice_number"), TEXT),
    "status": one_of(*ASN_STATUSES),
    "delivery_date": DATE,
    "expiry_date": DATE,
    "total_price": AMOUNT,
    "sku_lines": LIST,
}
SKU_LINE = {
    **dict.fromkeys(("sku_name", "item_desc", "tracking_level"), TEXT),
    **dict.fromkeys(
        ("price_per_qty", "maximum_retail_price", "discount", "discount_percentage", "qty_received"), AMOUNT
    ),
    "status": one_of("Unlocked", "Locked"),
    "qty": QUANTITY,
}
ITEM = {  # API §2.3
    **dict.fromkeys(("item_name", "item_category", "brand", "package_id"), TEXT),
    **dict.fromkeys(("item_price_per_each", "total_item_price", "weight", "volume"), AMOUNT),
    **dict.fromkeys(("length", "breadth", "height", "cgst", "sgst", "igst"), AMOUNT),
    "item_quantity": NUMBER,
}
KIT = {"name": TEXT, "description": TEXT, "item_details": LIST}
ORDER_UPDATE: dict[str, Form] = {  # the fields marked U
    **dict.fromkeys(("delivery_hub", "pickup_hub", "return_hub", "customer_name", "customer_email"), TEXT),
    **dict.fromkeys(("delivery_address", "delivery_postal_code", "pickup_address", "pickup_postal_code"), TEXT),
    **dict.fromkeys(("return_address", "return_postal_code", "return_customer_name"), TEXT),
    **dict.fromkeys(("commercial_class", "priority", "division"), TEXT),
    **dict.fromkeys(("customer_mobile", "alternate_customer_mobile", "return_customer_mobile"), PHONE),
    # the published name is ..._long, the samples say ..._lon
    **dict.fromkeys(
        ("delivery_lat", "delivery_long", "delivery_lon", "pickup_lat", "pickup_long", "pickup_lon"), COORDINATE
    ),
    **dict.fromkeys(("return_lat", "return_lon"), COORDINATE),
    **dict.fromkeys(("is_commercial_address", "is_cod"), FLAG),
    **dict.fromkeys(("pickup_datetime", "expected_delivery_time"), DATE_TIME),
    "cash_on_delivery": AMOUNT,
    "item_details": BY_ID,
}
ORDER_CREATE: dict[str, Form] = {
    **ORDER_UPDATE,
    **dict.fromkeys(("reference_number", "customer_reference_number"), TEXT),
    "awb_number": AWB,
    **dict.fromkeys(("is_hyperlocal", "is_inventory_managed_bh", "is_return_order"), FLAG),
    **dict.fromkeys(("weight", "volume", "length", "breadth", "height"), AMOUNT),
    **dict.fromkeys(("what3words", "package_id", "pin_number", "carrier_mode", "pickup_customer_name"), TEXT),
    "pickup_customer_mobile": PHONE,
    "packages_count": COUNT,
    "item_details": LIST,
    "kit_skus": LIST,
}
LABEL_SHIPMENT = {  # API §2.2
    **dict.fromkeys(("awb_number", "shipping_address", "delivery_pincode", "order_id", "customer_name"), TEXT),
    **dict.fromkeys(("return_address", "date_placed"), TEXT),
    **dict.fromkeys(("amount_to_collect", "weight", "length", "breadth", "height"), AMOUNT),
    "primary_mobile_no": PHONE,
    "is_cod": BOOLEAN,
    "dimensions": Form(
        "a string or an object", lambda value: isinstance(value, (str, dict)), {"type": ["string", "object"]}
    ),
    "sku_details": Form(
        "a string or an array of objects",
        lambda value: isinstance(value, str) or LIST.accepts(value),
        {"type": ["string", "array"], "items": {"type": "object"}},
    ),
}
LABEL_DIMENSIONS = dict.fromkeys(("length", "breadth", "height", "uom"), TEXT)
LABEL_SKU = {
    "name": TEXT,
    **dict.fromkeys(("quantity", "weight", "each_item_price", "total_item_price"), AMOUNT),
}
ORDER_NUMBERS = "order_numbers[]"
NOTHING_TO_COLLECT = r"^-?0+(\.0+)?$"
_PORT = r"(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
_URL = r"^https?://([!-.0-?A-Z\[-~]+@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)" + _PORT + r"([/?#][!-~]*)?$"
WEBHOOK = {  # API §2.4
    "webhookId": Form("a number", lambda value: type(value) is int, {"type": "integer"}),
    "callbackUrl": Form(
        "an http or https URL",
        lambda value: isinstance(value, str) and re.fullmatch(_URL, value) is not None,
        {"type": "string", "pattern": _URL},
    ),
    "headers": Form(
        "an object of strings",
        lambda value: isinstance(value, dict) and all(map(TEXT.accepts, value.values())),
        {  # what HTTP can carry, but not what the sender of events sets itself
            "type": "object",
            "propertyNames": {
                "pattern": r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
                "not": {"enum": ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Content-Type"]},
            },
            "additionalProperties": {"type": "string", "pattern": r"^[\t\x20-\x7e\x80-\xff]*$"},
        },
    ),
    "verify_payload": BOOLEAN,
}
WEBHOOK_UPDATE = {**WEBHOOK, "is_active": BOOLEAN}


def check_asn(body: Body) -> None:
    """An ASN to create or update (API §2.1)."""
    if not (has(body, "supplier") or has(body, "supplier_name")):
        raise Refused("Either supplier or supplier_name is required")
    if not (has(body, "site") or has(body, "site_name")):
        raise Refused("Either site or site_name is required")
    require(body, "invoice_number", "sku_lines")
    check_fields(body, ASN)
    if not body["sku_lines"]:
        raise Refused(MISSING)
    for number, line in enumerate(body["sku_lines"]):
        require(line, "qty")
        check_fields(line, SKU_LINE, where=f"sku_lines[{number}].")


def check_order(body: Body) -> None:
    """An order to create (API §2.3, §4.6)."""
    if not has(body, "reference_number"):
        raise Refused(REFERENCE_MISSING)
    require(body, "customer_mobile", "delivery_address")
    check_fields(body, ORDER_CREATE)
    items = list(order_items(body))
    _check_items((item for _, item in items), where="item_details")
    for kit in body.get("kit_skus", []):
        check_fields(kit, KIT, where="kit_skus.")
    if "packages_count" in body and ("package_id" in body or any("package_id" in item for _, item in items)):
        raise Refused(TWO_PACKAGINGS)


def check_order_update(body: Body) -> None:
    """A change of an order (API §4.7): items by their id."""
    require(body, "customer_mobile", "delivery_address")
    check_fields(body, ORDER_UPDATE)
    _check_items(body.get("item_details", {}).values(), where="item_details")


def check_added_items(body: Body) -> None:
    """Items to add to an order, by their id (API §4.8)."""
    require(body, "item_details")
    check_fields(body, {"item_details": BY_ID})
    if not body["item_details"]:
        raise Refused(MISSING)
    _check_items(body["item_details"].values(), where="item_details")


def check_deleted_items(body: Body) -> None:
    """Ids of the items to delete (API §4.9)."""
    require(body, "item_list")
    ids = Form("an array of strings", lambda value: isinstance(value, list) and all(map(TEXT.accepts, value)))
    check_fields(body, {"item_list": ids})
    if not body["item_list"]:
        raise Refused(MISSING)


def check_label(body: Body) -> list[str]:
    """A label request (API §2.2, §4.4); gives the order numbers, none when it is a whole shipment."""
    if ORDER_NUMBERS in body:
        return _order_numbers(body)
    if not has(body, "awb_number"):
        raise Refused(AWB_MISSING)
    require(body, "primary_mobile_no", "shipping_address", "delivery_pincode")
    check_fields(body, LABEL_SHIPMENT)
    if body.get("is_cod") is not True and not re.match(NOTHING_TO_COLLECT, body.get("amount_to_collect", "0.00")):
        raise Refused(AMOUNT_WITHOUT_COD)
    if isinstance(body.get("dimensions"), dict):
        check_fields(body["dimensions"], LABEL_DIMENSIONS, where="dimensions.")
    if isinstance(body.get("sku_details"), list):
        for line in body["sku_details"]:
            check_fields(line, LABEL_SKU, where="sku_details.")
    return []


def check_webhook(body: Body) -> None:
    """A webhook to subscribe (API §4.11)."""
    require(body, "webhookId", "callbackUrl")
    check_fields(body, WEBHOOK)


def check_webhook_update(body: Body) -> None:
    """A change of a webhook (API §4.12)."""
    require(body, "webhookId")
    check_fields(body, WEBHOOK_UPDATE)


def order_items(body: Body) -> Iterable[tuple[str | None, Body]]:
    """Every item of an order to create, each with the name of its kit (None outside kits)."""
    for item in body.get("item_details", []):
        yield None, item
    for kit in body.get("kit_skus", []):
        contents = kit.get("item_details", [])
        if not LIST.accepts(contents):
            raise Refused(f"Malformed value of kit_skus.item_details: {LIST.wanted} is expected")
        for item in contents:
            yield str(kit.get("name", "")), item


def _check_items(items: Iterable[Body], *, where: str) -> None:
    for item in items:
        require(item, "item_name")
        check_fields(item, ITEM, where=f"{where}.")


def _order_numbers(body: Body) -> list[str]:
    if len(body) > 1:
        raise Refused(f"{ORDER_NUMBERS} is sent alone")
    given = body[ORDER_NUMBERS]
    parts = given.split(",") if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(map(TEXT.accepts, parts)):
        raise Refused(f"Malformed value of {ORDER_NUMBERS}: a string or an array of strings is expected")
    numbers = [part.strip() for part in parts if part.strip()]
    if not numbers:
        raise Refused(MISSING)
    return numbers
