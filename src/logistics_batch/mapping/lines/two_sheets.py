"""Lines on a sheet of their own: each row of the first sheet takes the rows of the second that share its key.

The rest of mapping reads one longer sheet, a row of the first sheet for each of its lines, the cells of the line behind
its own. What it says is then told of the rows of both sheets; see `lines_answers`.
"""

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.checks.equal_rows import equal_lines, in_cells
from logistics_batch.mapping.checks.idle_rules import hold_idle_skips
from logistics_batch.mapping.checks.renamed_columns import hold_renamed, notes_of_renamed
from logistics_batch.mapping.lines.exploded import ExplodedSheet, longer
from logistics_batch.mapping.lines.split_rows import Fault, Parting
from logistics_batch.mapping.lines.two_sheet_spec import header_mapping, inner_mapping, lines_mapping
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.cells import BLANKS, name_of
from logistics_batch.mapping.rows.classify import classify_rows
from logistics_batch.mapping.rows.header import Header, choose, likeliest, passed_over
from logistics_batch.mapping.rows.patterns import name_fits
from logistics_batch.messages.words import listed, row_list
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, Sheet

Key = tuple[str, ...]

_REPEATED: Final = "repeated header"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sheets.

    keys: of its data rows, by their numbers, in order; a part of a key is "" where the cell is blank. skipped: rows
    that are no data, with rule and reason. hidden: rows that would be data if they were not hidden and skipped.
    filled: cells of data rows that are blank and take the value above, by column and row.
    """

    sheet: Sheet
    header: Header
    key_columns: tuple[int, ...]
    keys: dict[int, Key]
    skipped: dict[int, tuple[str, str]]
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
    column the column of the second sheet. passed: its data rows that belong to a row of the first sheet that a rule
    skips, with that row. orphans: those that belong to nothing, by their key.
    """

    parted: ExplodedSheet
    first: Side
    second: Side
    lines: tuple[int | None, ...]
    columns: dict[int, int]
    passed: dict[int, int]
    orphans: dict[Key, list[int]]


def joined(mapping: Mapping, sheets: Sequence[Sheet]) -> Joined:
    """The longer sheet of a mapping with `lines_sheet`.

    Raises FileHeld where one of the two sheets is missing, or as `choose` does.
    """
    of_lines, others = _told_apart(mapping, sheets)
    outer = header_mapping(mapping)
    reading = lines_mapping(mapping)
    chosen, chosen_lines = choose(outer, others), choose(reading, of_lines)
    hold_idle_skips(mapping, [chosen, chosen_lines])
    hold_renamed(reading, *chosen_lines)
    first, second = _side(outer, *chosen), _side(reading, *chosen_lines)
    inner, wanted = inner_mapping(mapping, first.header, second.header, sheet=second.sheet.name)
    added = {first.sheet.width + place: column for place, column in enumerate(wanted.values(), 1)}
    parting, lines = _joined_rows(first, second, added, titles=list(wanted))
    twice, cells = ({}, "") if mapping.spec.checks.equal_rows == "allow" else _equal_lines(second)
    if mapping.spec.checks.equal_rows == "block":
        _blame_equal(parting, first, second, twice, cells)
    passed, orphans = _left_over(first, second)
    whole = longer(first.sheet, first.header, parting)
    whole = replace(whole, facts=_facts(whole, second, added, lines))
    notes = (*_notes(reading, second), *_note_of_equal(second, twice, cells), *passed_over(outer, others, first.sheet))
    made = ExplodedSheet(inner, whole, first.header, parting, first.sheet, notes)
    return Joined(made, first, second, lines, added, passed, orphans)


def both_sheets(mapping: Mapping, sheets: Sequence[Sheet]) -> tuple[tuple[Sheet, int], ...]:
    """The two sheets, each with the row that is its header, of a file that was held all the same.

    The row is 0 where the first sheet has no row with all columns of the mapping; of the second it is the likeliest.
    Nothing where the mapping reads one sheet, or one of the two is missing.
    """
    if mapping.spec.lines_sheet is None:
        return ()
    try:
        of_lines, others = _told_apart(mapping, sheets)
    except FileHeld:
        return ()
    first, header = likeliest(header_mapping(mapping), others)
    second, of_second = likeliest(lines_mapping(mapping), of_lines)
    filled = second.frame.filter(pl.any_horizontal(pl.exclude("row").is_not_null()))["row"].to_list()
    row = header.row if header is not None and not header.missing else 0
    return (first, row), (second, of_second.row if of_second else next(iter(filled), 0))


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


