"""What the receiver keeps and what it refuses, over real HTTP."""

import http.client
import json
import os
import socket
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from support.receiver_process import HEADER, SECRET, RunningReceiver, event
from support.workspace import Workspace

LARGEST = 64 << 10
FULL = os.environ.get("CAMPAIGN") == "full"


def kept(receiver: RunningReceiver, waybill: str) -> list[dict[str, Any]]:
    return [row for row in receiver.stored() if row["waybill"] == waybill]


@pytest.fixture
def waybill() -> str:
    return f"SH-{uuid4().hex[:10].upper()}"


def test_an_event_is_stored_with_its_exact_bytes(receiver: RunningReceiver, waybill: str) -> None:
    body = event(waybill, "Out-For-Delivery", unknown={"a": [1, None]}) + b"\n"
    assert receiver.post(body)[0] == 200
    (stored,) = kept(receiver, waybill)
    assert stored["raw"] == body
    assert (stored["topic"], stored["order_status"], stored["seen"]) == ("updateOrderStatus", "Out-For-Delivery", 1)
    assert stored["status_at"] == "2026-11-21T10:15:00+05:30"
    assert stored["received_at"].endswith("+05:30")
    assert (stored["unreadable"], stored["zone_assumed"]) == ("", 0)
    assert stored["account"] == "https://service.invalid"


@pytest.mark.parametrize("times", [1000 if FULL else 50])
def test_a_replay_is_answered_and_counted_and_stored_once(receiver: RunningReceiver, waybill: str, times: int) -> None:
    with closing(receiver.connection()) as connection:
        for _ in range(times):
            connection.request("POST", "/events", event(waybill), {HEADER: SECRET})
            reply = connection.getresponse()
            reply.read()
            assert reply.status == 200
    assert [row["seen"] for row in kept(receiver, waybill)] == [times]


def test_another_status_or_time_is_another_event(receiver: RunningReceiver, waybill: str) -> None:
    bodies = [event(waybill), event(waybill, "Returned"), event(waybill, at="2026-11-21T10:16:00+05:30")]
    assert [receiver.post(body)[0] for body in bodies] == [200] * 3
    assert [row["raw"] for row in kept(receiver, waybill)] == bodies


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {HEADER: ""},
        {HEADER: "wrong" * 8},
        {HEADER: SECRET + "x"},
        {HEADER: SECRET[:-1]},
        {HEADER: SECRET.upper()},
        {HEADER: f"{SECRET}, {SECRET}"},
        {HEADER: "é" * 40},
        {"X_Logistics_Secret": SECRET},
        {"Authorization": f"Bearer {SECRET}"},
    ],
)
def test_without_the_right_secret_nothing_is_stored(
    receiver: RunningReceiver, waybill: str, headers: dict[str, str]
) -> None:
    assert receiver.post(event(waybill), headers) == (401, "")
    assert not kept(receiver, waybill)


def test_a_secret_that_comes_twice_is_no_secret(receiver: RunningReceiver, waybill: str) -> None:
    with closing(receiver.connection()) as connection:
        connection.putrequest("POST", "/events")
        body = event(waybill)
        for name, value in ((HEADER, SECRET), (HEADER.lower(), SECRET), ("Content-Length", str(len(body)))):
            connection.putheader(name, value)
        connection.endheaders(body)
        assert connection.getresponse().status == 401
    assert not kept(receiver, waybill)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/events", 405),
        ("GET", "/", 405),
        ("PUT", "/events", 405),
        ("OPTIONS", "/events", 405),
        ("POST", "/", 404),
        ("POST", "/events/", 404),
        ("POST", "/Events", 404),
        ("POST", "/docs", 404),
        ("POST", "/%2e%2e/events", 404),
    ],
)
def test_there_is_one_door_and_no_hint(receiver: RunningReceiver, method: str, path: str, status: int) -> None:
    with closing(receiver.connection()) as connection:
        connection.request(method, path, b"{}", {HEADER: SECRET})
        reply = connection.getresponse()
        assert (reply.status, reply.read()) == (status, b"")
        assert {name.lower() for name, _ in reply.getheaders()} <= {"date", "connection", "content-length"}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b'"text"', "no JSON object"),
        (b"\xff\xfe{\x00}\x00", "no JSON"),
        (b"[" * 60_000, "nested too deeply"),
        (b'{"a": NaN}', "no number"),
        (b'{"WaybillNo": "A", "WaybillNo": "B"}', "stands twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too long"),
        (b'{"WaybillNo": "\\ud800"}', "no JSON"),
    ],
)
def test_what_is_no_json_object_is_refused_with_the_reason(receiver: RunningReceiver, body: bytes, reason: str) -> None:
    before = len(receiver.stored())
    status, text = receiver.post(body)
    assert status == 400
    assert json.loads(text)["status"] == "FAIL"
    assert reason in json.loads(text)["message"]
    assert len(receiver.stored()) == before


def test_the_largest_body_is_taken_and_a_larger_one_is_not(receiver: RunningReceiver, waybill: str) -> None:
    room = LARGEST - len(event(waybill, remarks=""))
    assert receiver.post(event(waybill, remarks="x" * (room + 1))) == (413, "")
    assert not kept(receiver, waybill)
    assert receiver.post(event(waybill, remarks="x" * room))[0] == 200


