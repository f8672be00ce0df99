"""The map stage as somebody would write it by hand: csv, a loop, pydantic."""

import csv
import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError


def _mobile(value: str) -> str:
    digits = re.sub(r"[\s()./-]", "", value).removeprefix("+91")
    if not re.fullmatch(r"[6-9]\d{9}", digits):
        raise ValueError("no mobile number")
    return digits


class Row(BaseModel):
    """One row of the sheet, typed."""

    reference_number: str = Field(alias="Order No", min_length=1)
    customer_name: str = Field(alias="Ship To")
    customer_mobile: Annotated[str, AfterValidator(_mobile)] = Field(alias="Phone")
    address: str = Field(alias="Addr 1", min_length=1)
    city: str = Field(alias="City")
    delivery_postal_code: str = Field(alias="PIN", pattern=r"^[1-9]\d{5}$")
    payment: Literal["COD", "Prepaid"] = Field(alias="Payment")
    item_name: str = Field(alias="SKU", min_length=1)
    item_quantity: int = Field(alias="Qty", ge=1)
    price: str = Field(alias="Price", pattern=r"^\d+\.\d{2}$")


class Item(BaseModel):
    """One item of an order."""

    item_name: str
    item_quantity: int
    item_price_per_each: str


class Order(BaseModel):
    """One order as it is sent."""

    reference_number: str
    customer_name: str
    customer_mobile: str
    delivery_address: str
    delivery_postal_code: str
    is_cod: str
    cash_on_delivery: str | None
    item_details: list[Item]


def map_by_hand(source: Path, target: Path) -> tuple[int, list[int]]:
    """Write the orders that can be sent; gives their count and the numbers of the bad rows."""
    bad: list[int] = []
    orders: dict[str, list[Row]] = {}
    spoiled: set[str] = set()
    with source.open(encoding="utf-8", newline="") as file:
        for number, cells in enumerate(csv.DictReader(file), 2):
            try:
                row = Row.model_validate(cells)
            except ValidationError:
                bad.append(number)
                spoiled.add(cells["Order No"])
            else:
                orders.setdefault(row.reference_number, []).append(row)
    count = 0
    with target.open("w", encoding="utf-8") as out:
        for reference, rows in orders.items():
            if reference not in spoiled:
                out.write(_order(rows).model_dump_json(exclude_none=True) + "\n")
                count += 1
    return count, bad


def _order(rows: list[Row]) -> Order:
    first = rows[0]
    amount = sum(Decimal(row.price) * row.item_quantity for row in rows)
    return Order(
        reference_number=first.reference_number,
        customer_name=first.customer_name,
        customer_mobile=first.customer_mobile,
        delivery_address=f"{first.address}, {first.city}",
        delivery_postal_code=first.delivery_postal_code,
        is_cod="true" if first.payment == "COD" else "false",
        cash_on_delivery=f"{amount:.2f}" if first.payment == "COD" else None,
        item_details=[
            Item(item_name=row.item_name, item_quantity=row.item_quantity, item_price_per_each=row.price)
            for row in rows
        ],
    )
