"""What an audit of advance shipping notices (ASNs) says: one outcome a line, in the words that analysts use.

And what is known of the exceptions of earlier nights.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

import polars as pl

from logistics_batch.model.counting import counted
from logistics_batch.model.discrepancy import MEANINGS as MEANINGS
from logistics_batch.model.discrepancy import ComparedOutcome as ComparedOutcome
from logistics_batch.model.discrepancy import Discrepancy as Discrepancy
from logistics_batch.model.discrepancy import Meaning as Meaning
from logistics_batch.model.discrepancy import Severity as Severity

QUANTITY = pl.Decimal(38, 3)
PRICE = pl.Decimal(38, 4)  # INR per unit
MONEY = pl.Decimal(38, 2)  # INR, exact to the paisa


class ExceptionLevel(StrEnum):
    """What a line of the report stands for."""

    LINE = "line"  # one SKU of one ASN
    NOTICE = "ASN"  # a finding about an ASN as a whole
    ROW = "row"  # a row of a file that never became part of an ASN
    ORDER = "order"  # one SKU of a purchase order; its other quantities stand in lines of their own


class State(StrEnum):
    """What became of an exception since the last night; "" where there is no exception."""

    NEW = "new"
    OPEN = "still open"
    CHANGED = "changed"  # an analyst accepted it, and it differs otherwise since
    BACK = "back again"  # it had gone away


class Standing(StrEnum):
    """How an exception stands after a night."""

    OPEN = "open"
    ACCEPTED = "accepted"
    RESOLVED = "resolved"
    NOT_CHECKED = "not checked"  # tonight nothing could be said about it, so it stays open


LINES_SCHEMA: dict[str, pl.DataType] = {
    "exception_id": pl.String(),  # the same every night for the same thing; "" where there is no exception
    "outcome": pl.String(),
    "code": pl.String(),  # Discrepancy, "" where there is no exception
    "severity": pl.String(),
    "level": pl.String(),
    "invoice_number": pl.String(),
    "supplier": pl.String(),
    "site": pl.String(),
    "sku_name": pl.String(),
    "found_sku": pl.String(),  # for WRONG_SKU: the SKU that stands there instead
    "batch": pl.String(),
    "qty_announced": QUANTITY,  # null: the leg does not have the line, or its quantity cannot be read
    "qty_returned": QUANTITY,
    "qty_received": QUANTITY,
    "qty_delta": QUANTITY,  # what is there minus what should be
    "delta_percent": pl.Float64(),
    "qty_affected": QUANTITY,  # never negative
    "price_announced": PRICE,
    "price_returned": PRICE,
    "price_delta": PRICE,
    "impact_inr": MONEY,  # never negative; null where no price is known
    "due_date": pl.Date(),
    "days_overdue": pl.Int32(),  # negative: not due yet
    "bucket": pl.String(),
    "match_tier": pl.String(),  # by what the sides were matched, in words
    "asn_status": pl.String(),
    "record_id": pl.String(),  # the service's id of the ASN
    "file_name": pl.String(),
    "sheet": pl.String(),
    "rows": pl.String(),  # physical rows, joined by ", "
    "run": pl.String(),
    "receipt_file": pl.String(),
    "receipt_rows": pl.String(),
    "reason": pl.String(),
    "lines_announced": pl.UInt32(),  # how many lines of each leg this line stands for
    "lines_returned": pl.UInt32(),
    "lines_received": pl.UInt32(),
    "state": pl.String(),  # State, "" where there is no exception
    "first_seen": pl.Date(),  # the business date of the first report that has the exception
    "nights_open": pl.UInt32(),  # reports that have it, today's included
    "owner": pl.String(),  # this and the next two: what analysts wrote, carried from night to night
    "comment": pl.String(),
    "analyst_status": pl.String(),
    "accepted_as": pl.String(),  # what was accepted, "" for nothing: "SHORT; units 10; INR 50; …"; see MEMORY_SCHEMA
    "remark": pl.String(),  # why an exception is back or stays although an analyst closed it
    "claim_until": pl.Date(),  # the last day on which it can be claimed; null where there is nothing to claim
    "claim_days_left": pl.Int32(),  # negative: the window is closed
    "pair_id": pl.String(),  # the exception_id of the line with the equal and opposite difference, "" without one
    "mrp_announced": PRICE,
    "mrp_returned": PRICE,
    "tax_announced": PRICE,
    "tax_returned": PRICE,
    "qty_requested": QUANTITY,  # the service's field `qty_received`, by which it means requested (API §2.1)
    "received_date": pl.Date(),  # of the last receipt
    "expiry_date": pl.Date(),
    "receipt_sheet": pl.String(),
    "also": pl.String(),  # the other classes that apply to the line, joined by ", "; a line has one `code`
    "impact_by_class": pl.String(),  # of what impact_inr is the sum: "SHORT 9800.00; DAMAGED 200.00"
    "po_number": pl.String(),  # this and the next three: of lines of purchase orders
    "qty_ordered": QUANTITY,
    "price_ordered": PRICE,
    "lines_ordered": pl.UInt32(),
}

RESOLVED_SCHEMA: dict[str, pl.DataType] = LINES_SCHEMA | {
    "standing": pl.String(),  # Standing
    "last_seen": pl.Date(),  # the business date of the last report that had it
    "gone_since": pl.Date(),  # the business date of the first report that had it no more
    "became": pl.String(),  # what the line is now, or why it was not checked, in words
}

TREND_SCHEMA: dict[str, pl.DataType] = {
    "business_date": pl.Date(),
    "run": pl.String(),
    "complete": pl.Boolean(),
    "lines": pl.UInt32(),
    "exceptions": pl.UInt32(),
    "new": pl.UInt32(),
    "still_open": pl.UInt32(),
    "resolved": pl.UInt32(),
    "accepted": pl.UInt32(),
    "impact_inr": MONEY,
    "line_percent": pl.Float64(),
    "unit_percent": pl.Float64(),
}

ENTRIES = ("owner", "comment", "analyst_status")
"""What analysts write beside an exception; it is text, whatever they write."""

ENTRIES_SCHEMA: dict[str, pl.DataType] = dict.fromkeys(("exception_id", *ENTRIES), pl.String())

BASIS_SCHEMA: dict[str, pl.DataType] = {
    # Receipts showed the difference or a part of it: nothing settles it without them. null: none were compared.
    "by_receipts": pl.Boolean(),
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

CLASSES_SCHEMA: dict[str, pl.DataType] = {
    "class": pl.String(),  # a Discrepancy or an Outcome
    "severity": pl.String(),
    "lines": pl.UInt32(),
    "qty_announced": QUANTITY,
    "qty_returned": QUANTITY,
    "qty_received": QUANTITY,
    "qty_affected": QUANTITY,
    "impact_inr": MONEY,
    "lines_without_price": pl.UInt32(),
    "lines_announced": pl.UInt32(),
    "lines_returned": pl.UInt32(),
    "lines_received": pl.UInt32(),
    "qty_ordered": QUANTITY,
    "lines_ordered": pl.UInt32(),
}

SUPPLIERS_SCHEMA: dict[str, pl.DataType] = {
    "supplier": pl.String(),
    "notices": pl.UInt32(),
    "lines": pl.UInt32(),
    "matched": pl.UInt32(),
    "within_tolerance": pl.UInt32(),
    "too_early": pl.UInt32(),
    "exceptions": pl.UInt32(),
    "match_percent": pl.Float64(),
    "qty_announced": QUANTITY,
    "qty_received": QUANTITY,
    "short": pl.UInt32(),
    "over": pl.UInt32(),
    "not_received": pl.UInt32(),
    "impact_inr": MONEY,
}

AGEING_SCHEMA: dict[str, pl.DataType] = {
    "bucket": pl.String(),
    "lines": pl.UInt32(),
    "qty_affected": QUANTITY,
    "impact_inr": MONEY,
}


@dataclass(frozen=True, slots=True)
class LegTotals:
    """What one leg (announced, in service, received, ordered) brought in, counted before anything was matched."""

    name: str
    notices: int
    lines: int
    unreadable: int  # lines whose quantity cannot be read, so that it is in no sum
    quantity: str  # exact decimal text

    @property
    def papers(self) -> str:
        """How many ASNs, or purchase orders, in words."""
        return counted(self.notices, "order" if self.name == "ordered" else "ASN")


@dataclass(frozen=True, slots=True)
class MatchRate:
    """Share of what could be judged that agrees (matched, within tolerance); None where there was nothing to judge.

    What is too early or outside the window is not counted.
    """

    lines: int
    line_percent: float | None
    unit_percent: float | None


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The whole audit; its sums have been checked against the legs.

    differing: LINES_SCHEMA, the lines of which something was found, exceptions first, by impact and then age.
    agreeing: gives all other lines; see `lines`. classes: CLASSES_SCHEMA, those that occur.
    suppliers: SUPPLIERS_SCHEMA. ageing: AGEING_SCHEMA, every bucket, exceptions only. legs: announced, in service
    and, if receipts or purchase orders were compared, received and ordered.
    not_returned: header fields that were sent but are absent from the service's replies, with the number of ASNs.
    resolved: RESOLVED_SCHEMA, what was an exception in the run `previous_run` or shortly before and is none any more,
    or was not checked. trend: TREND_SCHEMA, one row an earlier night. remembered: MEMORY_SCHEMA, every exception that
    the next night has to know of.
    """

    differing: pl.DataFrame
    agreeing: Callable[[], pl.DataFrame]
    classes: pl.DataFrame
    suppliers: pl.DataFrame
    ageing: pl.DataFrame
    legs: tuple[LegTotals, ...]
    match_rate: MatchRate
    not_returned: dict[str, int]
    resolved: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RESOLVED_SCHEMA))
    trend: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TREND_SCHEMA))
    previous_run: str = ""
    remembered: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def line_count(self) -> int:
        """How many lines there are, of every outcome."""
        return int(self.classes["lines"].sum())

    @property
    def lines(self) -> pl.DataFrame:
        """All lines, in report order; they are put together each time, and there may be millions."""
        return pl.concat(
            [self.exceptions, *(self.outcome(one) for one in ComparedOutcome if one is not ComparedOutcome.EXCEPTION)]
        )

    @property
    def exceptions(self) -> pl.DataFrame:
        """The lines that a person should look at."""
        return self.outcome(ComparedOutcome.EXCEPTION)

    def outcome(self, outcome: ComparedOutcome) -> pl.DataFrame:
        """The lines with one outcome, in report order."""
        found = self.differing.filter(pl.col("outcome") == outcome.value)
        if outcome not in (ComparedOutcome.MATCHED, ComparedOutcome.TOO_EARLY):
            return found
        return pl.concat([found, self.agreeing().filter(pl.col("outcome") == outcome.value)])


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of the nights before. listed: MEMORY_SCHEMA; trend: TREND_SCHEMA; run: the last, "" for none.

    told: whether tonight's report says anything of them. series: under which it is remembered. doubts: why what
    analysts wrote is not there. notes: what else should be known.
    """

    run: str = ""
    business_date: date | None = None
    listed: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=MEMORY_SCHEMA))
    trend: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=TREND_SCHEMA))
    told: bool = True
    series: str = ""
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


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
