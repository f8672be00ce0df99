"""Answers that could not be written into the ledger: kept in a file whose space was taken beforehand.

A full disk lets nothing grow, so the file is given its size before the first byte is sent. Each line is an outcome with
its digest; a torn line is no line. The next sending run reads them back before it takes over what was being sent.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.records import Outcome
from logistics_batch.model.issue import Issue

_RESERVED_BYTES = 1 << 22  # 64 answers with replies of 4,000 characters, four times over


@dataclass(frozen=True, slots=True)
class Spilled:
    """One outcome as it was kept. attempt: of which attempt; at: when the ledger did not take it."""

    outcome: Outcome
    attempt: int
    at: str


class Spill:
    """The spill file of one ledger; without a path nothing is kept."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def reserve(self) -> None:
        """Take the space now; what an earlier run kept stays.

        Raises:
            LedgerRefused: there is no room, so that an answer might be lost.
        """
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if os.fstat(descriptor).st_size < _RESERVED_BYTES:
                    os.posix_fallocate(descriptor, 0, _RESERVED_BYTES)
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise LedgerRefused(
                f"There is no room to keep answers in an emergency ({self._path}): {error.strerror}.",
                remedy="Free some space; nothing was sent.",
            ) from error

    def keep(self, outcomes: Sequence[Spilled]) -> bool:
        """Write outcomes durably behind what is there; False if even that did not work."""
        if self._path is None or not outcomes:
            return False
        lines = b"".join(_line(each) for each in outcomes)
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                # A line's end first: it closes whatever a dying process left half written.
                os.pwrite(descriptor, b"\n" + lines, _used_bytes(descriptor))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError:
            return False
        return True

    def read(self) -> list[Spilled]:
        """What is kept, in order; lines that are not whole are left out."""
        if self._path is None or not self._path.exists():
            return []
        lines = self._path.read_bytes().rstrip(b"\0").split(b"\n")
        return [spilled for line in lines if (spilled := _spilled(line)) is not None]

    def clear(self) -> None:
        """Everything is in the ledger now; the space stays taken."""
        if self._path is None or not self._path.exists():
            return
        with self._path.open("r+b") as handle:
            used = _used_bytes(handle.fileno())
            if used:
                os.pwrite(handle.fileno(), bytes(used), 0)
                os.fsync(handle.fileno())


def _used_bytes(descriptor: int) -> int:
    return len(os.pread(descriptor, os.fstat(descriptor).st_size, 0).rstrip(b"\0"))


def _line(each: Spilled) -> bytes:
    content = json.dumps(asdict(each))
    return json.dumps({"sha256": _digest(content), "outcome": content}).encode() + b"\n"


def _spilled(line: bytes) -> Spilled | None:
    try:
        written = json.loads(line)
        content = written["outcome"]
        if _digest(content) != written["sha256"]:
            return None
        values = json.loads(content)
    except (ValueError, KeyError, TypeError):
        return None
    told = values["outcome"] | {"child_awb_numbers": tuple(values["outcome"]["child_awb_numbers"])}
    told["why"] = Issue(told["why"]["code"], values=told["why"]["values"])
    return Spilled(Outcome(**told), values["attempt"], values["at"])


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
