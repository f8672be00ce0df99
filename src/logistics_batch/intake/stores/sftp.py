"""An SFTP server as a file store: whole files, verified byte by byte, over a session that is renewed when it drops."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from logistics_batch.errors import StoreError
from logistics_batch.intake.stores.sftp_session import FAULTS, SftpSession, connect, store_error
from logistics_batch.intake.stores.store import (
    MAX_FILE_BYTES,
    MAX_NAMES,
    DeadlinePassed,
    FileStore,
    ListingCut,
    RemoteFile,
    Session,
    SftpAccess,
)

__all__ = ["SftpAccess", "SftpStore"]

_T = TypeVar("_T")


class SftpStore(FileStore):
    """Files of one SFTP server; connects when it is first used, and again after a dropped session.

    Raises HostKeyRefused before any login if the server's key is not the pinned one, SettingsError for a key file that
    cannot be used, StoreError for everything the network or the server do.
    """

    FAULTS = FAULTS

    def __init__(self, access: SftpAccess, *, max_file_bytes: int = MAX_FILE_BYTES, max_names: int = MAX_NAMES) -> None:
        super().__init__(access.label, max_file_bytes=max_file_bytes, max_names=max_names)
        self._access = access
        self._transfer_seconds = access.transfer_deadline_seconds
        self._listing_seconds = access.listing_deadline_seconds
        self._session: SftpSession | None = None
        self._holders = 1

    def held(self) -> "SftpStore":
        """The same store for one more who uses it in this thread; its connection ends when the last closes it."""
        self._holders += 1
        return self

    def entries(self, path: str) -> list[RemoteFile]:
        """See FileStore.entries."""
        try:
            return super().entries(path)
        except ListingCut:
            self._hang_up()  # answers are still under way, or none comes
            raise

    def put(self, path: str, content: bytes | Iterable[bytes]) -> None:
        """See FileStore.put; all of it is at hand for a second attempt."""
        super().put(path, content if isinstance(content, bytes) else b"".join(content))

    def close(self) -> None:
        """See FileStore.close."""
        self._holders = max(0, self._holders - 1)
        if not self._holders:
            self._hang_up()

    def _hang_up(self) -> None:
        session, self._session = self._session, None
        if session:
            session.hang_up()

    def _act(self, action: Callable[[Session], _T]) -> _T:
        """Act on a live session; after a dropped one once more, on a new one."""
        try:
            return action(self._live_session())
        except FAULTS as error:
            if not self._is_lost(error):
                raise
        try:
            return action(self._live_session())
        except FAULTS as error:
            self._is_lost(error)
            raise

    def _told(self, error: Exception, *, what: str, missing: type[StoreError]) -> StoreError:
        return store_error(error, what=what, access=self._access, missing=missing)

    def _live_session(self) -> SftpSession:
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
