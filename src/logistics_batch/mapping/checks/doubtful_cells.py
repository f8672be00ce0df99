"""Cells whose value may not be meant: struck through, or unseen under merged cells. Nobody knows what was: it is asked.

A cell that is struck through in part holds two values for the program that reads it, the old one and the new one.
"""

from collections.abc import Iterable, Set
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.values.reading import Words, say
from logistics_batch.mapping.findings import Findings
from logistics_batch.model.sheet import CellFact, Sheet, struck_parts

Users = dict[object, str]
"""For each column that is sent or is part of the key the first target that it feeds."""

_MOST_CHARACTERS: Final = 60  # of a text in a reason
_ROW: Final = say(
    "The whole row is struck through: was it cancelled?",
    "Remove the row if it is not to go out; if it is, take the line through it away.",
)
_CELL: Final = (
    "The cell is struck through: does its value still count?",
    "Write the value that counts, without a line through it, or empty the cell.",
)
_PART: Final = "Write only the value that counts, without a line through it."


def find_doubtful(found: Findings, table: CompiledSheet, users: Users) -> None:
    """What is struck through or cannot be seen, in the mapped columns of the rows that hold data."""
    if table.sheet.facts_of(CellFact.STRIKETHROUGH, CellFact.HIDDEN_BY_MERGE).height:  # as of few sheets
        rows = set(table.data_rows.to_list())
        _find_struck(found, table.sheet, users, rows)
        _find_covered(found, table.sheet, users, rows)


def _find_struck(found: Findings, sheet: Sheet, users: Users, rows: Set[int]) -> None:
    facts = sheet.facts_of(CellFact.STRIKETHROUGH).sort("row", "column").select("row", "column", "detail")
    struck = [(row, column, *struck_parts(detail)) for row, column, detail in facts.iter_rows()]
    struck = [each for each in struck if each[0] in rows and each[1] in users]
    whole = _wholly_struck(sheet, users, struck)
    first = {row: column for row, column, _, _ in reversed(struck) if row in whole}
    by_column: dict[int, dict[int, tuple[str, str]]] = {}
    for row, column, text, left in struck:
        if row not in whole:
            by_column.setdefault(column, {})[row] = text, left
    for row_column in sorted(set(first.values())):
        _add(found, (row for row, column in first.items() if column == row_column), row_column, "struck_through", _ROW)
    for column, cells in by_column.items():
        values = sheet.frame.filter(pl.col("row").is_in(list(cells))).select("row", str(column)).rows()
        _add(found, cells, column, f"{users[column]}|struck_through", _words({(v, *cells[row]) for row, v in values}))


def _wholly_struck(sheet: Sheet, users: Users, struck: list[tuple[int, int, str, str]]) -> set[int]:
    """The rows of which every filled cell that is used is struck through, and nothing is left of any."""
    counts: dict[int, int] = {}
    for row, _, _, left in struck:
        counts[row] = counts.get(row, 0) + (1 if not left else -sheet.width)
    used = [str(column) for column in users if str(column) in sheet.frame.columns]
    filled = sheet.frame.filter(pl.col("row").is_in(list(counts))).select(
        "row", pl.sum_horizontal(pl.col(used).is_not_null()).alias("filled")
    )
    return {row for row, many in filled.iter_rows() if counts[row] == many > 1}


def _words(cells: set[tuple[str, str, str]]) -> Words:
    """What is said of the cells of a column; cells: their values, which part is struck through, and what is left."""
    parts: dict[str, set[tuple[str, str]]] = {}
    for value, struck, left in cells:
        parts.setdefault(value, set()).add((struck, left))

    def words(value: str) -> tuple[str, str]:
        if all(not left for _, left in parts[value]):
            return _CELL
        said = sorted(f'"{_short(struck)}" is struck through, "{_short(left)}" is not' for struck, left in parts[value])
        return f"The cell holds two values: {', or '.join(said[:2])}.", _PART

    return words


def _find_covered(found: Findings, sheet: Sheet, users: Users, rows: Set[int]) -> None:
    """Values under merged cells that differ from the one that is seen: the program reads what nobody sees."""
    hidden = sheet.facts_of(CellFact.HIDDEN_BY_MERGE).select("row", "column")
    cells = [(row, column) for row, column in hidden.iter_rows() if row in rows and column in users]
    for column in sorted({column for _, column in cells}):
        own = (row for row, each in cells if each == column)
        _add(found, own, column, f"{users[column]}|covered", _covered_words)


def _covered_words(value: str) -> tuple[str, str]:
    return (
        f'The cell lies under merged cells, which show another value: nobody can see its "{_short(value.strip())}".',
        "Take the merging back (Merge & Centre), and write in each cell what counts.",
    )


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"


def _add(found: Findings, rows: Iterable[int], column: int, rule: str, words: Words) -> None:
    found.add(pl.Series("row", sorted(rows), dtype=pl.UInt32), column, rule, words)
