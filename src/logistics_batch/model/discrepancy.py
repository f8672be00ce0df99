"""The words of an audit: outcomes, classes of exceptions with what they mean, and how soon somebody should look."""

from dataclasses import dataclass
from enum import StrEnum


class ComparedOutcome(StrEnum):
    """What became of a line; each has exactly one."""

    EXCEPTION = "exception"  # a person should look; `code` names the class
    WITHIN_TOLERANCE = "within tolerance"  # it differs, but by no more than was agreed
    MATCHED = "matched"
    TOO_EARLY = "too early"  # goods are not yet due, so nothing can be said about what was received
    ACCEPTED = "accepted"  # an analyst has accepted the difference, and it has not changed since
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
    NONSTD_PACK = "NONSTD_PACK"
    EXPIRED_UNRECEIVED = "EXPIRED_UNRECEIVED"
    NOT_RECEIVED = "NOT_RECEIVED"
    SHORT = "SHORT"
    OVER = "OVER"
    PRICE_VAR = "PRICE_VAR"
    MRP_VAR = "MRP_VAR"
    TAX_VAR = "TAX_VAR"
    TOTAL_MISMATCH = "TOTAL_MISMATCH"
    SHELF_LIFE = "SHELF_LIFE"
    OVERDUE = "OVERDUE"
    LATE = "LATE"
    EARLY = "EARLY"
    STATUS_REGRESSION = "STATUS_REGRESSION"
    STALE_STATUS = "STALE_STATUS"
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
        "Goods were received, or were ordered and are due, for which there is no accepted ASN.",
        "Ask the supplier for the notice, or correct the invoice or order number in the file.",
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
        "An announced SKU is missing: from the service's ASN, or from goods of which all else came.",
        "Have the line added to the ASN, or ask the supplier for the goods.",
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
    Discrepancy.NONSTD_PACK: Meaning(
        Severity.LOW, "Received goods are not packed as agreed.", "Charge the repacking to the supplier, or accept it."
    ),
    Discrepancy.EXPIRED_UNRECEIVED: Meaning(
        Severity.HIGH,
        "The ASN has expired, and nothing of the line was received.",
        "Ask the supplier whether the goods still come; then announce them anew.",
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
        "The price per unit or the discount differs between file and service, beyond the tolerance.",
        "Compare with the purchase order, then correct the side that is wrong.",
    ),
    Discrepancy.MRP_VAR: Meaning(
        Severity.MEDIUM,
        "The maximum retail price differs between file and service, beyond the tolerance.",
        "Compare with the print on the goods, then correct the side that is wrong.",
    ),
    Discrepancy.TAX_VAR: Meaning(
        Severity.MEDIUM,
        "The tax of the ASN differs between file and service, beyond the tolerance.",
        "Compare with the invoice, then correct the side that is wrong.",
    ),
    Discrepancy.TOTAL_MISMATCH: Meaning(
        Severity.MEDIUM,
        "The ASN's total price is not what was sent, or not the sum of quantity times price of its lines.",
        "Compare with the invoice, then correct the total.",
    ),
    Discrepancy.SHELF_LIFE: Meaning(
        Severity.MEDIUM,
        "Goods came with less time until their expiry date than agreed.",
        "Release or return them; claim from the supplier.",
    ),
    Discrepancy.OVERDUE: Meaning(
        Severity.MEDIUM,
        "The delivery date has long passed, the ASN is still open, and no receipts were given to tell what came.",
        "Ask the warehouse whether the goods came; give the receipts to the next reconciliation.",
    ),
    Discrepancy.LATE: Meaning(
        Severity.LOW, "The goods came after their delivery date.", "Note it for the supplier's scorecard."
    ),
    Discrepancy.EARLY: Meaning(
        Severity.LOW, "The goods came before their delivery date.", "Note it for the supplier's scorecard."
    ),
    Discrepancy.STATUS_REGRESSION: Meaning(
        Severity.MEDIUM,
        "The ASN's status went back, as from Completed to New.",
        "Find out who reopened it, and whether goods are counted twice.",
    ),
    Discrepancy.STALE_STATUS: Meaning(
        Severity.LOW,
        "The ASN's status has not moved for long, although its goods came or it is in progress.",
        "Have the ASN closed at the warehouse, or ask what it waits for.",
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
