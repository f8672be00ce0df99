"""What an audit of advance shipping notices (ASNs) says: one outcome a line, in the words that analysts use."""

from dataclasses import dataclass
from enum import StrEnum

import polars as pl

QUANTITY = pl.Decimal(38, 3)
PRICE = pl.Decimal(38, 4)  # INR per unit
MONEY = pl.Decimal(38, 2)  # INR, exact to the paisa


class Outcome(StrEnum):
    """What became of a line; each has exactly one."""

    EXCEPTION = "exception"  # a person should look; `code` names the class
    WITHIN_TOLERANCE = "within tolerance"  # it differs, but by no more than was agreed
    MATCHED = "matched"
    TOO_EARLY = "too early"  # goods are not yet due, so nothing can be said about what was received
    OUTSIDE_WINDOW = "outside window"  # read because something in the window points to it; not judged


class Discrepancy(StrEnum):
    """The classes of exceptions; a line has one, the gravest that applies."""

    MISSING_IN_SERVICE = "MISSING_IN_SERVICE"
    NOT_SENT = "NOT_SENT"
    UNEXPECTED_IN_SERVICE = "UNEXPECTED_IN_SERVICE"
    NO_ASN = "NO_ASN"
    DUPLICATE_ASN = "DUPLICATE_ASN"
    WRONG_SKU = "WRONG_SKU"
    MISSING_SKU = "MISSING_SKU"
    EXTRA_SKU = "EXTRA_SKU"
    REJECTED = "REJECTED"
    DAMAGED = "DAMAGED"
    QUALITY = "QUALITY"
    HOLD = "HOLD"
    NOT_RECEIVED = "NOT_RECEIVED"
    SHORT = "SHORT"
    OVER = "OVER"
    PRICE_VAR = "PRICE_VAR"
    HEADER_DIFF = "HEADER_DIFF"
    UNVERIFIABLE = "UNVERIFIABLE"


class Severity(StrEnum):
    """How soon somebody should look."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One class of exceptions for people: how grave, what it says, and what to do."""

    severity: Severity
    says: str
    do: str


