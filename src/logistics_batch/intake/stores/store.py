"""Where files lie: the one protocol that an SFTP server and a folder both keep.

A store speaks in whole files. What it fetches is verified, what it puts appears whole or not at all, and what it moves
never replaces anything. It is used by one thread at a time.
"""

import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from logistics_batch.errors import StoreError
from logistics_batch.messages import reason, remedy

MAX_FILE_BYTES = 1 << 30  # a file beyond this is held, not fetched
MAX_READ_BYTES = 64 << 20  # what `FileStore.read` takes into memory
MAX_NAMES = 100_000  # of one folder; more are not listed
LISTING_SECONDS = 60.0  # for one folder


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


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was written: bytes and the sha256 of them, in hexadecimal."""

    size: int
    sha256: str


class ListingCut(StoreError):
    """A folder was not listed to its end; `entries` are those that came. What is not among them may lie there."""

    def __init__(self, entries: Sequence[RemoteFile], *, what: str, why: str) -> None:
        values = {"what": what, "count": len(entries), "why": why}
        super().__init__(reason("store.listing", values), remedy=remedy("store.listing", values))
        self.entries = tuple(entries)


class DeadlinePassed(TimeoutError):
    """A listing or a whole transfer took longer than it may."""


def listed(
    entries: Iterable[RemoteFile],
    *,
    what: str,
    most: int = MAX_NAMES,
    seconds: float = LISTING_SECONDS,
) -> list[RemoteFile]:
    """The entries of a folder, oldest first.

    what: which operation on what, for the error. entries: may raise DeadlinePassed by themselves.

    Raises:
        ListingCut: there are more than `most`, or it takes longer than `seconds`.
    """
    found: list[RemoteFile] = []
    until, why = time.monotonic() + seconds, ""
    try:
        for entry in entries:
            if len(found) == most:
                why = f"more than {most:,} are not listed"
                break
            found.append(entry)
            if time.monotonic() > until:
                why = f"it took longer than {seconds:g} s"
                break
    except DeadlinePassed:
        why = f"it took longer than {seconds:g} s"
    found.sort(key=lambda file: (file.modified or 0.0, file.name))
    if why:
        raise ListingCut(found, what=what, why=why)
    return found


def files_and_links(entries: Iterable[RemoteFile]) -> list[RemoteFile]:
    """The files and links among the entries of a folder."""
    return [entry for entry in entries if entry.kind in (Kind.FILE, Kind.LINK)]


class FileStore(Protocol):
    """Files of one server or folder tree; paths are the server's own, with `/`.

    Every operation raises StoreError (or one of its kinds) that names store, operation, path and remedy.
    """

    @property
    def label(self) -> str:
        """How messages call it: "sftp:bhiwandi", "folder:/srv/drop"."""
        ...

    def entries(self, path: str) -> list[RemoteFile]:
        """Everything that lies in a folder, oldest first.

        Raises StoreError if the folder is missing or forbidden, ListingCut if it holds more than is listed.
        """
        ...

    def list(self, path: str) -> list[RemoteFile]:
        """The files and links of a folder, as `entries`; folders and devices are left out."""
        return files_and_links(self.entries(path))

    def fetch(self, file: RemoteFile, *, to: Path) -> Fetched:
        """Bring a listed file to the local path `to`, which appears only when all of it is there and verified.

        Raises FileVanished if it is gone, FileUnstable if it is no longer what was listed, changed while it was read
        or came shorter than announced, FileHeld if it is larger than the store's limit.
        """
        ...

    def put(self, path: str, content: bytes | Iterable[bytes]) -> None:
        """Write a file whole or not at all, over an older one of that name; missing folders are created.

        content: its bytes, or blocks of them one after the other.
        """
        ...

    def move(self, path: str, *, to_folder: str, name: str | None = None, as_read: RemoteFile | None = None) -> str:
        """Move a file, never over another: a taken name gets a number before its ending. Returns the final path.

        as_read: the file that is meant; it is looked at directly before it is moved and once more where it lies then.
        Raises FileVanished if it is gone, FileUnstable if another one came in its place, which lies where it lay.
        """
        ...

    def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """The content of a small file, verified as by `fetch`.

        Raises FileVanished if there is none, StoreError if it is larger than `limit_bytes`.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether something lies at `path`."""
        ...

    def close(self) -> None:
        """Let go of connections; the store opens them again when it is used again."""
        ...


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
