"""Where files lie: what an SFTP server and a folder both keep to, by the few steps in which they differ.

A store speaks in whole files. What it fetches is verified and reaches the local disk private, hashed on the way, and
whole or not at all; what it puts appears whole or not at all, and what it moves never replaces anything. It is used by
one thread at a time.
"""

import hashlib
import os
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePosixPath
from typing import ClassVar, Protocol, TypeVar
from uuid import uuid4

from logistics_batch.errors import FileUnstable, FileVanished, StoreError
from logistics_batch.intake.names import checked_path, free_names, held, printable
from logistics_batch.messages import reason, remedy


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


MAX_FILE_BYTES = 1 << 30  # a file beyond this is held, not fetched
MAX_READ_BYTES = 64 << 20  # what `FileStore.read` takes into memory
MAX_NAMES = 100_000  # of one folder; more are not listed
LISTING_SECONDS = 60.0  # for one folder

_T = TypeVar("_T")


class Kind(StrEnum):
    """What an entry of a folder is; only files are ever read."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    SPECIAL = "special"

    @classmethod
    def of(cls, mode: int) -> "Kind":
        """From the mode that `lstat` tells; a pipe, a socket and a device are special.

        >>> Kind.of(0o100644), Kind.of(0o010644)
        (<Kind.FILE: 'file'>, <Kind.SPECIAL: 'special'>)
        """
        known = {stat.S_IFREG: cls.FILE, stat.S_IFLNK: cls.LINK, stat.S_IFDIR: cls.FOLDER}
        return known.get(stat.S_IFMT(mode), cls.SPECIAL)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One entry of a folder, as it was listed.

    name: as the server tells it: data, never a local path. modified: seconds since 1970 by the server's clock, None if
    it does not say. kind: what is no file is listed so that a report can name it, but never fetched. sha256: of the
    bytes that were fetched, "" before.
    """

    name: str
    path: str
    size: int
    modified: float | None
    kind: Kind = Kind.FILE
    sha256: str = field(default="", compare=False)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.kind is Kind.LINK


class ListingCut(StoreError):
    """A folder was not listed to its end; `entries` are those that came. What is not among them may lie there."""

    def __init__(self, entries: Sequence[RemoteFile], *, what: str, why: str) -> None:
        values = {"what": what, "count": len(entries), "why": why}
        super().__init__(reason("store.listing", values), remedy=remedy("store.listing", values))
        self.entries = tuple(entries)


class DeadlinePassed(TimeoutError):
    """A listing or a whole transfer took longer than it may."""


def files_and_links(entries: Iterable[RemoteFile]) -> list[RemoteFile]:
    """The files and links among the entries of a folder."""
    return [entry for entry in entries if entry.kind in (Kind.FILE, Kind.LINK)]


class Session(Protocol):
    """The single steps of a store; paths are checked. A step raises one of the store's `FAULTS`."""

    def deadline(self, seconds: float) -> AbstractContextManager[None]:
        """Within the block, all waiting together ends after so many seconds with DeadlinePassed."""
        ...

    def entries(self, folder: str) -> Iterator[RemoteFile]:
        """What lies in a folder."""
        ...

    def look(self, path: str) -> RemoteFile:
        """What lies at a path now, a link as itself."""
        ...

    def lies(self, path: str) -> bool:
        """Whether something lies at a path, be it a dangling link."""
        ...

    def download(self, path: str, *, size: int, write: Callable[[bytes], object]) -> tuple[int, list[RemoteFile]]:
        """Hand the bytes of a file to `write`, in order: how many came, and what the file is afterwards.

        size: hardly more are read.
        """
        ...

    def upload(self, path: str, content: Iterable[bytes]) -> None:
        """Write a new file and have it flushed to the disk."""
        ...

    def replace(self, source: str, target: str) -> None:
        """Rename over whatever lies there."""
        ...

    def move(self, source: str, target: str, *, check: Callable[[], object], is_done: bool) -> bool:
        """Rename without replacing anything; False if the name is taken.

        check: looks at what lies at the target; where it raises StoreError, that lies at the source again. is_done: the
        rename had worked and its answer was lost.
        """
        ...

    def remove(self, path: str) -> None:
        """Remove a file."""
        ...

    def make_folders(self, folder: PurePosixPath) -> None:
        """Create a folder and those above it, as far as they are missing."""
        ...

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        ...


