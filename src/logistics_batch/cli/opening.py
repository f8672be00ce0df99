"""What most commands share: the parts of a workspace, dates, progress, and a clean end when asked to stop."""

import faulthandler
import functools
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import date
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Day(click.ParamType[date]):
    """A day as YYYY-MM-DD."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """The day that was typed."""
        with suppress(ValueError):
            if isinstance(value, date):
                return value
            if _DAY.fullmatch(value):  # other forms of ISO 8601 are no forms of ours
                return date.fromisoformat(value)
        self.fail(f'"{value}" is no date. Write the date as YYYY-MM-DD.', param, ctx)


class WholeNumber(click.IntRange):
    """A whole number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number that was typed."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f'"{value}" is no whole number.', param, ctx)
        if self.min is not None and number < self.min:
            self.fail(f"{number} is too small. Write {self.min:g} or more.", param, ctx)
        if self.max is not None and number > self.max:
            self.fail(f"{number} is too large. Write at most {self.max:g}.", param, ctx)
        return number


DAY = Day()


def names_in(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell completes: the names of a workspace's files of a kind. kind: its folder, "jobs" or "mappings"."""

    def found(ctx: click.Context, _param: click.Parameter, begun: str) -> list[str]:
        above = ctx.parent.params.get("workspace") if ctx.parent else None
        folder = Path(ctx.params.get("here") or above or ".") / kind
        return sorted(path.stem for path in folder.glob("*.yaml") if path.stem.startswith(begun))

    return found


def in_workspace(command: Command) -> Command:
    """Give a command the folder of its workspace as `folder`; --workspace may stand before or after its name."""

    @click.option("--workspace", "here", metavar="DIR", help="The workspace; by default the current folder.")
    @click.pass_context
    @functools.wraps(command)
    def inner(ctx: click.Context, /, *args: Any, here: str | None, **values: Any) -> Any:
        return command(*args, folder=here or ctx.find_object(str) or ".", **values)

    return inner  # type: ignore[return-value]


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


@contextmanager
def opened(folder: str, **need: Any) -> Iterator[Any]:
    """The parts of a workspace, closed at the end. need: what of them is needed, as `wiring.Need` has it."""
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(**need)) as parts:
        yield parts


def reading(folder: str) -> AbstractContextManager[Any]:
    """The parts of a workspace where nothing is called and nothing written."""
    return opened(folder, calls=False, writes=False)


@contextmanager
def working(folder: str) -> Iterator[Any]:
    """The parts of a workspace for work that shows how far it is, and ends when it is asked to stop."""
    with stopping() as stop, opened(folder, progress=watched(), stop=stop) as parts:
        yield parts


@contextmanager
def stopping(*, within_seconds: float = 0.0) -> Iterator[Event]:
    """An event that is set when the process is asked to end; asked a second time by Ctrl-C, it ends at once.

    within_seconds: the process is ended then, whatever it does; 0: it ends when it has finished what is under way.
    """
    stop = Event()

    def ask(number: int, _frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        if within_seconds and not stop.is_set():  # by a thread of C that waits for no lock of Python's
            faulthandler.dump_traceback_later(within_seconds, exit=True, file=2)
        stop.set()
        with suppress(OSError):  # the terminal may be gone; and this is safe in a signal handler
            os.write(2, b"Stopping: what is under way is finished, nothing more is begun.\n")

    asked_by = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # else it was started by nohup, to outlive its terminal
        asked_by.append(signal.SIGHUP)
    earlier = {number: signal.signal(number, ask) for number in asked_by}
    try:
        yield stop
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


@contextmanager
def early_worker() -> Iterator[Any]:
    """The process that will work on files from outside, started beside the imports of a command, which take as long."""
    from logistics_batch.child_process import WORKER, WORKER_PRELOAD, Child

    worker = Child(WORKER, preload=WORKER_PRELOAD)
    try:
        worker.start()
        yield worker
    finally:
        worker.close()


def watched() -> Any:
    """Progress for a person at a terminal, silence for everything else."""
    if not sys.stderr.isatty():
        from logistics_batch.flows.parts import Progress

        return Progress()
    from logistics_batch.cli.progress import TerminalProgress

    return TerminalProgress()
