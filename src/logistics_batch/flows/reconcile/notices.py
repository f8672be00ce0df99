"""The announced leg from the ledger and the returned leg from the service, as frames for the auditor."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from logistics_batch.api.answers import asn_header
from logistics_batch.api.envelopes import as_text, find_lines, first_of
from logistics_batch.flows.asns.fetch import AsnRange
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.model.document import Operation
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation import (
    ANNOUNCED_LINES,
    ANNOUNCED_NOTICES,
    RETURNED_LINES,
    RETURNED_NOTICES,
    order_number_of,
)

_ENDED = ("superseded", "abandoned")
_STATE_WORDS = {"planned": "pending", "sending": "being sent", "in_doubt": "in doubt"}
_HEADER = (
    "invoice_number",
    "supplier",
    "supplier_name",
    "site",
    "site_name",
    "batch",
    "description",
    "delivery_date",
    "expiry_date",
    "total_price",
)
# What a line's SKU, quantity and price are seen to be called; the contract's name comes first.
SKU_NAMES = ("sku_name", "name", "item_name", "sku")
QUANTITY_NAMES = ("qty", "quantity")
PRICE_NAMES = ("price_per_qty", "price")
_RETAIL_NAMES = ("maximum_retail_price", "mrp")
# ASNs have no field for tax (API §2.1): it stands in what a mapping keeps, or in what a service shows beyond them.
_TAX_NAMES = ("tax", "tax_amount", "total_tax", "gst")
_ORDER_NAMES = ("po_number", "po", "purchase_order", "order_number")  # as mappings keep it; ASNs have no field for it

Lines = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Scope:
    """What the report judges: a range of dates in the service's zone, and the ASNs of some invoice numbers besides.

    followed: these invoice numbers as they are written, by their folded form.
    """

    wanted: AsnRange
    zone: ZoneInfo
    followed: Mapping[str, str] = field(default_factory=dict)

    def follows(self, invoice_number: str) -> bool:
        """Whether an ASN is judged whatever its dates."""
        return bool(self.followed) and folded(invoice_number) in self.followed

    def holds(self, day: date | None) -> bool:
        """Whether a date lies in the range."""
        return day is not None and self.wanted.date_from <= day <= self.wanted.date_to

    def is_surely_in(self, record: Mapping[str, Any]) -> bool:
        """Whether a record of the service shows a date of the range, and none at its ends, where zones may differ."""
        day = self.day_of(getattr(asn_header(dict(record)), f"{self.wanted.by}_date"))
        return day is not None and self.wanted.date_from < day < self.wanted.date_to

    def day_of(self, text: str) -> date | None:
        """The date of a date or moment in the service's zone; a moment without offset is taken to be in it already."""
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return None
        return (moment.astimezone(self.zone) if moment.tzinfo else moment).date()


def announced_documents(
    ledger: Ledger, scope: Scope, *, references: Iterable[str], orders: Set[str] = frozenset()
) -> list[StoredDocument]:
    """The ASNs that files announced: those of the range, those with the given invoice numbers, those of the orders."""
    kinds = [Operation.ASN_CREATE.value]
    # The ledger does not know delivery dates apart from the payloads, so for them every ASN is looked at.
    until = None if scope.wanted.by == "delivery" else scope.wanted.date_to.isoformat()
    updates = ledger.documents.select(operations=[Operation.ASN_UPDATE], states=["accepted"])
    last = {update.key: update for update in updates if update.body}
    candidates = (_as_updated(one, last) for one in ledger.documents.select(operations=kinds, planned_to=until))
    found = {one.id: one for one in candidates if in_scope(one, scope) or orders_of(one, orders)}
    named = ledger.documents.select(operations=kinds, references=list(references))
    found |= {one.id: _as_updated(one, last) for one in named}
    return [found[key] for key in sorted(found) if found[key].state not in _ENDED]


