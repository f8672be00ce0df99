"""Lines of goods that are named as totals are, without a key of their own: they may announce everything twice."""

import polars as pl

from logistics_batch.mapping.cells import name_of
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.reading import say
from logistics_batch.mapping.table import Table
from logistics_batch.mapping.targets import Form, form_of
from logistics_batch.mapping.totals_as_goods import A_TOTAL, keys_filled_down


def blame_totals(found: Findings, table: Table) -> None:
    """Lines of goods that are called as totals are, and whose key is that of the row above, become findings."""
    keys = keys_filled_down(table.mapping, table.bound)
    own = [pl.col(f"own:{key}") for key in keys if f"own:{key}" in table.grouped.lines.columns]
    if not keys or len(own) < len(keys):
        return
    words = say(
        "Is this the row of a total? It says so in place of goods, its key is blank, and it is not the sum of the rows "
        "above.",
        "Leave the row out; if these are goods, write the key on the row.",
    )
    for field in table.line:
        if field.column is not None and form_of(field.target, table.mapping.operation) is Form.GOODS:
            called = pl.col(name_of(field.column)).str.contains(A_TOTAL) & ~pl.any_horizontal(own)
            rows = table.grouped.lines.filter(called.fill_null(value=False))["row"]
            found.add(rows, field.column, f"{field.target}|total", words)
