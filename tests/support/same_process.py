"""Commands of the program run in the process of the tests, for all that does not need one of its own.

What they change of the process is put back. A fork has to build anew whatever the last command built: this one has it.
"""

import gc
import logging
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

import pytest
from support.canary import FOLDER
from support.hurry import hurry

from logistics_batch.cli import main

_SERVICES = {"demo", "sandbox", "schedule", "receive", "serve"}  # they run until they are stopped
_KILLED_BY = "LOGISTICS_BATCH_CRASH_AT"


def may_run_here(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a command ends by itself, and nothing is asked of the process in which it runs."""
    return (
        threading.current_thread() is threading.main_thread()
        and not _SERVICES & set(arguments[:1])
        and not {_KILLED_BY, FOLDER} & set(environment)
    )


def run_here(
    arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], seconds: float, hurried: bool
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error. Raises TimeoutError."""
    with ExitStack() as held, Path(os.devnull).open() as nothing:
        out, err = held.enter_context(_words()), held.enter_context(_words())
        patch = held.enter_context(pytest.MonkeyPatch.context())
        held.enter_context(_process_put_back())
        for name, stream in (("stdin", nothing), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "argv", ["logistics_batch", *arguments])
        patch.setattr(sys, "excepthook", sys.__excepthook__)
        patch.setattr(gc, "freeze", lambda: None)  # what tests leave is garbage
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        if hurried:
            hurry(patch.setattr)
        held.enter_context(_ended_after(seconds))
        code = _ended_with()
        return code, _said(out), _said(err)


def _ended_with() -> int:
    try:
        return main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except TimeoutError:
        raise
    except Exception:  # noqa: BLE001  (as the end of a process tells of it)
        if sys.excepthook is sys.__excepthook__:
            traceback.print_exc()
        else:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1


def _words() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")


def _said(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


@contextmanager
def _process_put_back() -> Iterator[None]:
    """Whatever a command changes of its process, and leaves to the end of that."""
    folder, environment, mask = Path.cwd(), dict(os.environ), os.umask(0)
    os.umask(mask)
    core, thresholds = resource.getrlimit(resource.RLIMIT_CORE), gc.get_threshold()
    level, handlers, filters = logging.root.level, logging.root.handlers[:], logging.root.filters[:]
    asked = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in asked.items():
            signal.signal(number, handler)
        logging.root.setLevel(level)
        logging.root.handlers[:], logging.root.filters[:] = handlers, filters
        gc.set_threshold(*thresholds)
        resource.setrlimit(resource.RLIMIT_CORE, core)
        os.umask(mask)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        os.chdir(folder)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    def late(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    earlier = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
