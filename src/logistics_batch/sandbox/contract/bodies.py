"""The bodies that the service takes (API §2): their fields, which of them are required, and the rules between them."""

import re
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, RootModel, Tag, model_validator

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.forms import (
    ABSENT,
    MISSING,
    NOT_BLANK,
    Amount,
    AwbNumber,
    BodyModel,
    Coordinate,
    Count,
    Day,
    Filled,
    Flag,
    Moment,
    Number,
    Phone,
    Quantity,
    Schema,
    check_day,
    describe,
    has,
    rule,
)

ORDER_NUMBERS = "order_numbers[]"
REFERENCE_MISSING = "Shipment Reference Number is required"
AWB_MISSING = "AWB Number is mandatory for shipping label"
AMOUNT_WITHOUT_COD = "Malformed value of amount_to_collect: 0.00 is expected unless is_cod is true"
TWO_PACKAGINGS = "Both packages_count and package_id cannot be sent"
_NOTHING_TO_COLLECT = r"^-?0+(\.0+)?$"
_PORT = r"(:(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
_URL = r"https?://([!-.0-?A-Z\[-~]+@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)" + _PORT + r"([/?#][!-~]*)?"
AsnStatus = Literal["New", "In-Progress", "Completed", "Expired"]
_BLANK_IS_MISSING: Schema = {"type": "string", "pattern": NOT_BLANK}


class SkuLine(BodyModel):
    """A line of an ASN (API §2.1)."""

    qty: Quantity
    sku_name: str = ABSENT
    status: Literal["Unlocked", "Locked"] = ABSENT
    price_per_qty: Amount = ABSENT
    item_desc: str = ABSENT
    maximum_retail_price: Amount = ABSENT
    discount: Amount = ABSENT
    discount_percentage: Amount = ABSENT
    tracking_level: str = ABSENT
    qty_received: Amount = ABSENT


class AsnFields(BodyModel):
    """What can be said of an ASN (API §2.1)."""

    supplier: str = ABSENT
    supplier_name: str = ABSENT
    description: str = ABSENT
    site: str = ABSENT
    site_name: str = ABSENT
    status: AsnStatus = ABSENT
    delivery_date: Day = ABSENT
    expiry_date: Day = ABSENT
    total_price: Amount = ABSENT
    batch: str = ABSENT
    serial_number: str = ABSENT
    invoice_number: str = ABSENT
    sku_lines: list[SkuLine] = ABSENT


class Asn(AsnFields):
    """An ASN to create or update (API §4.2, §4.3)."""

    invoice_number: Filled
    sku_lines: Annotated[list[SkuLine], Field(min_length=1)]
    rules: ClassVar[Schema] = {
        "allOf": [
            {"anyOf": [{"required": [name], "properties": {name: _BLANK_IS_MISSING}} for name in names]}
            for names in (("supplier", "supplier_name"), ("site", "site_name"))
        ],
        "examples": [
            {
                "supplier_name": "Assam Tea Traders",
                "site_name": "Bhiwandi DC",
                "invoice_number": "INV-1001",
                "delivery_date": "2026-03-31",
                "sku_lines": [{"sku_name": "TEA-250", "qty": "40", "price_per_qty": "95.00"}],
            }
        ],
    }

    @classmethod
    def check_presence(cls, given: dict[str, Any]) -> None:
        """Supplier and site are given, each by its id or its name."""
        for party in ("supplier", "site"):
            if not (has(given, party) or has(given, f"{party}_name")):
                raise rule(f"Either {party} or {party}_name is required")


DayOrBlank = Annotated[
    str,
    AfterValidator(lambda text: text and check_day(text)),
    Field(json_schema_extra={"anyOf": [{"format": "date"}, {"const": ""}]}),
]


