"""A locked ledger, an end in the middle of work, and deliveries that fail: what was answered 200 is in the ledger."""

import json
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from support.receiver_process import HEADER, SECRET, RunningReceiver, event
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.failures import sqlite3

WAIT_SECONDS = 60.0


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
