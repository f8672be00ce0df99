"""The three legs as they come in, all text, and the normalised forms that comparisons use.

Announced (our ledger) and returned (the service) are notices with lines; received is a list of lines. Nothing is
guessed: a quantity or price that is no plain decimal number becomes null, and the line cannot be verified.
"""

import re
import unicodedata
from dataclasses import dataclass, field

import polars as pl

from logistics_batch.model.reconciliation import PRICE, QUANTITY
from logistics_batch.model.spelling import folded

_HEADER = {
    "notice": pl.UInt32,  # index of the notice within its leg, from 0
    "invoice_number": pl.String,
    "supplier": pl.String,
    "supplier_name": pl.String,
    "site": pl.String,
    "site_name": pl.String,
    "batch": pl.String,
    "description": pl.String,
    "delivery_date": pl.String,  # YYYY-MM-DD
    "expiry_date": pl.String,
    "total_price": pl.String,
    "tax": pl.String,  # of the whole notice, INR
    "in_window": pl.Boolean,  # False: read only because something in the window may point to it
}
_LINE = {
    "notice": pl.UInt32,
    "sku_name": pl.String,
    "qty": pl.String,
    "price": pl.String,
    "mrp": pl.String,
    "discount": pl.String,  # INR
    "discount_percentage": pl.String,  # of the retail price (API §2.1)
}

ANNOUNCED_NOTICES = _HEADER | {
    "accepted": pl.Boolean,
    "state": pl.String,  # the document's state, for those that are not accepted
    "why": pl.String,
    "fault": pl.String,  # state, code and values of why; else null, and `why` tells
    "file_name": pl.String,
    "sheet": pl.String,
    "run": pl.String,
    "po_number": pl.String,  # of the purchase order that it belongs to, as far as one is known
    "po_several": pl.String,  # normalised numbers, joined by ", ", where it names several
}
ANNOUNCED_LINES = _LINE | {
    "row": pl.UInt32,
    # These are of a later version of an accepted ASN, whose `qty` is what it changes; else null: what a changed price
    # is worth of what was accepted already, and the change in words.
    "beside_inr": pl.String,
    "version": pl.String,
    "version_of": pl.UInt32,  # the notice of the version that was accepted
}
RETURNED_NOTICES = _HEADER | {
    "record_id": pl.String,
    "status": pl.String,
    "created_at": pl.String,
    "modified_at": pl.String,  # begins with YYYY-MM-DD
    "furthest_status": pl.String,  # that an earlier report saw, null without one
}
RETURNED_LINES = _LINE | {"qty_requested": pl.String}  # the service's `qty_received`, by which it means requested
RECEIVED_LINES = {
    "invoice_number": pl.String,
    "supplier_name": pl.String,
    "site_name": pl.String,
    "sku_name": pl.String,
    "qty": pl.String,
    "condition": pl.String,
    "received_date": pl.String,
    "file_name": pl.String,
    "sheet": pl.String,
    "row": pl.UInt32,
    "repeats": pl.String,  # rows of later lists that only repeat this one and are not counted
    "alike": pl.String,  # rows of several lists, this one among them, that are alike and all count
    "reissued": pl.String,  # rows of several lists, this one among them, that may be one list and its correction
    "again": pl.Boolean,  # another list may have the row once more, or correct it
}
ORDERED_LINES = {
    "po_number": pl.String,
    "invoice_number": pl.String,
    "supplier_name": pl.String,
    "site_name": pl.String,
    "sku_name": pl.String,
    "qty": pl.String,
    "price": pl.String,
    "delivery_date": pl.String,
    "file_name": pl.String,
    "sheet": pl.String,
    "row": pl.UInt32,
    "repeats": pl.String,  # rows of earlier lists in whose place this one stands
    "absent_from": pl.String,  # a later list that names the order without this SKU
}
KNOWN_LINES = RECEIVED_LINES | {"last_listed": pl.Date, "written": pl.Float64}
"""Receipts as an earlier report read them. last_listed: the business date of the last report whose lists had them;
written: when their list was (seconds since 1970, null if nobody tells).
"""
UNREAD_ROWS = {
    "invoice_number": pl.String,  # as far as it can be read, like the next three; null where it cannot
    "supplier_name": pl.String,
    "site_name": pl.String,
    "sku_name": pl.String,
    "file_name": pl.String,
    "spot": pl.String,  # file, sheet, row and cell, and what is wrong there, in words
}
UNOPENED = {
    "invoice": pl.String,  # normalised
    "lists": pl.String,  # of receipts, that lie there and were not read, in words
}
UNSENT_ROWS = {
    "file_name": pl.String,
    "sheet": pl.String,
    "row": pl.UInt32,
    "key": pl.String,
    "invoice_number": pl.String,
    "supplier": pl.String,
    "site": pl.String,
    "fate": pl.String,
    "why": pl.String,
    "fault": pl.String,  # fate, code and values of why; else null
    "run": pl.String,
    "sku_name": pl.String,  # this and the next three: as far as the row can be read, else null
    "qty": pl.String,
    "price": pl.String,
    "delivery_date": pl.String,
}

# Compared between what was sent and what the service returns; source: API §2.1.
HEADER_FIELDS = (
    "supplier",
    "supplier_name",
    "site",
    "site_name",
    "description",
    "batch",
    "delivery_date",
    "expiry_date",
)

