"""An SFTP server as a file store: whole files, verified byte by byte, over a session that is renewed when it drops."""

import hashlib
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TypeVar
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
)
from logistics_batch.intake.stores.sftp_session import (
    FAULTS,
    Session,
    connect,
    store_error,
)
from logistics_batch.intake.stores.store import (
    MAX_FILE_BYTES,
    MAX_NAMES,
    MAX_READ_BYTES,
    DeadlinePassed,
    Fetched,
    FileStore,
    ListingCut,
    RemoteFile,
    SftpAccess,
    listed,
)

__all__ = ["SftpAccess", "SftpStore"]

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class SftpStore(FileStore):
    """Files of one SFTP server; connects when it is first used, and again after a dropped session.

    Raises HostKeyRefused before any login if the server's key is not the pinned one, SettingsError for a key file that
    cannot be used, StoreError for everything the network or the server do.
    """

    def __init__(self, access: SftpAccess, *, max_file_bytes: int = MAX_FILE_BYTES, max_names: int = MAX_NAMES) -> None:
        self._access = access
        self._max_file_bytes = max_file_bytes
        self._max_names = max_names
        self._session: Session | None = None
        self._holders = 1

    def held(self) -> "SftpStore":
        """The same store for one more who uses it in this thread; its connection ends when the last closes it."""
        self._holders += 1
        return self

    @property
    def label(self) -> str:
        """See FileStore.label."""
        return self._access.label

    def entries(self, path: str) -> list[RemoteFile]:
        """See FileStore.entries."""
        folder, seconds = self._checked(path, "list"), self._access.listing_deadline_seconds
        what = f"{self.label}: cannot list {printable(path)} to its end"

        def entries(session: Session) -> list[RemoteFile]:
            with session.deadline(seconds):
                found = session.entries(folder)
                return listed(found, what=what, most=self._max_names, seconds=seconds)

        try:
            return self._perform("list", path, entries, missing=StoreError)
        except ListingCut:
            self._hang_up()  # answers are still under way, or none comes
            raise

    def fetch(self, file: RemoteFile, *, to: Path) -> Fetched:
        """See FileStore.fetch."""
        self._checked(file.path, "fetch")
        check_size(file, store=self.label, limit_bytes=self._max_file_bytes)

        def fetched(session: Session) -> Fetched:
            with landing(to) as target:  # a second try starts from the first byte, never in the middle
                self._download(session, file, write=target.write)
            return target.fetched

        return self._perform("fetch", file.path, fetched)

    def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """See FileStore.read."""
        source = self._checked(path, "read")

        def read(session: Session) -> bytes:
            content = bytearray()
            file = session.look(source)
            check_readable(file, store=self.label, limit_bytes=limit_bytes)
            self._download(session, file, write=content.extend)
            return bytes(content)

        return self._perform("read", path, read)

    def put(self, path: str, content: bytes | Iterable[bytes]) -> None:
        """See FileStore.put."""
        target = PurePosixPath(self._checked(path, "put"))
        whole = content if isinstance(content, bytes) else b"".join(content)
        # A second attempt writes over what the first one left.
        temporary = str(target.with_name(f".{target.name[:200]}.part-{uuid4().hex[:8]}"))

        def put(session: Session) -> None:
            session.make_folders(target.parent)
            try:
                with session.deadline(self._access.transfer_deadline_seconds):
                    session.upload(temporary, whole)
                self._replace(session, temporary, str(target))
            except OSError:
                with suppress(*FAULTS):
                    session.remove(temporary)
                raise

        self._perform("put", path, put, missing=StoreError)

    def move(self, path: str, *, to_folder: str, name: str | None = None, as_read: RemoteFile | None = None) -> str:
        """See FileStore.move."""
        source = self._checked(path, "move")
        wanted = name or PurePosixPath(source).name
        folder = PurePosixPath(self._checked(f"{to_folder}/{wanted}", "move to")).parent
        tried: list[str] = []

        def moved(session: Session) -> str:
            if tried and not session.lies(source) and session.lies(tried[-1]):
                # The rename had worked, only its answer was lost.
                return self._checked_move(session, source, tried[-1], as_read=as_read)
            if as_read is None:
                session.lstat(source)
            else:
                check_listed(as_read, now=session.look(source), store=self.label)
            session.make_folders(folder)
            for candidate in free_names(wanted):
                final = str(folder / candidate)
                if session.lies(final):
                    continue
                tried.append(final)
                if session.renamed(source, final):
                    return self._checked_move(session, source, final, as_read=as_read)
            raise StoreError.of(
                "store.no_free_name", store=self.label, path=printable(path), folder=printable(to_folder)
            )

        return self._perform("move", path, moved)

    def _checked_move(self, session: Session, source: str, final: str, *, as_read: RemoteFile | None) -> str:
        """The place of a moved file; if it is another one than was read, it goes back and FileUnstable is raised."""

        def digest() -> str:
            content = hashlib.sha256()
            moved = RemoteFile(PurePosixPath(final).name, final, size=as_read.size if as_read else 0, modified=None)
            self._download(session, moved, write=content.update)
            return content.hexdigest()

        try:
            if as_read is not None:
                check_moved(as_read, now=session.look(final), digest=digest, store=self.label)
        except StoreError:
            for candidate in free_names(PurePosixPath(source).name):
                back = str(PurePosixPath(source).with_name(candidate))
                if not session.lies(back) and session.renamed(final, back):
                    break
            raise
        return final

    def exists(self, path: str) -> bool:
        """See FileStore.exists."""
        target = self._checked(path, "look for")
        return self._perform("look for", path, lambda session: session.lies(target), missing=StoreError)

    def close(self) -> None:
        """See FileStore.close."""
        self._holders = max(0, self._holders - 1)
        if not self._holders:
            self._hang_up()

    def _hang_up(self) -> None:
        session, self._session = self._session, None
        if session:
            session.hang_up()

    def _checked(self, path: str, operation: str) -> str:
        return checked_path(path, store=self.label, operation=operation)

    def _download(self, session: Session, file: RemoteFile, *, write: Callable[[bytes], object]) -> None:
        """Read a file to its announced end and see that it kept still meanwhile; raises FileUnstable otherwise."""
        with session.deadline(self._access.transfer_deadline_seconds):
            taken = session.download(file.path, size=file.size, write=write)
            check_read(file, bytes_read=taken, sightings=(session.look(file.path),), store=self.label)

    def _replace(self, session: Session, temporary: str, target: str) -> None:
        """Give an uploaded file its name, over an older one; without a gap where the server can."""
        if session.replaced(temporary, target):
            return
        if session.lies(target):
            _log.warning("%s cannot replace a file in one step: %s was removed first", self.label, printable(target))
            session.remove(target)
        session.rename(temporary, target)

    def _perform(
        self, operation: str, path: str, action: Callable[[Session], _T], *, missing: type[StoreError] = FileVanished
    ) -> _T:
        """Act on a live session; after a dropped one once more, on a new one. Foreign exceptions end here."""
        try:
            try:
                return action(self._live_session())
            except FAULTS as error:
                if not self._is_lost(error):
                    raise
            return action(self._live_session())
        except FAULTS as error:
            self._is_lost(error)
            what = f"{self.label}: cannot {operation} {printable(path)}"
            raise store_error(error, what=what, access=self._access, missing=missing) from error

    def _live_session(self) -> Session:
        if self._session is None or not self._session.is_alive:
            self._hang_up()
            self._session = connect(self._access)
        return self._session

    def _is_lost(self, error: Exception) -> bool:
        """Whether a fault ended the session and another may do better; closes what is left of it."""
        if self._session is None or not self._session.is_ended_by(error):
            return False  # it could not be opened at all, or it lives
        self._hang_up()
        return not isinstance(error, DeadlinePassed)
