"""The recovery row: ten thousand orders in flight when the machine dies, and how long until each is listed again."""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from push_ways import KEY, MAPPING

HERE = Path(__file__).parent
DOCUMENTS = 10_000
GOAL_SECONDS = 5
# Nobody is called: the doubts are too young to be asked about.
SETTINGS = '[service]\nbase_url = "http://127.0.0.1:9"\nrate = "none"\napi_key_file = "key"\nsettle_after = "1h"\n'


def _dead_workspace(folder: Path) -> None:
    (folder / "mappings").mkdir(parents=True)
    (folder / "mappings/orders.yaml").write_text(MAPPING)
    (folder / "logistics-batch.toml").write_text(SETTINGS)
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_text(KEY)
    lines = [f"R-{number},98765{number:05d},{number} Market Road,SKU-1,1" for number in range(DOCUMENTS)]
    (folder / "orders.csv").write_text("\n".join(["Order,Phone,Address,SKU,Qty", *lines, ""]))
    died = subprocess.run(
        [sys.executable, str(HERE / "in_flight.py"), str(folder), str(folder / "orders.csv")], check=False
    )
    if died.returncode != -9:
        raise SystemExit("It did not die while all were in flight.")


def _timed(folder: Path, *arguments: str) -> tuple[float, float, str]:
    """Seconds, processor seconds, and what was printed."""
    command = [sys.executable, "-m", "logistics_batch", *arguments]
    began, used = time.perf_counter(), _processor_seconds()
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    return time.perf_counter() - began, _processor_seconds() - used, done.stdout


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def recovery(folder: Path, *, runs: int) -> None:
    """Print the row."""
    taken: dict[str, list[tuple[float, float]]] = {"settle": [], "show": []}
    for number in range(runs):
        workspace = folder / f"dead-{number}"
        _dead_workspace(workspace)
        taken["settle"].append(_timed(workspace, "settle")[:2])
        known: dict[str, Any] = json.loads(_timed(workspace, "runs", "--json")[2])
        (dead,) = [run["id"] for run in known["runs"] if run["id"].endswith("-dead")]
        seconds, processor, shown = _timed(workspace, "runs", "show", dead, "--json")
        taken["show"].append((seconds, processor))
        fates = Counter(row["fate"] for file in json.loads(shown)["files"] for row in file["rows"])
        if fates != {"in_doubt": DOCUMENTS}:
            raise SystemExit(f"Not every document is listed: {dict(fates)}")
    print(f"\nrecovery: {DOCUMENTS:,} orders in flight at a kill, all listed as in doubt (goal: {GOAL_SECONDS} s)")
    print(f"  {'':<46}{'seconds':>9}{'processor':>11}")
    for name, words in (("settle", "taken over, answers written again"), ("show", "every row shown with its state")):
        seconds, processor = (statistics.median(each) for each in zip(*taken[name], strict=True))
        print(f"  {words:<46}{seconds:>9.2f}{processor:>11.2f}", flush=True)
