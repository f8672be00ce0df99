"""Rows that are no data by their words alone: names and titles once more, as on each page, notes, and units."""

import re
from collections.abc import Mapping as Table
from collections.abc import Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import OF_DIGITS, ColumnKind, bare, name_of
from logistics_batch.mapping.rows.header import Header, bind, refused
from logistics_batch.mapping.spec.names import ColumnName, names_match
from logistics_batch.model.sheet import Sheet

_MORE_CHARACTERS: Final = 20  # of a bracket behind a name
_LEAST_WORDS: Final = 4
_MOST_CELLS: Final = 2
_UNIT: Final = r"^[(\[][^0-9()\[\]]{1,12}[)\]]$"  # (pcs), [Rs.]


def resembles_header(header: Header, numbers: Sequence[int], rows: pl.DataFrame) -> pl.Series:
    """Whether a row might be a header: by the letters of its first mapped cell, or by words in place of all numbers.

    numbers: the columns that hold numbers, of any kind.
    """
    first = min(header.columns.values())
    letters = re.sub(r"[\W_]", "", header.texts[first - 1])
    between = r"[\W_]*"
    pattern = between.join(pl.escape_regex(letter) for letter in letters)
    begins = pl.col(name_of(first)).str.contains(f"(?i)^{between}{pattern}{between}(?:[(\\[].*)?$")
    printed = (_is_printed(header, names) for names in header.printed)
    cells = [pl.col(name_of(column)) for column in numbers]
    left = rows
    for cell in cells:  # after the first there are few
        left = left.filter(cell.is_null() | ~cell.str.contains("[0-9]"))
    words = left.filter(pl.any_horizontal(pl.lit(value=False), *(cell.str.contains(r"\p{L}") for cell in cells)))["row"]
    might_be = pl.any_horizontal(begins, *printed, pl.col("row").is_in(words.implode()))
    return rows.select(might_be.fill_null(value=False)).to_series()


def _is_printed(header: Header, names: Sequence[str]) -> pl.Expr:
    """Whether the mapped cells of a row are those of one of two rows of names; made columns have none there."""
    columns = (column for column in header.columns.values() if column <= len(names))
    wanted = {name_of(column): names[column - 1].strip() or None for column in columns}
    return pl.all_horizontal(pl.col(name).eq_missing(pl.lit(text, dtype=pl.String)) for name, text in wanted.items())