MEANINGS: dict[Discrepancy, Meaning] = {
    Discrepancy.MISSING_IN_SERVICE: Meaning(
        Severity.CRITICAL,
        "The service accepted the ASN, but does not return it.",
        "Ask the service's operator; the warehouse does not expect these goods.",
    ),
    Discrepancy.NOT_SENT: Meaning(
        Severity.CRITICAL,
        "Announced in a file, but not accepted: invalid, blocked, refused, held, pending or in doubt.",
        "Correct the row named under file, sheet and row and drop the file again, or settle the doubt.",
    ),
    Discrepancy.UNEXPECTED_IN_SERVICE: Meaning(
        Severity.HIGH,
        "The service returns an ASN (or a line of it) that no file of ours announced.",
        "Find out who entered it; cancel it there if nobody knows it.",
    ),
    Discrepancy.NO_ASN: Meaning(
        Severity.HIGH,
        "Goods were received for which there is no accepted ASN.",
        "Ask the supplier for the notice, or correct the invoice number on the receipt.",
    ),
    Discrepancy.DUPLICATE_ASN: Meaning(
        Severity.HIGH,
        "The service holds more than one ASN with the same invoice number, supplier and site.",
        "Have the surplus one removed before goods are booked on it.",
    ),
    Discrepancy.WRONG_SKU: Meaning(
        Severity.HIGH,
        "One SKU is missing and another one stands there with the very same quantity: probably swapped.",
        "Compare the two SKUs named in the reason, then correct the notice or the booking.",
    ),
    Discrepancy.MISSING_SKU: Meaning(
        Severity.HIGH,
        "The service's ASN lacks a SKU that was announced.",
        "Have the line added to the ASN.",
    ),
    Discrepancy.EXTRA_SKU: Meaning(
        Severity.MEDIUM,
        "A SKU that was not announced stands in the service's ASN or was received.",
        "Ask the supplier; book or return the goods.",
    ),
    Discrepancy.REJECTED: Meaning(
        Severity.HIGH, "Received goods were rejected.", "Agree the return or a credit note with the supplier."
    ),
    Discrepancy.DAMAGED: Meaning(
        Severity.HIGH, "Received goods are damaged.", "Claim from the carrier or supplier, with photographs."
    ),
    Discrepancy.QUALITY: Meaning(
        Severity.HIGH, "Received goods failed the quality check.", "Agree a return or a credit note with the supplier."
    ),
    Discrepancy.HOLD: Meaning(
        Severity.MEDIUM, "Received goods are on hold.", "Release or reject them at the warehouse."
    ),
    Discrepancy.NOT_RECEIVED: Meaning(
        Severity.HIGH,
        "Nothing of the line was received although it is due.",
        "Ask supplier and carrier where the goods are.",
    ),
    Discrepancy.SHORT: Meaning(
        Severity.HIGH,
        "Less than announced, beyond the tolerance.",
        "Recount, then claim the difference from the supplier or carrier.",
    ),
    Discrepancy.OVER: Meaning(
        Severity.MEDIUM,
        "More than announced, beyond the tolerance.",
        "Recount; return the surplus, or ask for a corrected invoice.",
    ),
    Discrepancy.PRICE_VAR: Meaning(
        Severity.MEDIUM,
        "The price per unit differs between file and service, beyond the tolerance.",
        "Compare with the purchase order, then correct the side that is wrong.",
    ),
    Discrepancy.HEADER_DIFF: Meaning(
        Severity.LOW,
        "Supplier, site, description, batch or a date of the ASN differs from what was sent.",
        "Find out who changed it; plan by the service's value meanwhile.",
    ),
    Discrepancy.UNVERIFIABLE: Meaning(
        Severity.MEDIUM,
        "Something needed for the comparison is absent or unreadable; never counted as matched.",
        "See the reason; supply the value, or fetch again.",
    ),
}


class Level(StrEnum):
    """What a line of the report stands for."""

    LINE = "line"  # one SKU of one ASN
    NOTICE = "ASN"  # a finding about an ASN as a whole
    ROW = "row"  # a row of a file that never became part of an ASN


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
}

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
    """What one leg brought in, counted before anything was matched."""

    name: str
    notices: int
    lines: int
    unreadable: int  # lines whose quantity cannot be read, so that it is in no sum
    quantity: str  # exact decimal text


@dataclass(frozen=True, slots=True)
class MatchRate:
    """Share of what could be judged that agrees; what is too early or outside the window is not counted.

    `agreeing` counts matched and within tolerance. Percentages are None where there was nothing to judge.
    """

    lines: int
    agreeing_lines: int
    line_percent: float | None
    unit_percent: float | None


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The whole audit; its sums have been checked against the legs.

    lines: LINES_SCHEMA, exceptions first, by impact and then age. classes: CLASSES_SCHEMA, those that occur.
    suppliers: SUPPLIERS_SCHEMA. ageing: AGEING_SCHEMA, every bucket, exceptions only. legs: announced, in service
    and, if receipts were compared, received.
    not_returned: header fields that were sent but are absent from the service's replies, with the number of ASNs.
    """

    lines: pl.DataFrame
    classes: pl.DataFrame
    suppliers: pl.DataFrame
    ageing: pl.DataFrame
    legs: tuple[LegTotals, ...]
    match_rate: MatchRate
    not_returned: dict[str, int]

    @property
    def exceptions(self) -> pl.DataFrame:
        """The lines that a person should look at."""
        return self.outcome(Outcome.EXCEPTION)

    def outcome(self, outcome: Outcome) -> pl.DataFrame:
        """The lines with one outcome, in report order."""
        return self.lines.filter(pl.col("outcome") == outcome.value)
