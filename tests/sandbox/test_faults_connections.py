"""Faults of connections and of time: what goes over the wire, what the journal says, and whether the effect happens."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest
from support.raw_client import RawConnection, Wire
from support.sandbox_process import RunningSandbox
from support.until import until


def order(reference: str) -> dict[str, str]:
    return {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road"}


def events(sandbox: RunningSandbox, request: int) -> list[str]:
    """What the journal says of a request after it was received; faults with their side of the effect."""
    lines = [line for line in sandbox.journal() if line.get("request") == request]
    return [
        f"{line['kind']} {'before' if line['before_effect'] else 'after'}"
        if line["event"] == "fault"
        else line["event"]
        for line in lines
    ]


@pytest.fixture
def connection(sandbox: RunningSandbox) -> Iterator[RawConnection]:
    with closing(RawConnection(sandbox)) as opened:
        yield opened


def spoiled_create(sandbox: RunningSandbox, connection: RawConnection, reference: str, **rule: Any) -> tuple[Wire, int]:
    """What comes for a create under this rule until the connection ends, and the request's number."""
    sandbox.set_faults([rule])
    connection.send("POST", "/orders/shipment", order(reference))
    return connection.read_to_end(), last_create(sandbox)


def create_of(sandbox: RunningSandbox, reference: str) -> list[int]:
    """The numbers of the requests that want to create this order."""
    return [line["seq"] for line in sandbox.received("order.create") if line["body"]["reference_number"] == reference]


def last_create(sandbox: RunningSandbox) -> int:
    return int(sandbox.received("order.create")[-1]["seq"])


@pytest.mark.parametrize(("kind", "done"), [("drop_before", 0), ("drop_after", 1)])
def test_a_connection_breaks_with_or_without_the_effect(
    sandbox: RunningSandbox, connection: RawConnection, reference: str, kind: str, done: int
) -> None:
    wire, request = spoiled_create(sandbox, connection, reference, kind=kind)
    assert wire == Wire(b"", "reset")
    side = "after" if done else "before"
    assert events(sandbox, request) == ["committed"] * done + [f"{kind} {side}", "dropped"]
    assert len(sandbox.orders(reference=reference)) == done


@pytest.mark.parametrize(("phase", "done", "status"), [("after", 1, "200"), ("before", 0, "500")])
def test_an_answer_ends_in_its_middle(
    sandbox: RunningSandbox, connection: RawConnection, reference: str, phase: str, done: int, status: str
) -> None:
    wire, request = spoiled_create(sandbox, connection, reference, kind="drop_midway", phase=phase, share=0.25)
    assert wire.end == "closed"
    assert wire.head.startswith(f"HTTP/1.1 {status} ".encode())
    assert len(wire.body) == int(int(wire.header("content-length") or 0) * 0.25) > 0
    assert events(sandbox, request) == ["committed"] * done + [f"drop_midway {phase}", "dropped"]
    assert len(sandbox.orders(reference=reference)) == done


def test_an_answer_ends_in_its_head(sandbox: RunningSandbox, connection: RawConnection, reference: str) -> None:
    wire, request = spoiled_create(sandbox, connection, reference, kind="drop_midway", part="head")
    assert wire.end == "closed"
    assert wire.received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\n\r\n" not in wire.received
    assert events(sandbox, request) == ["committed", "drop_midway after", "dropped"]
    assert len(sandbox.orders(reference=reference)) == 1


@pytest.mark.parametrize(("kind", "end"), [("close_after", "closed"), ("reset_after", "reset")])
def test_a_connection_ends_behind_a_whole_answer(
    sandbox: RunningSandbox, connection: RawConnection, reference: str, kind: str, end: str
) -> None:
    wire, request = spoiled_create(sandbox, connection, reference, kind=kind)
    assert wire.end == end
    assert wire.header("connection") is None
    assert str(len(wire.body)) == wire.header("content-length")
    assert b'"PASS"' in wire.body
    assert events(sandbox, request) == ["committed", f"{kind} after", "answered"]


def test_a_stale_connection_takes_no_second_request(
    sandbox: RunningSandbox, connection: RawConnection, reference: str
) -> None:
    sandbox.set_faults([{"kind": "stale_keepalive", "requests": 1}])
    connection.send("POST", "/orders/shipment", order(f"{reference}-1"))
    assert b'"PASS"' in connection.read_answer().body
    request = last_create(sandbox)
    connection.send("POST", "/orders/shipment", order(f"{reference}-2"))
    assert connection.read_to_end() == Wire(b"", "reset")
    assert last_create(sandbox) == request
    assert events(sandbox, request) == ["committed", "stale_keepalive after", "answered", "dropped"]
    assert not sandbox.orders(reference=f"{reference}-2")
    with closing(RawConnection(sandbox)) as fresh:
        fresh.send("POST", "/orders/shipment", order(f"{reference}-3"))
        assert b'"PASS"' in fresh.read_answer().body


