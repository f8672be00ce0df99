"""The columns of the reconciliation's tables: heading, where the value comes from, how it looks."""

from dataclasses import dataclass
from enum import StrEnum


class CellKind(StrEnum):
    """How a value is written."""

    TEXT = "text"
    WORDS = "words"  # long text that wraps
    CODE = "code"  # a class or severity, coloured
    QUANTITY = "quantity"
    CHANGE = "change"  # a quantity or price with its sign
    PRICE = "price"
    MONEY = "money"  # INR
    PERCENT = "percent"
    DATE = "date"
    MOMENT = "moment"  # date and time, without an offset
    COUNT = "count"
    ENTRY = "entry"  # for analysts to fill in


_WIDE = 40.0  # characters


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `width` in characters, `field` of the frame it is taken from."""

    title: str
    field: str
    kind: CellKind
    width: float


def lines_more(characters: int, width: float) -> int:
    """How many lines a text of 10 points takes in a column besides the first, broken at blanks."""
    return 0 if characters <= width else int(characters / characters_a_line(width))


def characters_a_line(width: float) -> float:
    """How many characters a broken line has: in a narrow column much of it stays blank."""
    return width * (1.15 if width >= _WIDE else 0.85)


COMPLETE, INCOMPLETE = "complete", "may be incomplete"
"""How the trend tells whether a night's report was complete."""

_K = CellKind
_CLASS = (Column("Class", "code", _K.CODE, 25), Column("Severity", "severity", _K.CODE, 10))
_WHO = (
    Column("Invoice number", "invoice_number", _K.WORDS, 18),
    Column("SKU", "sku_name", _K.WORDS, 20),
)
_PARTY = (Column("Supplier", "supplier", _K.WORDS, 20), Column("Site", "site", _K.WORDS, 16))
_QUANTITIES = (
    Column("Ordered", "qty_ordered", _K.QUANTITY, 12),
    Column("Announced", "qty_announced", _K.QUANTITY, 12),
    Column("In service", "qty_returned", _K.QUANTITY, 12),
    Column("Received", "qty_received", _K.QUANTITY, 12),
)
_PRICES = (
    Column("Price announced", "price_announced", _K.PRICE, 12),
    Column("Price in service", "price_returned", _K.PRICE, 12),
    Column("Price difference", "price_delta", _K.CHANGE, 12),
)
_MORE_PRICES = (
    Column("MRP announced", "mrp_announced", _K.PRICE, 12),
    Column("MRP in service", "mrp_returned", _K.PRICE, 12),
    Column("Tax announced", "tax_announced", _K.PRICE, 12),
    Column("Tax in service", "tax_returned", _K.PRICE, 12),
)
_CLAIM = (
    Column("Claim until", "claim_until", _K.DATE, 12),
    Column("Days to claim", "claim_days_left", _K.COUNT, 9),
)
_AGE = (
    Column("Due", "due_date", _K.DATE, 12),
    Column("Days overdue", "days_overdue", _K.COUNT, 10),
    Column("Age", "bucket", _K.TEXT, 9),
)
_ORIGIN = (
    Column("Source file", "file_name", _K.WORDS, 28),
    Column("Sheet", "sheet", _K.TEXT, 12),
    Column("Rows", "rows", _K.WORDS, 10),
    Column("Run", "run", _K.TEXT, 22),
)
_RECEIPT = (
    Column("Last received", "received_date", _K.DATE, 12),
    Column("Receipts file", "receipt_file", _K.WORDS, 24),
    Column("Receipts sheet", "receipt_sheet", _K.TEXT, 12),
    Column("Receipt rows", "receipt_rows", _K.WORDS, 12),
)
_MATCH = (
    Column("Matched by", "match_tier", _K.WORDS, 34),
    Column("ASN status", "asn_status", _K.TEXT, 12),
    Column("Service's ASN id", "record_id", _K.TEXT, 12),
)

