"""What a report should mention about a file beside its rows' issues."""

import polars as pl

from logistics_batch.mapping.cells import name_of
from logistics_batch.mapping.doubts import doubts
from logistics_batch.mapping.findings import listed, row_list
from logistics_batch.mapping.grouping import rows_where
from logistics_batch.mapping.phones import holds_two
from logistics_batch.mapping.rows import Rows
from logistics_batch.mapping.table import Table


def notes_of(table: Table, rows: Rows) -> tuple[str, ...]:
    """The reader's notes, hidden rows, columns that the mapping does not know or the sheet does not have, repairs."""
    bound, sheet = table.bound, table.sheet
    notes = list(sheet.notes)
    if sheet.hidden_rows:
        said = "skipped" if table.mapping.spec.sheet.hidden_rows == "skip" else "read like the others"
        notes.append(f"Hidden rows were {said}: {row_list(sheet.physical_rows(sheet.hidden_rows))}.")
    if bound.own:
        notes.append("The result columns of an earlier round were ignored.")
    if bound.unknown:
        notes.append(f"Columns that the mapping does not know were not used: {listed(bound.unknown, limit=20)}.")
    if bound.unused:
        notes.append(f"Columns were not used because another name came first: {listed(bound.unused, limit=20)}.")
    if bound.absent:
        notes.append(f"Columns of the mapping that this sheet does not have: {listed(bound.absent, limit=20)}.")
    return (*notes, *rows.cleaned.notes, *_two_numbers(table), *doubts(table))


def _two_numbers(table: Table) -> list[str]:
    """Cells with two phone numbers, of which the first is sent."""
    notes: list[str] = []
    sheet = table.sheet
    for field in table.header:
        if field.column is not None and field.target.endswith("_mobile"):
            cell = pl.col(name_of(field.column))
            two = sheet.physical_rows(rows_where(table.grouped.lines, holds_two(cell)))
            if two:
                name = table.bound.texts[field.column - 1].strip()
                rows = f"row{'' if len(two) == 1 else 's'} {row_list(two)}"
                notes.append(f'Column "{name}" has two numbers in {rows}; the first was taken.')
    return notes
