"""Every process that this program starts: isolated from where the operator stands, limited, killed from outside.

What parses bytes from outside can hang, eat all memory or crash. Here that costs one child process. `Child` puts
questions to one and keeps it for the next; `start_service` starts a part of ours that runs until it is ended. Both run
this file as a script: the interpreter ignores the current folder and the environment (-I), and what is to be done comes
over standard input, so that the list of processes shows nothing of it.
"""

import contextlib
import fcntl
import gc
import importlib
import importlib.util
import io
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

WORKER = "logistics_batch.intake.limited_work"
"""What a child runs that works on files from outside, and what it should know before the first one comes."""
WORKER_PRELOAD = (
    "logistics_batch.flows.files.foreign_files",
    "logistics_batch.intake.readers.csv_files",
    "logistics_batch.mapping.whole_file",
    "logistics_batch.mapping.alike",
)
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "POLARS_MAX_THREADS": "2",  # each asks for address space, as each arena does
    "MALLOC_ARENA_MAX": "2",
    "POLARS_SKIP_CPU_CHECK": "1",  # polars looks at it with memory that it makes code, which the service unit forbids
}
"""All that a child knows of the environment."""

_PACKAGE = "logistics_batch"
_ROOT = str(Path(__file__).resolve().parents[1])
_LOOK_SECONDS = 0.1  # how often a child that works is looked at
_MOST_STARVED = 6  # times what it may take
_BLOCK_BYTES = 1 << 20
_KEPT_BYTES = 256 << 20  # a child that uses more is not kept for the next question
_LINE_BYTES = 64 << 20  # of an answer, without the files behind it
_STOPPING_SECONDS = 4.0  # a question may still take when the process was asked to end


@dataclass(frozen=True, slots=True)
class Allowance:
    """What each question to a child may take, and at most what the child may keep of the machine.

    memory_bytes: address space, which is more than what is used. resident_bytes: what is used. cpu_seconds: of
    processor time; wait_seconds: by the clock, without the time in which a busy machine let it wait for a processor.
    file_bytes: the largest file that it may write.
    """

    memory_bytes: int = 3 << 30
    resident_bytes: int = 3 << 29
    cpu_seconds: int = 45
    wait_seconds: float = 50.0
    file_bytes: int = 1 << 30

    def times(self, factor: float) -> "Allowance":
        """So many times as much of everything."""
        whole = ("memory_bytes", "resident_bytes", "cpu_seconds", "file_bytes")
        more = {name: int(getattr(self, name) * factor) for name in whole}
        return replace(self, wait_seconds=self.wait_seconds * factor, **more)


class ChildLost(Exception):
    """The child died of a question, or was killed since it took more than it may."""


class ChildFailed(Exception):
    """The program itself failed in the child; only the kind of the error and its place are told."""


class Interrupted(Exception):
    """The process was asked to end while a child worked."""


@dataclass(frozen=True, slots=True)
class ChildAnswer:
    """What a child said, and the files behind it."""

    said: dict[str, Any]
    files: tuple[bytes, ...] = ()


