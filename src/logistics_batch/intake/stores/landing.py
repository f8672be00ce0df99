"""How bytes from outside reach the local disk: private, hashed on the way, and whole or not at all."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from logistics_batch.errors import FileUnstable, StoreError
from logistics_batch.intake.names import held, printable
from logistics_batch.intake.stores.store import Fetched, RemoteFile


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
        with local_disk(self._path):
            _write_whole(self._descriptor, block)

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


def _write_whole(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


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


def check_size(file: RemoteFile, *, store: str, limit_bytes: int) -> None:
    """Raise FileHeld for a file beyond the store's limit."""
    if file.size > limit_bytes:
        raise held("file|too_large.store", file.name, size=file.size, most=limit_bytes, store=store)


def check_readable(file: RemoteFile, *, store: str, limit_bytes: int) -> None:
    """Raise StoreError for a file that does not go into memory."""
    if file.size > limit_bytes:
        raise StoreError.of("store.too_large", store=store, path=printable(file.path), size=file.size, most=limit_bytes)


def check_listed(file: RemoteFile, *, now: RemoteFile, store: str) -> None:
    """Raise FileUnstable if a file is no longer what was listed, StoreError if a link lies there."""
    if now.is_link:
        raise StoreError.of("store.link_there", path=printable(file.path))
    if now.size != file.size or (file.modified is not None and now.modified != file.modified):
        raise _unstable(
            file, store, f"it was listed with {file.size} bytes and has {now.size} now, or its time of change moved"
        )


def check_moved(file: RemoteFile, *, now: RemoteFile, digest: Callable[[], str], store: str) -> None:
    """Raise FileUnstable if what was moved is another file than the one that was read.

    digest: the sha256 of what was moved; asked for where the time of change tells nothing, as with servers that give
    every moved file a new one.
    """
    if now.size == file.size and (now.modified == file.modified or not file.sha256 or digest() == file.sha256):
        return
    raise _unstable(file, store, "another file came under its name")


def check_read(file: RemoteFile, *, bytes_read: int, sightings: Iterable[RemoteFile], store: str) -> None:
    """Raise FileUnstable unless a file that was read is still what was listed, at every sighting, and came whole."""
    for seen in sightings:
        check_listed(file, now=seen, store=store)
    if bytes_read != file.size:
        raise _unstable(file, store, f"{bytes_read} bytes could be read, the server says {file.size}")


def _unstable(file: RemoteFile, store: str, what: str) -> FileUnstable:
    return FileUnstable.of("store.unstable", store=store, path=printable(file.path), why=what)
