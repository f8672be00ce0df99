"""What is known of the exceptions of earlier nights, and what tonight's report looked at."""

from dataclasses import dataclass, field
from datetime import date

import polars as pl

from logistics_batch.model.reconciliation import MONEY, PRICE, QUANTITY, RESOLVED_SCHEMA, TREND_SCHEMA

ENTRIES = ("owner", "comment", "analyst_status")
"""What analysts write beside an exception; it is text, whatever they write."""

ENTRIES_SCHEMA: dict[str, pl.DataType] = dict.fromkeys(("exception_id", *ENTRIES), pl.String())

BASIS_SCHEMA: dict[str, pl.DataType] = {
    "by_receipts": pl.Boolean(),  # receipts showed the difference or a part of it: nothing settles it without them
    "grounds": pl.String(),  # where numbers do not tell whether it is the same still: what does; else ""
}
ACCEPTED_SCHEMA: dict[str, pl.DataType] = {
    "accepted_code": pl.String(),  # "" where nothing is accepted
    "accepted_also": pl.String(),
    "accepted_found_sku": pl.String(),
    "accepted_grounds": pl.String(),
    "accepted_qty_affected": QUANTITY,
    "accepted_impact_inr": MONEY,
    "accepted_qty_delta": QUANTITY,
    "accepted_price_delta": PRICE,
    "accepted_mrp_delta": PRICE,
}
"""An acceptance with its size: what is no more than this is accepted."""

MEMORY_SCHEMA = RESOLVED_SCHEMA | BASIS_SCHEMA | ACCEPTED_SCHEMA
"""An exception as the ledger remembers it: the line as it was listed last, how it stands, and what was accepted."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of the nights before. listed: MEMORY_SCHEMA; trend: TREND_SCHEMA; run: the last, "" for none."""

    run: str = ""
    business_date: date | None = None
    listed: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=MEMORY_SCHEMA))
    trend: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TREND_SCHEMA))


@dataclass(frozen=True, slots=True)
class Entries:
    """What a workbook brings back.

    by_exception: ENTRIES_SCHEMA, each exception once; null where the column is gone. notes: what should be known.
    unread: lists of which nothing could be read, in words. run: the run that made the workbook, "" if it is not told.
    """

    by_exception: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ENTRIES_SCHEMA))
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    run: str = ""


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
