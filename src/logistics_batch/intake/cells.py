"""A typed cell of a workbook as text and mark."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite

from logistics_batch.model.sheet import Mark

Cell = str | float | int | bool | date | datetime | time | timedelta

IMPRECISE_FROM = 1e15  # a spreadsheet keeps 15 digits; what follows them is made up


def cell_text(value: Cell) -> tuple[str, Mark | None]:
    """The text of a cell as its spreadsheet program would show it unformatted, and what kind of cell it is.

    >>> cell_text(9876543210.0)
    ('9876543210', <Mark.NUMBER: 'number'>)
    """
    if isinstance(value, float):  # most of them
        if not isfinite(value):
            return number_text(value), Mark.ERROR
        return number_text(value), Mark.NUMBER if -IMPRECISE_FROM < value < IMPRECISE_FROM else Mark.IMPRECISE
    if isinstance(value, str):
        return value, None
    if isinstance(value, bool):
        return ("TRUE" if value else "FALSE"), Mark.TRUTH
    if isinstance(value, int):
        return number_text(value), Mark.IMPRECISE if abs(value) >= IMPRECISE_FROM else Mark.NUMBER
    if isinstance(value, datetime):
        return (value + timedelta(microseconds=500_000)).strftime("%Y-%m-%d %H:%M:%S"), Mark.DATETIME
    if isinstance(value, date):
        return value.isoformat(), Mark.DATE
    if isinstance(value, time):
        return value.strftime("%H:%M:%S"), Mark.TIME
    return _duration_text(value), Mark.TIME


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
    if len(text) > 16:
        text = f"{value:.15g}"
    return format(Decimal(text), "f") if "e" in text else text


def _duration_text(value: timedelta) -> str:
    minutes, seconds = divmod(round(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
