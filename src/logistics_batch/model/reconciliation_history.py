"""What a reconciliation knows of earlier nights: analysts' words, what is new, what went away, and the trend."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

import polars as pl

from logistics_batch.model.reconciliation import LINES_SCHEMA, MONEY


class Standing(StrEnum):
    """How an exception stands against the night before."""

    NEW = "new"
    STILL_OPEN = "still open"
    OPEN_AGAIN = "open again"  # it was accepted or resolved, and is back or has grown
    ACCEPTED = "accepted"  # an analyst accepted it, and it has not grown since
    RESOLVED = "resolved"  # an exception then, none today
    NOT_CHECKED = "not checked"  # open then; today nothing could be said about it


OPEN = (Standing.NEW, Standing.STILL_OPEN, Standing.OPEN_AGAIN)
"""What a person should look at."""

# What analysts write beside an exception; it is text, whatever they write.
ENTRIES = ("owner", "analyst_reason", "reason_qty", "comment", "status")

LISTED_SCHEMA: dict[str, pl.DataType] = LINES_SCHEMA | {
    "standing": pl.String(),  # Standing; "" where nothing is known of earlier nights
    "first_seen": pl.Date(),  # business date of the first report that had it
    "since": pl.Date(),  # business date on which it was resolved or last checked; null while it is open
    "remark": pl.String(),  # what became of it, or why it is back
    **dict.fromkeys(ENTRIES, pl.String()),
}

TREND_SCHEMA: dict[str, pl.DataType] = {
    "business_date": pl.Date(),
    "run": pl.String(),
    "complete": pl.String(),  # "complete" or "may be incomplete"
    "lines": pl.UInt32(),  # judged
    "open": pl.UInt32(),
    "new": pl.UInt32(),
    "resolved": pl.UInt32(),
    "accepted": pl.UInt32(),
    "impact_inr": MONEY,  # of the open ones
    "match_percent": pl.Float64(),  # of lines
}


def no_exceptions() -> pl.DataFrame:
    """A list of exceptions without any."""
    return pl.DataFrame(schema=LISTED_SCHEMA)


def no_trend() -> pl.DataFrame:
    """A trend without a night."""
    return pl.DataFrame(schema=TREND_SCHEMA)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the report of an earlier night holds, as it came back from the analysts.

    listed: LISTED_SCHEMA, each exception once. trend: TREND_SCHEMA, a line a night. notes: what could not be read, in
    words. name: where it was read.
    """

    name: str
    listed: pl.DataFrame = field(default_factory=no_exceptions)
    trend: pl.DataFrame = field(default_factory=no_trend)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watch:
    """What tonight's report looked at, to tell what is resolved from what was not looked at.

    due_from, due_to: the delivery dates that were asked for; None where another date of the ASN was.
    complete: nothing that belongs into the report is known to be missing.
    """

    business_date: date
    due_from: date | None
    due_to: date | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Since:
    """Tonight's exceptions beside those of the night before.

    listed: LISTED_SCHEMA; tonight's exceptions in report order, then what is resolved or was not checked. compared:
    whether there was an earlier report. trend: TREND_SCHEMA of earlier nights, the oldest first.
    """

    listed: pl.DataFrame
    compared: bool = False
    trend: pl.DataFrame = field(default_factory=no_trend)

    def standing(self, *wanted: Standing) -> pl.DataFrame:
        """The exceptions that stand so, in report order."""
        return self.listed.filter(pl.col("standing").is_in([each.value for each in wanted]))