def _as_updated(document: StoredDocument, last: Mapping[str, StoredDocument]) -> StoredDocument:
    """An ASN with what its last accepted update says (API §4.3), from the rows that said it."""
    update = last.get(document.key)
    if update is None or document.state != "accepted":
        return document
    return replace(
        document, body=update.body, line_rows=update.line_rows, file_name=update.file_name, sheet=update.sheet
    )


def in_scope(document: StoredDocument, scope: Scope) -> bool:
    """Whether a document belongs to the range by its own dates, or is followed.

    One without a delivery date stands in the range in which it was announced, or it would stand in none.
    """
    if scope.follows(document.reference):
        return True
    announced = scope.day_of(document.accepted_at or document.planned_at)
    if scope.wanted.by == "delivery":
        due = scope.day_of(str(document.payload.get("delivery_date") or ""))
        return scope.holds(due or announced)
    return scope.holds(announced)


def orders_of(document: StoredDocument, orders: Set[str]) -> list[str]:
    """The purchase orders that an ASN names: what its mapping keeps, or those in its description; mostly one.

    orders: their numbers, normalised.
    """
    if not orders:
        return []
    kept = first_of(document.keep, _ORDER_NAMES)
    if kept:
        return [kept] if order_number_of(kept) in orders else []
    described = as_text(document.payload.get("description"))
    words = described.split()
    pairs = (f"{one} {other}" for one, other in pairwise(words))
    named = {number for text in (described, *words, *pairs) if (number := order_number_of(text)) in orders}
    return sorted(named)


