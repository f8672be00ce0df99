"""Lines of goods that are named as totals are: they may announce everything twice."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.mapping.fields.grouping import rows_where
from logistics_batch.mapping.fields.values.reading import say
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.totals_as_goods import A_TOTAL, keys_filled_down
from logistics_batch.mapping.spec.targets import Form, form_of

_QUANTITIES: Final = ("lines.item_quantity", "lines.qty", "lines.quantity")


def blame_totals(found: Findings, table: CompiledSheet) -> None:
    """Lines of goods that are called as totals are become findings, where their key or their quantity speaks for it.

    Their key is that of the row above, or their quantity is that of the other lines of their document together.
    """
    _without_a_key_of_their_own(found, table)
    words = say(
        "Is this the row of a total? It says so in place of goods, and its quantity is the sum of the other rows.",
        "Leave the row out; if these are goods, write their name in full.",
    )
    quantity = next((each for each in map(table.field, _QUANTITIES) if each is not None), None)
    lines = table.grouped.lines
    if quantity is None:
        return
    for field, called in _called_totals(table):
        if lines.select(called.any()).item():
            number = pl.col(quantity.value_name).cast(pl.Float64, strict=False)
            others = pl.when(~called).then(number).sum().over("doc")
            found.add(rows_where(lines, called & (number == others)), field.column, f"{field.target}|total", words)


def _called_totals(table: CompiledSheet) -> Iterator[tuple[Field, pl.Expr]]:
    """The fields of goods, each with whether a line is called as totals are."""
    for field in table.line:
        if field.column is not None and form_of(field.target, table.mapping.operation) is Form.GOODS:
            yield field, pl.col(name_of(field.column)).str.contains(A_TOTAL).fill_null(value=False)


def _without_a_key_of_their_own(found: Findings, table: CompiledSheet) -> None:
    keys = keys_filled_down(table.mapping, table.bound)
    own = [pl.col(f"own:{key}") for key in keys if f"own:{key}" in table.grouped.lines.columns]
    if not keys or len(own) < len(keys):
        return
    words = say(
        "Is this the row of a total? It says so in place of goods, its key is blank, and it is not the sum of the rows "
        "above.",
        "Leave the row out; if these are goods, write the key on the row.",
    )
    for field, called in _called_totals(table):
        rows = table.grouped.lines.filter(called & ~pl.any_horizontal(own))["row"]
        found.add(rows, field.column, f"{field.target}|total", words)
