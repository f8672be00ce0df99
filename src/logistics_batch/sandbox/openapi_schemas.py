"""The schemas of the API description: bodies from the tables that judge them, answers and events in their own words."""

from collections.abc import Iterable
from typing import Any

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.forms import TEXT, Fields

Schema = dict[str, Any]

_BLANK_IS_MISSING = {"type": "string", "pattern": r"\S"}
_STRING: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_INTEGER: Schema = {"type": "integer"}
_DATE_TIME: Schema = {"type": "string", "format": "date-time"}
_PHONE_NUMBER: Schema = {"type": ["integer", "null"]}


def ref(name: str) -> Schema:
    """A reference to the component schema of this name."""
    return {"$ref": f"#/components/schemas/{name}"}


def request_schemas() -> dict[str, Schema]:
    """Component schemas of the request bodies (API §2)."""
    items = {"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": ref("Item")}
    return {
        "Asn": _asn(),
        "SkuLine": _object(contract.SKU_LINE, required=("qty",)),
        "Order": _order(),
        "OrderUpdate": _object(
            contract.ORDER_UPDATE, required=("customer_mobile", "delivery_address"), item_details=items
        ),
        "Item": _object(contract.ITEM, required=("item_name",)),
        "Kit": _object(contract.KIT, item_details=_array("Item")),
        "AddedItems": _closed({"item_details": items | {"minProperties": 1}}),
        "DeletedItems": _closed({"item_list": {"type": "array", "items": _STRING, "minItems": 1}}),
        "LabelRequest": {"oneOf": [ref("LabelOrders"), ref("LabelShipment")]},
        "LabelOrders": _label_orders(),
        "LabelShipment": _label_shipment(),
        "LabelSku": _object(contract.LABEL_SKU),
        "LabelDimensions": _object(contract.LABEL_DIMENSIONS),
        "Webhook": _object(contract.WEBHOOK, required=("webhookId", "callbackUrl")),
        "WebhookUpdate": _object(contract.WEBHOOK_UPDATE, required=("webhookId",)),
    }


def answer_schemas() -> dict[str, Schema]:
    """Component schemas of the answers (API §4, §7)."""
    changed = {"awb_number": _STRING, "delivery_hub": _STRING, "item_details": _by_id(_answered_item())}
    children: Schema = {"type": "array", "items": _STRING}
    return {
        "Failed": _closed({"status": {"const": "FAIL"}, "message": _STRING}),
        "Passed": _passed(_STRING),
        "OrderCreated": _passed(_closed(changed | {"child_awb_numbers": children})),
        "OrderChanged": _passed(_closed(changed)),
        "OrderFetched": _passed(_closed({"order_details": ref("OrderDetails")})),
        "OrderDetails": _order_details(),
        "AsnStored": _passed(_closed({"id": _INTEGER, "invoice_number": _STRING})),
        "AsnList": _closed(
            {
                "count": {"type": "integer", "minimum": 0},
                "next": {"type": ["integer", "null"]},
                "previous": {"type": ["integer", "null"]},
                "result": _array("AsnRecord"),
            }
        ),
        "AsnRecord": _asn_record(),
        "LabelLink": _closed({"status": {"const": "SUCCESS"}, "url": {"type": "string", "format": "uri"}}),
    }


def event_schema() -> Schema:
    """The payload of updateOrderStatus (API §6)."""
    texts = ("WaybillNo", "OrderStatus", "order_status", "StatusCode", "CourierComment", "ToMobileNumber")
    more = ("ToEmail", "ToName", "Client", "order_no", "remarks")
    return _closed(
        {
            "eventType": {"const": "updateOrderStatus"},
            **dict.fromkeys((*texts, *more), _STRING),
            **dict.fromkeys(("StatusDateTime", "EDD"), _DATE_TIME),
            "podDocs": {"type": "array", "items": _STRING},
            "location": _closed({"lat": _NUMBER, "long": _NUMBER}),
        }
    )


def _object(fields: Fields, *, required: Iterable[str] = (), **inner: Schema) -> Schema:
    """An object of these fields and no others; a required text that is blank counts as missing."""
    wanted = list(required)
    properties: dict[str, Schema] = {name: dict(form.schema) for name, form in fields.items()}
    properties |= {name: dict(_BLANK_IS_MISSING) for name in wanted if fields[name] is TEXT} | inner
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": wanted} if wanted else {})


