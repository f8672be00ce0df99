"""What is asked of a file as a whole before anything of it goes out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping import Mapping
from logistics_batch.mapping.alike import failing_alike
from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.job import PushJob


@dataclass(frozen=True, slots=True)
class Gate:
    """budget_percent: the largest share of invalid rows, None for any. approval: a person approves what goes out.

    updates: what was accepted and came again with other content goes out as an update.
    """

    budget_percent: float | None = None
    approval: bool = False
    updates: bool = False


OPEN_GATE = Gate()
"""For a file that a person pushes by hand."""


def gate_of(job: PushJob) -> Gate:
    """What a job asks of its files."""
    budget = job.budget.invalid_rows_percent if job.budget else None
    return Gate(budget, approval=job.approve == "required", updates=job.on_change == "update")


def pass_gate(gate: Gate, mapped: MappedFile, mapping: Mapping) -> tuple[MappedFile, FileHeld | None]:
    """The file as it is answered, and why it is held as a whole: one cause for all its rows, or too many invalid ones.

    Where one cause explains all, it is said once, and the rows have no issues of their own.
    """
    alike = _all_alike(mapped, mapping)
    if alike is not None:
        # rows of a second sheet are blocked where all rows of the first are invalid, and the other way round
        states = dict.fromkeys((RowState.INVALID.value, RowState.BLOCKED.value), RowState.READY.value)
        waiting = pl.col("state").replace(states)
        return replace(mapped, rows=mapped.rows.with_columns(waiting), issues=()), alike
    return mapped, _over_budget(mapped, gate.budget_percent) if gate.budget_percent is not None else None


def _all_alike(mapped: MappedFile, mapping: Mapping) -> FileHeld | None:
    found = failing_alike(mapped) or (failing_alike(mapped, second=mapped.lines_sheet) if mapped.lines_sheet else None)
    if found is None:
        return None
    column = f' in column "{found.issue.column}"' if found.issue.column else ""
    on_sheet = f' on the sheet "{found.issue.sheet}"' if found.issue.sheet else ""
    see = f" See cell {found.issue.cell}{on_sheet}." if found.issue.cell else ""
    stands_in = "" if found.issue.sheet else mapped.stands_in
    elsewhere = f' Such values stand in column "{stands_in}".' if stands_in else ""
    return FileHeld(
        f"All {found.rows} rows fail alike{column}: {found.issue.reason}{see}{elsewhere}",
        rule="all_alike",
        remedy=(
            "Check that columns have not moved and that this is the right sheet and file for the mapping "
            f'"{mapping.name}"; if the values are right, the mapping must be corrected. Then send the file again.'
        ),
        rows_read=mapped.rows.height,
        sheet=mapped.sheet,
        header_row=mapped.header_row,
    )


def _over_budget(mapped: MappedFile, percent: float) -> FileHeld | None:
    data = mapped.rows.filter(pl.col("state") != RowState.SKIPPED.value)
    invalid = data.filter(pl.col("state") == RowState.INVALID.value).height
    if not data.height or invalid * 100 <= percent * data.height:
        return None
    return FileHeld(
        f"{invalid} of {data.height} rows are invalid, more than the allowed {percent:g} %.{_commonest(mapped.issues)}",
        rule="budget",
        remedy=(
            "Correct the invalid rows and send all rows again, for none was sent. If many fail alike, look first "
            "whether a column has moved and whether this is the right sheet and file."
        ),
        rows_read=mapped.rows.height,
        sheet=mapped.sheet,
        header_row=mapped.header_row,
    )


def _commonest(issues: Sequence[Issue]) -> str:
    """What is wrong most often, in the words that its rows are told."""
    counted = Counter((issue.column, issue.reason) for issue in issues)
    if not counted:
        return ""
    ((column, reason), times), *_ = counted.most_common(1)
    place = f'in column "{column}", ' if column else ""
    return f" Most often, {times} times: {place}{reason}"
