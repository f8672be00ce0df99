"""The log of what runs: a line for people or a line of JSON for programs, to standard error or a file.

Lines hold names of jobs and files, numbers and our own messages: never the contents of rows, and no secrets.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path


@dataclass(slots=True)
class Log:
    """Writes one line for each thing that happens. write: takes a finished line. now: the clock, with zone."""

    write: Callable[[str], None]
    now: Callable[[], datetime]
    as_json: bool = False

    def go_on_as(self, other: "Log") -> None:
        """Write from now on as another log does: where and how was changed."""
        self.write, self.as_json = other.write, other.as_json

    def say(self, event: str, message: str, *, job: str = "", level: str = "info", **fields: object) -> None:
        """One line. event: a fixed word for programs. fields: names and numbers beside the message."""
        at, message = self.now(), " ".join(message.split())
        if not self.as_json:
            self.write(f"{at.isoformat(timespec='seconds')} {f'{job}: ' if job else ''}{message}")
            return
        line = {"at": at.isoformat(timespec="milliseconds"), "level": level, "event": event}
        named = {"job": job} if job else {}
        self.write(json.dumps(line | named | fields | {"message": message}, ensure_ascii=False, default=str))


def file_writer(path: Path) -> Callable[[str], None]:
    """Appends lines to a file, opened anew when it was rotated away.

    Raises OSError if it cannot be opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    handler = WatchedFileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(message)s"))

    def write(line: str) -> None:
        handler.handle(logging.LogRecord("logistics-batch", logging.INFO, "", 0, line, None, None))

    return write
