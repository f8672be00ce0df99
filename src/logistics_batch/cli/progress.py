"""Progress of long work, and the demo's acts as they happen, on standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.status import Status
from rich.table import Column

from logistics_batch.flows.parts import Silent


class TerminalProgress:
    """A line for each piece of work, drawn while it goes on."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True, ratio=1)),  # what is too long is cut
            console=Console(stderr=True),
            transient=True,
            expand=True,
        )
        self._tasks: list[TaskID] = []

    def start(self, label: str, total: int | None) -> None:
        """Begin a piece of work of `total` steps (None: not known)."""
        if not self._tasks:
            self._bars.start()
        self._tasks.append(self._bars.add_task(label, total=total, note=""))

    def advance(self, n: int = 1, note: str = "") -> None:
        """`n` steps are done."""
        if self._tasks:
            self._bars.update(self._tasks[-1], advance=n, note=note)

    def done(self) -> None:
        """The piece of work is over."""
        if self._tasks:
            self._bars.remove_task(self._tasks.pop())
        if not self._tasks:
            self._bars.stop()


class PlainNarrator(Silent):
    """A line for each act."""

    def stage(self, text: str) -> None:
        """The next act begins."""
        click.echo(f"{text} …", err=True)


class TerminalNarrator:
    """A spinner with the act and how far it is; finished acts stay as lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("", console=console)
        self._act = ""
        self._pieces: list[tuple[str, int | None, int]] = []

    def stage(self, text: str) -> None:
        """The next act begins."""
        self._finish()
        self._act = text
        self._pieces.clear()
        self._show()
        self._status.start()

    def start(self, label: str, total: int | None) -> None:
        """A piece of work of `total` steps begins (None: not known)."""
        self._pieces.append((label, total, 0))
        self._show()

    def advance(self, n: int = 1, note: str = "") -> None:  # noqa: ARG002
        """`n` steps are done."""
        if self._pieces:
            label, total, done = self._pieces[-1]
            self._pieces[-1] = (label, total, done + n)
            self._show()

    def done(self) -> None:
        """The piece of work is over."""
        if self._pieces:
            self._pieces.pop()
            self._show()

    def end(self, *, well: bool) -> None:
        """Nothing more happens; the last act keeps its line if it went well."""
        self._status.stop()
        if well:
            self._finish()

    def _finish(self) -> None:
        if self._act:
            self._console.print(f"[green]✓[/green] {self._act}", highlight=False)
            self._act = ""

    def _show(self) -> None:
        text = f"{self._act} …"
        if self._pieces:
            label, total, done = self._pieces[-1]
            text += f" [dim]{label.lower()} {done}" + (f" of {total}" if total else "") + "[/dim]"
        self._status.update(text)


@contextmanager
def narrating() -> Iterator[PlainNarrator | TerminalNarrator]:
    """A narrator that suits standard error, silent again at the end."""
    if not sys.stderr.isatty():
        yield PlainNarrator()
        return
    narrator = TerminalNarrator(Console(stderr=True))
    well = False
    try:
        yield narrator
        well = True
    finally:
        narrator.end(well=well)
