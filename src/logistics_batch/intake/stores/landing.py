"""How bytes from outside reach the local disk: private, hashed on the way, and whole or not at all."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from logistics_batch.errors import StoreError


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was written: bytes and the sha256 of them, in hexadecimal."""

    size: int
    sha256: str


class Landing:
    """An open `.part` file; `write` hashes what it takes."""

    def __init__(self, descriptor: int, *, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self._hash = hashlib.sha256()
        self._size = 0

    def write(self, block: bytes) -> None:
        """Take the next bytes; raises StoreError if the local disk does not."""
        self._hash.update(block)
        self._size += len(block)
        view = memoryview(block)
        with local_disk(self._path):
            while view:
                view = view[os.write(self._descriptor, view) :]

    @property
    def fetched(self) -> Fetched:
        """Size and hash of what was taken so far."""
        return Fetched(size=self._size, sha256=self._hash.hexdigest())


@contextmanager
def landing(to: Path) -> Iterator[Landing]:
    """A private file `to`.part that becomes `to` when the block ends well, and disappears when it does not."""
    part = to.with_name(f"{to.name}.part")
    with local_disk(part):
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        try:
            yield Landing(descriptor, path=part)
            with local_disk(part):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        with local_disk(to):
            part.replace(to)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def local_disk(path: Path) -> Iterator[None]:
    """Tell a fault of the local disk from one of the server: it becomes a StoreError that names the local path."""
    try:
        yield
    except OSError as error:
        raise StoreError.of("store.disk", path=str(path), reason=error.strerror or str(error)) from error


def sync_folder(folder: Path) -> None:
    """Make renames within a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
