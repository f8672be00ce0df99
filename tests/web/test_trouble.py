"""Slow senders, bursts, a locked ledger, an end in the middle of work: what was answered 200 is in the ledger."""

import http.client
import itertools
import json
import os
import resource
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from campaigns.scale import report, size
from support.receiver_process import HEADER, SECRET, RunningReceiver, event
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.sqlite import sqlite3

FULL = os.environ.get("CAMPAIGN") == "full"
WAIT_SECONDS = 60.0


def send_all(receiver: RunningReceiver, waybills: Iterator[str], answered: list[str], senders: int = 16) -> None:
    """Several senders at once, each on one connection; ends when there is nothing more, or nobody answers."""
    lock = threading.Lock()

    def work() -> None:
        with closing(receiver.connection()) as connection, suppress(OSError, http.client.HTTPException):
            while True:
                with lock:
                    waybill = next(waybills, None)
                if waybill is None:
                    return
                connection.request("POST", "/events", event(waybill), {HEADER: SECRET})
                reply = connection.getresponse()
                reply.read()
                if reply.status == 200:
                    answered.append(waybill)

    threads = [threading.Thread(target=work) for _ in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("count", [10_000 if FULL else 500])
def test_a_burst_is_stored_whole(receiver: RunningReceiver, count: int) -> None:
    answered: list[str] = []
    send_all(receiver, (f"SH-BURST-{number}" for number in range(count)), answered, senders=32)
    assert len(answered) == count
    assert {row["waybill"] for row in receiver.stored()} >= set(answered)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [20 if FULL else 2])
def test_after_kill_9_every_answered_event_is_in_the_ledger(own_receiver: RunningReceiver, rounds: int) -> None:
    answered: list[str] = []
    numbers = itertools.count()
    for _ in range(rounds):
        enough = len(answered) + 150
        sending = threading.Thread(
            target=send_all, args=(own_receiver, (f"SH-{number}" for number in numbers), answered)
        )
        sending.start()
        while len(answered) < enough:
            time.sleep(0.001)
        own_receiver.kill()
        sending.join()
        own_receiver.start()
        stored = [row["waybill"] for row in own_receiver.stored()]
        assert set(answered) <= set(stored)
        assert len(stored) == len(set(stored))
    assert own_receiver.post(event(answered[0]))[0] == 200
    assert [row["seen"] for row in own_receiver.stored() if row["waybill"] == answered[0]] == [2]