class AsnSearch(BodyModel):
    """The filters of the ASN fetch (API §4.1); a blank one counts as not given."""

    description: Annotated[str, Field(description="Full or partial description")] = ABSENT
    site: Annotated[str, Field(description="Site id")] = ABSENT
    site_name: Annotated[str, Field(description="Site name, or part of it")] = ABSENT
    status: AsnStatus | Literal[""] = ABSENT
    invoice_number: Annotated[str, Field(description="Invoice number")] = ABSENT
    supplier: Annotated[str, Field(description="Supplier id")] = ABSENT
    supplier_name: Annotated[str, Field(description="Supplier name, or part of it")] = ABSENT
    delivery_date_start: DayOrBlank = ABSENT
    delivery_date_end: DayOrBlank = ABSENT
    created_date_start: DayOrBlank = ABSENT
    created_date_end: DayOrBlank = ABSENT
    modified_date_start: DayOrBlank = ABSENT
    modified_date_end: DayOrBlank = ABSENT


class Item(BodyModel):
    """An item of an order (API §2.3)."""

    item_name: Filled
    item_quantity: Number = ABSENT
    item_price_per_each: Amount = ABSENT
    total_item_price: Amount = ABSENT
    item_category: str = ABSENT
    brand: str = ABSENT
    weight: Amount = ABSENT
    volume: Amount = ABSENT
    length: Amount = ABSENT
    breadth: Amount = ABSENT
    height: Amount = ABSENT
    package_id: str = ABSENT
    cgst: Amount = ABSENT
    sgst: Amount = ABSENT
    igst: Amount = ABSENT


ItemsById = dict[Annotated[str, Field(min_length=1)], Item]


class Kit(BodyModel):
    """A kit of an order (API §2.3)."""

    name: str = ABSENT
    description: str = ABSENT
    item_details: list[Item] = ABSENT


class OrderFields(BodyModel):
    """The fields that create and update of an order share: those marked U (API §2.3)."""

    customer_mobile: Phone
    delivery_address: Filled
    delivery_hub: str = ABSENT
    pickup_hub: str = ABSENT
    customer_name: str = ABSENT
    alternate_customer_mobile: Phone = ABSENT
    customer_email: str = ABSENT
    delivery_postal_code: str = ABSENT
    delivery_lat: Coordinate = ABSENT
    delivery_long: Coordinate = ABSENT  # the published name is ..._long, the samples say ..._lon
    delivery_lon: Coordinate = ABSENT
    pickup_address: str = ABSENT
    pickup_postal_code: str = ABSENT
    pickup_lat: Coordinate = ABSENT
    pickup_long: Coordinate = ABSENT
    pickup_lon: Coordinate = ABSENT
    commercial_class: str = ABSENT
    is_commercial_address: Flag = ABSENT
    priority: str = ABSENT
    pickup_datetime: Moment = ABSENT
    expected_delivery_time: Moment = ABSENT
    division: str = ABSENT
    is_cod: Flag = ABSENT
    cash_on_delivery: Amount = ABSENT
    return_address: str = ABSENT
    return_postal_code: str = ABSENT
    return_lat: Coordinate = ABSENT
    return_lon: Coordinate = ABSENT
    return_customer_name: str = ABSENT
    return_customer_mobile: Phone = ABSENT
    return_hub: str = ABSENT


_RECIPIENT = {
    "customer_name": "Asha Rao",
    "customer_mobile": "9876543210",
    "delivery_address": "12 MG Road, Pune",
    "delivery_postal_code": "411001",
}
_ITEM = {"item_name": "TEA-250", "item_quantity": 2, "item_price_per_each": "120.00", "total_item_price": "240.00"}
_UNPACKED: Schema = {"items": {"properties": {"package_id": False}}}


