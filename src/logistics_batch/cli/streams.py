"""Standard output and error that a run outlives: who reads them may end first, or their disk may be full.

What a run did is told by its exit code and its reports; that its words found no reader must not change it.
"""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any


class _Outlived(io.FileIO):
    """A stream that takes everything, also when nobody does any more."""

    told = False

    def write(self, content: Any, /) -> int:
        """Write as far as possible; a fault of the stream is told once on standard error, and is no fault of ours."""
        try:
            return super().write(content)
        except OSError as error:
            # A reader that ended (EPIPE) or a terminal that was closed (EIO) wants no word about it.
            if self.fileno() == 1 and not self.told and error.errno not in (errno.EPIPE, errno.EIO):
                self.told = True
                with suppress(OSError):
                    os.write(2, f"Standard output could not be written: {error.strerror}.\n".encode())
            return len(memoryview(content).cast("B"))


def outlive_readers() -> None:
    """Exchange this process's standard output and error for streams that do not end it; closed ones lead nowhere."""
    for number in (0, 1, 2):
        _fill(number)
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is not None and stream is not getattr(sys, f"__{name}__"):
            continue  # somebody who called us reads along
        encoding = stream.encoding if stream is not None else "utf-8"
        raw = _Outlived(number, "w", closefd=False)
        # A terminal that lacks a letter shows its number instead.
        words = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=raw.isatty()
        )
        setattr(sys, name, words)


def _fill(number: int) -> None:
    """A descriptor that was closed when we were started leads nowhere; else the ledger might get its number."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
