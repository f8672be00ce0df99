"""Rows of a list that could not be read: counted and named for people, and kept for the lines that they concern."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping import Mapping, RunValues, legible_rows
from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet
from logistics_batch.reconciliation import UNREAD_ROWS

_NAMED: Final = 5
_UNREAD: Final = [RowState.INVALID.value, RowState.BLOCKED.value]


def unread_note(mapped: MappedFile, *, file_words: str) -> tuple[str, ...]:
    """The rows that hold data and could not be read, with the first reasons; none if all could."""
    rows = mapped.rows.filter(pl.col("state").is_in(_UNREAD))
    if rows.is_empty():
        return ()
    reasons = {row: f"row {row}: {reason}" for row, reason in rows.select("row", "reason").iter_rows() if reason}
    reasons |= {row: f"{issue.cell}: {issue.reason}" for row, issue in _first_issues(mapped).items()}
    first = "; ".join(reasons[row] for row in sorted(reasons)[:_NAMED])
    return (f"{file_words}: {rows.height} rows could not be read and are in no sum ({first}).",)


def unread_rows(
    mapping: Mapping, sheets: Sequence[Sheet], mapped: MappedFile, *, run_values: RunValues
) -> pl.DataFrame:
    """The same rows (UNREAD_ROWS) with what can be read of them nevertheless."""
    rows = mapped.rows.filter(pl.col("state").is_in(_UNREAD)).select("row", "reason")
    if rows.is_empty():
        return pl.DataFrame(schema=UNREAD_ROWS)
    issues = _first_issues(mapped)
    where = f"{run_values.file_name} {mapped.sheet}".strip()
    places = [_place(where, row, issues.get(row), reason) for row, reason in rows.iter_rows()]
    told = rows.with_columns(pl.Series("spot", places, dtype=pl.String))
    told = told.join(legible_rows(mapping, sheets, run_values=run_values), on="row", how="left", maintain_order="left")
    absent = [pl.lit(None, pl.String).alias(name) for name in UNREAD_ROWS if name not in told.columns]
    return told.with_columns(*absent).select(*UNREAD_ROWS)


def _first_issues(mapped: MappedFile) -> dict[int, Issue]:
    return {issue.row: issue for issue in reversed(mapped.issues)}


def _place(where: str, row: int, issue: Issue | None, reason: str | None) -> str:
    if issue is None:
        return f"{where} row {row}: {reason or ''}".rstrip(": ")
    value = f' "{issue.value}"' if issue.value else ""
    return f"{where} row {row}, cell {issue.cell}{value}: {issue.reason.rstrip('.')}"
