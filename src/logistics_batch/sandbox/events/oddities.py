"""Events that are not as the document shows them, or come at the wrong time: as other releases and networks make them.

Which events are odd is drawn from the switch ``event_seed`` and the number of the delivery, so that the same world is
odd in the same places. Every planted oddity stands in the delivery log.
"""

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from logistics_batch.sandbox.switches import EVENT_DISORDERS, EVENT_FORMS, Switches, read_shares

Payload = dict[str, Any]


def _with_times(payload: Payload, change: Callable[[datetime], datetime]) -> Payload:
    times = {name: change(datetime.fromisoformat(payload[name])).isoformat() for name in ("StatusDateTime", "EDD")}
    return payload | times


_NOT_IN_OLDER = ("eventType", "order_status", "StatusCode")
# Form: what an event of this form says instead.
FORMS: Mapping[str, Callable[[Payload], Payload]] = {
    "older": lambda payload: {name: value for name, value in payload.items() if name not in _NOT_IN_OLDER},
    "comment_null": lambda payload: payload | {"CourierComment": None},
    "plain_awb": lambda payload: payload | {"WaybillNo": payload["WaybillNo"].removeprefix("SH-")},
    "mobile_with_country": lambda payload: (
        payload | {"ToMobileNumber": "+91" + re.sub(r"\D", "", str(payload["ToMobileNumber"]))[-10:]}
    ),
    "naive_times": lambda payload: _with_times(payload, lambda moment: moment.replace(tzinfo=None)),
    "utc_times": lambda payload: _with_times(payload, lambda moment: moment.astimezone(UTC)),
}
TRIP = "trip_created"


@dataclass(frozen=True)
class Planned:
    """One delivery as it shall go out. own_lane: it does not wait for earlier events of its order."""

    payload: Payload
    planted: str = ""
    wait_seconds: float = 0.0
    own_lane: bool = False


def planned(payload: Payload, *, number: int, switches: Switches) -> tuple[Planned, ...]:
    """What goes out for one event: first its own delivery, then what is sent besides. At most one of each kind."""
    late, seed = switches.event_late_seconds, switches.event_seed
    form = _drawn(read_shares(switches.event_form, EVENT_FORMS), f"{seed}:form:{number}")
    disorder = _drawn(read_shares(switches.event_disorder, EVENT_DISORDERS), f"{seed}:disorder:{number}")
    planted = "+".join(filter(None, (form, disorder)))
    sent = FORMS[form](payload) if form in FORMS else payload
    wait_seconds = late if disorder in ("out_of_order", "late") else 0.0
    own = Planned(sent, planted, wait_seconds, own_lane=disorder == "out_of_order")
    extras = {
        "duplicate": Planned(sent, planted, 0.0, own_lane=True),
        "replayed": Planned(sent, planted, 5 * late, own_lane=True),
        TRIP: Planned(_trip(payload), TRIP, 0.0, own_lane=True),
    }
    return (own, *(extras[kind] for kind in (form, disorder) if kind in extras))


def _drawn(shares: Mapping[str, float], seed: str) -> str:
    """One of the names, each with its share, or ""."""
    place = random.Random(seed).random()  # noqa: S311
    for name, share in shares.items():
        place -= share
        if place < 0:
            return name
    return ""


def _trip(payload: Payload) -> Payload:
    """Another topic of the same subscription: a van's trip that the order is on (its time has no offset)."""
    moment = datetime.fromisoformat(payload["StatusDateTime"]).replace(tzinfo=None)
    number = sum(json.dumps(payload).encode()) % 100_000
    return {
        "eventType": TRIP,
        "trip_id": f"TRIP-{number:05d}",
        "created_at": moment.isoformat(),
        "orders": [{"WaybillNo": payload["WaybillNo"], "order_no": payload["order_no"]}],
    }
