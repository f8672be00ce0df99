"""Starts commands of the program as forks of one process that has imported it, so that a start costs milliseconds.

One JSON line in is one request, one JSON line out its answer::

    {"start": ["run", "orders"], "folder": "/workspace", "environment": {}, "output": "/workspace/output",
     "most_pages": 0, "stops": false, "debug": false}  -> 4711
    {"wait": 4711, "seconds": 60}  -> its exit code, -9 for a kill, null while it runs

Each fork is a process of its own: it can be killed and stopped, and its death frees what the kernel frees.
"""

import importlib
import json
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import sqlalchemy

from logistics_batch import crash_points

PRELOADED = (
    "cli.front",
    "cli.run",
    "cli.push",
    "cli.settle",
    "cli.held",
    "cli.runs",
    "cli.job_report",
    "operate.run_job",
    "wiring",
    "jobs",
    "flows.push",
    "flows.settle",
    "intake.csv_reader",
    "paper.result_csv",
    "ledger.migrations",
    "sandbox.__main__",
    "sandbox.serve",
)


def main() -> None:
    """Answer until standard input ends."""
    for name in PRELOADED:
        importlib.import_module(f"logistics_batch.{name}")
    for line in sys.stdin:
        request = json.loads(line)
        answer = _start(request) if "start" in request else _wait(request["wait"], request["seconds"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _start(request: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _become(request)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:  # noqa: BLE001  (whatever happens, a fork must not go on as its parent)
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return child


def _become(request: dict[str, Any]) -> int:
    """Be the command line in that folder."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for ending, descriptor in (("out", 1), ("err", 2)):
        path = Path(f"{request['output']}.{ending}")
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if request["most_pages"]:
        sqlalchemy.event.listen(sqlalchemy.Engine, "connect", _limit_pages(request["most_pages"]))
    if request["stops"]:
        crash_points.os = SimpleNamespace(getpid=os.getpid, kill=_sleep_until_woken)
    if request["debug"]:
        _log_everything()
    sys.argv = ["logistics-batch", *request["start"]]
    from logistics_batch.cli import main as command_line

    return command_line()


def _sleep_until_woken(process: int, _signal: int) -> None:
    os.kill(process, signal.SIGSTOP)
    time.sleep(0.1)  # the stop reaches this thread a moment later than the process


def _log_everything() -> None:
    """Also what the program keeps its HTTP library from saying."""
    logging.basicConfig(level=logging.DEBUG, force=True)
    for name in ("httpx", "httpcore"):
        talkative = logging.getLogger(name)
        talkative.setLevel(logging.DEBUG)
        talkative.setLevel = lambda _level: None


def _limit_pages(most: int) -> Callable[[Any, object], None]:
    """A SQLite database that cannot grow beyond so many pages, as on a full disk."""

    def limit(connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {most}")

    return limit


def _wait(child: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.002)


if __name__ == "__main__":
    main()
