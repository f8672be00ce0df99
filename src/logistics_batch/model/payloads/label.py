"""The request for a shipping label, in its two forms (API §2.2)."""

from typing import Any

from pydantic import Field, model_validator

from logistics_batch.model.payloads.complaints import between_fields
from logistics_batch.model.payloads.forms import Decimal, Key, Phone, PlacedAt, Quantity, Text
from logistics_batch.model.payloads.payload import Payload

# The literal key of the API (§2.2); no Python name can be spelt like it.
_ORDER_NUMBERS = "order_numbers[]"
_ALWAYS_IN_A_SHIPMENT = ("awb_number", "primary_mobile_no", "shipping_address", "delivery_pincode")


class LabelDimensions(Payload):
    """Package dimensions, in the form of the API's sample (API §2.2)."""

    length: Decimal | None = Field(default=None, description="Length in the unit uom (API §2.2).")
    breadth: Decimal | None = Field(default=None, description="Breadth in the unit uom (API §2.2).")
    height: Decimal | None = Field(default=None, description="Height in the unit uom (API §2.2).")
    uom: Text | None = Field(default=None, description="Unit of measure (API §2.2).")


class LabelSku(Payload):
    """One line of `sku_details` (API §2.2)."""

    name: Text | None = Field(default=None, description="SKU name, unique per item, like an EAN (API §2.2).")
    quantity: Quantity | None = Field(default=None, description="Quantity to fulfil, a String (API §2.2).")
    weight: Decimal | None = Field(default=None, description="Weight of the line in grams (API §2.2).")
    each_item_price: Decimal | None = Field(default=None, description="Selling price of the SKU in INR (API §2.2).")
    total_item_price: Decimal | None = Field(
        default=None, description="Selling price of the line after discounts in INR (API §2.2)."
    )


class LabelByOrders(Payload):
    """Body of POST /order/shippinglabel/ that names orders and nothing else (API §2.2, §4.4)."""

    order_numbers: Key = Field(
        alias=_ORDER_NUMBERS, description="One order number, or several separated by commas (API §2.2)."
    )


def _two_forms(schema: dict[str, Any]) -> None:
    """Say in the JSON schema what `LabelRequest` checks between fields."""
    schema["anyOf"] = [{"required": [_ORDER_NUMBERS]}, {"required": list(_ALWAYS_IN_A_SHIPMENT)}]


class LabelRequest(Payload, json_schema_extra=_two_forms):
    """Body of POST /order/shippinglabel/ in either form: order numbers alone, or a full shipment (API §2.2, §4.4)."""

    order_numbers: Key | None = Field(
        default=None,
        alias=_ORDER_NUMBERS,
        description="One order number, or several separated by commas; then nothing else is given (API §2.2).",
    )
    awb_number: Key | None = Field(default=None, description="AWB number of the order (API §2.2).")
    primary_mobile_no: Phone | None = Field(default=None, description="Recipient's phone number (API §2.2).")
    shipping_address: Text | None = Field(default=None, description="Delivery address (API §2.2).")
    delivery_pincode: Text | None = Field(default=None, description="Pincode of the delivery address (API §2.2).")
    order_id: Text | None = Field(
        default=None, description="Reference number that was sent when the order was created (API §2.2)."
    )
    customer_name: Text | None = Field(default=None, description="Recipient's name (API §2.2).")
    return_address: Text | None = Field(default=None, description="Seller's return address (API §2.2).")
    is_cod: bool | None = Field(default=None, description="Cash on delivery, a JSON boolean (API §2.2).")
    amount_to_collect: Decimal | None = Field(
        default=None, description="Amount in INR to collect; '0.00' without cash on delivery (API §2.2)."
    )
    date_placed: PlacedAt | None = Field(
        default=None, description="Date the order was placed, YYYY-MM-DD hh:mm:ss (API §2.2)."
    )
    weight: Decimal | None = Field(default=None, description="Weight of the items in grams (API §2.2).")
    dimensions: LabelDimensions | Text | None = Field(
        default=None, description="Package dimensions: published as a String, an object in the sample (API §2.2)."
    )
    length: Decimal | None = Field(default=None, description="Length of the package (API §2.2; no unit given).")
    breadth: Decimal | None = Field(default=None, description="Breadth of the package (API §2.2; no unit given).")
    height: Decimal | None = Field(default=None, description="Height of the package (API §2.2; no unit given).")
    sku_details: list[LabelSku] | None = Field(
        default=None, min_length=1, description="Items in the package (API §2.2)."
    )

    @model_validator(mode="after")
    def _one_of_two_forms(self) -> "LabelRequest":
        given = {name for name in type(self).model_fields if getattr(self, name) is not None}
        if "order_numbers" in given and given != {"order_numbers"}:
            raise between_fields("order_numbers_alone")
        if "order_numbers" not in given and not given.issuperset(_ALWAYS_IN_A_SHIPMENT):
            raise between_fields("shipment_incomplete")
        return self

    @model_validator(mode="after")
    def _amount_only_with_cod(self) -> "LabelRequest":
        if not self.is_cod and self.amount_to_collect is not None and float(self.amount_to_collect) > 0:
            raise between_fields("amount_without_cod")
        return self


class LabelShipment(LabelRequest):
    """Body of POST /order/shippinglabel/ with the full shipment (API §2.2, §4.4)."""

    awb_number: Key = Field(description="AWB number of the order (API §2.2).")
    primary_mobile_no: Phone = Field(description="Recipient's phone number (API §2.2).")
    shipping_address: Text = Field(description="Delivery address (API §2.2).")
    delivery_pincode: Text = Field(description="Pincode of the delivery address (API §2.2).")
