"""An SFTP server as a file store: whole files, verified byte by byte, over a session that is renewed when it drops.

Files are fetched together: the requests for one ride beside those for others, so that no file waits for the server.
"""

import hashlib
import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar
from uuid import uuid4

import paramiko
from paramiko import sftp as protocol

from logistics_batch.errors import FileVanished, StoreError
from logistics_batch.intake.names import checked_path, free_names, name_fault, printable
from logistics_batch.intake.stores.landing import (
    check_listed,
    check_moved,
    check_size,
    check_whole,
    land_together,
    landing,
    readable,
)
from logistics_batch.intake.stores.sftp_session import (
    FAULTS,
    IN_FLIGHT_BYTES,
    Answers,
    DeadlinePassed,
    Session,
    connect,
    seen_in,
    store_error,
)
from logistics_batch.intake.stores.store import (
    MAX_FILE_BYTES,
    MAX_NAMES,
    MAX_READ_BYTES,
    Fetched,
    FetchOutcome,
    FileStore,
    ListingCut,
    RemoteFile,
    SftpAccess,
    listed,
)

__all__ = ["SftpAccess", "SftpStore"]

_BATCH_FILES = 256
_LARGEST_SMALL_BYTES = 128 << 10  # a larger file fills the connection by itself
_BATCH_BYTES = 16 << 20  # in memory at a time
_FILES_IN_FLIGHT = 64
_T = TypeVar("_T")
_log = logging.getLogger(__name__)

Write = Callable[[bytes], object]
"""Takes the next bytes of a file."""

_Steps = Generator[int, "paramiko.Message | None", int]


@dataclass
class _Transfer:
    """A file under way: its remaining steps, and the request whose answer it waits for."""

    file: RemoteFile
    steps: _Steps
    waits_for: int


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
                return listed(found, what=what, most=self._max_names, seconds=seconds, too_late=DeadlinePassed)

        try:
            return self._perform("list", path, entries, missing=StoreError)
        except ListingCut:
            self._hang_up()  # answers are still under way, or none comes
            raise

    def fetch(self, file: RemoteFile, *, to: Path) -> Fetched:
        """See FileStore.fetch."""
        self._checked(file.path, "fetch")
        check_size(file, store=self.label, limit_bytes=self._max_file_bytes)
        with landing(to) as target:

            def fetched(session: Session) -> Fetched:
                target.restart()
                self._download(session, file, write=target.write)
                return target.fetched

            return self._perform("fetch", file.path, fetched)

    def fetch_many(self, files: Sequence[tuple[RemoteFile, Path]]) -> Iterator[FetchOutcome]:
        """See FileStore.fetch_many; small files that stand beside each other are asked for together."""
        start = 0
        while start < len(files):
            end = self._end_of_batch(files, start)
            if end > start:
                yield from self._fetch_together(files[start:end])
            else:
                end = start + 1
                yield from super().fetch_many(files[start:end])
            start = end

    def _end_of_batch(self, files: Sequence[tuple[RemoteFile, Path]], start: int) -> int:
        """Where the small files end that begin at `start`; `start` itself if there is no small file."""
        end = size = 0
        for end in range(start, min(len(files), start + _BATCH_FILES)):
            size += files[end][0].size
            if files[end][0].size > _LARGEST_SMALL_BYTES or name_fault(files[end][0].name) or size > _BATCH_BYTES:
                return end
        return end + 1

    def _fetch_together(self, files: Sequence[tuple[RemoteFile, Path]]) -> Sequence[FetchOutcome]:
        contents: dict[str, bytearray] = {}
        failures: dict[str, StoreError | None] = {}

        def fetch(session: Session) -> None:
            missing = [file for file, _ in files if file.path not in failures]
            contents.update((file.path, bytearray()) for file in missing)
            wanted = [(file, contents[file.path].extend) for file in missing]
            with session.deadline(self._access.transfer_deadline_seconds):
                for file, failure in _transferred(session, wanted, store=self.label):
                    failures[file.path] = self._told(file, failure)

        try:
            self._perform("fetch", files[0][0].path, fetch)
        except StoreError as error:
            failures = {file.path: failures.get(file.path, error) for file, _ in files}
        whole = [(to, bytes(contents[file.path])) for file, to in files if not failures[file.path]]
        try:
            landed = iter(land_together(whole) if whole else ())
        except StoreError as error:  # the disk of this machine took none of them
            return [failures[file.path] or error for file, _ in files]
        return [failures[file.path] or next(landed) for file, _ in files]

    def _told(self, file: RemoteFile, failure: StoreError | OSError | None) -> StoreError | None:
        if not isinstance(failure, OSError):
            return failure
        what = f"{self.label}: cannot fetch {printable(file.path)}"
        return store_error(failure, what=what, access=self._access, missing=FileVanished)

    def read(self, path: str, *, limit_bytes: int = MAX_READ_BYTES) -> bytes:
        """See FileStore.read."""
        source = self._checked(path, "read")

        def read(session: Session) -> bytes:
            now, content = session.seen(source), bytearray()
            file = readable(
                source, size=now.size or 0, modified=now.modified, limit_bytes=limit_bytes, store=self.label
            )
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
                check_listed(as_read, now=session.seen(source), store=self.label)
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
                check_moved(as_read, now=session.seen(final), digest=digest, store=self.label)
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
            for _, failure in _transferred(session, [(file, write)], store=self.label):
                if failure is not None:
                    raise failure

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


