"""Progress of long work on standard error."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class TerminalProgress:
    """A line for each piece of work, drawn while it goes on."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
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
