"""Lines on a sheet of their own: each row of the first sheet takes the rows of the second that share its key.

The rest of mapping reads one longer sheet, a row of the first sheet for each of its lines, the cells of the line behind
its own. Only rows of the first sheet are answered: what is wrong with a line is said to the row that it belongs to, and
lines that belong to none are answered in rows below the last.
"""

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.cells import BLANKS, name_of
from logistics_batch.mapping.findings import listed, row_list
from logistics_batch.mapping.header import Header, choose, passed_over
from logistics_batch.mapping.lines_from import Fault, Parting
from logistics_batch.mapping.lines_sheet_spec import header_mapping, inner_mapping, lines_mapping
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.parted import Parted, longer, told_of_rows
from logistics_batch.mapping.patterns import name_fits
from logistics_batch.mapping.rows import sort_rows
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, RowState
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.sheet import MARKS_SCHEMA, Sheet

Key = tuple[str, ...]

_REPEATED: Final = "repeated header"
_FIX: Final = 'Correct the cell on the sheet "{name}" and drop the file again.'


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two sheets.

    keys: of its data rows, by their numbers, in order; a part of a key is "" where the cell is blank. skipped: rows
    that are no data, with the rule. hidden: rows that would be data if they were not hidden and skipped.
    filled: cells of data rows that are blank and take the value above, by column and row.
    """

    sheet: Sheet
    header: Header
    key_columns: tuple[int, ...]
    keys: dict[int, Key]
    skipped: dict[int, str]
    hidden: dict[int, Key]
    filled: dict[int, dict[int, str]]

    @property
    def key_names(self) -> str:
        """The key columns' headers, in words."""
        return " and ".join(f'"{self.header.texts[column - 1].strip()}"' for column in self.key_columns)


@dataclass(frozen=True, slots=True)
class Joined:
    """Two sheets as one longer sheet.

    lines: for each line of the longer sheet the row of the second sheet, None for rows without. columns: for each made
    column the column of the second sheet. orphans: its data rows that belong to nothing, by their key.
    """

    parted: Parted
    first: _Side
    second: _Side
    lines: tuple[int | None, ...]
    columns: dict[int, int]
    orphans: dict[Key, list[int]]


def joined(mapping: Mapping, sheets: Sequence[Sheet]) -> Joined:
    """The longer sheet of a mapping with `lines_sheet`.

    Raises FileHeld where one of the two sheets is missing, or as `choose` does.
    """
    of_lines, others = _told_apart(mapping, sheets)
    outer = header_mapping(mapping)
    first = _side(outer, *choose(outer, others))
    reading = lines_mapping(mapping)
    second = _side(reading, *choose(reading, of_lines))
    inner, wanted = inner_mapping(mapping, first.header, second.header, sheet=second.sheet.name)
    added = {first.sheet.width + place: column for place, column in enumerate(wanted.values(), 1)}
    parting, lines, orphans = _joined_rows(first, second, added, titles=list(wanted))
    whole = longer(first.sheet, first.header, parting)
    whole = replace(whole, marks=_marks(whole, second, added, lines), worded=_worded(whole, second, added, lines))
    notes = (*_notes(second), *passed_over(outer, others, first.sheet))
    made = Parted(inner, whole, first.header, parting, first.sheet, notes)
    return Joined(made, first, second, lines, added, orphans)


def _told_apart(mapping: Mapping, sheets: Sequence[Sheet]) -> tuple[list[Sheet], list[Sheet]]:
    """The sheets that may hold the lines, and those that may hold the rows."""
    spec = mapping.spec
    pattern = spec.lines_sheet.name if spec.lines_sheet else ""
    of_lines = [sheet for sheet in sheets if name_fits(sheet.name, pattern)]
    others = [sheet for sheet in sheets if sheet not in of_lines]
    others = [sheet for sheet in others if spec.sheet.name is None or name_fits(sheet.name, spec.sheet.name)]
    for found, name in ((of_lines, pattern), (others, spec.sheet.name)):
        if not found:
            here = listed(sheet.name for sheet in sheets if sheet.name) or "none that has a name"
            wanted = f'no sheet is called "{name}"' if name else "there is no sheet beside that of the lines"
            raise FileHeld(
                f"The mapping reads two sheets of one workbook, and {wanted}; there is {here}.",
                rule="sheet",
                remedy="Send both sheets in one workbook, or correct the names of the sheets in the mapping.",
                rows_read=max((sheet.frame.height for sheet in sheets), default=0),
            )
    return of_lines, others


