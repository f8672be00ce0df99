"""A mistake about one file costs that file alone: it is held and answered, or told to whoever brought it by hand."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from logistics_batch.errors import (
    FileHeld,
    ProgramFailed,
    StoreError,
    UsageError,
    as_told,
    is_of_machine,
    where_it_failed,
)
from logistics_batch.intake.names import printable

_log = logging.getLogger(__name__)


@contextmanager
def holding_file(name: str) -> Iterator[None]:
    """Work on one file; whatever the program itself fails with becomes FileHeld, and the log says where it failed.

    Raises:
        FileHeld: the program failed on this file.
        StoreError: this machine has no room left, or too many files open; that is no matter of the file.
    """
    try:
        yield
    except BaseException as error:  # also a panic of polars, which is no Exception
        if isinstance(error, OSError) and is_of_machine(error):
            raise StoreError(
                f"{printable(name)} cannot be worked on here: {error.strerror}.",
                remedy="Correct that on this machine; the next run takes the file.",
            ) from error
        if not isinstance(as_told(error), ProgramFailed):
            raise
        _log.error("The program failed on %s: %s", printable(name), where_it_failed(error))
        raise FileHeld("file|program_error", values={"name": printable(name), "error": type(error).__name__}) from error


@contextmanager
def held_as_mistake() -> Iterator[None]:
    """A file that would be held is the mistake of who brought it: gives UsageError instead of FileHeld."""
    try:
        yield
    except FileHeld as held:
        raise UsageError(held.message, remedy=held.remedy) from held
