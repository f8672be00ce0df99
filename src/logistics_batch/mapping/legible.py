"""What can be read of single rows, whatever else is wrong with them: for reports on rows that were never sent."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.mapping.fields.compile import compile_sheet
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.rows.classify import classify_rows
from logistics_batch.mapping.rows.header import choose
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet


def legible_rows(mapping: Mapping, sheets: Sequence[Sheet], *, run_values: RunValues) -> pl.DataFrame:
    """The rows of data with `row` (UInt32) and a String column for each target of fields and lines, null where its
    cell breaks a rule or is blank.

    No row where a row makes several lines or lines stand on a second sheet. Raises FileHeld where no header fits.
    """
    if mapping.spec.lines_from is not None or mapping.spec.lines_sheet is not None:
        return pl.DataFrame(schema={"row": pl.UInt32})
    if mapping.operation is Operation.RECEIPT_READ:  # each row stands alone, also one that names no invoice
        mapping = replace(mapping, spec=mapping.spec.model_copy(update={"key": []}))
    sheet, header, _ = choose(mapping, sheets)
    table = compile_sheet(mapping, sheet, header, classify_rows(mapping, sheet, header), run_values)
    values = {field.target: pl.col(field.value_name) for field in (*table.header, *table.line)}
    heads = table.heads.lazy().select("head", *(field.value_name for field in table.header))
    both = table.lines.lazy().join(heads, on="head", how="left", maintain_order="left")
    return both.select(pl.col("row").cast(pl.UInt32), **values).sort("row").collect(engine="in-memory")
