"""Two sheets that were read as one longer sheet: what mapping says of its lines, told of the rows of both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.lines.exploded import told_of_rows
from logistics_batch.mapping.lines.two_sheets import Joined, Key
from logistics_batch.messages import packed
from logistics_batch.messages.words import row_list
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, RowState
from logistics_batch.model.issue import Issue, Place, cell_address

_SIBLING: Final = "sibling"
_STOPPED: Final = (RowState.INVALID.value, RowState.BLOCKED.value)

State = dict[str, Any]
"""One line of ROWS_SCHEMA, by its columns."""


@dataclass(slots=True)
class _Wrong:
    """The rows of each sheet that are wrong themselves, by the key of the document that they are of."""

    first: dict[Key, list[int]] = field(default_factory=dict)
    lines: dict[Key, list[int]] = field(default_factory=dict)

    def said(self, key: Key, both: Joined, *, on_lines: bool) -> str:
        """Why a document with one of these is not sent, to a row of one of the sheets."""
        here, there = (self.lines, self.first) if on_lines else (self.first, self.lines)
        other = both.first.sheet.name if on_lines else both.second.sheet.name
        where = f'of the sheet "{other}" ' if other else "of the other sheet "
        named = [f"row {row_list(here[key])} "] if key in here else []
        named += [f"row {row_list(there[key])} {where}"] if key in there else []
        return f"The document is not sent: {'and '.join(named)}is invalid."


def told_of_both(mapped: MappedFile, both: Joined) -> MappedFile:
    """The result for the longer sheet, told of the rows of the first sheet and, behind them, of the second.

    A cell that is wrong makes the row invalid in which it stands; the other rows of its document are blocked.
    """
    own, of_lines = _parted_issues(mapped.issues, both)
    wrong = _wrong(own, of_lines, both)
    states = [dict(zip(mapped.rows.columns, line, strict=True)) for line in mapped.rows.iter_rows()]
    faulty = {issue.row for issue in own}
    first = pl.DataFrame(_of_first(states, both, wrong, faulty=faulty), schema=ROWS_SCHEMA)
    told = told_of_rows(replace(mapped, rows=first, issues=own), both.parted)
    lost = tuple(_orphan(both, key, row) for key, rows in both.orphans.items() for row in rows)
    second = pl.DataFrame(list(_of_second(states, both, wrong)), schema=ROWS_SCHEMA).sort("row")
    issues = sorted((*of_lines, *lost), key=lambda issue: issue.row)
    return replace(
        told,
        rows=pl.concat([told.rows, second]),
        issues=(*told.issues, *issues),
        lines_sheet=both.second.sheet.name,
        lines_header_row=both.second.header.row,
    )


def _parted_issues(issues: Sequence[Issue], both: Joined) -> tuple[tuple[Issue, ...], tuple[Issue, ...]]:
    """The issues of the first sheet's cells, as they came; those of the second's, at the cells where they stand there.

    What a row without lines lacks is told of already.
    """
    line_of = dict(zip(both.parted.sheet.frame["row"].to_list(), both.lines, strict=True))
    made_of = {cell_address(1, made).rstrip("1"): column for made, column in both.columns.items()}
    own: list[Issue] = []
    of_lines: list[Issue] = []
    for issue in issues:
        column, line = made_of.get(issue.cell.rstrip("0123456789")), line_of[issue.row]
        if column is None:
            own.append(issue)
        elif line is not None:
            of_lines.append(_of_line(issue, both, row=line, column=column))
    return tuple(own), tuple(of_lines)


def _of_line(issue: Issue, both: Joined, *, row: int, column: int) -> Issue:
    """The same, said of a cell of the second sheet."""
    name, texts = both.second.sheet.name, both.second.header.texts
    title = texts[column - 1].strip() if column <= len(texts) else issue.column
    return issue.renamed(f"{name}: ", "").at(row=row, column=title, cell=cell_address(row, column), sheet=name)


def _wrong(own: Sequence[Issue], of_lines: Sequence[Issue], both: Joined) -> _Wrong:
    found = _Wrong()
    row_of = _rows_of_lines(both)
    for row in sorted({row_of[issue.row] for issue in own}):
        found.first.setdefault(both.first.keys.get(row, ()), []).append(row)
    for row in sorted({issue.row for issue in of_lines}):
        found.lines.setdefault(both.second.keys.get(row, ()), []).append(row)
    return found


def _rows_of_lines(both: Joined) -> dict[int, int]:
    """For each line of the longer sheet the row of the first."""
    made = both.parted
    return dict(zip(made.sheet.frame["row"].to_list(), made.physical.frame["row"][made.parting.rows], strict=True))


def _of_first(states: Sequence[State], both: Joined, wrong: _Wrong, *, faulty: set[int]) -> list[State]:
    """The states of the longer sheet's lines, as far as the first sheet is concerned."""
    row_of = _rows_of_lines(both)
    told = []
    for state in states:
        if state["row"] in faulty:
            told.append(state | {"state": RowState.INVALID.value, "code": None, "values": None})
        else:
            key = both.first.keys.get(row_of[state["row"]], ())
            told.append(_unless_other(state, key, both, wrong, on_lines=False))
    return told


