"""The folder in which the demo plays: its own, never somebody else's, and nothing in it is ever deleted."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logistics_batch.errors import UsageError

MARKER = ".logistics-batch-demo"
EARLIER = "earlier"
_MARK = "The demo of logistics-batch made this folder. When it runs again it moves what lies here to earlier/.\n"


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """An empty folder for one demo, held until the demo ends; what an earlier demo left is moved to `earlier/N`.

    Raises UsageError if something else lies in the folder, if a demo runs there, or if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (folder / MARKER).is_file():
            if any(folder.iterdir()):
                raise UsageError(
                    f"{folder} holds files that the demo did not make; nothing was touched.",
                    remedy="Name an empty or new folder with --dir.",
                )
            (folder / MARKER).write_text(_MARK, encoding="utf-8")
        with (folder / MARKER).open("ab") as marker:
            try:  # the kernel lets go when this process ends, however it ends
                fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UsageError(
                    f"Another demo runs in {folder}.", remedy="Wait for it, or name another folder with --dir."
                ) from error
            _set_aside(folder)
            yield folder
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} cannot be used: {error.strerror}.", remedy="Name another folder with --dir."
        ) from error


def _set_aside(folder: Path) -> None:
    """Move what an earlier demo left to a new folder below `earlier`."""
    left = [path for path in folder.iterdir() if path.name not in (MARKER, EARLIER)]
    if not left:
        return
    shelf = folder / EARLIER
    shelf.mkdir(exist_ok=True)
    taken = [int(path.name) for path in shelf.iterdir() if path.name.isdecimal()]
    place = shelf / str(max(taken, default=0) + 1)
    place.mkdir()
    for path in left:
        os.rename(path, place / path.name)  # noqa: PTH104 - fails where something is in the way
