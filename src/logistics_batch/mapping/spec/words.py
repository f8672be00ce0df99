"""Words that sheets write and that no mapping need explain: for payment, for rows of totals, for signatures."""

import re
from typing import Final

PAYMENT_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("COD", "Cash on delivery", "Cash", "To pay"), "true"),
    **dict.fromkeys(("Prepaid", "Paid", "Online", "UPI"), "false"),
    **dict.fromkeys(("C.O.D", "C.O.D.", "C O D", "Cash on delivery (COD)", "Pay on delivery", "To-pay"), "true"),
    **dict.fromkeys(("Pre-paid", "Pre paid", "PPD", "Paid online", "Online payment"), "false"),
    **dict.fromkeys(("Razorpay", "Razorpay Secure", "PayU", "PayU India", "Paytm", "PhonePe", "Cashfree"), "false"),
    **dict.fromkeys(("Shopify Payments", "Gift Card", "Bank Deposit", "bacs"), "false"),
    "true": "true",
    "false": "false",
}
"""Whether a word says cash on delivery; those that a message names stand first.

No cheque: it may be handed over at the door.
"""

_MONTHS: Final = {
    "Jan": "january jan januar jän janvier janv enero ene", "Feb": "february feb februar février févr fév febrero",
    "Mar": "march mar märz mär mrz maerz mars marzo", "Apr": "april apr avril avr abril abr", "May": "may mai mayo",
    "Jun": "june jun juni juin junio", "Jul": "july jul juli juillet juil julio",
    "Aug": "august aug août aout agosto ago",
    "Sep": "september sept sep septembre septiembre", "Oct": "october oct oktober okt octobre octubre",
    "Nov": "november nov novembre noviembre", "Dec": "december dec dezember dez décembre déc diciembre dic",
}  # fmt: skip
MONTHS: Final[dict[str, str]] = {
    spelt: month
    for word, month in sorted(((word, month) for month, words in _MONTHS.items() for word in words.split()),
                              key=lambda pair: -len(pair[0]))
    for spelt in (f"{word}.", f"{word.upper()}.", word, word.upper())
}  # fmt: skip
"""Months by their names, whole or short, with a full stop or without, in English, German, French and Spanish.

The longest come first. Capitals are spelt out for letters that are not ASCII.
"""

PIECES: Final = (
    "no", "nos", "pc", "pcs", "piece", "pieces", "unit", "units", "ea", "each", "stk", "st", "stck", "stück",
    "pièce", "pièces", "ud", "uds", "नग", "નંગ"
)  # fmt: skip
"""Words behind a number that stand for one."""

SUM: Final = r"(?:grand|sub|page|net|running|gross|g)?[\s\-.]{0,9}totals?"
"""The words for a total, of all rows or of some: Grand Total, G.Total."""
_NUMBERED: Final = r"[0-9]+\s*(?:of|/)\s*[0-9]+"
_OF_PAGES: Final = rf"page\s*{_NUMBERED}"
_BETWEEN: Final = r"[\s:(\-–]{1,4}"
PAGE: Final = (
    rf"(?:{_OF_PAGES}(?:{_BETWEEN}{SUM}\)?)?|{SUM}{_BETWEEN}(?:(?:of|for)\s+)?(?:page\s*)?{_NUMBERED}\)?"
    rf"|page\s*[0-9]+{_BETWEEN}{SUM}\)?|{SUM}{_BETWEEN}(?:(?:of|for)\s+)?page\s*[0-9]+\)?)"
)
"""What stands below the rows of a printed page, with or without their sum: Page 1 of 2, Page 1 subtotal."""
_TOTALS: Final = rf"(?i)^(?:{PAGE}|{SUM})"
TOTAL: Final = rf"{_TOTALS}\b"
"""What the first cell of a row of totals begins with."""
TOTAL_KEY: Final = rf"{_TOTALS}(?:[\s:=(].*)?$"
"""What may stand in place of its key."""
OF_A_SUM: Final = (
    r"\s*(?:[:=(\-0-9].*|(?:qty|quantity|amount|value|items?|orders?|pcs|pieces|units|rs|inr|of|for)\b.*)?$"
)
"""What may stand behind these words."""
TOTAL_ALONE: Final = rf"{_TOTALS}{OF_A_SUM}"
"""What is the word for a total and nothing else: "Total Whitening" is a toothpaste."""
TOTAL_INVOICE: Final = rf"{_TOTALS}[\s:=.\-]*$"
"""What is no invoice number, whatever else stands in its row."""
SUBTOTAL: Final = r"(?i)^(.+?)[\s:\-]+totals?$"
"""How spreadsheet programs name a subtotal: by the key of its rows, "INV-7 Total"."""
SIGNED: Final = (
    r"(?i)^(?:(?:prepared|checked|verified|approved|authori[sz]ed|received|packed|issued|entered)\s+by\b"
    r"|authori[sz]ed signator(?:y|ies)\b|signatures?(?:[\s:.\-_].*)?$)"
)
"""What the first cell of a row for signatures begins with."""


def is_known_pattern(pattern: str) -> bool:
    """Whether a pattern of `skip_rows_where` fits only keys of rows that are known without it to be no data.

    >>> [is_known_pattern(each) for each in ("TOTAL", "Grand total*", "* Total", "Prepared by*", "Total Gas*", "*")]
    [True, True, True, True, False, False]
    >>> is_known_pattern("Page * of *"), is_known_pattern("Page *")
    (True, False)
    """
    if re.fullmatch(f"(?i){PAGE}", re.sub("[*?]", "1", pattern.strip())):
        return True
    words = pattern.strip().removesuffix("*").replace("?", " ")
    if words.startswith("*"):
        return re.fullmatch(r"(?i)\*[\s:\-]+totals?", words) is not None
    return "*" not in words and any(re.search(each, words.strip()) for each in (TOTAL_ALONE, SIGNED))