def _side(mapping: Mapping, sheet: Sheet, header: Header) -> _Side:
    rows = sort_rows(mapping, sheet, header)
    numbers = [header.column(mapping.names_of(name)) for name in mapping.spec.key]
    columns = tuple(number for number in numbers if number is not None)
    filled: dict[int, dict[int, str]] = {}
    for own in (name for name in rows.data.columns if name.startswith("own:")):
        cell = own.removeprefix("own:")
        taken = rows.data.filter(~pl.col(own) & pl.col(cell).is_not_null())
        filled[int(cell.removeprefix("c"))] = dict(taken.select("row", cell).iter_rows())
    return _Side(
        sheet=sheet,
        header=header,
        key_columns=columns,
        keys=_keys(rows.data, columns),
        skipped=dict(rows.skipped.select("row", "rule").iter_rows()),
        hidden=_keys(rows.hidden, columns),
        filled=filled,
    )


def _keys(frame: pl.DataFrame, columns: Sequence[int]) -> dict[int, Key]:
    chosen = frame.select("row", *(pl.col(name_of(column)).fill_null("") for column in columns))
    return {row: tuple(key) for row, *key in chosen.iter_rows()}


def _keys_of_skipped(side: _Side) -> set[Key]:
    """The keys of rows that a rule skips, as they stand: their lines are skipped with them."""
    frame = side.sheet.frame.filter(pl.col("row").is_in(list(side.skipped)))
    cells = frame.select(pl.col(str(column)).fill_null("").str.strip_chars(BLANKS) for column in side.key_columns)
    return {key for key in cells.iter_rows() if any(key)}


def _joined_rows(
    first: _Side, second: _Side, added: Table[int, int], *, titles: Sequence[str]
) -> tuple[Parting, tuple[int | None, ...], dict[Key, list[int]]]:
    """Which row has which lines; the lines of the longer sheet; and what belongs to nothing."""
    lines_of: dict[Key, list[int]] = {}
    for row, key in second.keys.items():
        lines_of.setdefault(key, []).append(row)
    parting = Parting(tuple(added), cells=[[] for _ in added])
    texts = _texts(second, list(added.values()))
    lines: list[int | None] = []
    seen: dict[Key, int] = {}
    for position, number in enumerate(first.sheet.frame["row"].to_list()):
        key = first.keys.get(number, ())
        own: list[int] = lines_of.get(key, []) if any(key) and key not in seen else []
        is_header = number == first.header.row or first.skipped.get(number) == _REPEATED
        for line in own or (None,):
            cells = tuple(titles) if is_header else tuple(column.get(line or 0) for column in texts)
            parting.add(position, cells, (0,) * len(added))
            lines.append(line)
        if any(key):
            _blame(parting, first, second, key, own=own, earlier=seen.get(key))
            seen.setdefault(key, number)
    known = set(first.keys.values()) | _keys_of_skipped(first)
    orphans = {key: rows for key, rows in lines_of.items() if not any(key) or key not in known}
    return parting, tuple(lines), orphans


def _texts(side: _Side, columns: Sequence[int]) -> list[dict[int, str | None]]:
    """For each column its cells by row, blank ones filled down where the mapping says so."""
    numbers = side.sheet.frame["row"].to_list()
    raw = [dict(zip(numbers, side.sheet.frame[str(column)].to_list(), strict=True)) for column in columns]
    return [{**cells, **side.filled.get(column, {})} for column, cells in zip(columns, raw, strict=True)]


def _blame(parting: Parting, first: _Side, second: _Side, key: Key, *, own: Sequence[int], earlier: int | None) -> None:
    """What is wrong with the row that was added last, as far as its lines are concerned."""
    name, value = second.sheet.name, " | ".join(key)
    hidden = [row for row, its_key in second.hidden.items() if its_key == key]
    if earlier is not None:
        reason = f'"{value}" stands in row {earlier} already, and each stands once on this sheet.'
        _fault(parting, first, "twice", reason, "Leave one of the two rows.")
    elif hidden:
        reason = f'Lines of "{value}" are hidden and were skipped: sheet "{name}", row {row_list(hidden)}.'
        _fault(parting, first, "hidden", reason, f'Unhide or delete the rows on the sheet "{name}".')
    elif not own:
        reason = f'No row of the sheet "{name}" has "{value}" in {second.key_names}.'
        _fault(parting, first, "no_lines", reason, f'Write its lines on the sheet "{name}", or take this row out.')


def _fault(parting: Parting, first: _Side, rule: str, reason: str, fix: str) -> None:
    parting.faults.append(Fault(len(parting.rows) - 1, first.key_columns[0], f"lines_sheet|{rule}", reason, fix))


