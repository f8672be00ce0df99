"""The advance shipping notice (ASN): goods on their way from a supplier to a warehouse (API §2.1)."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from logistics_batch.model.payloads.forms import (
    Choice,
    Date,
    Decimal,
    Key,
    Payload,
    Percentage,
    Quantity,
    Text,
    between_fields,
)

AsnStatus = Annotated[Literal["New", "In-Progress", "Completed", "Expired"], Choice("asn_status")]
LineStatus = Annotated[Literal["Unlocked", "Locked"], Choice("line_status")]


class SkuLine(Payload):
    """One element of `sku_lines` (API §2.1)."""

    sku_name: Text | None = None  # SKU name, unique in the service
    status: LineStatus | None = None
    qty: Quantity  # quantity dispatched, at least 1, a String
    price_per_qty: Decimal | None = None  # price per unit, a decimal String
    item_desc: Text | None = None  # SKU description
    maximum_retail_price: Decimal | None = None  # maximum retail price, a decimal String
    discount: Decimal | None = None  # discount amount, a decimal String
    discount_percentage: Percentage | None = None  # percentage discount on the maximum retail price, 0 to 100
    tracking_level: Text | None = None  # tracking level of the item
    # quantity that the warehouse has requested; despite its name not what was received
    qty_received: Decimal | None = None


class AsnCreate(Payload):
    """Body of POST /wms/advance-shipping-notice (API §4.2)."""

    supplier: Key | None = None  # supplier id; either this or supplier_name is required
    supplier_name: Key | None = None  # supplier name; either this or supplier is required
    description: Text | None = None  # description of the purchase order
    site: Key | None = None  # site id; either this or site_name is required
    site_name: Key | None = None  # unique site name; either this or site is required
    status: AsnStatus | None = None  # New (the service's default), In-Progress, Completed or Expired
    delivery_date: Date | None = None  # delivery date, YYYY-MM-DD
    expiry_date: Date | None = None  # expiry date, YYYY-MM-DD
    total_price: Decimal | None = None  # total price of all items of the same SKU, a decimal String
    batch: Text | None = None  # batch number
    serial_number: Text | None = None
    invoice_number: Key  # invoice number of the purchase order
    sku_lines: list[SkuLine] = Field(min_length=1)  # the SKU lines, at least one

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
