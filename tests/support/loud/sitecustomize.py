"""Python reads this when a process of `pytest --canary` starts: all that is logged or said goes to files too."""

import io
import logging
import os
import sys
from pathlib import Path
from typing import Any, TextIO

_TALKATIVE = ("httpx", "httpcore")


class _Copied:
    """A stream whose text goes into a file as well."""

    def __init__(self, stream: TextIO, copy: TextIO) -> None:
        self._stream = stream
        self._copy = copy

    def write(self, text: str) -> int:
        self._copy.write(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _log_everything(folder: Path) -> None:
    own = folder / f"{os.getpid()}.log"
    logging.basicConfig(level=logging.DEBUG, filename=own, format="%(levelname)s:%(name)s:%(message)s")
    for name in _TALKATIVE:  # also what the program keeps its libraries from saying
        logging.getLogger(name).setLevel(logging.DEBUG)
    copy = own.with_suffix(".said").open("a", encoding="utf-8", errors="replace", buffering=1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # as the program's own stream, in whose place it stands
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = _Copied(sys.stdout, copy), _Copied(sys.stderr, copy)


if "CANARY_FOLDER" in os.environ and "pytest" not in Path(sys.argv[0] if sys.argv else "").name:
    _log_everything(Path(os.environ["CANARY_FOLDER"]))