class Child:
    """One process that answers questions with the function `answer` of a module; started when it is needed, and kept.

    answer: takes a question and the files behind it, gives a ChildAnswer.

    One question at a time; threads take turns.
    """

    def __init__(
        self,
        module: str,
        *,
        allowance: Allowance | None = None,
        stop: threading.Event | None = None,
        preload: Sequence[str] = (),
    ) -> None:
        """Start nothing yet. stop: when it is set, a question is given up after some seconds.

        preload: modules that are imported before the first question comes.
        """
        self.allowance = allowance or Allowance()
        self._in_force = self.allowance  # for the process that runs, or is started next
        self._module = module
        self._preload = tuple(preload)
        self.stop = stop or threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline = -1
        self._turn = threading.Lock()

    @property
    def process_id(self) -> int | None:
        """The process, None while there is none."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process now, so that it is ready when it is asked."""
        if self._is_running():
            return
        self.close()
        allowance = self._in_force
        end, self._lifeline = os.pipe()
        head = {
            "module": self._module,
            "preload": self._preload,
            "lifeline": end,
            "limits": {"AS": allowance.memory_bytes, "FSIZE": allowance.file_bytes, "CORE": 0},
            "cpu_seconds": allowance.cpu_seconds,
        }
        try:
            self._process = _isolated(self._module, output=subprocess.PIPE, errors=subprocess.DEVNULL, pass_fds=(end,))
        finally:
            os.close(end)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # found out when it is asked
            self._process.stdin.write(json.dumps(head).encode() + b"\n")
            self._process.stdin.flush()

    def _is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ask(self, question: dict[str, Any], *files: bytes, times: float = 1.0) -> ChildAnswer:
        """The answer to a question, which may take so many times what others may.

        Raises ChildLost if the process died of it or was killed, ChildFailed for an error of the program, Interrupted
        if the process was asked to end meanwhile. None of them leaves a process behind.
        """
        with self._turn:
            head = question | {"files": [len(file) for file in files]}
            request = b"".join([json.dumps(head).encode(), b"\n", *files])
            if (wanted := self.allowance.times(times)) != self._in_force:
                self.close()
                self._in_force = wanted
            was_kept, begun = self._is_running(), time.monotonic()
            try:
                answer = self._answer(request)
            except ChildLost:
                # The kept process may have died of something else before: then a fresh one judges.
                if not was_kept or time.monotonic() - begun > 1.0:
                    raise
                answer = self._answer(request)
            if "failed" in answer.said:
                self.close()
                raise ChildFailed(answer.said["failed"])
            if self._process and _resident_bytes(self._process.pid) > _KEPT_BYTES:
                self.close()  # the memory of a large file would stay with it
            return answer

    def close(self) -> None:
        """End the process at once."""
        process, self._process = self._process, None
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # whatever it may have started goes with it
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _answer(self, request: bytes) -> ChildAnswer:
        self.start()
        assert self._process is not None
        try:
            return self._exchange(self._process, memoryview(request))
        except BaseException as error:
            self.close()
            if isinstance(error, OSError | ValueError | KeyError | TypeError):
                raise ChildLost("it died") from error
            raise

    def _exchange(self, process: "subprocess.Popen[bytes]", request: memoryview) -> ChildAnswer:
        """Write the question and read the answer side by side, looking at the child all the while."""
        assert process.stdin is not None
        assert process.stdout is not None
        received = _Received()
        into, out = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(into, False)
        os.set_blocking(out, False)
        begun, starved, gives_up_at = time.monotonic(), _starved_seconds(process.pid), 0.0
        wait_seconds = self._in_force.wait_seconds
        with selectors.DefaultSelector() as selector:
            selector.register(into, selectors.EVENT_WRITE)
            selector.register(out, selectors.EVENT_READ)
            while not received.is_whole:
                for key, _ in selector.select(_LOOK_SECONDS):
                    if key.fd == into:
                        request = request[os.write(into, request[:_BLOCK_BYTES]) :]
                        if not request:
                            selector.unregister(into)
                    elif not received.take(os.read(out, _BLOCK_BYTES)):
                        raise ChildLost("it died")
                if received.is_whole:
                    break
                now = time.monotonic()
                waited = now - begun
                if waited > wait_seconds and (
                    waited - (_starved_seconds(process.pid) - starved) > wait_seconds
                    or waited > _MOST_STARVED * wait_seconds
                ):
                    raise ChildLost("it took too long")
                if _resident_bytes(process.pid) > self._in_force.resident_bytes:
                    raise ChildLost("it took too much memory")
                if self.stop.is_set():
                    gives_up_at = gives_up_at or now + _STOPPING_SECONDS
                    if now > gives_up_at:
                        raise Interrupted("The process was asked to end.")
        os.set_blocking(into, True)
        return received.answer


