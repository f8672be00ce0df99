"""An ASN service of a few lines, over real HTTP, that can cut, refuse and misbehave as told."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from support.http_answers import Asked, HttpAnswers, Told, said


def record(number: int, invoice: str, *lines: tuple[str, ...], day: str = "2026-11-02", **more: Any) -> dict[str, Any]:
    """An ASN as the service shows it; lines are (sku, qty) or (sku, qty, price)."""
    return {
        "id": number,
        "created_date": f"{day}T10:00:00.000001+05:30",
        "modified_date": f"{day}T10:00:00.000001+05:30",
        "invoice_number": invoice,
        "supplier_name": "Acme",
        "site_name": "Bhiwandi",
        "status": "New",
        "delivery_date": day,
        "sku_lines": [
            {"sku_name": line[0], "qty": line[1], "price_per_qty": line[2] if len(line) > 2 else None} for line in lines
        ],
        **more,
    }


@dataclass
class AsnService:
    """Records as they stand; GET filters them as API §4.1 says, POST adds one, PUT changes one.

    cap: the most that one answer holds. says_count: whether the envelope names the true count.
    answers: what the next calls get instead, as (status, content type, body); fails: what some questions always get.
    lost: invoice numbers whose next POST breaks off before it arrives.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    cap: int | None = None
    says_count: bool = True
    true_count: bool = True
    answers: list[tuple[int, str, bytes]] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    envelope: Callable[[list[dict[str, Any]], int], Any] | None = None
    fails: Callable[[dict[str, str]], tuple[int, str, bytes] | None] = lambda query: None
    lost: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        server = HttpAnswers(self._answer)
        self.url, self.stop = server.url, server.stop

    def _answer(self, asked: Asked) -> Told | None:
        if asked.method == "GET":
            query = dict(parse_qsl(urlsplit(asked.path).query))
            self.asked.append(query)
            told = self.answers.pop(0) if self.answers else self.fails(query)
            return Told(told[0], told[2], told[1]) if told else said(200, self.found(query))
        body = json.loads(asked.body)
        if asked.method == "PUT":
            next(one for one in self.records if one["invoice_number"] == body["invoice_number"]).update(body)
        elif body["invoice_number"] in self.lost:
            self.lost.remove(body["invoice_number"])
            return None
        else:
            self.add(body)
        return said(200, {"status": "PASS", "message": "done"})

    def add(self, body: dict[str, Any], *, day: str = "2026-11-02") -> None:
        """Take an ASN as it was sent."""
        moment = f"{day}T10:00:00+05:30"
        stored = {"id": 1000 + len(self.records), "created_date": moment, "modified_date": moment, "status": "New"}
        self.records.append(stored | body)

    def found(self, query: dict[str, str]) -> Any:
        matching = [one for one in self.records if _meets(one, query)]
        shown = matching if self.cap is None else matching[: self.cap]
        if self.envelope:
            return self.envelope(shown, len(matching))
        count = len(matching) if self.true_count else len(shown)
        named = {"count": count} if self.says_count else {}
        return {**named, "next": 0, "previous": None, "result": shown}


def _meets(one: dict[str, Any], query: dict[str, str]) -> bool:
    for name in ("created", "modified", "delivery"):
        start, end = query.get(f"{name}_date_start"), query.get(f"{name}_date_end")
        if start and end and not start <= str(one.get(f"{name}_date") or "")[:10] <= end:
            return False
    for name in ("status", "invoice_number", "supplier_name"):
        if query.get(name) and str(one.get(name)) != query[name]:
            return False
    return True
