"""Replies of the service, and what a row is told after each."""

import json
from dataclasses import dataclass, fields
from typing import Any

from logistics_batch.api.answers import judge
from logistics_batch.api.reply import Reply, Trace
from logistics_batch.flows.outcomes import outcome_of
from logistics_batch.ledger import StoredDocument

_WHOLE = Trace(connect_started=True, send_started=True, body_sent=True, reply_started=True)
_EMPTY: dict[str, Any] = {"str": "", "int": 0, "bool": False}


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """The last two columns of a row's answer after one reply."""

    rule: str
    reason: str
    fix: str


def _document(**known: object) -> StoredDocument:
    blank = {each.name: _EMPTY.get(str(each.type), ()) for each in fields(StoredDocument)}
    return StoredDocument(**blank | {"operation": "order.create", "key": "A-1", "reference": "A-1"} | known)  # type: ignore[arg-type]


def _after(reply: Reply, **known: object) -> ServiceAnswer:
    outcome = outcome_of(_document(**known), reply, judge(reply, operation="order.create"), run="")
    return ServiceAnswer(outcome.rule, outcome.reason, outcome.fix)


def _reply(status: int, body: str = "") -> Reply:
    return Reply("order.create", trace=_WHOLE, status=status, content_type="application/json", body=body.encode())


SAID_BY_SERVICE = "Shipment reference number exists already"
_TAKEN = json.dumps({"status": "FAIL", "message": SAID_BY_SERVICE})
ANSWERS = (
    _after(_reply(400, _TAKEN)),
    _after(_reply(400, _TAKEN), tainted=True),
    _after(Reply("order.create", trace=_WHOLE, failure="timeout")),
    _after(Reply("order.create", trace=_WHOLE, failure="reset")),
    _after(_reply(500)),
    _after(_reply(200, "<!DOCTYPE html><html><body>Sign in</body></html>")),
    _after(Reply("order.create", trace=Trace(connect_started=True), failure="connect")),
    _after(_reply(401)),
    _after(_reply(429)),
    _after(_reply(404)),
)
