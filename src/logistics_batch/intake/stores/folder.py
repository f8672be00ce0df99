"""A folder of this machine as a file store."""

import errno
import hashlib
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from uuid import uuid4

from logistics_batch.errors import FileVanished, StoreError
from logistics_batch.intake.names import checked_path, free_names, printable
from logistics_batch.intake.stores.landing import (
    check_listed,
    check_moved,
    check_read,
    check_readable,
    check_size,
    landing,
    sync_folder,
)
from logistics_batch.intake.stores.store import (
    MAX_FILE_BYTES,
    MAX_NAMES,
    MAX_READ_BYTES,
    Fetched,
    FileStore,
    Kind,
    RemoteFile,
    listed,
)

_BLOCK_BYTES = 1 << 20
_CODES = {
    errno.ENOENT: "store.missing",
    errno.EACCES: "store.forbidden",
    errno.EPERM: "store.forbidden",
    errno.ELOOP: "store.link",
}


class FolderStore(FileStore):
    """Files below `root`; paths count from there, with or without a leading slash, and never lead out of it."""

    def __init__(self, root: Path, *, max_file_bytes: int = MAX_FILE_BYTES, max_names: int = MAX_NAMES) -> None:
        self._root = root
        self._max_file_bytes = max_file_bytes
        self._max_names = max_names

    @property
    def label(self) -> str:
        """ "folder:" and the root."""
        return f"folder:{self._root}"

    def entries(self, path: str) -> list[RemoteFile]:
        """See FileStore.entries."""
        folder = self._local(path, operation="list", is_folder=True)
        with self._translated("list", path, missing=StoreError), os.scandir(folder) as entries:
            found = (remote for entry in entries if (remote := _listed_file(entry, folder_path=path)))
            what = f"{self.label}: cannot list {printable(path)} to its end"
            return listed(found, what=what, most=self._max_names)

    def fetch(self, file: RemoteFile, *, to: Path) -> Fetched:
        """See FileStore.fetch."""
        check_size(file, store=self.label, limit_bytes=self._max_file_bytes)
        source = self._local(file.path, operation="fetch")
        with self._translated("fetch", file.path), landing(to) as target:
            self._copy(file, source, write=target.write)
        return target.fetched

    def _copy(self, file: RemoteFile, source: Path, *, write: Callable[[bytes], object]) -> None:
        """Read a file and see that it kept still meanwhile; raises FileUnstable otherwise."""
        taken = 0
        with _opened(source) as opened:
            check_listed(file, now=_remote_file(file.path, os.fstat(opened.fileno())), store=self.label)
            while taken <= file.size and (block := opened.read(_BLOCK_BYTES)):  # else it grows
                write(block)
                taken += len(block)
            stats = os.fstat(opened.fileno()), source.lstat()
        sightings = [_remote_file(file.path, each) for each in stats]
        check_read(file, bytes_read=taken, sightings=sightings, store=self.label)

    def put(self, path: str, content: bytes | Iterable[bytes]) -> None:
        """See FileStore.put."""
        target = self._local(path, operation="put")
        temporary = target.with_name(f".{target.name[:200]}.part-{uuid4().hex[:8]}")
        with self._translated("put", path, missing=StoreError):
            _make_folders(target.parent)
            try:
                with temporary.open("xb") as file:
                    file.writelines((content,) if isinstance(content, bytes) else content)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(target)
                sync_folder(target.parent)
            finally:
                temporary.unlink(missing_ok=True)

    def move(self, path: str, *, to_folder: str, name: str | None = None, as_read: RemoteFile | None = None) -> str:
        """See FileStore.move."""
        source = self._local(path, operation="move")
        folder = self._local(to_folder, operation="move to", is_folder=True)

        with self._translated("move", path):
            source.lstat()
            _make_folders(folder)
            for candidate in free_names(name or source.name):
                final = str(PurePosixPath(to_folder) / candidate)
                target = self._local(final, operation="move to")
                if (placed := _placed(source, target)) is None:
                    continue
                sync_folder(folder)  # the new name is sure before the old one goes
                try:
                    if as_read is not None:
                        self._check_read(as_read, target)
                except (StoreError, OSError):
                    target.unlink(missing_ok=True)
                    raise
                now = source.lstat()
                if os.path.samestat(now, placed) and now.st_mtime_ns == placed.st_mtime_ns:  # else another has come
                    source.unlink()
                    sync_folder(source.parent)
                return final
        raise StoreError.of("store.no_free_name", store=self.label, path=printable(path), folder=printable(to_folder))

    def _check_read(self, file: RemoteFile, target: Path) -> None:
        """Raise FileUnstable if what lies at `target` is not what was read; its bytes are at hand, so they decide."""
        now = _remote_file(file.path, target.lstat())
        if not file.sha256:
            check_listed(file, now=now, store=self.label)
            return
        check_moved(file, now=replace(now, modified=None), digest=lambda: _digest(target), store=self.label)

    def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """See FileStore.read."""
        source, content = self._local(path, operation="read"), bytearray()
        with self._translated("read", path):
            file = _remote_file(path, source.lstat())
            check_readable(file, store=self.label, limit_bytes=limit_bytes)
            self._copy(file, source, write=content.extend)
        return bytes(content)

    def exists(self, path: str) -> bool:
        """See FileStore.exists."""
        local = self._local(path, operation="look for")
        with self._translated("look for", path, missing=StoreError):
            return os.path.lexists(local)

    def close(self) -> None:
        """Nothing is held open."""

    def _local(self, path: str, *, operation: str, is_folder: bool = False) -> Path:
        """The place of a store path; raises StoreError where its name or a linked folder leads out of the root."""
        sound = checked_path(path, store=self.label, operation=operation)
        local = self._root / sound.lstrip("/")
        folder = local if is_folder or local == self._root else local.parent
        if not folder.resolve().is_relative_to(self._root.resolve()):
            raise StoreError.of("store.leads_out", store=self.label, operation=operation, path=printable(path))
        return local

    @contextmanager
    def _translated(self, operation: str, path: str, missing: type[StoreError] = FileVanished) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            code = _CODES.get(error.errno or 0, "store.machine")
            what, why = f"{self.label}: cannot {operation} {printable(path)}", error.strerror or str(error)
            raise (missing if code == "store.missing" else StoreError).of(code, what=what, reason=why) from error


