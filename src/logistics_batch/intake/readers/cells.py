"""Cells of workbooks as texts and facts, and a sheet of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice, zip_longest
from math import isfinite

import polars as pl

from logistics_batch.model.sheet import CellFact, CellRange, facts_frame

Shown = tuple[str, CellFact | None]
"""The text of a cell, and what the cell is beyond it."""

Cell = str | float | int | bool | date | datetime | time | timedelta | Shown
"""A cell as a parser gives it; "" is an empty one."""

Address = tuple[int, int]  # row and column, both from 1

IMPRECISE_FROM = 1e15  # a spreadsheet keeps 15 digits; what follows them is made up
_MOST_DIGITS = 16  # of a number's shortest text, with its point: a longer one shows digits that nobody typed
_ROWS_AT_ONCE = 10_000
_FIRST_DAY, _FIRST_DAY_1904 = map(datetime.fromisoformat, ("1899-12-30", "1904-01-01"))
_LEAP_DAY = 60  # 29 February 1900, which Excel counts and which never was
_LAST_DAY = 2_958_466  # the first that is not in the year 9999
_MILLISECONDS = 86_400_000  # of a day


@dataclass(slots=True)
class SheetCells:
    """One sheet of a workbook before it is trimmed.

    frame: text columns named from "1", all rows from the first. facts, hidden_rows: as of `model.sheet.Sheet`, without
    what merged cells bring about. merged: their ranges. hidden_columns: first and last of each group. is_filtered: rows
    are hidden by a filter. padded: columns of numbers with leading zeros that their cells show.
    """

    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    facts: pl.DataFrame = field(default_factory=facts_frame)
    hidden_rows: list[int] = field(default_factory=list)
    merged: list[CellRange] = field(default_factory=list)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    is_filtered: bool = False
    padded: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class BookSheet:
    """A sheet of a workbook; is_table: it is no chart, dialog or macro. read: gives its cells, None if it has none."""

    name: str
    is_visible: bool
    is_table: bool
    read: Callable[[], SheetCells | None]


def cells_of(rows: Iterable[Sequence[Cell]]) -> SheetCells:
    """A sheet of the rows that a parser gives, all from the first, each as long as it likes; some rows at a time."""
    sheet = SheetCells()
    frames: list[pl.DataFrame] = [pl.DataFrame()]
    facts = [facts_frame()]
    above, source = 0, iter(rows)
    while some := list(islice(source, _ROWS_AT_ONCE)):
        columns = []
        for number, cells in enumerate(zip_longest(*some, fillvalue=""), start=1):
            texts, types = zip(*map(shown, cells), strict=True)
            columns.append(pl.Series(str(number), texts, dtype=pl.String))
            found = ((row, number, kind, None) for row, kind in enumerate(types, above + 1) if kind)
            facts.append(facts_frame(found))
        frame = pl.DataFrame(columns) if columns else pl.DataFrame({"1": [None] * len(some)}, schema={"1": pl.String})
        frames.append(frame.with_columns(pl.when(pl.all() != "").then(pl.all())))
        above += len(some)
    sheet.frame = pl.concat(frames, how="diagonal")
    sheet.facts = pl.concat(facts)
    return sheet


def shown(cell: Cell) -> Shown:
    """The text of a cell as its spreadsheet program would show it unformatted, and what kind of cell it is.

    >>> shown(9876543210.0)
    ('9876543210', <CellFact.NUMBER: 'number'>)
    """
    if isinstance(cell, str):  # most of them
        return cell, None
    if isinstance(cell, tuple):
        return cell
    if isinstance(cell, bool):
        return ("TRUE" if cell else "FALSE"), CellFact.TRUTH
    if isinstance(cell, float | int):
        return number_text(cell), _number_type(cell)
    if isinstance(cell, datetime):
        return (cell + timedelta(microseconds=500_000)).strftime("%Y-%m-%d %H:%M:%S"), CellFact.DATETIME
    if isinstance(cell, date):
        return cell.isoformat(), CellFact.DATE
    if isinstance(cell, time):
        return cell.strftime("%H:%M:%S"), CellFact.TIME
    minutes, seconds = divmod(round(cell.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}", CellFact.TIME


def shown_date(serial: float, *, is_1904: bool, is_length: bool = False) -> Shown:
    """The date, time of day, or length of time that Excel keeps as a number of days.

    >>> shown_date(46329.75, is_1904=False), shown_date(1.25, is_1904=False, is_length=True)
    (('2026-11-03 18:00:00', <CellFact.DATETIME: 'datetime'>), ('30:00:00', <CellFact.TIME: 'time'>))
    """
    if not 0 <= serial < _LAST_DAY - 1_462 * is_1904:  # a cell shows no date then
        return shown(serial)
    lasting = timedelta(milliseconds=round(serial * _MILLISECONDS))
    if is_length:
        return shown(lasting)
    first = _FIRST_DAY_1904 if is_1904 else _FIRST_DAY + timedelta(days=serial < _LEAP_DAY)
    moment = first + lasting
    if serial < 1:
        return shown(moment.time())
    return shown(moment if lasting % timedelta(days=1) else moment.date())


def shown_numbers(numbers: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The texts and types of numbers, as `shown` gives them."""
    exact = numbers.abs() < IMPRECISE_FROM
    whole = numbers.cast(pl.Int64, strict=False)
    is_whole = (exact & (whole.cast(pl.Float64) == numbers)).fill_null(value=False)
    texts = whole.cast(pl.String)
    if not is_whole.all():
        shortest = numbers.cast(pl.String)  # as Python's repr
        texts = texts.zip_with(is_whole, shortest)
        is_long = shortest.str.contains("e", literal=True) | (shortest.str.len_bytes() > _MOST_DIGITS)
        odd = (~is_whole & (is_long | ~exact)).arg_true()
        texts = texts.scatter(odd, [number_text(number) for number in numbers.gather(odd)])
    types = pl.repeat(CellFact.NUMBER.value, numbers.len(), dtype=pl.String, eager=True)
    if not exact.all():
        odd = (~exact).fill_null(value=True).arg_true()
        types = types.scatter(odd, [_number_type(number).value for number in numbers.gather(odd)])
    return texts, types


def number_text(value: float) -> str:
    """A number as plain decimal text: no exponent, no ".0", at most the 15 digits that a spreadsheet keeps; the error
    word for one beyond all numbers.

    >>> number_text(0.1 + 0.2), number_text(1.5e-7)
    ('0.3', '0.00000015')
    """
    if not isfinite(value):
        return "#NUM!"
    whole = int(value)
    if value == whole:
        return str(whole)
    text = repr(value)
    if len(text) > _MOST_DIGITS:
        text = f"{value:.15g}"
    return format(Decimal(text), "f") if "e" in text else text


def _number_type(value: float) -> CellFact:
    if not isfinite(value):
        return CellFact.ERROR
    return CellFact.NUMBER if -IMPRECISE_FROM < value < IMPRECISE_FROM else CellFact.IMPRECISE