# No thousands separators and no exponents: "1,500" may mean one and a half.
_QUANTITY_TEXT = r"^[+-]?\d{1,15}(\.\d{1,3}0*)?$"
_SURELY_WHOLE = 15  # digits
_PRICE_TEXT = r"^[+-]?\d{1,13}(\.\d{1,4}0*)?$"


@dataclass(frozen=True, slots=True)
class Legs:
    """What is compared. `received` is None where no receipts were given, which is not the same as nothing received;
    so is `ordered` where no purchase orders were.

    unsent_rows: rows of files that never became part of a document (invalid or blocked). unread: rows of receipts that
    could not be read. unopened: invoices whose goods may stand in lists that were not read.
    """

    announced_notices: pl.DataFrame
    announced_lines: pl.DataFrame
    returned_notices: pl.DataFrame
    returned_lines: pl.DataFrame
    received: pl.DataFrame | None = None
    unsent_rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=UNSENT_ROWS))
    ordered: pl.DataFrame | None = None
    unread: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=UNREAD_ROWS))
    unopened: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=UNOPENED))


def identifier(column: str) -> pl.Expr:
    """An id for comparing: outer blanks, case, kinds of dashes and unseen marks do not count, leading zeros do.

    Never null. A spreadsheet turns a hyphen into a dash, a phone sends letters in another Unicode form.
    """
    plain = pl.col(column).fill_null("").str.strip_chars().str.to_lowercase()
    return plain.map_batches(_as_read, return_dtype=pl.String, is_elementwise=True)


def _as_read(texts: pl.Series) -> pl.Series:
    odd = texts.filter(texts.str.len_bytes() != texts.str.len_chars()).unique()
    return texts.replace({text: folded(text) for text in odd}) if odd.len() else texts


def spelling(column: str) -> pl.Expr:
    """A name for comparing: case, blanks and punctuation do not count; never null."""
    return pl.col(column).fill_null("").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")


def spelled(text: str) -> str:
    """The same of a text that is not in a frame."""
    return "".join(letter for letter in text.lower() if unicodedata.category(letter)[0] in "LN")


def order_number(column: str) -> pl.Expr:
    """A purchase order's number for comparing: as a spelling, and "PO 4711" is 4711; never null."""
    return spelling(column).str.replace(r"^po(\d)", "$1")


def order_number_of(text: str) -> str:
    """The same of a text that is not in a frame."""
    return re.sub(r"^po(?=\d)", "", spelled(text))


def pattern_of(text: str) -> str:
    """A regular expression for identifiers like this text, in which `*` stands for any letters."""
    return f"^{'.*'.join(re.escape(part) for part in text.strip().lower().split('*'))}$"


def quantity(column: str = "qty") -> pl.Expr:
    """The exact quantity (up to three decimals), null where the text is no plain number."""
    return _exact(column, pattern=_QUANTITY_TEXT, scale=QUANTITY)


def with_units(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with `units`, their exact quantity; whole numbers, the usual case, are read as such."""
    whole = pl.when(pl.col("qty").str.len_bytes() <= _SURELY_WHOLE).then(pl.col("qty").cast(pl.Int64, strict=False))
    read = lines.with_columns(whole.cast(QUANTITY).alias("units"))
    if read.select((pl.col("units").is_null() & pl.col("qty").is_not_null()).any()).item():
        return read.with_columns(pl.when(pl.col("units").is_null()).then(quantity()).otherwise("units").alias("units"))
    return read


def price(column: str = "price") -> pl.Expr:
    """The exact price in INR (up to four decimals), null where the text is no plain number."""
    return _exact(column, pattern=_PRICE_TEXT, scale=PRICE)


def _exact(column: str, *, pattern: str, scale: pl.Decimal) -> pl.Expr:
    text = pl.col(column).str.strip_chars()
    return pl.when(text.str.contains(pattern)).then(text).cast(scale, strict=False)


def day(column: str) -> pl.Expr:
    """The date in a text that begins with YYYY-MM-DD, else null."""
    return pl.col(column).str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)


def header_keys(notices: pl.DataFrame) -> pl.DataFrame:
    """The notices with what they are matched by.

    Adds `invoice`, `parties` and `places` (sorted lists of the supplier's and the site's normalised id and name, as far
    as known; ids and names are told apart only by their content, since a reply may hold either in either field), the
    same lists as text (`party`, `place`), and `batch_key`.
    """
    keyed = notices.with_columns(identifier("invoice_number").alias("invoice"), identifier("batch").alias("batch_key"))
    for names, each, together in (
        (["supplier", "supplier_name"], "parties", "party"),
        (["site", "site_name"], "places", "place"),
    ):
        # Worked out once for each of them, of which there are few.
        known = notices.select(names).unique().with_columns(_known(*names).alias(each))
        known = known.with_columns(pl.col(each).list.join("|").alias(together))
        keyed = keyed.join(known, on=names, how="left", nulls_equal=True, maintain_order="left")
    return keyed


def _known(identity: str, name: str) -> pl.Expr:
    both = pl.concat_list(spelling(identity), spelling(name))
    return both.list.eval(pl.element().filter(pl.element() != "").unique().sort())
