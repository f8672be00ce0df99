"""How many orders the sandbox creates a second: its own process on one core, the load on another.

Seconds suffer from whatever else the machine does; the processor time of the service does so much less.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sandbox_load import requests_for, send_all

KEY = "bench-key"
IN_FLIGHT, CREATES = 32, 3_000
GOAL_PER_SECOND = 800


@dataclass(frozen=True)
class Run:
    """One run: creates a second, processor time of the service for each, fsyncs for each, creates in a commit."""

    per_second: float
    cpu_microseconds: float
    syncs_per_create: float
    creates_per_commit: float
    median_milliseconds: float


@dataclass(frozen=True)
class Server:
    """A running sandbox."""

    process: subprocess.Popen[bytes]
    url: str

    def figures(self) -> dict[str, int]:
        """Its counts of fsyncs, commits and changes."""
        request = urllib.request.Request(f"{self.url}/_sandbox/figures", headers={"API_KEY": KEY})
        with urllib.request.urlopen(request, timeout=30) as reply:
            counts: dict[str, int] = json.load(reply)
        return counts

    def cpu_seconds(self) -> float:
        """The processor time it has taken, user and system."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sandbox_creates(folder: Path, *, runs: int) -> None:
    """Print a row for each run, and the best of them."""
    with _server(folder) as server:
        done = [_one_run(server, prefix=f"R{number}") for number in range(runs)]
    print(f"\nsandbox: {CREATES:,} simple creates at {IN_FLIGHT} in flight, journal and database durable")
    print(f"  {'':<8}{'creates/s':>10}{'CPU us each':>13}{'fsyncs each':>13}{'per commit':>12}{'median ms':>11}")
    for name, run in [*((f"run {number}", run) for number, run in enumerate(done, start=1)), ("best", best(done))]:
        print(
            f"  {name:<8}{run.per_second:>10,.0f}{run.cpu_microseconds:>13,.0f}{run.syncs_per_create:>13.2f}"
            f"{run.creates_per_commit:>12.1f}{run.median_milliseconds:>11.1f}"
        )
    reached = best(done).per_second >= GOAL_PER_SECOND
    print(f"  goal: {GOAL_PER_SECOND} a second on one core: {'reached' if reached else 'missed'}")


def best(runs: list[Run]) -> Run:
    """The run with the most creates a second."""
    return max(runs, key=lambda run: run.per_second)


def _one_run(server: Server, *, prefix: str) -> Run:
    requests = requests_for(prefix, count=CREATES, api_key=KEY)
    counts, cpu_seconds = server.figures(), server.cpu_seconds()
    load = send_all(urlsplit(server.url).port or 0, requests, in_flight=IN_FLIGHT)
    cpu_seconds = server.cpu_seconds() - cpu_seconds
    counted = {name: count - counts[name] for name, count in server.figures().items()}
    return Run(
        per_second=CREATES / load.seconds,
        cpu_microseconds=cpu_seconds / CREATES * 1e6,
        syncs_per_create=(counted["journal_syncs"] + counted["commits"]) / CREATES,
        creates_per_commit=counted["changes"] / counted["commits"],
        median_milliseconds=sorted(load.latencies)[CREATES // 2] * 1e3,
    )


@contextmanager
def _server(folder: Path) -> Iterator[Server]:
    """A sandbox on one core of its own; this process goes to another one, as long as there is one."""
    first, *others = sorted(os.sched_getaffinity(0))
    ready = folder / "sandbox-ready.json"
    command = [sys.executable, "-m", "logistics_batch.sandbox", "--data", str(folder / "sandbox")]
    os.sched_setaffinity(0, {first})
    process = subprocess.Popen(
        [*command, "--api-key", KEY, "--ready-file", str(ready)], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    os.sched_setaffinity(0, others or {first})
    try:
        while not ready.exists():
            if process.poll() is not None:
                raise SystemExit("the sandbox did not start")
            time.sleep(0.01)
        yield Server(process, json.loads(ready.read_text())["url"])
    finally:
        process.terminate()
        process.wait()
        os.sched_setaffinity(0, {first, *others})