class Order(OrderFields):
    """An order to create (API §4.6)."""

    reference_number: Filled
    awb_number: AwbNumber = ABSENT
    is_hyperlocal: Flag = ABSENT
    is_inventory_managed_bh: Flag = ABSENT
    customer_reference_number: str = ABSENT
    pickup_customer_name: str = ABSENT
    pickup_customer_mobile: Phone = ABSENT
    is_return_order: Flag = ABSENT
    item_details: list[Item] = ABSENT
    weight: Amount = ABSENT
    volume: Amount = ABSENT
    length: Amount = ABSENT
    breadth: Amount = ABSENT
    height: Amount = ABSENT
    what3words: str = ABSENT
    packages_count: Count = ABSENT
    package_id: str = ABSENT
    pin_number: str = ABSENT
    carrier_mode: str = ABSENT
    kit_skus: list[Kit] = ABSENT
    rules: ClassVar[Schema] = {
        "if": {"required": ["packages_count"]},
        "then": {
            "properties": {
                "package_id": False,
                "item_details": _UNPACKED,
                "kit_skus": {"items": {"properties": {"item_details": _UNPACKED}}},
            }
        },
        "examples": [{"reference_number": "ORD-1001", **_RECIPIENT, "item_details": [_ITEM]}],
    }

    @classmethod
    def check_presence(cls, given: dict[str, Any]) -> None:
        """The reference comes first of what must be there."""
        if not has(given, "reference_number"):
            raise rule(REFERENCE_MISSING)

    @model_validator(mode="after")
    def _is_packed_once(self) -> Self:
        items = [*(self.item_details or ()), *(item for kit in self.kit_skus or () for item in kit.item_details or ())]
        packed = any("package_id" in one.model_fields_set for one in (self, *items))
        if packed and "packages_count" in self.model_fields_set:
            raise rule(TWO_PACKAGINGS)
        return self


class OrderUpdate(OrderFields):
    """A change of an order (API §4.7); items by their id."""

    item_details: ItemsById = ABSENT
    rules: ClassVar[Schema] = {"examples": [_RECIPIENT | {"delivery_address": "14 MG Road, Pune"}]}


class AddedItems(BodyModel):
    """Items to add to an order, by their id (API §4.8)."""

    item_details: Annotated[ItemsById, Field(min_length=1)]
    rules: ClassVar[Schema] = {
        "examples": [{"item_details": {"extra-1": {"item_name": "TEA-500", "item_quantity": 1}}}]
    }


class DeletedItems(BodyModel):
    """Ids of the items to delete (API §4.9)."""

    item_list: Annotated[list[str], Field(min_length=1)]
    rules: ClassVar[Schema] = {"examples": [{"item_list": ["extra-1"]}]}


class LabelOrders(BodyModel):
    """A label for orders that exist (API §2.2)."""

    order_numbers: Annotated[
        str | list[str],
        Field(
            alias=ORDER_NUMBERS,
            json_schema_extra={
                "anyOf": [
                    {"type": "string", "pattern": NOT_BLANK.replace("]", ",]")},
                    {"type": "array", "items": {"type": "string"}, "contains": _BLANK_IS_MISSING},
                ]
            },
        ),
    ]

    @classmethod
    def check_presence(cls, given: dict[str, Any]) -> None:
        """Nothing else is sent."""
        if len(given) > 1:
            raise rule(f"{ORDER_NUMBERS} is sent alone")

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not order_numbers({ORDER_NUMBERS: self.order_numbers}):
            raise rule(MISSING)
        return self


class LabelSku(BodyModel):
    """An item on a label (API §2.2)."""

    name: str = ABSENT
    quantity: Amount = ABSENT
    weight: Amount = ABSENT
    each_item_price: Amount = ABSENT
    total_item_price: Amount = ABSENT


class LabelDimensions(BodyModel):
    """The size of a package (API §2.2)."""

    length: str = ABSENT
    breadth: str = ABSENT
    height: str = ABSENT
    uom: str = ABSENT