class FileStore(ABC):
    """Files of one server or folder tree; paths are the server's own, with `/`.

    Every operation raises StoreError (or one of its kinds) that names store, operation, path and remedy.
    """

    FAULTS: ClassVar[tuple[type[Exception], ...]] = (OSError,)
    """What its steps raise."""

    _transfer_seconds = float("inf")
    _listing_seconds = LISTING_SECONDS

    def __init__(self, label: str, *, max_file_bytes: int, max_names: int) -> None:
        """label: how messages call it: "sftp:bhiwandi", "folder:/srv/drop"."""
        self.label = label
        self._max_file_bytes = max_file_bytes
        self._max_names = max_names

    @abstractmethod
    def _act(self, action: Callable[[Session], _T]) -> _T:
        """Act on a session."""

    @abstractmethod
    def _told(self, error: Exception, *, what: str, missing: type[StoreError]) -> StoreError:
        """Our exception for one of FAULTS; what: "cannot" and the operation. missing: its class where nothing is."""

    def _checked(self, path: str, operation: str, *, is_folder: bool = False) -> str:
        """A path whose every part is a sound name; raises StoreError otherwise."""
        del is_folder
        return checked_path(path, store=self.label, operation=operation)

    def _perform(
        self, operation: str, path: str, action: Callable[[Session], _T], *, missing: type[StoreError] = FileVanished
    ) -> _T:
        """Act on a session; foreign exceptions end here."""
        try:
            return self._act(action)
        except self.FAULTS as error:
            what = f"{self.label}: cannot {operation} {printable(path)}"
            raise self._told(error, what=what, missing=missing) from error

    def entries(self, path: str) -> list[RemoteFile]:
        """Everything that lies in a folder, oldest first.

        Raises StoreError if the folder is missing or forbidden, ListingCut if it holds more than is listed or is not
        listed in time.
        """
        folder = self._checked(path, "list", is_folder=True)
        return self._perform("list", path, lambda session: self._listed(session, folder), missing=StoreError)

    def _listed(self, session: Session, folder: str) -> list[RemoteFile]:
        found: list[RemoteFile] = []
        until, why = time.monotonic() + self._listing_seconds, ""
        too_long = f"it took longer than {self._listing_seconds:g} s"
        try:
            with session.deadline(self._listing_seconds):
                for entry in session.entries(folder):
                    if len(found) == self._max_names:
                        why = f"more than {self._max_names:,} are not listed"
                        break
                    found.append(entry)
                    if time.monotonic() > until:
                        why = too_long
                        break
        except DeadlinePassed:
            why = too_long
        found.sort(key=lambda file: (file.modified or 0.0, file.name))
        if why:
            raise ListingCut(found, what=f"{self.label}: cannot list {printable(folder)} to its end", why=why)
        return found

    def list(self, path: str) -> list[RemoteFile]:
        """The files and links of a folder, as `entries`; folders and devices are left out."""
        return files_and_links(self.entries(path))

    def fetch(self, file: RemoteFile, *, to: Path) -> Fetched:
        """Bring a listed file to the local path `to`, which appears only when all of it is there and verified.

        Raises FileVanished if it is gone, FileUnstable if it is no longer what was listed, changed while it was read
        or came shorter than announced, FileHeld if it is larger than the store's limit.
        """
        self._checked(file.path, "fetch")
        if file.size > (most := self._max_file_bytes):
            raise held("file|too_large.store", file.name, size=file.size, most=most, store=self.label)

        def fetched(session: Session) -> Fetched:
            with landing(to) as target:  # a second try starts from the first byte, never in the middle
                self._download(session, file, write=target.write)
            return target.fetched

        return self._perform("fetch", file.path, fetched)

    def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """The content of a small file, verified as by `fetch`.

        Raises FileVanished if there is none, StoreError if it is larger than `limit_bytes`.
        """
        source = self._checked(path, "read")

        def read(session: Session) -> bytes:
            content = bytearray()
            file = session.look(source)
            if file.size > limit_bytes:
                values = {"path": printable(source), "size": file.size, "most": limit_bytes}
                raise StoreError.of("store.too_large", store=self.label, **values)
            self._download(session, file, write=content.extend)
            return bytes(content)

        return self._perform("read", path, read)

    def put(self, path: str, content: bytes | Iterable[bytes]) -> None:
        """Write a file whole or not at all, over an older one of that name; missing folders are created.

        content: its bytes, or blocks of them one after the other.
        """
        target = PurePosixPath(self._checked(path, "put"))
        blocks = (content,) if isinstance(content, bytes) else content
        # A second attempt writes over what the first one left.
        temporary = str(target.with_name(f".{target.name[:200]}.part-{uuid4().hex[:8]}"))

        def put(session: Session) -> None:
            session.make_folders(target.parent)
            try:
                with session.deadline(self._transfer_seconds):
                    session.upload(temporary, blocks)
                session.replace(temporary, str(target))
            except OSError:
                with suppress(*self.FAULTS):
                    session.remove(temporary)
                raise

        self._perform("put", path, put, missing=StoreError)

    def put_all(self, folder: str, contents: Mapping[str, bytes]) -> tuple[str, ...]:
        """Write files into a folder, as `put` does; returns for people where each lies."""
        paths = {str(PurePosixPath(folder) / name): content for name, content in contents.items()}
        for path, content in paths.items():
            self.put(path, content)
        return tuple(f"{self.label}:{path}" for path in paths)

    def move(self, path: str, *, to_folder: str, name: str | None = None, as_read: RemoteFile | None = None) -> str:
        """Move a file, never over another: a taken name gets a number before its ending. Returns the final path.

        as_read: the file that is meant; where it lies then its bytes are read once more, for another one may have come
        that has its size and its time. Raises FileVanished if it is gone, FileUnstable if another one came in its
        place, which lies where it lay.
        """
        source = self._checked(path, "move")
        wanted = name or PurePosixPath(source).name
        folder = PurePosixPath(self._checked(f"{to_folder}/{wanted}", "move to")).parent
        tried: list[str] = []

        def moved(session: Session) -> str:
            is_done = bool(tried) and not session.lies(source) and session.lies(tried[-1])
            if not is_done:
                now = session.look(source)
                if as_read is not None and not as_read.sha256:
                    self._check_listed(as_read, now)
                session.make_folders(folder)
            names = (str(folder / candidate) for candidate in free_names(wanted))
            for final in tried[-1:] if is_done else names:
                if not is_done and session.lies(final):
                    continue
                tried.append(final)
                check = partial(self._check_moved, session, as_read, final)
                if session.move(source, final, check=check, is_done=is_done):
                    return final
            values = {"path": printable(path), "folder": printable(to_folder)}
            raise StoreError.of("store.no_free_name", store=self.label, **values)

        try:
            return self._perform("move", path, moved)
        except FileVanished:
            if not self.exists(path):
                raise
            values = {"path": printable(path), "folder": printable(to_folder)}
            raise StoreError.of("store.no_folder", store=self.label, **values) from None

    def remove(self, path: str) -> None:
        """Remove a file that is ours."""
        target = self._checked(path, "remove")
        self._perform("remove", path, lambda session: session.remove(target))

    def remove_folder(self, path: str) -> None:
        """Remove a folder that is ours, unless it is gone already, or something came into it meanwhile."""
        target = self._checked(path, "remove", is_folder=True)

        def remove(session: Session) -> None:
            with suppress(OSError):  # servers say no more than that it failed
                session.rmdir(target)

        self._perform("remove", path, remove)

    def exists(self, path: str) -> bool:
        """Whether something lies at `path`."""
        target = self._checked(path, "look for")
        return self._perform("look for", path, lambda session: session.lies(target), missing=StoreError)

    @abstractmethod
    def close(self) -> None:
        """Let go of connections; the store opens them again when it is used again."""

    def _download(self, session: Session, file: RemoteFile, *, write: Callable[[bytes], object]) -> None:
        """Read a file to its announced end; raises FileUnstable unless it is still what was listed and came whole."""
        with session.deadline(self._transfer_seconds):
            taken, sightings = session.download(file.path, size=file.size, write=write)
        for seen in sightings:
            self._check_listed(file, seen)
        if taken != file.size:
            raise self._unstable(file, f"{taken} bytes could be read, the server says {file.size}")

    def _check_listed(self, file: RemoteFile, now: RemoteFile) -> None:
        """Raise FileUnstable if a file is no longer what was listed, StoreError if a link lies there."""
        if now.is_link:
            raise StoreError.of("store.link_there", path=printable(file.path))
        if now.size != file.size or (file.modified is not None and now.modified != file.modified):
            told = f"it was listed with {file.size} bytes and has {now.size} now, or its time of change moved"
            raise self._unstable(file, told)

    def _check_moved(self, session: Session, file: RemoteFile | None, final: str) -> None:
        """Raise FileUnstable if what was moved is another file than the one that was read.

        Its bytes decide; only of a file that was never fetched is no more known than size and time.
        """
        if file is None:
            return
        moved = replace(file, path=final, modified=None if file.sha256 else file.modified)
        content = hashlib.sha256()
        if file.sha256:
            self._download(session, moved, write=content.update)
        else:
            self._check_listed(moved, session.look(final))
        if file.sha256 not in ("", content.hexdigest()):
            raise self._unstable(file, "another file came under its name")

    def _unstable(self, file: RemoteFile, why: str) -> FileUnstable:
        return FileUnstable.of("store.unstable", store=self.label, path=printable(file.path), why=why)


@dataclass(frozen=True, slots=True)
class SftpAccess:
    """How to reach one SFTP server (`[sftp.NAME]` of the settings).

    host_key: "ssh-ed25519 AAAA…", one a line; or known_hosts: a file as OpenSSH writes it. timeout_seconds: for a
    connection and for each answer; transfer_deadline_seconds: for one whole file; listing_deadline_seconds: for the
    names of one folder.
    """

    name: str
    host: str
    port: int = 22
    username: str = ""
    key_file: Path | None = None
    password: str | None = field(default=None, repr=False)
    host_key: str | None = None
    known_hosts: Path | None = None
    timeout_seconds: float = 30.0
    transfer_deadline_seconds: float = 1800.0
    listing_deadline_seconds: float = LISTING_SECONDS

    @property
    def label(self) -> str:
        """How messages call the server: "sftp:bhiwandi"."""
        return f"sftp:{self.name}"

    @property
    def place(self) -> str:
        """Host and port as people write them."""
        return f"{self.host}:{self.port}"
