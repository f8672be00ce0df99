"""The cells of a workbook's sheet as text columns and marks, in parts, so that no sheet is in memory as objects."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Protocol

import polars as pl

from logistics_batch.intake.cells import IMPRECISE_FROM, Cell, cell_text, number_text
from logistics_batch.intake.sheet_facts import Address, SheetFacts
from logistics_batch.model.sheet import MARKS_SCHEMA, Mark

_ROWS_AT_ONCE, _ROWS_TURNED = 10_000, 500
_MOST_COLUMNS = 1 << 16  # more than any workbook has


class ParsedSheet(Protocol):
    """A sheet as the fast reader gives it. start, end: row and column, from 0, of the first and the last filled cell;
    None in an empty sheet."""

    @property
    def start(self) -> tuple[int, int] | None: ...
    @property
    def end(self) -> tuple[int, int] | None: ...
    @property
    def merged_cell_ranges(self) -> list[tuple[Address, Address]] | None: ...
    def iter_rows(self) -> Iterable[list[Cell]]:
        """The rows from the very first, their cells from the first filled column."""


@dataclass(slots=True)
class UnfoldedSheet:
    """A sheet in memory: text columns named from "1", the marks of its cells in order, and what else is known of it."""

    frame: pl.DataFrame
    marks: pl.DataFrame
    facts: SheetFacts


def read_cells(source: ParsedSheet, facts: SheetFacts) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells of a sheet as text columns named from "1", and their marks; a part of the rows at a time."""
    special = _by_part({**dict.fromkeys(facts.without_value, ""), **facts.errors, **facts.typed})
    rows = _whole_rows(source, facts)
    frames: list[pl.DataFrame] = []
    marks = [_told_marks(facts.errors, Mark.ERROR), _told_marks(facts.without_value, Mark.NO_VALUE)]
    above = 0
    while part := _columns(rows):
        for (row, column), value in special.get(len(frames), ()):
            part[column - 1][row - above - 1] = value
        columns = [_column(cells, number, above=above) for number, cells in enumerate(part, start=1)]
        frames.append(pl.DataFrame([texts for texts, _ in columns]))
        marks += [found for _, found in columns if found is not None]
        above += len(part[0])
    del rows, source
    frame = pl.concat(frames) if frames else pl.DataFrame()
    found = in_order(pl.concat(marks))
    return (_padded(frame, found, facts.padded) if facts.padded else frame), found


def in_order(*marks: pl.DataFrame) -> pl.DataFrame:
    """Marks by row and column."""
    place = (pl.col("row").cast(pl.UInt64) * _MOST_COLUMNS + pl.col("column")).alias("place")
    together, *others = (_sorted(each.with_columns(place)) for each in marks)
    for each in others:
        together = together.merge_sorted(each, key="place")
    return together.drop("place")


def _sorted(marks: pl.DataFrame) -> pl.DataFrame:
    return marks.set_sorted("place") if marks["place"].is_sorted() else marks.sort("place")


def extent(source: ParsedSheet) -> tuple[int, int]:
    """The last row and the last column in which something stands, from 1; 0 in an empty sheet."""
    return (source.end[0] + 1, source.end[1] + 1) if source.end else (0, 0)


