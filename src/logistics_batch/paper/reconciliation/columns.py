"""The columns of the reconciliation's tables: heading, where the value comes from, how it looks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
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

RUN = "Run id"
"""Beside it stands, in the log of the workbook, which run made it."""

# By kind: field, heading and width.
_BY_KIND: dict[CellKind, tuple[tuple[str, str, float], ...]] = {
    CellKind.CODE: (
        ("code", "Class", 25),
        ("severity", "Severity", 10),
        ("state", "Since last time", 13),
        ("completeness", "Completeness", 20),
    ),
    CellKind.WORDS: (
        ("invoice_number", "Invoice number", 18),
        ("sku_name", "SKU", 20),
        ("supplier", "Supplier", 20),
        ("site", "Site", 16),
        ("reason", "What we see", 62),
        ("also", "Also", 18),
        ("impact_by_class", "INR by class", 34),
        ("remark", "Remark", 34),
        ("accepted_as", "Accepted as", 30),
        ("became", "What became of it", 40),
        ("po_number", "PO number", 14),
        ("found_sku", "SKU found instead", 18),
        ("batch", "Batch", 12),
        ("file_name", "Source file", 28),
        ("rows", "Rows", 10),
        ("receipt_file", "Receipts file", 24),
        ("receipt_rows", "Receipt rows", 12),
        ("match_tier", "Matched by", 34),
    ),
    CellKind.TEXT: (
        ("bucket", "Age", 9),
        ("sheet", "Sheet", 12),
        ("run", "Run", 22),
        ("receipt_sheet", "Receipts sheet", 12),
        ("asn_status", "ASN status", 12),
        ("record_id", "Service's ASN id", 12),
        ("pair_id", "Opposite line", 22),
        ("level", "Level", 7),
        ("exception_id", "exception_id", 22),
    ),
    CellKind.QUANTITY: (
        ("qty_ordered", "Ordered", 12),
        ("qty_announced", "Announced", 12),
        ("qty_returned", "In service", 12),
        ("qty_received", "Received", 12),
        ("qty_affected", "Units concerned", 12),
        ("qty_requested", "Service's qty_received (= requested, API §2.1)", 28),
    ),
    CellKind.CHANGE: (("qty_delta", "Difference", 12), ("price_delta", "Price difference", 12)),
    CellKind.PRICE: (
        ("price_announced", "Price announced", 12),
        ("price_returned", "Price in service", 12),
        ("price_ordered", "Price ordered", 12),
        ("mrp_announced", "MRP announced", 12),
        ("mrp_returned", "MRP in service", 12),
        ("tax_announced", "Tax announced", 12),
        ("tax_returned", "Tax in service", 12),
    ),
    CellKind.MONEY: (("impact_inr", "INR at stake", 15),),
    CellKind.PERCENT: (("delta_percent", "Difference %", 11), ("match_percent", "Match rate", 12)),
    CellKind.DATE: (
        ("due_date", "Due", 12),
        ("claim_until", "Claim until", 12),
        ("first_seen", "First seen", 12),
        ("last_seen", "Last seen", 12),
        ("gone_since", "Since", 12),
        ("received_date", "Last received", 12),
        ("expiry_date", "Expiry", 12),
        ("business_date", "Business date", 14),
    ),
    CellKind.COUNT: (
        ("days_overdue", "Days overdue", 10),
        ("claim_days_left", "Days to claim", 9),
        ("nights_open", "Nights open", 9),
        ("lines", "Lines", 9),
        ("notices", "ASNs", 9),
        ("exceptions", "Exceptions", 11),
        ("short", "Short", 9),
        ("over", "Over", 9),
        ("not_received", "Not received", 11),
        ("within_tolerance", "Within tolerance", 11),
        ("too_early", "Too early", 9),
        ("matched", "Matched", 10),
        ("new", "New", 9),
        ("still_open", "Still open", 9),
        ("resolved", "Resolved", 10),
        ("accepted", "Accepted", 10),
    ),
    CellKind.ENTRY: (("owner", "Owner", 16), ("comment", "Comment", 34), ("analyst_status", "Status", 14)),
}
_KNOWN = {field: Column(title, field, kind, width) for kind, known in _BY_KIND.items() for field, title, width in known}

Columns = tuple[Column, ...]


def _columns(names: str, **others: tuple[str, float] | float) -> Columns:
    """The columns of some fields; others: heading and width, or width, where they differ."""

    def each() -> Iterator[Column]:
        for name in names.split():
            other = others.get(name, _KNOWN[name].width)
            title, width = other if isinstance(other, tuple) else (_KNOWN[name].title, other)
            yield replace(_KNOWN[name], title=title, width=width)

    return tuple(each())


_WHO = "invoice_number sku_name "
_PARTY = "supplier site "
_QUANTITIES = "qty_ordered qty_announced qty_returned qty_received "
_AGE = "due_date days_overdue bucket "
_ORIGIN = "file_name sheet rows run "
_RECEIPT = "received_date receipt_file receipt_sheet receipt_rows "
_MATCH = "match_tier asn_status record_id "
_STANDING = "state first_seen nights_open "
_ANALYST = "owner comment analyst_status "
_FACTS = (
    "price_announced price_returned price_delta mrp_announced mrp_returned tax_announced tax_returned qty_requested "
    f"po_number price_ordered pair_id expiry_date found_sku batch {_ORIGIN}{_RECEIPT}{_MATCH}level exception_id"
)
_FIRST = f"code severity impact_inr {_WHO}"
_WHAT = f"qty_delta reason {_PARTY}{_QUANTITIES}delta_percent qty_affected also impact_by_class {_AGE}"
_WHAT += "claim_until claim_days_left "

ANALYST_COLUMNS = _columns(_ANALYST)
EXCEPTIONS = _columns(f"{_FIRST}{_WHAT}{_STANDING}{_ANALYST}remark accepted_as {_FACTS}")
GONE = _columns(f"{_FIRST}gone_since became {_WHAT}{_STANDING}last_seen {_ANALYST}remark accepted_as {_FACTS}")
MISSING = _columns(f"{_FIRST}qty_affected reason {_PARTY}{_QUANTITIES}{_AGE}{_ORIGIN}{_RECEIPT}{_MATCH}exception_id")
NEAR = _columns(
    f"{_WHO}qty_delta price_delta impact_inr reason {_PARTY}{_QUANTITIES}delta_percent "
    f"{_AGE}{_ORIGIN}{_RECEIPT}{_MATCH}",
    impact_inr=("INR tolerated", 15),
    reason=50,
)
MATCHED = _columns(
    f"{_WHO}{_PARTY}{_QUANTITIES}price_announced price_returned batch due_date {_MATCH}reason {_ORIGIN}{_RECEIPT}",
    reason=50,
)
UNSENT = _columns(
    f"file_name sheet rows {_WHO}qty_announced impact_inr reason {_PARTY}due_date run exception_id",
    file_name=32,
    sheet=14,
    rows=12,
    invoice_number=20,
    reason=74,
    run=24,
)
NOT_READ = (
    *_columns(f"file_name {_WHO}", file_name=("File", 32), invoice_number=20),
    Column("Supplier", "supplier_name", CellKind.WORDS, 20),
    Column("Site", "site_name", CellKind.WORDS, 16),
    Column("Where it stands, what is wrong, what to write", "spot", CellKind.WORDS, 110),
)
SCORECARD = _columns(
    "supplier notices lines match_percent impact_inr exceptions short over not_received within_tolerance too_early "
    "matched qty_announced qty_received",
    supplier=30,
    impact_inr=16,
    qty_announced=("Units announced", 13),
    qty_received=("Units received", 13),
)
AGEING = _columns(
    "bucket code severity supplier site lines qty_affected impact_inr",
    bucket=("Age in days", 14),
    code=26,
    severity=11,
    supplier=26,
    site=18,
    lines=("Exceptions", 12),
    qty_affected=16,
    impact_inr=18,
)
_RATES = (
    Column("Match rate, lines", "line_percent", CellKind.PERCENT, 12),
    Column("Match rate, units", "unit_percent", CellKind.PERCENT, 12),
)
TREND = (
    *_columns(
        "business_date exceptions new still_open resolved accepted impact_inr",
        exceptions=("Open exceptions", 12),
        impact_inr=18,
    ),
    *_RATES,
    *_columns("lines completeness run", lines=("Lines checked", 12), run=26),
)
