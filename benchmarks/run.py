"""`make bench`: how long things take beside the alternatives, in turn, as medians, each in a process of its own.

Seconds are whole work from file to result, imports included. The alternatives must agree on what they found.
"""

import argparse
import compileall
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from inputs import HEADER, SEED, write_orders, write_workbook
from labels import labels
from push import push
from recovery import recovery
from sandbox_creates import sandbox_creates
from sftp import sftp
from whole import whole

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """What one alternative took: medians of its runs (processor: seconds over all cores), and what it found."""

    seconds: float
    processor: float
    peak_mb: float
    found: dict[str, Any]


def compile_as_installed() -> None:
    """Write the bytecode of our modules, as pip does: the libraries beside ours have theirs."""
    found = find_spec("logistics_batch")
    for folder in (found and found.submodule_search_locations) or ():
        compileall.compile_dir(folder, quiet=1)


def measure(names: list[str], source: Path, *, runs: int) -> dict[str, Figure]:
    """Run each alternative `runs` times, in turn, so that a busy moment of the machine meets all of them."""
    said: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(runs):
        for name in names:
            target = source.with_name(f"{name}.out")
            command = [sys.executable, str(HERE / "alternatives.py"), name, str(source), str(target)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            said[name].append(json.loads(done.stdout))
    return {
        name: Figure(
            seconds=statistics.median(one["seconds"] for one in each),
            processor=statistics.median(one["processor"] for one in each),
            peak_mb=statistics.median(one["peak_mb"] for one in each),
            found=each[0]["found"],
        )
        for name, each in said.items()
    }


def show(title: str, figures: dict[str, Figure], *, words: dict[str, str]) -> None:
    """A table: seconds, how many times the first alternative's, the same of processor time, peak memory."""
    ours = next(iter(figures.values()))
    print(f"\n{title}")
    print(f"  {'':<44}{'seconds':>9}{'of ours':>9}{'processor':>11}{'of ours':>9}{'peak MB':>9}")
    for name, figure in figures.items():
        seconds = f"{figure.seconds:>9.2f}{figure.seconds / ours.seconds:>9.2f}"
        processor = f"{figure.processor:>11.2f}{figure.processor / ours.processor:>9.2f}"
        print(f"  {words[name]:<44}{seconds}{processor}{figure.peak_mb:>9.0f}", flush=True)


def agree(figures: dict[str, Figure], names: list[str]) -> None:
    """Raise SystemExit unless these alternatives found the same: a fast wrong answer is no answer."""
    first, *others = (figures[name].found for name in names)
    if any(other != first for other in others):
        shown = {name: figures[name].found for name in names}
        raise SystemExit(f"The alternatives disagree, so their times mean nothing: {shown}")
    counts = (f"{value:,} {key.replace('_', ' ')}" for key, value in first.items() if isinstance(value, int))
    print(f"  {len(names)} agree: {', '.join(counts)}")


def start() -> None:
    """How long --help takes."""
    done = subprocess.run([sys.executable, str(HERE / "start.py")], check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    worst, ratio = next(iter(said["worst"].items()))
    print(f"\nstart: a bare Python takes {said['bare_python_ms']} ms")
    print(f"  {'--help':<44}{said['ratios']['--help']:>9.2f} times that")
    print(f"  {'slowest: ' + worst:<44}{ratio:>9.2f} times that (goal: at most {said['limit']})")


_MAP_WORDS = {
    "map_ours": "logistics-batch: read, map, validate, write",
    "map_hand": "csv + pydantic by hand, the same",
    "map_polars": "bare polars expressions, none of our checks",
    "map_floor": "polars: read and write, nothing else",
}


def map_stage(folder: Path, *, rows: int, runs: int) -> dict[str, Figure]:
    """From a CSV file to documents."""
    source = folder / "orders.csv"
    write_orders(source, rows=rows)
    figures = measure(list(_MAP_WORDS), source, runs=runs)
    rate = rows / figures["map_ours"].seconds
    show(f"map: {rows:,} rows of {len(HEADER)} cells to orders ({rate:,.0f} rows/s)", figures, words=_MAP_WORDS)
    agree(figures, ["map_ours", "map_hand", "map_polars"])
    return figures


def map_growth(folder: Path, *, sizes: list[int], runs: int) -> None:
    """The map stage at several sizes, and what ten times as many rows cost."""
    found = {rows: map_stage(folder, rows=rows, runs=runs) for rows in sizes}
    print("\ngrowth of the map stage, ours: microseconds and kilobytes a row beyond those of the smaller file")
    for smaller, larger in itertools.pairwise(sizes):
        few, many = found[smaller]["map_ours"], found[larger]["map_ours"]
        rows = larger - smaller
        seconds, megabytes = many.seconds - few.seconds, many.peak_mb - few.peak_mb
        print(f"  {smaller:>9,} to {larger:>9,} rows{seconds / rows * 1e6:>10.1f} µs{megabytes / rows * 1e3:>10.2f} kB")


def excel_read(folder: Path, *, rows: int, columns: int, runs: int) -> None:
    """From an xlsx file to cells."""
    source = folder / "wide.xlsx"
    write_workbook(source, rows=rows, columns=columns)
    words = {
        "read_ours": "logistics-batch: true rows, formats, guards",
        "read_fastexcel": "fastexcel to Arrow, none of these",
        "read_calamine": "python-calamine alone, none of these",
        "read_openpyxl": "openpyxl, read-only mode",
        "read_pandas": "pandas with openpyxl",
    }
    for library, others in (("fastexcel", " pyarrow"), ("pandas", "")):
        if find_spec(library) is None:
            print(f"{library} is not installed and left out: pip install {library}{others}")
            del words[f"read_{library}"]
    figures = measure(list(words), source, runs=runs)
    show(f"Excel: {rows:,} rows of {columns} cells", figures, words=words)
    agree(figures, list(figures))


def answer(folder: Path, *, rows: int, columns: int, runs: int) -> None:
    """From a workbook to the workbook that goes back."""
    source = folder / "answered.xlsx"
    write_workbook(source, rows=rows, columns=columns)
    words = {
        "answer_ours": "logistics-batch: read, and answered in place",
        "answer_openpyxl": "openpyxl: load, add cells, save",
    }
    figures = measure(list(words), source, runs=runs)
    show(f"answer: the result workbook of {rows:,} rows of {columns} cells", figures, words=words)
    agree(figures, list(figures))


def reconcile(folder: Path, *, sizes: list[int], runs: int) -> None:
    """From two tables of ASN lines to what differs."""
    from reconcile_ways import write_sides

    words = {
        "lines_auditor": "logistics-batch: classes, tiers, reasons, sums",
        "lines_read": "polars: both tables read, nothing else",
        "lines_polars": "a bare join of polars",
        "lines_datacompy": "datacompy on polars",
        "lines_pandas": "pandas merge",
    }
    for library in ("datacompy", "pandas"):
        if find_spec(library) is None:
            print(f"{library} is not installed and left out: pip install {library}")
            del words[f"lines_{library}"]
    # Where the goal was set, reading a million lines a side took 0.5 s and the bare join 1.4 times that.
    for lines, full in itertools.product(sizes, (True, False)):
        source = folder / "announced.csv"
        # In a process of its own: a child's peak memory begins with what its parent holds.
        with ProcessPoolExecutor(1, get_context("spawn")) as aside:
            aside.submit(write_sides, source, lines=lines, whole=full).result()
        figures = measure(list(words), source, runs=runs)
        columns = "11 columns, as files of ASNs have them" if full else "the 7 columns that nobody can do without"
        show(f"reconcile: {lines:,} lines a side, 2 % differ; {columns}", figures, words=words)
        ours = figures["lines_auditor"]
        for name, what, goal in (("read", "reading both tables", "2.5, below 700 MB"), ("polars", "a bare join", 1.8)):
            other = figures[f"lines_{name}"]
            ratio = f"{ours.seconds / other.seconds:.2f} ({ours.processor / other.processor:.2f} by processor)"
            print(f"  ours is {ratio} times {what} (goal: {goal})")
        agree(figures, [name for name in words if name != "lines_read"])


def main() -> None:
    """Everything, or one part of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="start|whole|map|excel|answer|reconcile|sandbox|push|recovery|sftp|labels",
        help="default: all",
    )
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the largest CSV file")
    parser.add_argument("--full", action="store_true", help="1,000,000 rows as well, and long runs of push (minutes)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each alternative; their median is shown")
    chosen = parser.parse_args()
    known = ["start", "whole", "map", "excel", "answer", "reconcile", "sandbox", "push", "recovery", "sftp", "labels"]
    parts = chosen.parts or known
    if unknown := set(parts) - set(known):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    print(
        f"Medians of {chosen.runs} runs in turn; inputs from seed {SEED}; Python {sys.version.split()[0]}.", flush=True
    )
    compile_as_installed()
    if "start" in parts:
        start()
    with tempfile.TemporaryDirectory() as folder:
        if "whole" in parts:
            lengths = sorted({50, 1_000, chosen.rows // 10, chosen.rows, *([1_000_000] if chosen.full else [])})
            pushed = [rows for rows in lengths if rows <= (100_000 if chosen.full else 10_000)]
            whole(Path(folder), sizes=lengths, push_sizes=pushed, runs=chosen.runs)
        if "map" in parts:
            sizes = {max(chosen.rows // 10, 1), chosen.rows, *([1_000_000] if chosen.full else [])}
            map_growth(Path(folder), sizes=sorted(sizes), runs=chosen.runs)
        if "excel" in parts:
            excel_read(Path(folder), rows=100_000, columns=20, runs=chosen.runs)
        if "answer" in parts:
            answer(Path(folder), rows=100_000, columns=20, runs=chosen.runs)
        if "reconcile" in parts:
            reconcile(Path(folder), sizes=[chosen.rows, *([1_000_000] if chosen.full else [])], runs=chosen.runs)
        if "sandbox" in parts:
            sandbox_creates(Path(folder), runs=max(chosen.runs, 5))
        if "push" in parts:
            push(Path(folder), runs=chosen.runs, seconds=20.0 if chosen.full else 5.0)
        if "recovery" in parts:
            recovery(Path(folder), runs=chosen.runs)
        if "sftp" in parts:
            sftp(Path(folder), runs=chosen.runs)
        if "labels" in parts:
            labels(Path(folder), runs=chosen.runs)


if __name__ == "__main__":
    main()
