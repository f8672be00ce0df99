"""A folder of this machine as a file store."""

import errno
import io
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath
from typing import TypeVar

from logistics_batch.errors import StoreError
from logistics_batch.intake.names import printable
from logistics_batch.intake.stores.store import (
    MAX_FILE_BYTES,
    MAX_NAMES,
    FileStore,
    Kind,
    RemoteFile,
    Session,
    sync_folder,
)

_T = TypeVar("_T")
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
        super().__init__(f"folder:{root}", max_file_bytes=max_file_bytes, max_names=max_names)
        self._root = root

    def close(self) -> None:
        """Nothing is held open."""

    def _act(self, action: Callable[[Session], _T]) -> _T:
        return action(LocalFolder(self._root))

    def _checked(self, path: str, operation: str, *, is_folder: bool = False) -> str:
        """As of every store; raises StoreError also where a linked folder leads out of the root."""
        sound = super()._checked(path, operation)
        local = self._root / sound.lstrip("/")
        folder = local if is_folder or local == self._root else local.parent
        if not folder.resolve().is_relative_to(self._root.resolve()):
            raise StoreError.of("store.leads_out", store=self.label, operation=operation, path=printable(path))
        return sound

    def _told(self, error: Exception, *, what: str, missing: type[StoreError]) -> StoreError:
        known = error if isinstance(error, OSError) else OSError()
        code = _CODES.get(known.errno or 0, "store.machine")
        kind = missing if code == "store.missing" else StoreError
        return kind.of(code, what=what, reason=known.strerror or str(error))


class LocalFolder:
    """The steps of a folder store; see `Session`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def _local(self, path: str | PurePosixPath) -> Path:
        return self._root / str(path).lstrip("/")

    def deadline(self, _seconds: float) -> AbstractContextManager[None]:
        """None: a disk answers."""
        return nullcontext()

    def entries(self, folder: str) -> Iterator[RemoteFile]:
        """See Session.entries; what has just gone is left out."""
        with os.scandir(self._local(folder)) as entries:
            for entry in entries:
                try:
                    yield _remote_file(f"{folder.rstrip('/')}/{entry.name}", entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue

    def look(self, path: str) -> RemoteFile:
        """See Session.look."""
        return _remote_file(path, self._local(path).lstat())

    def lies(self, path: str) -> bool:
        """See Session.lies."""
        return os.path.lexists(self._local(path))

    def download(self, path: str, *, size: int, write: Callable[[bytes], object]) -> tuple[int, list[RemoteFile]]:
        """See Session.download; the file is looked at by its handle and by its name."""
        taken = 0
        with _opened(self._local(path)) as opened:
            while taken <= size and (block := opened.read(_BLOCK_BYTES)):  # else it grows
                write(block)
                taken += len(block)
            return taken, [_remote_file(path, os.fstat(opened.fileno())), self.look(path)]

    def upload(self, path: str, content: Iterable[bytes]) -> None:
        """See Session.upload."""
        with self._local(path).open("xb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())

    def replace(self, source: str, target: str) -> None:
        """See Session.replace."""
        self._local(source).replace(self._local(target))
        sync_folder(self._local(target).parent)

    def move(self, source: str, target: str, *, check: Callable[[], object], is_done: bool) -> bool:
        """See Session.move; the file lies under both names until it is checked."""
        del is_done
        here, there = self._local(source), self._local(target)
        if (placed := _placed(here, there)) is None:
            return False
        sync_folder(there.parent)  # the new name is sure before the old one goes
        try:
            check()
        except (StoreError, OSError):
            there.unlink(missing_ok=True)
            raise
        now = here.lstat()
        if os.path.samestat(now, placed) and now.st_mtime_ns == placed.st_mtime_ns:  # else another has come
            here.unlink()
            sync_folder(here.parent)
        return True

    def remove(self, path: str) -> None:
        """See Session.remove."""
        self._local(path).unlink(missing_ok=True)

    def rmdir(self, path: str) -> None:
        """See Session.rmdir."""
        self._local(path).rmdir()

    def make_folders(self, folder: PurePosixPath) -> None:
        """See Session.make_folders; their names survive a power cut, or what is in them would be gone."""
        local = self._local(folder)
        missing = [each for each in (local, *local.parents) if not each.is_dir()]
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            sync_folder(each.parent)


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