def _transferred(
    session: Session, files: Iterable[tuple[RemoteFile, Write]], *, store: str
) -> Iterator[tuple[RemoteFile, StoreError | OSError | None]]:
    """Hand the bytes of each file to what takes them; each file with why it failed, in the order in which they end.

    A file is seen, opened, read to its announced end, and seen again by handle and by path; it has failed unless all of
    that agrees. Raises what ends the session; files that were not yielded by then have to be asked for again.
    """
    answers = Answers(session)
    under_way: deque[_Transfer] = deque()
    waiting = iter(files)
    while True:
        while len(under_way) < _FILES_IN_FLIGHT and (following := next(waiting, None)) is not None:
            steps = _steps(answers, *following, block_bytes=session.read_bytes, store=store)
            under_way.append(_Transfer(following[0], steps, next(steps)))
        if not under_way:
            return
        transfer = under_way.popleft()
        try:
            transfer.waits_for = _advance(transfer, answers, session)
        except StopIteration:
            yield transfer.file, None
        except (StoreError, OSError) as error:
            if isinstance(error, OSError) and session.is_ended_by(error):
                raise
            yield transfer.file, error
        else:
            under_way.append(transfer)


def _advance(transfer: _Transfer, answers: Answers, session: Session) -> int:
    """Let a file take its next step with the answer it waits for; the request it waits for then."""
    try:
        answer = answers.take(transfer.waits_for)
    except OSError as error:
        if session.is_ended_by(error):
            raise
        return transfer.steps.throw(error)
    return transfer.steps.send(answer)


def _steps(answers: Answers, file: RemoteFile, write: Write, *, block_bytes: int, store: str) -> _Steps:
    before = seen_in((yield answers.ask(protocol.CMD_LSTAT, file.path)), file.path)
    check_listed(file, now=before, store=store)
    opened = yield answers.ask(protocol.CMD_OPEN, file.path, protocol.SFTP_FLAG_READ, paramiko.SFTPAttributes())
    if opened is None:
        raise OSError("the server opened no file")
    handle = opened.get_string()
    try:
        taken = yield from _content(answers, handle, size=file.size, write=write, block_bytes=block_bytes)
        inside = seen_in((yield answers.ask(protocol.CMD_FSTAT, handle)), file.path)
    finally:
        closing = answers.ask(protocol.CMD_CLOSE, handle)
    after = seen_in((yield answers.ask(protocol.CMD_LSTAT, file.path)), file.path)
    yield closing
    check_whole(file, sightings=(before, inside, after), bytes_read=taken, store=store)
    return taken


def _content(answers: Answers, handle: bytes, *, size: int, write: Write, block_bytes: int) -> _Steps:
    """Read an open file in order, at most `size` bytes; returns how many came before the server said that it ends."""
    waiting: deque[tuple[int, int, int]] = deque()  # request, offset, length
    asked = taken = 0
    while asked < size or waiting:
        while asked < size and len(waiting) < IN_FLIGHT_BYTES // block_bytes:
            length = min(block_bytes, size - asked)
            waiting.append((answers.ask(protocol.CMD_READ, handle, protocol.int64(asked), length), asked, length))
            asked += length
        request, offset, length = waiting.popleft()
        message = yield request
        block = message.get_string() if message else b""
        if not block:
            break
        write(block)
        taken += len(block)
        if len(block) < length:  # a server may give less than was asked for
            offset, length = offset + len(block), length - len(block)
            waiting.appendleft((answers.ask(protocol.CMD_READ, handle, protocol.int64(offset), length), offset, length))
    return taken
