"""Commands of the program as processes that start at once; `forked.py` makes them."""

import atexit
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from support.forked_workers import worker_template
from support.same_process import may_run_here, run_here

_READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "POLARS", "SQLITE")
_LONGEST_ASKED_SECONDS = 0.2


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Place(Protocol):
    """A workspace, as far as commands need to know it."""

    root: Path

    @staticmethod
    def environment(extra: dict[str, str]) -> dict[str, str]:
        """The environment of a command."""
        ...


@dataclass
class Command:
    """One command under way."""

    process: int
    output: Path
    forker: "Forker"
    code: int | None = None

    def wait(self, *, seconds: float = 300) -> Finished | None:
        """How it ended; None if it still runs after so many seconds."""
        if not self.has_ended(seconds=seconds):
            return None
        assert self.code is not None
        out, err = (self.output.with_name(f"{self.output.name}.{ending}") for ending in ("out", "err"))
        return Finished(self.code, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace"))

    def has_ended(self, *, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        deadline = time.monotonic() + seconds
        while self.code is None:  # in parts, since others may ask the forker meanwhile
            left = deadline - time.monotonic()
            self.code = self.forker.ask({"wait": self.process, "seconds": min(left, _LONGEST_ASKED_SECONDS)})
            if self.code is None and left <= _LONGEST_ASKED_SECONDS:
                return False
        return True

    def end(self, *, seconds: float = 300) -> Finished:
        """How it ended; one that does not end by then is killed, and the test fails."""
        done = self.wait(seconds=seconds)
        if done is None:
            self.kill()
            raise TimeoutError(f"still running after {seconds} s: {self.output}")
        return done

    def kill(self) -> Finished:
        """kill -9, or how it had ended before."""
        if self.code is None:  # nobody has waited for it, so the number is still its own
            os.kill(self.process, signal.SIGKILL)
        done = self.wait(seconds=30)
        assert done is not None
        return done

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if nobody has seen its end."""
        if self.code is None:
            os.kill(self.process, number)


class Piped:
    """As much of a Popen as tests use, of a command whose output comes while it runs."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self.pid = command.process
        self.stdout, self.stderr = (
            command.output.with_name(f"{command.output.name}.{ending}").open(encoding="utf-8")  # waits for its start
            for ending in ("out", "err")
        )

    @property
    def returncode(self) -> int | None:
        """How it ended, if that was asked for."""
        return self._command.code

    def poll(self) -> int | None:
        """None while it runs."""
        return self._command.code if self._command.has_ended(seconds=0) else None

    def wait(self, timeout: float = 300) -> int:
        """How it ends. Raises subprocess.TimeoutExpired."""
        if not self._command.has_ended(seconds=timeout):
            raise subprocess.TimeoutExpired(str(self._command.output), timeout)
        assert self._command.code is not None
        return self._command.code

    def send_signal(self, number: int) -> None:
        """Unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        """All that is still to come, and its end. Raises subprocess.TimeoutExpired."""
        with ThreadPoolExecutor(2) as reading:
            said = [reading.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        for stream in (self.stdout, self.stderr):
            stream.close()
        return said[0].result(), said[1].result()


class Forker:
    """The process that forks them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)
        self._asking = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("forked.py")), worker_template()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(
        self,
        workspace: Place,
        *arguments: str | Path,
        environment: dict[str, str] | None = None,
        most_pages: int = 0,
        stops: bool = False,
        debug: bool = False,
        hurried: bool = False,
        machine: str = "",
    ) -> Command:
        """Start `logistics-batch` in this workspace.

        most_pages: more the ledger cannot have, 0 for no limit. stops: it is stopped where a crash point would kill it.
        debug: everything is logged, to standard error. hurried: its waits between two tries are a tenth as long.
        machine: the name of another machine on which it seems to run, "" for this one.
        """
        return self.fork(
            "logistics_batch",
            *arguments,
            folder=workspace.root,
            environment=workspace.environment(environment or {}),
            most_pages=most_pages,
            stops=stops,
            debug=debug,
            hurried=hurried,
            machine=machine,
        )

    def run(
        self,
        workspace: Place,
        *arguments: str | Path,
        seconds: float = 300,
        environment: dict[str, str] | None = None,
        hurried: bool = False,
    ) -> Finished:
        """Run `logistics-batch` in this workspace to its end, in this process where that makes no difference."""
        words, whole = [str(argument) for argument in arguments], workspace.environment(environment or {})
        if may_run_here(words, whole):
            done = run_here(words, folder=workspace.root, environment=whole, seconds=seconds, hurried=hurried)
            return Finished(*done)
        return self.start(workspace, *arguments, environment=environment, hurried=hurried).end(seconds=seconds)

    def fork(
        self,
        program: str,
        *arguments: str | Path,
        folder: Path,
        environment: dict[str, str],
        output: Path | None = None,
        **special: bool | int | str,
    ) -> Command:
        """Start a program (a package with a `__main__`); what it says goes to `output`.out and .err.

        special: as `start` has it, or joined: all to `output`.out, in the order in which it comes.
        """
        output = output or self._folder / f"command-{next(self._numbers)}"
        for ending in ("out", "err"):  # a command may be killed before it opens them
            output.with_name(f"{output.name}.{ending}").touch()
        request = {
            "start": [str(argument) for argument in arguments],
            "program": program,
            "folder": str(folder),
            "environment": environment,
            "output": str(output),
            **special,
        }
        return Command(self.ask(request), output, self)

    def pipe(self, workspace: Place, *arguments: str | Path, environment: dict[str, str]) -> Piped:
        """Start `logistics-batch` in this workspace and read what it says while it runs."""
        output = self._folder / f"piped-{next(self._numbers)}"
        for ending in ("out", "err"):
            os.mkfifo(output.with_name(f"{output.name}.{ending}"))
        whole = workspace.environment(environment)
        return Piped(self.fork("logistics_batch", *arguments, folder=workspace.root, environment=whole, output=output))

    def ask(self, request: dict[str, Any]) -> Any:
        """One request, one answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._asking:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it; commands that still run go on."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()


@functools.cache
def forker_of_tests() -> Forker:
    """The one of this run of tests."""
    folder = Path(tempfile.mkdtemp(prefix="commands-"))
    running = Forker(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(running.close)
    return running


@functools.cache
def _begun_with() -> dict[str, str]:
    return _read_at_the_start(dict(os.environ))


def _read_at_the_start(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_THE_START)}


def may_be_forked(environment: dict[str, str]) -> bool:
    """Whether a fork behaves as a process that was started with this environment: not where that differs in what is
    read at the start only."""
    return _read_at_the_start(environment) == _begun_with()
