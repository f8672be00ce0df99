"""How long `--help` takes, of the tool and of every command, against a bare start of the same Python.

The best of several starts each, one after the other, with byte code compiled beforehand (as an installation has it).
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time

STARTS = 15
LIMIT = 3.5


def milliseconds(arguments: list[str], environment: dict[str, str]) -> float:
    """The best time of several starts of this Python."""
    times = []
    for _ in range(STARTS):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - begin)
    return min(times) * 1000


def main() -> None:
    """Print one JSON document with a ratio for each command."""
    from logistics_batch.cli.commands import COMMANDS

    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["PYTHONPYCACHEPREFIX"] = cache
        tool = ["-m", "logistics_batch"]
        for name in ("", *COMMANDS):  # the first start of each writes the byte code
            subprocess.run(
                [sys.executable, *tool, *([name] if name else []), "--help"],
                env=environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        bare = milliseconds(["-c", "pass"], environment)
        found = {"": milliseconds([*tool, "--help"], environment)}
        found |= {name: milliseconds([*tool, name, "--help"], environment) for name in COMMANDS}
    ratios = {name or "(tool)": round(each / bare, 2) for name, each in found.items()}
    worst = max(ratios, key=lambda name: ratios[name])
    document = {
        "bare_python_ms": round(bare, 1),
        "click": importlib.metadata.version("click"),
        "ratios": ratios,
        "worst": worst,
        "limit": LIMIT,
        "within_limit": ratios[worst] <= LIMIT,
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