def _side(mapping: Mapping, sheet: Sheet, header: Header) -> Side:
    rows = classify_rows(mapping, sheet, header)
    numbers = [header.column(mapping.names_of(name)) for name in mapping.spec.key]
    columns = tuple(number for number in numbers if number is not None)
    filled: dict[int, dict[int, str]] = {}
    for own in (name for name in rows.data.columns if name.startswith("own:")):
        cell = own.removeprefix("own:")
        taken = rows.data.filter(~pl.col(own) & pl.col(cell).is_not_null())
        filled[int(cell.removeprefix("c"))] = dict(taken.select("row", cell).iter_rows())
    return Side(
        sheet=sheet,
        header=header,
        key_columns=columns,
        keys=_keys(rows.data, columns),
        skipped={row: (rule, reason) for row, rule, reason in rows.skipped.select("row", "rule", "reason").iter_rows()},
        hidden=_keys(rows.hidden, columns),
        filled=filled,
    )


def _keys(frame: pl.DataFrame, columns: Sequence[int]) -> dict[int, Key]:
    chosen = frame.select("row", *(pl.col(name_of(column)).fill_null("") for column in columns))
    return {row: tuple(key) for row, *key in chosen.iter_rows()}


def _keys_of_skipped(side: Side) -> dict[Key, int]:
    """The keys of rows that a rule skips, as they stand, with the row: their lines are skipped with them."""
    frame = side.sheet.frame.filter(pl.col("row").is_in(list(side.skipped)))
    cells = [pl.col(str(column)).fill_null("").str.strip_chars(BLANKS) for column in side.key_columns]
    return {tuple(key): row for row, *key in frame.select("row", *cells).iter_rows() if any(key)}


def _left_over(first: Side, second: Side) -> tuple[dict[int, int], dict[Key, list[int]]]:
    """The data rows of the second sheet that no row of the first takes: see `Joined`."""
    taken, skipped = set(first.keys.values()), _keys_of_skipped(first)
    passed: dict[int, int] = {}
    orphans: dict[Key, list[int]] = {}
    for row, key in second.keys.items():
        if not any(key) or (key not in taken and key not in skipped):
            orphans.setdefault(key, []).append(row)
        elif key not in taken:
            passed[row] = skipped[key]
    return passed, orphans


def _joined_rows(
    first: Side, second: Side, added: Table[int, int], *, titles: Sequence[str]
) -> tuple[Parting, tuple[int | None, ...]]:
    """Which row has which lines, and the lines of the longer sheet."""
    lines_of: dict[Key, list[int]] = {}
    for row, key in second.keys.items():
        lines_of.setdefault(key, []).append(row)
    parting = Parting(tuple(added), cells=[[] for _ in added])
    texts = _texts(second, list(added.values()))
    lines: list[int | None] = []
    seen: dict[Key, int] = {}
    strays = _strays(second)
    for position, number in enumerate(first.sheet.frame["row"].to_list()):
        key = first.keys.get(number, ())
        own: list[int] = lines_of.get(key, []) if any(key) and key not in seen else []
        is_header = number == first.header.row or first.skipped.get(number, ("",))[0] == _REPEATED
        for line in own or (None,):
            cells = tuple(titles) if is_header else tuple(column.get(line or 0) for column in texts)
            parting.add(position, cells, (0,) * len(added))
            lines.append(line)
        if any(key):
            _blame(parting, first, second, key, own=own, earlier=seen.get(key))
            _blame_strays(parting, first, second, key, strays=strays.pop(key, ()))
            seen.setdefault(key, number)
    return parting, tuple(lines)


def _texts(side: Side, columns: Sequence[int]) -> list[dict[int, str | None]]:
    """For each column its cells by row, blank ones filled down where the mapping says so."""
    numbers = side.sheet.frame["row"].to_list()
    raw = [dict(zip(numbers, side.sheet.frame[str(column)].to_list(), strict=True)) for column in columns]
    return [{**cells, **side.filled.get(column, {})} for column, cells in zip(columns, raw, strict=True)]


