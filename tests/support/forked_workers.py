"""Workers of the program as forks of one process that has imported what they need, so that a start costs milliseconds.

A worker is what `child_process` starts for files from outside: half a second of imports for each command of a test. The
process here has the environment of a real one, and nothing but imports and models in its memory; its forks go through
the same `_main`, have the same limits, session and lifeline, and end as real ones do. It answers on a socket: standard
input, standard output and lifeline of a worker come in, its process number goes out.
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import json
import os
import random
import secrets
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pydantic

from logistics_batch import child_process

_MOST_DESCRIPTORS = 8
_MOST_IDLE = 2
_IMPORTED_BY_QUESTIONS = (  # what a worker would import when the first file of its kind comes
    "logistics_batch.intake.readers.workbooks",
    "logistics_batch.paper.answers.fix_file",
    "logistics_batch.paper.answers.result_csv",
    "logistics_batch.paper.answers.result_workbook",
    "logistics_batch.paper.reconciliation.entries",
    "logistics_batch.paper.xlsx.inert",
)
really_started = child_process._isolated


class ForkedWorker:
    """As much of a Popen as `child_process` uses, of a process that another one has forked."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self._watched = -1
        with contextlib.suppress(ProcessLookupError):  # it is gone already
            self._watched = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """None while it runs."""
        return None if self._watched >= 0 and not self._has_ended(seconds=0) else 0

    def wait(self) -> None:
        """Until it has ended."""
        if self._watched >= 0:
            self._has_ended(seconds=None)
            os.close(self._watched)
            self._watched = -1

    def kill(self) -> None:
        """kill -9."""
        if self._watched >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._watched, signal.SIGKILL)

    def _has_ended(self, *, seconds: float | None) -> bool:
        return bool(select.select([self._watched], [], [], seconds)[0])


def fork_workers(address: str = "") -> None:
    """From now on this process has its workers forked by the template at that address, or by its own one.

    Other children are started.
    """

    def isolated(
        module: str, *, output: int | IO[bytes], errors: int | IO[bytes], pass_fds: Sequence[int] = ()
    ) -> object:
        if module == child_process.WORKER:
            return _forked(address or worker_template(), pass_fds)
        return really_started(module, output=output, errors=errors, pass_fds=pass_fds)

    child_process._isolated = isolated  # type: ignore[assignment]


def keep_workers() -> None:
    """From now on a worker that has nothing to do when its owner closes it answers for the next owner in this process.

    One that was killed, failed or holds much memory is not kept, as within a run.
    """
    start, close = child_process.Child.start, child_process.Child.close
    idle: list[tuple[Any, int]] = []

    def started(child: Any) -> None:
        if child._process is None and _is_plain(child):
            while idle and child._process is None:
                child._process, child._lifeline = idle.pop()
                if not child._is_running():
                    close(child)
        start(child)

    def closed(child: Any) -> None:
        if child._turn.locked() or not child._is_running() or not _is_plain(child) or len(idle) >= _MOST_IDLE:
            close(child)
        else:
            idle.append((child._process, child._lifeline))
            child._process, child._lifeline = None, -1

    child_process.Child.start, child_process.Child.close = started, closed  # type: ignore[method-assign]
    atexit.register(idle.clear)


def _is_plain(child: Any) -> bool:
    return child._module == child_process.WORKER and child._in_force == child_process.Allowance()


def _forked(address: str, pass_fds: Sequence[int]) -> ForkedWorker:
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
            asked.connect(f"\0{address}")
            socket.send_fds(asked, [json.dumps([0, 1, *pass_fds]).encode()], [theirs_in, theirs_out, *pass_fds])
            pid = int(asked.recv(32))
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    return ForkedWorker(pid, os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb"))


@functools.cache
def worker_template() -> str:
    """The address of the one of this run of tests, which ends with this process."""
    address = f"workers-{os.getpid()}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listens:
        listens.bind(f"\0{address}")
        listens.listen(64)
        process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).resolve()), str(listens.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=child_process.ENVIRONMENT,
            pass_fds=[listens.fileno()],
            start_new_session=True,
        )
    atexit.register(process.wait)
    atexit.register(process.kill)
    return address


# ── what follows runs in processes that are forked


def complete_models() -> None:
    """Build what each fork would build of its models when it uses them first."""
    for found in [each for each in gc.get_objects() if isinstance(each, pydantic.TypeAdapter)]:
        found.rebuild(raise_errors=False)
    waiting = [pydantic.BaseModel]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if model.__module__.startswith("logistics_batch."):
            model.model_rebuild(raise_errors=False)


def _main(listening: socket.socket) -> None:
    """Fork a worker for each connection until the process that started the template is gone."""
    for module in (*child_process.WORKER_PRELOAD, child_process.WORKER, *_IMPORTED_BY_QUESTIONS):
        importlib.import_module(module)
    complete_models()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _bury)
    while listening in select.select([listening, sys.stdin], [], [])[0]:
        asking, _ = listening.accept()
        try:
            numbers, descriptors, _, _ = socket.recv_fds(asking, 1024, _MOST_DESCRIPTORS)
        except ConnectionError:
            continue
        if not numbers:  # who asked was killed meanwhile
            continue
        worker = os.fork()
        if worker == 0:
            code = 1
            try:
                listening.close()
                asking.close()
                _become_worker(dict(zip(json.loads(numbers), descriptors, strict=True)))
                code = 0
            finally:
                os._exit(code)
        with contextlib.suppress(ConnectionError):  # the worker ends by its lifeline
            asking.send(str(worker).encode())
        asking.close()
        for each in descriptors:
            os.close(each)


def _bury(_number: int, _frame: object) -> None:
    """Nobody here asks how they ended; the time that they used counts as that of the tests."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_worker(descriptors: dict[int, int]) -> None:
    """descriptors: what was received, by the number that it has for a worker."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    random.seed()
    above = 64 + max(descriptors)
    received = {number: fcntl.fcntl(each, fcntl.F_DUPFD, above) for number, each in descriptors.items()}
    for each in descriptors.values():
        os.close(each)
    for number, each in received.items():
        os.dup2(each, number)
        os.close(each)
    child_process._main()


if __name__ == "__main__":
    _main(socket.socket(fileno=int(sys.argv[1])))
