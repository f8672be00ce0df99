"""A service of a few lines inside the test: it keeps what it created, and loses, spoils and delays answers as told."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from logistics_batch.api.client import Client, Reply, ServiceAccess, Trace
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret

ACCOUNT = "https://service.test"
ACCESS = ServiceAccess(base_url=ACCOUNT, api_key=Secret("the-key-of-histories"))
CREATES = ("order.create", "asn.create")
TAKEN = "Reference number already exists"
LOST_BEFORE, LOST_AFTER = ("lose_request", "refuse_connection"), ("lose_answer",)
LATE_SHARE = 0.6
"""Of the pause before the program asks (`settle_after`): after so long a late request has its effect."""

_ARRIVED = Trace(connect_started=True, send_started=True, body_sent=True)
_PAGE = ("text/html", b"<html><body>Welcome</body></html>")
_NOTHING_HAPPENS: dict[str, tuple[int, object]] = {
    "error_500": (500, {"status": "FAIL", "message": "Unexpected error"}),
    "error_503": (503, {"status": "FAIL", "message": "Unavailable"}),
    "slow_down_429": (429, {"status": "FAIL", "message": "Too many requests"}),
    "unauthorized_401": (401, {"status": "FAIL", "message": "Unauthorized"}),
    "refuse_400": (400, {"status": "FAIL", "message": "Delivery address cannot be served"}),
    "refuse_404": (404, {"status": "FAIL", "message": "No such hub"}),
    "refuse_422": (422, {"status": "FAIL", "message": "Unprocessable"}),
}
_SPOILED: dict[str, tuple[int, str, bytes]] = {
    "spoil_500": (500, "application/json", b'{"status": "FAIL", "message": "Unexpected error"}'),
    "spoil_502": (502, *_PAGE),
    "spoil_page_200": (200, *_PAGE),
    "spoil_page_400": (400, *_PAGE),
    "spoil_fail_200": (200, "application/json", b'{"status": "FAIL", "message": "Unexpected error"}'),
    "spoil_empty_200": (200, "application/json", b""),
    "spoil_cut_200": (200, "application/json", b'{"status": "PASS", "mess'),
}
FAULTS = ("lose_request", "refuse_connection", "lose_answer", "late", *_NOTHING_HAPPENS, *_SPOILED)
"""What can become of a call: nothing arrives; it is answered without an effect; it has one, and its answer is lost."""


@dataclass
class Record:
    """An order or ASN at the service. ours: created by a call of the program under test."""

    kind: str
    reference: str
    body: dict[str, Any]
    number: str
    ours: bool
    live: bool = True


@dataclass(frozen=True)
class Habits:
    """How this service answers. duplicate: a second create of a live reference is refused, answered with the first
    answer again, or with 500. readable: orders are found by their reference. absent: status of "no such order".
    asn_ids: records of ASNs have one. none_found: status of a search for ASNs that finds nothing.
    """

    duplicate: str = "refuse"
    readable: bool = True
    absent: int = 400
    asn_ids: bool = True
    none_found: int = 200


@dataclass
class Service:
    """What lies at the service, and every create that came.

    plan: what becomes of the next calls, by endpoint; ailing: what becomes of every create of a reference, until it is
    cured. late: effects that are still to come, with their time; late_seconds: how late they are. tried: the creates
    that came since somebody looked. meanwhile: what others do while a create is under way. down: what becomes of any
    call, by share.
    """

    habits: Habits
    now: Callable[[], float]
    late_seconds: float
    records: list[Record] = field(default_factory=list)
    plan: dict[str, list[str]] = field(default_factory=dict)
    ailing: dict[str, str] = field(default_factory=dict)
    late: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)
    tried: list[tuple[str, str]] = field(default_factory=list)
    meanwhile: list[Callable[[], None]] = field(default_factory=list)
    down: Callable[[str], str] = lambda endpoint: ""
    _under: dict[tuple[str, str], list[Record]] = field(default_factory=dict)  # by kind and reference
    _creates: threading.Lock = field(default_factory=threading.Lock)  # else two calls get one number

    def create(self, kind: str, body: Mapping[str, Any], *, ours: bool = True) -> Record | None:
        """A new record; None where the reference of an order is taken."""
        reference = str(body["reference_number" if kind == "order" else "invoice_number"])
        with self._creates:
            if kind == "order" and self.alive("order", reference):
                return None
            record = Record(kind, reference, dict(body), f"SH-{len(self.records) + 1:05d}", ours)
            self.records.append(record)
            self._under.setdefault((kind, reference), []).append(record)
        return record

    def alive(self, kind: str, reference: str) -> list[Record]:
        """The records under a reference that are not cancelled."""
        return [each for each in self._under.get((kind, reference), ()) if each.live]

    def created(self) -> Counter[tuple[str, str]]:
        """How often the program's calls created each reference."""
        return Counter((each.kind, each.reference) for each in self.records if each.ours)

    def time_passed(self) -> None:
        """Let the effects come that are due by now."""
        due = [each for each in self.late if each[0] <= self.now()]
        self.late = [each for each in self.late if each not in due]
        for _, kind, body in due:
            self.create(kind, body)

    def answer(self, endpoint: str, *, order_id: str, body: str, query: Mapping[str, str]) -> Reply:
        """One call, as it comes from the program."""
        self.time_passed()
        if endpoint in CREATES and self.meanwhile:
            self.meanwhile.pop(0)()
        fault = self._fault(endpoint, body)
        if endpoint in CREATES and fault != "refuse_connection":
            self.tried.append((endpoint, body))
        if fault == "refuse_connection":
            return Reply(endpoint, trace=Trace(connect_started=True), failure="connect")
        if fault == "lose_request":
            return Reply(endpoint, trace=_ARRIVED, failure="timeout")
        if fault in _NOTHING_HAPPENS:
            status, content = _NOTHING_HAPPENS[fault]
            return _json(endpoint, status, content)
        if fault == "late" and endpoint in CREATES:
            self.late.append((self.now() + self.late_seconds, endpoint.partition(".")[0], json.loads(body)))
            return Reply(endpoint, trace=_ARRIVED, failure="timeout")
        said = self._act(endpoint, order_id=order_id, body=body, query=query)
        if fault in _SPOILED:
            status, kind, content = _SPOILED[fault]
            return Reply(endpoint, trace=_ARRIVED, status=status, content_type=kind, body=content)
        return Reply(endpoint, trace=_ARRIVED, failure="timeout") if fault in ("lose_answer", "late") else said

    def _fault(self, endpoint: str, body: str) -> str:
        planned = self.plan.get(endpoint)
        if planned:
            return planned.pop(0)
        if befallen := self.down(endpoint):
            return befallen
        ill = [fault for reference, fault in self.ailing.items() if f'"{reference}"' in body]
        return ill[0] if ill else ""

    def _act(self, endpoint: str, *, order_id: str, body: str, query: Mapping[str, str]) -> Reply:
        match endpoint:
            case "order.create":
                return self._order(json.loads(body))
            case "asn.create":
                record = self.create("asn", json.loads(body))
                assert record is not None
                named = {"id": record.number} if self.habits.asn_ids else "created"
                return _json(endpoint, 200, {"status": "PASS", "message": named})
            case "order.fetch":
                return self._shown(order_id)
            case "asn.fetch":
                return self._searched(query)
        raise AssertionError(f"{endpoint}: no history calls it")

    def _order(self, body: dict[str, Any]) -> Reply:
        record = self.create("order", body)
        if record is None:
            if self.habits.duplicate == "refuse":
                return _json("order.create", 400, {"status": "FAIL", "message": TAKEN})
            if self.habits.duplicate == "error":
                return _json("order.create", 500, {"status": "FAIL", "message": "Unexpected error"})
            record = self.alive("order", str(body["reference_number"]))[0]
        items = {str(place): item for place, item in enumerate(record.body["item_details"], 1)}
        return _json(
            "order.create",
            200,
            {"status": "PASS", "message": {"awb_number": record.number, "item_details": items}},
        )

    def _shown(self, asked: str) -> Reply:
        """The order of that number, or, under its reference, the living or else the last one."""
        orders = [each for each in self.records if each.kind == "order"]
        found = [each for each in orders if each.number == asked]
        if not found and self.habits.readable:
            found = sorted((each for each in orders if each.reference == asked), key=lambda each: each.live)
        if not found:
            words = {"status": "FAIL", "message": f"No order {asked}"}
            return _json("order.fetch", self.habits.absent, words)
        record = found[-1]
        items = {str(place): item for place, item in enumerate(record.body["item_details"], 1)}
        status = "Pending" if record.live else "Cancelled"
        told = record.body | {"awb_number": record.number, "status": status, "item_details": items}
        return _json("order.fetch", 200, {"status": "PASS", "message": {"order_details": told}})

    def _searched(self, query: Mapping[str, str]) -> Reply:
        wanted, words = query.get("invoice_number", ""), query.get("description", "")
        found = [
            each.body | ({"id": each.number} if self.habits.asn_ids else {}) | {"status": "New"}
            for each in self.records
            if each.kind == "asn" and each.reference == wanted and words in str(each.body.get("description", ""))
        ]
        if not found and self.habits.none_found != 200:
            return _json("asn.fetch", self.habits.none_found, {"status": "FAIL", "message": "No ASN found"})
        return _json("asn.fetch", 200, {"count": len(found), "next": None, "results": found})


def _json(endpoint: str, status: int, content: object) -> Reply:
    encoded = json.dumps(content).encode()
    return Reply(endpoint, trace=_ARRIVED, status=status, content_type="application/json", body=encoded)


class Caller(Client):
    """The program's client; what it would send over the network goes to the service at once."""

    def __init__(self, ask: Callable[..., Reply], pacer: Pacer) -> None:
        super().__init__(ACCESS, pacer=pacer)
        self._ask = ask

    def call(
        self,
        endpoint: str,
        *,
        order_id: str | None = None,
        body: str | bytes | None = None,
        query: Mapping[str, str] | None = None,
        turn_taken: bool = False,
        finishes: bool = False,
        may_leave: Callable[[], bool] = lambda: True,
    ) -> Reply:
        del turn_taken, finishes, may_leave
        sent = body.decode() if isinstance(body, bytes) else body or ""
        reply = self._ask(endpoint, order_id=order_id or "", body=sent, query=query or {})
        self._heed(reply, self.pacer._clock())
        return reply