def _listed_file(entry: os.DirEntry[str], *, folder_path: str) -> RemoteFile | None:
    """A directory entry; None for what has just gone."""
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return _remote_file(f"{folder_path.rstrip('/')}/{entry.name}", status)


def _remote_file(path: str, status: os.stat_result) -> RemoteFile:
    name, kind = path.rpartition("/")[2], Kind.of(status.st_mode)
    return RemoteFile(name, path, size=status.st_size, modified=status.st_mtime, kind=kind)


def _opened(path: Path) -> io.FileIO:
    # O_NONBLOCK: a pipe that lies in the folder must not hang the run.
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return io.FileIO(number)
    except OSError:  # a folder
        os.close(number)
        raise


def _make_folders(folder: Path) -> None:
    """Make a folder and those above it; their names survive a power cut, or what is in them would be gone."""
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def _digest(path: Path) -> str:
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _placed(source: Path, target: Path) -> os.stat_result | None:
    """Let a file lie under a second name as well; None if the name is taken, else what lies there.

    On another disk, or one that knows no hard links, a copy does, which is whole or not there.
    """
    try:
        os.link(source, target, follow_symlinks=False)  # fails if the name is taken, in one step
        return target.lstat()
    except FileExistsError:
        return None
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise
    try:
        with source.open("rb") as original, target.open("xb") as copy:
            found = os.fstat(original.fileno())
            shutil.copyfileobj(original, copy, _BLOCK_BYTES)
            copy.flush()
            os.fsync(copy.fileno())
    except FileExistsError:
        return None
    except OSError:
        target.unlink(missing_ok=True)
        raise
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    return found
