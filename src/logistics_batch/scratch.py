"""Private folders for a moment, below the system's folder for temporary files; those of dead processes are removed.

The kernel holds a lock on each folder for the process that uses it, and lets go when that process is gone, also from
another container that shares the folder.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "logistics-batch-scratch-"
_BEING_MADE_SECONDS = 60.0  # a new folder is there a moment before it is locked


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that only we can read, and that goes with the block."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name, _opened(Path(name)) as folder:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield Path(name)


def remove_stale_folders() -> int:
    """Remove the folders of ours whose process died before it could do so; how many there were."""
    removed = 0
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), _opened(path) as folder:
            found = os.fstat(folder)
            if found.st_uid != os.geteuid() or time.time() - found.st_mtime < _BEING_MADE_SECONDS:
                continue
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held by a living process: left alone
            shutil.rmtree(path, ignore_errors=True)
            removed += not path.exists()
    return removed


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """An open folder, and never what a link leads to; closing it lets go of its lock."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
