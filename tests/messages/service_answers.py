"""Replies of the service, and what a row is told after each."""

import json
from dataclasses import dataclass

from support.documents import stored_document

from logistics_batch.api.answers import judge
from logistics_batch.api.reply import Reply, Trace
from logistics_batch.flows.outcomes import outcome_of

_WHOLE = Trace(connect_started=True, send_started=True, body_sent=True, reply_started=True)


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """The last two columns of a row's answer after one reply."""

    rule: str
    reason: str
    fix: str


def _after(reply: Reply, **known: object) -> ServiceAnswer:
    document = stored_document(key="A-1", reference="A-1", **known)
    outcome = outcome_of(document, reply, judge(reply, operation="order.create"), run="")
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
