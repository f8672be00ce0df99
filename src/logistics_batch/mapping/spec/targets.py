"""The targets of each operation: names, order and required ones from the contract's models, and each value's form."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, get_args

from pydantic import BaseModel

from logistics_batch.model.document import Operation
from logistics_batch.model.payloads import PAYLOADS


class FieldForm(StrEnum):
    """What form a target's value takes; it decides how a cell is read when the mapping does not say."""

    TEXT = "text"
    IDENTITY = "identity"  # a text under which something is known: no line breaks, no ".0", no exponent
    WAYBILL = "waybill"  # an identity without any blank in it
    GOODS = "goods"  # the name or code of an item: no line breaks
    ADDRESS = "address"  # a text whose line breaks become ", "
    FLAG = "flag"  # 'true' or 'false'
    PAYMENT = "payment"  # a flag that is also read from words such as COD and Prepaid
    MONEY = "money"
    DECIMAL = "decimal"
    PERCENT = "percent"
    DEGREES = "degrees"
    QUANTITY = "quantity"  # at least 1
    COUNT = "count"  # 0 or more
    MOBILE = "mobile"
    PINCODE = "pincode"
    DATE = "date"
    MOMENT = "moment"  # date and time with offset


CODES: Final = (FieldForm.IDENTITY, FieldForm.WAYBILL, FieldForm.GOODS)
"""The forms of values by which something is known."""

_FORMS: Final[dict[FieldForm, str]] = {
    FieldForm.IDENTITY: "reference_number invoice_number supplier site customer_reference_number item_id order_numbers",
    FieldForm.WAYBILL: "awb_number order_id",
    FieldForm.GOODS: "item_name sku_name",
    FieldForm.ADDRESS: "delivery_address pickup_address return_address shipping_address",
    FieldForm.FLAG: "is_hyperlocal is_inventory_managed_bh is_return_order is_commercial_address",
    FieldForm.PAYMENT: "is_cod",
    FieldForm.MONEY: "cash_on_delivery item_price_per_each total_item_price cgst sgst igst total_price price_per_qty "
    "maximum_retail_price discount amount_to_collect each_item_price",
    FieldForm.DECIMAL: "weight volume length breadth height qty_received",
    FieldForm.PERCENT: "discount_percentage",
    FieldForm.DEGREES: "delivery_lat delivery_long pickup_lat pickup_long return_lat return_lon",
    FieldForm.QUANTITY: "item_quantity qty quantity",
    FieldForm.COUNT: "packages_count",
    FieldForm.MOBILE: "customer_mobile alternate_customer_mobile pickup_customer_mobile return_customer_mobile "
    "primary_mobile_no",
    FieldForm.PINCODE: "delivery_pincode delivery_postal_code pickup_postal_code return_postal_code",
    FieldForm.DATE: "delivery_date expiry_date received_date",
    FieldForm.MOMENT: "expected_delivery_time pickup_datetime",
}
_FORM_OF: Final = {target: form for form, targets in _FORMS.items() for target in targets.split()}

JSON_NUMBERS: Final = frozenset({"item_quantity", "packages_count"})
"""The targets that the API publishes as numbers; all others are Strings (API §2)."""

RECEIPT_TARGETS: Final = (
    "invoice_number",
    "sku_name",
    "qty",
    "condition",
    "received_date",
    "supplier_name",
    "site_name",
)
"""What a receipts file tells the reconciliation; nothing of it is sent."""

SHIPMENT_OF_A_LABEL: Final = ("awb_number", "primary_mobile_no", "shipping_address", "delivery_pincode")
"""What a label needs where it is not asked for by order number (API §2.2)."""

_LINES_FIELDS: Final = ("item_details", "sku_lines", "item_list", "sku_details")
_ASN_KEY: Final = (("supplier", "supplier_name"), ("site", "site_name"), ("invoice_number",))
_NATURAL: Final[dict[Operation, tuple[tuple[str, ...], ...]]] = {
    Operation.ORDER_CREATE: (("reference_number",),),
    Operation.ASN_CREATE: _ASN_KEY,
    Operation.ASN_UPDATE: _ASN_KEY,
    Operation.LABEL_CREATE: (("order_numbers", "awb_number"),),
    Operation.RECEIPT_READ: (("invoice_number",),),
}  # changes name their order in the path
_ITEM: Final[dict[Operation, tuple[str, ...]]] = {
    Operation.ORDER_UPDATE: ("item_id",),
    Operation.ORDER_ADD_ITEMS: ("item_id",),
    Operation.ORDER_DELETE_ITEMS: ("item_id", "item_name"),
}
"""How changes name the items of their order (API §4.7-4.10); it is no part of their payloads' lines."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What an operation's mapping can fill.

    header, lines: target names in the contract's order. lines_field: the payload's field that holds the lines ("" if
    none). required: places ("fields.x", "lines.y") that must be mapped and filled. either: groups of which one is
    enough. lines_wanted: whether the lines must be mapped. natural: the targets that the natural key is made of; of
    each group the first that is filled.
    """

    operation: Operation
    header: tuple[str, ...]
    lines: tuple[str, ...]
    lines_field: str
    required: tuple[str, ...]
    either: tuple[tuple[str, ...], ...]
    lines_wanted: bool
    natural: tuple[tuple[str, ...], ...]

    @property
    def reference(self) -> tuple[str, ...]:
        """What people look for; the first that is filled."""
        return self.natural[-1]

    @property
    def places(self) -> list[str]:
        """The places of all targets, and of the order that a change is about."""
        header = dict.fromkeys((*self.header, *self.reference))
        return [*(f"fields.{name}" for name in header), *(f"lines.{name}" for name in self.lines)]


@cache
def targets_of(operation: Operation) -> Targets:
    """The targets of an operation (API §2)."""
    model = PAYLOADS.get(operation)
    fields = model.model_fields if model else {}
    lines_field = next((name for name in _LINES_FIELDS if name in fields), "")
    line = element_of(model, lines_field) if model and lines_field else None
    lines = line.model_fields if line else {}
    header = tuple(name for name in fields if name not in (lines_field, "kit_skus", "dimensions"))
    required = [f"fields.{name}" for name in header if fields[name].is_required()]
    required += [f"lines.{name}" for name, field in lines.items() if field.is_required()]
    if operation is Operation.RECEIPT_READ:
        header, required = RECEIPT_TARGETS, ["fields.invoice_number", "fields.sku_name", "fields.qty"]
    if operation is Operation.ORDER_ADD_ITEMS:
        required.append("lines.item_id")
    natural = _NATURAL.get(operation, (("order_id",),))
    either = natural[:2] if natural is _ASN_KEY else natural if operation is Operation.LABEL_CREATE else ()
    return Targets(
        operation=operation,
        header=header,
        lines=(*_ITEM.get(operation, ()), *lines),
        lines_field=lines_field,
        required=tuple(required),
        either=either,
        lines_wanted=natural is _ASN_KEY or operation in (Operation.ORDER_ADD_ITEMS, Operation.ORDER_DELETE_ITEMS),
        natural=natural,
    )


def form_of(target: str, operation: Operation) -> FieldForm:
    """The form of a target's value; quantities received may be 0."""
    if operation is Operation.RECEIPT_READ and target == "qty":
        return FieldForm.COUNT
    return _FORM_OF.get(target, FieldForm.TEXT)


def element_of(payload: type[BaseModel], field: str) -> type[BaseModel] | None:
    """The model of the elements of a list or table; None where they are plain texts."""
    found: list[object] = [payload.model_fields[field].annotation]
    while found:
        kind = found.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
        found.extend(get_args(kind))
    return None
