"""Codes and house numbers that the spreadsheet program took for something else: MAR-1 is a date to it, 1.10 is 1.1."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet, marked_rows
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.mapping.rows.cells import DAMAGE_SCHEMA, Damage
from logistics_batch.mapping.rows.column_kinds import CODES_IN_TEXTS, columns_of_codes
from logistics_batch.mapping.spec.model import DateRead
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.sheet import CellFact

CODES: Final = (Form.IDENTITY, Form.WAYBILL, Form.GOODS)
"""The forms of values by which something is known."""

_DATED: Final = dict.fromkeys((CellFact.DATE.value, CellFact.DATETIME.value, CellFact.TIME.value), Damage.DATED.value)
_NO_CODES: Final = {**_DATED, CellFact.TRUTH.value: Damage.TRUTH.value}


def altered_values(table: CompiledSheet) -> Iterator[pl.DataFrame]:
    """The cells of a sheet that hold no longer what was typed: row, column, damage."""
    if table.sheet.facts.is_empty():
        return
    yield _marked(table, _columns_of_codes(table), _NO_CODES)
    yield _marked(table, _columns_of_addresses(table), _DATED)
    yield from _with_decimals(table)


def reads_dates(table: CompiledSheet, field: Field) -> bool:
    """Whether a field is a date, or its cells are read as dates."""
    if any(isinstance(step, DateRead) for step in field.spec.read or ()):
        return True
    form = form_of(field.target, table.mapping.operation)
    return not field.place.startswith("keep.") and form in (Form.DATE, Form.MOMENT)


def _marked(table: CompiledSheet, columns: set[int], damages: dict[str, str]) -> pl.DataFrame:
    """The cells of some columns that are something else to the spreadsheet program."""
    found = table.sheet.facts.filter(pl.col("column").is_in(list(columns)) & pl.col("kind").is_in(list(damages)))
    damage = pl.col("kind").replace_strict(damages, default=None, return_dtype=pl.String).alias("damage")
    return found.select(pl.col("row").cast(pl.UInt32), pl.col("column").cast(pl.UInt16), damage)


def _columns_of_codes(table: CompiledSheet) -> set[int]:
    """The columns from which a reference, the name of goods, a batch and the like are taken as they stand."""
    return {
        field.column
        for field in (*table.header, *table.line)
        if field.column is not None
        and (form_of(field.target, table.mapping.operation) in CODES or field.target in CODES_IN_TEXTS)
        and not reads_dates(table, field)
    }


def _columns_of_addresses(table: CompiledSheet) -> set[int]:
    """The columns of addresses, each of those that are joined: a house number 12/3 is a date to the program."""
    return {
        column
        for field in table.header
        if form_of(field.target, table.mapping.operation) is Form.ADDRESS and not reads_dates(table, field)
        for names in field.spec.columns
        if (column := table.bound.column(names)) is not None
    }


def _with_decimals(table: CompiledSheet) -> Iterator[pl.DataFrame]:
    """Codes that the spreadsheet program holds as numbers with decimals: 1.10 and 1.1 are one number to it.

    A number format that shows two decimals proves nothing: programs give it to every number on request.
    """
    for column in columns_of_codes(table.mapping, table.bound):
        has_decimals = pl.col(str(column)).str.contains(".", literal=True)
        numbers = marked_rows(table.sheet, column, (CellFact.NUMBER,))
        rows = table.sheet.frame.filter(has_decimals & pl.col("row").is_in(numbers.implode()))["row"]
        yield (
            rows.to_frame()
            .select("row", pl.lit(column).alias("column"), pl.lit(Damage.DECIMALS.value).alias("damage"))
            .cast(DAMAGE_SCHEMA)
        )