def _blame(parting: Parting, first: Side, second: Side, key: Key, *, own: Sequence[int], earlier: int | None) -> None:
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


def _strays(second: Side) -> dict[Key, list[int]]:
    """The lines without a key, by the key of the one above each: they may be lines of that document."""
    found: dict[Key, list[int]] = {}
    above: Key = ()
    for row, key in second.keys.items():
        above = key if any(key) else above
        if not any(key) and any(above):
            found.setdefault(above, []).append(row)
    return found


def _blame_strays(parting: Parting, first: Side, second: Side, key: Key, *, strays: Sequence[int]) -> None:
    if strays:
        value, names = " | ".join(key), second.key_names
        where = f'{names} is blank on the sheet "{second.sheet.name}", row {row_list(strays)}'
        reason = f'{where}, below lines of "{value}": are they lines of it?'
        fix = f"Fill in {names} there; if blank means the same as above, the mapping says so with `fill_down`."
        _fault(parting, first, "stray", reason, fix)


def _equal_lines(second: Side) -> tuple[dict[Key, list[int]], str]:
    """Lines that stand twice by their key, and in which cells they are equal."""
    twice, aside = equal_lines(second.sheet, second.header, second.keys, filled=second.filled)
    return twice, in_cells(aside)


def _blame_equal(parting: Parting, first: Side, second: Side, twice: Table[Key, Sequence[int]], cells: str) -> None:
    """Lines that stand twice are blamed on the row that they belong to."""
    numbers = first.sheet.frame["row"].to_list()
    blamed: set[Key] = set()
    for line, position in enumerate(parting.rows):
        key = first.keys.get(numbers[position], ())
        if key in twice and key not in blamed:
            blamed.add(key)
            where = f'on the sheet "{second.sheet.name}" the rows {row_list(twice[key])}'
            reason = f'Of the lines of "{" | ".join(key)}", {where} are equal {cells}: were they pasted twice?'
            fix = "Remove the line that stands twice; if both are meant, ask for the mapping to allow equal rows."
            parting.faults.append(Fault(line, first.key_columns[0], "lines_sheet|equal_rows", reason, fix))


def _note_of_equal(second: Side, twice: Table[Key, Sequence[int]], cells: str) -> list[str]:
    rows = sorted(row for numbers in twice.values() for row in numbers)
    where = f'Sheet "{second.sheet.name}": the rows {row_list(rows)} are equal, {cells}, to another line'
    return [f"{where} of their document: were they pasted twice?"] if rows else []


def _fault(parting: Parting, first: Side, rule: str, reason: str, fix: str) -> None:
    parting.faults.append(Fault(len(parting.rows) - 1, first.key_columns[0], f"lines_sheet|{rule}", reason, fix))


def _facts(whole: Sheet, second: Side, added: Table[int, int], lines: Sequence[int | None]) -> pl.DataFrame:
    """The facts of the longer sheet: those of the first sheet's cells, and of the second's where they are now."""
    moved = pl.DataFrame({"origin": lines, "row": whole.frame["row"]}, schema_overrides={"origin": pl.UInt32})
    found = [whole.facts]
    for made, column in added.items():
        there = (pl.col("column") == column) & (pl.col("kind") != CellFact.MERGED)
        facts = second.sheet.facts.filter(there).rename({"row": "origin"})
        here = facts.join(moved.drop_nulls(), on="origin", maintain_order="right")
        found.append(here.with_columns(pl.lit(made, dtype=pl.UInt16).alias("column")).select(*FACTS_SCHEMA))
    return pl.concat(found)


def _notes(reading: Mapping, second: Side) -> tuple[str, ...]:
    """What a report should mention about the second sheet."""
    place = f'Sheet "{second.sheet.name}"'
    notes = [f"{place}: {note}" for note in second.sheet.notes]
    if second.header.unknown:
        names = listed(second.header.unknown, limit=20)
        notes.append(f"{place}: columns that the mapping does not know were not used: {names}.")
        notes += [f"{place}: {note}" for note in notes_of_renamed(reading, second.sheet, second.header)]
    return tuple(notes)
