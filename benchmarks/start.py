"""How long `--help` takes, of the tool and of every command, against a bare start of the same Python.

The best of several starts each, one after the other, with byte code compiled beforehand (as an installation has it).
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from logistics_batch.cli.front import COMMANDS

STARTS = 15
LIMIT = 5.0


def milliseconds(arguments: list[str], environment: dict[str, str]) -> float:
    """How long one start of this Python takes."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - begin) * 1000


def best(starts: dict[str, list[str]], environment: dict[str, str]) -> dict[str, float]:
    """The best of several starts each, taken in turn, so that a busy moment of the machine meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in starts}
    for _ in range(STARTS):
        for name, arguments in starts.items():
            times[name].append(milliseconds(arguments, environment))
    return {name: min(found) for name, found in times.items()}


def main() -> None:
    """Print one JSON document with a ratio for each command."""
    tool = ["-m", "logistics_batch"]
    starts = {
        "bare python": ["-c", "pass"],
        "--version (through click)": [*tool, "--version"],
        "--help": [*tool, "--help"],
    }
    starts |= {f"{name} --help": [*tool, name, "--help"] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["PYTHONPYCACHEPREFIX"] = cache
        for arguments in starts.values():  # the first start of each writes the byte code
            milliseconds(arguments, environment)
        found = best(starts, environment)
    bare = found.pop("bare python")
    ratios = {name: round(each / bare, 2) for name, each in found.items()}
    worst = max((name for name in ratios if name.endswith("--help")), key=lambda name: ratios[name])
    document = {
        "bare_python_ms": round(bare, 1),
        "ratios": ratios,
        "worst": {worst: ratios[worst]},
        "limit": LIMIT,
        "within_limit": ratios[worst] <= LIMIT,
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
