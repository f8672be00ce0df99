"""Whether events reach us: one of our own goes the whole way, from the public address into the ledger."""

import json
import secrets
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from logistics_batch.api.own_event import send_event
from logistics_batch.flows.orders.receive_event import read_event
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NewEvent
from logistics_batch.operate.doctor import Check, State

_TOPIC = "logisticsBatchDoctor"
_NAME = "events"
_SERVER = "the server in front of the receiver"
_REMEDIES = {
    401: f"Either {_SERVER} drops the header (it may pass on only those it is told to), or the receiver was started "
    "before the secret was changed: restart it.",
    404: f"Make receive.public_url and receive.path agree, and let {_SERVER} pass that path on.",
    405: f"Let {_SERVER} pass on POST.",
    413: f"Let {_SERVER} take bodies of 64 kB.",
    502: "Start `logistics-batch receive`, and look at the port to which requests are passed on.",
    503: "The receiver answers but cannot write the ledger: look at its log and at the disk.",
    504: "Look at the receiver's log: it does not answer in time.",
}
_OTHERWISE = "See whether `logistics-batch receive` runs, the name resolves, and the certificate is valid."


@dataclass(frozen=True, slots=True)
class Door:
    """By which address the service finds our receiver, and what opens it."""

    url: str
    header: str
    secret: str = field(repr=False)


def check_events(parts: Parts, door: Door) -> Check:
    """Send an event of a topic that means nothing, and look for it in the ledger."""
    body = json.dumps({"eventType": _TOPIC, "nonce": secrets.token_hex(16)}).encode()
    event = read_event(body, received_at=parts.clock.now(), zone=ZoneInfo(parts.policy.timezone))
    answer = send_event(
        door.url, body, headers={door.header: door.secret}, ca_file=parts.client.settings.ca_file or None
    )
    if answer != 200:
        text = f"answered {answer}" if isinstance(answer, int) else f"cannot be reached: {answer}"
        remedy = _REMEDIES.get(answer, _OTHERWISE) if isinstance(answer, int) else _OTHERWISE
        return Check(_NAME, State.PROBLEM, f"{door.url} {text}", remedy)
    if not isinstance(event, NewEvent) or not parts.ledger.events.has(event.identity):
        return Check(
            _NAME,
            State.PROBLEM,
            f"{door.url} took an event, but it did not come into this ledger.",
            "Another receiver listens there, or it writes into another ledger: compare ledger.url of both.",
        )
    return Check(_NAME, State.OK, f"an event to {door.url} came into the ledger")
