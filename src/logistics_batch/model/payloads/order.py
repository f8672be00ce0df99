"""The shipment order: a delivery with optional pickup and return legs, its items and kits (API §2.3)."""

from typing import Any

from pydantic import Field, model_validator

from logistics_batch.model.payloads.complaints import between_fields
from logistics_batch.model.payloads.forms import (
    DateTime,
    Decimal,
    ItemQuantity,
    Key,
    Latitude,
    Longitude,
    Phone,
    Text,
    TrueFalse,
    WholeCount,
)
from logistics_batch.model.payloads.payload import Payload


class OrderItem(Payload):
    """One line item on create, on update and in a kit (API §2.3)."""

    item_name: Text = Field(description="SKU name (API §2.3).")
    item_quantity: ItemQuantity | None = Field(
        default=None, description="Quantity to fulfil, a JSON number of at least 1 (API §2.3)."
    )
    item_price_per_each: Decimal | None = Field(
        default=None, description="Selling price of the SKU in INR, a decimal String (API §2.3)."
    )
    total_item_price: Decimal | None = Field(
        default=None, description="Selling price of the whole line after discounts in INR (API §2.3)."
    )
    item_category: Text | None = Field(default=None, description="Product group (API §2.3).")
    brand: Text | None = Field(default=None, description="Supplier or vendor of the SKU (API §2.3).")
    weight: Decimal | None = Field(
        default=None,
        description="Weight in kilograms (API §2.3; for updates the API names no unit: as on create).",
    )
    volume: Decimal | None = Field(default=None, description="Volume in cubic centimetres (API §2.3).")
    length: Decimal | None = Field(default=None, description="Length (API §2.3, kitting sample; no unit given).")
    breadth: Decimal | None = Field(default=None, description="Breadth (API §2.3, kitting sample; no unit given).")
    height: Decimal | None = Field(default=None, description="Height (API §2.3, kitting sample; no unit given).")
    package_id: Text | None = Field(
        default=None,
        description="Package the line is packed into; never together with packages_count (API §2.3, §8.3).",
    )
    cgst: Decimal | None = Field(default=None, description="Central GST amount in INR, not a rate (API §2.3).")
    sgst: Decimal | None = Field(default=None, description="State GST amount in INR, not a rate (API §2.3).")
    igst: Decimal | None = Field(default=None, description="Integrated GST amount in INR, not a rate (API §2.3).")


class AddedItem(OrderItem):
    """One line item that is added to an order: as `OrderItem`, but weighed in grams (API §2.3)."""

    weight: Decimal | None = Field(default=None, description="Weight in grams (API §2.3).")


class Kit(Payload):
    """A package of SKUs with contents that the seller fixed beforehand (API §2.3)."""

    name: Text = Field(description="Name of the kit (API §2.3).")
    description: Text | None = Field(default=None, description="Description of the kit (API §2.3).")
    item_details: list[OrderItem] = Field(min_length=1, description="The items of one kit (API §2.3).")


def _packages_xor(schema: dict[str, Any]) -> None:
    """Say in the JSON schema what `OrderCreate` checks between fields."""
    schema["not"] = {"required": ["packages_count", "package_id"]}


