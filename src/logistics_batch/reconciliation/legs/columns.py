"""The columns of the legs as they come in, all text.

Announced (our ledger) and returned (the service) are notices with lines; received and ordered are lists of lines.
"""

from dataclasses import dataclass, field
from typing import Any

import polars as pl


def _texts(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), pl.String)


# Compared between what was sent and what the service returns; source: API §2.1.
HEADER_FIELDS = tuple(_texts("supplier supplier_name site site_name description batch delivery_date expiry_date"))

_HEADER = {
    "notice": pl.UInt32,  # index of the notice within its leg, from 0
    **_texts("invoice_number supplier supplier_name site site_name batch description"),
    **_texts("delivery_date expiry_date"),  # YYYY-MM-DD
    **_texts("total_price tax"),  # of the whole notice, INR
    "in_window": pl.Boolean,  # False: read only because something in the window may point to it
}
_LINE = {
    "notice": pl.UInt32,
    **_texts("sku_name qty price mrp discount"),  # INR
    "discount_percentage": pl.String,  # of the retail price (API §2.1)
}
_PLACE = {**_texts("file_name sheet"), "row": pl.UInt32}

ANNOUNCED_NOTICES = _HEADER | {
    "accepted": pl.Boolean,
    **_texts("state why"),  # of the document, for those that are not accepted
    "fault": pl.String,  # state, code and values of why; else null, and `why` tells
    **_texts("file_name sheet run"),
    "po_number": pl.String,  # of the purchase order that it belongs to, as far as one is known
    "po_several": pl.String,  # normalised numbers, joined by ", ", where it names several
}
ANNOUNCED_LINES = _LINE | {
    "row": pl.UInt32,
    # These are of a later version of an accepted ASN, whose `qty` is what it changes; else null: what a changed price
    # is worth of what was accepted already, and the change in words.
    **_texts("beside_inr version"),
    "version_of": pl.UInt32,  # the notice of the version that was accepted
}
RETURNED_NOTICES = _HEADER | {
    **_texts("record_id status created_at"),
    "modified_at": pl.String,  # begins with YYYY-MM-DD
    "furthest_status": pl.String,  # that an earlier report saw, null without one
}
RETURNED_LINES = _LINE | {"qty_requested": pl.String}  # the service's `qty_received`, by which it means requested
RECEIVED_LINES = {
    **_texts("invoice_number supplier_name site_name sku_name qty condition received_date"),
    **_PLACE,
    "repeats": pl.String,  # rows of later lists that only repeat this one and are not counted
    "alike": pl.String,  # rows of several lists, this one among them, that are alike and all count
    "reissued": pl.String,  # rows of several lists, this one among them, that may be one list and its correction
    "again": pl.Boolean,  # another list may have the row once more, or correct it
}
ORDERED_LINES = {
    **_texts("po_number invoice_number supplier_name site_name sku_name qty price delivery_date"),
    **_PLACE,
    "repeats": pl.String,  # rows of earlier lists in whose place this one stands
    "absent_from": pl.String,  # a later list that names the order without this SKU
}
KNOWN_LINES = RECEIVED_LINES | {"last_listed": pl.Date, "written": pl.Float64}
"""Receipts as an earlier report read them. last_listed: the business date of the last report whose lists had them;
written: when their list was (seconds since 1970, null if nobody tells).
"""
UNREAD_ROWS = {
    **_texts("invoice_number supplier_name site_name sku_name"),  # as far as they can be read; null where they cannot
    "file_name": pl.String,
    "spot": pl.String,  # file, sheet, row and cell, and what is wrong there, in words
}
UNOPENED = {
    "invoice": pl.String,  # normalised
    "lists": pl.String,  # of receipts, that lie there and were not read, in words
}
UNSENT_ROWS = {
    **_PLACE,
    **_texts("key invoice_number supplier site fate why"),
    "fault": pl.String,  # fate, code and values of why; else null
    "run": pl.String,
    **_texts("sku_name qty price delivery_date"),  # as far as the row can be read, else null
}


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
