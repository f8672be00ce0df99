"""Files fetched together: the requests for one ride beside those for others, so that no file waits for the server."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

import paramiko
from paramiko import sftp as protocol

from logistics_batch.errors import StoreError
from logistics_batch.intake.stores.landing import check_listed, check_whole
from logistics_batch.intake.stores.sftp_session import IN_FLIGHT_BYTES, Answers, Session, seen_in
from logistics_batch.intake.stores.store import RemoteFile

_FILES_IN_FLIGHT = 64

Write = Callable[[bytes], object]
"""Takes the next bytes of a file."""

_Steps = Generator[int, "paramiko.Message | None", int]


@dataclass
class _Transfer:
    """A file under way: its remaining steps, and the request whose answer it waits for."""

    file: RemoteFile
    steps: _Steps
    waits_for: int


def fetch_many(
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
