"""The story of one event: what its bytes say, which event it is, and that it is kept before it is answered.

An event is a hint about an order (API §6), and so nothing here changes an order. It is kept with its exact bytes, also
where it cannot be read: services send dialects.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from pydantic import ValidationError

from logistics_batch.api.envelopes import decode_json, plain
from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, NewEvent
from logistics_batch.model.order_state import KNOWN_STATUSES, status_word
from logistics_batch.model.payloads import StatusEvent

TOPIC = "updateOrderStatus"
_PATIENCE_AT_START_SECONDS = 30.0
_RECORD_BYTES = 512  # what the ledger needs for an event besides its bytes
_LOOK_EVERY, _LOOK_AGAIN = timedelta(hours=1), timedelta(minutes=1)  # the latter when it is full
_LONGEST_WORD = 80
_TOPIC = re.compile(r"[A-Za-z]\w{0,39}", re.ASCII)
_AWB = re.compile(r"SH-[0-9A-Z]{1,30}(?:-[0-9A-Z]{1,30})*")  # API §1


@dataclass(frozen=True, slots=True)
class NoEvent:
    """A body that is no event at all, and why, in words that show nothing of it."""

    reason: str


def read_event(raw: bytes, *, received_at: datetime, zone: tzinfo) -> NewEvent | NoEvent:
    """Judge the bytes of one event; `zone` is the service's, which a time without an offset is taken to be in."""
    decoded = decode_json(raw)
    if decoded.problem:
        return NoEvent(f"The body is no JSON: {decoded.problem}.")
    if not isinstance(decoded.value, dict):
        return NoEvent("The body is no JSON object.")
    unreadable = NewEvent(
        identity=_digest(["raw", hashlib.sha256(raw).hexdigest()]),
        received_at=received_at.isoformat(),
        raw=raw,
        topic="",
        unreadable="its fields have other forms",
    )
    try:
        event = StatusEvent.model_validate(decoded.value)
    except ValidationError:
        return unreadable
    topic, status = _word(event.eventType), event.OrderStatus or event.order_status
    if topic not in ("", TOPIC):
        return replace(unreadable, topic=topic, unreadable="another topic")
    needed = {"WaybillNo": event.WaybillNo, "OrderStatus": status, "StatusDateTime": event.StatusDateTime}
    if missing := [name for name, value in needed.items() if not _word(value)]:
        return replace(unreadable, topic=topic, unreadable=f"without a usable {' and '.join(missing)}")
    try:
        given = datetime.fromisoformat(str(event.StatusDateTime).strip())
        inside = given.astimezone(zone) if given.tzinfo else given.replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return replace(unreadable, topic=topic, unreadable="its StatusDateTime is no time")
    return NewEvent(
        identity=_digest([*needed.values()]),
        received_at=received_at.isoformat(),
        raw=raw,
        topic=topic,
        waybill=_word(event.WaybillNo),
        order_status=_word(status),
        status_at=inside.isoformat(),
        zone_assumed=given.tzinfo is None,
    )


def _digest(parts: list[str | None]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _word(value: str | None) -> str:
    """A word that a database and a log can hold; "" where it is none, or far too long to be one."""
    text = plain(value or "", limit=_LONGEST_WORD + 1)
    return text if len(text) <= _LONGEST_WORD else ""


class EventStore:
    """Keeps events up to a quota, and their bytes for a time; used by one thread.

    keep_seconds: 0 for ever.
    """

    def __init__(self, ledger: Ledger, *, keep_seconds: float, quota_bytes: int, now: Callable[[], datetime]) -> None:
        """Count what is there, and empty what is older."""
        self._ledger, self._now = ledger, now
        self._keep_seconds, self._quota_bytes = keep_seconds, quota_bytes
        self._looked_at = now()
        self._bytes = 0
        self._look(_PATIENCE_AT_START_SECONDS)

    def keep(self, events: Sequence[NewEvent], *, patience_seconds: float) -> list[bool]:
        """Keep events durably, all or none; True for each that is new, False for one that came before.

        Raises LedgerRefused: nothing was kept, also where there is no room, and the sender has to send again.
        """
        wanted = sum(len(each.raw) + _RECORD_BYTES for each in events)
        is_full = self._bytes + wanted > self._quota_bytes
        if self._now() - self._looked_at >= (_LOOK_AGAIN if is_full else _LOOK_EVERY):
            with suppress(LedgerRefused):  # somebody else writes: then another time
                self._look(patience_seconds)
        if self._bytes + wanted > self._quota_bytes:
            raise LedgerRefused(
                f"{self._quota_bytes >> 20:,} MB of events are kept already (receive.quota_mb).",
                remedy="Find out who sends so many, and change the secret; or raise receive.quota_mb.",
            )
        news = self._ledger.events.store(events, patience_seconds=patience_seconds)
        self._bytes += sum(len(each.raw) + _RECORD_BYTES for each, is_new in zip(events, news, strict=True) if is_new)
        return news

    def _look(self, patience_seconds: float) -> None:
        self._looked_at = self._now()
        if self._keep_seconds:
            before = self._looked_at - timedelta(seconds=self._keep_seconds)
            self._ledger.purging.purge_events(before=before.isoformat(), patience_seconds=patience_seconds)
        events, kept_bytes = self._ledger.events.kept()
        self._bytes = kept_bytes + events * _RECORD_BYTES


def order_named_by(raw: bytes) -> str:
    """The customer's order number in the bytes of a kept event (API §6), "" if there is none."""
    value = decode_json(raw).value
    try:
        named = StatusEvent.model_validate(value).order_no if isinstance(value, dict) else None
    except ValidationError:
        return ""
    return (named or "").strip()


def event_line(event: NewEvent, *, is_new: bool) -> str:
    """One line for a log: which order, which status, whether it came before; nothing about a person.

    A sender may put anything in the place of the AWB number and the status, as a name or a telephone number.
    """
    waybill = event.waybill if _AWB.fullmatch(event.waybill) else f"(no AWB number, event {event.identity[:8]})"
    status = event.order_status if status_word(event.order_status) in KNOWN_STATUSES else "(another status)"
    what = f"{waybill} {status}" if not event.unreadable else f"kept raw ({event.unreadable})"
    topic = f" topic {event.topic}" if event.unreadable and _TOPIC.fullmatch(event.topic) else ""
    return f"event {what}{topic} {'stored' if is_new else 'again'}"