@pytest.mark.slow
def test_two_hundred_slow_senders_hold_up_nobody_and_are_cut_off(receiver: RunningReceiver) -> None:
    beginnings = [
        b"",
        b"POST /ev",
        b"POST /events HTTP/1.1\r\nHost: x\r\nX-A: ",
        f"POST /events HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nContent-Length: 500\r\n\r\n{{".encode(),
    ]
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", receiver.port), timeout=WAIT_SECONDS))
            for _ in range(200)
        ]
        for number, sender in enumerate(slow):
            sender.sendall(beginnings[number % len(beginnings)])
        took: list[float] = []
        good = [f"SH-GOOD-{number}" for number in range(size(sample=1, full=200))]
        for waybill in good:
            began = time.monotonic()
            assert receiver.post(event(waybill))[0] == 200
            took.append(time.monotonic() - began)
        for sender in slow:  # it is the receiver that ends them
            with suppress(ConnectionResetError):
                assert sender.recv(1000) == b""
    assert {row["waybill"] for row in receiver.stored()} >= set(good)
    milliseconds = [round(1000 * each, 1) for each in sorted(took)]
    report(
        "events beside 200 slow senders",
        events=len(good),
        median_ms=milliseconds[len(good) // 2],
        longest_ms=milliseconds[-1],
    )


@pytest.mark.slow
def test_more_connections_than_it_holds_make_room_for_a_new_one(receiver: RunningReceiver) -> None:
    with ExitStack() as stack:
        opened = [
            stack.enter_context(socket.create_connection(("127.0.0.1", receiver.port), timeout=WAIT_SECONDS))
            for _ in range(600)
        ]
        assert receiver.post(event("SH-ROOM"))[0] == 200
        opened[0].setblocking(False)  # it waited longest, and was closed at once
        with suppress(ConnectionResetError):
            assert opened[0].recv(1) == b""


@pytest.mark.slow
def test_while_the_ledger_is_locked_the_sender_is_asked_to_come_again(receiver: RunningReceiver) -> None:
    path = receiver.workspace.root / "var/ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        status, text = receiver.post(event("SH-LOCKED"))
        other.execute("ROLLBACK")
    assert (status, "send it again" in text) == (503, True)
    assert "SH-LOCKED" not in [row["waybill"] for row in receiver.stored()]
    assert receiver.post(event("SH-LOCKED"))[0] == 200
    assert any("not kept and have to come again" in line for line in receiver.log)


@pytest.mark.slow
def test_while_the_disk_is_full_nothing_is_acknowledged_that_is_not_kept(own_receiver: RunningReceiver) -> None:
    """The process may let no file grow beyond a little more than the ledger, or its write-ahead log, is now."""
    size = max(each.stat().st_size for each in (own_receiver.workspace.root / "var").glob("ledger.db*"))
    numbers = range(30)
    _limit_files(own_receiver, size + 20_000)
    first = [own_receiver.post(event(f"SH-{number}", remarks="x" * 3000))[0] for number in numbers]
    assert {200, 503} == set(first)
    assert {row["waybill"] for row in own_receiver.stored()} == {
        f"SH-{number}" for number, status in zip(numbers, first, strict=True) if status == 200
    }
    _limit_files(own_receiver, resource.RLIM_INFINITY)
    again = [own_receiver.post(event(f"SH-{number}", remarks="x" * 3000))[0] for number in numbers]
    assert set(again) == {200}
    assert [row["waybill"] for row in own_receiver.stored()].count("SH-0") == 1
    assert len(own_receiver.stored()) == len(numbers)
    assert own_receiver.stop() == 0
    told = [line for line in own_receiver.log if "not kept and have to come again" in line]
    assert len(told) < 10, "a disk that is full is not filled with lines about it"


def _limit_files(receiver: RunningReceiver, most_bytes: int) -> None:
    resource.prlimit(receiver.process.pid, resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


def test_it_stores_while_a_sending_run_holds_the_ledger(receiver: RunningReceiver) -> None:
    ledger = open_ledger(f"sqlite:///{receiver.workspace.root}/var/ledger.db", account="x")
    with closing(ledger), ledger.sending("orders-nightly"):
        assert receiver.post(event("SH-LOCKED"))[0] == 200


@pytest.mark.slow
def test_asked_to_stop_it_finishes_what_is_under_way_and_waits_for_no_straggler(own_receiver: RunningReceiver) -> None:
    body = event("SH-1")
    head = f"POST /events HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nContent-Length: {len(body)}\r\n\r\n"
    with ExitStack() as stack:
        sender, straggler, _idle = (
            stack.enter_context(socket.create_connection(("127.0.0.1", own_receiver.port), timeout=WAIT_SECONDS))
            for _ in range(3)
        )
        for each in (sender, straggler):
            each.sendall(head.encode() + body[:10])
        assert own_receiver.post(event("SH-2"))[0] == 200
        own_receiver.process.terminate()
        time.sleep(0.5)
        sender.sendall(body[10:])
        assert sender.recv(1000).startswith(b"HTTP/1.1 200")
        assert own_receiver.ended() == 0  # within ten seconds, or this raises
    assert {row["waybill"] for row in own_receiver.stored()} == {"SH-1", "SH-2"}
    assert own_receiver.log[-1].endswith("2 stored, 0 again, 0 refused, 0 not kept")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path, webhook_first_retry_seconds=0.1, webhook_attempts=12)
    yield running
    running.kill()


@pytest.mark.slow
def test_the_service_delivers_what_was_subscribed_to(service: RunningSandbox, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace", url=service.url)
    receiver = RunningReceiver(workspace)
    try:
        headers = workspace.secret("headers", f"{HEADER}: {SECRET}\n")
        done = workspace.run("webhook", "subscribe", "--id", "7", "--url", receiver.url, "--headers-file", str(headers))
        assert done.code == 0, done.err
        order = {"reference_number": "R-1", "customer_mobile": "+919876543210", "delivery_address": "A"}
        awb = create(service, order)
        service.control("POST", f"/orders/{awb}/status", {"status": "Picked"})
        wait_for(receiver, awb, ["Picked"])
        receiver.stop()
        service.control("POST", f"/orders/{awb}/status", {"status": "Complete"})
        time.sleep(0.3)  # at least one delivery fails
        receiver.start()
        wait_for(receiver, awb, ["Picked", "Complete"])
    finally:
        receiver.close()


def create(service: RunningSandbox, order: dict[str, str]) -> str:
    request = urllib.request.Request(
        f"{service.url}/orders/shipment",
        json.dumps(order).encode(),
        {"API_KEY": service.api_key, "Content-Type": "application/json"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
        return str(json.load(reply)["message"]["awb_number"])


def wait_for(receiver: RunningReceiver, awb: str, statuses: list[str]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    found: list[str] = []
    while time.monotonic() < deadline:
        found = [row["order_status"] for row in receiver.stored() if row["waybill"] == awb]
        if found == statuses:
            return
        time.sleep(0.05)
    raise AssertionError(f"in the ledger: {found}")
