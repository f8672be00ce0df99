"""The receiver under a burst, kill -9, slow senders, very many connections, a full disk: what got 200 is kept."""

import http.client
import itertools
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from campaigns.scale import report, size
from support.receiver_process import HEADER, SECRET, RunningReceiver, event
from support.workspace import Workspace

FULL = os.environ.get("CAMPAIGN") == "full"
WAIT_SECONDS = 60.0
SERVICE = "https://service.invalid"


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[RunningReceiver]:
    running = RunningReceiver(Workspace(tmp_path, url=SERVICE))
    yield running
    running.close()


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
def test_after_kill_9_every_answered_event_is_in_the_ledger(receiver: RunningReceiver, rounds: int) -> None:
    answered: list[str] = []
    numbers = itertools.count()
    for _ in range(rounds):
        enough = len(answered) + 150
        sending = threading.Thread(target=send_all, args=(receiver, (f"SH-{number}" for number in numbers), answered))
        sending.start()
        while len(answered) < enough:
            time.sleep(0.001)
        receiver.kill()
        sending.join()
        receiver.start()
        stored = [row["waybill"] for row in receiver.stored()]
        assert set(answered) <= set(stored)
        assert len(stored) == len(set(stored))
    assert receiver.post(event(answered[0]))[0] == 200
    assert [row["seen"] for row in receiver.stored() if row["waybill"] == answered[0]] == [2]


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
def test_while_the_disk_is_full_nothing_is_acknowledged_that_is_not_kept(receiver: RunningReceiver) -> None:
    """The process may let no file grow beyond a little more than the ledger, or its write-ahead log, is now."""
    size = max(each.stat().st_size for each in (receiver.workspace.root / "var").glob("ledger.db*"))
    numbers = range(30)
    _limit_files(receiver, size + 20_000)
    first = [receiver.post(event(f"SH-{number}", remarks="x" * 3000))[0] for number in numbers]
    assert {200, 503} == set(first)
    assert {row["waybill"] for row in receiver.stored()} == {
        f"SH-{number}" for number, status in zip(numbers, first, strict=True) if status == 200
    }
    _limit_files(receiver, resource.RLIM_INFINITY)
    again = [receiver.post(event(f"SH-{number}", remarks="x" * 3000))[0] for number in numbers]
    assert set(again) == {200}
    assert [row["waybill"] for row in receiver.stored()].count("SH-0") == 1
    assert len(receiver.stored()) == len(numbers)
    assert receiver.stop() == 0
    told = [line for line in receiver.log if "not kept and have to come again" in line]
    assert len(told) < 10, "a disk that is full is not filled with lines about it"


def _limit_files(receiver: RunningReceiver, most_bytes: int) -> None:
    resource.prlimit(receiver.process.pid, resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
