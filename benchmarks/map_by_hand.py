"""The map stage as somebody would write it by hand: csv, a loop, pydantic."""

import csv
import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError


def _mobile(value: str) -> str:
    digits = re.sub(r"[\s()./-]", "", value).removeprefix("+91")
    if not re.fullmatch(r"[6-9]\d{9}", digits):
        raise ValueError("no mobile number")
    return digits


def _due(value: str) -> str:
    return datetime.strptime(f"{value} 18:00 +0530", "%d/%m/%Y %H:%M %z").isoformat()


def _kilograms(value: str) -> str:
    return format((Decimal(value) / 1000).normalize(), "f")


class Row(BaseModel):
    """One row of the sheet, typed."""

    reference_number: str = Field(alias="Order No", min_length=1)
    customer_name: str = Field(alias="Ship To")
    customer_mobile: Annotated[str, AfterValidator(_mobile)] = Field(alias="Phone")
    customer_email: str = Field(alias="Email")
    address: str = Field(alias="Addr 1", min_length=1)
    address_2: str = Field(alias="Addr 2")
    city: str = Field(alias="City")
    state: str = Field(alias="State")
    delivery_postal_code: str = Field(alias="PIN", pattern=r"^[1-9]\d{5}$")
    payment: Literal["COD", "Prepaid"] = Field(alias="Payment")
    due: Annotated[str, AfterValidator(_due)] = Field(alias="Deliver by")
    priority: str = Field(alias="Prio")
    item_name: str = Field(alias="SKU", min_length=1)
    item_quantity: int = Field(alias="Qty", ge=1)
    price: str = Field(alias="Price", pattern=r"^\d+\.\d{2}$")
    item_category: str = Field(alias="Category")
    brand: str = Field(alias="Brand")
    weight: Annotated[str, AfterValidator(_kilograms)] = Field(alias="Weight (g)")


class Item(BaseModel):
    """One item of an order."""

    item_name: str
    item_quantity: int
    item_price_per_each: str
    item_category: str
    brand: str
    weight: str


class Order(BaseModel):
    """One order as it is sent."""

    reference_number: str
    customer_name: str
    customer_mobile: str
    customer_email: str
    delivery_address: str
    delivery_postal_code: str
    priority: str | None
    expected_delivery_time: str
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
        customer_email=first.customer_email,
        delivery_address=", ".join(filter(None, (first.address, first.address_2, first.city, first.state))),
        delivery_postal_code=first.delivery_postal_code,
        priority=first.priority or None,
        expected_delivery_time=first.due,
        is_cod="true" if first.payment == "COD" else "false",
        cash_on_delivery=f"{amount:.2f}" if first.payment == "COD" else None,
        item_details=[_item(row) for row in rows],
    )


def _item(row: Row) -> Item:
    return Item(
        item_name=row.item_name,
        item_quantity=row.item_quantity,
        item_price_per_each=row.price,
        item_category=row.item_category,
        brand=row.brand,
        weight=row.weight,
    )
