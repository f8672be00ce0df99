"""What each row is told: the fate's word, why, what to do, and where; the same words in every kind of result."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from logistics_batch.model.issue import Issue
from logistics_batch.model.report import Fate, FileReport, RowResult
from logistics_batch.paper.clerks_words import clerks_fix

RESULT_FIELDS = (
    "file",
    "sheet",
    "row",
    "document",
    "fate",
    "rule",
    "column",
    "cell",
    "value",
    "reason",
    "fix",
    "reference_number",
    "awb_number",
    "run",
)
"""The columns of NAME.result.csv before the source's own, in their order."""

FILE_RULE = "file"
"""The rule that stands in a result's line about a file as a whole."""

NO_ROWS = "The file has a header but no rows."
"""What is said of a file in which there is nothing to answer."""

NEEDS_CORRECTING = frozenset({Fate.INVALID, Fate.REFUSED, Fate.BLOCKED})
"""The fates that a clerk mends in the sheet."""

_REASONS: Mapping[Fate, str] = {
    Fate.REFUSED: "The service refused this document without saying why.",
    Fate.INVALID: "This row cannot be sent as it is.",
    Fate.BLOCKED: "This row is fine, but its document was not sent.",
    Fate.IN_DOUBT: "Sent, but no trustworthy answer came back; it may or may not have been taken.",
    Fate.HELD: "A person must decide before this is sent.",
    Fate.PENDING: "Not sent yet.",
}
_FIXES: Mapping[Fate, str] = {
    Fate.REFUSED: "Correct what the reason names and drop the file again.",
    Fate.INVALID: "Correct the row and drop the file again.",
    Fate.BLOCKED: "Correct the other rows of this document and drop the file again.",
    Fate.PENDING: "Nothing: the next run sends it.",
}
_FIX_OF_HELD_FILE = "Correct what the reason names and send the file again."
_CELL_OF_HELD_FILE = re.compile(r" See cell ([A-Z]{1,3}([1-9][0-9]*))\.")  # one cause for all rows, and where it begins
_FIXES_OF_BLOCKED = {
    "disagree": "Write the same in all rows of this document and drop the file again.",
    "duplicate": "Give each document its own number, or write these rows as one document, and drop the file again.",
    "equal rows": "Remove the row that stands twice, and drop the file again; if both are meant, ask for the mapping "
    "to allow equal rows.",
    "hidden row": "Show the hidden row, or delete it, and drop the file again.",
}


@dataclass(frozen=True, slots=True)
class CellNote:
    """One failing cell: its A1 address and what is wrong with it, in one or more lines."""

    cell: str
    text: str


def answered_rows(report: FileReport) -> tuple[RowResult, ...]:
    """The report's rows with every text filled in: the first issue in the columns, all of them in the reason.

    Each row stands once, in the report's order. A fate that needs a word and has none gets its standard one.
    """
    return tuple(row for report_of_sheet in report.by_sheet for row in _answered_rows(report_of_sheet))


def _answered_rows(report: FileReport) -> tuple[RowResult, ...]:
    """Those of one sheet."""
    issues = issues_by_row(report.issues)
    culprits = _invalid_rows_by_document(report.rows)
    return tuple(_answered(row, issues.get(row.row, ()), culprits.get(row.document, ()), report) for row in report.rows)


def cell_notes(report: FileReport) -> tuple[CellNote, ...]:
    """Every failing cell of one sheet's report, each once, with all that is wrong with it; in row order."""
    texts: dict[str, list[str]] = defaultdict(list)
    for issue in report.issues:
        _add(texts[issue.cell], issue.reason, issue.fix)
    for row in report.rows:
        if row.cell and row.cell not in texts and row.fate in NEEDS_CORRECTING:
            _add(texts[row.cell], row.reason or _REASONS[row.fate], row.fix or _FIXES[row.fate])
    named = None if report.is_of_lines else _CELL_OF_HELD_FILE.search(report.reason)
    if named and any(row.row == int(named[2]) for row in report.rows):
        _add(texts[named[1]], report.reason, report.remedy)
    return tuple(CellNote(cell, "\n".join(lines)) for cell, lines in texts.items() if cell)


def _add(lines: list[str], *texts: str) -> None:
    lines.extend(text for text in texts if text and text not in lines)


def issues_by_row(issues: Sequence[Issue]) -> dict[int, tuple[Issue, ...]]:
    found: dict[int, list[Issue]] = defaultdict(list)
    for issue in issues:
        found[issue.row].append(issue)
    return {row: tuple(of_row) for row, of_row in found.items()}


def _invalid_rows_by_document(rows: Sequence[RowResult]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.fate is Fate.INVALID and row.document:
            found[row.document].append(row.row)
    return {document: tuple(numbers) for document, numbers in found.items()}


def _answered(row: RowResult, issues: Sequence[Issue], culprits: Sequence[int], report: FileReport) -> RowResult:
    if issues and row.fate is Fate.INVALID:
        return _with_issues(row, issues)
    reason, fix = row.reason, row.fix
    if row.fate is Fate.HELD and report.reason:  # held with its file: no document of it waits for a decision
        reason, fix = reason or report.reason, fix or report.remedy or _FIX_OF_HELD_FILE
    elif row.fate in (Fate.HELD, Fate.IN_DOUBT):
        fix = clerks_fix(row)
    if row.fate is Fate.BLOCKED and not reason and culprits:
        reason = f"Not sent, because {_rows_named(culprits)} of the same document cannot be sent as it is."
    if row.fate is Fate.BLOCKED:
        fix = fix or _FIXES_OF_BLOCKED.get(row.rule, "")
    reason = reason or _REASONS.get(row.fate, "")
    fix = fix or (_FIXES.get(row.fate, "") if reason else "")
    return row if (reason, fix) == (row.reason, row.fix) else replace(row, reason=reason, fix=fix)


def _with_issues(row: RowResult, issues: Sequence[Issue]) -> RowResult:
    first = issues[0]
    return replace(
        row,
        rule=row.rule or first.rule,
        column=row.column or first.column,
        cell=row.cell or first.cell,
        value=row.value or first.value,
        reason=" | ".join(reasons_named(issues)),
        fix=row.fix or first.fix,
    )


def reasons_named(issues: Sequence[Issue]) -> tuple[str, ...]:
    """The reason of each issue, with its cell where there are several."""
    if len(issues) == 1:
        return (issues[0].reason,)
    return reasons_at_cells(issues)


def reasons_at_cells(issues: Sequence[Issue]) -> tuple[str, ...]:
    """The reason of each issue behind its cell, for where nothing else names the cell."""
    return tuple(dict.fromkeys(f"{issue.cell}: {issue.reason}" if issue.cell else issue.reason for issue in issues))


def _rows_named(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}"
    shown = ", ".join(str(row) for row in rows[:5])
    return f"a row ({shown}{' …' if len(rows) > 5 else ''})"