_STANDING = (
    Column("Since last time", "state", _K.CODE, 13),
    Column("First seen", "first_seen", _K.DATE, 12),
    Column("Nights open", "nights_open", _K.COUNT, 9),
)
_REMARK = Column("Remark", "remark", _K.WORDS, 34)
_ACCEPTED_AS = Column("Accepted as", "accepted_as", _K.WORDS, 30)
RUN = "Run id"
"""Beside it stands, in the log of the workbook, which run made it."""

STATUS_TITLE = "Status"
"""The last of the columns that analysts fill in."""

ANALYST_COLUMNS = (
    Column("Owner", "owner", _K.ENTRY, 16),
    Column("Comment", "comment", _K.ENTRY, 34),
    Column(STATUS_TITLE, "analyst_status", _K.ENTRY, 14),
)

_FACTS = (
    *_PRICES,
    *_MORE_PRICES,
    Column("Service's qty_received (= requested, API §2.1)", "qty_requested", _K.QUANTITY, 28),
    Column("PO number", "po_number", _K.WORDS, 14),
    Column("Price ordered", "price_ordered", _K.PRICE, 12),
    Column("Opposite line", "pair_id", _K.TEXT, 22),
    Column("Expiry", "expiry_date", _K.DATE, 12),
    Column("SKU found instead", "found_sku", _K.WORDS, 18),
    Column("Batch", "batch", _K.WORDS, 12),
    *_ORIGIN,
    *_RECEIPT,
    *_MATCH,
    Column("Level", "level", _K.TEXT, 7),
    Column("exception_id", "exception_id", _K.TEXT, 22),
)
_WHAT = (
    *_CLASS,
    Column("INR at stake", "impact_inr", _K.MONEY, 15),
    *_WHO,
    Column("Difference", "qty_delta", _K.CHANGE, 12),
    Column("What we see", "reason", _K.WORDS, 62),
    *_PARTY,
    *_QUANTITIES,
    Column("Difference %", "delta_percent", _K.PERCENT, 11),
    Column("Units concerned", "qty_affected", _K.QUANTITY, 12),
    Column("Also", "also", _K.WORDS, 18),
    Column("INR by class", "impact_by_class", _K.WORDS, 34),
    *_AGE,
    *_CLAIM,
)

EXCEPTIONS = (*_WHAT, *_STANDING, *ANALYST_COLUMNS, _REMARK, _ACCEPTED_AS, *_FACTS)

GONE = (
    *_WHAT[:5],
    Column("Since", "gone_since", _K.DATE, 12),
    Column("What became of it", "became", _K.WORDS, 40),
    *_WHAT[5:],
    *_STANDING,
    Column("Last seen", "last_seen", _K.DATE, 12),
    *ANALYST_COLUMNS,
    _REMARK,
    _ACCEPTED_AS,
    *_FACTS,
)

MISSING = (
    *_CLASS,
    Column("INR at stake", "impact_inr", _K.MONEY, 15),
    *_WHO,
    Column("Units concerned", "qty_affected", _K.QUANTITY, 12),
    Column("What we see", "reason", _K.WORDS, 62),
    *_PARTY,
    *_QUANTITIES,
    *_AGE,
    *_ORIGIN,
    *_RECEIPT,
    *_MATCH,
    Column("exception_id", "exception_id", _K.TEXT, 22),
)

NEAR = (
    Column("Invoice number", "invoice_number", _K.WORDS, 18),
    Column("SKU", "sku_name", _K.WORDS, 20),
    Column("Difference", "qty_delta", _K.CHANGE, 12),
    Column("Price difference", "price_delta", _K.CHANGE, 12),
    Column("INR tolerated", "impact_inr", _K.MONEY, 15),
    Column("What we see", "reason", _K.WORDS, 50),
    *_PARTY,
    *_QUANTITIES,
    Column("Difference %", "delta_percent", _K.PERCENT, 11),
    *_AGE,
    *_ORIGIN,
    *_RECEIPT,
    *_MATCH,
)

