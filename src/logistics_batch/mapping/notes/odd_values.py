"""Values that can be right and seldom are: told in a note for a person to look at, never held against a row."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

LIGHTEST_KG: Final = 0.01
HEAVIEST_KG: Final = 100.0
MOST_PIECES: Final = 99_999
E_WAY_BILL_ABOVE_INR: Final = 50_000
_MOST: Final = {"pieces": MOST_PIECES, "e_way_bill": E_WAY_BILL_ABOVE_INR}

_IN_GRAMS: Final = (Operation.ORDER_ADD_ITEMS, Operation.LABEL_CREATE)  # API §2.2, §2.3; elsewhere kilograms
_PIN_IN_TEXT: Final = r"(?:^|[^0-9])[1-9][0-9]{2} ?[0-9]{3}(?:[^0-9]|$)"
_PINS: Final = (
    ("delivery_postal_code", "delivery_address"),
    ("pickup_postal_code", "pickup_address"),
    ("return_postal_code", "return_address"),
    ("delivery_pincode", "shipping_address"),
)

# The first digits of PINs by state; at the end of an address, where a state is meant and no road is named after it.
_REGIONS: Final = {
    "1": "Delhi|Haryana|Punjab|Himachal Pradesh|Jammu|Kashmir|Ladakh|Chandigarh",
    "2": "Uttar Pradesh|Uttarakhand|Uttaranchal",
    "3": "Rajasthan|Gujarat|Daman|Diu|Dadra",
    "4": "Maharashtra|Goa|Madhya Pradesh|Chhattisgarh",
    "5": "Telangana|Andhra Pradesh|Karnataka",
    "6": "Tamil Nadu|Tamilnadu|Kerala|Puducherry|Pondicherry|Lakshadweep",
    "7": "West Bengal|Odisha|Orissa|Assam|Arunachal Pradesh|Nagaland|Manipur|Mizoram|Tripura|Meghalaya|Sikkim|Andaman",
    "8": "Bihar|Jharkhand",
}
_AT_THE_END: Final = r"(?i)(?:^|[^a-z])(?:{names})(?:[^\p{{L}}]|india|pin(?: ?code)?)*$"
_NORTH, _EAST = (6.0, 38.0), (68.0, 98.0)  # degrees between which India lies
_E_MAIL: Final = r"^[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+$"


Odd = Iterator[tuple[str, Field, pl.Expr]]
"""What is odd (a code behind `odd.`), of which field, and where; where the field's cell cannot be read nothing is."""


def odd_values(table: CompiledSheet) -> Iterator[Issue]:
    """A note for each column with values that look odd."""
    for find in (_weights, _pieces, _pins, _prices, _taxes, _e_way_bills, _states, _places, _mails):
        for code, field, odd in find(table):
            rows = table.rows_where(odd.fill_null(value=False) & ~field.is_unread, field)
            if field.column is not None and rows.len():
                column, places, most = table.text_of(field.column), table.sheet.physical_rows(rows), _MOST.get(code, 0)
                yield Issue.of(f"odd.{code}", column=column, rows=places, most=most)


def _weights(table: CompiledSheet) -> Odd:
    """Grams in a column of kilograms make a parcel of 820 kg, kilograms in a column of grams one of 1 g."""
    grams = 1000 if table.mapping.operation in _IN_GRAMS else 1
    for field in (table.field("fields.weight"), table.field("lines.weight")):
        if field is not None:
            weight = _number(field) / grams
            yield "weight", field, (weight > 0) & ~weight.is_between(LIGHTEST_KG, HEAVIEST_KG)


def _pieces(table: CompiledSheet) -> Odd:
    for target in ("item_quantity", "qty", "quantity"):
        field = table.field(f"lines.{target}")
        if field is not None:
            yield "pieces", field, _number(field) > MOST_PIECES


def _pins(table: CompiledSheet) -> Odd:
    """A PIN that is also in the address, but another one there: one of them leads to the wrong town."""
    for pin_target, address_target in _PINS:
        pin, address = table.field(f"fields.{pin_target}"), table.field(f"fields.{address_target}")
        if pin is not None and address is not None:
            text, digits = pl.col(address.value_name), pl.col(pin.value_name)
            same = text.str.replace_all(" ", "", literal=True).str.contains(digits, literal=True)
            yield "pin", pin, text.str.contains(_PIN_IN_TEXT) & ~same


def _prices(table: CompiledSheet) -> Odd:
    mrp, price = table.field("lines.maximum_retail_price"), table.field("lines.price_per_qty")
    if mrp is not None and price is not None:
        yield "price", mrp, _number(mrp) < _number(price)


def _taxes(table: CompiledSheet) -> Odd:
    """Within a state CGST and SGST in equal halves, across states IGST; never both."""
    central, state, integrated = (table.field(f"lines.{name}") for name in ("cgst", "sgst", "igst"))
    if central is not None and state is not None:
        yield "tax_halves", central, (_number(central).fill_null(0) - _number(state).fill_null(0)).abs() > 0.01
    if integrated is not None:
        halves = [_number(field).fill_null(0) > 0 for field in (central, state) if field is not None]
        yield "taxes", integrated, (_number(integrated) > 0) & pl.any_horizontal([*halves, pl.lit(value=False)])


def _e_way_bills(table: CompiledSheet) -> Odd:
    """What an order's goods are worth together, where price and quantity are mapped."""
    price, pieces = table.field("lines.item_price_per_each"), table.field("lines.item_quantity")
    if price is not None and price.column is not None:
        worth = _number(price) * (_number(pieces).fill_null(1) if pieces is not None else 1)
        together = table.grouped.lines.select("doc", worth=worth).group_by("doc").agg(pl.col("worth").sum())
        dear = together.filter(pl.col("worth") > E_WAY_BILL_ABOVE_INR)["doc"]
        yield "e_way_bill", price, pl.col("doc").is_in(dear.implode())


def _states(table: CompiledSheet) -> Odd:
    """A PIN whose first digit is that of another region than the state at the end of the address."""
    for way in ("delivery", "pickup", "return"):
        pin, address = table.field(f"fields.{way}_postal_code"), table.field(f"fields.{way}_address")
        if pin is not None and address is not None:
            first, text = pl.col(pin.value_name).str.slice(0, 1), pl.col(address.value_name)
            of_region = [
                text.str.contains(_AT_THE_END.format(names=names)) & (first != digit)
                for digit, names in _REGIONS.items()
            ]
            yield "state", pin, pl.any_horizontal(of_region) & (first != "9")  # 9 is the army's


def _places(table: CompiledSheet) -> Odd:
    for way, lengthwise in (("delivery", "long"), ("pickup", "long"), ("return", "lon")):
        fields = table.field(f"fields.{way}_lat"), table.field(f"fields.{way}_{lengthwise}")
        for field, (least, most) in zip(fields, (_NORTH, _EAST), strict=True):
            if field is not None:
                yield "place", field, ~_number(field).is_between(least, most)


def _mails(table: CompiledSheet) -> Odd:
    field = table.field("fields.customer_email")
    if field is not None:
        yield "e_mail", field, ~pl.col(field.value_name).str.strip_chars().str.contains(_E_MAIL)


def _number(field: Field) -> pl.Expr:
    return pl.col(field.value_name).cast(pl.Float64, strict=False)