def _closed(properties: dict[str, Schema]) -> Schema:
    """An object of exactly these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _array(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


def _by_id(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def _asn() -> Schema:
    schema = _object(
        contract.ASN, required=("invoice_number", "sku_lines"), sku_lines=_array("SkuLine") | {"minItems": 1}
    )
    either = [("supplier", "supplier_name"), ("site", "site_name")]
    return schema | {"allOf": [{"anyOf": [_with(name) for name in names]} for names in either]}


def _with(name: str) -> Schema:
    return {"required": [name], "properties": {name: _BLANK_IS_MISSING}}


def _order() -> Schema:
    schema = _object(
        contract.ORDER_CREATE,
        required=("reference_number", "customer_mobile", "delivery_address"),
        item_details=_array("Item"),
        kit_skus=_array("Kit"),
    )
    unpacked = {"items": {"properties": {"package_id": False}}}
    kits = {"items": {"properties": {"item_details": unpacked}}}
    alone = {"package_id": False, "item_details": unpacked, "kit_skus": kits}
    return schema | {"if": {"required": ["packages_count"]}, "then": {"properties": alone}}


def _label_orders() -> Schema:
    listed = {"type": "array", "items": _STRING, "contains": _BLANK_IS_MISSING}
    return _closed({contract.ORDER_NUMBERS: {"anyOf": [{"type": "string", "pattern": r"[^\s,]"}, listed]}})


def _label_shipment() -> Schema:
    schema = _object(
        contract.LABEL_SHIPMENT,
        required=("awb_number", "primary_mobile_no", "shipping_address", "delivery_pincode"),
        dimensions={"anyOf": [_STRING, ref("LabelDimensions")]},
        sku_details={"anyOf": [_STRING, _array("LabelSku")]},
    )
    collects = {"required": ["is_cod"], "properties": {"is_cod": {"const": True}}}
    nothing = {"properties": {"amount_to_collect": {"pattern": contract.NOTHING_TO_COLLECT}}}
    return schema | {"anyOf": [collects, nothing]}


def _passed(message: Schema) -> Schema:
    return _closed({"status": {"const": "PASS"}, "message": message})


def _answered_item() -> Schema:
    names = ("item_name", "item_price_per_each", "total_item_price")
    properties: dict[str, Schema] = {**dict.fromkeys(names, _STRING), "item_quantity": _NUMBER}
    return {"type": "object", "properties": properties, "required": ["item_name"], "additionalProperties": False}


def _order_details() -> Schema:
    texts = ("reference_number", "awb_number", "status", "delivery_hub_sn", "delivery_hub", "customer_name")
    addresses = ("delivery_address", "delivery_postal_code", "pickup_address", "pickup_postal_code")
    returns = ("return_address", "return_postal_code", "return_customer_name", "return_hub", "pickup_customer_name")
    item = _closed(
        {
            "item_name": _STRING,
            **dict.fromkeys(("item_quantity", "item_qty_picked", "item_qty_delivered"), _NUMBER),
        }
    )
    return _closed(
        {
            "order_id": _INTEGER,
            **dict.fromkeys((*texts, *addresses, *returns, "cash_on_delivery"), _STRING),
            "customer_mobile": _INTEGER,
            **dict.fromkeys(
                ("alternate_customer_mobile", "pickup_customer_mobile", "return_customer_mobile"), _PHONE_NUMBER
            ),
            "item_details": _by_id(item),
        }
    )


def _asn_record() -> Schema:
    text_or_null: Schema = {"type": ["string", "null"]}
    line = {"id": _INTEGER, **dict.fromkeys(contract.SKU_LINE, text_or_null)}
    head = [name for name in contract.ASN if name != "sku_lines"]
    return _closed(
        {
            **dict.fromkeys(("id", "created_by", "customer"), _INTEGER),
            "modified_by": {"type": ["integer", "null"]},
            **dict.fromkeys(("created_date", "modified_date"), _DATE_TIME),
            **dict.fromkeys(head, text_or_null),
            "sku_lines": {"type": "array", "items": _closed(line)},
        }
    )