class LabelShipment(BodyModel):
    """A label for a whole shipment (API §2.2); what it says stands over what the order says."""

    awb_number: Filled
    primary_mobile_no: Phone
    shipping_address: Filled
    delivery_pincode: Filled
    order_id: str = ABSENT
    customer_name: str = ABSENT
    return_address: str = ABSENT
    is_cod: bool = ABSENT
    amount_to_collect: Amount = ABSENT
    date_placed: str = ABSENT
    weight: Amount = ABSENT
    dimensions: str | LabelDimensions = ABSENT
    length: Amount = ABSENT
    breadth: Amount = ABSENT
    height: Amount = ABSENT
    sku_details: str | list[LabelSku] = ABSENT
    missing: ClassVar = {"awb_number": AWB_MISSING}
    rules: ClassVar[Schema] = {
        "anyOf": [
            {"required": ["is_cod"], "properties": {"is_cod": {"const": True}}},
            {"properties": {"amount_to_collect": {"pattern": _NOTHING_TO_COLLECT}}},
        ]
    }

    @model_validator(mode="after")
    def _collects_only_cod(self) -> Self:
        if self.is_cod is not True and not re.match(_NOTHING_TO_COLLECT, self.amount_to_collect or "0.00"):
            raise rule(AMOUNT_WITHOUT_COD)
        return self


def _request_kind(value: object) -> str:
    return "orders" if isinstance(value, dict) and ORDER_NUMBERS in value else "shipment"


class LabelRequest(
    RootModel[
        Annotated[
            Annotated[LabelOrders, Tag("orders")] | Annotated[LabelShipment, Tag("shipment")],
            Discriminator(_request_kind),
        ]
    ]
):
    """What labels are wanted for (API §4.4): orders, or a whole shipment."""

    model_config = {"json_schema_extra": describe}
    rules: ClassVar[Schema] = {"examples": [{ORDER_NUMBERS: "ORD-1001"}]}


Url = Annotated[str, Field(pattern=f"^{_URL}$")]
_HEADER_NAME, _HEADER_VALUE = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", r"[\t\x20-\x7e\x80-\xff]*"
_OWN_HEADERS = ("Host", "Content-Length", "Transfer-Encoding", "Connection", "Content-Type")  # set by the sender


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    """Refuse headers that HTTP cannot carry, and those that the sender of events sets itself."""
    for name, text in headers.items():
        if (
            not re.fullmatch(_HEADER_NAME, name)
            or name.title() in _OWN_HEADERS
            or not re.fullmatch(_HEADER_VALUE, text)
        ):
            raise ValueError("headers that can be sent are expected")
    return headers


class WebhookFields(BodyModel):
    """What can be said of a webhook (API §2.4)."""

    webhookId: int
    callbackUrl: Url = ABSENT
    headers: Annotated[
        dict[str, str],
        AfterValidator(_check_headers),
        Field(
            json_schema_extra={
                "propertyNames": {"pattern": f"^{_HEADER_NAME}$", "not": {"enum": list(_OWN_HEADERS)}},
                "additionalProperties": {"type": "string", "pattern": f"^{_HEADER_VALUE}$"},
            }
        ),
    ] = ABSENT
    verify_payload: bool = ABSENT


class Webhook(WebhookFields):
    """A webhook to subscribe (API §4.11)."""

    callbackUrl: Url
    rules: ClassVar[Schema] = {
        "examples": [
            {"webhookId": 1, "callbackUrl": "http://127.0.0.1:9/events", "headers": {"API_KEY": "a secret of yours"}}
        ]
    }


class WebhookUpdate(WebhookFields):
    """A change of a webhook (API §4.12)."""

    is_active: bool = ABSENT
    rules: ClassVar[Schema] = {"examples": [{"webhookId": 1, "is_active": False}]}


def order_items(body: Body) -> Iterable[tuple[str | None, Body]]:
    """Every item of an order to create, each with the name of its kit (None outside kits)."""
    for item in body.get("item_details", []):
        yield None, item
    for kit in body.get("kit_skus", []):
        for item in kit.get("item_details", []):
            yield str(kit.get("name", "")), item


def order_numbers(body: Body) -> list[str]:
    """The orders that a label request names; none when it is for a whole shipment."""
    given = body.get(ORDER_NUMBERS, [])
    parts = given.split(",") if isinstance(given, str) else given
    return [part.strip() for part in parts if part.strip()]
