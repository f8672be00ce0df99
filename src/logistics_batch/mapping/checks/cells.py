"""Cells and rows as the file has them, whatever the mapping reads of them: lost, altered, shifted or perhaps not meant.

Error values, codes that the spreadsheet program took for dates or numbers (MAR-1, 1.10), number formats that add words,
cells struck through or unseen under merged cells, rows of a text file with more or fewer cells than its header. Nobody
knows what was meant: it is asked.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import PERCENTAGE, CompiledSheet, is_marked
from logistics_batch.mapping.fields.values.numbers import FOREIGN, UNIT_NAMES, spellings_of
from logistics_batch.mapping.fields.values.reading import Said
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows.cells import (
    CODES_IN_TEXTS,
    DAMAGE_SCHEMA,
    Cleaned,
    ColumnKind,
    Damage,
    column_kinds,
    columns_of_codes,
)
from logistics_batch.mapping.spec.model import UnitRead
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import CODES, FieldForm
from logistics_batch.mapping.spec.words import PIECES
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import CellFact, struck_parts

NOT_SHOWN: Final = ";"
"""The number format text of a cell that shows nothing."""

_LOOKED_AT: Final = 1_000  # last rows of a file
_HABIT: Final = 5
_ONE_IN: Final = 10
"""So many rows, and one in so many, that end at the same place are how a program writes empty cells at the end."""

_LOST: Final = {
    CellFact.ERROR.value: Damage.ERROR_VALUE.value,
    CellFact.NO_VALUE.value: Damage.NO_VALUE.value,
    CellFact.IMPRECISE.value: Damage.IMPRECISE.value,
}
_DATED: Final = dict.fromkeys((CellFact.DATE.value, CellFact.DATETIME.value, CellFact.TIME.value), Damage.DATED.value)
_NO_CODES: Final = {**_DATED, CellFact.TRUTH.value: Damage.TRUTH.value}
_SAME_NUMBER: Final = "0(?: 0)* ?"  # blanks part thousands
_MOST_CHARACTERS: Final = 60  # of a text in a reason

Users = dict[int, str]
"""For each column that is sent or is part of the key the first target that it feeds."""


def find_doubtful_cells(found: Findings, table: CompiledSheet, cleaned: Cleaned) -> None:
    """What cannot be believed in the mapped columns of the rows that hold data."""
    sheet, users = table.sheet, _users(table)
    if sheet.facts.is_empty() and cleaned.damage.is_empty():
        return
    is_data = pl.col("row").is_in(table.data_rows.implode())
    doubtful = sheet.facts_of(CellFact.STRIKETHROUGH, CellFact.HIDDEN_BY_MERGE)
    doubtful = doubtful.filter(is_data & pl.col("column").is_in([*users])).sort("row", "column")
    if doubtful.height:  # as of few sheets
        is_struck = pl.col("kind") == CellFact.STRIKETHROUGH
        _find_struck(found, table, users, doubtful.filter(is_struck))
        for number, group in _by_column(doubtful.filter(~is_struck)):
            found.add(group["row"], number, users[number], _covered)
    damage = pl.concat([_known(table, _LOST), cleaned.damage, _with_number_formats(table), *_altered(table)])
    # What stands above the table is told once a document.
    is_told = ~pl.col("column").is_in([*sheet.above]) | pl.col("row").is_in(table.heads["row"].implode())
    for number, group in _by_column(damage.filter(is_data & is_told & pl.col("column").is_in([*users]))):
        for (kind,), cells in group.group_by("damage", maintain_order=True):
            given = {"name": table.text_of(number)} if kind == Damage.SEVERAL else {}
            found.add(cells["row"], number, users[number], Issue.of(str(kind), **given))


def _by_column(cells: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """The cells of each column, by its number."""
    return ((int(str(number)), group) for (number,), group in cells.group_by("column", maintain_order=True))


def _users(table: CompiledSheet) -> Users:
    users = dict.fromkeys(table.columns(table.mapping.spec.key), "key")
    for field in reversed((*table.header, *table.line)):  # the first counts
        users |= dict.fromkeys(filter(None, map(table.bound.column, field.spec.columns)), field.target)
    return users


def _known(table: CompiledSheet, damages: dict[str, str], columns: Iterable[int] | None = None) -> pl.DataFrame:
    """The cells, of some columns or of all, that are to the spreadsheet program what damages them: DAMAGE_SCHEMA."""
    wanted = pl.col("kind").is_in(list(damages))
    facts = table.sheet.facts.filter(wanted if columns is None else wanted & pl.col("column").is_in(list(columns)))
    return facts.select("row", "column", damage=pl.col("kind").replace_strict(damages, return_dtype=pl.String))


def _altered(table: CompiledSheet) -> Iterator[pl.DataFrame]:
    """The cells of a sheet that hold no longer what was typed.

    Of codes with decimals 1.10 and 1.1 are one number to the program. A number format that shows two decimals proves
    nothing: programs give it to every number on request.
    """
    if table.sheet.facts.is_empty():
        return
    taken = [field for field in (*table.header, *table.line) if not table.reads_dates(field)]
    codes = (each.column for each in taken if table.form_of(each) in CODES or each.target in CODES_IN_TEXTS)
    yield _known(table, _NO_CODES, filter(None, codes))
    # A house number 12/3 is a date to the program.
    joined = [names for each in taken if table.form_of(each) is FieldForm.ADDRESS for names in each.spec.columns]
    yield _known(table, _DATED, filter(None, map(table.bound.column, joined)))
    for column in columns_of_codes(table.mapping, table.bound):
        has_decimals = pl.col(str(column)).str.contains(".", literal=True)
        rows = table.sheet.frame.filter(has_decimals & is_marked(table.sheet, column, CellFact.NUMBER)).select("row")
        yield rows.with_columns(column=pl.lit(column), damage=pl.lit(Damage.DECIMALS.value)).cast(DAMAGE_SCHEMA)


def _with_number_formats(table: CompiledSheet) -> pl.DataFrame:
    """Number cells that show something else than they hold; phones and PINs lose nothing by words and signs."""
    texts = table.sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT).sort("row", "column").select("row", "column", "detail")
    kinds, units = (column_kinds(table.mapping, table.bound), _units(table)) if texts.height else ({}, {})
    shares = {field.column for field in table.fields if "percent" in table.verbs_of(field)}  # 0.05 that shows 5%

    def is_harmless(column: int, shown: str) -> bool:
        kind = kinds.get(column)
        return (
            kind is None
            or (column in shares and shown == PERCENTAGE)
            or (kind is ColumnKind.DIGITS and shown != NOT_SHOWN)
            or (
                kind is ColumnKind.NUMBER
                and bool(
                    re.fullmatch(
                        rf"(?i)(?:(?={FOREIGN})(?:{units[column]}) ?)?{_SAME_NUMBER}(?:{units[column]})?\.?", shown
                    )
                )
            )
        )

    different = texts.select("column", "detail").unique()  # few: a format is that of a whole column
    harmless = different.filter([is_harmless(*each) for each in different.iter_rows()])
    left = texts.join(harmless, on=["column", "detail"], how="anti", maintain_order="left")
    return left.select("row", "column", damage=pl.lit(Damage.WORDED.value)).cast(DAMAGE_SCHEMA)


def _units(table: CompiledSheet) -> dict[int, str]:
    """For each column the words, as a pattern, that a number in it may be followed by: pieces, or the declared unit."""
    measures = {column: ColumnName.of(text).measure for column, text in enumerate(table.bound.texts, 1)}
    declared = {column: {said.name} if said and said.name in UNIT_NAMES else {""} for column, said in measures.items()}
    for field in table.fields:
        steps = [step for step in field.spec.read or () if isinstance(step, UnitRead)]
        if field.column is not None:
            declared[field.column] |= {step.unit.partition("->")[0].strip().lower() for step in steps}
            declared[field.column] |= {word.strip() for word in table.around.suffixes.get(field.column, ())}
    words = {column: [word for unit in units for word in spellings_of(unit)] for column, units in declared.items()}
    return {column: "|".join(map(re.escape, [*each, *PIECES])) for column, each in words.items()}


def _find_struck(found: Findings, table: CompiledSheet, users: Users, struck: pl.DataFrame) -> None:
    """Rows that are struck through as a whole, and cells; one that is so in part holds an old and a new value."""
    parts = {text: struck_parts(text) for text in struck["detail"].unique()}
    is_partly = pl.col("detail").is_in([text for text, (_, left) in parts.items() if left])
    used = [str(column) for column in users if str(column) in table.sheet.frame.columns]
    filled = table.sheet.frame.select("row", filled=pl.sum_horizontal(pl.col(used).is_not_null()))
    by_row = struck.group_by("row").agg(many=pl.len(), partly=is_partly.any()).join(filled, on="row")
    whole = by_row.filter(~pl.col("partly"), pl.col("many") == pl.col("filled"), pl.col("many") > 1)["row"]
    is_whole = pl.col("row").is_in(whole.implode())
    for number, group in _by_column(struck.filter(is_whole).unique("row", keep="first", maintain_order=True)):
        found.add(group["row"], number, "", Issue("struck_through.row"))
    for number, group in _by_column(struck.filter(~is_whole)):
        cells = group.join(table.sheet.frame.select("row", value=str(number)), on="row")
        by_value: dict[str, set[tuple[str, str]]] = {}
        for value, text in cells.select("value", "detail").iter_rows():
            by_value.setdefault(value or "", set()).add(parts[text])
        found.add(group["row"], number, users[number], _struck(by_value))


def _struck(parts: dict[str, set[tuple[str, str]]]) -> Said:
    """What is said of the cells of a column; parts: for each value what is struck through and what is left of it."""

    def of_cell(value: str) -> Issue:
        if all(not left for _, left in parts[value]):
            return Issue("struck_through")
        pieces = [{"struck": _short(struck), "left": _short(left)} for struck, left in sorted(parts[value])]
        return Issue.of("struck_through.part", parts=[["struck_through.left", each] for each in pieces[:2]])

    return of_cell


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"


def _covered(value: str) -> Issue:
    return Issue.of("covered", value=_short(value.strip()))


def find_ragged(found: Findings, table: CompiledSheet) -> None:
    """Find the data rows whose cells have been shifted.

    Too long is a row with more cells than the header and something written beyond the last column that the header
    names. Too short is a row that ends before a column of the mapping: the cell that is missing may be any of them, and
    each one behind it stands in the place of its neighbour. Only that the sender leaves empty cells at the end of a row
    out makes it right; see `_short_rows`. Of those that are taken as they are there is a note: what their last cells
    stand under is nowhere written.
    """
    if table.sheet.cell_counts is None:
        return
    frame = table.sheet.frame.with_columns(table.sheet.cell_counts.cast(pl.UInt32).alias("cells"))
    short, spared = _short_rows(table, frame)
    for (cells,), group in spared.sort("cells", descending=True).group_by("cells", maintain_order=True):
        missing = [table.text_of(column) for column in sorted(_cut(table, int(str(cells))))]
        rows = table.sheet.physical_rows(group["row"])
        found.notes.append(Issue.of("short_rows", rows=rows, columns=missing))
    header = int(frame.filter(pl.col("row") == table.bound.row)["cells"].sum())
    if frame.filter((pl.col("cells") != header) & (pl.col("cells") > 1)).is_empty():
        return
    _cut_off(found, table, frame)
    own = table.sheet.width - table.sheet.added
    named = max((number for number, text in enumerate(table.bound.texts[:own], 1) if text.strip()), default=0)
    beyond = [pl.col(str(number)).is_not_null() for number in range(named + 1, own + 1)]
    is_data = pl.col("row").is_in(table.data_rows.implode())
    long = frame.filter(is_data, pl.col("cells") > header, pl.any_horizontal(pl.lit(value=False), *beyond))
    few = "cells.few" if _writes_empty_ends(frame) else "cells.trimmed"
    for (cells,), group in pl.concat([long, short]).group_by("cells", maintain_order=True):
        number = int(str(cells))
        said = Issue.of("cells.many" if number > header else few, cells=number, header=header)
        found.add(group["row"], table.key_column, "row", said)


def _cut(table: CompiledSheet, cells: int) -> set[int]:
    """The columns in use that a row with so many cells does not reach."""
    own = table.sheet.width - table.sheet.added
    return {column for column in table.bound.columns.values() if cells < column <= own}


def _short_rows(table: CompiledSheet, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that are too short, and those that are spared.

    Spared are rows that lack no required cell, if the mapping allows them; if they lack just all that is filled down;
    or if so many rows end at the same place, beside whole ones and none that ends in an empty cell, that nobody can
    have forgotten a separator in each.
    """
    mapping, bound = table.mapping, table.bound
    every = frame.filter(pl.col("row").is_in(table.data_rows.implode()))
    data = every.filter(pl.col("cells") < max(bound.columns.values(), default=0))
    if data.is_empty():
        return data, data
    # What is filled down may be blank on all but a document's first row.
    filled = set(table.columns(mapping.spec.sheet.fill_down))
    required = {bound.column(names) for names in mapping.required} - filled
    allowed, trims = mapping.spec.checks.short_rows == "allow", not _writes_empty_ends(frame)
    faulty, spared = [0], [0]
    for cells, count in data.group_by("cells").len().iter_rows():
        cut = _cut(table, cells)
        is_habit = every.height > data.height and count >= max(_HABIT, every.height // _ONE_IN)
        if required & cut or not (allowed or (trims and (cut == filled or is_habit))):
            faulty.append(cells if cut else 0)
        elif cut != filled:
            spared.append(cells)
    return data.filter(pl.col("cells").is_in(faulty)), data.filter(pl.col("cells").is_in(spared))


def _cut_off(found: Findings, table: CompiledSheet, frame: pl.DataFrame) -> None:
    """The last row of a file that ends within it: no line break behind it, and fewer cells than any other row."""
    *others, last = frame.filter(pl.col("cells") > 0)["cells"].to_list()[-_LOOKED_AT:]
    row = frame["row"][-1]
    is_data = row in table.lines["row"].tail(1) or row in table.keyless["row"].tail(1)
    if table.sheet.ends_open and others and last < min(others) and is_data:
        said = Issue.of("cut_off", cells=last, others=min(others))
        found.add(pl.Series([row]), table.key_column, "row", said)


def _writes_empty_ends(frame: pl.DataFrame) -> bool:
    """Whether some row of the file ends in an empty cell."""
    for (cells,), group in frame.filter(pl.col("cells") > 1).group_by("cells"):
        last = str(cells)
        if last not in frame.columns or group[last].null_count():
            return True
    return False
