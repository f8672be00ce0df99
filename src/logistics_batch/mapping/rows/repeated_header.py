"""Rows below the header that are a header again: the same one on each page of a print, or that of a second table."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header, bind
from logistics_batch.mapping.spec.names import ColumnName, names_match, same
from logistics_batch.model.sheet import Sheet

_MORE_CHARACTERS: Final = 20  # of a bracket behind a name


def resembles_header(header: Header, numbers: Sequence[int]) -> pl.Expr:
    """Whether a row might be a header: by the letters of its first mapped cell, or by words in place of all numbers.

    numbers: the columns that hold numbers, of any kind.
    """
    first = min(header.columns.values())
    letters = re.sub(r"[\W_]", "", header.texts[first - 1])
    between = r"[\W_]*"
    pattern = between.join(pl.escape_regex(letter) for letter in letters)
    begins = pl.col(name_of(first)).str.contains(f"(?i)^{between}{pattern}{between}(?:[(\\[].*)?$")
    begins = pl.any_horizontal(begins, *(_is_printed(names, header.columns.values()) for names in header.printed))
    cells = [pl.col(name_of(column)) for column in numbers]
    if not cells:
        return begins.fill_null(value=False)
    no_digits = pl.all_horizontal(cell.is_null() | ~cell.str.contains("[0-9]") for cell in cells)
    words = pl.any_horizontal(cell.str.contains(r"\p{L}").fill_null(value=False) for cell in cells)
    return begins.fill_null(value=False) | (no_digits & words)


def _is_printed(names: Sequence[str], columns: Collection[int]) -> pl.Expr:
    """Whether the mapped cells of a row are those of one of two rows of names."""
    wanted = {name_of(column): names[column - 1].strip() or None for column in columns}
    return pl.all_horizontal(pl.col(name).eq_missing(pl.lit(text, dtype=pl.String)) for name, text in wanted.items())


def repeats_header(mapping: Mapping, sheet: Sheet, header: Header, suspects: pl.DataFrame) -> list[int]:
    """The rows of which every mapped cell repeats its header.

    suspects: the rows that resemble it, with all their cells. Raises FileHeld where one of them is the header of a
    second table, whose columns stand in other places: its rows would be read by the wrong columns.
    """
    repeats: list[int] = []
    others: list[int] = []
    least = _least(header)
    is_name = _known_names(mapping, header)
    for cells in suspects.filter(pl.col("row") > header.row).iter_rows(named=True):
        texts = [cells.get(name_of(column)) or "" for column in range(1, sheet.width + 1)]
        if any(_same_texts(texts, names) for names in header.printed):
            repeats.append(cells["row"])
            continue
        if sum(map(is_name, texts)) < min(least, header.score):
            continue
        if _repeats(header, texts):
            repeats.append(cells["row"])
            others += [cells["row"]] if _adds_columns(mapping, header, texts) else []
        elif _is_another(mapping, header, texts):
            others.append(cells["row"])
    if others:
        raise FileHeld(
            "header|second_table",
            values={"sheet": sheet.name, "rows": sheet.physical_rows(others), "row": header.row},
            rows_read=sheet.frame.height - 1,
            sheet=sheet.name,
            header_row=header.row,
        )
    return repeats


def _same_texts(texts: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two rows hold the same, whatever blanks stand around it."""
    return [text.strip() for text in texts] == [text.strip() for text in others]


def _least(header: Header) -> int:
    """So many names make a row a header: half of the mapping's columns that the sheet has."""
    return max(2, (header.score + 1) // 2)


def _known_names(mapping: Mapping, header: Header) -> Callable[[str], bool]:
    """Tells whether a text might be the name of a column; most rows of data hold none, and need no closer look."""
    known = {ColumnName.of(text).short for text in (*mapping.column_names, *header.texts) if text.strip()}
    longest = max(map(len, (*mapping.column_names, *header.texts))) + _MORE_CHARACTERS

    @cache
    def is_name(text: str) -> bool:
        return 0 < len(text) <= longest and ColumnName.of(text).short in known

    return is_name


def _repeats(header: Header, texts: Sequence[str]) -> bool:
    """Whether each mapped cell bears the name that the header has in its place."""
    columns = set(header.columns.values())
    return all(_bears(texts[column - 1], header.texts[column - 1]) for column in columns)


def _bears(text: str, wanted: str) -> bool:
    """Whether a text is a column's name; one of the two may have a bracket more, as `Qty (Pcs)`."""
    if not text.strip():
        return False
    one, other = ColumnName.of(text), ColumnName.of(wanted)
    one_bracket = one.full == one.short or other.full == other.short
    return same(one, other) or (one_bracket and names_match(one, other))


def _adds_columns(mapping: Mapping, header: Header, texts: Sequence[str]) -> bool:
    """Whether a row names columns of the mapping that the header has not, or not there."""
    return not set(bind(mapping, 0, texts).columns.items()) <= set(header.columns.items())


def _is_another(mapping: Mapping, header: Header, texts: Sequence[str]) -> bool:
    """Whether at least half of the mapping's columns are named in a row, and some in other places or not at all.

    A row that leaves out the last ones, and has nothing there, is data: its cells are judged as such.
    """
    found = bind(mapping, 0, texts)
    if found.score < _least(header):
        return False
    strange = [
        column for column in set(header.columns.values()) if not _bears(texts[column - 1], header.texts[column - 1])
    ]
    return _adds_columns(mapping, header, texts) or any(texts[column - 1].strip() for column in strange)
