"""What the service says in the words of its document, and the files that people drop, for paths of the model."""

import hashlib
import json
from pathlib import Path

import polars as pl
from protocol_model.states import Record

from logistics_batch.api.client import Reply, ServiceAccess, Trace
from logistics_batch.api.key_print import key_print
from logistics_batch.api.secret import Secret
from logistics_batch.ledger import Arrival, Ledger, Outcome, ServiceFacts, form_of, open_ledger
from logistics_batch.model.document import ROWS_SCHEMA, Document, MappedFile, Operation
from logistics_batch.model.sheet import SourceFile

ACCOUNT = "http://service.test"
RUN, AT = "20261121-211500-play", "2026-11-21T21:15:00+05:30"
REFERENCE, CONTROL, CONTROL_AWB = "KEY-1", "CONTROL-1", "SH-CONTROL"
KEYS = {"order": REFERENCE, "asn": f"Acme | Bhiwandi | {REFERENCE}"}
_TAKEN = "Reference number already exists"
ACCESS = ServiceAccess(base_url="https://service.test", api_key=Secret("the-played-key"))
VERIFIED = ServiceFacts(
    AT,
    unique=True,
    duplicate="refused",
    duplicate_form=form_of(_TAKEN, REFERENCE),
    found_by=(),
    key_print=key_print(ACCESS),
)
CALLS = {"order.create": ("POST", "/orders/shipment"), "asn.create": ("POST", "/wms/advance-shipping-notice")}
_AMOUNTS = {"A": 1, "B": 2, "X": 9}
_ARRIVED = Trace(connect_started=True, send_started=True, body_sent=True)
_SILENCE = Reply("", trace=_ARRIVED, failure="timeout")


def open_played(folder: Path, name: str = "ledger", *, url: str = "") -> Ledger:
    """The ledger of one path with everything that lies beside it, or the copy of it, which has nothing beside it.

    url: of one on PostgreSQL.
    """
    marks = (folder / "mark",) if name == "ledger" and not url else ()
    return open_ledger(url or f"sqlite:///{folder}/{name}.db", account=ACCOUNT, marks=marks)


def first_ledger(folder: Path, *, url: str = "") -> None:
    """A ledger in which one order and one ASN were accepted, so that the absence of others can be believed."""
    folder.mkdir()
    ledger = open_played(folder, url=url)
    ledger.runs.start(RUN, job="play", kind="push", business_date="2026-11-21", now=AT)
    with ledger.sending("play"):
        for kind in KEYS:
            ledger.planning.plan_file(RUN, dropped(kind, "A", name=f"{kind}.csv", reference=CONTROL))
        order, asn = ledger.documents.stored(ledger.documents.planned_of(RUN)["id"])
        ledger.attempts.step(outcomes=[], claim=[order, asn], run=RUN, now=AT)
        accepted = Outcome(order.id, "accepted", "accepted", awb_number=CONTROL_AWB, accepted_run=RUN)
        ledger.attempts.step(
            outcomes=[accepted, Outcome(asn.id, "accepted", "accepted", accepted_run=RUN)], claim=[], run=RUN, now=AT
        )
    ledger.close()


def dropped(kind: str, content: str, *, name: str, reference: str = REFERENCE) -> Arrival:
    """A file with one row, as mapping hands it on: by `name` another version of one and the same file."""
    operation = Operation(f"{kind}.create")
    key = KEYS[kind].replace(REFERENCE, reference)
    body = json.dumps(body_of(kind, content, reference=reference))
    return Arrival(
        source=SourceFile("dropped.csv", len(body), hashlib.sha256(f"{name} {body}".encode()).hexdigest(), "csv"),
        mapping="played",
        mapping_digest="d" * 64,
        operation=operation,
        received_at=AT,
        mapped=MappedFile(
            sheet="played",
            header_row=1,
            columns=("Reference",),
            rows=pl.DataFrame([(2, "ready", None, 0, key, None, "")], schema=ROWS_SCHEMA, orient="row"),
            documents=(Document(key, operation, (2,), body, reference, (2,)),),
            issues=(),
        ),
        calls=CALLS,
    )


