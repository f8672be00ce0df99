"""What seldom is right in India: taxes of both kinds, a PIN of another state, a place elsewhere. Told, never held."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.grouping import rows_where
from logistics_batch.mapping.notes.odd_values import Doubt, column_name, number, rows_read

E_WAY_BILL_ABOVE_INR: Final = 50_000

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


def indian_doubts(table: CompiledSheet) -> Iterator[Doubt]:
    """Each with the column's name, what is odd, and the rows."""
    yield from _taxes(table)
    yield from _e_way_bills(table)
    yield from _states(table)
    yield from _places(table)
    yield from _mails(table)


def _taxes(table: CompiledSheet) -> Iterator[Doubt]:
    """Within a state CGST and SGST in equal halves, across states IGST; never both."""
    central, state, integrated = (table.field(f"lines.{name}") for name in ("cgst", "sgst", "igst"))
    if central is not None and state is not None and central.column is not None:
        uneven = (number(central).fill_null(0) - number(state).fill_null(0)).abs() > 0.01
        yield column_name(table, central), "CGST and SGST differ", rows_read(table, central, uneven)
    if integrated is not None and integrated.column is not None:
        halves = [number(field).fill_null(0) > 0 for field in (central, state) if field is not None]
        both = (number(integrated) > 0) & pl.any_horizontal([*halves, pl.lit(value=False)])
        yield column_name(table, integrated), "IGST beside CGST or SGST", rows_read(table, integrated, both)


def _e_way_bills(table: CompiledSheet) -> Iterator[Doubt]:
    """What an order's goods are worth together, where price and quantity are mapped."""
    price, pieces = table.field("lines.item_price_per_each"), table.field("lines.item_quantity")
    if price is None or price.column is None:
        return
    worth = number(price) * (number(pieces).fill_null(1) if pieces is not None else 1)
    lines = table.grouped.lines.select("doc", worth=worth)
    dear = lines.group_by("doc").agg(pl.col("worth").sum()).filter(pl.col("worth") > E_WAY_BILL_ABOVE_INR)["doc"]
    said = f"goods of an order above INR {E_WAY_BILL_ABOVE_INR:,}, which travel with an e-way bill"
    yield column_name(table, price), said, rows_where(table.grouped.lines, pl.col("doc").is_in(dear.implode()))


def _states(table: CompiledSheet) -> Iterator[Doubt]:
    """A PIN whose first digit is that of another region than the state at the end of the address."""
    for way in ("delivery", "pickup", "return"):
        pin, address = table.field(f"fields.{way}_postal_code"), table.field(f"fields.{way}_address")
        if pin is None or address is None or pin.column is None:
            continue
        first, text = pl.col(pin.value_name).str.slice(0, 1), pl.col(address.value_name)
        of_region = [
            text.str.contains(_AT_THE_END.format(names=names)) & (first != digit) for digit, names in _REGIONS.items()
        ]
        elsewhere = pl.any_horizontal(of_region) & (first != "9")  # 9 is the army's
        yield column_name(table, pin), "the PIN is of another state than the address", rows_read(table, pin, elsewhere)


def _places(table: CompiledSheet) -> Iterator[Doubt]:
    for way, lengthwise in (("delivery", "long"), ("pickup", "long"), ("return", "lon")):
        fields = table.field(f"fields.{way}_lat"), table.field(f"fields.{way}_{lengthwise}")
        for field, (least, most) in zip(fields, (_NORTH, _EAST), strict=True):
            if field is not None and field.column is not None:
                said = "a place outside India; are latitude and longitude changed over?"
                yield column_name(table, field), said, rows_read(table, field, ~number(field).is_between(least, most))


def _mails(table: CompiledSheet) -> Iterator[Doubt]:
    field = table.field("fields.customer_email")
    if field is not None and field.column is not None:
        odd = ~pl.col(field.value_name).str.strip_chars().str.contains(_E_MAIL)
        yield column_name(table, field), "not the form of an e-mail address", rows_read(table, field, odd)
