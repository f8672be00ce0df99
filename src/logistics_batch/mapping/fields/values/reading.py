"""A cell on its way from text to value: an expression, and beside it the rules that it may break."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import polars as pl

from logistics_batch.mapping.loaded import RunValues
from logistics_batch.mapping.spec.targets import FieldForm
from logistics_batch.model.issue import Issue

LATEST_DAYS: Final = 730
"""How long after the business date a date may lie, unless it says until when goods keep."""


Said = Issue | Callable[[str], Issue]
"""What is said of a cell, wherever it stands; where its text decides that, a function of the text."""


def about(said: Said, cell: str = "") -> Issue:
    """What is said of a cell with this text."""
    return said if isinstance(said, Issue) else said(cell)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a field: `failed` is true in the rows that break it (null counts as false)."""

    failed: pl.Expr
    said: Said


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a verb may know beside the cell.

    run: what the run lends. decimal: the decimal mark of numbers written as text. true_number: an expression that is
    true where the cell is a number to the spreadsheet program. hundredths: likewise, where it is a number that is shown
    as a percentage, as 0.05 that shows 5%. has_dates: whether cells of the column are dates to the program. wanted: the
    form of the target. latest_days: how long after the business date a date may lie. second: the second of two phone
    numbers is wanted, if there is one. suffixes: for columns the words that the mapping declares behind their numbers.
    """

    run: RunValues
    decimal: str = "."
    true_number: pl.Expr | None = None
    hundredths: pl.Expr | None = None
    has_dates: bool = False
    wanted: FieldForm = FieldForm.TEXT
    latest_days: int = LATEST_DAYS
    second: bool = False
    suffixes: Mapping[int, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a cell is read as so far.

    value: text, or null where the cell is empty or a rule is broken. form: the form it has by now, None as long as it
    is plain text. rules: in the order in which they are tried. words: those behind a number that a step took off.
    """

    value: pl.Expr
    form: FieldForm | None = None
    rules: tuple[Rule, ...] = ()
    words: frozenset[str] = frozenset()

    def then(self, value: pl.Expr, broken: Said, *, form: FieldForm | None) -> "Reading":
        """The reading after a step that gives null where it cannot read: that breaks its rule."""
        failed = self.value.is_not_null() & value.is_null()
        return replace(self, value=value, form=form, rules=(*self.rules, Rule(failed, broken)))

    def checked(self, failed: pl.Expr, broken: Said) -> "Reading":
        """The reading with one more rule; where it is broken there is no value."""
        return replace(self, value=pl.when(~failed).then(self.value), rules=(*self.rules, Rule(failed, broken)))


LongWay = Callable[[pl.Expr], pl.Expr]


def where_unusual(text: pl.Expr, usual: str, long_way: LongWay) -> pl.Expr:
    """A cell as it stands where it fits the pattern `usual`, else what `long_way` makes of it.

    The long way must give the cell itself where the pattern fits: then this changes nothing but the time it takes. It
    sees one column only, and no row but the unusual ones.
    """
    read = partial(_read, usual=usual, long_way=long_way)
    return text.map_batches(read, return_dtype=pl.String, is_elementwise=True)


def _read(cells: pl.Series, *, usual: str, long_way: LongWay) -> pl.Series:
    places = (~cells.str.contains(usual)).arg_true()
    if places.is_empty():
        return cells
    unusual = cells.gather(places).rename("cell").to_frame()
    return cells.clone().scatter(places, unusual.select(long_way(pl.col("cell"))).to_series())
