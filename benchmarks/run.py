"""`make bench`: how long things take beside the alternatives, in turn, as medians, each in a process of its own.

Seconds are whole work from file to result, imports included. The alternatives must agree on what they found.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inputs import SEED, write_orders, write_workbook

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """What one alternative took: medians of its runs, and what it found."""

    seconds: float
    peak_mb: float
    found: dict[str, Any]


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
            statistics.median(one["seconds"] for one in each),
            statistics.median(one["peak_mb"] for one in each),
            each[0]["found"],
        )
        for name, each in said.items()
    }


def show(title: str, figures: dict[str, Figure], *, words: dict[str, str]) -> None:
    """A table: seconds, how many times the first alternative's, peak memory."""
    ours = next(iter(figures.values())).seconds
    print(f"\n{title}")
    print(f"  {'':<44}{'seconds':>9}{'of ours':>9}{'peak MB':>9}")
    for name, figure in figures.items():
        print(f"  {words[name]:<44}{figure.seconds:>9.2f}{figure.seconds / ours:>9.2f}{figure.peak_mb:>9.0f}")


def agree(figures: dict[str, Figure], names: list[str]) -> None:
    """Raise SystemExit unless these alternatives found the same: a fast wrong answer is no answer."""
    first, *others = (figures[name].found for name in names)
    if any(other != first for other in others):
        shown = {name: {key: _short(value) for key, value in figures[name].found.items()} for name in names}
        raise SystemExit(f"The alternatives disagree, so their times mean nothing: {shown}")
    counts = (f"{_short(value):,} {key.replace('_', ' ')}" for key, value in first.items())
    print(f"  {len(names)} agree: {', '.join(counts)}")


def _short(value: Any) -> int:
    return len(value) if isinstance(value, list) else int(value)


def start() -> None:
    """How long --help takes."""
    done = subprocess.run([sys.executable, str(HERE / "start.py")], check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    worst, ratio = next(iter(said["worst"].items()))
    print(f"\nstart: a bare Python takes {said['bare_python_ms']} ms")
    print(f"  {'--help':<44}{said['ratios']['--help']:>9.2f} times that")
    print(f"  {'slowest: ' + worst:<44}{ratio:>9.2f} times that (goal: at most {said['limit']})")


def map_stage(folder: Path, *, rows: int, runs: int) -> None:
    """From a CSV file to documents."""
    source = folder / "orders.csv"
    write_orders(source, rows=rows)
    figures = measure(["map_ours", "map_hand", "map_floor"], source, runs=runs)
    words = {
        "map_ours": "logistics-batch: read, map, validate, write",
        "map_hand": "csv + pydantic by hand, the same",
        "map_floor": "polars: read and write, nothing else",
    }
    show(
        f"map: {rows:,} rows of CSV to orders ({rows / figures['map_ours'].seconds:,.0f} rows/s)", figures, words=words
    )
    agree(figures, ["map_ours", "map_hand"])


def excel_read(folder: Path, *, rows: int, columns: int, runs: int) -> None:
    """From an xlsx file to cells."""
    source = folder / "wide.xlsx"
    write_workbook(source, rows=rows, columns=columns)
    figures = measure(["read_ours", "read_openpyxl", "read_calamine"], source, runs=runs)
    words = {
        "read_ours": "logistics-batch: text, row numbers, guards",
        "read_openpyxl": "openpyxl, read-only mode",
        "read_calamine": "python-calamine alone",
    }
    show(f"Excel: {rows:,} rows of {columns} cells", figures, words=words)
    agree(figures, list(figures))


def main() -> None:
    """Everything, or one part of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="start|map|excel", help="default: all")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the CSV file")
    parser.add_argument("--runs", type=int, default=3, help="runs of each alternative; their median is shown")
    chosen = parser.parse_args()
    known = ["start", "map", "excel"]
    parts = chosen.parts or known
    if unknown := set(parts) - set(known):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    print(
        f"Medians of {chosen.runs} runs in turn; inputs from seed {SEED}; Python {sys.version.split()[0]}.", flush=True
    )
    if "start" in parts:
        start()
    with tempfile.TemporaryDirectory() as folder:
        if "map" in parts:
            map_stage(Path(folder), rows=chosen.rows, runs=chosen.runs)
        if "excel" in parts:
            excel_read(Path(folder), rows=20_000, columns=20, runs=chosen.runs)


if __name__ == "__main__":
    main()