def announced_frames(
    documents: Sequence[StoredDocument], scope: Scope, *, orders: Set[str] = frozenset()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Notices and lines of the announced leg."""
    notices: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    changed = {one.key for one in documents if one.state != "accepted"}
    earlier = [one for one in documents if one.state == "accepted" and one.key in changed]
    accepted = {one.key: one.payload.get("sku_lines") or [] for one in earlier}
    places = {one.key: index for index, one in enumerate(documents) if one.state == "accepted"}
    for index, document in enumerate(documents):
        body = document.payload
        before = None if document.state == "accepted" else accepted.get(document.key)
        named = orders_of(document, orders)
        word = _STATE_WORDS.get(document.state, document.state)
        notices.append(
            {name: as_text(body.get(name)) for name in _HEADER}
            | {"notice": index, "in_window": in_scope(document, scope), "accepted": document.state == "accepted"}
            | {"state": document.state, "why": f"{word}: {document.reason}" if document.reason else word}
            | {"fault": f"{document.state} {document.why.code} {document.why.values}".strip()}
            | {"file_name": document.file_name, "sheet": document.sheet}
            | {"run": document.accepted_run or document.run, "tax": first_of(document.keep, _TAX_NAMES)}
            | {"po_number": named[0] if len(named) == 1 else "", "po_several": ", ".join(named[1:] and named)}
        )
        for nth, line in _announced_lines(index, body.get("sku_lines") or [], before):
            row = document.line_rows[nth] if nth < len(document.line_rows) else None
            lines.append(line | {"row": row, "version_of": places[document.key] if "version" in line else None})
    return frame_of(ANNOUNCED_NOTICES, notices), frame_of(ANNOUNCED_LINES, lines)


def _announced_lines(notice: int, lines: Lines, accepted: Lines | None) -> list[tuple[int, dict[str, Any]]]:
    """The lines with their place in the payload; of a later version of an accepted ASN only what it changes."""
    changed = None if accepted is None else _changes(lines, accepted)
    if changed is None or accepted is None:
        return [(nth, _line(notice, line)) for nth, line in enumerate(lines)]
    kept = {_sku(line) for line in lines}
    gone = [as_text(line.get("sku_name")) for line in accepted if _sku(line) not in kept]
    more = f"; it no longer has {', '.join(gone)}" if gone else ""
    words = "The service accepted an earlier version of this ASN, and only what this one changes is at stake. "
    # Where no line differs, all of them stand there.
    told = {place: change for place, change in enumerate(changed) if change["version"]} or dict(enumerate(changed))
    return [
        (
            place,
            _line(notice, lines[place])
            | change
            | {"version": f"{words}{change['version'] or 'It changes nothing in this line'}{more}."},
        )
        for place, change in told.items()
    ]


def _changes(version: Lines, accepted: Lines) -> list[dict[str, str]] | None:
    """By line of a later version, by how much it differs from that of the accepted one.

    `qty`: exact decimal text, negative where the version has less. `beside_inr`: what a changed price is worth for the
    pieces that the accepted version has already. `version`: both in words, "" where it is the same. None where the
    versions cannot be compared: a SKU stands on several lines, or a number cannot be read.
    """
    known = {_sku(line): line for line in accepted}
    for lines in (accepted, version):
        skus = {_sku(line) for line in lines}
        if len(skus) != len(lines) or "" in skus:
            return None
    try:
        return [_change(line, known.get(_sku(line))) for line in version]
    except InvalidOperation:
        return None


def _sku(line: Mapping[str, Any]) -> str:
    return as_text(line.get("sku_name")).strip().lower()


def _change(line: Mapping[str, Any], accepted: Mapping[str, Any] | None) -> dict[str, str]:
    names = ("qty", "price_per_qty", "maximum_retail_price")
    qty, price, retail = (Decimal(as_text(line.get(name)) or "0") for name in names)
    if accepted is None:
        return {"qty": str(qty), "beside_inr": "0", "version": f"It adds this SKU with {qty}"}
    old, old_price, old_retail = (Decimal(as_text(accepted.get(name)) or "0") for name in names)
    parts = [
        f"{qty} instead of {old}" if qty != old else "",
        f"INR {price} instead of {old_price} a unit" if price != old_price else "",
        f"a retail price of INR {retail} instead of {old_retail}" if retail != old_retail else "",
    ]
    told = ", ".join(part for part in parts if part)
    beside = (abs(price - old_price) + abs(retail - old_retail)) * old
    return {"qty": str(qty - old), "beside_inr": str(beside), "version": f"It says {told}" if told else ""}


def returned_frames(
    records: Sequence[Mapping[str, Any]], scope: Scope, *, furthest: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Notices and lines of the returned leg; dates are those of the service's zone.

    furthest: the furthest status that earlier reports saw, by the service's id of the ASN.
    """
    notices: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for index, record in enumerate(records):
        header = asn_header(dict(record))
        day = scope.day_of(getattr(header, f"{scope.wanted.by}_date"))
        # The service's word is taken for one that shows no date.
        in_window = day is None or scope.holds(day) or scope.follows(header.invoice_number)
        notices.append(
            {name: getattr(header, name) for name in _HEADER}
            | {name: _date_text(getattr(header, name), scope) for name in ("delivery_date", "expiry_date")}
            | {"notice": index, "in_window": in_window, "record_id": header.id}
            | {"status": header.status, "created_at": header.created_date, "tax": first_of(record, _TAX_NAMES)}
            | {"modified_at": _date_text(header.modified_date, scope), "furthest_status": furthest.get(header.id)}
        )
        # By API §2.1 the service's `qty_received` is what the warehouse has requested, not what it received.
        lines.extend(
            _line(index, line) | {"qty_requested": as_text(line.get("qty_received"))}
            for line in find_lines(dict(record))
        )
    return frame_of(RETURNED_NOTICES, notices), frame_of(RETURNED_LINES, lines)


def _date_text(text: str, scope: Scope) -> str:
    day = scope.day_of(text)
    return day.isoformat() if day else text


def _line(notice: int, line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "notice": notice,
        "sku_name": first_of(line, SKU_NAMES),
        "qty": first_of(line, QUANTITY_NAMES),
        "price": first_of(line, PRICE_NAMES),
        "mrp": first_of(line, _RETAIL_NAMES),
        "discount": first_of(line, ("discount",)),
        "discount_percentage": first_of(line, ("discount_percentage",)),
    }


def frame_of(schema: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The rows in the columns of a schema; what a row does not have is null."""
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in schema}, schema=dict(schema))