@pytest.mark.parametrize(("phase", "done"), [("before", 0), ("after", 1)])
def test_a_delay_lets_nothing_through(
    sandbox: RunningSandbox, service: httpx.Client, reference: str, phase: str, done: int
) -> None:
    sandbox.set_faults([{"kind": "delay", "seconds": 1, "phase": phase, "endpoint": "order.create"}])
    with pytest.raises(httpx.ReadTimeout):
        service.post("/orders/shipment", json=order(reference), timeout=0.4)
    until(lambda: create_of(sandbox, reference))  # on a busy machine the client may give up before it is received
    (request,) = create_of(sandbox, reference)
    until(lambda: events(sandbox, request)[-1:] == ["answered"])
    in_order = ["committed"] * done + [f"delay {phase}"] + ["committed"] * (1 - done) + ["answered"]
    assert events(sandbox, request) == in_order


@pytest.mark.parametrize(("phase", "done"), [("before", 0), ("after", 1)])
def test_an_answer_trickles_and_holds_nobody_up(
    sandbox: RunningSandbox, service: httpx.Client, connection: RawConnection, reference: str, phase: str, done: int
) -> None:
    rule = {"kind": "slow_drip", "bytes_per_second": 1, "phase": phase, "requests": 1, "endpoint": "order.create"}
    sandbox.set_faults([rule])
    connection.send("POST", "/orders/shipment", order(reference))
    received = connection.read_some()
    while b"\r\n\r\n" not in received or received.endswith(b"\r\n\r\n"):
        received += connection.read_some()
    others = [service.post("/orders/shipment", json=order(f"{reference}-{number}")) for number in range(20)]
    assert [reply.status_code for reply in others] == [200] * 20
    received += connection.read_some()
    wire = Wire(received, "open")
    assert 1 < len(wire.body) < int(wire.header("content-length") or 0)
    request = int(sandbox.received("order.create")[-21]["seq"])
    assert events(sandbox, request) == ["committed"] * done + [f"slow_drip {phase}", "answered"]
    assert len(sandbox.orders(reference=reference)) == done


@pytest.mark.parametrize("part", ["head", "body"])
def test_a_trickling_answer_is_whole_in_the_end(
    sandbox: RunningSandbox, connection: RawConnection, reference: str, part: str
) -> None:
    sandbox.set_faults([{"kind": "slow_drip", "bytes_per_second": 500, "part": part}])
    connection.send("POST", "/orders/shipment", order(reference))
    first = connection.read_some()
    assert (b"\r\n\r\n" in first) is (part == "body")
    wire = connection.read_answer(first)
    assert str(len(wire.body)) == wire.header("content-length")
    assert wire.body.startswith(b'{"status":"PASS"')
    assert wire.header("connection") == ("close" if part == "head" else None)


@pytest.mark.parametrize(
    ("answer", "begin", "end"), [("drop", b"", "dropped"), ("error_500", b"HTTP/1.1 500", "answered")]
)
def test_an_effect_comes_later_than_the_answer(
    sandbox: RunningSandbox, connection: RawConnection, reference: str, answer: str, begin: bytes, end: str
) -> None:
    rule = {"kind": "late_effect", "seconds": 0.6, "answer": answer, "reference": reference}
    sandbox.set_faults([rule])
    connection.send("POST", "/orders/shipment", order(reference))
    if answer == "drop":
        assert connection.read_to_end().end == "reset"
    else:
        assert connection.read_answer().received.startswith(begin)
    request = last_create(sandbox)
    sandbox.set_faults([])  # another plan does not call it off
    until(lambda: events(sandbox, request)[-1] == "committed")
    assert events(sandbox, request) == ["late_effect before", end, "committed"]
    assert len(sandbox.orders(reference=reference)) == 1


def test_faults_join(sandbox: RunningSandbox, connection: RawConnection, reference: str) -> None:
    """One wrong answer in one wrong way of giving it; the second wrong answer has no turn."""
    rules = [
        {"kind": "delay"},
        {"kind": "close_after"},
        {"kind": "error_500_after"},
        {"kind": "html_200", "phase": "after"},
    ]
    sandbox.set_faults(rules)
    connection.send("POST", "/orders/shipment", order(reference))
    wire = connection.read_to_end()
    assert (wire.head[:12], wire.end) == (b"HTTP/1.1 500", "closed")
    journal = ["delay before", "committed", "close_after after", "error_500_after after", "answered"]
    assert events(sandbox, last_create(sandbox)) == journal
    sandbox.set_faults([{"kind": "drop_before"}, {"kind": "close_after"}, {"kind": "delay", "phase": "after"}])
    with closing(RawConnection(sandbox)) as second:
        second.send("POST", "/orders/shipment", order(f"{reference}-2"))
        assert second.read_to_end() == Wire(b"", "reset")
    assert events(sandbox, last_create(sandbox)) == ["drop_before before", "dropped"]
