"""Whole commands, as their users wait for them: processes from start to end, beside csv + pydantic on the same file."""

import itertools
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alternatives import MAPPING
from inputs import write_orders
from push import WAIT_SECONDS, _service

HERE = Path(__file__).parent
IN_FLIGHT = 32
SETTINGS = """\
[service]
base_url = "{url}"
api_key = "benchmark-only"
rate = "none"
concurrency = {in_flight}
"""
COMMAND = (sys.executable, "-m", "logistics_batch")


@dataclass(frozen=True)
class Taken:
    """What one command took with all its processes: seconds by the clock and of processors, and memory at its peak."""

    seconds: float
    processor: float
    peak_mb: float


def _family(parent: int) -> list[int]:
    """The processes below one, itself included."""
    found, waiting = [], [parent]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except (OSError, ValueError):
            continue
    return found


def _resident_mb(pids: Sequence[int]) -> float:
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
    return total * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(command: Sequence[str], *, folder: Path) -> Taken:
    """Run a command with its output thrown away, and add up what all of its processes took."""
    peak = 0.0
    before = os.times()
    begin = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        words: list[bytes] = []
        assert process.stderr is not None
        reader = threading.Thread(target=lambda: words.append(process.stderr.read()))  # type: ignore[union-attr]
        reader.start()
        while process.poll() is None:
            peak = max(peak, _resident_mb(_family(process.pid)))
            time.sleep(0.02)
        reader.join()
    seconds = time.perf_counter() - begin
    after = os.times()
    if process.returncode not in (0, 3):  # 3: rows with mistakes, which the input has
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {b''.join(words).decode()[-2000:]}")
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return Taken(seconds, used, peak)


@contextmanager
def _workspace(folder: Path, *, url: str) -> Iterator[Path]:
    folder.mkdir()
    (folder / "logistics-batch.toml").write_text(SETTINGS.format(url=url, in_flight=IN_FLIGHT))
    (folder / "logistics-batch.toml").chmod(0o600)
    (folder / "mappings").mkdir()
    (folder / "mappings" / "benchmark.yaml").write_text(MAPPING)
    yield folder


def _median(found: Sequence[Taken]) -> Taken:
    return Taken(
        *(statistics.median(getattr(one, name) for one in found) for name in ("seconds", "processor", "peak_mb"))
    )


def _line(name: str, taken: Taken, *, beside: Taken | None = None, limit: float = 0.0) -> None:
    ratio = (
        f"{taken.seconds / beside.seconds:>9.2f}{taken.processor / beside.processor:>9.2f}" if beside else f"{'':>18}"
    )
    of_limit = f"{taken.seconds / limit:>10.2f} x limit" if limit else ""
    print(
        f"  {name:<46}{taken.seconds:>9.2f}{taken.processor:>11.2f}{taken.peak_mb:>9.0f}{ratio}{of_limit}", flush=True
    )


def _orders(source: Path) -> int:
    with source.open(encoding="utf-8") as file:
        return len({line.partition(",")[0] for line in file}) - 1


def whole(folder: Path, *, sizes: Sequence[int], push_sizes: Sequence[int], runs: int) -> None:
    """Print seconds, processor time and memory of each command, and how they grow from one size to the next."""
    grown: dict[str, list[tuple[int, Taken]]] = {}
    for rows in sizes:
        source = folder / f"orders-{rows}.csv"
        write_orders(source, rows=rows)
        orders = _orders(source)
        print(f"\nwhole commands: {rows:,} rows, {orders:,} orders")
        print(f"  {'':<46}{'seconds':>9}{'processor':>11}{'peak MB':>9}{'of hand':>9}{'by proc.':>9}")
        ways: dict[str, list[Taken]] = {}
        with _workspace(folder / f"dry-{rows}", url="http://127.0.0.1:9") as place:
            hand = [
                sys.executable,
                str(HERE / "alternatives.py"),
                "map_hand",
                str(source),
                str(folder / "by-hand.ndjson"),
            ]
            commands = {
                "csv + pydantic by hand": hand,
                "mapping preview --json": [
                    *COMMAND,
                    "mapping",
                    "preview",
                    str(source),
                    "--mapping",
                    "benchmark",
                    "--json",
                ],
                "mapping preview --output --json": [
                    *(*COMMAND, "mapping", "preview", str(source), "--mapping", "benchmark"),
                    *("--output", str(folder / "previewed"), "--json"),
                ],
                "push --dry-run": [*COMMAND, "push", str(source), "--mapping", "benchmark", "--dry-run"],
            }
            for _ in range(runs):
                for name, command in commands.items():
                    ways.setdefault(name, []).append(timed(command, folder=place))
        by_hand = _median(ways["csv + pydantic by hand"])
        for name, found in ways.items():
            taken = _median(found)
            _line(name, taken, beside=by_hand)
            grown.setdefault(name, []).append((rows, taken))
        if rows in push_sizes:
            _pushed(folder, source, orders=orders, by_hand=by_hand, runs=runs)
    _growth(grown)


def _pushed(folder: Path, source: Path, *, orders: int, by_hand: Taken, runs: int) -> None:
    limit = orders * WAIT_SECONDS / IN_FLIGHT
    pushed: list[Taken] = []
    known: list[Taken] = []
    for number in range(runs):
        with _service(WAIT_SECONDS) as url, _workspace(folder / f"push-{source.stem}-{number}", url=url) as place:
            command = [*COMMAND, "push", str(source), "--mapping", "benchmark"]
            pushed.append(timed(command, folder=place))
            known.append(timed([*command, "--dry-run"], folder=place))
    taken = _median(pushed)
    _line(f"push, {WAIT_SECONDS * 1e3:.0f} ms, {IN_FLIGHT} in flight", taken, limit=limit)
    print(f"  {'':<46}{taken.processor / orders * 1e3:>20.2f} ms of processor an order")
    _line("push --dry-run, the ledger knows the orders", _median(known), beside=by_hand)


def _growth(grown: dict[str, list[tuple[int, Taken]]]) -> None:
    print("\ngrowth: microseconds and kilobytes a row beyond those of the smaller file")
    for name, found in grown.items():
        for (few_rows, few), (many_rows, many) in itertools.pairwise(found):
            rows = many_rows - few_rows
            seconds, megabytes = many.seconds - few.seconds, many.peak_mb - few.peak_mb
            print(
                f"  {name:<46}{few_rows:>9,} to {many_rows:>9,}{seconds / rows * 1e6:>9.1f} µs"
                f"{megabytes / rows * 1e3:>9.2f} kB"
            )