class OrderCreate(Payload, json_schema_extra=_packages_xor):
    """Body of POST /orders/shipment (API §4.6)."""

    awb_number: Key | None = Field(
        default=None, description="AWB number; not to be set if the service does the labelling (API §2.3)."
    )
    reference_number: Key = Field(
        description="Unique reference of the order; free again only after the order is cancelled (API §2.3, §8.4)."
    )
    is_hyperlocal: TrueFalse | None = Field(
        default=None, description="'true' for the hyperlocal contract; absent: the shipment contract (API §2.3)."
    )
    is_inventory_managed_bh: TrueFalse | None = Field(
        default=None, description="'true' for processing by the warehouse management system (API §2.3)."
    )
    delivery_hub: Text | None = Field(
        default=None, description="Hub that delivers; otherwise deduced from the delivery pincode (API §2.3, §4.6)."
    )
    pickup_hub: Text | None = Field(
        default=None, description="Hub that picks up; otherwise deduced from the pickup pincode (API §2.3, §4.6)."
    )
    customer_name: Text | None = Field(default=None, description="Recipient's name (API §2.3).")
    customer_mobile: Phone = Field(description="Recipient's phone number (API §2.3).")
    alternate_customer_mobile: Phone | None = Field(
        default=None, description="Recipient's other phone number (API §2.3)."
    )
    customer_email: Text | None = Field(default=None, description="E-mail for the tracking link (API §2.3).")
    customer_reference_number: Text | None = Field(
        default=None, description="The brand's own reference for the shipment (API §2.3)."
    )
    delivery_address: Text = Field(description="Delivery address (API §2.3).")
    delivery_postal_code: Text | None = Field(default=None, description="Delivery pincode (API §2.3).")
    delivery_lat: Latitude | None = Field(default=None, description="Latitude of delivery in degrees (API §2.3).")
    delivery_long: Longitude | None = Field(
        default=None, description="Longitude of delivery in degrees; delivery_lon in the samples (API §2.3)."
    )
    pickup_address: Text | None = Field(default=None, description="Pickup address (API §2.3).")
    pickup_postal_code: Text | None = Field(default=None, description="Pickup pincode (API §2.3).")
    pickup_lat: Latitude | None = Field(default=None, description="Latitude of pickup in degrees (API §2.3).")
    pickup_long: Longitude | None = Field(
        default=None, description="Longitude of pickup in degrees; pickup_lon in the samples (API §2.3)."
    )
    pickup_customer_name: Text | None = Field(default=None, description="Contact at the pickup address (API §2.3).")
    pickup_customer_mobile: Phone | None = Field(
        default=None, description="Contact's phone number at the pickup address (API §2.3)."
    )
    is_return_order: TrueFalse | None = Field(
        default=None, description="'true' if the order is to be picked back from the customer (API §2.3)."
    )
    commercial_class: Text | None = Field(default=None, description="Vehicle class asked for (API §2.3).")
    is_commercial_address: TrueFalse | None = Field(
        default=None, description="'true' for a commercial address; helps to plan by timings (API §2.3)."
    )
    priority: Text | None = Field(default=None, description="Priority among several deliveries (API §2.3).")
    pickup_datetime: DateTime | None = Field(
        default=None, description="Time of pickup, ISO 8601; for pickup and return orders (API §2.3)."
    )
    expected_delivery_time: DateTime | None = Field(
        default=None, description="Time by which delivery is expected, ISO 8601 (API §2.3)."
    )
    division: Text | None = Field(default=None, description="Division of the city (API §2.3).")
    is_cod: TrueFalse | None = Field(default=None, description="'true' for cash on delivery (API §2.3).")
    cash_on_delivery: Decimal | None = Field(
        default=None, description="Amount in INR to collect on delivery, a decimal String (API §2.3)."
    )
    item_details: list[OrderItem] | None = Field(
        default=None, min_length=1, description="Line items, an array on create (API §2.3)."
    )
    weight: Decimal | None = Field(default=None, description="Weight of the items in kilograms (API §2.3).")
    volume: Decimal | None = Field(default=None, description="Volume in cubic centimetres (API §2.3).")
    length: Decimal | None = Field(default=None, description="Length of the package in centimetres (API §2.3).")
    breadth: Decimal | None = Field(default=None, description="Breadth of the package in centimetres (API §2.3).")
    height: Decimal | None = Field(default=None, description="Height of the package in centimetres (API §2.3).")
    what3words: Text | None = Field(default=None, description="Three-word code of the location (API §2.3).")
    packages_count: WholeCount | None = Field(
        default=None,
        description="Number of packages; absent, 0 and 1 mean one; never together with a package_id (API §2.3, §8.3).",
    )
    package_id: Text | None = Field(
        default=None, description="Package identifier; never together with packages_count (API §2.3, §8.3)."
    )
    return_address: Text | None = Field(default=None, description="Address of return (API §2.3).")
    return_postal_code: Text | None = Field(default=None, description="Pincode of the return address (API §2.3).")
    return_lat: Latitude | None = Field(default=None, description="Latitude of return in degrees (API §2.3).")
    return_lon: Longitude | None = Field(default=None, description="Longitude of return in degrees (API §2.3).")
    return_customer_name: Text | None = Field(default=None, description="Return contact (API §2.3).")
    return_customer_mobile: Phone | None = Field(default=None, description="Return contact's phone (API §2.3).")
    return_hub: Text | None = Field(
        default=None, description="Hub that handles the return; goes before the return address (API §2.3)."
    )
    pin_number: Text | None = Field(default=None, description="Stands in a sample, meaning not given (API §2.3).")
    carrier_mode: Text | None = Field(default=None, description="Stands in a sample, meaning not given (API §2.3).")
    kit_skus: list[Kit] | None = Field(
        default=None, min_length=1, description="Kits, instead of or beside item_details (API §2.3, §4.6)."
    )

    @model_validator(mode="after")
    def _count_xor_packages(self) -> "OrderCreate":
        # Both say how many packages there are. API §2.3 describes package_id as the package of "a line item" and its
        # distinct values as the count, so an id on any line contradicts packages_count as one on the order does.
        if self.packages_count is None:
            return self
        items = [*(self.item_details or ()), *(item for kit in self.kit_skus or () for item in kit.item_details)]
        has_package_id = self.package_id is not None or any(item.package_id is not None for item in items)
        if has_package_id:
            raise between_fields("packages_count_and_package_id")
        return self