def repeats_header(mapping: Mapping, sheet: Sheet, header: Header, suspects: pl.DataFrame) -> list[int]:
    """The rows of which every mapped cell repeats its header.

    suspects: the rows that resemble it, with all their cells. Raises FileHeld where one of them is the header of a
    second table, whose columns stand in other places: its rows would be read by the wrong columns. Such a row names at
    least half of the mapping's columns, and some in other places or not at all; one that leaves out the last ones, and
    has nothing there, is data: its cells are judged as such.
    """
    below, others = suspects.filter(pl.col("row") > header.row), list[int]()
    width = sheet.width - sheet.added  # what is made names nothing
    theirs = {f"c{column}": column for column in range(1, width + 1) if f"c{column}" in suspects.columns}
    same = (
        pl.all_horizontal(
            pl.col(name).fill_null("").str.strip_chars() == "".join(names[column - 1 : column]).strip()
            for name, column in theirs.items()
        )
        for names in header.printed
        if any(map(str.strip, names))
    )
    printed = pl.any_horizontal(pl.lit(value=False), *same)
    repeats = below.filter(printed)["row"].to_list()
    columns = {column for column in (*header.columns.values(), *header.made_of) if column <= width}
    least = max(2, (len(columns) + 1) // 2)
    named = _with_names(mapping, header, below.filter(~printed), least=min(least, len(columns)))
    for cells in named.iter_rows(named=True):
        texts = [cells.get(name_of(column)) or "" for column in range(1, width + 1)]
        found = bind(mapping, 0, texts)
        called = found.texts
        adds = not found.columns.items() <= header.columns.items()
        strange = [column for column in columns if not _bears(called[column - 1], header.texts[column - 1])]
        if not strange:
            repeats.append(cells["row"])
        if (not strange or found.score >= least) and (adds or any(texts[column - 1].strip() for column in strange)):
            others.append(cells["row"])
    if others:
        rows = sheet.physical_rows(others)
        raise refused("header|second_table", sheet, header, sheet=sheet.name, rows=rows, row=header.row)
    return repeats


def repeats_title(sheet: Sheet, header: Header, rows: pl.DataFrame) -> pl.Series:
    """The rows below the header that are equal to one above it, as on each page of a print."""
    own = {column[1:]: column for column in rows.columns if column != "row"}
    above = sheet.frame.filter(pl.col("row") < header.row).select(map(bare, own)).rename(own)
    filled = above.filter(pl.any_horizontal(pl.all().is_not_null())).unique()
    return rows.filter(pl.col("row") > header.row).join(filled, on=[*filled.columns], nulls_equal=True, how="semi")[
        "row"
    ]


def _with_names(mapping: Mapping, header: Header, rows: pl.DataFrame, *, least: int) -> pl.DataFrame:
    """The rows that hold so many texts which might be names of columns."""
    texts = [text for text in (*mapping.column_names, *header.texts) if text.strip()]
    known, longest = {ColumnName.of(text).short for text in texts}, max(map(len, texts)) + _MORE_CHARACTERS
    cells = rows.drop("row")
    distinct = pl.concat(cells.get_columns()).unique().drop_nulls()
    names = [text for text in distinct if len(text) <= longest and ColumnName.of(text).short in known]
    return rows.filter(pl.sum_horizontal(pl.col(cells.columns).is_in(names).fill_null(value=False)) >= least)


def _bears(text: str, wanted: str) -> bool:
    """Whether a text is a column's name; one of the two may have a bracket more, as `Qty (Pcs)`."""
    one, other = ColumnName.of(text), ColumnName.of(wanted)
    one_bracket = one.full == one.short or other.full == other.short
    return one.identity == other.identity or (one_bracket and names_match(one, other))


def notes_below(rows: pl.DataFrame, kinds: Table[int, ColumnKind], *, last: int, body: pl.DataFrame) -> list[int]:
    """The rows below the data in which a sentence stands and nothing that may be data.

    Of one or two filled cells one is a sentence. Columns that are read hold nothing but words where numbers are wanted,
    and sentences in place of a number by which something is known, longer than any there. rows: those that lack what
    data needs, with all their cells. kinds: of the columns that are read. last: the last row that lacks nothing. body:
    all rows with the columns that are read.
    """
    numbers = [name_of(column) for column, kind in kinds.items() if kind in OF_DIGITS]
    known = [name_of(column) for column, kind in kinds.items() if kind is ColumnKind.IDENTITY]
    others = [name_of(column) for column, kind in kinds.items() if kind not in (*OF_DIGITS, ColumnKind.IDENTITY)]
    counted = rows.filter(
        pl.any_horizontal(pl.lit(value=False), *(pl.col(name).str.contains("[0-9]") for name in numbers))
    )
    below = rows.filter(pl.col("row") > max(last, int(counted["row"].max() or 0)))  # type: ignore[arg-type]
    words = {name: _words(pl.col(name)) for name in below.columns if name != "row"}
    few = pl.sum_horizontal(pl.col(name).is_not_null() for name in words).is_between(1, _MOST_CELLS)
    told = pl.any_horizontal(count >= _LEAST_WORDS for count in words.values())
    found = below.filter(few, told, *(pl.col(name).is_null() for name in others))
    if found.is_empty():
        return []
    data = body.filter(pl.col("row") <= last)
    longest = {name: max(int(data.select(_words(pl.col(name)).max()).item() or 0), _LEAST_WORDS - 1) for name in known}
    longer = (pl.col(name).is_null() | (words[name] > most) for name, most in longest.items())
    return found.filter(*longer)["row"].to_list()


def _words(cell: pl.Expr) -> pl.Expr:
    return cell.str.count_matches(r"\p{L}{2,}").fill_null(0)


def units_below(rows: pl.DataFrame, *, header: int) -> list[int]:
    """The row right below the header, if it holds units in brackets and nothing else."""
    cells = [pl.col(name) for name in rows.columns if name != "row"]
    is_unit = pl.all_horizontal(cell.is_null() | cell.str.contains(_UNIT) for cell in cells)
    several = pl.sum_horizontal(cell.is_not_null() for cell in cells) > 1
    return rows.filter(pl.col("row") == header + 1, is_unit, several)["row"].to_list()
