"""The request for a shipping label, in its two forms (API §2.2)."""

from pydantic import Field, model_validator

from logistics_batch.model.payloads.forms import Decimal, Key, Payload, Phone, PlacedAt, Quantity, Text, between_fields

# The literal key of the API (§2.2); no Python name can be spelt like it.
_ORDER_NUMBERS = "order_numbers[]"
_ALWAYS_IN_A_SHIPMENT = ("awb_number", "primary_mobile_no", "shipping_address", "delivery_pincode")


class LabelDimensions(Payload):
    """Package dimensions, in the form of the API's sample (API §2.2)."""

    length: Decimal | None = None  # length in the unit uom
    breadth: Decimal | None = None  # breadth in the unit uom
    height: Decimal | None = None  # height in the unit uom
    uom: Text | None = None  # unit of measure


class LabelSku(Payload):
    """One line of `sku_details` (API §2.2)."""

    name: Text | None = None  # SKU name, unique per item, like an EAN
    quantity: Quantity | None = None  # quantity to fulfil, a String
    weight: Decimal | None = None  # weight of the line in grams
    each_item_price: Decimal | None = None  # selling price of the SKU in INR
    total_item_price: Decimal | None = None  # selling price of the line after discounts in INR


class LabelRequest(Payload):
    """Body of POST /order/shippinglabel/ in either form: order numbers alone, or a full shipment (API §2.2, §4.4)."""

    # one order number, or several separated by commas; then nothing else is given
    order_numbers: Key | None = Field(default=None, alias=_ORDER_NUMBERS)
    awb_number: Key | None = None  # AWB number of the order
    primary_mobile_no: Phone | None = None  # recipient's phone number
    shipping_address: Text | None = None  # delivery address
    delivery_pincode: Text | None = None  # pincode of the delivery address
    order_id: Text | None = None  # reference number that was sent when the order was created
    customer_name: Text | None = None  # recipient's name
    return_address: Text | None = None  # seller's return address
    is_cod: bool | None = None  # cash on delivery, a JSON boolean
    amount_to_collect: Decimal | None = None  # amount in INR to collect; '0.00' without cash on delivery
    date_placed: PlacedAt | None = None  # date the order was placed, YYYY-MM-DD hh:mm:ss
    weight: Decimal | None = None  # weight of the items in grams
    # package dimensions: published as a String, an object in the sample
    dimensions: LabelDimensions | Text | None = None
    length: Decimal | None = None  # length of the package (no unit given)
    breadth: Decimal | None = None  # breadth of the package (no unit given)
    height: Decimal | None = None  # height of the package (no unit given)
    sku_details: list[LabelSku] | None = Field(default=None, min_length=1)  # items in the package

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