MATCHED = (
    *_WHO,
    *_PARTY,
    *_QUANTITIES,
    *_PRICES[:2],
    Column("Batch", "batch", _K.WORDS, 12),
    *_AGE[:1],
    *_MATCH,
    Column("What we see", "reason", _K.WORDS, 50),
    *_ORIGIN,
    *_RECEIPT,
)

UNSENT = (
    Column("Source file", "file_name", _K.WORDS, 32),
    Column("Sheet", "sheet", _K.TEXT, 14),
    Column("Rows", "rows", _K.WORDS, 12),
    Column("Invoice number", "invoice_number", _K.WORDS, 20),
    Column("SKU", "sku_name", _K.WORDS, 20),
    Column("Announced", "qty_announced", _K.QUANTITY, 12),
    Column("INR at stake", "impact_inr", _K.MONEY, 15),
    Column("What we see", "reason", _K.WORDS, 74),
    *_PARTY,
    Column("Due", "due_date", _K.DATE, 12),
    Column("Run", "run", _K.TEXT, 24),
    Column("exception_id", "exception_id", _K.TEXT, 22),
)

NOT_READ = (
    Column("File", "file_name", _K.WORDS, 32),
    Column("Invoice number", "invoice_number", _K.WORDS, 20),
    Column("SKU", "sku_name", _K.WORDS, 20),
    Column("Supplier", "supplier_name", _K.WORDS, 20),
    Column("Site", "site_name", _K.WORDS, 16),
    Column("Where it stands, what is wrong, what to write", "spot", _K.WORDS, 110),
)

SCORECARD = (
    Column("Supplier", "supplier", _K.WORDS, 30),
    Column("ASNs", "notices", _K.COUNT, 9),
    Column("Lines", "lines", _K.COUNT, 9),
    Column("Match rate", "match_percent", _K.PERCENT, 12),
    Column("INR at stake", "impact_inr", _K.MONEY, 16),
    Column("Exceptions", "exceptions", _K.COUNT, 11),
    Column("Short", "short", _K.COUNT, 9),
    Column("Over", "over", _K.COUNT, 9),
    Column("Not received", "not_received", _K.COUNT, 11),
    Column("Within tolerance", "within_tolerance", _K.COUNT, 11),
    Column("Too early", "too_early", _K.COUNT, 9),
    Column("Matched", "matched", _K.COUNT, 10),
    Column("Units announced", "qty_announced", _K.QUANTITY, 13),
    Column("Units received", "qty_received", _K.QUANTITY, 13),
)

AGEING = (
    Column("Age in days", "bucket", _K.TEXT, 14),
    Column("Class", "code", _K.CODE, 26),
    Column("Severity", "severity", _K.CODE, 11),
    Column("Supplier", "supplier", _K.WORDS, 26),
    Column("Site", "site", _K.WORDS, 18),
    Column("Exceptions", "lines", _K.COUNT, 12),
    Column("Units concerned", "qty_affected", _K.QUANTITY, 16),
    Column("INR at stake", "impact_inr", _K.MONEY, 18),
)
TREND = (
    Column("Business date", "business_date", _K.DATE, 14),
    Column("Open exceptions", "exceptions", _K.COUNT, 12),
    Column("New", "new", _K.COUNT, 9),
    Column("Still open", "still_open", _K.COUNT, 9),
    Column("Resolved", "resolved", _K.COUNT, 10),
    Column("Accepted", "accepted", _K.COUNT, 10),
    Column("INR at stake", "impact_inr", _K.MONEY, 18),
    Column("Match rate, lines", "line_percent", _K.PERCENT, 12),
    Column("Match rate, units", "unit_percent", _K.PERCENT, 12),
    Column("Lines checked", "lines", _K.COUNT, 12),
    Column("Completeness", "completeness", _K.CODE, 20),
    Column("Run", "run", _K.TEXT, 26),
)
