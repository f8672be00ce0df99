"""Requests under way on an SFTP session, whose answers may come in any order."""

import stat
from contextlib import suppress

import paramiko
from paramiko import sftp as protocol

from logistics_batch.errors import StoreError
from logistics_batch.intake.landing import Seen
from logistics_batch.intake.names import printable


class Answers:
    """Asks without waiting, and hands out the answer to a request when it is wanted."""

    def __init__(self, session: paramiko.SFTPClient) -> None:
        self._session = session
        self._arrived: dict[int, tuple[int, paramiko.Message]] = {}

    def ask(self, kind: int, *arguments: object) -> int:
        """Send a request; returns its number."""
        number: int = self._session._async_request(self, kind, *arguments)  # type: ignore[attr-defined]
        return number

    def ask_seen(self, path: str) -> int:
        """Ask for size and time of change of what lies at a path, be it a link."""
        return self.ask(protocol.CMD_LSTAT, path)

    def ask_open(self, path: str) -> int:
        """Ask for a handle to read a file by."""
        return self.ask(protocol.CMD_OPEN, path, protocol.SFTP_FLAG_READ, paramiko.SFTPAttributes())

    def ask_read(self, handle: object, offset: int, length: int) -> int:
        """Ask for some bytes of an open file."""
        return self.ask(protocol.CMD_READ, handle, protocol.int64(offset), length)

    def ask_seen_open(self, handle: object) -> int:
        """Ask for size and time of change of an open file."""
        return self.ask(protocol.CMD_FSTAT, handle)

    def ask_close(self, handle: object) -> int:
        """Ask to close an open file or folder."""
        return self.ask(protocol.CMD_CLOSE, handle)

    def take(self, number: int) -> paramiko.Message | None:
        """Wait for an answer; None for a plain yes and for the end of a file or folder, OSError for a no."""
        while number not in self._arrived:
            self._session._read_response()  # type: ignore[attr-defined]
        kind, message = self._arrived.pop(number)
        if kind != protocol.CMD_STATUS:
            return message
        with suppress(EOFError):
            self._session._convert_status(message)  # type: ignore[attr-defined]
        return None

    def _async_response(self, kind: int, message: paramiko.Message, number: int) -> None:
        """Called by paramiko for each answer that arrives while another is waited for."""
        self._arrived[number] = (kind, message)


def seen_of(status: paramiko.SFTPAttributes, path: str) -> Seen:
    """Size and time of change; raises StoreError for a link."""
    if stat.S_ISLNK(status.st_mode or 0):
        raise StoreError(f"{printable(path)} is a link, and links are not followed.", remedy="Put the file there.")
    return Seen(size=status.st_size, modified=status.st_mtime)


def seen_in(message: paramiko.Message | None, path: str) -> Seen:
    """The same from the answer to a question for it."""
    if message is None:
        raise protocol.SFTPError("the server said nothing about a file")
    return seen_of(paramiko.SFTPAttributes._from_msg(message), path)  # type: ignore[attr-defined]
