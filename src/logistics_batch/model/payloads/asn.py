"""The advance shipping notice (ASN): goods on their way from a supplier to a warehouse (API §2.1)."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from logistics_batch.model.payloads.complaints import between_fields
from logistics_batch.model.payloads.forms import Choice, Date, Decimal, Key, Percentage, Quantity, Text
from logistics_batch.model.payloads.payload import Payload

AsnStatus = Annotated[Literal["New", "In-Progress", "Completed", "Expired"], Choice("asn_status")]
LineStatus = Annotated[Literal["Unlocked", "Locked"], Choice("line_status")]


class SkuLine(Payload):
    """One element of `sku_lines` (API §2.1)."""

    sku_name: Text | None = Field(default=None, description="SKU name, unique in the service (API §2.1).")
    status: LineStatus | None = Field(default=None, description="Unlocked or Locked (API §2.1).")
    qty: Quantity = Field(description="Quantity dispatched, at least 1, a String (API §2.1).")
    price_per_qty: Decimal | None = Field(default=None, description="Price per unit, a decimal String (API §2.1).")
    item_desc: Text | None = Field(default=None, description="SKU description (API §2.1).")
    maximum_retail_price: Decimal | None = Field(
        default=None, description="Maximum retail price, a decimal String (API §2.1)."
    )
    discount: Decimal | None = Field(default=None, description="Discount amount, a decimal String (API §2.1).")
    discount_percentage: Percentage | None = Field(
        default=None, description="Percentage discount on the maximum retail price, 0 to 100 (API §2.1)."
    )
    tracking_level: Text | None = Field(default=None, description="Tracking level of the item (API §2.1).")
    qty_received: Decimal | None = Field(
        default=None,
        description="Quantity that the warehouse has requested; despite its name not what was received (API §2.1).",
    )


def _either_or(schema: dict[str, Any]) -> None:
    """Say in the JSON schema what `AsnCreate` checks between fields."""
    schema["allOf"] = [
        {"anyOf": [{"required": ["supplier"]}, {"required": ["supplier_name"]}]},
        {"anyOf": [{"required": ["site"]}, {"required": ["site_name"]}]},
    ]


class AsnCreate(Payload, json_schema_extra=_either_or):
    """Body of POST /wms/advance-shipping-notice (API §4.2)."""

    supplier: Key | None = Field(
        default=None, description="Supplier id; either this or supplier_name is required (API §2.1)."
    )
    supplier_name: Key | None = Field(
        default=None, description="Supplier name; either this or supplier is required (API §2.1)."
    )
    description: Text | None = Field(default=None, description="Description of the purchase order (API §2.1).")
    site: Key | None = Field(default=None, description="Site id; either this or site_name is required (API §2.1).")
    site_name: Key | None = Field(
        default=None, description="Unique site name; either this or site is required (API §2.1)."
    )
    status: AsnStatus | None = Field(
        default=None, description="New (the service's default), In-Progress, Completed or Expired (API §2.1)."
    )
    delivery_date: Date | None = Field(default=None, description="Delivery date, YYYY-MM-DD (API §2.1).")
    expiry_date: Date | None = Field(default=None, description="Expiry date, YYYY-MM-DD (API §2.1).")
    total_price: Decimal | None = Field(
        default=None, description="Total price of all items of the same SKU, a decimal String (API §2.1)."
    )
    batch: Text | None = Field(default=None, description="Batch number (API §2.1).")
    serial_number: Text | None = Field(default=None, description="Serial number (API §2.1).")
    invoice_number: Key = Field(description="Invoice number of the purchase order (API §2.1).")
    sku_lines: list[SkuLine] = Field(min_length=1, description="The SKU lines, at least one (API §2.1).")

    @model_validator(mode="after")
    def _names_supplier_and_site(self) -> "AsnCreate":
        if self.supplier is None and self.supplier_name is None:
            raise between_fields("supplier_or_supplier_name")
        if self.site is None and self.site_name is None:
            raise between_fields("site_or_site_name")
        return self


class AsnUpdate(AsnCreate):
    """Body of PUT /wms/advance-shipping-notice: the same fields as on create (API §4.3).

    How the service finds the ASN to update is not documented.
    """
