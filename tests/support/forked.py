"""Starts commands of the program as forks of one process that has imported it, so that a start costs milliseconds.

One JSON line in is one request, one JSON line out its answer::

    {"start": ["run", "orders"], "program": "logistics_batch", "folder": "/workspace", "environment": {},
     "output": "/workspace/output"}  -> 4711
    {"wait": 4711, "seconds": 60}  -> its exit code, -9 for a kill, null while it runs

Each fork is a process of its own: it can be killed and stopped, and its death frees what the kernel frees.
"""

import atexit
import gc
import importlib
import json
import logging
import os
import pkgutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import sqlalchemy
from forked_workers import complete_models, fork_workers
from hurry import hurry

import logistics_batch
from logistics_batch import crash_points, processes


def main() -> None:
    """Answer until standard input ends."""
    for module in pkgutil.walk_packages(logistics_batch.__path__, "logistics_batch."):
        importlib.import_module(module.name)
    complete_models()
    fork_workers(sys.argv[1])
    gc.freeze()  # so that no fork copies the pages of all that was imported
    for line in sys.stdin:
        request = json.loads(line)
        answer = _start(request) if "start" in request else _wait(request["wait"], request["seconds"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _start(request: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = _become(request)
            threading._shutdown()  # as the end of a Python process does: threads that are not daemons are waited for
            atexit._run_exitfuncs()
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
    """Be that program in that folder."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have set it aside
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    for ending, descriptor in (("out", 1), ("err", 2)):
        path = Path(f"{request['output']}.{ending}")
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    if request.get("joined"):
        os.dup2(1, 2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if request.get("most_pages"):
        sqlalchemy.event.listen(sqlalchemy.Engine, "connect", _limit_pages(request["most_pages"]))
    if request.get("stops"):
        crash_points.os = SimpleNamespace(getpid=os.getpid, kill=_sleep_until_woken)
    if request.get("debug"):
        _log_everything()
    if request.get("hurried"):
        hurry()
    if request.get("machine"):
        _be_on(request["machine"])
    sys.argv = [request["program"], *request["start"]]
    return importlib.import_module(f"{request['program']}.__main__").main()


def _be_on(machine: str) -> None:
    """As if this process ran on another machine: nobody else sees whether it is there."""
    itself = json.loads(processes.this_process()) | {"host": machine, "boot": machine}
    processes.this_process.__globals__["_process"] = lambda _pid: json.dumps(itself, separators=(",", ":"))
    socket.gethostname = lambda: machine


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
