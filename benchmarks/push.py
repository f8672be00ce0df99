"""The push rows: a service that takes 50 ms, one that answers at once, and fixed rates."""

import bisect
import json
import math
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
WAIT_SECONDS = 0.05
SCRIPT_SECONDS = 5.0  # at the limit; where a script does a tenth of that, it takes ten times as long
RATES, RATE_SECONDS, RATE_IN_FLIGHT = (20, 150, 500), 10, 32
WORDS = {
    "ours": "logistics-batch: intent and outcome durable",
    "bare": "the same client, no ledger",
    "script": "a script with httpx.AsyncClient, no ledger",
}


@contextmanager
def service(seconds: float) -> Iterator[str]:
    command = [sys.executable, str(HERE / "push_server.py"), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def _taken(way: str, url: str, orders: int, in_flight: int, *rate: str, folder: Path) -> tuple[float, float]:
    """Seconds by the clock, and of one processor."""
    command = [sys.executable, str(HERE / "push_ways.py"), way, url, str(orders), str(in_flight), *rate]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    said = json.loads(done.stdout)
    return said["seconds"], said["processor"]


def _row(title: str, url: str, folder: Path, *, orders: int, in_flight: int, runs: int, limit: float) -> None:
    print(f"\npush: {title}, {orders:,} orders, {in_flight} in flight" + (f"; limit {limit:,.0f}/s" if limit else ""))
    head = f"  {'':<46}{'orders/s':>9}{'of ours':>9}{'processor ms':>14}{'of ours':>9}"
    print(head + (f"{'of limit':>10}" if limit else ""))
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WORDS}
    sent = {way: min(orders, int(SCRIPT_SECONDS * limit)) if way == "script" and limit else orders for way in WORDS}
    for _ in range(runs):
        for way, each in taken.items():
            each.append(_taken(way, url, sent[way], in_flight, folder=folder))
    rates = {way: sent[way] / statistics.median(seconds for seconds, _ in each) for way, each in taken.items()}
    costs = {way: statistics.median(used for _, used in each) / sent[way] * 1e3 for way, each in taken.items()}
    for way, rate in rates.items():
        of_limit = f"{rate / limit:>10.2f}" if limit else ""
        cost = f"{costs[way]:>14.2f}{costs[way] / costs['ours']:>9.2f}"
        print(f"  {WORDS[way]:<46}{rate:>9.0f}{rate / rates['ours']:>9.2f}{cost}{of_limit}", flush=True)


def _at_rate(rate: int, folder: Path, *, limit: float = math.inf) -> float:
    """Calls a second on average, as the service saw them; rate 0: none is set. limit: what came without one."""
    orders = (rate or RATES[-1]) * RATE_SECONDS
    with service(WAIT_SECONDS) as url:
        _taken("ours", url, orders, RATE_IN_FLIGHT, f"{rate}/s" if rate else "none", folder=folder)
        with urllib.request.urlopen(url, timeout=30) as reply:
            moments: list[float] = sorted(json.load(reply))
    reached = (len(moments) - 1) / (moments[-1] - moments[0])
    most = max(bisect.bisect_left(moments, start + 1) - place for place, start in enumerate(moments))
    of_rate = f"{reached / rate:>9.2f}{reached / min(rate, limit):>20.2f}" if rate else " " * 29
    title = f"{rate}/s" if rate else "none"
    print(f"  {title:>8}, {orders:>6,} orders{reached:>12.1f} /s{of_rate}{most:>20}", flush=True)
    return reached


def push(folder: Path, *, runs: int, seconds: float) -> None:
    """Print all push rows; those with a limit send for so long: in little time the first order, which goes alone, and
    the last ones weigh too much.
    """
    for in_flight in (8, 32, 64):
        with service(WAIT_SECONDS) as url:
            limit = in_flight / WAIT_SECONDS
            orders = int(seconds * limit)
            title = "a service that takes 50 ms"
            _row(title, url, folder, orders=orders, in_flight=in_flight, runs=runs, limit=limit)
    for in_flight in (8, 32):
        with service(0) as url:
            title = "a service that answers at once"
            _row(title, url, folder, orders=2_000, in_flight=in_flight, runs=runs, limit=0)
    print(f"\npush at a fixed rate, {RATE_IN_FLIGHT} in flight, as the service saw it")
    print(f"  {'':<25}{'on average':>12}{'of it':>12}{'of what is possible':>20}{'most in a second':>20}")
    limit = _at_rate(0, folder)
    for rate in RATES:
        _at_rate(rate, folder, limit=limit)