def _marks(whole: Sheet, second: _Side, added: Table[int, int], lines: Sequence[int | None]) -> pl.DataFrame:
    """The marks of the longer sheet: those of the first sheet's cells, and of the second's where they are now."""
    moved = pl.DataFrame({"origin": lines, "line": whole.frame["row"]}, schema={"origin": pl.UInt32, "line": pl.UInt32})
    found = [whole.marks]
    for made, column in added.items():
        marks = second.sheet.marks.filter(pl.col("column") == column).rename({"row": "origin"})
        here = marks.join(moved.drop_nulls(), on="origin").with_columns(pl.lit(made).alias("column"))
        found.append(here.select(pl.col("line").alias("row"), "column", "mark").cast(MARKS_SCHEMA))  # type: ignore[arg-type]
    return pl.concat(found)


def _worded(
    whole: Sheet, second: _Side, added: Table[int, int], lines: Sequence[int | None]
) -> tuple[tuple[int, int], ...]:
    worded = set(second.sheet.worded)
    numbers = whole.frame["row"].to_list()
    here = [
        (number, made)
        for number, line in zip(numbers, lines, strict=True)
        for made, column in added.items()
        if (line, column) in worded
    ]
    return (*whole.worded, *here)


def _notes(second: _Side) -> tuple[str, ...]:
    """What a report should mention about the second sheet."""
    place = f'Sheet "{second.sheet.name}"'
    notes = [f"{place}: {note}" for note in second.sheet.notes]
    if second.header.unknown:
        names = listed(second.header.unknown, limit=20)
        notes.append(f"{place}: columns that the mapping does not know were not used: {names}.")
    by_rule: dict[str, list[int]] = {}
    for row, rule in second.skipped.items():
        by_rule.setdefault(rule, []).append(row)
    notes += [
        f"{place}: row {row_list(rows)} was skipped ({rule})." for rule, rows in by_rule.items() if rule != "blank"
    ]
    return tuple(notes)


def told_of_both(mapped: MappedFile, both: Joined) -> MappedFile:
    """The result for the longer sheet, told of the first sheet, and below it of lines that belong to nothing."""
    told = told_of_rows(replace(mapped, issues=_issues(mapped.issues, both)), both.parted)
    below = int(both.first.sheet.frame["row"].max() or 0)  # type: ignore[arg-type]
    issues = [_orphan(both, below + place, *orphan) for place, orphan in enumerate(both.orphans.items(), 1)]
    rows = [
        (issue.row, RowState.INVALID.value, None, None, " | ".join(filter(None, key)), None)
        for issue, key in zip(issues, both.orphans, strict=True)
    ]
    added = pl.DataFrame(rows, schema=ROWS_SCHEMA, orient="row")
    return replace(told, rows=pl.concat([told.rows, added]), issues=(*told.issues, *issues))


def _issues(issues: Sequence[Issue], both: Joined) -> tuple[Issue, ...]:
    """The issues of lines at the row that they belong to; the cell of the second sheet is named in words."""
    line_of = dict(zip(both.parted.sheet.frame["row"].to_list(), both.lines, strict=True))
    column = both.first.key_columns[0]
    title, name = both.first.header.texts[column - 1].strip(), both.second.sheet.name
    addresses = {made: cell_address(1, made).rstrip("1") for made in both.columns}
    made_of = {letters: both.columns[made] for made, letters in addresses.items()}
    told: list[Issue] = []
    for issue in issues:
        there, line = made_of.get(issue.cell.rstrip("0123456789")), line_of[issue.row]
        if there is None:
            told.append(issue)
        elif line is not None:  # a row without lines is told of already
            reason = f'Sheet "{name}", cell {cell_address(line, there)}: {issue.reason}'.replace(f'"{name}: ', '"')
            fix = f"{issue.fix} ".replace(f'"{name}: ', '"') + _FIX.format(name=name)
            cell = cell_address(issue.row, column)
            told.append(replace(issue, column=title, cell=cell, reason=reason, fix=fix))
    return tuple(told)


def _orphan(both: Joined, row: int, key: Key, lines: Sequence[int]) -> Issue:
    """What is said of lines without a row, in a row of their own below the last."""
    first, second = both.first, both.second
    column, value = first.key_columns[0], " | ".join(filter(None, key))
    title, cell = first.header.texts[column - 1].strip(), cell_address(row, column)
    place = f'Sheet "{second.sheet.name}", row {row_list(lines)}'
    if not value:
        fix = f'Fill in {second.key_names} on the sheet "{second.sheet.name}".'
        return Issue(row, "lines_sheet|no_key", title, cell, "", f"{place}: {second.key_names} is blank.", fix)
    where = f'the sheet "{first.sheet.name}"' if first.sheet.name else "the first sheet"
    reason = f'{place}: no row of {where} has "{value}" in {first.key_names}.'
    fix = f'Correct {second.key_names} on the sheet "{second.sheet.name}", or write the missing row here.'
    return Issue(row, "lines_sheet|orphan", title, cell, value, reason, fix)