class _Received:
    """What came of an answer so far: a line of JSON, and behind it the files whose lengths it tells."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._said: dict[str, Any] | None = None

    @property
    def is_whole(self) -> bool:
        return self._said is not None and len(self._content) >= sum(self._said["files"])

    def take(self, block: bytes) -> bool:
        """Add a block; False if it is the end. Raises ValueError for what is no answer."""
        looked_at = len(self._content)
        self._content += block
        if self._said is None:
            end = self._content.find(b"\n", looked_at)
            if end >= 0:
                self._said = json.loads(self._content[:end])
                del self._content[: end + 1]
            elif len(self._content) > _LINE_BYTES:
                raise ValueError("the answer has no end")
        return bool(block)

    @property
    def answer(self) -> ChildAnswer:
        assert self._said is not None
        content = io.BytesIO(self._content)
        return ChildAnswer(self._said, tuple(content.read(length) for length in self._said.pop("files")))


def start_service(
    module: str, arguments: Sequence[str], *, output: int | IO[bytes], errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Run a module of ours as a program of its own, in a session of its own, until it is ended by a signal.

    Paths among the arguments are absolute ones.
    """
    process = _isolated(module, output=output, errors=errors)
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it did not start, which whoever waits for it finds out
        process.stdin.write(json.dumps({"module": module, "arguments": list(arguments)}).encode() + b"\n")
        process.stdin.close()
    return process


def _isolated(
    module: str, *, output: int | IO[bytes], errors: int | IO[bytes], pass_fds: Sequence[int] = ()
) -> "subprocess.Popen[bytes]":
    """The one place where a process is started."""
    return subprocess.Popen(
        [sys.executable, "-I", str(Path(__file__).resolve()), module.removeprefix(f"{_PACKAGE}.")],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        cwd="/",
        env=ENVIRONMENT,
        pass_fds=pass_fds,
        start_new_session=True,  # Ctrl-C is for us
    )


def _starved_seconds(process: int) -> float:
    """How long the threads of a process were ready to run and others had the processors; 0 where that is not known."""
    found = 0
    with contextlib.suppress(OSError, IndexError, ValueError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            found += int((thread / "schedstat").read_bytes().split()[1])
    return found / 1e9


def _resident_bytes(process: int) -> int:
    """The memory that a process uses; 0 where that cannot be known."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123 - looked at often
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0


# ── what follows runs in the child


def _main() -> None:
    """Do what the first line of standard input says."""
    head = json.loads(sys.stdin.buffer.readline())
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin != str(Path(__file__).with_name("__init__.py").resolve()):
        sys.path.insert(0, _ROOT)  # not installed, or another one is: only this folder
    if "arguments" in head:
        import runpy

        sys.argv = [head["module"], *head["arguments"]]
        runpy.run_module(head["module"], run_name="__main__", alter_sys=True)
        return
    for name, value in head["limits"].items():
        _limit(getattr(resource, f"RLIMIT_{name}"), value, for_good=True)
    _end_with_parent(head["lifeline"])
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)  # what a library prints is no answer
    gc.disable()  # what modules make stays: nobody has to look through it while they are imported, nor later
    for module in head["preload"]:
        importlib.import_module(module)
    serve = importlib.import_module(head["module"]).answer
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()
    while line := questions.readline():
        question = json.loads(line)
        files = tuple(questions.read(length) for length in question.pop("files"))
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + head["cpu_seconds"])
        try:
            answer = serve(question, files)
        except (MemoryError, RecursionError, ImportError):  # the last where there is no room for a library
            os._exit(1)
        except Exception as error:
            from logistics_batch.errors import where_it_failed  # found only where the package is

            _tell(answers, ChildAnswer({"failed": where_it_failed(error)}))
            raise
        _tell(answers, answer)


def _tell(answers: IO[bytes], answer: ChildAnswer) -> None:
    said = answer.said | {"files": [len(file) for file in answer.files]}
    answers.write(b"".join([json.dumps(said).encode(), b"\n", *answer.files]))
    answers.flush()


def _end_with_parent(lifeline: int) -> None:
    """Let the system end this process when its parent is gone: the other end of the pipe closes, in whatever work."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)


def _limit(kind: int, value: int, *, for_good: bool = False) -> None:
    """Limit this process; unless for good, the hard limit stays, so that the next question can have its own share."""
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value if for_good else most))


if __name__ == "__main__":
    _main()
