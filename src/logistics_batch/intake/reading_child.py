"""The process that parses workbooks for `LimitedReader`: `python -m logistics_batch.intake.reading_child BYTES`.

One JSON line in asks for a file, one JSON line out answers with its sheets or with why it is held.
"""

import json
import resource
import sys
from pathlib import Path
from typing import Any

from logistics_batch.errors import FileHeld
from logistics_batch.intake.guards import Limits
from logistics_batch.intake.limited_reader import told
from logistics_batch.intake.reading import read_file
from logistics_batch.model.sheet import ReadOptions


def main() -> None:
    """Answer until standard input ends."""
    _limit(resource.RLIMIT_AS, int(sys.argv[1]))
    _limit(resource.RLIMIT_CORE, 0)
    for line in sys.stdin:
        request = json.loads(line)
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + request["cpu_seconds"])
        sys.stdout.write(json.dumps(_answer(request)) + "\n")
        sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        sheets = read_file(
            Path(request["path"]),
            name=request["name"],
            options=ReadOptions(**request["options"]),
            limits=Limits(**request["limits"]),
        )
    except FileHeld as held:
        return {"held": {"message": held.message, "rule": held.rule, "remedy": held.remedy}}
    return told(sheets, Path(request["folder"]))


def _limit(kind: int, value: int) -> None:
    """Lower a limit of this process; the hard limit stays, so that the next file can have its own share."""
    _, most = resource.getrlimit(kind)
    resource.setrlimit(kind, (value if most == resource.RLIM_INFINITY else min(value, most), most))


if __name__ == "__main__":
    main()
