"""The parts put together: one rate for everything, waiting that ends, progress that stays out of the way."""

import json
import os
import pty
import re
import subprocess
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch import wiring
from logistics_batch.flows.parts import Clock
from logistics_batch.wiring import Need


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


def test_jobs_that_run_side_by_side_keep_one_rate_together(workspace: Workspace) -> None:
    opened = wiring.Workspace(workspace.root)
    with opened.parts(Need()) as first, opened.parts(Need()) as second:
        assert first.client.pacer is second.client.pacer


def test_waiting_ends_when_the_process_is_asked_to_end() -> None:
    stop = threading.Event()
    clock = Clock(ZoneInfo("Asia/Kolkata"), stop)
    threading.Timer(0.05, stop.set).start()
    clock.sleep(3600)
    assert stop.is_set()
    assert clock.now().utcoffset() == ZoneInfo("Asia/Kolkata").utcoffset(clock.now())


def test_the_clock_is_that_of_the_ledgers_server() -> None:
    zone, ahead = ZoneInfo("Asia/Kolkata"), 0.0
    clock = Clock(zone, threading.Event(), lambda: ahead)
    for ahead in (0.0, 3600.0, -7200.0):
        told = datetime.now(zone) - timedelta(seconds=ahead)
        assert abs(clock.now() - told) < timedelta(seconds=5)


def test_progress_is_drawn_on_a_terminal_and_never_on_standard_output(tmp_path: Path, sandbox: RunningSandbox) -> None:
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    file = workspace.drop("orders.csv", order_lines([f"P-{number}" for number in range(5)]))
    sandbox.set_faults([{"endpoint": "order.create", "kind": "delay", "seconds": 0.5}])  # it is drawn now and then
    workspace.configure("concurrency = 1")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        workspace.command("push", file, "--mapping", "orders", "--json"),
        cwd=workspace.root,
        env=workspace.environment({"TERM": "xterm"}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    drawn = bytearray()
    reader = threading.Thread(target=read_all, args=(ours, drawn))
    reader.start()
    out, _ = process.communicate(timeout=60)
    reader.join(10)
    os.close(ours)
    assert process.returncode == 0, drawn
    assert json.loads(out)["counts"]["accepted"] == 5
    assert b"Reading" in drawn
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode())
    sending = [line for line in re.split(r"[\r\n]+", plain) if line.startswith("Sending")]
    counted = [re.search(r" (\d)/5 (\d+:\d\d:\d\d|-:--:--)", line) for line in sending]
    assert counted, plain
    assert all(counted), sending  # each time how many of how many, and how long the rest will take
    assert any(found and "-" not in found[2] for found in counted), sending


def read_all(descriptor: int, into: bytearray) -> None:
    while True:
        try:
            block = os.read(descriptor, 4096)
        except OSError:  # a terminal without writers
            return
        if not block:
            return
        into += block


def test_a_terminal_without_our_letters_is_no_reason_to_fail(workspace: Workspace) -> None:
    for command in (["push", "--help"], ["mapping", "lint", "ördrs"]):
        done = workspace.run(*command, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C", PYTHONCOERCECLOCALE="0")
        assert "Traceback" not in done.err
        assert done.code in (0, 2)
