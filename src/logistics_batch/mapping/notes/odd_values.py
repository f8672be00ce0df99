"""Values that can be right and seldom are: told in a note for a person to look at, never held against a row."""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.messages.words import row_list
from logistics_batch.model.document import Operation

LIGHTEST_KG: Final = 0.01
HEAVIEST_KG: Final = 100.0
MOST_PIECES: Final = 99_999

_IN_GRAMS: Final = (Operation.ORDER_ADD_ITEMS, Operation.LABEL_CREATE)  # API §2.2, §2.3; elsewhere kilograms
_PIN_IN_TEXT: Final = r"(?:^|[^0-9])[1-9][0-9]{2} ?[0-9]{3}(?:[^0-9]|$)"


Doubt = tuple[str, str, pl.Series]
"""The name of a column, what is odd about it, and the rows."""


def doubts(table: CompiledSheet) -> Iterator[Doubt]:
    """What looks odd: weights in the wrong unit, pieces that may be codes, another PIN, an MRP below the price."""
    yield from _weights(table)
    yield from _pieces(table)
    yield from _pins(table)
    yield from _prices(table)


def told(table: CompiledSheet, found: Iterable[Doubt]) -> list[str]:
    """The notes on those that have rows."""
    return [f'Column "{name}": {said} in {in_rows(table, rows)}.' for name, said, rows in found if rows.len()]


def in_rows(table: CompiledSheet, rows: pl.Series) -> str:
    """The rows in words; of many their number and the first ones."""
    numbers = table.sheet.physical_rows(rows.unique().sort())
    named = row_list(numbers)
    return (
        f"{len(numbers):,} rows: {named}" if named.endswith("…") else f"row{'' if len(numbers) == 1 else 's'} {named}"
    )


def _weights(table: CompiledSheet) -> Iterator[Doubt]:
    """Grams in a column of kilograms make a parcel of 820 kg, kilograms in a column of grams one of 1 g."""
    grams = 1000 if table.mapping.operation in _IN_GRAMS else 1
    for field in (table.field("fields.weight"), table.field("lines.weight")):
        if field is None or field.column is None:
            continue
        weight = number(field) / grams
        odd = (weight > 0) & ~weight.is_between(LIGHTEST_KG, HEAVIEST_KG)
        yield (
            column_name(table, field),
            "a weight below 10 g or above 100 kg; check the unit",
            rows_read(table, field, odd),
        )


def _pieces(table: CompiledSheet) -> Iterator[Doubt]:
    for target in ("item_quantity", "qty", "quantity"):
        field = table.field(f"lines.{target}")
        if field is not None and field.column is not None:
            many = number(field) > MOST_PIECES
            yield column_name(table, field), f"more than {MOST_PIECES:,} pieces", rows_read(table, field, many)


def _pins(table: CompiledSheet) -> Iterator[Doubt]:
    """A PIN that is also in the address, but another one there: one of them leads to the wrong town."""
    for pin_target, address_target in (
        ("delivery_postal_code", "delivery_address"),
        ("pickup_postal_code", "pickup_address"),
        ("return_postal_code", "return_address"),
        ("delivery_pincode", "shipping_address"),
    ):
        pin, address = table.field(f"fields.{pin_target}"), table.field(f"fields.{address_target}")
        if pin is None or address is None or pin.column is None:
            continue
        text, digits = pl.col(address.value_name), pl.col(pin.value_name)
        same = text.str.replace_all(" ", "", literal=True).str.contains(digits, literal=True)
        yield (
            column_name(table, pin),
            "the address holds another PIN",
            rows_read(table, pin, text.str.contains(_PIN_IN_TEXT) & ~same),
        )


def _prices(table: CompiledSheet) -> Iterator[Doubt]:
    mrp, price = table.field("lines.maximum_retail_price"), table.field("lines.price_per_qty")
    if mrp is not None and price is not None and mrp.column is not None:
        yield column_name(table, mrp), "an MRP below the price", rows_read(table, mrp, number(mrp) < number(price))


def number(field: Field) -> pl.Expr:
    """The value of a field as a number; null where it is none."""
    return pl.col(field.value_name).cast(pl.Float64, strict=False)


def column_name(table: CompiledSheet, field: Field) -> str:
    """How the sheet calls the column of a field."""
    return " ".join(table.bound.texts[(field.column or 1) - 1].split())


def rows_read(table: CompiledSheet, field: Field, odd: pl.Expr) -> pl.Series:
    """The rows with an odd value, of those that are read at all."""
    return table.rows_where(odd.fill_null(value=False) & ~field.is_unread, field)
