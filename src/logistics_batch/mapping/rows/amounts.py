"""The numbers of a sheet's columns, whatever fields are made of them: to be added up, compared and multiplied."""

from collections.abc import Mapping as Table
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.numbers import plain_number, without_suffix
from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import SuffixRead

EXACT: Final = pl.Decimal(38, 6)


def reading_of_numbers(mapping: Mapping, header: Header, run: RunValues) -> ReadContext:
    """What numbers of any column are read with: the words too that some field declares behind those of a column."""
    found: dict[int, Table[str, int]] = {}
    for field in mapping.spec.everything.values():
        for step in field.read or ():
            if isinstance(step, SuffixRead):
                found |= dict.fromkeys(header.bound(field.columns[:1]), step.suffix)
    return ReadContext(run, decimal=mapping.spec.sheet.decimal, suffixes=found)


def amount(column: int, around: ReadContext) -> pl.Expr:
    """A column's cells as exact decimals; null where one is blank or no number."""
    return plain_number(without_words(column, around), around).cast(EXACT, strict=False)


def without_words(column: int, around: ReadContext) -> pl.Expr:
    """A column's cells without the words that are declared behind its numbers."""
    cell, suffix = pl.col(name_of(column)), around.suffixes.get(column)
    return without_suffix(cell, suffix, around) if suffix else cell
