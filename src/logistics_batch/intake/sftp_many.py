"""Many small files at once: the requests for one ride beside those for others, so that no file waits for the server.

Each file is asked for as by `SftpStore.fetch`: seen, opened, read to its end, seen again by handle and by path.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import paramiko

from logistics_batch.errors import StoreError
from logistics_batch.intake.landing import check_listed, check_whole
from logistics_batch.intake.sftp_answers import Answers, seen_in
from logistics_batch.intake.sftp_session import Session
from logistics_batch.intake.store import RemoteFile

LARGEST_SMALL_BYTES = 128 << 10
"""What is brought in this way; a larger file fills the connection by itself."""

_FILES_IN_FLIGHT = 64
_BLOCK_BYTES = 32 << 10  # what every server takes in one request

_Steps = Generator[int, "paramiko.Message | None", bytes]


@dataclass
class _Turn:
    """A file under way: its remaining steps, and the request whose answer it waits for."""

    file: RemoteFile
    steps: _Steps
    waits_for: int


def bring_many(
    session: Session, files: Iterable[RemoteFile], *, store: str
) -> Iterator[tuple[RemoteFile, bytes | StoreError | OSError]]:
    """The verified content of each file, or why it could not be brought, in the order in which they are done.

    Raises what ends the session; files that were not yielded by then have to be asked for again.
    """
    answers = Answers(session)
    under_way: deque[_Turn] = deque()
    waiting = iter(files)
    while True:
        while len(under_way) < _FILES_IN_FLIGHT and (file := next(waiting, None)) is not None:
            steps = _steps(answers, file, store=store)
            under_way.append(_Turn(file, steps, next(steps)))
        if not under_way:
            return
        turn = under_way.popleft()
        try:
            turn.waits_for = _advance(turn, answers, session)
        except StopIteration as done:
            yield turn.file, done.value
        except (StoreError, OSError) as error:
            if isinstance(error, OSError) and session.is_ended_by(error):
                raise
            yield turn.file, error
        else:
            under_way.append(turn)


def _advance(turn: _Turn, answers: Answers, session: Session) -> int:
    """Let a file take its next step with the answer it waits for; the request it waits for then."""
    try:
        answer = answers.take(turn.waits_for)
    except OSError as error:
        if session.is_ended_by(error):
            raise
        return turn.steps.throw(error)
    return turn.steps.send(answer)


def _steps(answers: Answers, file: RemoteFile, *, store: str) -> _Steps:
    before = seen_in((yield answers.ask_seen(file.path)), file.path)
    check_listed(file, now=before, store=store)
    opened = yield answers.ask_open(file.path)
    if opened is None:
        raise OSError("the server opened no file")
    handle = opened.get_string()
    try:
        content = yield from _content(answers, handle, size=file.size)
        inside = seen_in((yield answers.ask_seen_open(handle)), file.path)
    finally:
        closing = answers.ask_close(handle)
    after = seen_in((yield answers.ask_seen(file.path)), file.path)
    yield closing
    check_whole(file, sightings=(before, inside, after), bytes_read=len(content), store=store)
    return content


def _content(answers: Answers, handle: bytes, *, size: int) -> _Steps:
    """The bytes of an open file, at most `size`; fewer where the server says that the file ends."""
    asked = [
        (answers.ask_read(handle, offset, min(_BLOCK_BYTES, size - offset)), min(_BLOCK_BYTES, size - offset))
        for offset in range(0, size, _BLOCK_BYTES)
    ]
    content = bytearray()
    ended = False
    for request, length in asked:
        message = yield request
        left = length
        while not ended:
            block = message.get_string() if message else b""
            content += block
            left -= len(block)
            ended = not block
            if ended or left <= 0:
                break
            message = yield answers.ask_read(handle, len(content), left)  # a server may give less than was asked for
    return bytes(content)
