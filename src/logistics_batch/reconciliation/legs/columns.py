"""The columns of the legs as they come in, all text.

Announced (our ledger) and returned (the service) are notices with lines; received and ordered are lists of lines.
"""

from dataclasses import dataclass, field

import polars as pl

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
