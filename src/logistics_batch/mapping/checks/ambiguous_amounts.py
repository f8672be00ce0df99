"""Amounts with three digits behind the full stop: 1.200 is one rupee twenty, or one thousand two hundred."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet, marked_rows
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.mapping.fields.grouping import rows_where
from logistics_batch.mapping.fields.values.numbers import without_currency
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.sheet import CellFact

_EITHER: Final = r"^[-+(]? *0{0,2}[1-9][0-9]{0,2}\.[0-9]{3} *[-)]?$"
_POINT_PARTS_PAISE: Final = r"^[^.]*\.(?:[0-9]{1,2}|[0-9]{4,})?[^0-9.]*$|[0-9]{4}\.[0-9]|^[^0-9]*0*\.[0-9]|,.*\."
"""Cells in which the full stop can be nothing but the decimal mark: 12.50, 1250.000, 0.500, 1,200.000."""


def blame_ambiguous_amounts(found: Findings, table: CompiledSheet) -> None:
    """Amounts that may be a thousand times as much, in columns in which nothing shows what the full stop means.

    A mapping that says `decimal` has settled it, and a number cell of a workbook has no decimal mark.
    """
    if "decimal" in table.mapping.spec.sheet.model_fields_set:
        return
    for field, column in _amounts(table):
        cells = table.grouped.lines.select("row", without_currency(pl.col(name_of(column))).alias("cell"))
        if not cells["cell"].str.contains(_EITHER).any():
            continue
        numbers = marked_rows(table.sheet, column, (CellFact.NUMBER,))
        written = cells.filter(~pl.col("row").is_in(numbers.implode()))
        if not written["cell"].str.contains(_POINT_PARTS_PAISE).any():
            found.add(
                rows_where(written, pl.col("cell").str.contains(_EITHER)),
                column,
                f"{field.target}|decimal_mark",
                _words,
            )


def _words(value: str) -> tuple[str, str]:
    return (
        f'"{value}" may be an amount with three decimals or one of thousands.',
        "Write it with two decimals, as 1.20 or 1200.00; if all files are so, ask the operator to name the mark.",
    )


def _amounts(table: CompiledSheet) -> Iterator[tuple[Field, int]]:
    """The columns that amounts are read from; what is multiplied by them is no amount."""
    seen: set[int] = set()
    for field in (*table.header, *table.line):
        reads_money = "money" in (field.spec.read or ()) or form_of(field.target, table.mapping.operation) is Form.MONEY
        single = [names for names in (field.spec.from_, field.spec.first, field.spec.sum, field.spec.less) if names]
        for names in (*single, *field.spec.plus, *field.spec.minus) if reads_money else ():
            column = table.bound.column(names)
            if column is not None and column not in seen:
                seen.add(column)
                yield field, column
