"""The targets of each operation: names, order and required ones from the contract's models, and each value's form."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, get_args

from pydantic import BaseModel

from logistics_batch.model.document import Operation
from logistics_batch.model.payloads import PAYLOADS


class Form(StrEnum):
    """What form a target's value takes; it decides how a cell is read when the mapping does not say."""

    TEXT = "text"
    IDENTITY = "identity"  # a text under which something is known: no line breaks, no ".0", no exponent
    ADDRESS = "address"  # a text whose line breaks become ", "
    FLAG = "flag"  # 'true' or 'false'
    MONEY = "money"
    DECIMAL = "decimal"
    DEGREES = "degrees"
    QUANTITY = "quantity"  # at least 1
    COUNT = "count"  # 0 or more
    MOBILE = "mobile"
    PINCODE = "pincode"
    DATE = "date"
    MOMENT = "moment"  # date and time with offset


_FORMS: Final[dict[str, Form]] = {
    **dict.fromkeys(("reference_number", "awb_number", "invoice_number", "supplier", "site"), Form.IDENTITY),
    **dict.fromkeys(("customer_reference_number",), Form.IDENTITY),
    **dict.fromkeys(("delivery_address", "pickup_address", "return_address"), Form.ADDRESS),
    **dict.fromkeys(("is_cod", "is_hyperlocal", "is_inventory_managed_bh", "is_return_order"), Form.FLAG),
    "is_commercial_address": Form.FLAG,
    **dict.fromkeys(
        ("cash_on_delivery", "item_price_per_each", "total_item_price", "cgst", "sgst", "igst"), Form.MONEY
    ),
    **dict.fromkeys(("total_price", "price_per_qty", "maximum_retail_price", "discount"), Form.MONEY),
    **dict.fromkeys(("weight", "volume", "length", "breadth", "height"), Form.DECIMAL),
    **dict.fromkeys(("discount_percentage", "qty_received"), Form.DECIMAL),
    **dict.fromkeys(("delivery_lat", "delivery_long", "pickup_lat", "pickup_long", "return_lat"), Form.DEGREES),
    "return_lon": Form.DEGREES,
    **dict.fromkeys(("item_quantity", "qty"), Form.QUANTITY),
    "packages_count": Form.COUNT,
    **dict.fromkeys(("customer_mobile", "alternate_customer_mobile", "pickup_customer_mobile"), Form.MOBILE),
    "return_customer_mobile": Form.MOBILE,
    **dict.fromkeys(("delivery_postal_code", "pickup_postal_code", "return_postal_code"), Form.PINCODE),
    **dict.fromkeys(("delivery_date", "expiry_date", "received_date"), Form.DATE),
    **dict.fromkeys(("expected_delivery_time", "pickup_datetime"), Form.MOMENT),
}

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

AVAILABLE: Final = (Operation.ASN_CREATE, Operation.ORDER_CREATE, Operation.RECEIPT_READ)
"""The operations that this version executes."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What an operation's mapping can fill.

    header, lines: target names in the contract's order. lines_field: the payload's field that holds the lines ("" if
    none). required: places ("fields.x", "lines.y") that must be mapped and filled. either: groups of which one is
    enough.
    """

    operation: Operation
    header: tuple[str, ...]
    lines: tuple[str, ...] = ()
    lines_field: str = ""
    required: tuple[str, ...] = ()
    either: tuple[tuple[str, ...], ...] = ()


def targets_of(operation: Operation) -> Targets:
    """The targets of an available operation."""
    if operation is Operation.RECEIPT_READ:
        return Targets(operation, RECEIPT_TARGETS, required=("fields.invoice_number", "fields.sku_name", "fields.qty"))
    payload = PAYLOADS[operation]
    lines_field = "sku_lines" if operation is Operation.ASN_CREATE else "item_details"
    line = _element(payload, lines_field)
    header = tuple(name for name in payload.model_fields if name not in (lines_field, "kit_skus"))
    required = [f"fields.{name}" for name in header if payload.model_fields[name].is_required()]
    required += [f"lines.{name}" for name, field in line.model_fields.items() if field.is_required()]
    either = (("supplier", "supplier_name"), ("site", "site_name")) if operation is Operation.ASN_CREATE else ()
    return Targets(operation, header, tuple(line.model_fields), lines_field, tuple(required), either)


def form_of(target: str, operation: Operation) -> Form:
    """The form of a target's value; quantities received may be 0."""
    if operation is Operation.RECEIPT_READ and target == "qty":
        return Form.COUNT
    return _FORMS.get(target, Form.TEXT)


def _element(payload: type[BaseModel], field: str) -> type[BaseModel]:
    """The model of a list field's elements."""
    found: list[object] = [payload.model_fields[field].annotation]
    while found:
        kind = found.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
        found.extend(get_args(kind))
    raise TypeError(f"{payload.__name__}.{field} holds no model")
