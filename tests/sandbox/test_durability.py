"""Kill -9 and restart: nothing that was answered is lost, and the journal agrees with the database."""

import json
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from support.sandbox_process import RunningSandbox, start_sandbox


def create(client: httpx.Client, reference: str) -> httpx.Response:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    return client.post("/orders/shipment", json=body | {"item_details": [{"item_name": "Wires"}]})


def client_of(sandbox: RunningSandbox) -> httpx.Client:
    return httpx.Client(base_url=sandbox.url, headers={"API_KEY": sandbox.api_key}, trust_env=False)


def in_database(sandbox: RunningSandbox) -> set[tuple[str, str]]:
    connection = sqlite3.connect(sandbox.data / "sandbox.db")
    try:
        return set(connection.execute("SELECT reference_number, awb_number FROM orders"))
    finally:
        connection.close()


def in_journal(sandbox: RunningSandbox) -> list[tuple[str, str]]:
    return [(line["reference_number"], line["awb_number"]) for line in sandbox.committed("order.created")]


class Load:
    """Clients that create, cancel and create again until the service is gone; what they were told."""

    def __init__(self, sandbox: RunningSandbox, *, prefix: str, clients: int = 6) -> None:
        self._sandbox, self._prefix = sandbox, prefix
        self.created: set[tuple[str, str]] = set()
        self.cancelled: set[str] = set()
        self._threads = [threading.Thread(target=self._send, args=(number,)) for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Wait for the clients to see that the service is gone."""
        for thread in self._threads:
            thread.join(30)

    def _send(self, client: int) -> None:
        # a lost connection, or half an answer: nothing was said that could be counted on
        with client_of(self._sandbox) as service, suppress(httpx.HTTPError, json.JSONDecodeError):
            for number in range(10_000):
                reference = f"{self._prefix}-{client}-{number}"
                awb = self._create(service, reference)
                if number % 5 == 0:
                    assert service.put(f"/api/orders/cancel/{awb}").status_code == 200
                    self.cancelled.add(awb)
                    self._create(service, reference)

    def _create(self, service: httpx.Client, reference: str) -> str:
        awb: str = create(service, reference).json()["message"]["awb_number"]
        self.created.add((reference, awb))
        return awb


def effects_in_database(sandbox: RunningSandbox) -> list[tuple[int, str]]:
    connection = sqlite3.connect(sandbox.data / "sandbox.db")
    try:
        return connection.execute("SELECT effect_id, effect FROM effects ORDER BY effect_id").fetchall()
    finally:
        connection.close()


def agree(sandbox: RunningSandbox, *, answered: set[tuple[str, str]], cancelled: set[str]) -> None:
    """Journal and database say the same, in both directions, and nothing that was answered is missing."""
    created = in_journal(sandbox)
    assert len(created) == len(set(created))
    assert set(created) == in_database(sandbox)
    assert answered <= set(created)
    assert [(line["effect_id"], line["effect"]) for line in sandbox.committed()] == effects_in_database(sandbox)
    assert cancelled <= {order["awb_number"] for order in sandbox.orders(status="cancelled")}
    lines = sandbox.journal()
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    received = {line["seq"] for line in lines if line["event"] == "received"}
    assert all(line["request"] in received and line["request"] < line["seq"] for line in sandbox.committed())


def test_a_kill_loses_nothing_and_the_reference_stays_taken(own_sandbox: RunningSandbox) -> None:
    load = Load(own_sandbox, prefix="K")
    while len(load.created) < 20:
        threading.Event().wait(0.01)
    own_sandbox.kill()
    load.end()
    own_sandbox.restart()
    agree(own_sandbox, answered=load.created, cancelled=load.cancelled)
    kept = next(reference for reference, awb in load.created if awb not in load.cancelled)
    with client_of(own_sandbox) as client:
        assert create(client, kept).json()["message"] == "Shipment Reference Number already exists"
        assert create(client, "after the restart").status_code == 200


def test_an_effect_that_missed_the_journal_is_added_at_the_next_start(own_sandbox: RunningSandbox) -> None:
    with client_of(own_sandbox) as client:
        create(client, "kept")
        create(client, "torn")
    own_sandbox.kill()
    lines = own_sandbox.journal_path.read_bytes().splitlines(keepends=True)
    position = max(number for number, line in enumerate(lines) if b'"committed"' in line)
    own_sandbox.journal_path.write_bytes(b"".join(lines[:position]) + lines[position][:40])
    assert [reference for reference, _ in in_journal(own_sandbox)] == ["kept"]
    own_sandbox.restart()
    assert [reference for reference, _ in in_journal(own_sandbox)] == ["kept", "torn"]
    assert own_sandbox.committed("order.created")[-1]["recovered"] is True


def test_simultaneous_creates_of_one_reference_make_one_order(own_sandbox: RunningSandbox) -> None:
    def attempt(_: int) -> int:
        with client_of(own_sandbox) as client:
            return create(client, "contested").status_code

    with ThreadPoolExecutor(16) as workers:
        statuses = sorted(workers.map(attempt, range(16)))
    assert statuses == [200] + [400] * 15
    assert len(own_sandbox.committed("order.created")) == 1


def test_a_link_and_the_fault_plan_survive_a_restart(tmp_path: Path) -> None:
    running = start_sandbox(tmp_path, faults=[{"kind": "status_429", "endpoint": "order.cancel"}])
    try:
        with client_of(running) as client:
            awb = create(client, "R").json()["message"]["awb_number"]
            query, body = {"API_KEY": running.api_key}, {"order_numbers[]": awb}
            url = client.post("/order/shippinglabel/", params=query, json=body).json()["url"]
            before = httpx.get(url, trust_env=False).content
            assert running.terminate() == 0
            running.restart()
            assert httpx.get(url, trust_env=False).content == before
            assert client.put(f"/api/orders/cancel/{awb}").status_code == 429
    finally:
        running.kill()


def test_it_stops_on_request_while_calls_are_open(own_sandbox: RunningSandbox) -> None:
    own_sandbox.set_faults([{"kind": "delay", "seconds": 60}])

    def hang() -> None:
        with client_of(own_sandbox) as client, suppress(httpx.HTTPError):
            assert create(client, "open").status_code == 500

    caller = threading.Thread(target=hang)
    caller.start()
    while not own_sandbox.received("order.create"):
        threading.Event().wait(0.02)
    assert own_sandbox.terminate() == 0
    caller.join(10)
    assert own_sandbox.committed() == []


def test_a_second_sandbox_keeps_off_the_same_data(own_sandbox: RunningSandbox) -> None:
    command = [sys.executable, "-m", "logistics_batch.sandbox", "--data", str(own_sandbox.data)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "another sandbox runs on" in ended.stderr


def test_what_another_version_left_is_not_touched(own_sandbox: RunningSandbox) -> None:
    own_sandbox.stop()
    connection = sqlite3.connect(own_sandbox.data / "sandbox.db")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(RuntimeError, match="made by another version of the sandbox: name another data folder"):
        own_sandbox.restart()


def test_every_create_is_counted_and_synced(own_sandbox: RunningSandbox) -> None:
    before = own_sandbox.control("GET", "/figures")
    with client_of(own_sandbox) as client:
        for number in range(3):
            create(client, f"R{number}")
    counted = {name: count - before[name] for name, count in own_sandbox.control("GET", "/figures").items()}
    assert (counted["commits"], counted["changes"]) == (3, 3)
    assert counted["journal_syncs"] >= 6  # received, and answered: one after the other, no two can share one