def _of_second(states: Sequence[State], both: Joined, wrong: _Wrong) -> Iterator[State]:
    """The rows of the second sheet, each once."""
    second = both.second
    place = {"sheet": second.sheet.name}
    named: State = {"document": None, "key": None, **place}
    line_of = dict(zip(both.parted.sheet.frame["row"].to_list(), both.lines, strict=True))
    bad = {row for rows in wrong.lines.values() for row in rows}
    for state in states:
        line = line_of[state["row"]]
        if line in bad:
            yield state | place | {"row": line, "state": RowState.INVALID.value, "code": None, "values": None}
        elif line is not None:
            told = _unless_other(state, second.keys[line], both, wrong, on_lines=True)
            yield told | place | {"row": line}
    for row, (rule, reason) in second.skipped.items():
        values = packed({"reason": reason})
        yield named | {"row": row, "state": RowState.SKIPPED.value, "code": rule, "values": values}
    for row, skipped in both.passed.items():
        values = packed({"reason": f'Its row of the sheet "{both.first.sheet.name}" was skipped: row {skipped}.'})
        yield named | {"row": row, "state": RowState.SKIPPED.value, "code": "lines_sheet", "values": values}
    for key, rows in both.orphans.items():
        its_key = " | ".join(filter(None, key))
        for row in rows:
            yield named | {"row": row, "state": RowState.INVALID.value, "code": None, "values": None, "key": its_key}


def _unless_other(state: State, key: Key, both: Joined, wrong: _Wrong, *, on_lines: bool) -> State:
    """A row that is fine itself: why its document is not sent, if it is not."""
    if state["state"] not in _STOPPED or (state["state"] == RowState.BLOCKED.value and state["code"] != _SIBLING):
        return state
    values = packed({"reason": wrong.said(key, both, on_lines=on_lines)})
    return state | {"state": RowState.BLOCKED.value, "code": _SIBLING, "values": values}


def _orphan(both: Joined, key: Key, row: int) -> Issue:
    """What is said of a line without a row."""
    first, second = both.first, both.second
    column, value = second.key_columns[0], " | ".join(filter(None, key))
    title, cell = second.header.texts[column - 1].strip(), cell_address(row, column)
    if not value:
        reason, fix = f"{second.key_names} is blank.", f"Fill in {second.key_names}."
        place = Place(row, title, cell, "", second.sheet.name, "lines_sheet")
        return Issue.of("no_key", place, reason=reason, remedy=fix)
    where = f'the sheet "{first.sheet.name}"' if first.sheet.name else "the first sheet"
    reason = f'No row of {where} has "{value}" in {first.key_names}.'
    fix = f"Correct {second.key_names}, or write the missing row on {where}."
    place = Place(row, title, cell, value, second.sheet.name, "lines_sheet")
    return Issue.of("orphan", place, reason=reason, remedy=fix)
