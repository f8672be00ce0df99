"""The answers of the service and the event that it sends (API §2.3, §4, §6, §7), for the OpenAPI document."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import AnyUrl, BaseModel, ConfigDict, NonNegativeInt, create_model

from logistics_batch.sandbox.contract.bodies import AsnFields, SkuLine
from logistics_batch.sandbox.contract.forms import describe

Message = TypeVar("Message")


class Reply(BaseModel):
    """An object of exactly these fields."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=describe)


class Failed(Reply):
    """The FAIL envelope (API §7)."""

    status: Literal["FAIL"]
    message: str


class Passed(Reply, Generic[Message]):
    """The usual envelope (API §1)."""

    status: Literal["PASS"]
    message: Message


class ItemReply(Reply):
    """An item as create, update and add items answer it (API §4.6)."""

    item_name: str
    item_quantity: float
    item_price_per_each: str
    total_item_price: str


class ChangedOrder(Reply):
    """An order after a change (API §4.7); items by their id."""

    awb_number: str
    delivery_hub: str
    item_details: dict[str, ItemReply]


class CreatedOrder(ChangedOrder):
    """A new order, with the AWB numbers of its packages (API §4.6)."""

    child_awb_numbers: list[str]


class ReplyItem(Reply):
    """An item of a fetched order (API §2.3)."""

    item_name: str
    item_quantity: float
    item_qty_picked: float
    item_qty_delivered: float


class OrderDetails(Reply):
    """A fetched order (API §2.3)."""

    order_id: int
    reference_number: str
    awb_number: str
    status: str
    delivery_hub_sn: str
    delivery_address: str
    delivery_postal_code: str
    pickup_address: str
    pickup_postal_code: str
    customer_name: str
    customer_mobile: int
    alternate_customer_mobile: int | None
    pickup_customer_name: str
    pickup_customer_mobile: int | None
    delivery_hub: str
    item_details: dict[str, ReplyItem]
    return_address: str
    return_postal_code: str
    return_customer_name: str
    return_customer_mobile: int | None
    return_hub: str
    cash_on_delivery: str


class FetchedOrder(Reply):
    """The message of a fetch (API §4.5)."""

    order_details: OrderDetails


class StoredAsn(Reply):
    """An ASN as create and update name it."""

    id: int
    invoice_number: str


def _as_fetched(fields: Iterable[str]) -> dict[str, Any]:
    """The fields that were sent; those that were not are null."""
    return {name: (str | None, ...) for name in fields if name != "sku_lines"}


_LINE = create_model("LineRecord", __base__=Reply, id=(int, ...), **_as_fetched(SkuLine.model_fields))
AsnRecord = create_model(
    "AsnRecord",
    __base__=Reply,
    id=(int, ...),
    created_date=(datetime, ...),
    modified_date=(datetime, ...),
    created_by=(int, ...),
    modified_by=(int | None, ...),
    customer=(int, ...),
    **_as_fetched(AsnFields.model_fields),
    sku_lines=(list[_LINE], ...),
)


class AsnList(Reply):
    """The answer to a search of ASNs (API §4.1)."""

    count: NonNegativeInt
    next: int | None
    previous: int | None
    result: list[AsnRecord]


class LabelLink(Reply):
    """The answer to a label request (API §4.4)."""

    status: Literal["SUCCESS"]
    url: AnyUrl


class Location(Reply):
    """Coordinates in degrees."""

    lat: float
    long: float


class StatusEvent(Reply):
    """The payload of updateOrderStatus (API §6)."""

    WaybillNo: str
    eventType: Literal["updateOrderStatus"]
    OrderStatus: str
    order_status: str
    StatusCode: str
    CourierComment: str
    StatusDateTime: datetime
    ToMobileNumber: str
    ToEmail: str
    ToName: str
    Client: str
    podDocs: list[str]
    EDD: datetime
    order_no: str
    location: Location
    remarks: str