def body_of(kind: str, content: str, *, reference: str = REFERENCE) -> dict[str, object]:
    """What is sent for one content, and what the service tells of it later."""
    if kind == "order":
        return {
            "reference_number": reference,
            "customer_mobile": "9876543210",
            "delivery_address": "1 Market Road",
            "item_details": [{"item_name": "SKU-1", "item_quantity": _AMOUNTS[content]}],
        }
    return {
        "supplier_name": "Acme",
        "site_name": "Bhiwandi",
        "invoice_number": reference,
        "sku_lines": [{"sku_name": "SKU-1", "qty": str(_AMOUNTS[content])}],
    }


def answer(kind: str, said: str, records: tuple[Record, ...]) -> Reply:
    """The reply of a create, by the model's name for it; records: all there are by then."""
    if said == "silence":
        return _SILENCE
    if said == "unreadable_200":
        return Reply("", trace=_ARRIVED, status=200, content_type="text/html", body=b"<html>Welcome</html>")
    alive = [place for place, record in enumerate(records) if record.live]
    newest = alive[-1] if alive else 0
    taken = {"awb_number": _awb_number(newest)} if kind == "order" else {"id": _asn_id(REFERENCE, newest)}
    status, content = {
        "pass": (200, {"status": "PASS", "message": taken}),
        "refuse_400": (400, {"status": "FAIL", "message": "Delivery address cannot be served"}),
        "taken_400": (400, {"status": "FAIL", "message": _TAKEN}),
        "error_500": (500, {"status": "FAIL", "message": "Unexpected error"}),
        "throttled_429": (429, {"status": "FAIL", "message": "Too many requests"}),
        "unauthorized_401": (401, {"status": "FAIL", "message": "Unauthorized"}),
    }[said]
    return _json(status, content)


def asns(asked: str, records: tuple[Record, ...], *, hidden_page: bool, blind: bool) -> Reply:
    """What a search by invoice number shows; on a hidden page nothing, but that there is more."""
    if hidden_page:
        return _json(200, {"count": len(records) + 1, "next": "2", "results": []})
    there = (Record(0, "A", shown=True),) if asked == CONTROL else records
    found = [
        {"id": _asn_id(asked, place), **body_of("asn", record.content, reference=asked)}
        for place, record in enumerate(there)
        if record.shown and not blind
    ]
    return _json(200, {"count": len(found), "next": None, "results": found})


def order(asked: str, records: tuple[Record, ...], *, readable: bool) -> Reply:
    """What fetching an order shows: by its AWB number in any case, by its reference the living or else the last one."""
    if asked == CONTROL_AWB or (readable and asked == CONTROL):
        return _order(CONTROL, CONTROL_AWB, Record(0, "A"))
    shown = [(record.live, place) for place, record in enumerate(records) if record.shown]
    found = [place for _, place in sorted(shown) if asked == _awb_number(place) or (readable and asked == REFERENCE)]
    if found:
        return _order(REFERENCE, _awb_number(found[-1]), records[found[-1]])
    return _json(400, {"status": "FAIL", "message": f"No order {asked}"})


def nobody_answers() -> Reply:
    """A read that came to nothing."""
    return _SILENCE


def _awb_number(place: int) -> str:
    """Each record has its own for ever, by its place among all that were ever made."""
    return f"SH-{REFERENCE}-{place + 1}"


def _asn_id(asked: str, place: int) -> str:
    return f"{asked} {place + 1}"


def _order(reference: str, awb_number: str, record: Record) -> Reply:
    status = "Pending" if record.live else "Cancelled"
    told = {**body_of("order", record.content, reference=reference), "awb_number": awb_number, "status": status}
    return _json(200, {"status": "PASS", "order_details": told})


def _json(status: int, content: object) -> Reply:
    body = json.dumps(content).encode()
    return Reply("", trace=_ARRIVED, status=status, content_type="application/json", body=body)