def test_an_endless_body_is_cut_off(receiver: RunningReceiver, waybill: str) -> None:
    """Chunks without an end: the answer comes, or the connection breaks, long before they are all sent."""
    sent = 0
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=20) as sender:
        head = f"POST /events HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nTransfer-Encoding: chunked\r\n\r\n"
        sender.sendall(head.encode())
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            while sent < 64 << 20:
                sender.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    assert sent < 64 << 20
    assert receiver.post(event(waybill))[0] == 200


def test_a_body_that_is_chunked_and_a_little_too_long_gets_its_answer(receiver: RunningReceiver) -> None:
    with closing(receiver.connection()) as connection:
        connection.request("POST", "/events", (b"x" * 4096 for _ in range(20)), {HEADER: SECRET}, encode_chunked=True)
        assert connection.getresponse().status == 413


def test_a_body_that_waits_to_be_asked_for_is_asked_for(receiver: RunningReceiver, waybill: str) -> None:
    body = event(waybill)
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=20) as sender:
        head = f"POST /events HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nContent-Length: {len(body)}\r\n"
        sender.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert sender.recv(1000).startswith(b"HTTP/1.1 100")
        sender.sendall(body)
        assert sender.recv(1000).startswith(b"HTTP/1.1 200")


def test_many_requests_in_one_go_are_all_answered(receiver: RunningReceiver, waybill: str) -> None:
    bodies = [event(waybill, f"S{number}") for number in range(20)]
    head = f"POST /events HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nContent-Length: "
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=20) as sender:
        sender.sendall(b"".join(f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies))
        answers = b""
        while answers.count(b'{"status":"PASS"}') < len(bodies):
            more = sender.recv(65536)
            assert more, answers
            answers += more
    assert [row["order_status"] for row in kept(receiver, waybill)] == [f"S{number}" for number in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("count", [10_000 if FULL else 200])
def test_forged_replayed_and_oversized_events(own_receiver: RunningReceiver, count: int) -> None:
    expected = {"good": 200, "again": 200, "forged": 401, "large": 413, "broken": 400}
    for number in range(count):
        kind = list(expected)[number % 5]
        body = event("SH-AGAIN" if kind == "again" else f"SH-{number}", remarks="x" * LARGEST * (kind == "large"))
        status, _ = own_receiver.post(
            body[:-1] if kind == "broken" else body, {HEADER: "forged" * 8} if kind == "forged" else None
        )
        assert status == expected[kind]
    stored = own_receiver.stored()
    assert len(stored) == count // 5 + 1
    assert [row["seen"] for row in stored if row["waybill"] == "SH-AGAIN"] == [count // 5]


def test_neither_secret_nor_person_reaches_the_log(own_receiver: RunningReceiver) -> None:
    for _ in range(2):
        own_receiver.post(event("SH-ONE", "Complete", CourierComment="left with Asha Canary"))
    own_receiver.post(event("SH-TWO"), {HEADER: SECRET + "x"})
    own_receiver.post(b'{"ToName": "Asha Canary"')
    own_receiver.post(b'{"eventType": "trip_created", "ToName": "Asha Canary"}')
    own_receiver.post(event("SH-THREE"), path=f"/{SECRET}")
    assert own_receiver.stop() == 0
    log = "\n".join(own_receiver.log)
    for word in ("canary", "Canary", "98765"):
        assert word not in log
    assert "event SH-ONE Complete stored" in log
    assert "event SH-ONE Complete again" in log
    assert "topic trip_created stored" in log
    assert "refused 401" in log
    assert own_receiver.log[-1].endswith("stopped: 2 stored, 1 again, 3 refused, 0 not kept")


def test_a_part_of_the_path_may_be_secret(own_receiver: RunningReceiver) -> None:
    own_receiver.stop()
    own_receiver.workspace.configure('path = "/events/9f8e7d6c"', 'header = "X-Shop-Key"')
    own_receiver.start()
    assert own_receiver.post(event("SH-1"), {"X-Shop-Key": SECRET})[0] == 404
    assert own_receiver.post(event("SH-1"), {"X-Shop-Key": SECRET}, path="/events/9f8e7d6c")[0] == 200
    own_receiver.stop()
    assert "9f8e7d6c" not in "\n".join(own_receiver.log)


def test_http_1_0_and_a_closed_connection(receiver: RunningReceiver, waybill: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=20)
    connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"  # type: ignore[attr-defined]
    with closing(connection):
        connection.request("POST", "/events", event(waybill), {HEADER: SECRET, "Connection": "close"})
        assert connection.getresponse().status == 200
    assert len(kept(receiver, waybill)) == 1


def test_its_log_is_as_the_settings_say(tmp_path: Path) -> None:
    running = RunningReceiver(
        Workspace(tmp_path, url="https://service.invalid"), "[log]", 'format = "json"', 'file = "var/receive.log"'
    )
    try:
        assert running.post(event("SH-LOG"))[0] == 200
        assert running.stop() == 0
    finally:
        running.close()
    lines = [json.loads(line) for line in (tmp_path / "var/receive.log").read_text().splitlines()]
    assert {line["event"] for line in lines} == {"receiver"}
    assert "SH-LOG" in lines[0]["message"]
    assert lines[-1]["message"].startswith("stopped: 1 stored")
    assert not any("SH-LOG" in line for line in running.log)