def _columns(rows: Iterator[list[Cell]]) -> list[list[Cell]]:
    """The columns of the next part of the rows; few rows at a time, as they are turned fastest in the cache."""
    columns: list[list[Cell]] = []
    for _ in range(_ROWS_AT_ONCE // _ROWS_TURNED):
        some = list(islice(rows, _ROWS_TURNED))
        columns = columns or [[] for _ in (some[0] if some else ())]
        for column, cells in zip(columns, zip(*some, strict=True), strict=bool(some)):
            column.extend(cells)
    return columns


def _by_part(values: Mapping[Address, Cell]) -> dict[int, list[tuple[Address, Cell]]]:
    """What the fast reader took for blanks or for something else, by the part of the rows in which it stands."""
    found: dict[int, list[tuple[Address, Cell]]] = {}
    for address, value in values.items():
        found.setdefault((address[0] - 1) // _ROWS_AT_ONCE, []).append((address, value))
    return found


def _whole_rows(source: ParsedSheet, facts: SheetFacts) -> Iterator[list[Cell]]:
    """Each row from the first, with all columns from A, as far as anything stands."""
    known = extent(source)
    height, width = map(max, zip(known, *facts.errors, *facts.without_value, strict=True))
    if source.start == (0, 0) and known == (height, width):
        return iter(source.iter_rows())
    return _widened(source, height, width)


def _widened(source: ParsedSheet, height: int, width: int) -> Iterator[list[Cell]]:
    """Rows with blanks before, behind and below what the fast reader gives."""
    before: list[Cell] = [""] * (source.start[1] if source.start else 0)
    blank: list[Cell] = [""] * width
    below: Iterator[list[Cell]] = repeat([])
    cells: Iterator[list[Cell]] = chain(source.iter_rows() if source.start else (), below)
    for filled in islice(cells, height):
        whole = before + filled if before else filled
        yield whole + blank[len(whole) :] if len(whole) < width else whole


def _column(cells: Sequence[Cell], column: int, *, above: int) -> tuple[pl.Series, pl.DataFrame | None]:
    """A part of a column as text, and its marks if it has any; above: how many rows stand above the part."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        return _filled(pl.Series(str(column), cells, dtype=pl.String)), None
    if kinds == {float}:
        shown, found = _numbers(pl.Series(cells, dtype=pl.Float64))
        rows = pl.int_range(above + 1, above + 1 + len(cells), dtype=pl.UInt32, eager=True)
        return shown.alias(str(column)), _marks(rows, column, found)
    if kinds <= {str, float}:
        return _texts_and_numbers(cells, column, above=above)
    texts, each = zip(*(cell_text(cell) for cell in cells), strict=True)
    marked = [row for row, mark in enumerate(each, start=above + 1) if mark]
    marks = _marks(pl.Series(marked, dtype=pl.UInt32), column, pl.Series([mark.value for mark in each if mark]))
    return _filled(pl.Series(str(column), texts, dtype=pl.String)), marks


def _texts_and_numbers(cells: Sequence[Cell], column: int, *, above: int) -> tuple[pl.Series, pl.DataFrame]:
    """A column of texts and plain numbers, which most are, without a look at each cell."""
    texts = pl.Series([cell if type(cell) is str else None for cell in cells], dtype=pl.String)
    every = pl.Series([None if type(cell) is str else cell for cell in cells], dtype=pl.Float64)
    at = every.is_not_null().arg_true()
    shown, marks = _numbers(every.drop_nulls())
    return _filled(texts.scatter(at, shown).alias(str(column))), _marks(at.cast(pl.UInt32) + above + 1, column, marks)


def _numbers(numbers: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The texts and marks of numbers."""
    exact = numbers.abs() < IMPRECISE_FROM
    whole = numbers.cast(pl.Int64, strict=False)
    if not (exact & (whole.cast(pl.Float64) == numbers)).fill_null(value=False).all():
        shown = pl.Series([number_text(number) for number in numbers], dtype=pl.String)
    else:
        shown = whole.cast(pl.String)
    if exact.all():
        return shown, pl.repeat(Mark.NUMBER.value, numbers.len(), dtype=pl.String, eager=True)
    marks = pl.select(
        pl.when(exact)
        .then(pl.lit(Mark.NUMBER.value))
        .when(numbers.is_finite())
        .then(pl.lit(Mark.IMPRECISE.value))
        .otherwise(pl.lit(Mark.ERROR.value))
    ).to_series()
    return shown, marks


def _filled(texts: pl.Series) -> pl.Series:
    """Texts of which the empty ones are null."""
    return texts.set(texts == "", None)


def _padded(frame: pl.DataFrame, marks: pl.DataFrame, padded: dict[tuple[int, int], "array[int]"]) -> pl.DataFrame:
    """Whole numbers with the leading zeros that their cells show; padded: as in `SheetFacts`."""
    for (column, width), told in padded.items():
        is_number = (pl.col("column") == column) & (pl.col("mark") == Mark.NUMBER.value)
        rows = pl.Series(told, dtype=pl.Int64).implode()
        numbers = marks.filter(is_number)["row"].cast(pl.Int64)
        places = numbers.filter(numbers.is_in(rows)) - 1
        if places.is_empty():
            continue
        texts = frame[str(column)]
        text = texts.gather(places)
        shown = text.zip_with(~text.str.contains(r"^[0-9]+$"), text.str.zfill(width))
        frame = frame.with_columns(texts.scatter(places, shown))
    return frame


def _told_marks(cells: Collection[Address], mark: Mark) -> pl.DataFrame:
    rows, columns = zip(*cells, strict=True) if cells else ((), ())
    values = {"row": rows, "column": columns, "mark": [mark.value] * len(rows)}
    return pl.DataFrame(values, schema=MARKS_SCHEMA)


def _marks(rows: pl.Series, column: int, marks: pl.Series) -> pl.DataFrame:
    columns = pl.repeat(column, rows.len(), dtype=pl.UInt16, eager=True)
    return pl.DataFrame({"row": rows, "column": columns, "mark": marks}, schema=MARKS_SCHEMA)
