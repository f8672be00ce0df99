"""What the bytes of an event say: which order, which event, or why it is kept without being understood."""

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logistics_batch.flows.orders.receive_event import NoEvent, event_line, read_event
from logistics_batch.ledger import NewEvent

ZONE = ZoneInfo("Asia/Kolkata")
NOW = datetime(2026, 11, 21, 21, 0, tzinfo=ZONE)
SAMPLE = {
    "WaybillNo": "SH-22T70ZX",
    "eventType": "updateOrderStatus",
    "OrderStatus": "Complete",
    "StatusDateTime": "2026-11-21T15:00:00+05:30",
}


def read(**changes: Any) -> NewEvent:
    fields = {name: value for name, value in (SAMPLE | changes).items() if value is not ...}
    event = read_event(json.dumps(fields).encode(), received_at=NOW, zone=ZONE)
    assert isinstance(event, NewEvent)
    return event


def test_an_event_of_the_document_is_read() -> None:
    event = read()
    assert (event.topic, event.waybill, event.order_status) == ("updateOrderStatus", "SH-22T70ZX", "Complete")
    assert (event.status_at, event.zone_assumed) == ("2026-11-21T15:00:00+05:30", False)
    assert (event.unreadable, event.received_at) == ("", "2026-11-21T21:00:00+05:30")


def test_identity_is_order_status_and_time_and_nothing_else() -> None:
    assert read().identity == read(CourierComment="x", remarks="y", podDocs=["a.JPG"]).identity
    others = [read(WaybillNo="SH-2"), read(OrderStatus="Picked"), read(StatusDateTime="2026-11-21T15:00:01+05:30")]
    assert len({read().identity, *(other.identity for other in others)}) == 4
    # no two fields run into one another
    assert read(WaybillNo="A", OrderStatus="BC").identity != read(WaybillNo="AB", OrderStatus="C").identity


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"eventType": ...}, "Complete"),
        ({"eventType": None, "CourierComment": None}, "Complete"),
        ({"OrderStatus": ..., "order_status": "Picked"}, "Picked"),
        ({"WaybillNo": 4711}, "Complete"),
    ],
)
def test_older_variants_are_read(changes: dict[str, Any], status: str) -> None:
    event = read(**changes)
    assert event.unreadable == ""
    assert event.order_status == status
    assert event.waybill in ("SH-22T70ZX", "4711")


@pytest.mark.parametrize(
    ("given_time", "status_at", "assumed"),
    [
        ("2026-11-21T15:00:00", "2026-11-21T15:00:00+05:30", True),
        ("2026-11-21 15:00:00.123456", "2026-11-21T15:00:00.123456+05:30", True),
        ("2026-11-21T09:30:00+00:00", "2026-11-21T15:00:00+05:30", False),
        ("2026-11-21T09:30:00Z", "2026-11-21T15:00:00+05:30", False),
    ],
)
def test_times_are_in_the_services_zone_and_a_missing_offset_is_noted(
    given_time: str, status_at: str, assumed: bool
) -> None:
    event = read(StatusDateTime=given_time)
    assert (event.status_at, event.zone_assumed) == (status_at, assumed)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"eventType": "trip_created"}, "another topic"),
        ({"WaybillNo": ...}, "without a usable WaybillNo"),
        ({"WaybillNo": "", "OrderStatus": None}, "without a usable WaybillNo and OrderStatus"),
        ({"WaybillNo": "x" * 81}, "without a usable WaybillNo"),
        ({"StatusDateTime": "yesterday"}, "its StatusDateTime is no time"),
        ({"StatusDateTime": "0001-01-01T00:00:00+14:00"}, "its StatusDateTime is no time"),
    ],
)
def test_what_is_not_understood_is_kept_and_named(changes: dict[str, Any], why: str) -> None:
    event = read(**changes)
    assert event.unreadable == why
    assert (event.waybill, event.status_at) == ("", "")
    assert json.loads(event.raw)
    assert event.identity == read(**changes).identity
    assert event.identity != read(**changes, remarks="another").identity


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"1", b"null", b"<html></html>", b"a=1&b=2"])
def test_what_is_no_object_is_no_event(raw: bytes) -> None:
    answer = read_event(raw, received_at=NOW, zone=ZONE)
    assert isinstance(answer, NoEvent)
    assert answer.reason.endswith(".")


def test_its_line_names_order_and_status_and_no_person() -> None:
    event = read(ToName="Asha", ToMobileNumber="+919876543210", OrderStatus="Out-For-Delivery")
    assert event_line(event, is_new=True) == "event SH-22T70ZX Out-For-Delivery stored"
    event = read(WaybillNo="Asha Rao 9876543210", OrderStatus="Out\x1b[2J\nFor Asha")
    assert (
        event_line(event, is_new=True) == f"event (no AWB number, event {event.identity[:8]}) (another status) stored"
    )
    assert "98765" not in event_line(read(eventType="9876543210"), is_new=True)
    assert (
        event_line(read(eventType="trip_created"), is_new=False)
        == "event kept raw (another topic) topic trip_created again"
    )


WORDS = st.none() | st.text(max_size=120) | st.integers() | st.floats(allow_nan=False) | st.lists(st.text(max_size=3))


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*SAMPLE, "order_status", "podDocs", "location", "model_config"]), WORDS))
def test_whatever_the_fields_hold_the_event_can_be_stored_and_told(fields: dict[str, Any]) -> None:
    event = read_event(json.dumps(fields).encode(), received_at=NOW, zone=ZONE)
    if isinstance(event, NoEvent):  # numbers too large, half characters
        return
    for text in (event.topic, event.waybill, event.order_status, event.status_at):
        assert len(text) <= 80
        assert "\0" not in text
        assert text.encode().decode() == text
    assert len(event_line(event, is_new=True).splitlines()) == 1
