"""Progress of long work, and the demo's acts as they happen, on standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich import progress as bars
from rich.console import Console
from rich.table import Column

from logistics_batch.flows.parts import Progress


class TerminalProgress(Progress):
    """A line for each piece of work, drawn while it goes on."""

    def __init__(self) -> None:
        self._bars = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(bar_width=20),
            bars.MofNCompleteColumn(),
            bars.TimeRemainingColumn(),
            # What is too long is cut.
            bars.TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True, ratio=1)),
            console=Console(stderr=True),
            transient=True,
            expand=True,
        )
        self._tasks: list[bars.TaskID] = []

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

    def stop(self) -> None:
        """Nothing is drawn any more."""
        self._bars.stop()


class PlainNarrator(Progress):
    """A line for each act of the demo."""

    def stage(self, text: str) -> None:
        """The next act begins."""
        click.echo(f"{text} …", err=True)


class TerminalNarrator(TerminalProgress):
    """The act that is on and how far its pieces are; finished acts stay as lines."""

    act = ""

    def stage(self, text: str) -> None:
        """The next act begins."""
        self.finish()
        self.act = text
        self.start(f"{text} …", None)

    def finish(self) -> None:
        """The act is over, and keeps its line."""
        if self.act:
            self.done()
            self._bars.console.print(f"[green]✓[/green] {self.act}", highlight=False)


@contextmanager
def narrating() -> Iterator[PlainNarrator | TerminalNarrator]:
    """A narrator that suits standard error, silent again at the end; an act that failed leaves no line."""
    if not sys.stderr.isatty():
        yield PlainNarrator()
        return
    narrator = TerminalNarrator()
    try:
        yield narrator
        narrator.finish()
    finally:
        narrator.stop()
