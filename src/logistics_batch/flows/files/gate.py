"""What is asked of a file as a whole before anything of it goes out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from logistics_batch import messages
from logistics_batch.errors import FileHeld
from logistics_batch.mapping import Mapping
from logistics_batch.mapping.alike import failing_alike
from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import PushJob


@dataclass(frozen=True, slots=True)
class FileAdmissionPolicy:
    """budget_percent: the largest share of invalid rows, None for any. approval: a person approves what goes out.

    updates: what was accepted and came again with other content goes out as an update.
    """

    budget_percent: float | None = None
    approval: bool = False
    updates: bool = False


OPEN_GATE = FileAdmissionPolicy()
"""For a file that a person pushes by hand."""


def gate_of(job: PushJob) -> FileAdmissionPolicy:
    """What a job asks of its files."""
    budget = job.budget.invalid_rows_percent if job.budget else None
    return FileAdmissionPolicy(budget, approval=job.approve == "required", updates=job.on_change == "update")


def pass_gate(gate: FileAdmissionPolicy, mapped: MappedFile, mapping: Mapping) -> tuple[MappedFile, FileHeld | None]:
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
    issue = found.issue
    hints: list[list[object]] = []
    if issue.cell:
        hints.append([".see_cell_of_sheet" if issue.sheet else ".see_cell", {"cell": issue.cell, "sheet": issue.sheet}])
    if mapped.stands_in and not issue.sheet:
        hints.append([".such_values_in", {"column": mapped.stands_in}])
    values = {
        "rows": found.rows,
        "column": issue.column,
        "why": [[issue.code, issue.given]],
        "hints": hints,
        "mapping": mapping.name,
        "place": [] if issue.sheet else [issue.row, issue.cell],
    }
    return FileHeld(
        "all_alike.in_column" if issue.column else "all_alike",
        values=values,
        rows_read=mapped.rows.height,
        sheet=mapped.sheet,
        header_row=mapped.header_row,
    )


def _over_budget(mapped: MappedFile, percent: float) -> FileHeld | None:
    data = mapped.rows.filter(pl.col("state") != RowState.SKIPPED.value)
    invalid = data.filter(pl.col("state") == RowState.INVALID.value).height
    if not data.height or invalid * 100 <= percent * data.height:
        return None
    values = {"invalid": invalid, "rows": data.height, "percent": f"{percent:g}", "hints": _commonest(mapped.issues)}
    return FileHeld(
        "budget",
        values=values,
        rows_read=mapped.rows.height,
        sheet=mapped.sheet,
        header_row=mapped.header_row,
    )


def _commonest(issues: Sequence[Issue]) -> list[list[object]]:
    """What is wrong most often."""
    counted = Counter((issue.column, issue.code, issue.values) for issue in issues)
    if not counted:
        return []
    ((column, code, values), times), *_ = counted.most_common(1)
    told = {"times": times, "column": column, "why": [[code, messages.unpacked(values)]]}
    return [[".most_often_in_column" if column else ".most_often", told]]
