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
from push import WAIT_SECONDS, service
from push_ways import second_creates_are_refused

from logistics_batch.wiring import Need, Workspace

HERE = Path(__file__).parent
IN_FLIGHT = 32
SMALL, LARGE = 50, 100_000  # rows
KEY = "benchmark-only"
SETTINGS = """\
[service]
base_url = "{url}"
api_key = "{key}"
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


def resident_mb(pids: Sequence[int]) -> float:
    """What processes have of the memory together: the pages of their own, and once those of files that all share."""
    own = shared = 0
    for pid in pids:
        try:
            _, resident, of_files, *_ = (int(pages) for pages in Path(f"/proc/{pid}/statm").read_text().split())
        except (OSError, ValueError):
            continue
        own += resident - of_files
        shared = max(shared, of_files)
    return (own + shared) * os.sysconf("SC_PAGE_SIZE") / 1e6


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
            peak = max(peak, resident_mb(_family(process.pid)))
            time.sleep(0.05)  # to look more often would take a processor from what is measured
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
    (folder / "logistics-batch.toml").write_text(SETTINGS.format(url=url, key=KEY, in_flight=IN_FLIGHT))
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
    """Print seconds, processor time and memory of each command, how they grow, and the figures that have a goal."""
    grown: dict[str, list[tuple[int, Taken]]] = {}
    figures: list[str] = []
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
        figures += _figures({name: _median(found) for name, found in ways.items()}, by_hand, rows=rows)
        if rows in push_sizes:
            figures += _pushed(folder, source, rows=rows, orders=orders, by_hand=by_hand, runs=runs)
        if rows == LARGE:
            figures.append(_answered(folder, source, rows=rows, runs=runs))
    _growth(grown)
    print("\nfigures that have a goal")
    for line in figures:
        print(f"  {line}")


def _figures(ways: dict[str, Taken], by_hand: Taken, *, rows: int) -> list[str]:
    preview, written, dry = (
        ways[name] for name in ("mapping preview --json", "mapping preview --output --json", "push --dry-run")
    )
    match rows:
        case 1_000:
            return [f"mapping preview, 1,000 rows: {preview.seconds:.2f} s (goal 0.9)"]
        case 100_000:
            ratio = dry.processor / by_hand.processor
            return [f"push --dry-run, {rows:,} rows: {ratio:.2f} x processor time by hand (goal 0.7)"]
        case 1_000_000:
            ratio = by_hand.seconds / written.seconds
            return [
                (
                    f"mapping preview --output --json, {rows:,} rows: {ratio:.2f} x as fast as by hand (goal 4), "
                    f"{written.peak_mb:.0f} MB (goal 1,000)"
                )
            ]
    return []


def _answered(folder: Path, source: Path, *, rows: int, runs: int) -> str:
    """The answers to a file of which the service took nearly all, written by a process of its own."""
    kept = folder / "report.pkl"
    script = [sys.executable, str(HERE / "answers.py")]
    subprocess.run([*script, "report", str(source), str(kept)], check=True)
    taken = _median([timed([*script, "write", str(source), str(kept)], folder=folder) for _ in range(runs)])
    _line("answers: result workbook, CSV, fix file", taken)
    return f"answers, {rows:,} rows: {taken.processor:.2f} s of processor (goal 4), {taken.peak_mb:.0f} MB (goal 300)"


def _pushed(folder: Path, source: Path, *, rows: int, orders: int, by_hand: Taken, runs: int) -> list[str]:
    limit = orders * WAIT_SECONDS / IN_FLIGHT
    pushed: dict[bool, list[Taken]] = {True: [], False: []}  # whether each order is looked at
    known: list[Taken] = []
    for number in range(runs):
        for looks, each in pushed.items():
            name = f"push-{source.stem}-{number}-{looks}"
            with service(WAIT_SECONDS) as url, _workspace(folder / name, url=url) as place:
                if not looks:
                    with Workspace(place).parts(Need()) as parts:
                        second_creates_are_refused(parts.ledger, url, KEY)
                command = [*COMMAND, "push", str(source), "--mapping", "benchmark"]
                each.append(timed(command, folder=place))
                if not looks:
                    known.append(timed([*command, "--dry-run"], folder=place))
    taken = _median(pushed[False])
    title = f"push, {WAIT_SECONDS * 1e3:.0f} ms, {IN_FLIGHT} in flight"
    _line(title, taken, limit=limit)
    print(f"  {'':<46}{taken.processor / orders * 1e3:>20.2f} ms of processor an order")
    _line(f"{title}, each looked at", _median(pushed[True]), limit=2 * limit)
    dry = _median(known)
    _line("push --dry-run, the ledger knows the orders", dry, beside=by_hand)
    if rows == SMALL:
        return [f"push, {rows} rows: {taken.seconds:.2f} s (goal 0.8)"]
    if rows == LARGE:
        return [
            (
                f"push, {rows:,} rows: {taken.seconds / limit:.2f} x the limit (goal 1.15), "
                f"{taken.processor / orders * 1e3:.2f} ms of processor an order (goal 1.5)"
            ),
            f"push --dry-run, {rows:,} rows, known: {dry.processor / by_hand.processor:.2f} x by hand (goal 0.9)",
        ]
    return []


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
