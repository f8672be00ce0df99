"""Two clocks: when a line may be judged, and how long it has been open."""

from datetime import date

import polars as pl

NOT_DUE = "not due"
NO_DATE = "no date"
# Upper ends in days past the delivery date; finance reads 30, 60 and 90.
_ENDS = ((1, "0-1"), (3, "2-3"), (7, "4-7"), (15, "8-15"), (30, "16-30"), (60, "31-60"), (90, "61-90"))
_BEYOND = "> 90"
BUCKETS = (NOT_DUE, *(name for _, name in _ENDS), _BEYOND, NO_DATE)


def days_overdue(due: str, *, business_date: date) -> pl.Expr:
    """Days past the delivery date; negative before it, null without one."""
    return (pl.lit(business_date) - pl.col(due)).dt.total_days().cast(pl.Int32)


def bucket(days: str) -> pl.Expr:
    """The ageing bucket of a number of days overdue."""
    chain = pl.when(pl.col(days).is_null()).then(pl.lit(NO_DATE)).when(pl.col(days) < 0).then(pl.lit(NOT_DUE))
    for end, name in _ENDS:
        chain = chain.when(pl.col(days) <= end).then(pl.lit(name))
    return chain.otherwise(pl.lit(_BEYOND))
