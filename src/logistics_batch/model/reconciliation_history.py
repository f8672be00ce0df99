"""What a report of an earlier night holds, and what tonight's looked at."""

from dataclasses import dataclass, field
from datetime import date

import polars as pl

from logistics_batch.model.reconciliation import NOTES_SCHEMA, OWN_SCHEMA, RESOLVED_SCHEMA, TREND_SCHEMA

ENTRIES = tuple(name for name in NOTES_SCHEMA if name != "exception_id")
"""What analysts write beside an exception; it is text, whatever they write."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The report of an earlier night, as it came back from the analysts.

    listed: RESOLVED_SCHEMA, each exception once; `standing` is "" of what was open and "accepted" of what was accepted.
    trend: TREND_SCHEMA, a row a night. run: who made it, "" for none. notes: what could not be read, in words.
    own: OWN_SCHEMA, what stands in columns that analysts added. unread: lists of which nothing could be read, in words.
    """

    name: str = ""
    run: str = ""
    business_date: date | None = None
    listed: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RESOLVED_SCHEMA))
    trend: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TREND_SCHEMA))
    notes: tuple[str, ...] = ()
    own: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=OWN_SCHEMA))
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watch:
    """What tonight's report looked at, to tell what is resolved from what was not looked at.

    due: the delivery dates that were asked for, both ends inclusive; None where another date of the ASN was.
    complete: nothing that belongs into the report is known to be missing. orders: purchase orders were compared.
    receipts: receipts were compared.
    followed: invoice numbers, folded, that were asked for whatever the dates of their ASNs.
    """

    business_date: date
    due: tuple[date, date] | None
    complete: bool
    orders: bool = False
    receipts: bool = True
    followed: frozenset[str] = frozenset()
