"""What a database could not do, in an operator's words; what was to be written is never among them.

SQLite's driver: the one that brings a SQLite of its own, where it is installed; else the one of this Python.

A SQLite before 3.51.3 has no safe write-ahead log (`itself/opening.py`), and who reads then waits for each commit.
A process opens a ledger with this driver alone: of two SQLites in one process, each takes away the other's locks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.schema import SCHEMA_VERSION

LOCKED = "database is locked"  # in SQLite's words
DAMAGED = ("file is not a database", "database disk image is malformed")
DISK_ERROR = "disk I/O error"
FAILED_DISK = (DISK_ERROR, "database or disk is full")
_READ_AT_ONCE = 1 << 20
PUT_BACK = (
    "Its disk may fail: see to that, and look at `ledger verify`. If that says the same, keep the ledger as it is, and "
    "put the newest backup in its place (operator's guide, Backup)."
)
SEE_TO_THE_DISK = "See to the disk that it lies on and its free space, then run again."


def cause_of(error: Exception) -> str:
    """The database's own words: their first line, for further ones quote values."""
    return str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]


def is_unreadable(file: Path) -> bool:
    """Whether a disk fails while a file is read: SQLite calls such a page malformed."""
    try:
        with file.open("rb", buffering=0) as read:
            while read.read(_READ_AT_ONCE):
                pass
    except OSError:
        return True
    return False


def require_known(version: int, *, known: int = SCHEMA_VERSION) -> None:
    """Raises LedgerRefused if a schema is that of a later program, which may have come since this one opened it."""
    if version > known:
        raise LedgerRefused(
            f"The ledger was written by a newer version of this program: its schema has version {version}, "
            f"this program knows versions up to {known}.",
            remedy="Install the newer version, and end what still runs of this one.",
        )


@contextmanager
def told_plainly(doing: str, *, patience_seconds: float = 0.0) -> Iterator[None]:
    """Whatever a database cannot do within the block is a LedgerRefused.

    doing: "read" or "written". patience_seconds: how long was waited for other writers.

    Raises:
        LedgerRefused: it is gone, full, locked or damaged, or what it holds contradicts what was to be written.
    """
    try:
        yield
    except DBAPIError as error:
        cause = cause_of(error)
        if cause == LOCKED:
            raise LedgerRefused(
                f"Another program has been writing into the ledger for {patience_seconds:g} seconds.",
                remedy="It may be suspended: see what it does, then run again.",
            ) from error
        what = "is damaged" if cause in DAMAGED else f"cannot be {doing}"
        raise LedgerRefused(
            f"The ledger {what}: {cause}", remedy=_remedy(error), of_disk=cause in FAILED_DISK
        ) from error


def _remedy(error: DBAPIError) -> str:
    if cause_of(error) in DAMAGED:
        return PUT_BACK
    if cause_of(error) in FAILED_DISK:
        return SEE_TO_THE_DISK
    if isinstance(error, IntegrityError):
        return (
            "Another program may have written into it at the same moment: run again. If that does not help, report it."
        )
    if isinstance(error.orig, sqlite3.Error):
        return "Check free space and rights, then run again."
    return "See that the database server runs and can be reached, then run again."


try:
    import pysqlite3 as sqlite3
except ImportError:  # there is no wheel for this machine
    import sqlite3

__all__ = ["sqlite3"]