def _as_on_create(name: str) -> Any:
    """An optional field of the update body, described as on create."""
    return Field(default=None, description=OrderCreate.model_fields[name].description)


class OrderUpdate(Payload):
    """Body of PUT /orders/shipment/{orderId}: the fields marked U (API §2.3, §4.7)."""

    delivery_hub: Text | None = _as_on_create("delivery_hub")
    pickup_hub: Text | None = _as_on_create("pickup_hub")
    customer_name: Text | None = _as_on_create("customer_name")
    customer_mobile: Phone = Field(description="Recipient's phone number (API §2.3, §4.7).")
    alternate_customer_mobile: Phone | None = _as_on_create("alternate_customer_mobile")
    customer_email: Text | None = _as_on_create("customer_email")
    delivery_address: Text = Field(description="Delivery address (API §2.3, §4.7).")
    delivery_postal_code: Text | None = _as_on_create("delivery_postal_code")
    delivery_lat: Latitude | None = _as_on_create("delivery_lat")
    delivery_long: Longitude | None = _as_on_create("delivery_long")
    pickup_address: Text | None = _as_on_create("pickup_address")
    pickup_postal_code: Text | None = _as_on_create("pickup_postal_code")
    pickup_lat: Latitude | None = _as_on_create("pickup_lat")
    pickup_long: Longitude | None = _as_on_create("pickup_long")
    commercial_class: Text | None = _as_on_create("commercial_class")
    is_commercial_address: TrueFalse | None = _as_on_create("is_commercial_address")
    priority: Text | None = _as_on_create("priority")
    pickup_datetime: DateTime | None = _as_on_create("pickup_datetime")
    expected_delivery_time: DateTime | None = _as_on_create("expected_delivery_time")
    division: Text | None = _as_on_create("division")
    is_cod: TrueFalse | None = _as_on_create("is_cod")
    cash_on_delivery: Decimal | None = _as_on_create("cash_on_delivery")
    item_details: dict[Key, OrderItem] | None = Field(
        default=None, min_length=1, description="Line items by item id (API §2.3, §4.7)."
    )
    return_address: Text | None = _as_on_create("return_address")
    return_postal_code: Text | None = _as_on_create("return_postal_code")
    return_lat: Latitude | None = _as_on_create("return_lat")
    return_lon: Longitude | None = _as_on_create("return_lon")
    return_customer_name: Text | None = _as_on_create("return_customer_name")
    return_customer_mobile: Phone | None = _as_on_create("return_customer_mobile")
    return_hub: Text | None = _as_on_create("return_hub")


class AddItems(Payload):
    """Body of PUT /orders/add/items/{orderId} (API §4.8)."""

    item_details: dict[Key, AddedItem] = Field(
        min_length=1, description="Line items by item id, weights in grams (API §2.3, §4.8)."
    )


class DeleteItems(Payload):
    """Body of PUT /orders/delete/items/{orderId} (API §4.9)."""

    item_list: list[Key] = Field(min_length=1, description="Ids of the items to delete, at least one (API §4.9).")

    @model_validator(mode="after")
    def _each_once(self) -> "DeleteItems":
        if len(set(self.item_list)) < len(self.item_list):
            raise between_fields("item_listed_twice")
        return self
